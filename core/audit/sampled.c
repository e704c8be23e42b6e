/* sampled.c - integrates and weights an audit's samples, keeps them for other runs, and makes them more; see
 * sampled.h. */
#include "base/array.h"
#include "base/gaps.h"
#include "base/numbers.h"
#include "compare.h"
#include "islands.h"
#include "montecarlo.h"
#include "record/instants.h"
#include "sampled_private.h"
#include "samples.h"
#include "targets.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 10000,        /* unless more are asked for */
    SAMPLES_MOST = 1 << 22, /* unless more are asked for */
    RECORD_STEPS = 10,      /* steps that a record costs each sample */
    STEP_COST = 3,          /* cell updates that a step of a sample costs: what they take on one thread */
    NOISY_COST = 6,         /* the same with noise */
    LISTED = 1000,          /* samples of a record that are given to the observer */
    N = GBEES_MAX_DIM
};

/* The error of samples from one record to the next, in standard deviations: far below their sampling error. */
static const double step_tolerance = 5e-5;
/* Nanoseconds of work of all threads, below which it does not pay to move samples to a GPU. */
static const double offload_least_ns = 3e7;

static void destroy(void *self)
{
    gbees_sampled *audit = self;

    if (!audit)
        return;
    gbees_montecarlo_destroy(audit->samples);
    gbees_kept_clear(&audit->kept);
    gbees_offload_close(&audit->offload);
    free(audit->records);
    free(audit->listed);
    free(audit);
}

int gbees_sampled_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_sampled **audit,
                         gbees_error *error)
{
    gbees_montecarlo_options how = {.count = options->samples ? options->samples : SAMPLES,
                                    .step = INFINITY,
                                    .seed = options->seed,
                                    .threads = options->threads,
                                    .absorbed = 1,
                                    .cancelled = options->cancelled,
                                    .context = options->context};
    gbees_sampled *made = calloc(1, sizeof *made);
    int status;

    if (!made || !(made->listed = malloc((size_t)problem->dimension * LISTED * sizeof *made->listed))) {
        free(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's samples");
    }
    made->problem = problem;
    made->offload = (gbees_offload){.backend = options->backend, .problem = problem, .least_ns = offload_least_ns};
    how.offload = &made->offload;
    made->share = options->samples && !options->most ? 0 : options->share;
    made->most = options->most ? options->most : SAMPLES_MOST;
    status = gbees_montecarlo_create(problem, &how, &made->samples, error);
    if (!status && options->keep && !gbees_kept_add(&made->kept, made->samples, &made->at.moments, 0, 0))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to keep %zu samples", made->samples->count);
    if (status)
        destroy(made);
    else
        *audit = made;
    return status;
}

/* ---- the samples ---- */

/* Whether a measurement is to come, for which samples must not run out. */
static int is_measured_again(const gbees_sampled *audit)
{
    const gbees_problem *problem = audit->problem;

    return audit->at.next < problem->measurement_count && problem->measurements[audit->at.next].time <= problem->end;
}

static int advance(gbees_sampled *audit, double time, gbees_error *error)
{
    gbees_montecarlo *samples = audit->samples;
    int status;

    if (!(time > samples->time)) /* in paper and legacy mode a record may be a step late */
        return GBEES_OK;
    if (is_measured_again(audit) && (status = gbees_montecarlo_resample(samples, error)))
        return status;
    return gbees_montecarlo_follow(samples, time, step_tolerance, error);
}

/* Takes the samples through the jumps of the instants up to number `end`, each at its time. */
static int jump(gbees_sampled *audit, int end, gbees_error *error)
{
    int status = GBEES_OK;

    for (; !status && audit->at.jumped < end; audit->at.jumped++) {
        status = advance(audit, audit->problem->instants[audit->at.jumped].time, error);
        if (!status)
            status = gbees_montecarlo_jump(audit->samples, audit->at.jumped, error);
    }
    return status;
}

/* Weights the samples by the measurements up to number `end`, each at its time, after the jumps before it. */
static int weight(gbees_sampled *audit, int end, gbees_error *error)
{
    int status = GBEES_OK;

    for (; !status && audit->at.next < end; audit->at.next++) {
        const gbees_measurement *measurement = &audit->problem->measurements[audit->at.next];

        status = jump(audit, gbees_instants_before(audit->problem, audit->at.next + 1), error);
        if (!status)
            status = advance(audit, measurement->time, error);
        if (!status)
            status = gbees_montecarlo_update(audit->samples, measurement, error);
    }
    return status;
}

/* Integrates the samples to a record, and weights them by the measurements before it. */
static int integrate(gbees_sampled *audit, int leg, double time, gbees_error *error)
{
    const gbees_leg_start start = gbees_leg_start_of(audit->problem, leg);
    int status = GBEES_OK;

    if (audit->at.leg < leg)
        status = weight(audit, start.measurement + start.measurement_count, error);
    if (!status && audit->at.leg < leg)
        status = jump(audit, start.instant + start.instant_count, error);
    audit->at.leg = leg;
    return status ? status : advance(audit, time, error);
}

/* Takes the samples through all measurements, or to the end without one, and lists which part is effective after
 * those of each time, *count of them. */
static int pass_all(gbees_sampled *audit, double *effective, int *count, gbees_error *error)
{
    const gbees_problem *problem = audit->problem;
    const gbees_leg_start last = gbees_leg_start_of(problem, INT_MAX);
    int status = GBEES_OK;

    for (int leg = 1; !status && is_measured_again(audit); leg++) {
        const gbees_leg_start start = gbees_leg_start_of(problem, leg);
        gbees_sample_moments moments;

        status = integrate(audit, leg, start.time, error);
        if (!status)
            status = gbees_montecarlo_measure(audit->samples, 0, &moments, error);
        if (!status && start.measurement_count > 0)
            effective[(*count)++] = moments.effective / (double)audit->samples->options.count;
    }
    if (!status)
        status = jump(audit, last.instant + last.instant_count, error);
    return status ? status : advance(audit, problem->end, error);
}

int gbees_audit_look_out(const gbees_problem *problem, const gbees_audit_options *options,
                         gbees_audit_outlook *outlook, gbees_error *error)
{
    gbees_audit_options how = *options;
    gbees_sampled *audit = NULL;
    int count = 0;

    *outlook = (gbees_audit_outlook){.effective = 1};
    if (!problem->model->diffusion && problem->measurement_count == 0 && !gbees_instants_with_error(problem))
        return GBEES_OK;
    how.samples = problem->measurement_count > 0 ? 0 : SAMPLES / 10;
    how.share = 0;
    how.keep = 0;
    double *effective = malloc(((size_t)problem->measurement_count + 1) * sizeof *effective);
    int status = effective ? gbees_sampled_create(problem, &how, &audit, error)
                           : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's outlook");
    if (!status)
        status = pass_all(audit, effective, &count, error);
    if (!status) /* an update costs as much as a record */
        outlook->steps =
            (double)audit->samples->steps + RECORD_STEPS * (double)(count + 1) * (double)(problem->records + 2);
    if (!status && count > 0) {
        qsort(effective, (size_t)count, sizeof *effective, gbees_compare_numbers);
        outlook->effective = effective[count / 10];
    }
    destroy(audit);
    free(effective);
    return status;
}

static int note_passed(gbees_sampled *audit, const gbees_record *record, gbees_error *error)
{
    if (gbees_array_grow(&audit->records, audit->at.record_count, &audit->record_capacity, sizeof *audit->records))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's records");
    struct passed *passed = &audit->records[audit->at.record_count++];
    *passed = (struct passed){record->leg, record->time};
    GBEES_CLEAR_GAPS(passed); /* it is saved as it is */
    return GBEES_OK;
}

/* How many samples the run's work so far allows: a power of two times those that there are, or the most. */
static size_t affordable(const gbees_sampled *audit, const gbees_record *record)
{
    /* A record costs some steps, too: its samples are sorted into marginals and bins. */
    const double steps = (double)audit->samples->steps + RECORD_STEPS * (double)audit->at.record_count;
    const int cost = audit->problem->model->diffusion ? NOISY_COST : STEP_COST;
    const double budget = audit->share * record->totals.cell_updates / cost - audit->at.spent;
    size_t count = audit->samples->options.count;

    while (audit->share > 0 && audit->samples->steps > 0 && count < audit->most &&
           2 * (double)count * steps <= budget)
        count = count * 2 < audit->most ? count * 2 : audit->most;
    return count;
}

/* Replaces the samples by more of them, at the present record, the first of which are the present ones.  Without
 * memory for them, or if their integration fails, the present ones stay. */
static void grow(gbees_sampled *audit, const gbees_record *record)
{
    const size_t count = affordable(audit, record);
    gbees_montecarlo_options how = audit->samples->options;
    gbees_sampled more = *audit;
    gbees_error ignored;
    int status;

    if (count == audit->samples->options.count)
        return;
    how.count = count;
    how.step = INFINITY;
    more.at.leg = more.at.next = more.at.jumped = 0;
    more.at.spent += (double)audit->samples->options.count * (double)audit->samples->steps;
    more.kept = (gbees_kept){0};
    status = gbees_montecarlo_create(audit->problem, &how, &more.samples, &ignored);
    if (status)
        return;
    const int keeps = audit->kept.count > 0 && gbees_kept_add(&more.kept, more.samples, &more.at.moments, 0, 0);
    for (size_t k = 0; k < audit->at.record_count && !status; k++) {
        status = integrate(&more, audit->records[k].leg, audit->records[k].time, &ignored);
        if (!status)
            status = gbees_montecarlo_measure(more.samples, 0, &more.at.moments, &ignored);
        if (!status && keeps && more.kept.count == k + 1)
            (void)gbees_kept_add(&more.kept, more.samples, &more.at.moments, more.at.leg, more.at.next);
    }
    gbees_sampled *old = status ? &more : audit;
    gbees_montecarlo_destroy(old->samples);
    gbees_kept_clear(&old->kept);
    if (status)
        return;
    audit->samples = more.samples;
    audit->kept = more.kept;
    audit->at.spent = more.at.spent;
    audit->at.moments = more.at.moments;
}

/* Restores a state that was kept, at a record or at the start. */
static void restore(gbees_sampled *audit, size_t state)
{
    gbees_kept_restore(&audit->kept, state, audit->samples, &audit->at.moments, &audit->at.leg, &audit->at.next);
    const gbees_leg_start start = gbees_leg_start_of(audit->problem, audit->at.leg);
    audit->at.jumped = start.instant + start.instant_count;
}

/* Integrates the samples to the next record, or restores those of a run before if its state there was kept. */
static int integrate_or_restore(gbees_sampled *audit, int leg, double time, gbees_error *error)
{
    const size_t state = ++audit->at.record; /* the first is that before all records */
    gbees_kept *kept = &audit->kept;

    if (state < kept->count && kept->states[state].leg == leg &&
        fabs(kept->states[state].samples.time - time) <= 1e-12 * (audit->problem->end - audit->problem->start)) {
        restore(audit, state);
        return GBEES_OK;
    }
    int status = integrate(audit, leg, time, error);
    if (!status)
        status = gbees_montecarlo_measure(audit->samples, 0, &audit->at.moments, error);
    if (!status && state == kept->count)
        (void)gbees_kept_add(kept, audit->samples, &audit->at.moments, audit->at.leg, audit->at.next);
    return status;
}

static const gbees_sample_list *list_samples(void *self)
{
    gbees_sampled *audit = self;
    const gbees_montecarlo *samples = audit->samples;
    const int n = audit->problem->dimension;
    size_t chosen[LISTED];

    if (samples->count == 0)
        return NULL;
    gbees_samples_choose(samples, LISTED, 0.5, chosen);
    audit->list.count = LISTED;
    for (int j = 0; j < n; j++) {
        float *x = audit->listed + (size_t)j * LISTED;

        for (size_t i = 0; i < LISTED; i++)
            x[i] = (float)samples->x[j][chosen[i]];
        audit->list.x[j] = x;
    }
    return &audit->list;
}

static void rewind_samples(void *self)
{
    gbees_sampled *audit = self;

    if (audit->kept.count == 0)
        return;
    restore(audit, 0);
    audit->at.record = 0;
    audit->at.record_count = 0;
    audit->at.spent = 0;
}

/* ---- the kind ---- */

static int advance_to(void *self, const gbees_record *record, gbees_error *error)
{
    gbees_sampled *audit = self;
    int status = integrate_or_restore(audit, record->leg, record->time, error);

    if (status || !(audit->share > 0))
        return status;
    status = note_passed(audit, record, error);
    if (!status)
        grow(audit, record);
    return status;
}

static int compare(void *self, const gbees_record *record, gbees_certificate *certificate, gbees_error *error)
{
    const gbees_sampled *audit = self;

    certificate->samples = audit->samples->options.count;
    return gbees_samples_compare(audit->problem, audit->samples, &audit->at.moments, record, certificate, error);
}

static int find_targets(void *self, gbees_target_state *state, gbees_error *error)
{
    const gbees_sampled *audit = self;

    (void)error;
    gbees_samples_targets(audit->samples, audit->at.moments.effective, state);
    return GBEES_OK;
}

static int update(void *self, int number, gbees_error *error)
{
    return weight(self, number, error);
}

static void evidence_of(const void *self, gbees_evidence *evidence)
{
    const gbees_sampled *audit = self;
    const gbees_sample_evidence *now = &audit->samples->evidence;
    const int known =
        audit->samples->resampled ? now->islands >= GBEES_ISLANDS_LEAST : now->effective >= GBEES_EFFECTIVE_LEAST;

    evidence->sampled = known ? now->log_evidence : NAN;
    evidence->sampled_error = known ? now->error : NAN;
    evidence->total_sampled = known ? now->total : NAN;
    evidence->total_error = known ? now->total_error : NAN;
    evidence->by_points = 0;
}

const gbees_reference_kind gbees_sampled_kind = {
    .destroy = destroy,
    .advance = advance_to,
    .compare = compare,
    .targets = find_targets,
    .update = update,
    .evidence = evidence_of,
    .samples = list_samples,
    .rewind = rewind_samples,
    .save = gbees_sampled_save,
    .load = gbees_sampled_load,
};
