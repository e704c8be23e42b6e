/* cell_values.c - whether the cells of a search's runs have values at their centres, or averages. See plan.h. */
#include "numerics/periods.h"
#include "plan.h"
#include <math.h>

enum { N = GBEES_MAX_DIM };

/* Whether noise in the sweeps is the same at the initial mean and a deviation beside it along each axis, and whether
 * each axis has some or has a drift along it that does not vary along it there. */
static int noise_is_even(const gbees_problem *problem)
{
    enum { PLACES = 3 };
    static const double origin[N];
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    const int n = problem->dimension;
    double x[N][PLACES], drift[N][PLACES], noise[N][PLACES], *to[2][N];
    const double *from[N];

    for (int axis = 0; axis < n; axis++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < PLACES; k++)
                x[j][k] = problem->mean[j] + (j == axis ? (k - 1) * sqrt(problem->covariance[j * n + j]) : 0);
            from[j] = x[j];
            to[0][j] = drift[j];
            to[1][j] = noise[j];
        }
        functions->drift_d(PLACES, problem->start, origin, from, problem->parameters, to[0]);
        functions->diffusion_d(PLACES, problem->start, origin, from, problem->parameters, to[1]);
        for (int j = 0; j < n; j++)
            if (noise[j][0] != noise[j][1] || noise[j][2] != noise[j][1])
                return 0;
        if (!(noise[axis][1] > 0) && (drift[axis][0] != drift[axis][1] || drift[axis][2] != drift[axis][1]))
            return 0;
    }
    return 1;
}

/* Whether no measurement tells more than a quarter of the initial deviation along an axis, by its differences about
 * the initial mean: so that cells of that width show what it tells to sums over their centres. */
static int measures_widely(const gbees_problem *problem)
{
    enum { PLACES = 2 };
    static const double most = 4;
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    static const double origin[N];
    double x[N][PLACES], out[N][PLACES], *to[N + 1] = {0};
    const double *from[N];
    int is_wide = 1;

    for (int k = 0; k < problem->measurement_count && is_wide; k++) {
        const gbees_measurement *m = &problem->measurements[k];

        is_wide = m->likelihood != GBEES_LIKELIHOOD_MODEL;
        for (int i = 0; i < m->size; i++)
            to[i] = out[i];
        to[m->size] = NULL;
        for (int axis = 0; axis < problem->dimension && is_wide; axis++) {
            for (int j = 0; j < problem->dimension; j++) {
                const double by = j == axis ? sqrt(problem->covariance[j * problem->dimension + j]) / 2 : 0;

                x[j][0] = problem->mean[j] - by;
                x[j][1] = problem->mean[j] + by;
                from[j] = x[j];
            }
            functions->measure_d(m->function, PLACES, m->time, origin, from, problem->parameters, to);
            for (int i = 0; i < m->size; i++)
                is_wide &= m->missing >> i & 1 || fabs(gbees_wrapped(out[i][1] - out[i][0], m->period[i])) <=
                                                      most * sqrt(m->covariance[i * m->size + i]);
        }
    }
    return is_wide;
}

int gbees_plan_takes_points(const gbees_problem *problem)
{
    return problem->dimension > 1 && gbees_problem_engine_noise(problem) == GBEES_DIAGONAL &&
           problem->accuracy_of == GBEES_ACCURACY_MOMENTS && measures_widely(problem) &&
           problem->instant_count == 0 && !problem->cells && !gbees_problem_is_closed(problem) &&
           !gbees_problem_absorbs(problem) && noise_is_even(problem);
}

int gbees_plan_is_fine(const gbees_problem *problem)
{
    return problem->dimension <= 3 && problem->measurement_count == 0 && gbees_plan_takes_points(problem);
}
