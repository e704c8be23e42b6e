/* duffing - Duffing's oscillator: two wells, friction, and a periodic force. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n;
    dxdt[0] = x[1];
    dxdt[1] = x[0] - x[0] * x[0] * x[0] - p[0] * x[1] + p[1] * cos(p[2] * t);
}

/* Function k measures state k. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = x[which];
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "displacement; the wells are at -1 and 1"},
    {"v", "-", "velocity"},
};

static const gbees_parameter parameters[] = {
    {"a", "-", "friction", 0.35, 0, 0},
    {"b", "-", "amplitude of the force", 0.3, 0, 0},
    {"omega", "-", "angular frequency of the force", 1.0, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    {"x", "displacement", 1, &states[0], NULL},
    {"v", "velocity", 1, &states[1], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default",
     "# From the top between the wells, with a push to the right\n"
     "mean: [0, 1]\n"
     "covariance: [0.01, 0.01]\n"
     "# The thread that the density becomes is two cells of factor 4 thick along v, and gets thicker by it\n"
     "# (Kolmogorov's distance of v 0.028 in place of 0.012): so cells are narrower along v, for twice the\n"
     "# work. The published widths: scenario \"published\"\n"
     "accuracy: 0.05\n"
     "factor: [4, 6]\n"
     "threshold: 1.0e-9\n"
     "end: 5.0\n"
     "records: 10\n"},
    {"published", "# The existing code's widths\n"
                  "factor: [4, 4]\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "duffing",
    .title = "Duffing's oscillator: two wells and a periodic force",
    .text = "dx/dt = v, dv/dt = x - x^3 - a v + b cos(omega t). The force makes the drift depend on time. The ridge "
            "between the wells, at 0, stretches the density into a thread.",
    .reference = "J. Guckenheimer, P. Holmes, Nonlinear Oscillations, Dynamical Systems, and Bifurcations of Vector "
                 "Fields (1983), section 2.2",
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
