/* selection.c - tails that measurements select: the next run's grid keeps them; see plan.h.
 *
 * Mass m that is lost before a measurement with likelihood L and evidence C is at most m max(L) / C of the density
 * after it. So where a measurement selects a tail, its fraction s = C / max(L) of what a run may lose is what the run
 * may lose. In one and two dimensions, with noise, so it is where a measurement is precise: a part that lies as far
 * away as the density before it reached has, of the variance after it, so much more than its mass as that is smaller.
 */
#include "plan.h"
#include <math.h>

static const double budget_part = 0.1, budget_most = 0.01; /* of the accuracy: mass that may be lost over the run */
static const double cut_part = 0.05;                       /* of the accuracy: what the initial box may cut off */
static const double measured_part = 0.1; /* of both where measurements follow: what is lost before each is made up for
                                          * by it, and is missing from the evidence of all; with noise the next loss
                                          * comes at once */
static const double fine_part = 0.01;    /* of both where gbees_plan_is_fine(), and on a line with noise, where cells
                                          * far out cost little, and tails are often long */
static const double least_part = 1e-12;  /* a run that has lost the tail finds a fraction that may be far too small */
static const double precise = 1e-2;      /* such a fraction, of mass or of variance, is worth a run */
static const double lowest = 1e-18;      /* p* */
static const double prunes = 10;         /* so many losses of all cells that hold p* are within the budget */
static const double least_growth = 1.3;  /* of the cells by a lower p* */

static double part_of(const gbees_problem *problem)
{
    if (gbees_plan_is_fine(problem) || (problem->model->diffusion && problem->dimension == 1))
        return fine_part;
    return problem->model->diffusion && problem->measurement_count > 0 ? measured_part : 1;
}

double gbees_plan_budget(const gbees_problem *problem)
{
    return part_of(problem) * fmin(budget_most, budget_part * problem->accuracy);
}

/* The half-size of a box that cuts off no more than a part of the accuracy, of a fraction of the density. */
static double extent_for(const gbees_problem *problem, double fraction)
{
    double extent = 3;

    fraction *= part_of(problem);
    while (problem->dimension * erfc(extent / sqrt(2)) > cut_part * problem->accuracy * fraction)
        extent += 0.05;
    return extent;
}

double gbees_plan_extent(const gbees_refinement *r)
{
    return extent_for(r->problem, r->kept);
}

int gbees_refinement_update(gbees_refinement *r, int number, const gbees_evidence *evidence, gbees_error *error)
{
    double log_peak;
    const int status =
        gbees_measurement_log_peak(r->problem, &r->problem->measurements[number - 1], &log_peak, error);
    const double found = isnan(evidence->sampled_error) ? evidence->log_evidence : evidence->sampled;

    if (!status)
        r->updated += found - (isnan(log_peak) ? evidence->log_likelihood_max : log_peak);
    return status;
}

/* By how much the variance along an axis is smaller than in the record before, at most. */
static double narrowing(const gbees_refinement *r)
{
    double least = 1;

    for (int j = 0; r->now.record_count > 1 && j < r->problem->dimension; j++) {
        const record_moments *after = &r->now.records[r->now.record_count - 1], *before = after - 1;

        least = fmin(least, pow(after->std[j] / before->std[j], 2));
    }
    return least;
}

void gbees_plan_note_selection(gbees_refinement *r, const gbees_record *record)
{
    const double fraction = fmax(least_part, exp(r->updated)),
                 lightest = r->updated < 0 ? fmax(least_part, exp(r->updated) * narrowing(r)) : 1;

    r->least = fmin(r->least, fraction);
    if (record->warnings & GBEES_WARNING_TAIL)
        r->selected = fmin(r->selected, fraction);
    if (r->problem->dimension <= 2 && r->problem->model->diffusion && lightest < precise)
        r->selected = fmin(r->selected, lightest);
    r->updated = 0;
}

int gbees_plan_lacks_tail(const gbees_refinement *r)
{
    return r->selected < 0.25 * r->kept && r->kept > least_part;
}

double gbees_plan_keep_tail(gbees_refinement *r)
{
    const double before = gbees_plan_extent(r);

    r->kept = r->selected;
    return fmax(least_growth, pow(gbees_plan_extent(r) / before, r->problem->dimension));
}

void gbees_plan_set_threshold(gbees_refinement *r, double cells)
{
    const double budget = gbees_plan_budget(r->problem) * r->kept;

    r->threshold = fmax(lowest, budget / (prunes * fmax(1, cells)));
}
