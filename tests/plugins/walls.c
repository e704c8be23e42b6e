/* walls - noise along each axis that depends on the state and vanishes at walls: square-root processes, geometric
 * Brownian motion, noise between two walls. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 4
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* p[0] + p[1] x of each state; p[5]: of x1 with the last one. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)t;
    for (int j = 0; j < n; j++)
        dxdt[j] = p[0] + p[1] * x[j];
    if (n > 1)
        dxdt[0] += p[5] * x[n - 1];
}

/* p[2] + p[3] x + p[4] x^2, where that is more than 0. */
static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)t;
    for (int j = 0; j < n; j++) {
        const real q = p[2] + x[j] * (p[3] + x[j] * p[4]);

        Q[j] = q > 0 ? q : 0;
    }
}

#else

static const gbees_quantity states[] = {
    {"x1", "-", "first"}, {"x2", "-", "second"}, {"x3", "-", "third"}, {"x4", "-", "fourth"}};
static const gbees_parameter parameters[] = {
    {"constant", "-", "of the drift", 0, 0, 0},   {"growth", "-", "of each state", 0, 0, 0},
    {"own", "-", "of the noise", 0, 0, 0},        {"linear", "-", "noise, times the state", 0, 0, 0},
    {"square", "-", "times the square", 0, 0, 0}, {"shear", "-", "of x1 with the last", 0, 0, 0},
};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1, ...]\ncovariance: [0.01, ...]\nthreshold: 1.0e-9\nend: 1\nrecords: 1\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "walls",
    .title = "linear drift with noise that vanishes at walls",
    .dim_default = 1,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
