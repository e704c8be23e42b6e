/* compare.c - see compare.h. */
#include "compare.h"
#include "bins.h"
#include "marginal.h"
#include "workers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DENSITY_CELLS = 1 << 22, /* of a record, above which binning them would take longer than the run */
    N = GBEES_MAX_DIM,
    GROUPS = GBEES_BINS_GROUPS
};

/* What the threads of a comparison share. Items are axes, then groups of samples. */
typedef struct comparison {
    const gbees_problem *problem; /* of the run's start */
    const gbees_montecarlo *samples;
    const gbees_record *record;
    const gbees_sample_moments *truth;
    gbees_certificate *certificate;
    double *place; /* of the samples along the axes of the record's grid, in cells from the middle of cell 0:
                    * place[j * count + i] */
    int size[N];   /* cells a bin */
    gbees_bins *bins[GROUPS];
    int status[N > GROUPS ? N : GROUPS]; /* of each item */
} comparison;

static gbees_difference difference(double value, double standard_error)
{
    return (gbees_difference){value, value + 2 * standard_error};
}

static int worst_status(const comparison *c, int count)
{
    for (int k = 0; k < count; k++)
        if (c->status[k])
            return c->status[k];
    return GBEES_OK;
}

/* ---- moments ---- */

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

/* ---- marginals ---- */

/* Sets the samples' places along an axis of the record's grid. */
static void find_places(const comparison *c, int axis)
{
    const gbees_montecarlo *samples = c->samples;
    const gbees_problem *problem = c->record->problem;
    const int n = problem->dimension;
    double *place = c->place + (size_t)axis * samples->count;

    for (size_t i = 0; i < samples->count; i++) {
        double y = problem->rotated ? 0 : samples->x[axis][i];

        for (int k = 0; k < n && problem->rotated; k++)
            y += problem->rotation[k * n + axis] * (samples->x[k][i] - problem->centre[k]);
        place[i] = (y - problem->mean[axis]) / problem->width[axis];
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

/* The largest relative standard error of the samples' standard deviations: a rotated grid has other axes. */
static double widest_error(const comparison *c)
{
    double wide = 0;

    for (int j = 0; j < c->problem->dimension; j++)
        wide = fmax(wide, c->truth->std_error[j] / c->truth->std[j]);
    return wide;
}

/* The standard errors are those of a distribution function at its middle, the largest. */
static int compare_pair(const comparison *c, const gbees_marginal_pair *pair, int axis)
{
    const double effective = c->truth->effective;
    double cells, largest;

    if (gbees_marginal_distance(pair, &cells, &largest))
        return GBEES_ENOMEM;
    const double distance = cells / std_of(pair->place, c->samples->weight, pair->count);
    c->certificate->marginal[axis] = difference(distance, hypot(1 / sqrt(effective), distance * widest_error(c)));
    c->certificate->kolmogorov[axis] = difference(largest, 1.36 / sqrt(effective));
    return GBEES_OK;
}

static void compare_marginal(void *context, size_t item)
{
    comparison *c = context;
    const gbees_marginals *ready = c->record->marginals;
    const size_t count = c->samples->count;
    const int axis = (int)item;
    gbees_marginal_pair pair = {.count = count, .place = c->place + item * count, .weight = c->samples->weight};
    double *made = NULL;

    find_places(c, axis);
    if (ready) {
        pair.first = ready->first[axis];
        pair.length = (size_t)ready->length[axis];
        pair.p = ready->line[axis];
    } else {
        int32_t last;
        gbees_error error;

        gbees_cells_range(c->record->cells, axis, &pair.first, &last);
        pair.length = (size_t)((int64_t)last - pair.first + 1);
        c->status[item] = gbees_cells_marginal_1d(c->record->cells, axis, &made, &error);
        pair.p = made;
    }
    if (!c->status[item] && pair.length > 0)
        c->status[item] = compare_pair(c, &pair, axis);
    free(made);
}

/* ---- the joint density ---- */

/* Adds the samples of a group to bins of its own. */
static void bin_group(void *context, size_t group)
{
    comparison *c = context;
    const gbees_montecarlo *samples = c->samples;
    const size_t count = samples->count, from = (count * group + GROUPS - 1) / GROUPS,
                 to = (count * (group + 1) + GROUPS - 1) / GROUPS;
    const int n = c->problem->dimension;

    c->bins[group] = gbees_bins_create(n, c->size);
    c->status[group] = c->bins[group] ? GBEES_OK : GBEES_ENOMEM;
    for (size_t i = from; i < to && !c->status[group]; i++) {
        double at[N];

        if (!(samples->weight[i] > 0))
            continue;
        for (int j = 0; j < n; j++)
            at[j] = c->place[(size_t)j * count + i];
        c->status[group] = gbees_bins_add_sample(c->bins[group], at, samples->weight[i], (int)group);
    }
}

/* Bins are as wide as the initial density's standard deviations, in whole cells. */
static int compare_density(comparison *c)
{
    const int n = c->problem->dimension, threads = c->samples->options.threads;

    for (int j = 0; j < n; j++)
        c->size[j] = (int)fmin(
            1e6, fmax(1, round(sqrt(fmax(0, c->problem->covariance[j * n + j])) / c->record->problem->width[j])));
    gbees_workers_run(threads, GROUPS, bin_group, c);
    int status = worst_status(c, GROUPS);
    for (int g = 1; g < GROUPS && !status; g++)
        status = gbees_bins_merge(c->bins[0], c->bins[g]);
    if (!status)
        status = gbees_bins_add_cells(c->bins[0], c->record->cells);
    if (!status) {
        double value, standard_error;

        gbees_bins_difference(c->bins[0], &value, &standard_error);
        c->certificate->density = difference(value, standard_error);
    }
    for (int g = 0; g < GROUPS; g++)
        gbees_bins_destroy(c->bins[g]);
    return status;
}

/* ---- all of it ---- */

static int has_cells(const gbees_record *record)
{
    return record->cells && gbees_cells_count(record->cells) > 0;
}

/* Compares marginals and, if there are cells and not too many, the joint density. */
static int compare_densities(comparison *c)
{
    const int n = c->problem->dimension;

    if (!has_cells(c->record) && !c->record->marginals)
        return GBEES_OK;
    c->place = malloc(c->samples->count * (size_t)n * sizeof *c->place);
    if (!c->place)
        return GBEES_ENOMEM;
    gbees_workers_run(c->samples->options.threads, (size_t)n, compare_marginal, c);
    int status = worst_status(c, n);
    if (!status && has_cells(c->record) && gbees_cells_count(c->record->cells) <= DENSITY_CELLS)
        status = compare_density(c);
    free(c->place);
    return status;
}

int gbees_samples_compare(const gbees_problem *problem, const gbees_montecarlo *samples, const gbees_record *record,
                          gbees_certificate *certificate, gbees_error *error)
{
    gbees_sample_moments truth;
    comparison c = {
        .problem = problem, .samples = samples, .record = record, .truth = &truth, .certificate = certificate};
    int status = gbees_montecarlo_measure(samples, 0, &truth, error);

    if (status)
        return status;
    certificate->effective = truth.effective;
    if (truth.effective < GBEES_EFFECTIVE_LEAST) {
        (void)snprintf(certificate->reason, sizeof certificate->reason,
                       "not certifiable with %zu samples: %.3g of them are effective", certificate->samples,
                       truth.effective);
        return GBEES_OK;
    }
    compare_moments(record, &truth, certificate);
    return compare_densities(&c) ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit of a record")
                                 : GBEES_OK;
}
