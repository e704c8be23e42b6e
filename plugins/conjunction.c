/* conjunction - do two objects about the Earth come nearer to each other than a distance?
 *
 * The state is the position and the velocity of the second object relative to the first one at the time t = 0 of the
 * closest approach of their means: it stays, dx/dt = 0. Where both are at other times follows from Kepler's equation,
 * so that trajectories before and after t = 0 come from the density at t = 0 without an error. The first object takes
 * its mean's way; the density is that of the difference, with the sum of both covariances. */
#define GBEES_DIM 6
#define GBEES_HAS_TARGET 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)t, (void)x, (void)p;
    for (int j = 0; j < n; j++)
        dxdt[j] = 0;
}

/* Stumpff's functions (1 - cos s)/s^2 and (s - sin s)/s^3 of s^2 = q, at most pi^2 for half a revolution. */
static inline void GBEES_FN(stumpff)(real q, real *second, real *third)
{
    real even = 1, odd = 1;

    for (int k = 13; k > 0; k--) {
        even = 1 - q * even * ((real)1 / (real)((2 * k + 1) * (2 * k + 2)));
        odd = 1 - q * odd * ((real)1 / (real)((2 * k + 2) * (2 * k + 3)));
    }
    *second = even / 2;
    *third = odd / 6;
}

/* Where an orbit through the position r and the velocity v at time 0 is at time t: universal variables, found by
 * Conway's iteration (J. E. Prussing, B. A. Conway, Orbital Mechanics, 1993). */
static inline void GBEES_FN(along_orbit)(const real r[3], const real v[3], real mu, real t, real at[3])
{
    const real distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), root = sqrt(mu);
    const real along = (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / root;
    const real alpha = 2 / distance - (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / mu; /* over the semi-major axis */
    const real period = alpha > 0 ? (real)6.283185307179586 / (root * alpha * sqrt(alpha)) : 1;
    const real wanted = root * (alpha > 0 ? t - period * floor(t / period + (real)0.5) : t);
    real chi = wanted * fmax(alpha, (real)0), second, third;

    for (int k = 0; k < 30; k++) {
        const real square = alpha * chi * chi;

        GBEES_FN(stumpff)(square, &second, &third);
        const real off =
            chi * chi * chi * third + along * chi * chi * second + distance * chi * (1 - square * third) - wanted;
        const real slope = chi * chi * second + along * chi * (1 - square * third) + distance * (1 - square * second);
        const real bend = along * (1 - square * second) + (1 - alpha * distance) * chi * (1 - square * third);
        const real step = 5 * off / (slope + sqrt(fabs(16 * slope * slope - 20 * off * bend)));

        chi -= step;
        if (fabs(step) <= (real)1e-6 * fabs(chi)) /* each step cubes the error */
            break;
    }
    GBEES_FN(stumpff)(alpha * chi * chi, &second, &third);
    for (int j = 0; j < 3; j++)
        at[j] = (1 - chi * chi / distance * second) * r[j] + (wanted - chi * chi * chi * third) / root * v[j];
}

/* Axes are those of the first object at t = 0, at rest: radial, transverse, normal. */
static inline real target(int which, int n, real t, const real x[], const real p[])
{
    const real r[3] = {p[2], 0, 0}, v[3] = {p[3], p[4], 0};
    const real other[3] = {p[2] + x[0], x[1], x[2]}, velocity[3] = {p[3] + x[3], p[4] + x[4], x[5]};
    real first[3], second[3], square = 0;

    (void)which, (void)n;
    GBEES_FN(along_orbit)(r, v, p[0], t, first);
    GBEES_FN(along_orbit)(other, velocity, p[0], t, second);
    for (int j = 0; j < 3; j++)
        square += (second[j] - first[j]) * (second[j] - first[j]);
    return sqrt(square) - p[1];
}

#else

static const gbees_quantity states[] = {
    {"radial", "m", "relative position at t = 0, outwards"},
    {"transverse", "m", "relative position at t = 0, along the first object's motion"},
    {"normal", "m", "relative position at t = 0, along its angular momentum"},
    {"radial_rate", "m/s", "relative velocity at t = 0"},
    {"transverse_rate", "m/s", "relative velocity at t = 0"},
    {"normal_rate", "m/s", "relative velocity at t = 0"},
};

static const gbees_parameter parameters[] = {
    {"mu", "m^3/s^2", "of the Earth", 3.986004418e14, 1, 1e20},
    {"radius", "m", "of both bodies together", 15, 0, 1e7},
    {"distance", "m", "of the first object from the Earth's centre at t = 0", 41874436.993, 1, 1e12},
    {"outwards", "m/s", "radial velocity of the first object at t = 0", -0.135547, 0, 0},
    {"onwards", "m/s", "transverse velocity of the first object at t = 0", 3066.895850, 0, 0},
};

static const gbees_quantity targets[] = {{"collision", "m", "distance of the surfaces"}};

static const gbees_model_scenario scenarios[] = {
    {"alfano3",
     "# case 3 of Alfano's: half a minute about the closest approach in the geostationary ring\n"
     "mean: [2.7518123, 0.48788625, -2.752, 11.365912, -0.051788156, 11.356027]\n"
     "covariance:\n"
     "  - [37.35911359, -682.9184766, -1.223802261, 0.0518333753, -0.001997271295, -3.591580628e-06]\n"
     "  - [-682.9184766, 13038.98193, 24.22049648, -0.9919014051, 0.03577377909, 6.679420433e-05]\n"
     "  - [-1.223802261, 24.22049648, 2.472536136, -0.001842535517, 6.676154418e-05, -0.0001209479635]\n"
     "  - [0.0518333753, -0.9919014051, -0.001842535517, 7.546598405e-05, -2.711893032e-06, -5.045710016e-09]\n"
     "  - [-0.001997271295, 0.03577377909, 6.676154418e-05, -2.711893032e-06, 1.080489911e-07, 1.883472952e-10]\n"
     "  - [-3.591580628e-06, 6.679420433e-05, -0.0001209479635, -5.045710016e-09, 1.883472952e-10, 6.836986097e-09]\n"
     "start: -15\n"
     "end: 15\n"
     "frame: lagrangian\n"
     "# Moments of what is left would take far more points than the probability\n"
     "points: 0.7\n"
     "tail: 18\n"
     "targets: {collision: absorb}\n"
     "output: {densities: none}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "conjunction",
    .title = "Two objects about the Earth that come near to each other",
    .text =
        "dx/dt = 0: the state is the relative position and velocity at t = 0. The target `collision` is where the "
        "distance of the two objects at the time t, each on its Kepler orbit, is below `radius`.",
    .reference = "S. Alfano, Satellite conjunction Monte Carlo analysis, AAS 09-233 (2009)",
    .dim_default = 6,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
    .target_count = GBEES_COUNT(targets),
    .targets = targets,
};

#endif
