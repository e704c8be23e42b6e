/* record_warnings.c - what a record's statistics, marginals, certificate and mass warn of. */
#include "warnings.h"
#include <math.h>

static const double narrowest = 1.5;           /* of a marginal's standard deviation, in cells */
static const double narrowest_of_points = 0.5; /* whose averages over cells are exact */
static const double most_beside_one = 0.4;     /* of its mass: .46 beside the middle of a Gaussian of half a cell */
static const double most_beside_two = 0.04;    /* and .048 if its middle is a face */
static const double most_alone = 0.05;         /* of the mass, in cells with no more beside them than that */
static const double least_mass = 0.5;          /* since an update */
static const double rounding = 1e-6;           /* of what a target has taken, of the mass by the ledger */
static const double most_made = 1e-3;          /* rounding: mass beyond 1 and what clipping has added */

unsigned gbees_warnings_record(const gbees_problem *problem, const gbees_statistics *statistics, int with_cells)
{
    const int n = problem->dimension;
    /* A grid that moves may have slightly fewer cells a standard deviation than it was asked for. */
    const double least = gbees_problem_is_exact(problem) ? narrowest_of_points
                         : problem->moving               ? fmin(narrowest, 0.75 * problem->frame_least)
                                                         : narrowest;

    if (!with_cells || (gbees_problem_absorbs(problem) && statistics->mass == 0)) /* targets have taken all */
        return 0;
    for (int j = 0; j < n; j++)
        if (!(statistics->covariance[j * n + j] >= pow(least * problem->width[j], 2)))
            return GBEES_WARNING_NARROW;
    return 0;
}

/* The part of a marginal's mass that lies in cells which tell nothing of its shape: in one cell, or in two that a
 * part may lie between, beside which there is next to nothing. Of a Gaussian of half a cell it is 0. */
static double part_alone(const double *p, uint64_t length)
{
    double alone = 0, sum = 0;

    for (uint64_t i = 0; i < length; i++) {
        const double before = i > 0 ? p[i - 1] : 0, after = i + 1 < length ? p[i + 1] : 0;
        const double further = i + 2 < length ? p[i + 2] : 0;

        sum += p[i];
        if (before + after < most_beside_one * p[i])
            alone += p[i];
        else if (before + further < most_beside_two * (p[i] + after))
            alone += p[i] + after;
    }
    return sum > 0 ? alone / sum : 0;
}

unsigned gbees_warnings_marginals(const gbees_problem *problem, const gbees_marginals *marginals)
{
    for (int j = 0; j < problem->dimension; j++)
        if (part_alone(marginals->line[j], marginals->length[j]) > most_alone)
            return GBEES_WARNING_NARROW;
    return 0;
}

unsigned gbees_warnings_certificate(const gbees_problem *problem, const gbees_certificate *certificate)
{
    const double bound = gbees_certificate_error(certificate, problem->dimension, problem->accuracy_of).bound;

    return problem->accuracy > 0 && !(bound <= problem->accuracy) ? GBEES_WARNING_ACCURACY : 0;
}

unsigned gbees_warnings_ledger(const gbees_problem *problem, const gbees_record *record)
{
    const gbees_totals *totals = &record->totals;
    const double told = 1 + totals->mass_clipped + totals->mass_normalised - totals->mass_outflow -
                        totals->mass_pruned - gbees_totals_entered(totals);
    const double made = fabs(record->statistics.mass - told);

    return problem->numerics.mode == GBEES_MODE_DEFAULT && !gbees_problem_is_exact(problem) && made > rounding
               ? GBEES_WARNING_ROUNDING
               : 0;
}

/* What targets have taken since the last update. */
static double taken(const gbees_problem *problem, const gbees_record *record)
{
    double sum = 0;

    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            sum += record->targets[k].probability + rounding;
    return sum;
}

/* Whether what is left is no density of the model's: less than half of the mass since the last update, less what
 * targets and walls have taken. A bound may let mass out on purpose, but not of a density that an update has made. */
static int is_meaningless(const gbees_problem *problem, const gbees_record *record)
{
    const double expected = gbees_problem_wall_absorbs(problem) ? 1 - record->totals.mass_outflow : 1;

    return problem->numerics.mode == GBEES_MODE_DEFAULT && !gbees_problem_is_exact(problem) &&
           (!problem->bounded || record->totals.mass_normalised != 0) &&
           record->statistics.mass < least_mass * (expected - taken(problem, record));
}

int gbees_warnings_mass(const gbees_problem *problem, const gbees_record *record, gbees_error *error)
{
    const gbees_totals *totals = &record->totals;

    if (!(record->statistics.mass <= 1 + totals->mass_clipped + most_made))
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the probabilities add up to %.6g, which is more than 1: the result is wrong, and so is "
            "the backend; please report it with the scenario",
            record->statistics.mass);
    if (!is_meaningless(problem, record))
        return GBEES_OK;
    if (record->statistics.mass + taken(problem, record) >= least_mass)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "targets have taken all but %.3g %% of the mass, which is less than the grid has lost: "
            "nothing is known of what is left; end the run before, give a smaller '%s', or without "
            "noise 'frame: lagrangian'",
            100 * record->statistics.mass, problem->mass_budget > 0 ? "mass_budget" : "threshold");
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "%.3g %% of the mass is left since the last update: the result is meaningless; since the "
                           "start %.3g %% went through faces and %.3g %% by pruning: give a smaller '%s'%s",
                           100 * record->statistics.mass, 100 * totals->mass_outflow, 100 * totals->mass_pruned,
                           problem->mass_budget > 0 ? "mass_budget" : "threshold",
                           problem->bounded ? ", or 'bound: off', as the bound lets mass out, too" : "");
}
