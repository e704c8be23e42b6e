/* sets.c - makes, lists, sums and counts an engine's lattices; see sets.h. */
#include "sets.h"
#include "base/memory.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the memory that lattices may take: the rest is for sums, refinements and cells. */
static const double memory_share = 0.4;
/* A part is dropped when its mass is below exp() of this. */
static const double least_log_part = -40;
/* So many sets in few dimensions, where points are few: two lattices may agree by chance in the few figures there. */
static const int sets[GBEES_MAX_DIM] = {4, 4, 3, 2, 2, 2, 2, 2};

/* ---- a set's sums ---- */

int gbees_engine_has_points(const gbees_engine *engine)
{
    int sets_with = 0;

    for (int s = 0; s < engine->sets; s++) {
        int has = 0;

        for (int g = 0; g < engine->parts; g++)
            has |= engine->set[s].lattice[g] != NULL;
        sets_with += has;
    }
    return sets_with == engine->sets;
}

int gbees_engine_list(const gbees_engine *engine, int set, gbees_lattice **list)
{
    int count = 0;

    for (int g = 0; g < engine->parts; g++)
        if (engine->set[set].lattice[g])
            list[count++] = engine->set[set].lattice[g];
    return count;
}

static int make_sums(gbees_engine *engine, int set, gbees_error *error)
{
    gbees_lattice **list = calloc((size_t)engine->parts, sizeof *list);
    int status;

    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the sums over a lattice");
    const int count = gbees_engine_list(engine, set, list);
    status = gbees_sums_make(count, list, engine->set[set].rule.tail, engine->threads, &engine->sums[set], error);
    free(list);
    return status;
}

int gbees_engine_sums(gbees_engine *engine, int set, gbees_sums *sums, gbees_error *error)
{
    const int status = engine->sums[set].points > 0 ? GBEES_OK : make_sums(engine, set, error);

    if (status)
        engine->sums[set].points = 0;
    *sums = engine->sums[set];
    return status;
}

int gbees_engine_all_sums(gbees_engine *engine, gbees_sums *sums, gbees_error *error)
{
    gbees_sums each;
    int status = GBEES_OK;

    for (int s = 0; s < engine->sets && !status; s++)
        status = gbees_engine_sums(engine, s, &each, error);
    if (!status)
        gbees_sums_average(engine->sets, engine->sums, sums);
    return status;
}

/* ---- create and destroy ---- */

static void set_rules(gbees_engine *engine)
{
    const gbees_problem *problem = engine->problem;

    engine->sharp = 1;
    for (int s = 0; s < engine->sets; s++) {
        engine->set[s].raised = 1;
        engine->set[s].rule = (gbees_lattice_rule){
            .points = problem->frame_least, .most = problem->frame_cells, .tail = problem->tail, .turn = s};
    }
}

/* The deviations at the start: of the narrowest part along each state. */
static void set_start_scale(gbees_engine *engine)
{
    const int n = engine->problem->dimension;

    for (int j = 0; j < n; j++) {
        double least = INFINITY;

        for (int g = 0; g < engine->parts; g++) {
            double variance = 0;

            for (int k = 0; k < n; k++)
                variance += engine->source[g].root[j * n + k] * engine->source[g].root[j * n + k];
            least = fmin(least, sqrt(variance));
        }
        engine->past.scale[j] = least;
    }
}

int gbees_engine_open(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                      gbees_error *error)
{
    gbees_engine *made = calloc(1, sizeof *made);
    int status = made ? gbees_source_list(problem, &made->source, &made->parts, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an engine");

    if (status) {
        free(made);
        return status;
    }
    made->problem = problem;
    made->sets = sets[problem->dimension - 1];
    made->threads = gbees_workers_threads(options ? options->threads : 0);
    made->totals.threads = made->threads;
    const double bytes =
        options && options->memory_bytes > 0 ? options->memory_bytes : 0.8 * gbees_memory_available();
    made->past = (gbees_past){.problem = problem,
                              .start = gbees_problem_initial_time(problem),
                              .now = gbees_problem_initial_time(problem),
                              .threads = made->threads,
                              .tolerance = problem->tolerance,
                              .bytes_most = bytes < 1e18 ? (uint64_t)(memory_share * bytes) : 0,
                              .cancelled = options ? options->cancelled : NULL,
                              .context = options ? options->cancelled_context : NULL};
    set_rules(made);
    set_start_scale(made);
    for (int s = 0; s < made->sets && !status; s++) {
        made->set[s].lattice = calloc((size_t)made->parts, sizeof(gbees_lattice *));
        if (!made->set[s].lattice)
            status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an engine");
    }
    if (!status)
        status = gbees_trajectories_create(problem, options ? options->lender : NULL, made->threads,
                                           &made->past.trajectories, error);
    if (status)
        gbees_engine_destroy(made);
    else
        *engine = made;
    return status;
}

void gbees_engine_destroy(gbees_engine *engine)
{
    if (!engine)
        return;
    for (int s = 0; s < engine->sets; s++) {
        for (int g = 0; g < engine->parts && engine->set[s].lattice; g++)
            gbees_lattice_destroy(engine->set[s].lattice[g]);
        free(engine->set[s].lattice);
    }
    gbees_trajectories_destroy(engine->past.trajectories);
    free(engine->marginals);
    free(engine->past.of);
    free(engine->source);
    free(engine);
}

void gbees_engine_change(gbees_engine *engine)
{
    free(engine->marginals);
    engine->marginals = NULL;
    engine->is_certified = 0;
    engine->variation = 0;
    for (int s = 0; s < engine->sets; s++)
        engine->sums[s].points = 0;
}

void gbees_engine_count(gbees_engine *engine)
{
    uint64_t points = 0, bytes = 0;

    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++)
            if (engine->set[s].lattice[g]) {
                points += s == 0 ? gbees_lattice_inner(engine->set[s].lattice[g]) : 0;
                bytes += engine->set[s].lattice[g]->capacity * gbees_lattice_point_bytes(engine->problem->dimension);
            }
    engine->totals.points = points;
    if (points > engine->totals.max_cells)
        engine->totals.max_cells = points;
    if (bytes > engine->totals.peak_bytes)
        engine->totals.peak_bytes = bytes;
    engine->totals.cell_updates = engine->evaluations + gbees_trajectories_evaluations(engine->past.trajectories);
}

double gbees_engine_estimate(const gbees_problem *problem, double bricks)
{
    const int n = problem->dimension, parts = problem->gaussian_count ? problem->gaussian_count : 1;
    const double radius = sqrt(2 * problem->tail) * problem->frame_least;
    const double points = exp(0.5 * n * log(acos(-1)) - lgamma(0.5 * n + 1) + n * log(radius)) * parts;

    (void)bricks;
    return 2 * sets[n - 1] * points * (double)gbees_lattice_point_bytes(n);
}

/* Drops the parts that hardly have any mass left. */
int gbees_engine_drop(gbees_engine *engine, int set, gbees_error *error)
{
    double *mass = calloc((size_t)engine->parts, sizeof *mass), most = -INFINITY;
    int status = mass ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an update");

    for (int g = 0; g < engine->parts && !status; g++) {
        gbees_lattice *lattice = engine->set[set].lattice[g];
        const double best = lattice ? gbees_lattice_most(lattice, 0, lattice->count, 0) : -INFINITY;
        double sum = 0;

        for (uint32_t i = 0; best > -INFINITY && i < lattice->count; i++)
            sum += exp(lattice->log_weight[i] - best);
        mass[g] = sum > 0 ? best + log(sum) + lattice->log_volume : -INFINITY;
        most = fmax(most, mass[g]);
    }
    for (int g = 0; g < engine->parts && !status; g++)
        if (engine->set[set].lattice[g] && mass[g] < most + least_log_part) {
            gbees_lattice_destroy(engine->set[set].lattice[g]);
            engine->set[set].lattice[g] = NULL;
        }
    free(mass);
    return status;
}
