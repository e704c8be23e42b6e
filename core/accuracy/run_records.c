/* run_records.c - what the records of a run show of its error, for the choice of the next one (refinement.c). */
#include "base/array.h"
#include "plan.h"
#include "roughness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* The ratio that stands for an unknown error over the allowed one: the next run is finer, so that both can be
 * compared. */
static const double unknown_ratio = 1.5;
const double gbees_plan_least_finer = 1.2;

/* Adds the leg that a record begins. A leg of the plan keeps its factors; others have those of the leg before. */
static int open_leg(gbees_refinement *r, int leg, gbees_error *error)
{
    run_result *now = &r->now;

    while (now->leg_count <= leg) {
        leg_result *legs = realloc(now->legs, ((size_t)now->leg_count + 1) * sizeof *legs);

        if (!legs)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
        now->legs = legs;
        legs[now->leg_count] = legs[now->leg_count - 1];
        legs[now->leg_count].start = legs[now->leg_count].worst = 0;
        memset(legs[now->leg_count].rough, 0, sizeof legs->rough);
        now->leg_count++;
    }
    return GBEES_OK;
}

/* The ratio of a record's error to what is allowed: the accuracy less the sampling error. */
static double ratio_of(double accuracy, gbees_difference error)
{
    const double allowed = accuracy - (error.bound - error.value);

    return error.bound <= accuracy ? error.bound / accuracy : fmax(error.value, 0) / fmax(allowed, accuracy / 2);
}

static int keep_moments(run_result *run, const gbees_record *record, gbees_error *error)
{
    const int n = record->problem->dimension;

    if (gbees_array_grow(&run->records, run->record_count, &run->record_capacity, sizeof *run->records))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    record_moments *kept = &run->records[run->record_count++];
    *kept = (record_moments){.leg = record->leg, .number = record->number};
    for (int j = 0; j < n; j++) {
        kept->mean[j] = record->statistics.mean[j];
        kept->std[j] = sqrt(fmax(0, record->statistics.covariance[j * n + j]));
    }
    return GBEES_OK;
}

/* The largest difference of a mean, in standard deviations, or of a standard deviation, relative, to another run. */
static double moments_difference(const record_moments *other, const gbees_record *record)
{
    const int n = record->problem->dimension;
    double largest = 0;

    for (int j = 0; j < n; j++) {
        const double std = sqrt(fmax(0, record->statistics.covariance[j * n + j]));

        largest = fmax(largest, fabs(record->statistics.mean[j] - other->mean[j]) / std);
        largest = fmax(largest, fabs(other->std[j] / std - 1));
    }
    return largest;
}

/* The same record of the run before, whose cells were *finer times as wide; NULL: there is none, or they were hardly
 * wider. */
static const record_moments *find_before(const gbees_refinement *r, const gbees_record *record, double *finer)
{
    *finer = 1;
    if (record->leg < r->before.leg_count && record->leg < r->now.leg_count)
        *finer = gbees_plan_finer(r, record->leg);
    const size_t count = *finer > gbees_plan_least_finer ? r->before.record_count : 0;
    for (size_t k = 0; k < count; k++)
        if (r->before.records[k].leg == record->leg && r->before.records[k].number == record->number)
            return &r->before.records[k];
    return NULL;
}

double gbees_refinement_estimate(const gbees_refinement *r, const gbees_record *record)
{
    double finer;
    const record_moments *before = find_before(r, record, &finer);

    /* Of an error in proportion to at least the root of the width; never less than the difference itself. */
    return before ? moments_difference(before, record) / fmin(1, sqrt(finer) - 1) : NAN;
}

int gbees_refinement_variation(gbees_refinement *r, const gbees_record *record, double *variation, gbees_error *error)
{
    double finer;
    const record_moments *before = find_before(r, record, &finer);

    *variation = record->certificate ? record->certificate->variation : 0;
    gbees_histogram_destroy(r->pending);
    r->pending = NULL;
    if (*variation > 0) /* the audit knows */
        return GBEES_OK;
    const int status = gbees_histogram_create(r->problem, record, &r->pending, error);
    if (!status && r->pending && before && before->histogram)
        *variation = fmin(1, gbees_histogram_variation(before->histogram, r->pending) / fmin(1, finer - 1));
    if (*variation > 0 && record->certificate)
        *variation = fmax(*variation, record->certificate->variation_least);
    return status;
}

/* The square of the furthest cell's distance from the mean along any axis, in standard deviations, with noise, on a
 * grid at rest with the model's axes; else 0. What is lost there takes so much of a variance. */
static double reach_of(const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    double most = 0;

    if (!record->marginals || !problem->model->diffusion || problem->moving || problem->rotated)
        return 0;
    for (int j = 0; j < problem->dimension; j++) {
        const double first = problem->mean[j] + problem->width[j] * record->marginals->first[j];
        const double last = first + problem->width[j] * ((double)record->marginals->length[j] - 1);
        const double variance = record->statistics.covariance[j * problem->dimension + j];
        const double mean = record->statistics.mean[j];

        if (variance > 0)
            most = fmax(most, fmax(pow(mean - first, 2), pow(last - mean, 2)) / variance);
    }
    return most;
}

int gbees_refinement_record(gbees_refinement *r, const gbees_record *record, gbees_error *error)
{
    const gbees_certificate *certificate = record->certificate;
    const int n = r->problem->dimension;
    run_result *now = &r->now;
    int status = open_leg(r, record->leg, error);

    if (!status)
        status = keep_moments(now, record, error);
    if (status)
        return status;
    now->records[now->record_count - 1].histogram = r->pending;
    r->pending = NULL;
    leg_result *leg = &now->legs[record->leg];
    const gbees_difference difference =
        certificate ? gbees_certificate_error(certificate, n, r->problem->accuracy_of) : (gbees_difference){NAN, NAN};
    if (record->number == 0) {
        leg->time = record->time;
        gbees_plan_note_selection(r, record);
    }
    leg->updates = record->totals.cell_updates;
    leg->narrow |= (record->warnings & GBEES_WARNING_NARROW) != 0;
    now->reach = fmax(now->reach, reach_of(record));
    const int unsure = gbees_plan_note_samples(r, record, difference);
    if (isnan(difference.bound)) {
        const double estimate = gbees_refinement_estimate(r, record);

        now->unknown |= !unsure || estimate > r->problem->accuracy || (record->warnings & GBEES_WARNING_NARROW);
        now->estimate = isnan(estimate) ? estimate : fmax(now->estimate, estimate);
        leg->worst = fmax(leg->worst, isnan(estimate) ? unknown_ratio : estimate / r->problem->accuracy);
        return GBEES_OK;
    }
    const int owned = !unsure && gbees_plan_owns(r, certificate, difference);
    const double ratio =
        owned || difference.bound <= r->problem->accuracy ? ratio_of(r->problem->accuracy, difference) : 0;
    if (record->number == 0)
        leg->start = ratio;
    else
        leg->worst = fmax(leg->worst, ratio);
    if (!(difference.bound <= now->error) && !unsure) {
        now->error = difference.bound;
        now->time = record->time;
    }
    now->by_points |= certificate && certificate->points > 0;
    now->owned += owned;
    now->sample_bound = fmax(now->sample_bound, difference.bound - difference.value);
    if (record->cells && gbees_cells_count(record->cells) > 0 &&
        gbees_cells_count(record->cells) <= GBEES_COMPARED_CELLS) {
        double rough[N];

        status = gbees_roughness(record->cells, n, rough, error);
        for (int j = 0; j < n && !status; j++)
            leg->rough[j] += rough[j];
    }
    return status;
}
