/* orbit - an object about the Earth: two bodies, zonal harmonics, drag, solar pressure, Sun and Moon.
 *
 * The axes are those of the true equator and the mean equinox of the epoch (TEME), at rest: the Earth turns about z
 * by the mean sidereal time, and formulas of date for Sun and Moon hold as long as a run's days don't precess.
 *
 * The file is compiled twice: to `orbit`, whose states are Cartesian, and, with ORBIT_ELEMENTS defined, to
 * `orbit_elements`, whose states are modified equinoctial elements. The equations of both are in its text, which a
 * GPU compiles as it is: the parameter `coordinates`, which each card fixes, says which ones are meant. */
#define GBEES_DIM_MIN 6
#define GBEES_DIM_MAX 8
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_TARGET 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* The parameters, in the order of the card's list. */
#define ORBIT_MU p[0]
#define ORBIT_RADIUS p[1]
#define ORBIT_FLATTENING p[2]
#define ORBIT_TURN p[3]
#define ORBIT_EPOCH p[4]
#define ORBIT_ZONAL p[5]
#define ORBIT_J2 p[6]
#define ORBIT_J3 p[7]
#define ORBIT_J4 p[8]
#define ORBIT_DRAG p[9]
#define ORBIT_BALLISTIC p[10]
#define ORBIT_DENSITY p[11]
#define ORBIT_HEIGHT p[12]
#define ORBIT_SCALE p[13]
#define ORBIT_SOLAR p[14]
#define ORBIT_REFLECTIVITY p[15]
#define ORBIT_PRESSURE p[16]
#define ORBIT_SUN p[17]
#define ORBIT_MOON p[18]
#define ORBIT_LATITUDE p[19]
#define ORBIT_LONGITUDE p[20]
#define ORBIT_ALTITUDE p[21]
#define ORBIT_REENTRY p[22]
#define ORBIT_COORDINATES p[23]

/* Known when a processor's functions are compiled, and told by the card on a GPU, which compiles one text for both.
 */
#if defined(GBEES_DEVICE)
#define ORBIT_HAS_ELEMENTS (ORBIT_COORDINATES > (real)1.5)
#elif defined(ORBIT_ELEMENTS)
#define ORBIT_HAS_ELEMENTS 1
#else
#define ORBIT_HAS_ELEMENTS 0
#endif

#define ORBIT_DEGREE (real)0.017453292519943295
#define ORBIT_UNIT (real)149597870.7      /* km in an astronomical unit */
#define ORBIT_MU_SUN (real)132712440018.0 /* km^3/s^2 */
#define ORBIT_MU_MOON (real)4902.800066   /* km^3/s^2 */
#define ORBIT_SUN_RADIUS (real)0.00465247 /* rad, as seen from the Earth */

/* The sine and the cosine of an angle in degrees, offset + rate T. */
#define ORBIT_SIN(offset, rate) sin(ORBIT_DEGREE *((real)(offset) + (real)(rate)*centuries))
#define ORBIT_COS(offset, rate) cos(ORBIT_DEGREE *((real)(offset) + (real)(rate)*centuries))

/* Julian centuries since J2000.0. */
static inline real GBEES_FN(centuries)(real t, const real p[])
{
    return (ORBIT_EPOCH + t / 86400) / 36525;
}

static inline real GBEES_FN(obliquity)(real centuries)
{
    return ORBIT_DEGREE * ((real)23.439291 - (real)0.0130042 * centuries);
}

/* From ecliptic longitude, latitude and distance to equatorial coordinates. */
static inline void GBEES_FN(equatorial)(real longitude, real latitude, real distance, real tilt, real at[3])
{
    const real along = cos(latitude) * sin(longitude), up = sin(latitude);

    at[0] = distance * cos(latitude) * cos(longitude);
    at[1] = distance * (cos(tilt) * along - sin(tilt) * up);
    at[2] = distance * (sin(tilt) * along + cos(tilt) * up);
}

/* The Sun, km: Vallado's algorithm 29, right to 0.01 degrees. */
static inline void GBEES_FN(sun_at)(real centuries, real at[3])
{
    const real anomaly = ORBIT_DEGREE * ((real)357.5291092 + (real)35999.05034 * centuries);
    const real longitude = (real)280.46 + (real)36000.771 * centuries + (real)1.914666471 * sin(anomaly) +
                           (real)0.019994643 * sin(2 * anomaly);
    const real distance = (real)1.000140612 - (real)0.016708617 * cos(anomaly) - (real)0.000139589 * cos(2 * anomaly);

    GBEES_FN(equatorial)(ORBIT_DEGREE * longitude, 0, ORBIT_UNIT * distance, GBEES_FN(obliquity)(centuries), at);
}

/* The Moon, km: Vallado's algorithm 31, right to 0.3 degrees. Its parallax is in units of a radius of 6378.137 km. */
static inline void GBEES_FN(moon_at)(real centuries, real at[3])
{
    const real longitude = (real)218.32 + (real)481267.8813 * centuries + (real)6.29 * ORBIT_SIN(134.9, 477198.85) -
                           (real)1.27 * ORBIT_SIN(259.2, -413335.38) + (real)0.66 * ORBIT_SIN(235.7, 890534.23) +
                           (real)0.21 * ORBIT_SIN(269.9, 954397.70) - (real)0.19 * ORBIT_SIN(357.5, 35999.05) -
                           (real)0.11 * ORBIT_SIN(186.6, 966404.05);
    const real latitude = (real)5.13 * ORBIT_SIN(93.3, 483202.03) + (real)0.28 * ORBIT_SIN(228.2, 960400.87) -
                          (real)0.28 * ORBIT_SIN(318.3, 6003.18) - (real)0.17 * ORBIT_SIN(217.6, -407332.20);
    const real parallax = (real)0.9508 + (real)0.0518 * ORBIT_COS(134.9, 477198.85) +
                          (real)0.0095 * ORBIT_COS(259.2, -413335.38) + (real)0.0078 * ORBIT_COS(235.7, 890534.23) +
                          (real)0.0028 * ORBIT_COS(269.9, 954397.70);

    GBEES_FN(equatorial)
    (ORBIT_DEGREE * longitude, ORBIT_DEGREE * latitude, (real)6378.137 / sin(ORBIT_DEGREE * parallax),
     GBEES_FN(obliquity)(centuries), at);
}

/* The Earth's: a = mu/r^2 (-r + sum J_n (R/r)^n (P'_n+1(s) r - P'_n(s) z)), with r and z of length 1 and s = z/r; for
 * elements, which a point's attraction does not change, without the first term. */
static inline void GBEES_FN(attract)(const real x[], const real p[], real a[3])
{
    const real square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = sqrt(square), s = x[2] / r, s2 = s * s;
    const real part = ORBIT_RADIUS / r, j2 = (ORBIT_ZONAL >= 2) * ORBIT_J2 * part * part;
    const real j3 = (ORBIT_ZONAL >= 3) * ORBIT_J3 * part * part * part;
    const real j4 = (ORBIT_ZONAL >= 4) * ORBIT_J4 * part * part * part * part;
    const real slope3 = (15 * s2 - 3) / 2, slope4 = (35 * s2 - 15) * s / 2;
    const real slope5 = (315 * s2 * s2 - 210 * s2 + 15) / 8;
    const real point = ORBIT_HAS_ELEMENTS ? 0 : 1;
    const real pull = ORBIT_MU / square, radial = pull / r * (j2 * slope3 + j3 * slope4 + j4 * slope5 - point);

    a[0] = radial * x[0];
    a[1] = radial * x[1];
    a[2] = radial * x[2] - pull * (3 * j2 * s + j3 * slope3 + j4 * slope4);
}

/* Height above the ellipsoid, to the first order of the flattening. */
static inline real GBEES_FN(height_of)(const real x[], const real p[])
{
    const real square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];

    return sqrt(square) - ORBIT_RADIUS * (1 - ORBIT_FLATTENING * x[2] * x[2] / square);
}

/* Of an atmosphere that turns with the Earth: exponential above the ground, and level below. */
static inline void GBEES_FN(brake)(const real x[], const real p[], real ballistic, real a[3])
{
    const real height = GBEES_FN(height_of)(x, p), above = (height > 0 ? height : 0) - ORBIT_HEIGHT;
    const real vx = x[3] + ORBIT_TURN * x[1], vy = x[4] - ORBIT_TURN * x[0], vz = x[5];
    const real kilometre = 1000; /* m: densities are in kg/m^3 */
    const real full =
        kilometre / 2 * ballistic * ORBIT_DENSITY * exp(-above / ORBIT_SCALE) * sqrt(vx * vx + vy * vy + vz * vz);
    const real rate = ORBIT_DRAG > 0 ? full : 0; /* also where `full` overflows */

    a[0] -= rate * vx;
    a[1] -= rate * vy;
    a[2] -= rate * vz;
}

/* How a body attracts the object more than the Earth: Battin's form, which is no difference of large numbers. */
static inline void GBEES_FN(tide)(const real x[], const real body[3], real mu, real a[3])
{
    const real far2 = body[0] * body[0] + body[1] * body[1] + body[2] * body[2];
    const real q = (x[0] * (x[0] - 2 * body[0]) + x[1] * (x[1] - 2 * body[1]) + x[2] * (x[2] - 2 * body[2])) / far2;
    const real cube = (1 + q) * sqrt(1 + q); /* of the distance between them, over that of the body */
    const real excess = q * (3 + q * (3 + q)) / (1 + cube), near = mu / (far2 * sqrt(far2) * cube);

    for (int j = 0; j < 3; j++)
        a[j] -= near * (x[j] + excess * body[j]);
}

/* The part of the Sun's light that comes to the object: a cylinder's shadow, whose edge is as wide as the penumbra.
 */
static inline real GBEES_FN(light)(const real x[], const real sun[3], const real p[])
{
    const real far = sqrt(sun[0] * sun[0] + sun[1] * sun[1] + sun[2] * sun[2]);
    const real behind = -(x[0] * sun[0] + x[1] * sun[1] + x[2] * sun[2]) / far;
    const real square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - behind * behind;
    const real edge = ORBIT_SUN_RADIUS * behind > 1 ? ORBIT_SUN_RADIUS * behind : 1;
    const real beyond = (sqrt(square > 0 ? square : 0) - ORBIT_RADIUS) / edge;
    const real least = beyond > -1 ? beyond : -1, u = least < 1 ? least : 1;

    return behind > 0 ? (real)0.5 + u * (3 - u * u) / 4 : 1;
}

/* Solar pressure on a sphere. */
static inline void GBEES_FN(press)(const real x[], const real sun[3], const real p[], real reflectivity, real a[3])
{
    const real from[3] = {x[0] - sun[0], x[1] - sun[1], x[2] - sun[2]};
    const real square = (from[0] * from[0] + from[1] * from[1] + from[2] * from[2]) / (ORBIT_UNIT * ORBIT_UNIT);
    const real metre = (real)0.001; /* km: the pressure is in N/m^2 */
    const real push =
        metre * ORBIT_PRESSURE * reflectivity * GBEES_FN(light)(x, sun, p) / (square * sqrt(square) * ORBIT_UNIT);

    a[0] += push * from[0];
    a[1] += push * from[1];
    a[2] += push * from[2];
}

/* Cosine and sine of an angle, by one function: compilers make one call of two, or do not, and the bits of either may
 * differ. */
static inline void GBEES_FN(turned)(real angle, real *cosine, real *sine)
{
    const real half = tan(angle / 2), square = half * half;

    *cosine = (1 - square) / (1 + square);
    *sine = 2 * half / (1 + square);
}

/* Position and velocity of elements: p = a (1 - e^2), f and g (the eccentricity's vector), h and k (the node's,
 * tan(i/2) long), and L, the true longitude. */
static inline void GBEES_FN(place)(const real x[], const real p[], real c[6])
{
    const real f = x[1], g = x[2], h = x[3], k = x[4];
    real u, w;

    GBEES_FN(turned)(x[5], &u, &w);
    const real both = 2 * h * k, less = h * h - k * k, scale = 1 / (1 + h * h + k * k);
    const real r = scale * x[0] / (1 + f * u + g * w), v = scale * sqrt(ORBIT_MU / x[0]);

    c[0] = r * (u + less * u + both * w);
    c[1] = r * (w - less * w + both * u);
    c[2] = r * 2 * (h * w - k * u);
    c[3] = v * (both * (u + f) - (1 + less) * (w + g));
    c[4] = v * ((1 - less) * (u + f) - both * (w + g));
    c[5] = v * 2 * (h * (u + f) + k * (w + g));
}

/* The acceleration at position and velocity c, km/s^2. What a parameter switches off is computed, too, and bodies
 * are one branch: a compiler makes a loop of each, whose points are side by side in vectors. */
static inline void GBEES_FN(accelerate)(real t, const real c[], const real p[], real ballistic, real reflectivity,
                                        real a[3])
{
    GBEES_FN(attract)(c, p, a);
    GBEES_FN(brake)(c, p, ballistic, a);
    if (ORBIT_SUN + ORBIT_SOLAR + ORBIT_MOON > 0) {
        const real centuries = GBEES_FN(centuries)(t, p);
        real sun[3], moon[3];

        GBEES_FN(sun_at)(centuries, sun);
        GBEES_FN(moon_at)(centuries, moon);
        GBEES_FN(tide)(c, sun, (ORBIT_SUN > 0) * ORBIT_MU_SUN, a);
        GBEES_FN(tide)(c, moon, (ORBIT_MOON > 0) * ORBIT_MU_MOON, a);
        GBEES_FN(press)(c, sun, p, (ORBIT_SOLAR > 0) * reflectivity, a);
    }
}

/* How an acceleration beside that by a point changes the elements x at c: Gauss's equations in the form of Walker,
 * Ireland and Owens. */
static inline void GBEES_FN(vary)(const real x[], const real c[], const real a[3], const real p[], real dxdt[])
{
    const real f = x[1], g = x[2], h = x[3], k = x[4];
    real u, w;

    GBEES_FN(turned)(x[5], &u, &w);
    const real q = 1 + f * u + g * w;
    const real s2 = 1 + h * h + k * k, r = x[0] / q;
    const real n[3] = {2 * k / s2, -2 * h / s2, (2 - s2) / s2};
    const real radial = (a[0] * c[0] + a[1] * c[1] + a[2] * c[2]) / r;
    const real onwards = (a[0] * (n[1] * c[2] - n[2] * c[1]) + a[1] * (n[2] * c[0] - n[0] * c[2]) +
                          a[2] * (n[0] * c[1] - n[1] * c[0])) /
                         r;
    const real across = a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
    const real b = sqrt(x[0] / ORBIT_MU), turn = (h * w - k * u) * across / q;

    dxdt[0] = 2 * b * r * onwards;
    dxdt[1] = b * (radial * w + ((q + 1) * u + f) * onwards / q - g * turn);
    dxdt[2] = b * (((q + 1) * w + g) * onwards / q - radial * u + f * turn);
    dxdt[3] = b * s2 * across * u / (2 * q);
    dxdt[4] = b * s2 * across * w / (2 * q);
    dxdt[5] = sqrt(ORBIT_MU * x[0]) / (r * r) + b * turn;
}

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real ballistic = n > 6 ? x[6] : ORBIT_BALLISTIC, reflectivity = n > 7 ? x[7] : ORBIT_REFLECTIVITY;
    real c[6], a[3];

    if (ORBIT_HAS_ELEMENTS) {
        GBEES_FN(place)(x, p, c);
        GBEES_FN(accelerate)(t, c, p, ballistic, reflectivity, a);
        GBEES_FN(vary)(x, c, a, p, dxdt);
    } else {
        GBEES_FN(accelerate)(t, x, p, ballistic, reflectivity, a);
        for (int j = 0; j < 3; j++) {
            dxdt[j] = x[3 + j];
            dxdt[3 + j] = a[j];
        }
    }
    for (int j = 6; j < n; j++)
        dxdt[j] = 0;
}

/* Greenwich's mean sidereal time, IAU 1982, rad. */
static inline real GBEES_FN(sidereal)(real t, const real p[])
{
    const real days = ORBIT_EPOCH + t / 86400, centuries = days / 36525;
    const real seconds = (real)67310.54841 +
                         ((real)8640184.812866 + ((real)0.093104 - (real)6.2e-6 * centuries) * centuries) * centuries;

    return 360 * ORBIT_DEGREE * (days - floor(days) + seconds / 86400);
}

/* Light takes no time. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    real c[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};

    if (ORBIT_HAS_ELEMENTS)
        GBEES_FN(place)(x, p, c);
    const real latitude = ORBIT_DEGREE * ORBIT_LATITUDE;
    const real local = GBEES_FN(sidereal)(t, p) + ORBIT_DEGREE * ORBIT_LONGITUDE;
    const real shape = 1 - ORBIT_FLATTENING * (2 - ORBIT_FLATTENING);
    const real curvature = ORBIT_RADIUS / sqrt(1 - (1 - shape) * sin(latitude) * sin(latitude));
    const real axis = (curvature + ORBIT_ALTITUDE) * cos(latitude);
    const real to[3] = {c[0] - axis * cos(local), c[1] - axis * sin(local),
                        c[2] - (curvature * shape + ORBIT_ALTITUDE) * sin(latitude)};
    const real along = to[0] * cos(local) + to[1] * sin(local), east = to[1] * cos(local) - to[0] * sin(local);
    const real north = to[2] * cos(latitude) - along * sin(latitude);
    const real up = along * cos(latitude) + to[2] * sin(latitude);
    const real range = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);

    (void)n;
    switch (which) {
    case 0:
        y[0] = range;
        break;
    case 1:
        y[0] = (to[0] * c[3] + to[1] * c[4] + to[2] * c[5] - ORBIT_TURN * axis * east) / range;
        break;
    case 2:
        y[0] = atan2(east, north);
        y[1] = atan2(up, sqrt(east * east + north * north));
        break;
    default:
        y[0] = atan2(to[1], to[0]);
        y[1] = atan2(to[2], sqrt(to[0] * to[0] + to[1] * to[1]));
    }
}

static inline real target(int which, int n, real t, const real x[], const real p[])
{
    real c[6] = {x[0], x[1], x[2]};

    (void)which, (void)n, (void)t;
    if (ORBIT_HAS_ELEMENTS)
        GBEES_FN(place)(x, p, c);
    return GBEES_FN(height_of)(c, p) - ORBIT_REENTRY;
}

#else

#include "orbit_scenarios.h"

/* In the order of ORBIT_MU and so on. */
static const gbees_parameter parameters[] = {
    {"mu", "km^3/s^2", "of the Earth", 398600.4418, 1, 1e12},
    {"radius", "km", "of the equator", 6378.137, 1, 1e6},
    {"flattening", "-", "of the ellipsoid that heights are above", 3.35281066474748e-3, 0, 0.5},
    {"turn", "rad/s", "how fast the Earth and its atmosphere turn", 7.292115146706979e-5, -1, 1},
    {"epoch", "d", "UT1 at t = 0, since J2000.0, which is the Julian date 2451545.0", 9496.5, -40000, 40000},
    {"zonal", "-", "the highest zonal harmonic: 0 (two bodies), 2, 3 or 4", 0, 0, 4},
    {"j2", "-", "zonal harmonic", 1.08262668e-3, 0, 0},
    {"j3", "-", "zonal harmonic", -2.53265649e-6, 0, 0},
    {"j4", "-", "zonal harmonic", -1.61962159e-6, 0, 0},
    {"drag", "-", "1: with drag", 0, 0, 1},
    {"ballistic", "m^2/kg", "drag coefficient times area over mass", 0.02, 0, 1e4},
    {"density", "kg/m^3", "of the air at the height `height`", 6.967e-13, 0, 2},
    {"height", "km", "where the air has that density", 500, 0, 1e4},
    {"scale", "km", "in which the density falls to 1/e", 63.822, 0.1, 1e4},
    {"solar", "-", "1: with solar pressure", 0, 0, 1},
    {"reflectivity", "m^2/kg", "pressure coefficient times area over mass", 0.02, 0, 1e4},
    {"pressure", "N/m^2", "of the Sun's light at one astronomical unit", 4.56e-6, 0, 1},
    {"sun", "-", "1: with the Sun's attraction", 0, 0, 1},
    {"moon", "-", "1: with the Moon's attraction", 0, 0, 1},
    {"latitude", "deg", "geodetic, of the station", 0, -90, 90},
    {"longitude", "deg", "of the station, to the east", 0, -360, 360},
    {"altitude", "km", "of the station, above the ellipsoid", 0, -12, 1e5},
    {"reentry", "km", "height below which an object comes down", 120, 0, 1e4},
    {"coordinates", "-", "of the model's states: 1, position and velocity; 2, elements", COORDINATES, COORDINATES,
     COORDINATES},
};

#define TURN 6.283185307179586

static const gbees_quantity range[] = {{"range", "km", "distance from the station"}};
static const gbees_quantity range_rate[] = {{"range_rate", "km/s", "its rate of change"}};
static const gbees_quantity azel[] = {
    {"azimuth", "rad", "at the station, from north to east: in -pi .. pi"},
    {"elevation", "rad", "above the horizon"},
};
static const gbees_quantity radec[] = {
    {"right_ascension", "rad", "seen from the station, from x to y: in -pi .. pi"},
    {"declination", "rad", "above the equator's plane"},
};
static const double circle[] = {TURN, 0};

static const gbees_measurement_function measurements[] = {
    {"range", "distance from the station", 1, range, NULL},
    {"range_rate", "rate of change of the distance from the station, which turns with the Earth", 1, range_rate,
     NULL},
    {"azel", "azimuth and elevation at the station", 2, azel, circle},
    {"radec", "right ascension and declination as seen from the station, in the axes of the states", 2, radec,
     circle},
};

static const gbees_quantity targets[] = {{"reentry", "km", "height above that of re-entry"}};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
#ifdef ORBIT_ELEMENTS
    .name = "orbit_elements",
    .title = "An object about the Earth, in modified equinoctial elements",
    .text =
        "dp/dt, df/dt, dg/dt, dh/dt, dk/dt by Gauss's equations, dL/dt = sqrt(mu p) (q/p)^2 and what perturbs it, "
        "q = 1 + f cos L + g sin L: the forces, the axes and the measurements are those of `orbit`. Singular for "
        "orbits that turn backwards in the equator, i = 180 degrees, and for those without a perigee, p = 0.",
    .reference =
        "M. J. H. Walker, B. Ireland, J. Owens, Celestial Mechanics 36 (1985) 409, corrected in 38 (1986) 391; "
        "D. A. Vallado, Fundamentals of Astrodynamics and Applications (2013)",
#else
    .name = "orbit",
    .title = "An object about the Earth, with what perturbs its orbit",
    .text =
        "dr/dt = v, dv/dt = -mu r/|r|^3 + J2, J3 and J4 + drag + solar pressure + Sun and Moon, in the axes of the "
        "true equator and the mean equinox of the epoch (TEME). The air's density is exponential and turns with "
        "the Earth, the object is a sphere for light, the shadow a cylinder with the penumbra's edge; Sun and "
        "Moon are where low-precision formulas have them. Each is off unless a parameter says otherwise.",
    .reference = "D. A. Vallado, Fundamentals of Astrodynamics and Applications (2013); O. Montenbruck, E. Gill, "
                 "Satellite Orbits (2000)",
#endif
    .flags = GBEES_TIME_DEPENDENT,
    .dim_default = 6,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
    .target_count = GBEES_COUNT(targets),
    .targets = targets,
};

#endif
