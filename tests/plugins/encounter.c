/* encounter - two objects pass each other: their relative position, with a constant relative velocity. The default
 * scenario is case 3 of S. Alfano, "Satellite conjunction Monte Carlo analysis", AAS 09-233, 2009. */
#define GBEES_DIM 3
#define GBEES_HAS_TARGET 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)x;
    dxdt[0] = p[0];
    dxdt[1] = p[1];
    dxdt[2] = p[2];
}

static inline real target(int which, int n, real t, const real x[], const real p[])
{
    (void)n, (void)t;
    switch (which) {
    case 0:
        return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - p[3];
    case 1:
        return x[0] - p[4];
    default:
        return log(x[0] + 1000);
    }
}

#else

static const gbees_quantity states[] = {{"R", "m", "radial"}, {"T", "m", "transverse"}, {"N", "m", "normal"}};
static const gbees_parameter parameters[] = {
    {"vR", "m/s", "relative velocity", -11.365912, 0, 0},   {"vT", "m/s", "relative velocity", 0.051787, 0, 0},
    {"vN", "m/s", "relative velocity", -11.356027, 0, 0},   {"radius", "m", "of both together", 15, 0, 0},
    {"plane", "m", "where the half space begins", 0, 0, 0},
};
static const gbees_quantity targets[] = {
    {"sphere", "m", "nearer than the radius: distance to its surface"},
    {"half", "m", "R below the plane"},
    {"rock", "-", "not a number below R = -1000 m"},
};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [133.639259, -1.109342, 139.024398] # 12 s before the closest approach\n"
                "covariance: [[37.3591061, -682.920668, 0], [-682.920668, 13039.0716, 0], [0, 0, 2.38285147]]\n"
                "end: 24\n"
                "records: 8\n"
                "frame: lagrangian\n"
                "targets: {sphere: absorb}\n"
                "output: {densities: none}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "encounter",
    .title = "two objects that pass each other",
    .dim_default = 3,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
    .target_count = GBEES_COUNT(targets),
    .targets = targets,
};

#endif
