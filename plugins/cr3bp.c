/* cr3bp - the circular restricted three-body problem, in the frame that turns with the two primaries. */
#define GBEES_DIM 6
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_BOUND 1
#define GBEES_HAS_TARGET 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real mu = p[0], off = x[1] * x[1] + x[2] * x[2]; /* from the primaries' line, squared */
    const real first = x[0] + mu, second = x[0] - 1 + mu;  /* from the primaries, along their line */
    const real square1 = first * first + off, square2 = second * second + off;
    const real pull1 = (1 - mu) / (square1 * sqrt(square1)), pull2 = mu / (square2 * sqrt(square2));

    (void)n, (void)t;
    dxdt[0] = x[3];
    dxdt[1] = x[4];
    dxdt[2] = x[5];
    dxdt[3] = 2 * x[4] + x[0] - pull2 * second - pull1 * first;
    dxdt[4] = -2 * x[3] + x[1] - (pull2 + pull1) * x[1];
    dxdt[5] = -(pull2 + pull1) * x[2];
}

/* Measured from the second primary, which is at rest in this frame. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    const real along = x[0] - 1 + p[0], ground = sqrt(along * along + x[1] * x[1]);

    (void)which, (void)n, (void)t;
    y[0] = sqrt(along * along + x[1] * x[1] + x[2] * x[2]);
    y[1] = atan2(x[1], along);
    y[2] = atan2(x[2], ground);
    y[3] = (along * x[3] + x[1] * x[4] + x[2] * x[5]) / y[0];
}

static inline real bound(int n, real t, const real x[], const real p[])
{
    const real mu = p[0], off = x[1] * x[1] + x[2] * x[2];
    const real first = x[0] + mu, second = x[0] - 1 + mu;
    const real r1 = sqrt(first * first + off), r2 = sqrt(second * second + off);

    (void)n, (void)t;
    return x[0] * x[0] + x[1] * x[1] + 2 * (1 - mu) / r1 + 2 * mu / r2 + mu * (1 - mu) -
           (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]);
}

/* The height above the second primary's surface. */
static inline real target(int which, int n, real t, const real x[], const real p[])
{
    const real along = x[0] - 1 + p[0];

    (void)which, (void)n, (void)t;
    return sqrt(along * along + x[1] * x[1] + x[2] * x[2]) - p[1];
}

#else

static const gbees_quantity states[] = {
    {"x", "LU", "along the line from the first primary to the second, from the centre of mass"},
    {"y", "LU", "across it, in the primaries' plane"},
    {"z", "LU", "out of that plane"},
    {"vx", "LU/TU", "velocity along x, in the turning frame"},
    {"vy", "LU/TU", "velocity along y, in the turning frame"},
    {"vz", "LU/TU", "velocity along z"},
};

static const gbees_quantity sight[] = {
    {"range", "LU", "distance from the second primary"},
    {"azimuth", "rad", "of the position seen from the second primary, from the x axis: in -pi .. pi"},
    {"elevation", "rad", "above the primaries' plane: in -pi/2 .. pi/2"},
    {"range_rate", "LU/TU", "rate of change of the range"},
};

static const double turn[] = {0, 6.283185307179586, 0, 0}; /* the azimuth's period */

static const gbees_quantity jacobi = {"J", "LU^2/TU^2", "Jacobi's constant"};

static const gbees_parameter parameters[] = {
    {"mu", "-", "mass of the second primary over that of both; the default is the Moon beside the Earth",
     1.215058446919780e-2, 0, 0.5},
    {"radius", "LU", "of the second primary; the default is the Moon's", 4.5197711e-3, 0, 1},
};

static const gbees_quantity targets[] = {{"impact", "LU", "height above the second primary"}};

static const gbees_measurement_function measurements[] = {
    {"sight", "range, azimuth, elevation and range rate about the second primary", 4, sight, turn},
};

#define EARTH_MOON                                                                                                   \
    "mean: [1.02134, 0, -0.18162, 0, -0.10176, 9.76561e-7]\n"                                                        \
    "covariance: [6.58464706452225e-10, 6.58464706452225e-10, 6.58464706452225e-10, 9.65799462671385e-7, "           \
    "9.65799462671385e-7, 9.65799462671385e-7]\n"                                                                    \
    "records: 4\n"

#define JUPITER_EUROPA                                                                                               \
    "parameters: {mu: 2.52801752854e-5}\n"                                                                           \
    "mean: [1.0169962521469986, 0, 0, 0, 1.2575912545456968e-2, 0]\n"                                                \
    "covariance: [2.2375e-8, 2.2375e-8, 2.2375e-8, 5.2767e-7, 5.2767e-7, 5.2767e-7]\n"                               \
    "records: 4\n"

static const gbees_model_scenario scenarios[] = {
    {"earth-moon",
     "# Earth-Moon, a near-rectilinear halo orbit, from its far end: the first four fifths of the published\n"
     "# problem, in a second. The grid moves with the density: one at rest can't hold the cells that this\n"
     "# orbit crosses. To 0.66 the accuracy 0.1 takes some seconds, to 0.7 minutes: there the density "
     "bends\n" EARTH_MOON "accuracy: 0.05\n"
     "frame: moving\n"
     "factor: 0.5\n"
     "threshold: 1.0e-6\n"
     "end: 0.6\n"},
    {"jupiter-europa",
     "# Jupiter-Europa, a low prograde orbit: likewise the first two thirds\n" JUPITER_EUROPA "accuracy: 0.05\n"
     "frame: moving\n"
     "factor: 0.5\n"
     "threshold: 1.0e-6\n"
     "end: 0.6\n"},
    {"earth-moon-published", "# The published problem: an H200 took 4 minutes and 220 million cells to t = 0.54,\n"
                             "# by when 99.7 % of the mass were lost at this p*\n" EARTH_MOON "frame: fixed\n"
                             "factor: 1\n"
                             "threshold: 1.0e-9\n"
                             "end: 0.751047510475105\n"},
    {"jupiter-europa-published", "# The published problem: 0.3 s and 5.5 million cells on an H200; a quarter of the\n"
                                 "# mass is lost at this p*\n" JUPITER_EUROPA "frame: fixed\n"
                                 "factor: 1\n"
                                 "threshold: 1.0e-7\n"
                                 "end: 0.889584448745932\n"},
    {"impact", "# A passage of the Moon at 1.6 of its radii, known to 190 km and 8 m/s a day before: does it hit?\n"
               "mean: [1.04784941553080, 0, 0, -0.55, 0.156, 0.02]\n"
               "covariance: [2.5e-7, 2.5e-7, 2.5e-7, 6.4e-5, 6.4e-5, 6.4e-5]\n"
               "frame: lagrangian\n"
               "accuracy: 0.01\n"
               "tail: 24\n"
               "end: 0.2\n"
               "records: 4\n"
               "targets: {impact: absorb}\n"
               "output: {densities: none}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "cr3bp",
    .title = "Circular restricted three-body problem: Earth, Moon and a spacecraft",
    .text =
        "d2x/dt2 = 2 dy/dt + x - mu (x - 1 + mu) / r2^3 - (1 - mu) (x + mu) / r1^3, "
        "d2y/dt2 = -2 dx/dt + y - mu y / r2^3 - (1 - mu) y / r1^3, d2z/dt2 = -mu z / r2^3 - (1 - mu) z / r1^3, "
        "with r1 and r2 the distances from the primaries at (-mu, 0, 0) and (1 - mu, 0, 0). The length unit (LU) is "
        "the distance between them, the time unit (TU) the time of their revolution over 2 pi.",
    .reference = "V. Szebehely, Theory of Orbits (1967)",
    .dim_default = 6,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .bound = &jacobi,
    .target_count = GBEES_COUNT(targets),
    .targets = targets,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
