/* pendulum - a pendulum with friction and a constant torque. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_LOG_LIKELIHOOD 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t;
    dxdt[0] = x[1];
    dxdt[1] = -p[0] * x[1] - p[1] * sin(x[0]) + p[2];
}

/* Function 0 measures the angle, 1 its rate, 2 the height above the lowest point, and 3 the horizontal distance from
 * it, both in units of the pendulum's length. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = which == 0 ? x[0] : which == 1 ? x[1] : which == 2 ? 1 - cos(x[0]) : sin(x[0]);
}

/* The log-likelihood of a measurement by function 3 that only tells on which side the pendulum is, by the sign of y[0],
 * and is wrong once in ten times. */
static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])
{
    (void)n, (void)t, (void)p;
    if (which != 3)
        return (real)NAN;
    return y[0] * sin(x[0]) > 0 ? log((real)0.9) : log((real)0.1);
}

#else

static const gbees_quantity states[] = {
    {"angle", "rad", "from the lower rest position: on a circle"},
    {"rate", "rad/s", "of change of the angle"},
};

static const gbees_state_range ranges[2] = {[0] = {.period = 6.283185307179586}};

static const double turn[] = {6.283185307179586}; /* the angle's period */

static const gbees_quantity height = {"height", "-", "over the lowest point, in lengths of the pendulum: 0 to 2"};

static const gbees_quantity side = {"side", "-",
                                    "to the right of the lowest point, in lengths of the pendulum: -1 to 1"};

static const gbees_parameter parameters[] = {
    {"damping", "1/s", "friction over moment of inertia", 0.1, 0, 100},
    {"stiffness", "1/s^2", "gravity over length", 1.0, 0, 0},
    {"torque", "1/s^2", "constant torque over moment of inertia", 0.0, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    {"angle", "the angle alone, modulo a turn", 1, &states[0], turn},
    {"rate", "its rate of change", 1, &states[1], NULL},
    {"height", "the height alone, which does not tell left from right", 1, &height, NULL},
    {"side", "the way to the right; with likelihood: model its sign alone, seen wrongly once in ten times", 1, &side,
     NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# Upright, or nearly so: part of it falls to one side, part to the other\n"
                "mean: [3.0, 0]\n"
                "covariance: [0.04, 0.04]\n"
                "accuracy: 0.05\n"
                "factor: 4\n"
                "threshold: 1.0e-8\n"
                "end: 6.0\n"
                "records: 6\n"
                "measurements:\n"
                "  - {time: 4.0, function: height, value: [0.5], covariance: [0.04]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "pendulum",
    .title = "A pendulum let go near its highest point: a density that parts in two",
    .text = "d(angle)/dt = rate, d(rate)/dt = -damping rate - stiffness sin(angle) + torque. With a torque above the "
            "stiffness it turns over and over.",
    .reference = "S. H. Strogatz, Nonlinear Dynamics and Chaos (2015), sections 6.7 and 8.5",
    .dim_default = 2,
    .states = states,
    .ranges = ranges,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
