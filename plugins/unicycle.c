/* unicycle - a wheeled robot that drives along its heading, and sees a beacon. */
#define GBEES_DIM 3
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real speed = p[0], turn = p[1];

    (void)n, (void)t;
    dxdt[0] = speed * cos(x[2]);
    dxdt[1] = speed * sin(x[2]);
    dxdt[2] = turn;
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    const real slip = p[2], sway = p[3];

    (void)n, (void)t, (void)x;
    Q[0] = Q[1] = slip * slip;
    Q[2] = sway * sway;
}

/* Function 0 is the beacon's range, 1 its bearing, 2 both. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    const real east = p[4] - x[0], north = p[5] - x[1];
    const real range = sqrt(east * east + north * north), bearing = atan2(north, east) - x[2];

    (void)n, (void)t;
    y[0] = which == 1 ? bearing : range;
    if (which == 2)
        y[1] = bearing;
}

#else

static const gbees_quantity states[] = {
    {"x", "m", "position, to the east"},
    {"y", "m", "position, to the north"},
    {"heading", "rad", "direction of the motion, from the x axis to the left: on a circle"},
};

static const gbees_state_range ranges[3] = {[2] = {.period = 6.283185307179586}};

static const gbees_quantity sight[] = {
    {"range", "m", "distance of the beacon"},
    {"bearing", "rad", "direction of the beacon, from the heading to the left"},
};

static const double turn[] = {0, 6.283185307179586}; /* the bearing's period */

static const gbees_parameter parameters[] = {
    {"speed", "m/s", "along the heading", 1.0, 0, 0},
    {"turn", "rad/s", "rate of change of the heading, to the left", 0.3, 0, 0},
    {"slip", "m/s^0.5", "white noise of the velocity along each axis", 0.05, 0, 1e3},
    {"sway", "rad/s^0.5", "white noise of the rate of turn", 0.1, 0, 1e3},
    {"beacon_x", "m", "position of the beacon, to the east", 5.0, 0, 0},
    {"beacon_y", "m", "position of the beacon, to the north", 5.0, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    {"range", "distance of the beacon", 1, &sight[0], NULL},
    {"bearing", "direction of the beacon seen from the robot", 1, &sight[1], &turn[1]},
    {"sight", "distance and direction of the beacon", 2, sight, turn},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# A robot that hardly knows its heading: the density bends to an arc. It sees the beacon twice\n"
                "mean: [0, 0, 0]\n"
                "covariance: [0.04, 0.04, 0.25]\n"
                "accuracy: 0.05\n"
                "factor: 1\n"
                "threshold: 1.0e-7\n"
                "end: 5.0\n"
                "records: 4\n"
                "measurements:\n"
                "  - {time: 2.0, function: range, value: [5.1], covariance: [0.04]}\n"
                "  - {time: 4.0, function: bearing, value: [-0.5], covariance: [0.01]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "unicycle",
    .title = "A wheeled robot with an uncertain heading: the density bends to an arc",
    .text = "dx/dt = speed cos(heading), dy/dt = speed sin(heading), d(heading)/dt = turn, each with white noise. "
            "Where the heading is not known the positions form an arc; the range or the bearing of a beacon cuts a "
            "piece of it.",
    .reference = "S. Thrun, W. Burgard, D. Fox, Probabilistic Robotics (2005), chapters 5 and 6",
    .dim_default = 3,
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
