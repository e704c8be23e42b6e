/* targets.c - what is in targets, by all sets of lattices; see targets.h. */
#include "targets.h"
#include "certify.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>

/* A probability is off by so many times the largest difference of a set to the mean over all, and what is in doubt,
 * at most: of a hundred random targets with exact answers (half-spaces, balls, bands and waves of one to three
 * states) the furthest was off by half of that. */
static const double safety = 5;
/* Less than this part of a density is rounding of the rest. */
static const double least_left = 1e-15;

/* The unit of the sums: the largest mass of a cell. */
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
            status =
                gbees_entered_take_off(&engine->past, &engine->source[g], engine->set[set].lattice[g], sums, error);
    if (!status && sums->wrong)
        status = gbees_target_fail(engine->problem, sums->wrong - 1, engine->past.now, error);
    return status;
}

static int absorbs(const gbees_engine *engine, int k)
{
    return engine->problem->targets[k].kind == GBEES_TARGET_ABSORB;
}

static double probability_of(const gbees_engine *engine, int set, int k)
{
    const gbees_entered *sums = &engine->entered[set];

    return fmin(1, sums->inside[k] / (absorbs(engine, k) ? sums->before : sums->left));
}

static double mean_probability(const gbees_engine *engine, int k)
{
    double sum = 0;

    for (int s = 0; s < engine->sets; s++)
        sum += probability_of(engine, s, k);
    return sum / engine->sets;
}

int gbees_engine_take_off(gbees_engine *engine, gbees_error *error)
{
    int status = GBEES_OK, is_empty = 0;

    if (engine->problem->target_count == 0)
        return GBEES_OK;
    gbees_engine_put_back(engine);
    for (int s = 0; s < engine->sets && !status; s++) {
        status = take_off_set(engine, s, error);
        is_empty |= !(engine->entered[s].left > least_left * engine->entered[s].before);
    }
    gbees_engine_change(engine);
    /* Of what is left of nothing there are no moments: they are then those of trajectories that go on. */
    if (is_empty)
        gbees_engine_put_back(engine);
    for (int k = 0; k < engine->problem->target_count && !status; k++)
        if (absorbs(engine, k)) /* and what had before the last measurement */
            engine->totals.mass_entered[k] = engine->entered_before[k] + mean_probability(engine, k);
    return status;
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
    double sum = 0;

    for (int s = 0; s < engine->sets; s++) {
        const gbees_entered *of = &engine->entered[s];

        sum += of->before > 0 ? of->left / of->before : 1;
    }
    return sum / engine->sets;
}

int gbees_engine_targets(gbees_engine *engine, const gbees_clock *clock, gbees_target_state *state,
                         gbees_error *error)
{
    const double left = gbees_engine_left(engine);

    (void)clock, (void)error;
    for (int k = 0; k < engine->problem->target_count; k++) {
        const double own = mean_probability(engine, k);
        double most = 0;

        for (int s = 0; s < engine->sets; s++)
            most = fmax(most, fabs(probability_of(engine, s, k) - own));
        state[k].probability = own;
        state[k].bound = safety * (most + engine->entered[0].doubt[k] / engine->entered[0].before) +
                         (left < 1 ? engine->whole_beyond : engine->beyond);
    }
    return GBEES_OK;
}
