/* leap - a damped oscillator with jumps, for tests of instants. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_JUMP 1
#define GBEES_HAS_BOUND 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t;
    dxdt[0] = x[1];
    dxdt[1] = -x[0] - p[0] * x[1];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0];
}

/* 0, burn: v + value; 1, bend: v + value x^2; 2, fold: x^2; 3, lost: not finite. */
static inline void jump(int which, int n, real t, const real x[], const real p[], const real value[], real to[])
{
    (void)n, (void)t, (void)p;
    to[0] = which == 2 ? x[0] * x[0] : which == 3 ? x[0] / (p[0] - p[0]) : x[0];
    to[1] = which == 0 ? x[1] + value[0] : which == 1 ? x[1] + value[0] * x[0] * x[0] : x[1];
}

static inline real bound(int n, real t, const real x[], const real p[])
{
    (void)n, (void)t, (void)p;
    return x[0] * x[0] + x[1] * x[1];
}

#else

static const gbees_quantity states[] = {{"x", "-", "place"}, {"v", "-", "velocity"}};
static const gbees_quantity energy = {"energy", "-", "of the oscillator"};
static const gbees_parameter parameters[] = {{"damping", "-", "of v", 0.2, 0, 0}};
static const gbees_measurement_function measurements[] = {{"x", "place", 1, &states[0], NULL}};
static const gbees_jump_function jumps[] = {{"burn", "a push", 1, &states[1]},
                                            {"bend", "a push by the place squared", 1, NULL},
                                            {"fold", "the place squared", 0, NULL},
                                            {"lost", "not finite", 0, NULL}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1, 0]\ncovariance: [0.04, 0.04]\nfactor: 4\nextent: 5\nthreshold: 1.0e-9\nend: 5\n"
                "bound: off\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "leap",
    .title = "an oscillator that jumps",
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .jump_count = GBEES_COUNT(jumps),
    .jumps = jumps,
    .bound = &energy,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
