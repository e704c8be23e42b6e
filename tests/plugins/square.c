/* square - a state that stays where it is, and a measurement of its square, which leaves two places: for tests of
 * densities in parts that stand apart. */
#define GBEES_DIM 1
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)x, (void)p;
    dxdt[0] = 0;
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0] * x[0];
}

#else

static const gbees_quantity states[] = {{"x", "-", "the state"}};
static const gbees_measurement_function measurements[] = {{"square", "x^2", 1, &states[0], NULL}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1.2]\ncovariance: [0.25]\nthreshold: 1.0e-9\nend: 1\nrecords: 1\n"
                "measurements:\n  - {time: 0.5, function: square, value: [1], covariance: [0.01]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "square",
    .title = "a state at rest whose square is measured",
    .dim_default = 1,
    .states = states,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
