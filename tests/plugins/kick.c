/* kick - a force along x for a short time, for tests of steps: x gets `kick` sin x. */
#define GBEES_DIM_MIN 2
#define GBEES_DIM_MAX 2
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* p[0]: the impulse; p[1], p[2]: when, and for how long (a Gaussian's mean and deviation). */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real off = (t - p[1]) / p[2];

    (void)n;
    dxdt[0] = p[0] * (real)0.3989422804014327 / p[2] * exp(-(real)0.5 * off * off) * sin(x[0]);
    dxdt[1] = 0;
}

#else

static const gbees_quantity states[] = {{"x", "-", "first"}, {"y", "-", "second"}};
static const gbees_parameter parameters[] = {
    {"kick", "-", "impulse", 1, 0, 0}, {"at", "-", "time", 0.5, 0, 0}, {"width", "-", "of time", 0.05, 0, 0}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0.5, 0]\ncovariance: [0.25, 0.25]\nthreshold: 1.0e-6\nend: 1.0\nrecords: 1\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "kick",
    .title = "a kick",
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
