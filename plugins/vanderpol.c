/* vanderpol - van der Pol's oscillator: whatever the start, it ends on one cycle. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t;
    dxdt[0] = x[1];
    dxdt[1] = p[0] * (1 - x[0] * x[0]) * x[1] - x[0];
}

/* Function k measures state k. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = x[which];
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "voltage"},
    {"v", "-", "its rate of change"},
};

static const gbees_parameter parameters[] = {
    {"mu", "-", "gain at small voltage, loss at large; 0: a harmonic oscillator", 1.0, 0, 100},
};

static const gbees_measurement_function measurements[] = {
    {"x", "voltage", 1, &states[0], NULL},
    {"v", "rate of change of the voltage", 1, &states[1], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# From rest: the density is drawn out until it reaches all around the cycle\n"
                "mean: [0, 0]\n"
                "covariance: [0.25, 0.25]\n"
                "accuracy: 0.05\n"
                "factor: 4\n"
                "threshold: 1.0e-8\n"
                "end: 4.0\n"
                "records: 8\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "vanderpol",
    .title = "Van der Pol's oscillator: a density that becomes a ring",
    .text = "dx/dt = v, dv/dt = mu (1 - x^2) v - x. The rest point is unstable and all else is drawn to one cycle: a "
            "Gaussian about the rest point is emptied in the middle and becomes a ring.",
    .reference = "B. van der Pol, On relaxation-oscillations, Phil. Mag. (7) 2 (1926) 978",
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
