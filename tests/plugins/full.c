/* full - a model that uses all of the contract: every dimension, time, a helper, measurements of several components,
 * one of them periodic, a likelihood of its own and a bound. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 8
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_BOUND 1
#define GBEES_HAS_LOG_LIKELIHOOD 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline real GBEES_FN(spring)(real x, real stiffness)
{
    return -stiffness * x / (1 + fabs(x));
}

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    for (int j = 0; j < n; j++)
        dxdt[j] = GBEES_FN(spring)(x[j], p[0]) + p[1] * cos(t) + (real)0.25 * x[n - 1 - j];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    real sum = 0;

    (void)p;
    for (int j = 0; j < n; j++)
        sum += x[j];
    y[0] = which == 0 ? sum : t;
    y[1] = which == 0 ? x[0] : sum;
    y[2] = x[n - 1];
}

static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])
{
    (void)t;
    if (p[0] < 0)
        return -(real)INFINITY;
    return y[which] > 0 ? -fabs(y[0] - GBEES_FN(spring)(x[0], p[0])) : -log(1 + x[n - 1] * x[n - 1]);
}

static inline real bound(int n, real t, const real x[], const real p[])
{
    real energy = 0;

    (void)t;
    for (int j = 0; j < n; j++)
        energy += p[0] * x[j] * x[j] / 2;
    return energy;
}

#else

static const gbees_quantity states[] = {
    {"x1", "m", "first"}, {"x2", "m", "second"}, {"x3", "m", "third"},   {"x4", "m", "fourth"},
    {"x5", "m", "fifth"}, {"x6", "m", "sixth"},  {"x7", "m", "seventh"}, {"x8", "m", "eighth"},
};
static const gbees_parameter parameters[] = {
    {"stiffness", "1/s", "of the springs", 2, 0, 100},
    {"push", "m/s", "amplitude", 0.5, 0, 0},
};
static const gbees_quantity components[] = {{"sum", "m", "of all"}, {"x1", "m", "the first"}};
static const double periods[] = {0, 6.283185307179586};
static const gbees_measurement_function measurements[] = {
    {"pair", "the sum and the first state", 2, components, periods},
    {"triple", "the time, the sum and the last state", 3, NULL, NULL},
};
static const gbees_quantity energy = {"energy", "m^2/s", "of the springs"};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1, ...]\ncovariance: [0.04, ...]\nthreshold: 1.0e-6\nend: 1.0\nrecords: 2\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "full",
    .title = "uses all of the contract",
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .bound = &energy,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
