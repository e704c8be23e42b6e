/* audit.c - a run's records held against samples of the model's own equations: see gbees.h, "audit". */
#include "bins.h"
#include "kept.h"
#include "marginal.h"
#include "montecarlo.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 10000,         /* unless more are asked for */
    DENSITY_CELLS = 1 << 22, /* of a record, above which binning them would take longer than the run */
    SAMPLES_MOST = 1 << 22,  /* unless more are asked for */
    RECORD_STEPS = 10,       /* steps that a record costs each sample */
    STEP_COST = 3,           /* cell updates that a step of a sample costs: what they take on one thread */
    EFFECTIVE_LEAST = 256,   /* effective samples, below which their errors say nothing */
    N = GBEES_MAX_DIM
};

/* Of the samples' way from one record to the next, in standard deviations: far below what they can tell. */
static const double step_tolerance = 5e-5;
/* A difference that is worth a warning, in standard deviations. */
static const double largest_silent = 0.1;

struct gbees_audit {
    const gbees_problem *problem;
    gbees_montecarlo *samples;
    double share; /* of the run's cell updates, as in gbees_audit_options; 0: the number of samples stays */
    double spent; /* steps of samples that have been replaced by more */
    size_t record_count, record_capacity;
    struct passed {
        int leg;
        double time;
    } * records;       /* that the samples have passed */
    gbees_kept kept;   /* states at the start and after each record; empty: none is kept */
    size_t record;     /* number of the next record */
    int leg, next;     /* the samples' leg; the first measurement that they have not been weighted by */
    unsigned warnings; /* of all records so far */
    gbees_error lost;  /* why there are no samples any more; its status is 0 as long as there are */
};

int gbees_audit_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_audit **audit,
                       gbees_error *error)
{
    const gbees_montecarlo_options how = {.count = options->samples ? options->samples : SAMPLES,
                                          .step = INFINITY,
                                          .seed = options->seed,
                                          .threads = options->threads};
    gbees_audit *made = calloc(1, sizeof *made);
    int status;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's samples");
    made->problem = problem;
    made->share = options->samples ? 0 : options->share;
    status = gbees_montecarlo_create(problem, &how, &made->samples, error);
    if (!status && options->keep && !made->share && !gbees_kept_add(&made->kept, made->samples, 0, 0))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to keep %zu samples", made->samples->count);
    if (status)
        gbees_audit_destroy(made);
    else
        *audit = made;
    return status;
}

void gbees_audit_destroy(gbees_audit *audit)
{
    if (!audit)
        return;
    gbees_montecarlo_destroy(audit->samples);
    gbees_kept_clear(&audit->kept);
    free(audit->records);
    free(audit);
}

/* ---- the samples ---- */

static int advance(gbees_audit *audit, double time, gbees_error *error)
{
    gbees_montecarlo *samples = audit->samples;
    int status;

    if (!(time > samples->time)) /* in paper and legacy mode a record may be a step late */
        return GBEES_OK;
    status = gbees_montecarlo_choose_step(samples, time, step_tolerance, error);
    return status ? status : gbees_montecarlo_advance(samples, time, error);
}

/* Carries the samples to the next record, and weights them by the measurements on the way: a leg begins with all of
 * one time. */
static int carry(gbees_audit *audit, int leg, double time, gbees_error *error)
{
    const gbees_problem *problem = audit->problem;
    int status = GBEES_OK;

    for (; audit->leg < leg && !status; audit->leg++) {
        const double next = problem->measurements[audit->next].time;

        status = advance(audit, next, error);
        for (; !status && audit->next < problem->measurement_count && problem->measurements[audit->next].time == next;
             audit->next++)
            status = gbees_montecarlo_update(audit->samples, &problem->measurements[audit->next], error);
    }
    return status ? status : advance(audit, time, error);
}

static int note_passed(gbees_audit *audit, const gbees_record *record, gbees_error *error)
{
    if (audit->record_count == audit->record_capacity) {
        const size_t capacity = 2 * audit->record_capacity + 64;
        struct passed *records = realloc(audit->records, capacity * sizeof *records);

        if (!records)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's records");
        audit->records = records;
        audit->record_capacity = capacity;
    }
    audit->records[audit->record_count++] = (struct passed){record->leg, record->time};
    return GBEES_OK;
}

/* How many samples the run's work so far allows; a power of two times those that there are. */
static size_t affordable(const gbees_audit *audit, const gbees_record *record)
{
    /* A record costs some steps, too: its samples are sorted into marginals and bins. */
    const double steps = (double)audit->samples->steps + RECORD_STEPS * (double)audit->record_count;
    const double budget = audit->share * record->totals.cell_updates / STEP_COST - audit->spent;
    size_t count = audit->samples->count;

    while (audit->share > 0 && audit->samples->steps > 0 && count * 2 <= SAMPLES_MOST &&
           2 * (double)count * steps <= budget)
        count *= 2;
    return count;
}

/* Takes more samples, the first of which are those that there are, to the present record.  Without memory for them,
 * or if they fail, it keeps the old ones. */
static void grow(gbees_audit *audit, const gbees_record *record)
{
    const size_t count = affordable(audit, record);
    gbees_montecarlo_options how = audit->samples->options;
    gbees_audit more = *audit;
    gbees_error ignored;
    int status;

    if (count == audit->samples->count)
        return;
    how.count = count;
    how.step = INFINITY;
    more.leg = more.next = 0;
    more.spent += (double)audit->samples->count * (double)audit->samples->steps;
    status = gbees_montecarlo_create(audit->problem, &how, &more.samples, &ignored);
    if (status)
        return;
    for (size_t k = 0; k < audit->record_count && !status; k++)
        status = carry(&more, audit->records[k].leg, audit->records[k].time, &ignored);
    if (status) {
        gbees_montecarlo_destroy(more.samples);
        return;
    }
    gbees_montecarlo_destroy(audit->samples);
    audit->samples = more.samples;
    audit->spent = more.spent;
}

/* Where the samples are along the axes of a record's grid, in cells from the middle of cell 0: place[j * count + i].
 */
static double *find_places(const gbees_montecarlo *samples, const gbees_problem *problem)
{
    const int n = problem->dimension;
    double *place = malloc(samples->count * (size_t)n * sizeof *place);

    for (size_t i = 0; place && i < samples->count; i++)
        for (int j = 0; j < n; j++) {
            double y = problem->rotated ? 0 : samples->x[j][i];

            for (int k = 0; k < n && problem->rotated; k++)
                y += problem->rotation[k * n + j] * (samples->x[k][i] - problem->centre[k]);
            place[(size_t)j * samples->count + i] = (y - problem->mean[j]) / problem->width[j];
        }
    return place;
}

/* ---- differences ---- */

static gbees_difference difference(double value, double standard_error)
{
    return (gbees_difference){value, value + 2 * standard_error};
}

static void compare_moments(const gbees_record *record, const gbees_sample_moments *truth,
                            gbees_certificate *certificate)
{
    const gbees_statistics *now = &record->statistics;
    const int n = record->problem->dimension;

    for (int j = 0; j < n; j++) {
        const double std = sqrt(fmax(0, now->covariance[j * n + j])), true_std = truth->std[j];
        const double off = fabs(now->mean[j] - truth->mean[j]) / true_std, wide = truth->std_error[j] / true_std;

        /* Both are over the samples' standard deviation, which is not exact either. */
        certificate->mean[j] = difference(off, hypot(truth->mean_error[j] / true_std, off * wide));
        certificate->std[j] = difference(fabs(std / true_std - 1), fmax(1, std / true_std) * wide);
    }
}

/* The weighted standard deviation of the samples along one of the grid's axes, in cells. */
static double std_of(const double *place, const double *weight, size_t count)
{
    double all = 0, sum = 0, square = 0;

    for (size_t i = 0; i < count; i++) {
        all += weight[i];
        sum += weight[i] * (place[i] - place[0]);
        square += weight[i] * (place[i] - place[0]) * (place[i] - place[0]);
    }
    return sqrt(fmax(0, square / all - sum / all * (sum / all)));
}

/* The standard errors are those of a distribution function at its middle, the largest.  wide: the relative standard
 * error of the samples' standard deviation. */
static int compare_marginal(const gbees_audit *audit, const gbees_marginal_pair *pair, double effective, double wide,
                            gbees_difference *marginal, gbees_difference *kolmogorov)
{
    double cells, largest;

    if (gbees_marginal_distance(pair, &cells, &largest))
        return GBEES_ENOMEM;
    const double distance = cells / std_of(pair->place, audit->samples->weight, pair->count);
    *marginal = difference(distance, hypot(1 / sqrt(effective), distance * wide));
    *kolmogorov = difference(largest, 1.36 / sqrt(effective));
    return GBEES_OK;
}

static int compare_marginals(const gbees_audit *audit, const gbees_record *record, const double *place,
                             const gbees_sample_moments *truth, gbees_certificate *certificate)
{
    const gbees_marginals *ready = record->marginals;
    const size_t count = audit->samples->count;
    double wide = 0; /* along the worst axis: a rotated grid has others */
    int status = GBEES_OK;

    for (int j = 0; j < record->problem->dimension; j++)
        wide = fmax(wide, truth->std_error[j] / truth->std[j]);
    for (int j = 0; j < record->problem->dimension && !status; j++) {
        gbees_marginal_pair pair = {
            .count = count, .place = place + (size_t)j * count, .weight = audit->samples->weight};
        double *made = NULL;

        if (ready) {
            pair.first = ready->first[j];
            pair.length = (size_t)ready->length[j];
            pair.p = ready->line[j];
        } else {
            int32_t last;
            gbees_error error;

            gbees_cells_range(record->cells, j, &pair.first, &last);
            pair.length = (size_t)((int64_t)last - pair.first + 1);
            status = gbees_cells_marginal_1d(record->cells, j, &made, &error);
            pair.p = made;
        }
        if (!status && pair.length > 0)
            status = compare_marginal(audit, &pair, certificate->effective, wide, &certificate->marginal[j],
                                      &certificate->kolmogorov[j]);
        free(made);
    }
    return status;
}

/* Bins are as wide as the initial density's standard deviations, in whole cells. */
static int compare_density(const gbees_audit *audit, const gbees_record *record, const double *place,
                           gbees_certificate *certificate)
{
    const gbees_problem *problem = audit->problem;
    const gbees_montecarlo *samples = audit->samples;
    const double *width = record->problem->width;
    const int n = problem->dimension;
    int size[N], status;

    for (int j = 0; j < n; j++)
        size[j] = (int)fmin(1e6, fmax(1, round(sqrt(fmax(0, problem->covariance[j * n + j])) / width[j])));
    gbees_bins *bins = gbees_bins_create(n, size, samples->count);
    status = bins ? gbees_bins_add_cells(bins, record->cells) : GBEES_ENOMEM;
    for (size_t i = 0; i < samples->count && !status; i++) {
        double at[N];

        for (int j = 0; j < n; j++)
            at[j] = place[(size_t)j * samples->count + i];
        status = gbees_bins_add_sample(bins, at, samples->weight[i], (int)(i * GBEES_BINS_GROUPS / samples->count));
    }
    if (!status) {
        double value, standard_error;

        gbees_bins_difference(bins, &value, &standard_error);
        certificate->density = difference(value, standard_error);
    }
    gbees_bins_destroy(bins);
    return status;
}

static int compare(const gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                   gbees_error *error)
{
    gbees_sample_moments truth;
    double *place = NULL;
    int status = gbees_montecarlo_measure(audit->samples, 0, &truth, error);

    if (status)
        return status;
    certificate->effective = truth.effective;
    if (truth.effective < EFFECTIVE_LEAST) {
        (void)snprintf(certificate->reason, sizeof certificate->reason,
                       "not certifiable with %zu samples: %.3g of them are effective", certificate->samples,
                       truth.effective);
        return GBEES_OK;
    }
    compare_moments(record, &truth, certificate);
    if ((record->cells && gbees_cells_count(record->cells) > 0) || record->marginals) {
        place = find_places(audit->samples, record->problem);
        status = place ? compare_marginals(audit, record, place, &truth, certificate) : GBEES_ENOMEM;
    }
    if (!status && record->cells && gbees_cells_count(record->cells) > 0 &&
        gbees_cells_count(record->cells) <= DENSITY_CELLS)
        status = compare_density(audit, record, place, certificate);
    free(place);
    return status ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit of a record") : GBEES_OK;
}

/* ---- the certificate ---- */

static void start(gbees_certificate *certificate, size_t samples)
{
    const gbees_difference unknown = {NAN, NAN};

    memset(certificate, 0, sizeof *certificate);
    certificate->samples = samples;
    for (int j = 0; j < N; j++)
        certificate->mean[j] = certificate->std[j] = certificate->marginal[j] = certificate->kolmogorov[j] = unknown;
    certificate->density = unknown;
}

/* Carries the samples to the next record, or takes those that were kept of it. */
static int carry_or_take(gbees_audit *audit, int leg, double time, gbees_error *error)
{
    const size_t state = ++audit->record; /* the first is that before all records */
    gbees_kept *kept = &audit->kept;

    if (state < kept->count && kept->states[state].leg == leg &&
        fabs(kept->states[state].time - time) <= 1e-12 * (audit->problem->end - audit->problem->start)) {
        gbees_kept_restore(kept, state, audit->samples, &audit->leg, &audit->next);
        return GBEES_OK;
    }
    int status = carry(audit, leg, time, error);
    if (!status && state == kept->count)
        (void)gbees_kept_add(kept, audit->samples, audit->leg, audit->next);
    return status;
}

void gbees_audit_rewind(gbees_audit *audit)
{
    if (audit->kept.count == 0)
        return;
    gbees_kept_restore(&audit->kept, 0, audit->samples, &audit->leg, &audit->next);
    audit->record = 0;
    audit->warnings = 0;
    audit->lost = (gbees_error){0};
}

int gbees_audit_record(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                       gbees_error *error)
{
    int status = (int)audit->lost.status;

    if (!status)
        status = carry_or_take(audit, record->leg, record->time, &audit->lost);
    if (!status && audit->share > 0) {
        status = note_passed(audit, record, error);
        if (status)
            return status;
        grow(audit, record);
    }
    start(certificate, audit->samples->count);
    if (!status) {
        status = compare(audit, record, certificate, error);
        if (!status && gbees_certificate_warns(certificate, record->problem->dimension))
            audit->warnings |= GBEES_WARNING_AUDIT;
        return status;
    }
    /* The run goes on without samples: what they can't tell is no failure of the grid. */
    audit->lost.status = (gbees_status)status;
    (void)snprintf(certificate->reason, sizeof certificate->reason, "not certifiable: %.200s", audit->lost.text);
    return GBEES_OK;
}

unsigned gbees_audit_warnings(const gbees_audit *audit)
{
    return audit->warnings;
}

gbees_difference gbees_certificate_worst(const gbees_difference *list, int dimension, int *axis)
{
    int worst = 0;

    for (int j = 0; j < dimension; j++) {
        if (isnan(list[j].bound)) {
            worst = j;
            break;
        }
        worst = list[j].bound > list[worst].bound ? j : worst;
    }
    if (axis)
        *axis = worst;
    return list[worst];
}

static gbees_difference larger(gbees_difference a, gbees_difference b)
{
    return isnan(a.bound) || a.bound > b.bound ? a : b;
}

gbees_difference gbees_certificate_error(const gbees_certificate *certificate, int dimension, gbees_accuracy_of of)
{
    if (of == GBEES_ACCURACY_DENSITY)
        return certificate->density;
    if (of == GBEES_ACCURACY_MARGINALS)
        return gbees_certificate_worst(certificate->marginal, dimension, NULL);
    return larger(gbees_certificate_worst(certificate->mean, dimension, NULL),
                  gbees_certificate_worst(certificate->std, dimension, NULL));
}

int gbees_certificate_warns(const gbees_certificate *certificate, int dimension)
{
    for (int j = 0; j < dimension; j++) {
        const gbees_difference *both[] = {&certificate->mean[j], &certificate->std[j]};

        for (int k = 0; k < 2; k++) /* value - 2 standard errors: at least so far off */
            if (2 * both[k]->value - both[k]->bound > largest_silent)
                return 1;
    }
    return 0;
}
