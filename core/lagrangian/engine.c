/* engine.c - a density as points that go with the flow, behind the contract of a backend; see engine.h. */
#include "engine.h"
#include "base/memory.h"
#include "base/workers.h"
#include "deposit.h"
#include <gbees/audit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations of the drift in a slice of an interval: some tenths of a second of a processor. */
static const double slice_evaluations = 2e8;
/* A part is dropped when its mass is below exp() of this. */
static const double least_log_part = -40;
/* The share of the memory that lattices may take: the rest is for sums, refinements and cells. */
static const double memory_share = 0.4;

/* Sums over a lattice converge faster than with any power of its density, until trajectories diverge: how much denser
 * one is made is by this order, for this part of the accuracy. Another that is not better by so much is in vain. */
static const double order = 8, aim = 0.75, least_denser = 1.1, most_denser = 1.6, little_better = 0.9;

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

static int list_lattices(const gbees_engine *engine, int set, gbees_lattice **list)
{
    int count = 0;

    for (int g = 0; g < engine->parts; g++)
        if (engine->set[set].lattice[g])
            list[count++] = engine->set[set].lattice[g];
    return count;
}

int gbees_engine_sums(const gbees_engine *engine, int set, gbees_sums *sums, gbees_error *error)
{
    gbees_lattice **list = calloc((size_t)engine->parts, sizeof *list);
    int status;

    *sums = (gbees_sums){.n = 0};
    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the sums over a lattice");
    const int count = list_lattices(engine, set, list);
    status = gbees_sums_make(count, list, engine->set[set].rule.tail, engine->threads, sums, error);
    free(list);
    return status;
}

/* Sets scale[n] to the deviations of one part. Those of parts that are at one place along a state are rounding. */
static int find_scale(const gbees_engine *engine, int set, int part, double *scale, gbees_error *error)
{
    const int n = engine->problem->dimension;
    double mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX];
    gbees_sums sums;
    const int status = gbees_sums_make(1, &engine->set[set].lattice[part], engine->set[set].rule.tail,
                                       engine->threads, &sums, error);

    if (!status) {
        gbees_sums_moments(&sums, sums.total, mean, covariance);
        for (int j = 0; j < n; j++)
            scale[j] = fmax(sqrt(fmax(covariance[j * n + j], 0)), 1e-13 * fabs(mean[j]) + 1e-300);
    }
    gbees_sums_free(&sums);
    return status;
}

/* Sets scale[n] to the smallest deviations of any part. */
static int find_least_scale(const gbees_engine *engine, double *scale, gbees_error *error)
{
    int status = GBEES_OK, found = 0;

    for (int g = 0; g < engine->parts && !status; g++) {
        double part[GBEES_MAX_DIM];

        if (!engine->set[0].lattice[g])
            continue;
        status = find_scale(engine, 0, g, part, error);
        for (int j = 0; j < engine->problem->dimension && !status; j++)
            scale[j] = found ? fmin(scale[j], part[j]) : part[j];
        found = 1;
    }
    return status;
}

static void count_points(gbees_engine *engine)
{
    uint64_t points = 0, bytes = 0;

    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++)
            if (engine->set[s].lattice[g]) {
                points += s == 0 ? engine->set[s].lattice[g]->count : 0;
                bytes += engine->set[s].lattice[g]->capacity * gbees_lattice_point_bytes(engine->problem->dimension);
            }
    engine->totals.points = points;
    if (points > engine->totals.max_cells)
        engine->totals.max_cells = points;
    if (bytes > engine->totals.peak_bytes)
        engine->totals.peak_bytes = bytes;
    engine->totals.cell_updates = engine->evaluations + gbees_trajectories_evaluations(engine->past.trajectories);
}

/* ---- create and destroy ---- */

static void set_rules(gbees_engine *engine)
{
    const gbees_problem *problem = engine->problem;

    for (int s = 0; s < engine->sets; s++)
        engine->set[s].rule = (gbees_lattice_rule){
            .points = problem->frame_least, .most = problem->frame_cells, .tail = problem->tail, .turn = s};
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

int gbees_lagrangian_open(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
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
                                           problem->tolerance, &made->past.trajectories, error);
    if (status)
        gbees_lagrangian_destroy(made);
    else
        *engine = made;
    return status;
}

void gbees_lagrangian_destroy(gbees_engine *engine)
{
    if (!engine)
        return;
    for (int s = 0; s < engine->sets; s++) {
        for (int g = 0; g < engine->parts && engine->set[s].lattice; g++)
            gbees_lattice_destroy(engine->set[s].lattice[g]);
        free(engine->set[s].lattice);
    }
    gbees_trajectories_destroy(engine->past.trajectories);
    free(engine->past.of);
    free(engine->source);
    free(engine);
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    gbees_engine *made = NULL;
    int status = gbees_lagrangian_open(problem, options, &made, error);

    for (int s = 0; s < made->sets && !status; s++)
        for (int g = 0; g < made->parts && !status; g++)
            status =
                gbees_flood_begin(&made->past, &made->source[g], &made->set[s].rule, &made->set[s].lattice[g], error);
    if (status) {
        gbees_lagrangian_destroy(made);
        return status;
    }
    count_points(made);
    *engine = made;
    return GBEES_OK;
}

/* ---- an accuracy ---- */

/* Replaces each lattice by one that is denser along all axes. Without memory for it the lattice stays. */
static int make_denser(gbees_engine *engine, double times, gbees_error *error)
{
    double edges[GBEES_MATRIX];
    const int n = engine->problem->dimension;
    int status = GBEES_OK;

    for (int k = 0; k < n * n; k++)
        edges[k] = k % (n + 1) == 0 ? 1 / times : 0;
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !status; g++) {
            gbees_lattice **lattice = &engine->set[s].lattice[g], *made = NULL;

            if (!*lattice)
                continue;
            status = gbees_flood_anew(&engine->past, &engine->source[g], &engine->set[s].rule, *lattice, edges, NULL,
                                      0, &made, error);
            if (!status) {
                gbees_lattice_destroy(*lattice);
                *lattice = made;
            }
        }
    engine->totals.refinements++;
    engine->is_certified = 0;
    return status;
}

/* Makes lattices denser until the certificate is within the accuracy that the problem asks for, if it does. Where
 * they hardly help any more, or memory ends, the record is not within it. */
static int reach_accuracy(gbees_engine *engine, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    double before = INFINITY;
    int in_vain = 0, status = GBEES_OK;

    while (problem->accuracy > 0 && !status) {
        gbees_certificate certificate;

        status = gbees_lagrangian_certify(engine, &certificate, error);
        const double bound =
            status ? NAN : gbees_certificate_error(&certificate, problem->dimension, problem->accuracy_of).bound;
        if (status || !(bound > problem->accuracy))
            break;
        in_vain = bound > little_better * before ? in_vain + 1 : 0;
        if (in_vain == 2) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            break;
        }
        before = bound;
        const double times = pow(bound / (aim * problem->accuracy), 1 / order);
        status = make_denser(engine, fmin(fmax(times, least_denser), most_denser), error);
        if (status == GBEES_ENOMEM) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            return GBEES_OK;
        }
    }
    count_points(engine);
    return status;
}

/* ---- advance ---- */

static int advance_all(gbees_engine *engine, double time, gbees_error *error)
{
    int status = GBEES_OK;

    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !status; g++) {
            double scale[GBEES_MAX_DIM];

            if (!engine->set[s].lattice[g])
                continue;
            status = find_scale(engine, s, g, scale, error);
            if (!status)
                status = gbees_past_advance(&engine->past, engine->set[s].lattice[g], scale, time, error);
        }
    return status;
}

/* Notes the mass of trajectories that have left every bound. */
static int note_lost(gbees_engine *engine, double time, gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, 0, &sums, error);

    if (!status && sums.lost > 0) {
        if (engine->totals.mass_outflow == 0)
            engine->totals.lost_since = time;
        engine->totals.mass_outflow = sums.lost / (sums.lost + sums.total[0]);
        engine->totals.warnings |= GBEES_WARNING_BLOW_UP;
    }
    gbees_sums_free(&sums);
    return status;
}

/* Slices of an interval are as long as their work is about the same: counted in evaluations, not in seconds, so that
 * results do not depend on the machine. */
static int advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint64_t step = 0; step < max_steps && clock->elapsed < clock->length && !status; step++) {
        const double left = clock->length - clock->elapsed, began = engine->totals.cell_updates;
        const double most = engine->pace > 0 ? slice_evaluations / engine->pace : left;
        const int last = !(left > most * 1.5);
        const double length = last ? left : most, time = clock->time + length;

        status = advance_all(engine, time, error);
        if (status)
            break;
        engine->past.now = clock->time = time;
        clock->elapsed = last ? clock->length : clock->elapsed + length;
        clock->leg_step++;
        engine->totals.steps++;
        engine->totals.time_step = length;
        count_points(engine);
        engine->pace = (engine->totals.cell_updates - began) / length;
        engine->is_certified = 0;
        status = note_lost(engine, time, error);
    }
    return status || clock->elapsed < clock->length || engine->smoothed ? status : reach_accuracy(engine, error);
}

/* ---- update ---- */

/* Drops the parts that hardly have any mass left. */
static int drop_parts(gbees_engine *engine, int set, gbees_error *error)
{
    double *mass = calloc((size_t)engine->parts, sizeof *mass), most = -INFINITY;
    int status = mass ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an update");

    for (int g = 0; g < engine->parts && !status; g++) {
        gbees_lattice *lattice = engine->set[set].lattice[g];
        double sum = 0, best = -INFINITY;

        for (uint32_t i = 0; lattice && i < lattice->count; i++)
            best = fmax(best, lattice->log_weight[i]);
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

/* Applies a measurement to the lattices of a set. It is impossible if it is for all parts. */
static int update_set(gbees_engine *engine, int set, const gbees_measurement *measurement, gbees_tempering *done,
                      gbees_error *error)
{
    gbees_lattice_set *of = &engine->set[set];
    int possible = 0, status = GBEES_OK;

    for (int g = 0; g < engine->parts && !status; g++) {
        if (!of->lattice[g])
            continue;
        status =
            gbees_temper(&engine->past, &engine->source[g], &of->rule, measurement, &of->lattice[g], done, error);
        possible |= status == GBEES_OK;
        if (status == GBEES_EUNSUPPORTED && (possible || g < engine->parts - 1)) {
            gbees_lattice_destroy(of->lattice[g]);
            of->lattice[g] = NULL;
            status = GBEES_OK;
        }
    }
    if (!status && !possible)
        status = gbees_error_set(error, GBEES_EUNSUPPORTED, "the likelihood is 0 at all points of the density");
    return status ? status : drop_parts(engine, set, error);
}

/* Sets the logarithm of the evidence of all measurements so far. */
static int find_log_evidence(gbees_engine *engine, int set, gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, set, &sums, error);

    if (!status)
        engine->log_evidence[set] = gbees_sums_log_mass(&sums);
    gbees_sums_free(&sums);
    return status;
}

/* Sets the evidence, of this measurement and of all, by the other lattices: by the one that is furthest off.
 * before[sets]: of all measurements before. */
static void set_evidence(const gbees_engine *engine, const double *before, gbees_evidence *evidence)
{
    const double own = engine->log_evidence[0];
    int other = 1;

    for (int s = 2; s < engine->sets; s++)
        if (fabs(engine->log_evidence[s] - own) > fabs(engine->log_evidence[other] - own))
            other = s;
    evidence->log_evidence = own - before[0];
    evidence->sampled = engine->log_evidence[other] - before[other];
    evidence->sampled_error = fabs(evidence->sampled - evidence->log_evidence);
    evidence->total_sampled = engine->log_evidence[other];
    evidence->total_error = fabs(evidence->total_sampled - own);
}

static int update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    double scale[GBEES_MAX_DIM] = {0}, log_peak = 0, before[GBEES_LAGRANGIAN_SETS];
    gbees_tempering done = {.log_likelihood_max = -INFINITY};
    int status = GBEES_OK;

    engine->past.now = clock->time;
    memcpy(before, engine->log_evidence, sizeof before);
    for (int s = 0; s < engine->sets && !status; s++)
        status = update_set(engine, s, measurement, &done, error);
    if (!status)
        status = find_least_scale(engine, scale, error);
    if (!status)
        status = gbees_past_add(&engine->past, measurement, scale, error);
    if (!status)
        status = gbees_measurement_log_peak(engine->problem, measurement, &log_peak, error);
    if (status)
        return status;
    engine->totals.refinements += done.refinements;
    engine->is_certified = 0;
    status = reach_accuracy(engine, error);
    for (int s = 0; s < engine->sets && !status; s++)
        status = find_log_evidence(engine, s, error);
    if (status)
        return status;
    engine->totals.mass_outflow = 0; /* what has left every bound has no likelihood */
    count_points(engine);
    set_evidence(engine, before, evidence);
    evidence->log_likelihood_max = done.log_likelihood_max - (isnan(log_peak) ? 0 : log_peak);
    return GBEES_OK;
}

/* ---- records ---- */

/* Takes moments to the grid's axes, as the contract has them: y = R' (x - c). */
static void enter_grid(const gbees_problem *problem, gbees_statistics *statistics)
{
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double mean[GBEES_MAX_DIM], transposed[GBEES_MATRIX];

    if (!problem->rotated)
        return;
    memcpy(mean, statistics->mean, sizeof mean);
    for (int j = 0; j < n; j++) {
        statistics->mean[j] = 0;
        for (int k = 0; k < n; k++) {
            statistics->mean[j] += inverse[j * n + k] * (mean[k] - problem->centre[k]);
            transposed[k * n + j] = inverse[j * n + k];
        }
    }
    gbees_matrix_multiply(n, inverse, statistics->covariance, statistics->covariance);
    gbees_matrix_multiply(n, statistics->covariance, transposed, statistics->covariance);
}

/* Sets the peak: the largest density at a point, times a cell's volume, and the cell that the point is in. */
static void set_peak(const gbees_engine *engine, double log_norm, gbees_statistics *statistics)
{
    const gbees_problem *problem = engine->problem;
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double most = -INFINITY, x[GBEES_MAX_DIM] = {0}, volume = 1;

    for (int g = 0; g < engine->parts; g++) {
        const gbees_lattice *lattice = engine->set[0].lattice[g];

        for (uint32_t i = 0; lattice && i < lattice->count; i++)
            if (lattice->log_weight[i] - lattice->stretch[i] > most && isfinite(lattice->x[0][i])) {
                most = lattice->log_weight[i] - lattice->stretch[i];
                for (int j = 0; j < n; j++)
                    x[j] = lattice->x[j][i];
            }
    }
    for (int j = 0; j < n; j++) {
        double y = problem->rotated ? 0 : x[j];

        for (int k = 0; k < n && problem->rotated; k++)
            y += inverse[j * n + k] * (x[k] - problem->centre[k]);
        statistics->peak_index[j] = (int32_t)lround((y - problem->mean[j]) / problem->width[j]);
        volume *= problem->width[j];
    }
    statistics->peak = exp(most - log_norm) * volume;
}

static int statistics_of(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                         gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, 0, &sums, error);

    (void)clock;
    if (!status) {
        const double log_mass = gbees_sums_log_mass(&sums);

        *statistics = (gbees_statistics){.cells = (uint64_t)sums.points,
                                         .cells_above = (uint64_t)sums.points,
                                         .cells_raw = (uint64_t)sums.points,
                                         .mass = sums.total[0] / (sums.total[0] + sums.lost),
                                         .entropy = log_mass - sums.log_density / sums.total[0]};
        gbees_sums_moments(&sums, sums.total, statistics->mean, statistics->covariance);
        enter_grid(engine->problem, statistics);
        set_peak(engine, log_mass, statistics);
    }
    gbees_sums_free(&sums);
    return status;
}

static void totals_of(const gbees_engine *engine, gbees_totals *totals)
{
    *totals = engine->totals;
}

static double estimate(const gbees_problem *problem, double bricks)
{
    const int n = problem->dimension, parts = problem->gaussian_count ? problem->gaussian_count : 1;
    const double radius = sqrt(2 * problem->tail) * problem->frame_least;
    const double points = exp(0.5 * n * log(acos(-1)) - lgamma(0.5 * n + 1) + n * log(radius)) * parts;

    (void)bricks;
    return 2 * sets[n - 1] * points * (double)gbees_lattice_point_bytes(n);
}

static int probe(char *text, size_t size)
{
    if (size > 0)
        text[0] = 0;
    return 0;
}

/* Takes all points back to their start, with the weights that all measurements have given them. */
static int rewind_points(gbees_engine *engine, gbees_error *error)
{
    (void)error;
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++) {
            gbees_lattice *lattice = engine->set[s].lattice[g];

            for (uint32_t i = 0; lattice && i < lattice->count; i++) {
                double x0[GBEES_MAX_DIM];

                gbees_lattice_start(lattice, &lattice->site[i], x0);
                for (int j = 0; j < lattice->n; j++)
                    lattice->x[j][i] = lattice->log_weight[i] > -INFINITY ? x0[j] : NAN;
                lattice->stretch[i] = 0;
            }
        }
    engine->past.now = engine->past.start;
    engine->is_certified = 0;
    engine->smoothed = 1;
    return GBEES_OK;
}

/* ---- cells ---- */

static int cells_of(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                    gbees_error *error)
{
    gbees_lattice **list = calloc((size_t)engine->parts, sizeof *list);
    gbees_initial_cells cells = {.count = 0};
    const int32_t *index[GBEES_MAX_DIM];
    int status;

    (void)fraction;
    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    const gbees_deposit_options options = {.threads = engine->threads};
    status = gbees_deposit_cells(engine->problem, list_lattices(engine, 0, list), list, NULL, &options, &cells, NULL,
                                 error);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        index[j] = cells.index[j];
    if (!status && visitor(context, cells.count, index, cells.p))
        status = gbees_error_set(error, GBEES_ENOMEM, "the cells were not taken");
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(cells.index[j]);
    free(cells.p);
    free(list);
    return status;
}

const gbees_backend gbees_lagrangian_backend = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "lagrangian",
    .title = "points that go with the flow",
    .probe = probe,
    .estimate = estimate,
    .create = create,
    .destroy = gbees_lagrangian_destroy,
    .advance = advance,
    .update = update,
    .statistics = statistics_of,
    .cells = cells_of,
    .totals = totals_of,
    .save = gbees_lagrangian_save,
    .load = gbees_lagrangian_load,
    .certify = gbees_lagrangian_certify,
    .rewind = rewind_points,
};
