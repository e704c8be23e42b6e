/* wells.c - whether more has been lost than a tenth of what is on the far side of a saddle; see run.h. p* cuts the
 * density off on the way to the saddle, as a wall that absorbs: what has not come across is missing beyond it. */
#include "record/equations.h"
#include "record/warnings.h"
#include "run.h"
#include <math.h>

static const double part = 0.1;   /* of what is beyond */
static const double least = 1e-9; /* less that is lost is rounding */

/* Two wells, and the mass on either side. */
typedef struct wells {
    const gbees_problem *problem; /* with the grid that the cells are of */
    double spread[GBEES_MAX_DIM], here[GBEES_MAX_DIM], there[GBEES_MAX_DIM];
    double near, far;
} wells;

/* A gbees_cell_visitor: a cell is of the well that is nearer, in standard deviations. */
static int add_cells(void *context, size_t count, const int32_t *const *index, const double *p)
{
    wells *w = context;

    for (size_t i = 0; i < count; i++) {
        double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM], further = 0;

        for (int j = 0; j < w->problem->dimension; j++)
            y[j] = w->problem->mean[j] + w->problem->width[j] * index[j][i];
        gbees_problem_point(w->problem, y, x);
        for (int j = 0; j < w->problem->dimension; j++)
            further += (pow(x[j] - w->here[j], 2) - pow(x[j] - w->there[j], 2)) / (w->spread[j] * w->spread[j]);
        *(further > 0 ? &w->far : &w->near) += p[i];
    }
    return 0;
}

/* The part of a Gaussian that is nearer to the other well. */
static double part_beyond(const wells *w, const double *mean, const double *covariance)
{
    const int n = w->problem->dimension;
    double slope[GBEES_MAX_DIM], further = 0, variance = 0;

    for (int j = 0; j < n; j++) { /* add_cells()'s difference of squares is a plane */
        const double step = w->there[j] - w->here[j], middle = (w->there[j] + w->here[j]) / 2;

        slope[j] = step / (w->spread[j] * w->spread[j]);
        further += slope[j] * (mean[j] - middle);
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            variance += slope[j] * covariance[j * n + k] * slope[k];
    return erfc(-further / sqrt(2 * variance)) / 2;
}

/* How much of the initial Gaussian or mixture may have been beyond the saddle and outside of its box. */
static double left_out(const wells *w, const gbees_problem *problem)
{
    double beyond = 0;

    if (problem->cells || problem->rotated)
        return 0;
    if (problem->gaussian_count == 0)
        beyond = part_beyond(w, problem->mean, problem->covariance);
    for (int g = 0; g < problem->gaussian_count; g++)
        beyond += problem->gaussians[g].weight *
                  part_beyond(w, problem->gaussians[g].mean, problem->gaussians[g].covariance);
    return fmin(beyond, gbees_warnings_cut_off(problem));
}

/* Whether the rule applies: with noise, whose equations stay the same, on a grid that stays. */
static int applies(const gbees_problem *problem)
{
    return problem->model && gbees_problem_noise(problem) && !(problem->model->flags & GBEES_TIME_DEPENDENT) &&
           !gbees_problem_is_exact(problem) && !problem->moving && !problem->bounded &&
           !gbees_problem_is_closed(problem);
}

/* Whether the record is the last of the run. */
static int is_last(const gbees_solver *solver, int number)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->now.leg];

    return solver->now.leg == solver->schedule->leg_count - 1 && number > 0 &&
           number == gbees_leg_records(leg, solver->problem->records);
}

int gbees_run_wells(gbees_solver *solver, const gbees_record *record, gbees_error *error)
{
    const gbees_problem *problem = solver->problem;
    const gbees_totals totals = gbees_run_totals(solver);
    const double lost = gbees_warnings_lost(problem, &totals);
    const int n = problem->dimension;
    wells w = {.problem = record->problem};
    double y[GBEES_MAX_DIM], peak[GBEES_MAX_DIM];

    if (!applies(problem) || !is_last(solver, record->number) ||
        !(fmax(lost, gbees_warnings_cut_off(problem)) > least))
        return GBEES_OK;
    for (int j = 0; j < n; j++) {
        y[j] = w.problem->mean[j] + w.problem->width[j] * record->statistics.peak_index[j];
        w.spread[j] = sqrt(record->statistics.covariance[j * n + j]);
        if (!problem->rotated) /* what has become narrow may have begun with a part beyond */
            w.spread[j] = fmax(w.spread[j], sqrt(problem->covariance[j * n + j]));
        if (!(w.spread[j] > 0))
            return GBEES_OK;
    }
    gbees_problem_point(w.problem, y, peak);
    if (!gbees_equations_noisy(problem, solver->now.clock.time, y) ||
        !gbees_audit_wells(problem, peak, w.spread, w.here, w.there))
        return GBEES_OK;
    const int status = solver->backend->cells(solver->grid.engine, 0, add_cells, &w, error);
    const double missing = lost + left_out(&w, problem);
    if (!status && missing > least && missing * (w.near + w.far) > part * fmin(w.near, w.far))
        solver->now.record_warnings |= GBEES_WARNING_SADDLE;
    return status;
}
