/* plugin_noise.c - gbees-plugin check: the diffusion over the initial box; see plugin.h. */
#include "numerics/diffusion.h"
#include "plugin.h"

enum { POINTS = 4096, ENTRIES = GBEES_MAX_DIM * GBEES_MAX_DIM };

/* Q_jk and Q_kj may differ by so much of the larger of Q_jj and Q_kk. */
static const double rounding = 1e-12;

typedef struct noise {
    const gbees_probe *probe;
    const gbees_problem *problem;
    int n, full;
    double x[GBEES_MAX_DIM], q[ENTRIES];
} noise;

static void choose_point(noise *at, int number, uint64_t *state)
{
    int64_t cell[GBEES_MAX_DIM];

    gbees_probe_cell(at->problem, (size_t)number, state, cell);
    for (int j = 0; j < at->n; j++)
        at->x[j] = at->problem->mean[j] + (double)cell[j] * at->problem->width[j];
}

static void evaluate(noise *at, double time)
{
    const double zero[GBEES_MAX_DIM] = {0}, *offset[GBEES_MAX_DIM];
    double *out[ENTRIES];

    for (int j = 0; j < at->n; j++)
        offset[j] = &at->x[j];
    for (int k = 0; k < ENTRIES; k++)
        out[k] = &at->q[k];
    at->problem->functions->diffusion_d(1, time, zero, offset, at->problem->parameters, out);
}

static int check_symmetry(const noise *at, const char *where)
{
    for (int j = 0; at->full && j < at->n; j++)
        for (int k = j + 1; k < at->n; k++) {
            const double upper = at->q[j * at->n + k], lower = at->q[k * at->n + j];
            const double scale = fmax(at->q[j * at->n + j], at->q[k * at->n + k]);

            if (!(fabs(upper - lower) <= rounding * scale)) {
                gbees_probe_report(at->probe, GBEES_PROBE_FAILED,
                                   "Q[%d][%d] = %.6g and Q[%d][%d] = %.6g at %s: Q is symmetric", j, k, upper, k, j,
                                   lower, where);
                return 0;
            }
        }
    return 1;
}

/* Checks Q at this point; reports why it is invalid. */
static int check_point(const noise *at, double time)
{
    double over[GBEES_MAX_DIM];
    char point[256], where[300];

    (void)snprintf(where, sizeof where, "%s at t = %g", gbees_probe_place(at->problem, at->x, point, sizeof point),
                   time);
    for (int j = 0; j < at->n; j++)
        over[j] = 1 / at->problem->width[j];
    for (int j = 0; j < at->n; j++) {
        const char *state = at->problem->model->states[j].name;

        switch (gbees_diffusion_fault(at->n, at->full, at->q, 1, over, j)) {
        case GBEES_NOISE_NOT_FINITE:
            gbees_probe_report(at->probe, GBEES_PROBE_FAILED, "not finite along %s at %s", state, where);
            return 0;
        case GBEES_NOISE_NEGATIVE:
            gbees_probe_report(at->probe, GBEES_PROBE_FAILED,
                               "Q[%d][%d], for %s, is negative at %s: a variance grows by no less than 0", j, j,
                               state, where);
            return 0;
        case GBEES_NOISE_NOT_DOMINANT:
            gbees_probe_report(
                at->probe, GBEES_PROBE_FAILED,
                "too correlated for the scenario's grid at %s: in units of cells the row for %s has more "
                "beside the diagonal than on it; give 'frame: moving', change the widths or factors, or turn the "
                "states",
                where, state);
            return 0;
        default:
            break;
        }
    }
    return check_symmetry(at, where);
}

void gbees_probe_noise(const gbees_probe *probe, const gbees_problem *problem, const char *name)
{
    noise at = {.probe = probe,
                .problem = problem,
                .n = problem->dimension,
                .full = gbees_problem_noise(problem) == GBEES_FULL};
    const int timed = (problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    uint64_t state = 20240607;
    double most = 0;

    if (!problem->functions->diffusion_d)
        return;
    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "diffusion, %s", name);
    for (int i = 0; i < POINTS; i++) {
        choose_point(&at, i, &state);
        if (timed) {
            evaluate(&at, problem->end);
            if (!check_point(&at, problem->end))
                return;
        }
        evaluate(&at, problem->start);
        if (!check_point(&at, problem->start))
            return;
        for (int j = 0; j < at.n; j++)
            most = fmax(most, at.q[at.full ? j * at.n + j : j]);
    }
    gbees_probe_report(probe, GBEES_PROBE_OK, "%sfinite, and can be on this grid, at %d points; at most %.6g",
                       at.full ? "symmetric, " : "", POINTS, most);
}
