/* engine.c - a density as points that go with the flow, behind the contract of a backend; see engine.h. */
#include "engine.h"
#include "align.h"
#include "between.h"
#include "certify.h"
#include "compare.h"
#include "record.h"
#include "sets.h"
#include "sharpen.h"
#include "state.h"
#include "targets.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations of the drift in a slice of an interval: some tenths of a second of a processor. */
static const double slice_evaluations = 2e8;
/* Evaluations for a point that has taken two steps, or a few more. */
static const double few_of_point = 30;

/* Sets scale[n] to the deviations of one part. Those of parts that are at one place along a state are rounding. */
static int find_scale(gbees_engine *engine, int set, int part, double *scale, gbees_error *error)
{
    const int n = engine->problem->dimension;
    double mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX];
    gbees_sums sums;
    const int status = engine->parts == 1
                           ? gbees_engine_sums(engine, set, &sums, error)
                           : gbees_sums_make(1, &engine->set[set].lattice[part], engine->set[set].rule.tail,
                                             engine->threads, &sums, error);

    if (!status) {
        gbees_sums_moments(&sums, mean, covariance);
        for (int j = 0; j < n; j++)
            scale[j] = fmax(sqrt(fmax(covariance[j * n + j], 0)), 1e-13 * fabs(mean[j]) + 1e-300);
    }
    return status;
}

/* Sets scale[n] to the smallest deviations of any part. */
static int find_least_scale(gbees_engine *engine, double *scale, gbees_error *error)
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

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    gbees_engine *made = NULL;
    double times;
    int status = gbees_engine_open(problem, options, &made, error);

    if (status)
        return status;
    for (int g = 0; g < made->parts && !status; g++)
        status = gbees_align(&made->past, &made->source[g], error);
    for (int s = 0; s < made->sets && !status; s++)
        for (int g = 0; g < made->parts && !status; g++)
            status =
                gbees_flood_begin(&made->past, &made->source[g], &made->set[s].rule, &made->set[s].lattice[g], error);
    if (!status)
        status = gbees_engine_take_off(made, error);
    if (!status)
        status = gbees_engine_sharpen(made, &times, error);
    if (status) {
        gbees_engine_destroy(made);
        return status;
    }
    gbees_engine_count(made);
    *engine = made;
    return GBEES_OK;
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
    const int status = gbees_engine_all_sums(engine, &sums, error);

    if (!status && sums.lost > 0) {
        if (engine->totals.mass_outflow == 0)
            engine->totals.lost_since = time;
        engine->totals.mass_outflow = sums.lost / (sums.lost + sums.total[0]) * gbees_engine_left(engine);
        engine->totals.warnings |= GBEES_WARNING_BLOW_UP;
    }
    return status;
}

/* Sets the pace by the last slice. Where a point has taken a step or two, as it does at least, one that is twice as
 * long takes no more. */
static void set_pace(gbees_engine *engine, double evaluations, double length)
{
    engine->pace = evaluations / length;
    if (evaluations < few_of_point * (double)engine->totals.points * engine->sets)
        engine->pace = fmin(engine->pace, slice_evaluations / (2 * length));
}

/* Slices of an interval are as long as their work is about the same: counted in evaluations, not in seconds, so that
 * results do not depend on the machine. */
static int advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    double times;
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
        gbees_engine_count(engine);
        set_pace(engine, engine->totals.cell_updates - began, length);
        gbees_engine_change(engine);
        if (last)
            status = gbees_engine_take_off(engine, error);
        if (!status)
            status = note_lost(engine, time, error);
    }
    return status || clock->elapsed < clock->length || engine->smoothed ? status
                                                                        : gbees_engine_sharpen(engine, &times, error);
}

/* ---- update ---- */

/* Applies a measurement to the lattices of a set. It is impossible if it is for all parts. */
static int update_set(gbees_engine *engine, int set, const gbees_update *by, gbees_tempering *done,
                      gbees_error *error)
{
    gbees_lattice_set *of = &engine->set[set];
    int possible = 0, status = GBEES_OK;

    for (int g = 0; g < engine->parts && !status; g++) {
        if (!of->lattice[g])
            continue;
        status = gbees_temper(&engine->past, &engine->source[g], &of->rule, by, &of->lattice[g], done, error);
        possible |= status == GBEES_OK;
        if (status == GBEES_EUNSUPPORTED && (possible || g < engine->parts - 1)) {
            gbees_lattice_destroy(of->lattice[g]);
            of->lattice[g] = NULL;
            status = GBEES_OK;
        }
    }
    if (!status && !possible)
        status = gbees_error_set(error, GBEES_EUNSUPPORTED, "the likelihood is 0 at all points of the density");
    of->raised = of->rule.most / (engine->problem->frame_cells * engine->sharp);
    return status ? status : gbees_engine_drop(engine, set, error);
}

/* Sets the logarithm of the evidence of all measurements so far. */
static int find_log_evidence(gbees_engine *engine, int set, gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, set, &sums, error);

    if (!status)
        engine->log_evidence[set] = gbees_sums_log_mass(&sums);
    return status;
}

/* The logarithm of the mean over all sets of evidences that are given by their logarithms. */
static double mean_evidence(const gbees_engine *engine, const double *of)
{
    double sum = 0;

    for (int s = 0; s < engine->sets; s++)
        sum += exp(of[s] - of[0]) / engine->sets;
    return of[0] + log(sum);
}

/* Sets the evidence, of this measurement and of all, and what they may be off by: at least as much as the lattice
 * that differs most, and as the bound of any figure, since lattices may agree by chance in one.
 * before[sets]: of all measurements before. */
static void set_evidence(gbees_engine *engine, const double *before, gbees_evidence *evidence)
{
    const double bound = engine->certificate.mean[0].bound;
    const double own = mean_evidence(engine, engine->log_evidence);
    int other = 0;

    for (int s = 1; s < engine->sets; s++)
        if (fabs(engine->log_evidence[s] - own) > fabs(engine->log_evidence[other] - own))
            other = s;
    evidence->log_evidence = own - mean_evidence(engine, before);
    evidence->sampled = engine->log_evidence[other] - before[other];
    evidence->sampled_error = fmax(fabs(evidence->sampled - evidence->log_evidence), bound + engine->evidence_bound);
    evidence->total_sampled = engine->log_evidence[other];
    evidence->total_error = fmax(fabs(evidence->total_sampled - own), bound);
    evidence->by_points = 1;
    engine->evidence_bound = bound;
}

static int update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    double scale[GBEES_MAX_DIM] = {0}, before[GBEES_LAGRANGIAN_SETS];
    gbees_certificate certificate;
    gbees_update by = {.measurement = measurement, .beta = 1};
    gbees_tempering done = {.log_likelihood_max = -INFINITY};
    int status = gbees_measurement_log_peak(engine->problem, measurement, &by.log_peak, error);

    if (isnan(by.log_peak)) /* only the model knows it */
        by.log_peak = INFINITY;
    engine->past.now = clock->time;
    gbees_engine_set_density(engine);
    for (int s = 0; s < engine->sets && gbees_problem_absorbs(engine->problem) && !status; s++)
        status = find_log_evidence(engine, s, error); /* of what is left */
    memcpy(before, engine->log_evidence, sizeof before);
    gbees_engine_put_back(engine);
    for (int g = 0; g < engine->parts; g++)
        if (engine->set[0].lattice[g])
            gbees_lattice_drop_border(engine->set[0].lattice[g]);
    if (!status)
        status = gbees_between_look(engine, &by, mean_evidence(engine, before), error);
    for (int s = 0; s < engine->sets && !status; s++)
        status = update_set(engine, s, &by, &done, error);
    gbees_engine_change(engine);
    if (!status)
        status = find_least_scale(engine, scale, error);
    if (!status)
        status = gbees_past_add(&engine->past, &by, scale, error);
    if (!status) {
        gbees_engine_settle(engine);
        status = gbees_engine_take_off(engine, error);
    }
    if (status)
        return status;
    engine->totals.refinements += done.refinements;
    engine->whole_beyond = 0; /* the rim is that of other weights */
    engine->limited = done.limited;
    engine->between.is_edged |= done.is_edged;
    engine->figure = 0;
    status = gbees_engine_sharpen_update(engine, error);
    for (int s = 0; s < engine->sets && !status; s++)
        status = find_log_evidence(engine, s, error);
    if (status)
        return status;
    engine->totals.mass_outflow = 0; /* what has left every bound has no likelihood */
    gbees_engine_count(engine);
    status = gbees_engine_certify(engine, &certificate, error);
    set_evidence(engine, before, evidence);
    evidence->log_likelihood_max = done.log_likelihood_max - (by.log_peak < INFINITY ? by.log_peak : 0);
    return status;
}

/* ---- jump ---- */

static int jump(gbees_engine *engine, const gbees_clock *clock, const gbees_instant *instant, gbees_error *error)
{
    double scale[GBEES_MAX_DIM] = {0}, sign = 0, times;
    int status = find_least_scale(engine, scale, error);

    engine->past.now = clock->time;
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !status; g++)
            if (engine->set[s].lattice[g])
                status = gbees_past_jump(&engine->past, engine->set[s].lattice[g], instant, scale, &sign, error);
    gbees_engine_change(engine);
    if (status || engine->smoothed)
        return status;
    status = find_least_scale(engine, scale, error);
    if (!status)
        status = gbees_past_add_jump(&engine->past, instant, sign, scale, error);
    if (!status)
        status = gbees_engine_take_off(engine, error);
    return status ? status : gbees_engine_sharpen(engine, &times, error);
}

/* Within a call the number of evaluations is that of the work so far. */
static void totals_of(const gbees_engine *engine, gbees_totals *totals)
{
    *totals = engine->totals;
    totals->cell_updates = engine->evaluations + gbees_trajectories_evaluations(engine->past.trajectories);
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
    const int status = gbees_engine_add_borders(engine, error);

    if (status)
        return status;
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts; g++) {
            gbees_lattice *lattice = engine->set[s].lattice[g];

            for (uint32_t i = 0; lattice && i < lattice->count; i++) {
                double x0[GBEES_MAX_DIM];

                gbees_lattice_start(lattice, &lattice->site[i], x0);
                for (int j = 0; j < lattice->n; j++)
                    lattice->x[j][i] = lattice->log_weight[i] > -INFINITY ? x0[j] : NAN;
            }
            if (lattice)
                gbees_source_log_share(&engine->source[g], lattice->count, lattice->x, lattice->stretch);
        }
    engine->past.now = engine->past.start;
    gbees_engine_change(engine);
    engine->smoothed = 1;
    return GBEES_OK;
}

const gbees_backend gbees_lagrangian_backend = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "lagrangian",
    .title = "points that go with the flow",
    .exact = 1,
    .absorbs = 1,
    .probe = probe,
    .estimate = gbees_engine_estimate,
    .create = create,
    .destroy = gbees_engine_destroy,
    .advance = advance,
    .update = update,
    .jump = jump,
    .statistics = gbees_engine_statistics,
    .cells = gbees_engine_cells,
    .totals = totals_of,
    .save = gbees_engine_save,
    .load = gbees_engine_load,
    .certify = gbees_engine_certify,
    .rewind = rewind_points,
    .compare = gbees_engine_compare,
    .targets = gbees_engine_targets,
};
