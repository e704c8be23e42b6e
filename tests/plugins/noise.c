/* noise - the engine's test model of diffusion: linear drift, and a full Q that depends on state and time. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 8
#define GBEES_HAS_DIFFUSION GBEES_FULL
#define GBEES_HAS_BOUND 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* p[0]: growth; p[1]: of x1 with the last state. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)t;
    for (int j = 0; j < n; j++)
        dxdt[j] = p[0] * x[j];
    if (n > 1)
        dxdt[0] += p[1] * x[n - 1];
}

/* p[2]: of each axis; p[3]: between neighbouring ones, in turn of either sign; p[4]: times the square of the state;
 * p[5]: grows with time; p[6]: from 0 to 1, rough, and of either sign beside the diagonal. */
static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    const real grown = 1 + p[5] * t;
    const int rough = p[6] > 0; /* sines would take most of a run's time */

    for (int j = 0; j < n; j++) {
        Q[j * n + j] = grown * (p[2] + p[4] * x[j] * x[j]) * (rough ? 1 + p[6] / 2 * sin(57 * x[j] + 1) : 1);
        if (j + 1 < n)
            Q[j * n + j + 1] = Q[(j + 1) * n + j] =
                (j % 2 ? -grown : grown) * p[3] * (rough ? 1 - p[6] + p[6] * cos(91 * x[j] + 37 * x[j + 1]) : 1);
    }
}

/* Not one that the dynamics keep: density goes beyond. */
static inline real bound(int n, real t, const real x[], const real p[])
{
    (void)n, (void)t, (void)p;
    return x[0];
}

#else

static const gbees_quantity states[] = {
    {"x1", "-", "first"}, {"x2", "-", "second"}, {"x3", "-", "third"},   {"x4", "-", "fourth"},
    {"x5", "-", "fifth"}, {"x6", "-", "sixth"},  {"x7", "-", "seventh"}, {"x8", "-", "eighth"},
};
static const gbees_parameter parameters[] = {
    {"growth", "-", "of each state", 0, 0, 0},    {"shear", "-", "of x1 with the last", 0, 0, 0},
    {"own", "-", "of each axis", 0, 0, 0},        {"beside", "-", "between axes", 0, 0, 0},
    {"square", "-", "times the square", 0, 0, 0}, {"rise", "-", "with time", 0, 0, 0},
    {"rough", "-", "from cell to cell", 0, 0, 1},
};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0.1, ...]\ncovariance: [0.25, ...]\nthreshold: 1.0e-9\nend: 0.5\nrecords: 2\n"
                "bound: off\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "noise",
    .title = "linear drift with noise",
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .bound = &states[0],
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
