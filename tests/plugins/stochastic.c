/* stochastic - Lorenz '63 with white noise on each state, for tests/accuracy/filter. */
#define GBEES_DIM 3
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real sigma = p[0], b = p[1], r = p[2];

    (void)n, (void)t;
    dxdt[0] = sigma * (x[1] - x[0]);
    dxdt[1] = -x[1] - x[0] * x[2];
    dxdt[2] = -b * x[2] + x[0] * x[1] - b * r;
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)t, (void)x;
    for (int j = 0; j < n; j++)
        Q[j] = p[3];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[2];
}

#else

static const gbees_quantity states[] = {{"x", "-", "first"}, {"y", "-", "second"}, {"z", "-", "third"}};
static const gbees_parameter parameters[] = {
    {"sigma", "-", "Prandtl number", 4.0, 0, 0},
    {"b", "-", "aspect of the convection cell", 1.0, 0, 0},
    {"r", "-", "Rayleigh number over its critical value, shifted", 48.0, 0, 0},
    {"noise", "-", "variance that white noise adds to each state in a unit of time", 1, 0, 1e30},
};
static const gbees_measurement_function measurements[] = {{"z", "the third state", 1, &states[2], NULL}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [-11.5, -10.0, 9.5]\ncovariance: [1, 1, 1]\nthreshold: 5.0e-6\nend: 2\nrecords: 2\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "stochastic",
    .title = "Lorenz '63 with noise",
    .dim_default = 3,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
