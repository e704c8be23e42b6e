/* orbit_scenarios.h - the states and the scenarios of `orbit` and, with ORBIT_ELEMENTS, of `orbit_elements`: the
 * same orbits, with densities of about the same size. */

#define COEFFICIENTS                                                                                                 \
    {"ballistic", "m^2/kg", "drag coefficient times area over mass, in place of the parameter"},                     \
        {"reflectivity", "m^2/kg", "pressure coefficient times area over mass, in place of the parameter"},

#define LOW "# a day at 500 km with J2 and drag\nparameters: {zonal: 2, drag: 1}\n"
#define STATIONARY                                                                                                   \
    "# a week in the geostationary ring with Sun, Moon and solar pressure\n"                                         \
    "parameters: {zonal: 2, solar: 1, sun: 1, moon: 1}\n"
#define TRANSFER                                                                                                     \
    "# two revolutions from a transfer orbit's apogee, with a perigee in the air\n"                                  \
    "parameters: {zonal: 4, drag: 1, sun: 1, moon: 1, density: 7.248e-11, height: 250, scale: 45.546}\n"
#define TWO_ARCS                                                                                                     \
    "# an object that is found by two short arcs of angles, a revolution apart\n"                                    \
    "parameters: {zonal: 2, drag: 1, latitude: 51.6, longitude: 259.3, altitude: 0.1}\n"
#define POINTS "frame: lagrangian\naccuracy: 0.05\noutput: {densities: none}\n"
#define ARCS                                                                                                         \
    "end: 6000\n"                                                                                                    \
    "records: 1\n"                                                                                                   \
    "measurements:\n"                                                                                                \
    "  - {time: 60, function: radec, value: [0.985167, 0.651670], covariance: [4.0e-8, 4.0e-8]}\n"                   \
    "  - {time: 120, function: radec, value: [1.277965, 0.382796], covariance: [4.0e-8, 4.0e-8]}\n"                  \
    "  - {time: 180, function: radec, value: [1.405948, 0.230489], covariance: [4.0e-8, 4.0e-8]}\n"                  \
    "  - {time: 240, function: radec, value: [1.482571, 0.131536], covariance: [4.0e-8, 4.0e-8]}\n"                  \
    "  - {time: 5760, function: radec, value: [-1.020398, 0.315836], covariance: [4.0e-8, 4.0e-8]}\n"                \
    "  - {time: 5820, function: radec, value: [-0.773543, 0.393863], covariance: [4.0e-8, 4.0e-8]}\n"                \
    "  - {time: 5880, function: radec, value: [-0.277456, 0.455093], covariance: [4.0e-8, 4.0e-8]}\n"                \
    "  - {time: 5940, function: radec, value: [0.485761, 0.335726], covariance: [4.0e-8, 4.0e-8]}\n"

#ifdef ORBIT_ELEMENTS

#define COORDINATES 2

static const gbees_quantity states[] = {
    {"p", "km", "semi-latus rectum, a (1 - e^2)"},
    {"f", "-", "eccentricity times the cosine of the perigee's longitude"},
    {"g", "-", "eccentricity times the sine of the perigee's longitude"},
    {"h", "-", "tan(i/2) times the cosine of the node's right ascension"},
    {"k", "-", "tan(i/2) times the sine of the node's right ascension"},
    {"L", "rad", "true longitude: of perigee, and the true anomaly; it goes on beyond a revolution"},
    COEFFICIENTS};

/* All begin where L is 0.02: `...` repeats it as the coefficients of 7 and 8 dimensions, and the variance of L, too.
 */
static const gbees_model_scenario scenarios[] = {
    {"leo", LOW "mean: [6878.137, 0, -0.002, 0.001, -0.4834, 0.02, ...]\n"
                "covariance: [7.0, 9.0e-8, 4.0e-8, 6.5e-9, 8.0e-9, 2.5e-8, ...]\n" POINTS "end: 86400\n"
                "records: 4\n"},
    {"geo", STATIONARY "mean: [42165, 0, 0, 0.00325, 0, 0.02, ...]\n"
                       "covariance: [11.5, 4.8e-9, 1.6e-9, 2.6e-10, 1.4e-10, 5.6e-10, ...]\n" POINTS "end: 604800\n"
                       "records: 7\n"},
    {"gto", TRANSFER "mean: [11334.2, -0.7312, 0, 0.00627, 0, 0.02, ...]\n"
                     "covariance: [2.3, 1.2e-9, 8.5e-10, 1.0e-9, 1.4e-10, 5.6e-10, ...]\n" POINTS "end: 75800\n"
                     "records: 4\n"},
    {"two-arcs", TWO_ARCS "mean: [6874.56, -0.0006, -0.0028, 0.001, -0.4826, 0.0015]\n"
                          "covariance: [726, 9.0e-6, 3.8e-6, 6.6e-7, 8.0e-7, 2.5e-6]\n" POINTS ARCS},
};

#else

#define COORDINATES 1

static const gbees_quantity states[] = {{"x", "km", "to the mean equinox"},
                                        {"y", "km", "in the equator"},
                                        {"z", "km", "along the Earth's axis"},
                                        {"vx", "km/s", "velocity along x"},
                                        {"vy", "km/s", "velocity along y"},
                                        {"vz", "km/s", "velocity along z"},
                                        COEFFICIENTS};

/* All begin at a point of the orbit where vz is small and above 0: `...` repeats it as the coefficients of 7 and 8
 * dimensions, and the variance of vz, too. */
static const gbees_model_scenario scenarios[] = {
    {"leo", LOW "mean: [4272.4, 0, 5390.3, 0, 7.6126, 0.02, ...]\n"
                "covariance: [1, 1, 1, 1.0e-6, ...]\n" POINTS "end: 86400\n"
                "records: 4\n"},
    {"geo", STATIONARY "mean: [42164.17, 0, 0, 0, 3.07466, 0.02, ...]\n"
                       "covariance: [1, 1, 1, 1.0e-8, ...]\n" POINTS "end: 604800\n"
                       "records: 7\n"},
    {"gto", TRANSFER "mean: [-42164, 0, 0, 0, -1.594, 0.02, ...]\n"
                     "covariance: [1, 1, 1, 1.0e-8, ...]\n" POINTS "end: 75800\n"
                     "records: 4\n"},
    {"two-arcs", TWO_ARCS "mean: [4280, 5, 5385, 0, 7.61, 0.02, ...]\n"
                          "covariance: [100, 100, 100, 1.0e-4, ...]\n" POINTS ARCS},
};

#endif
