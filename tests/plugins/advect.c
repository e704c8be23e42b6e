/* advect - the engine's test model: linear and quadratic motion in any dimension, time, and a slab that is not a
 * number. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 8
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_LOG_LIKELIHOOD 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* p[0..7]: velocity; p[8..15]: growth along each axis; p[16]: rotation in the planes of axes 2k and 2k + 1;
 * p[17]: amplitude of cos(t); p[18], p[19]: centre and half width of the slab in x1; p[20]: of the quadratic term;
 * p[21]: of x1 with the last state; p[22]: to both sides of the slab's centre. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    for (int j = 0; j < n; j++) {
        real next = x[j + 1 < n ? j + 1 : 0];

        dxdt[j] = p[j] + p[8 + j] * x[j] + p[17] * cos(t) + p[20] * (next * next - (real)0.5 * x[j] * x[j]);
        if ((j ^ 1) < n)
            dxdt[j] += (j & 1 ? p[16] : -p[16]) * x[j ^ 1];
    }
    real off = x[0] - p[18];

    if (n > 1)
        dxdt[0] += p[21] * x[n - 1];
    dxdt[0] += off > 0 ? p[22] : -p[22];
    dxdt[0] += 0 * sqrt(off * off - p[19] * fabs(p[19]));
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)t, (void)p;
    y[0] = which == 0 ? x[n - 1] : x[0] + x[n - 1];
    y[1] = x[0] * x[0];
}

/* Of the last state, in place of a Gaussian: Laplace's, less a constant that is left out, and none of the first state
 * below 0. Of the pair: not a number of the first state above p[18]. */
static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])
{
    (void)t;
    if (which == 0)
        return x[0] < 0 ? -(real)INFINITY : -fabs(y[0] - x[n - 1]) - 2000;
    return x[0] > p[18] ? (real)NAN : 0;
}

#else

static const gbees_quantity states[] = {
    {"x1", "-", "first"}, {"x2", "-", "second"}, {"x3", "-", "third"},   {"x4", "-", "fourth"},
    {"x5", "-", "fifth"}, {"x6", "-", "sixth"},  {"x7", "-", "seventh"}, {"x8", "-", "eighth"},
};
static const gbees_parameter parameters[] = {
    {"a1", "-", "velocity", 1, 0, 0},        {"a2", "-", "velocity", 0, 0, 0},
    {"a3", "-", "velocity", 0, 0, 0},        {"a4", "-", "velocity", 0, 0, 0},
    {"a5", "-", "velocity", 0, 0, 0},        {"a6", "-", "velocity", 0, 0, 0},
    {"a7", "-", "velocity", 0, 0, 0},        {"a8", "-", "velocity", 0, 0, 0},
    {"b1", "-", "growth", 0, 0, 0},          {"b2", "-", "growth", 0, 0, 0},
    {"b3", "-", "growth", 0, 0, 0},          {"b4", "-", "growth", 0, 0, 0},
    {"b5", "-", "growth", 0, 0, 0},          {"b6", "-", "growth", 0, 0, 0},
    {"b7", "-", "growth", 0, 0, 0},          {"b8", "-", "growth", 0, 0, 0},
    {"rotation", "-", "in planes", 0, 0, 0}, {"beat", "-", "amplitude of cos(t)", 0, 0, 0},
    {"hole", "-", "centre", 0, 0, 0},        {"hole_half", "-", "half width; none if < 0", -1, 0, 0},
    {"bend", "-", "quadratic", 0, 0, 0},     {"shear", "-", "of x1", 0, 0, 0},
    {"jump", "-", "speed away", 0, 0, 0},
};
static const gbees_measurement_function measurements[] = {
    {"last", "the last state", 1, NULL, NULL},
    {"pair", "the sum of the first and the last, and the square of the first", 2, NULL, NULL},
};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0, ...]\ncovariance: [1, ...]\nthreshold: 1.0e-6\nend: 1.0\nrecords: 1\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "advect",
    .title = "linear and quadratic motion",
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
