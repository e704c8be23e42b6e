/* unseen - two states at rest, and likelihoods of the model's own that are 0 somewhere: nothing was seen within a
 * disc; the error of the first state is uniform; or what was measured came later, by a time of exponential
 * distribution. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_LOG_LIKELIHOOD 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)x, (void)p;
    dxdt[0] = 0;
    dxdt[1] = 0;
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0];
}

static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])
{
    (void)n, (void)t;
    switch (which) {
    case 0:
        return x[0] * x[0] + x[1] * x[1] < p[0] * p[0] ? -(real)INFINITY : 0;
    case 1:
        return fabs(y[0] - x[0]) < p[0] ? -log(2 * p[0]) : -(real)INFINITY;
    default:
        return y[0] > x[0] ? log(p[1]) - p[1] * (y[0] - x[0]) : -(real)INFINITY;
    }
}

#else

static const gbees_quantity states[] = {{"x", "", "first"}, {"y", "", "second"}};
static const gbees_parameter parameters[] = {
    {"radius", "", "of the disc, and half of the uniform error", 0.3, 0, 0},
    {"rate", "", "of the delay", 2, 0, 0},
};
static const gbees_measurement_function measurements[] = {
    {"nothing", "nothing within a disc about 0", 1, &states[0], NULL},
    {"window", "the first state, with a uniform error", 1, &states[0], NULL},
    {"delay", "the first state, later", 1, &states[0], NULL},
};
static const gbees_model_scenario scenarios[] = {{"default", "mean: [0, 0]\ncovariance: [1, 1]\nend: 1\n"}};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "unseen",
    .title = "two states at rest, and measurements that are impossible somewhere",
    .dim_default = GBEES_DIM,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
