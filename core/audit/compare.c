/* compare.c - puts the samples of a record's time into marginals and bins like the record's, by all threads, and
 * computes the differences of means, covariances, marginals and densities, each with its bound. */
#include "compare.h"
#include "base/workers.h"
#include "bins.h"
#include "islands.h"
#include "marginal.h"
#include "record/certificate.h"
#include "samples.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLE_NS = 20, /* that comparing a sample takes, or more */
    CELL_NS = 20,   /* and adding a cell to bins */
    N = GBEES_MAX_DIM,
    PARTS = GBEES_WORKERS_PARTS,
    BLOCK = SAMPLES_BLOCK
};

/* A kurtosis above which a part of less than a quarter of the probability has most of the variance. */
static const double heavy_tail = 5;

/* What the threads of a comparison share. */
typedef struct comparison {
    const gbees_problem *problem; /* of the run's start */
    const gbees_montecarlo *samples;
    const gbees_record *record;
    const gbees_sample_moments *truth;
    gbees_certificate *certificate;
    gbees_marginal marginal[N];
    double *made[N];       /* marginals of the cells, if the record has none */
    gbees_bins *bins;      /* NULL: the density is not compared */
    double apart[N];       /* lower bounds of the total variation distance, by each marginal */
    int status[N + PARTS]; /* of each item of the work */
} comparison;

static gbees_difference difference(double value, double standard_error)
{
    return (gbees_difference){value, value + 2 * standard_error};
}

/* Calls work for each item, on threads if all calls together take long enough (`nanoseconds`). Returns the status of
 * the first item that failed. */
static int run(comparison *c, size_t count, double nanoseconds, void (*work)(void *context, size_t item))
{
    int status = GBEES_OK;

    for (size_t k = 0; k < count; k++)
        c->status[k] = GBEES_OK;
    gbees_workers_run(gbees_workers_worth(c->samples->options.threads, nanoseconds), count, work, c);
    for (size_t k = 0; k < count && !status; k++)
        status = c->status[k];
    return status;
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

        /* Mean and deviation are relative to the samples' standard deviation, which has a sampling error, too. */
        certificate->mean[j] = difference(off, hypot(truth->mean_error[j] / true_std, off * wide));
        certificate->std[j] = difference(fabs(std / true_std - 1), fmax(1, std / true_std) * wide);
    }
}

/* ---- marginals ---- */

/* Sets the places of samples along a state, in entries of the line of the record's projection. */
static void find_projected(const comparison *c, int state, size_t first, size_t count, double *place)
{
    const gbees_projection *to = c->record->projection;

    for (size_t i = 0; i < count; i++)
        place[i] = (c->samples->x[state][first + i] - to->origin[state]) / to->width[state];
}

/* Sets the places of samples along an axis of the record's grid, in cells from the middle of cell 0. */
GBEES_PROCESSOR_CLONES static void find_places(const comparison *c, int axis, size_t first, size_t count,
                                               double *restrict place)
{
    const gbees_problem *problem = c->record->problem;
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;

    for (size_t i = 0; i < count; i++)
        place[i] = problem->rotated ? 0 : c->samples->x[axis][first + i];
    for (int k = 0; k < n && problem->rotated; k++) {
        const double part = inverse[axis * n + k],
                     centre = problem->centre[k], *restrict x = c->samples->x[k] + first;

        for (size_t i = 0; i < count; i++)
            place[i] += part * (x[i] - centre);
    }
    for (size_t i = 0; i < count; i++)
        place[i] = (place[i] - problem->mean[axis]) / problem->width[axis];
}

/* Sets a range of places along an axis of the record's grid that holds all samples; on a rotated grid it is wider
 * than needed. */
static void find_range(const comparison *c, int axis, double *least, double *most)
{
    const gbees_projection *to = c->record->projection;
    const gbees_problem *problem = c->record->problem;
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    if (to) {
        *least = (c->truth->least[axis] - to->origin[axis]) / to->width[axis];
        *most = (c->truth->most[axis] - to->origin[axis]) / to->width[axis];
        return;
    }
    double lo = problem->rotated ? 0 : c->truth->least[axis], hi = problem->rotated ? 0 : c->truth->most[axis];

    for (int k = 0; k < n && problem->rotated; k++) {
        const double part = inverse[axis * n + k], a = part * (c->truth->least[k] - problem->centre[k]),
                     b = part * (c->truth->most[k] - problem->centre[k]);

        lo += fmin(a, b);
        hi += fmax(a, b);
    }
    *least = (lo - problem->mean[axis]) / problem->width[axis];
    *most = (hi - problem->mean[axis]) / problem->width[axis];
}

/* The standard deviation of the samples along a marginal's axis or state, in its cells. */
static double std_of(const comparison *c, int axis)
{
    if (c->record->projection)
        return c->truth->std[axis] / c->record->projection->width[axis];

    const gbees_problem *problem = c->record->problem;
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double variance = problem->rotated ? 0 : c->truth->covariance[axis * n + axis];

    for (int j = 0; j < n && problem->rotated; j++)
        for (int k = 0; k < n; k++)
            variance += inverse[axis * n + j] * c->truth->covariance[j * n + k] * inverse[axis * n + k];
    return sqrt(fmax(0, variance)) / problem->width[axis];
}

/* The largest relative standard error of the samples' standard deviations: a rotated grid has other axes. */
static double widest_error(const comparison *c)
{
    double wide = 0;

    for (int j = 0; j < c->problem->dimension; j++)
        wide = fmax(wide, c->truth->std_error[j] / c->truth->std[j]);
    return wide;
}

/* Compares a marginal with the samples'. Standard errors are those of a distribution function at its median, where
 * they are largest; and of a probability by half of the samples. */
static void compare_marginal(comparison *c, gbees_marginal *marginal, int axis)
{
    const double effective = c->truth->effective, variation = gbees_marginal_variation(marginal);
    double cells, largest;

    gbees_marginal_distance(marginal, &cells, &largest);
    const double distance = cells / std_of(c, axis);
    c->certificate->marginal[axis] = difference(distance, hypot(1 / sqrt(effective), distance * widest_error(c)));
    c->certificate->kolmogorov[axis] = difference(largest, 1.36 / sqrt(effective));
    c->apart[axis] = fmax(variation - sqrt(0.5 / effective), largest - 1.36 / sqrt(effective));
}

/* Finds the grid's marginal of an axis, and allocates that of the samples. */
static void open_marginal(void *context, size_t item)
{
    comparison *c = context;
    const gbees_marginals *ready = c->record->marginals;
    const int axis = (int)item;
    gbees_marginal *marginal = &c->marginal[axis];
    double least, most;

    if (c->record->projection) {
        marginal->first = 0;
        marginal->length = c->record->projection->length[axis];
        marginal->p = c->record->projection->p[axis];
    } else if (ready) {
        marginal->first = ready->first[axis];
        marginal->length = (size_t)ready->length[axis];
        marginal->p = ready->line[axis];
    } else {
        int32_t last;
        gbees_error error;

        gbees_cells_range(c->record->cells, axis, &marginal->first, &last);
        marginal->length = (size_t)((int64_t)last - marginal->first + 1);
        c->status[item] = gbees_cells_marginal_1d(c->record->cells, axis, &c->made[axis], &error);
        marginal->p = c->made[axis];
    }
    find_range(c, axis, &least, &most);
    if (!c->status[item] && marginal->length > 0)
        c->status[item] = gbees_marginal_open(marginal, least, most);
}

/* ---- all of it ---- */

/* The first sample of a part. Parts are islands where samples have been resampled: they depend on no other part. */
static size_t part_first(const gbees_montecarlo *samples, size_t part)
{
    return samples->resampled ? gbees_islands_first(samples, part * GBEES_ISLANDS / PARTS)
                              : gbees_workers_first(samples->count, part);
}

/* Adds a part of the samples to the marginals and bins, and a part of the cells to the bins. */
static void add_part(void *context, size_t part)
{
    comparison *c = context;
    const int n = c->problem->dimension;
    const size_t last = part_first(c->samples, part + 1);
    double place[N][BLOCK];
    const double *places[N];
    int status = GBEES_OK;

    for (size_t first = part_first(c->samples, part), count; first < last && !status; first += count) {
        count = last - first < BLOCK ? last - first : BLOCK;
        for (int j = 0; j < n; j++) {
            if (c->record->projection && c->marginal[j].count) {
                find_projected(c, j, first, count, place[j]);
                gbees_marginal_add(&c->marginal[j], part, count, place[j], c->samples->weight + first);
            }
            find_places(c, j, first, count, place[j]);
            places[j] = place[j];
            if (!c->record->projection && c->marginal[j].count)
                gbees_marginal_add(&c->marginal[j], part, count, place[j], c->samples->weight + first);
        }
        if (c->bins)
            status = gbees_bins_add_samples(c->bins, part, count, places, c->samples->weight + first);
    }
    if (c->bins && !status)
        status = gbees_bins_add_cells(c->bins, part, c->record->cells);
    c->status[part] = status;
}

/* Compares the marginals of an axis, or merges a partition of the bins. */
static void finish_item(void *context, size_t item)
{
    comparison *c = context;
    const size_t n = (size_t)c->problem->dimension;

    if (item >= n)
        c->status[item] = gbees_bins_merge(c->bins, item - n);
    else if (c->marginal[item].count)
        compare_marginal(c, &c->marginal[item], (int)item);
}

/* Bins are as wide as the initial density's standard deviations, in whole cells. A record on a grid along the model's
 * axes of a run whose grid has others has these deviations in its own problem. */
static int open_bins(comparison *c)
{
    const int n = c->problem->dimension;
    const gbees_problem *start =
        c->problem->rotated && !c->record->problem->rotated ? c->record->problem : c->problem;
    int size[N];

    for (int j = 0; j < n; j++)
        size[j] = (int)fmin(
            1e6, fmax(1, round(sqrt(fmax(0, start->covariance[j * n + j])) / c->record->problem->width[j])));
    c->bins = gbees_bins_create(n, size);
    return c->bins ? GBEES_OK : GBEES_ENOMEM;
}

/* Compares marginals and, if there are cells and not too many, the joint density. */
static int compare_densities(comparison *c)
{
    const size_t n = (size_t)c->problem->dimension,
                 cells = c->record->cells ? gbees_cells_count(c->record->cells) : 0;
    double work = (double)c->samples->count * SAMPLE_NS;
    int status;

    if (!cells && !c->record->marginals && !c->record->projection)
        return GBEES_OK;
    status = run(c, n, c->record->marginals ? 0 : (double)(cells * n), open_marginal);
    if (!status && cells && cells <= GBEES_COMPARED_CELLS && gbees_cells_are_whole(c->record->cells))
        status = open_bins(c);
    if (c->bins)
        work += (double)cells * CELL_NS;
    if (!status)
        status = run(c, PARTS, work, add_part);
    if (!status)
        status = run(c, c->bins ? n + PARTS : n, work / 4, finish_item);
    for (size_t j = 0; j < n; j++)
        c->certificate->variation_least = fmax(c->certificate->variation_least, c->apart[j]);
    if (!status && c->bins) {
        double value, standard_error;

        gbees_bins_difference(c->bins, c->samples->resampled, &value, &standard_error);
        c->certificate->density = gbees_bins_bound(value, standard_error);
        c->certificate->uncompared = 0;
    }
    return status;
}

static void close(comparison *c)
{
    for (int j = 0; j < c->problem->dimension; j++) {
        gbees_marginal_close(&c->marginal[j]);
        free(c->made[j]);
    }
    gbees_bins_destroy(c->bins);
}

/* Whether a sample of the record's own density, of as many as are effective or of so many independent islands, would
 * have differed as much along an axis, where little probability has a large part of the variance: few samples, or
 * none, are there. Resampling moves the weight of such a part at random: those of most islands soon have nothing of
 * it, the others too much. */
static int is_scatter(const comparison *c, int axis)
{
    const double independent = c->samples->resampled ? c->truth->islands : c->truth->effective,
                 kurtosis = gbees_marginal_kurtosis(&c->marginal[axis]);
    const gbees_statistics *now = &c->record->statistics;
    const size_t own = (size_t)(axis * c->problem->dimension + axis);
    const double variance = now->covariance[own], off = c->truth->mean[axis] - now->mean[axis];

    return kurtosis > heavy_tail && off * off <= 4 * variance / independent &&
           fabs(c->truth->covariance[own] / variance - 1) <= 2 * sqrt((kurtosis - 1) / independent);
}

/* Withdraws a certificate that says that a moment is far off, if samples can't know it. */
static void check_scatter(const comparison *c)
{
    gbees_certificate *certificate = c->certificate;
    const size_t samples = certificate->samples;
    const double effective = certificate->effective;

    if (c->record->problem->rotated && !c->record->projection)
        return;
    for (int j = 0; j < c->problem->dimension; j++) {
        if (!gbees_certificate_is_far_off(certificate, j, GBEES_LARGEST_SILENT) || c->marginal[j].length == 0 ||
            !is_scatter(c, j))
            continue;
        gbees_certificate_start(certificate, samples);
        certificate->effective = effective;
        (void)snprintf(certificate->reason, sizeof certificate->reason,
                       "not certifiable with %zu samples: %s a part of the density that is far from the rest",
                       samples, c->samples->resampled ? "most of their islands have none of" : "few of them are in");
        return;
    }
}

int gbees_samples_compare(const gbees_problem *problem, const gbees_montecarlo *samples,
                          const gbees_sample_moments *moments, const gbees_record *record,
                          gbees_certificate *certificate, gbees_error *error)
{
    comparison c = {
        .problem = problem, .samples = samples, .record = record, .truth = moments, .certificate = certificate};

    certificate->effective = moments->effective;
    if (moments->effective < GBEES_EFFECTIVE_LEAST) {
        (void)snprintf(certificate->reason, sizeof certificate->reason,
                       "not certifiable with %zu samples: %.3g of them are effective", certificate->samples,
                       moments->effective);
        return GBEES_OK;
    }
    if (samples->resampled && moments->islands < GBEES_ISLANDS_LEAST) {
        (void)snprintf(certificate->reason, sizeof certificate->reason,
                       "not certifiable with %zu samples: of their %d islands %.3g have weight", certificate->samples,
                       GBEES_ISLANDS, moments->islands);
        return GBEES_OK;
    }
    compare_moments(record, moments, certificate);
    certificate->uncompared = record->statistics.cells_above;
    const int status = compare_densities(&c);
    if (!status)
        check_scatter(&c);
    close(&c);
    return status ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit of a record") : GBEES_OK;
}
