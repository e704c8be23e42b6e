/* pulse - an oscillator that is pushed for a short time, and gets noise while it is, for tests of steps. */
#define GBEES_DIM 2
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* p[0], p[1]: when, and for how long; p[2], p[3]: the mean and the variance of what v gets. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n;
    dxdt[0] = x[1];
    dxdt[1] = -x[0] + (t >= p[0] && t < p[0] + p[1] ? p[2] / p[1] : 0);
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)n, (void)x;
    Q[0] = 0;
    Q[1] = t >= p[0] && t < p[0] + p[1] ? p[3] / p[1] : 0;
}

#else

static const gbees_quantity states[] = {{"x", "-", "place"}, {"v", "-", "velocity"}};
static const gbees_parameter parameters[] = {{"at", "-", "time", 3.3, 0, 0},
                                             {"width", "-", "of time", 0.01, 0, 0},
                                             {"push", "-", "mean of what v gets", 2, 0, 0},
                                             {"noise", "-", "its variance", 0, 0, 1e30}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1, 0]\ncovariance: [0.25, 0.25]\nfactor: 2\nthreshold: 1.0e-9\nend: 6\nrecords: 2\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "pulse",
    .title = "an oscillator that is pushed",
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
