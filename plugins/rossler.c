/* rossler - Roessler's attractor: two states that turn about the origin, and a third that rises once in a turn. */
#define GBEES_DIM 3
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real a = p[0], b = p[1], c = p[2];

    (void)n, (void)t;
    dxdt[0] = -x[1] - x[2];
    dxdt[1] = x[0] + a * x[1];
    dxdt[2] = b + x[2] * (x[0] - c);
}

/* Functions 0, 1 and 2 measure x, y and z. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = x[which];
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "first of the two states that turn"},
    {"y", "-", "second of the two states that turn"},
    {"z", "-", "small but while x is above c: then it rises to some 20, and pulls x back"},
};

static const gbees_parameter parameters[] = {
    {"a", "-", "growth of the turn", 0.2, 0, 0},
    {"b", "-", "source of z", 0.2, 0, 0},
    {"c", "-", "value of x above which z grows", 5.7, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    {"x", "the first state", 1, &states[0], NULL},
    {"y", "the second state", 1, &states[1], NULL},
    {"z", "the third state", 1, &states[2], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# Over the peak of z, from its rise to its fall. Afterwards z is thinner than any uniform cell\n"
                "mean: [10, -3, 2]\n"
                "covariance: [0.09, 0.09, 0.04]\n"
                "accuracy: 0.05\n"
                "factor: 1\n"
                "threshold: 1.0e-7\n"
                "end: 1.2\n"
                "records: 4\n"
                "measurements:\n"
                "  - {time: 0.4, function: x, value: [8], covariance: [0.09]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "rossler",
    .title = "Roessler's attractor: turns about the origin, and a peak of z in each",
    .text = "dx/dt = -y - z, dy/dt = x + a y, dz/dt = b + z (x - c). x and y turn about the origin outwards. Where x "
            "is above c, z grows, which moves x back: a peak of z, high and short, after which z is near 0 until the "
            "next turn.",
    .reference = "O. E. Roessler, Phys. Lett. A 57 (1976) 397",
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
