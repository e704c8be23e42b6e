/* poe2bp - the two-body problem in two of Poincare's orbital elements. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t;
    dxdt[0] = 0;
    dxdt[1] = p[0] * p[0] / (x[0] * x[0] * x[0]);
}

/* Function 0 measures the semi-major axis, 1 the mean longitude. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t;
    y[0] = which == 0 ? x[0] * x[0] / p[0] : x[1];
}

#else

static const gbees_quantity states[] = {
    {"L", "ER^2/h", "sqrt(mu a), a the semi-major axis"},
    {"l", "rad", "mean longitude; it goes on past 2 pi"},
};

static const gbees_quantity axis = {"a", "ER", "semi-major axis"};

static const gbees_parameter parameters[] = {
    {"mu", "ER^3/h^2", "gravitational constant times the central mass; the default is the Earth", 19.910350621818949,
     1e-6, 1e6},
};

static const gbees_measurement_function measurements[] = {
    {"a", "semi-major axis", 1, &axis, NULL},
    {"l", "mean longitude", 1, &states[1], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default",
     "# A low orbit, 20 revolutions. The published problem (scenario \"published\") knows the place on the\n"
     "# orbit 300 times better and takes 3.6 million steps: see doc/models.md\n"
     "mean: [4.6679, 0]\n"
     "covariance: [4.4723e-5, 2.5e-3]\n"
     "accuracy: 0.05\n"
     "factor: [4.0, 2.5]\n"
     "threshold: 1.0e-9\n"
     "end: 32.242\n"
     "records: 4\n"},
    {"published", "# 3.6 million steps: some minutes; doc/models.md says what to make of the result\n"
                  "mean: [4.6679, 0]\n"
                  "covariance: [4.4723e-5, 3.0461e-8]\n"
                  "factor: [4.0, 2.5]\n"
                  "threshold: 1.0e-9\n"
                  "end: 32.242\n"
                  "records: 4\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "poe2bp",
    .title = "Two-body problem in Poincare's orbital elements: a satellite's place on its orbit",
    .text =
        "dL/dt = 0, dl/dt = mu^2 / L^3. Of the six elements only these two matter: L, which says how large the orbit "
        "is, stays, and the mean longitude l grows at a rate that depends on L alone. What is not known of L turns "
        "into what is not known of l: the density is sheared into a thin streak along the orbit. Units are the "
        "Earth's radius (ER) and the hour. The exact solution is l(t) = l(0) + mu^2 t / L^3.",
    .reference = "K. Fujimoto, D. J. Scheeres, K. T. Alfriend, J. Guid. Control Dyn. 35 (2012) 497",
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
