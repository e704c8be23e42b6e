/* reference.c - copies from a record what a comparison needs, and computes the distances of a filter's moments and
 * marginals from it. */
#include "reference.h"
#include "audit/marginal.h"
#include "audit/samples.h"
#include "record/certificate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, PARTS = GBEES_WORKERS_PARTS };

/* A filter's limit is `small`, or the grid's own certified error if that is larger, but at most what is worth no
 * warning. */
static const double small = 0.05;

/* ---- what is kept of a record ------------------------------------------------------------------------------- */

static double limit_of(gbees_difference certified, double large)
{
    return isnan(certified.bound) ? small : fmin(fmax(certified.bound, small), large);
}

/* A lower bound of a certified error: the value less twice its standard error. */
static double least_of(gbees_difference certified)
{
    return fmax(0, 2 * certified.value - certified.bound);
}

/* Where the grid's own marginals are off they judge no filter. */
static void set_limits(gbees_reference *reference, const gbees_certificate *certificate, double accuracy)
{
    const double large = gbees_largest_silent(accuracy);
    const int n = reference->dimension;

    reference->limit = (gbees_rival_error){small, small, small, NAN};
    reference->off = (gbees_rival_error){NAN, NAN, NAN, NAN};
    if (!certificate)
        return;
    const gbees_difference mean = gbees_certificate_worst(certificate->mean, n, NULL),
                           std = gbees_certificate_worst(certificate->std, n, NULL),
                           kolmogorov = gbees_certificate_worst(certificate->kolmogorov, n, NULL);

    reference->limit =
        (gbees_rival_error){limit_of(mean, large), limit_of(std, large),
                            least_of(kolmogorov) > large ? INFINITY : limit_of(kolmogorov, large), NAN};
    reference->off = (gbees_rival_error){least_of(mean), least_of(std), least_of(kolmogorov), NAN};
}

/* Places along an axis of the record's own grid. */
static void set_axis(gbees_reference_line *line, const gbees_problem *problem, int axis)
{
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;

    line->offset = -problem->mean[axis] / problem->width[axis];
    for (int k = 0; k < n; k++) {
        line->along[k] = (problem->rotated ? inverse[axis * n + k] : k == axis) / problem->width[axis];
        line->offset -= problem->rotated ? line->along[k] * problem->centre[k] : 0;
    }
}

/* Finds the record's marginal of an axis; *made: to be freed. */
static int find_marginal(const gbees_record *record, int axis, gbees_reference_line *line, const double **p,
                         double **made, gbees_error *error)
{
    const gbees_projection *to = record->projection;
    const gbees_marginals *ready = record->marginals;
    int32_t last;

    set_axis(line, record->problem, axis);
    if (to) {
        memset(line->along, 0, sizeof line->along);
        line->along[axis] = 1 / to->width[axis];
        line->offset = -to->origin[axis] / to->width[axis];
        line->length = to->length[axis];
        *p = to->p[axis];
    } else if (ready) {
        line->first = ready->first[axis];
        line->length = (size_t)ready->length[axis];
        *p = ready->line[axis];
    } else if (record->cells && gbees_cells_count(record->cells) > 0) {
        gbees_cells_range(record->cells, axis, &line->first, &last);
        line->length = (size_t)((int64_t)last - line->first + 1);
        const int status = gbees_cells_marginal_1d(record->cells, axis, made, error);
        *p = *made;
        return status;
    }
    return GBEES_OK;
}

int gbees_reference_set(gbees_reference *reference, const gbees_problem *start, const gbees_record *record,
                        int measured, gbees_error *error)
{
    const int n = record->problem->dimension;
    int status = GBEES_OK;

    *reference = (gbees_reference){
        .dimension = n, .leg = record->leg, .number = record->number, .time = record->time, .measured = measured};
    memcpy(reference->moments.mean, record->statistics.mean, sizeof reference->moments.mean);
    memcpy(reference->moments.covariance, record->statistics.covariance, sizeof reference->moments.covariance);
    set_limits(reference, record->certificate, start->accuracy);
    for (int j = 0; j < n && !status; j++) {
        gbees_reference_line *line = &reference->line[j];
        const double *p = NULL;
        double *made = NULL;

        status = find_marginal(record, j, line, &p, &made, error);
        if (!status && p && line->length > 0) {
            line->p = malloc(line->length * sizeof *line->p);
            if (line->p)
                memcpy(line->p, p, line->length * sizeof *line->p);
            else
                status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");
        }
        free(made);
    }
    if (!status)
        status = gbees_joint_create(start, record, &reference->joint, error);
    if (status)
        gbees_reference_clear(reference);
    return status;
}

void gbees_reference_clear(gbees_reference *reference)
{
    for (int j = 0; j < N; j++) {
        free(reference->line[j].p);
        reference->line[j].p = NULL;
    }
    gbees_joint_destroy(reference->joint);
    reference->joint = NULL;
}

/* ---- distances ---------------------------------------------------------------------------------------------- */

/* The largest; NAN if one of them is. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* Kolmogorov's distance of a Gaussian from a marginal, at the faces of its cells. */
static double gaussian_distance(const gbees_reference_line *line, int n, const gbees_filter_moments *moments)
{
    double mean = line->offset, variance = 0, all = 0, below = 0, largest = 0;

    for (int j = 0; j < n; j++) {
        mean += line->along[j] * moments->mean[j];
        for (int k = 0; k < n; k++)
            variance += line->along[j] * moments->covariance[j * n + k] * line->along[k];
    }
    for (size_t i = 0; i < line->length; i++)
        all += line->p[i];
    for (size_t i = 0; i <= line->length; i++) {
        const double face = line->first + (double)i - 0.5;
        const double gaussian = 0.5 * erfc((mean - face) / sqrt(2 * fmax(variance, 1e-300)));

        largest = fmax(largest, fabs(gaussian - below / all));
        below += i < line->length ? line->p[i] : 0;
    }
    return isfinite(mean) && isfinite(variance) ? largest : NAN;
}

/* Places of a block of samples along the line. */
static void find_places(const gbees_reference_line *line, const gbees_montecarlo *samples, size_t first, size_t count,
                        double *place)
{
    for (size_t i = 0; i < count; i++)
        place[i] = line->offset;
    for (int j = 0; j < samples->problem->dimension; j++)
        for (size_t i = 0; i < count && line->along[j] != 0; i++)
            place[i] += line->along[j] * samples->x[j][first + i];
}

/* Kolmogorov's distance of samples from a marginal, at the faces of its cells. */
static double samples_distance(const gbees_reference_line *line, const gbees_montecarlo *samples)
{
    gbees_marginal marginal = {.first = line->first, .length = line->length, .p = line->p};
    double place[SAMPLES_BLOCK], least = INFINITY, most = -INFINITY, wasserstein, kolmogorov;

    for (size_t first = 0; first < samples->count; first += SAMPLES_BLOCK) {
        const size_t count = samples_in_block(samples, first / SAMPLES_BLOCK);

        find_places(line, samples, first, count, place);
        for (size_t i = 0; i < count; i++) {
            least = fmin(least, place[i]);
            most = fmax(most, place[i]);
        }
    }
    if (gbees_marginal_open(&marginal, least, most))
        return -1;
    for (size_t first = 0; first < samples->count; first += SAMPLES_BLOCK) {
        const size_t count = samples_in_block(samples, first / SAMPLES_BLOCK);

        find_places(line, samples, first, count, place);
        gbees_marginal_add(&marginal, 0, count, place, samples->weight + first);
    }
    gbees_marginal_distance(&marginal, &wasserstein, &kolmogorov);
    gbees_marginal_close(&marginal);
    return kolmogorov;
}

int gbees_reference_compare(const gbees_reference *reference, const gbees_filter_moments *moments,
                            const gbees_montecarlo *samples, gbees_rival_error *found, gbees_error *error)
{
    const gbees_filter_moments *grid = &reference->moments;
    const int n = reference->dimension;

    *found = (gbees_rival_error){.bc = NAN};
    if (reference->joint)
        found->bc = samples ? gbees_joint_samples(reference->joint, samples)
                            : gbees_joint_gaussian(reference->joint, moments);
    for (int j = 0; j < n; j++) {
        const double std = sqrt(grid->covariance[j * n + j]);
        const gbees_reference_line *line = &reference->line[j];
        double distance = NAN;

        if (line->length > 0)
            distance = samples ? samples_distance(line, samples) : gaussian_distance(line, n, moments);
        if (distance < 0)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");
        found->mean = larger(fabs(moments->mean[j] - grid->mean[j]) / std, found->mean);
        found->std = larger(fabs(sqrt(fmax(0, moments->covariance[j * n + j])) / std - 1), found->std);
        found->kolmogorov = larger(distance, found->kolmogorov);
    }
    return GBEES_OK;
}

double gbees_reference_ratio(const gbees_reference *reference, const gbees_rival_error *found)
{
    return larger(found->mean / reference->limit.mean,
                  larger(found->std / reference->limit.std, found->kolmogorov / reference->limit.kolmogorov));
}
