/* aizawa - the Aizawa attractor, in the form of the existing GBEES code. */
#define GBEES_DIM 3
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real a = p[0], b = p[1], c = p[2], d = p[3], f = p[4], square = x[0] * x[0];

    (void)n, (void)t;
    dxdt[0] = (x[2] - b) * x[0] - d * x[1];
    dxdt[1] = d * x[0] + (x[2] - b) * x[1];
    dxdt[2] = c + a * x[2] - x[2] * x[2] * x[2] / 3 - square + f * x[2] * square * x[0];
}

/* Function k measures state k. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = x[which];
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "across the axis of rotation"},
    {"y", "-", "across it, a quarter turn further"},
    {"z", "-", "along it"},
};

static const gbees_parameter parameters[] = {
    {"a", "-", "growth along the axis", 0.95, 0, 0},
    {"b", "-", "height above which the distance from the axis grows", 0.7, 0, 0},
    {"c", "-", "constant push along the axis", 0.6, 0, 0},
    {"d", "-", "angular velocity", 3.5, 0, 0},
    {"f", "-", "what breaks the symmetry about the axis", 0.1, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    {"x", "the first state", 1, &states[0], NULL},
    {"y", "the second state", 1, &states[1], NULL},
    {"z", "the third state", 1, &states[2], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0.1, 0, 0]\n"
                "covariance: [0.0025, 0.0025, 0.0025]\n"
                "accuracy: 0.05\n"
                "factor: 1\n"
                "threshold: 1.0e-6\n"
                "end: 8.0\n"
                "records: 4\n"
                "measurements:\n"
                "  - {time: 4.0, function: y, value: [1.578092537535519], covariance: [0.0025]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "aizawa",
    .title = "The Aizawa attractor: a spiral up an axis and back around it",
    .text = "dx/dt = (z - b) x - d y, dy/dt = d x + (z - b) y, dz/dt = c + a z - z^3 / 3 - x^2 + f z x^3. This is "
            "the form "
            "of the existing GBEES code. In the usual one (x^2 + y^2) (1 + e z) stands in the place of x^2; the "
            "parameter e is therefore missing here.",
    .reference = "W. F. Langford, Numerical studies of torus bifurcations, Int. Ser. Numer. Math. 70 (1984) 285",
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
