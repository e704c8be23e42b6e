/* targets.c - what is in targets, by all sets of lattices; see targets.h. */
#include "targets.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>

/* A probability is off by at most so many times the largest difference between lattices, as other figures are
 * (certify.c). */
static const double safety = 3.5;
/* Less than this part of a density is rounding of the rest. */
static const double least_left = 1e-15;

/* Sets the unit of the sums: the largest mass of a cell. */
static double largest_mass(const gbees_engine *engine, int set)
{
    double most = -INFINITY;

    for (int g = 0; g < engine->parts; g++) {
        const gbees_lattice *lattice = engine->set[set].lattice[g];

        if (lattice)
            most = fmax(most, gbees_lattice_most(lattice, 0, gbees_lattice_inner(lattice), 0) + lattice->log_volume);
    }
    return most;
}

static int take_off_set(gbees_engine *engine, int set, gbees_error *error)
{
    gbees_entered *sums = &engine->entered[set];
    int status = GBEES_OK;

    *sums = (gbees_entered){.most = largest_mass(engine, set)};
    for (int g = 0; g < engine->parts && !status; g++)
        if (engine->set[set].lattice[g])
            status = gbees_entered_take_off(engine->set[set].lattice[g], engine->threads, sums, error);
    if (!status && sums->wrong)
        status = gbees_target_fail(engine->problem, sums->wrong - 1, engine->past.now, error);
    return status;
}

/* Adds what has entered since the last measurement to what had before. */
static void note_totals(gbees_engine *engine)
{
    const gbees_entered *sums = &engine->entered[0];

    for (int k = 0; k < engine->problem->target_count; k++)
        engine->totals.mass_entered[k] = engine->entered_before[k] + sums->entered[k] / sums->before;
}

int gbees_engine_take_off(gbees_engine *engine, gbees_error *error)
{
    int status = GBEES_OK;

    if (!gbees_problem_absorbs(engine->problem))
        return GBEES_OK;
    gbees_engine_put_back(engine);
    for (int s = 0; s < engine->sets && !status; s++)
        status = take_off_set(engine, s, error);
    gbees_engine_change(engine);
    if (status)
        return status;
    note_totals(engine);
    /* Of what is left of nothing there are no moments: they are then those of trajectories that go on. */
    for (int s = 0; s < engine->sets; s++)
        if (!(engine->entered[s].now > least_left * engine->entered[s].before)) {
            gbees_engine_put_back(engine);
            break;
        }
    return GBEES_OK;
}

void gbees_engine_put_back(gbees_engine *engine)
{
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++)
            if (engine->set[s].lattice[g])
                gbees_entered_put_back(engine->set[s].lattice[g]);
}

void gbees_engine_settle(gbees_engine *engine)
{
    for (int k = 0; k < GBEES_MAX_TARGETS; k++) { /* what is left becomes all */
        engine->totals.mass_normalised += engine->totals.mass_entered[k] - engine->entered_before[k];
        engine->entered_before[k] = engine->totals.mass_entered[k];
    }
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++)
            if (engine->set[s].lattice[g])
                gbees_past_settle(&engine->past, engine->set[s].lattice[g]);
}

double gbees_engine_left(const gbees_engine *engine)
{
    const gbees_entered *sums = &engine->entered[0];

    return sums->before > 0 ? sums->now / sums->before : 1;
}

/* Finds what is inside of targets that count, by one set. */
static int count_set(gbees_engine *engine, int set, gbees_entered *sums, gbees_error *error)
{
    int status = GBEES_OK;

    *sums = engine->entered[set];
    if (!gbees_problem_absorbs(engine->problem))
        *sums = (gbees_entered){.most = largest_mass(engine, set)};
    for (int g = 0; g < engine->parts && !status; g++)
        if (engine->set[set].lattice[g])
            status = gbees_entered_count(engine->set[set].lattice[g], engine->problem, engine->past.now,
                                         engine->threads, sums, error);
    if (!status && sums->wrong)
        status = gbees_target_fail(engine->problem, sums->wrong - 1, engine->past.now, error);
    return status;
}

static double probability_of(const gbees_problem *problem, int k, const gbees_entered *sums)
{
    return problem->targets[k].kind == GBEES_TARGET_ABSORB ? sums->entered[k] / sums->before
                                                           : sums->inside[k] / sums->now;
}

int gbees_engine_targets(gbees_engine *engine, const gbees_clock *clock, gbees_target_state *state,
                         gbees_error *error)
{
    gbees_entered sums[GBEES_LAGRANGIAN_SETS];
    int status = GBEES_OK;

    (void)clock;
    for (int s = 0; s < engine->sets && !status; s++)
        status = count_set(engine, s, &sums[s], error);
    for (int k = 0; k < engine->problem->target_count && !status; k++) {
        double most = 0;

        state[k].probability = probability_of(engine->problem, k, &sums[0]);
        for (int s = 1; s < engine->sets; s++)
            most = fmax(most, fabs(probability_of(engine->problem, k, &sums[s]) - state[k].probability));
        state[k].bound = safety * most + engine->beyond;
    }
    return status;
}
