/* test_orbit.c - the models `orbit`, `orbit_elements` and `conjunction` beside what another program and published
 * examples have. */
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"

#define RADIAN 57.29577951308232 /* degrees */

/* The end of a path that `tests/accuracy/orbit . pins` has by SciPy's DOP853 with a tolerance of 1e-12. */
typedef struct pin {
    const char *parameters;
    double start[6], seconds, step, end[6]; /* step: of the Runge-Kutta method here */
} pin;

static const pin pins[] = {
    {"parameters={}",
     {7000, 0, 0, 0, 7.5, 1},
     86400,
     3,
     {-2082.0874359709264, -6675.3879600869686, -890.05172801159586, 7.1899994246057766, -2.1631965738499361,
      -0.28842620984665923}},
    {"parameters={zonal: 4}",
     {4272.4, 100, 5390.3, 0, 7.6126, 0.02},
     86400,
     3,
     {1743.4670287728209, 6597.4244186463484, 1522.5189680230128, -4.274133450358427, 2.4811480656978979,
      -5.634448459825375}},
    {"parameters={zonal: 2, drag: 1}",
     {4272.4, 0, 5390.3, 0, 7.6126, 0.02},
     86400,
     3,
     {1579.6862307079621, 6582.451379569241, 1317.5462435700674, -4.4071680717515651, 2.2244867006490279,
      -5.776394679846395}},
    {"parameters={sun: 1, moon: 1}",
     {42164.17, 0, 0, 0, 3.07466, 0.02},
     604800,
     60,
     {41883.253469164069, 4846.5397221367202, 9.041189604388979, -0.35333824040429218, 3.0544524095654189,
      0.019560740316939065}},
    {"parameters={zonal: 2, solar: 1, reflectivity: 2}",
     {7000, 0, 0, 0, 7.5, 1},
     43200,
     0.5,
     {-4904.8760856447652, 5021.2551439175732, 627.33034626094582, -5.4125776484057893, -5.1626335418261506,
      -0.73128635666427355}},
    {"parameters={zonal: 4, drag: 1, solar: 1, sun: 1, moon: 1}",
     {-42164, 0, 0, 0, -1.594, 0.2},
     75800,
     3,
     {-42161.227645702398, -45.461205054975601, 39.883935081604726, -0.018895871667127858, -1.5941993481178249,
      0.19998146691058419}},
    {"parameters={zonal: 4, drag: 1, solar: 1, sun: 1, moon: 1}",
     {4272.4, 100, 5390.3, 0, 7.6126, 0.02},
     43200,
     2,
     {-3647.4418141216397, -3713.587879013955, -4414.5439603144414, 2.4960962696807178, -6.3755753556600583,
      3.4664856729260838}},
    {"parameters={zonal: 4, drag: 1, solar: 1, sun: 1, moon: 1}",
     {42164.17, 0, 0, 0, 3.07466, 0.02},
     172800,
     20,
     {42139.907379180826, 1429.8116223907216, 0.90147009603492556, -0.10415385486914007, 3.0728880757564268,
      0.020052017571686464}},
};

/* ---- elements and Cartesian states, by the angles between them ---- */

#define MU 398600.4418

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out)
{
    for (int j = 0; j < 3; j++)
        out[j] = a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3];
}

/* D. A. Vallado (2013), algorithm 9, and what its elements make of p, f, g, h, k, L. */
static void to_elements(const double *x, double *elements)
{
    double h[3], pull[3], e[3];

    cross(x, x + 3, h);
    cross(x + 3, h, pull);
    const double r = sqrt(dot(x, x)), momentum = sqrt(dot(h, h)), node = atan2(h[0], -h[1]);
    const double along[3] = {cos(node), sin(node), 0}, tilt = acos(h[2] / momentum);
    double ahead[3];

    cross(h, along, ahead);
    for (int j = 0; j < 3; j++) {
        e[j] = pull[j] / MU - x[j] / r;
        ahead[j] /= momentum;
    }
    const double perigee = atan2(dot(e, ahead), dot(e, along)), size = sqrt(dot(e, e));

    elements[0] = momentum * momentum / MU;
    elements[1] = size * cos(node + perigee);
    elements[2] = size * sin(node + perigee);
    elements[3] = tan(tilt / 2) * cos(node);
    elements[4] = tan(tilt / 2) * sin(node);
    elements[5] = node + atan2(dot(x, ahead), dot(x, along));
}

/* D. A. Vallado (2013), algorithm 10. */
static void to_cartesian(const double *elements, double *x)
{
    const double size = hypot(elements[1], elements[2]), tilt = 2 * atan(hypot(elements[3], elements[4]));
    const double node = atan2(elements[4], elements[3]), perigee = atan2(elements[2], elements[1]) - node;
    const double anomaly = elements[5] - node - perigee, r = elements[0] / (1 + size * cos(anomaly));
    const double speed = sqrt(MU / elements[0]);
    const double plane[4] = {r * cos(anomaly), r * sin(anomaly), -speed * sin(anomaly),
                             speed * (size + cos(anomaly))};

    for (int half = 0; half < 2; half++) {
        const double u = plane[2 * half], w = plane[2 * half + 1];
        const double a = u * cos(perigee) - w * sin(perigee), b = u * sin(perigee) + w * cos(perigee);

        x[3 * half] = a * cos(node) - b * cos(tilt) * sin(node);
        x[3 * half + 1] = a * sin(node) + b * cos(tilt) * cos(node);
        x[3 * half + 2] = b * sin(tilt);
    }
}

/* Parameters from a problem that has nothing else of the scenario: the coefficients are states where n is above 6. */
static void check_pin(const char *name, const pin *at, const char *dimension)
{
    const int has_elements = strcmp(name, "orbit") != 0;
    gbees_problem *problem =
        problem_changed(model(name), 1,
                        (setting_list){"parameters={zonal: 0, drag: 0, solar: 0, sun: 0, moon: 0}", at->parameters,
                                       "frame=fixed", dimension});
    double x[8], off = 0, size = 0;

    for (int j = 0; j < problem->dimension; j++)
        x[j] = j < 6 ? at->start[j] : problem->parameters[j == 6 ? 10 : 15];
    if (has_elements)
        to_elements(at->start, x);
    integrate(problem->functions, 0, at->seconds, (int)(at->seconds / at->step), problem->parameters, x);
    if (has_elements)
        to_cartesian((const double[6]){x[0], x[1], x[2], x[3], x[4], x[5]}, x);
    for (int half = 0; half < 6; half += 3) {
        off = size = 0;
        for (int j = half; j < half + 3; j++) {
            off += pow(x[j] - at->end[j], 2);
            size += pow(at->end[j], 2);
        }
        ck_assert_msg(sqrt(off) <= 1e-9 * sqrt(size), "%s, %s: off by %g", name, at->parameters, sqrt(off / size));
    }
    gbees_problem_destroy(problem);
}

static const char *const both[] = {"orbit", "orbit_elements"};

START_TEST(another_integrator)
{
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++)
        check_pin(both[_i], &pins[i], "dimension=6");
    check_pin(both[_i], &pins[2], "dimension=7");
    check_pin(both[_i], &pins[4], "dimension=8");
}
END_TEST

/* What the drift at r has more with a body at `at` than without it. */
static void check_body(const char *name, double epoch, double mu, const double *at)
{
    const double x[6] = {42164, 100, 200, 0, 3, 0};
    char with[80], date[80];
    double more[6], less[6], off = 0, size = 0, far = 0, near = 0;

    (void)snprintf(with, sizeof with, "parameters.%s=1", name);
    (void)snprintf(date, sizeof date, "parameters.epoch=%.9f", epoch);
    gbees_problem *off_problem = problem_changed(model("orbit"), 0, (setting_list){date, "frame=fixed"});
    gbees_problem *problem = problem_changed(model("orbit"), 0, (setting_list){date, with, "frame=fixed"});
    drift_at(problem->functions, 0, x, problem->parameters, more);
    drift_at(off_problem->functions, 0, x, off_problem->parameters, less);
    for (int j = 0; j < 3; j++) {
        far += at[j] * at[j];
        near += pow(at[j] - x[j], 2);
    }
    for (int j = 0; j < 3; j++) {
        const double tide = mu * ((at[j] - x[j]) / pow(near, 1.5) - at[j] / pow(far, 1.5));

        off += pow(more[3 + j] - less[3 + j] - tide, 2);
        size += tide * tide;
    }
    ck_assert_msg(sqrt(off / size) < 1e-5, "%s: off by %g", name, sqrt(off / size));
    gbees_problem_destroy(problem);
    gbees_problem_destroy(off_problem);
}

/* D. A. Vallado, Fundamentals of Astrodynamics and Applications (2013): the Sun of example 5-1, 2 April 2006; the
 * Moon of example 5-3, 28 April 1994. */
START_TEST(sun_and_moon)
{
    check_body("sun", 2453827.5 - 2451545, 132712440018.0, (const double[3]){146186212, 28788976, 12481064});
    check_body("moon", 2449470.5 - 2451545, 4902.800066, (const double[3]){-134240.626, -311571.590, -126693.785});
}
END_TEST

static void measured(const gbees_problem *problem, int which, double t, const double *x, double *y)
{
    const double origin[8] = {0}, *column[8];
    double *out[9] = {&y[0], &y[1], NULL};

    for (int k = 0; k < 6; k++)
        column[k] = &x[k];
    problem->functions->measure_d(which, 1, t, origin, column, problem->parameters, out);
}

/* The station of Vallado's example 7-1, whose place on the Earth is published, at his example 3-5's sidereal time:
 * 152.578788 degrees at 12:14 of 20 August 1992. */
static const double place[3] = {-1275.1219, -4797.9890, 3994.2975}, sidereal = 152.578787886 / RADIAN;

static gbees_problem *station(void)
{
    char epoch[80];

    /* The model's time is 10 minutes later there. */
    (void)snprintf(epoch, sizeof epoch, "parameters.epoch=%.12f", 2448854.5 - 2451545 + (12 * 60 + 4) / 1440.0);
    return problem_changed(model("orbit"), 0,
                           (setting_list){epoch, "parameters.latitude=39.007", "parameters.longitude=-104.883",
                                          "parameters.altitude=2.187"});
}

/* From the Earth's axes to the states'. */
static void turned(const double *fixed, double *x)
{
    x[0] = cos(sidereal) * fixed[0] - sin(sidereal) * fixed[1];
    x[1] = sin(sidereal) * fixed[0] + cos(sidereal) * fixed[1];
    x[2] = fixed[2];
}

START_TEST(stations)
{
    gbees_problem *problem = station();
    const double latitude = 39.007 / RADIAN, longitude = -104.883 / RADIAN, turn = 7.292115146706979e-5;
    const double up[3] = {cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)};
    const double north[3] = {-sin(latitude) * cos(longitude), -sin(latitude) * sin(longitude), cos(latitude)};
    double fixed[3], x[6], y[2], ahead[6], there[2], to[3];

    /* 1000 km above the station: the zenith, at rest on the Earth. */
    for (int j = 0; j < 3; j++)
        fixed[j] = place[j] + 1000 * up[j];
    turned(fixed, x);
    x[3] = -turn * x[1], x[4] = turn * x[0], x[5] = 0;
    measured(problem, 0, 600, x, y);
    ck_assert_msg(fabs(y[0] - 1000) < 1e-4, "%.9g", y[0] - 1000);
    measured(problem, 1, 600, x, y);
    ck_assert_double_eq_tol(y[0], 0, 1e-9);
    measured(problem, 2, 600, x, y);
    ck_assert_double_eq_tol(y[1] * RADIAN, 90, 1e-4);
    /* North and up. */
    for (int j = 0; j < 3; j++)
        fixed[j] = place[j] + 1000 * up[j] + 500 * north[j];
    turned(fixed, x);
    measured(problem, 2, 600, x, y);
    ck_assert_double_eq_tol(y[0], 0, 1e-6);
    ck_assert_double_eq_tol(y[1], atan2(1000, 500), 1e-6);
    /* The direction in the states' axes. */
    for (int j = 0; j < 3; j++)
        fixed[j] = 1000 * up[j] + 500 * north[j];
    turned(fixed, to);
    measured(problem, 3, 600, x, y);
    ck_assert_double_eq_tol(y[0], atan2(to[1], to[0]), 1e-6);
    ck_assert_double_eq_tol(y[1], asin(to[2] / hypot(1000, 500)), 1e-6);
    /* The rate of the range is its difference, by tenths of a second. */
    x[3] = 3, x[4] = -4, x[5] = 5;
    for (int j = 0; j < 6; j++)
        ahead[j] = x[j] + (j < 3 ? x[j + 3] / 10 : 0);
    measured(problem, 0, 600.1, ahead, y);
    for (int j = 0; j < 3; j++)
        ahead[j] = x[j] - x[j + 3] / 10;
    measured(problem, 0, 599.9, ahead, there);
    const double rate = (y[0] - there[0]) * 5;
    measured(problem, 1, 600, x, y);
    ck_assert_double_eq_tol(y[0], rate, 1e-5);
    gbees_problem_destroy(problem);
}
END_TEST

/* Of an object on an eccentric and tilted orbit both models measure the same, and it is as high above re-entry. */
START_TEST(the_same_seen)
{
    const double cartesian[6] = {-5200, 6100, 3900, -5.1, -4.2, 3.8};
    double elements[6], height[2];

    to_elements(cartesian, elements);
    gbees_problem *one = problem_create(model(both[0]), 0, "parameters={latitude: 39, longitude: -104.9}");
    gbees_problem *other = problem_create(model(both[1]), 0, "parameters={latitude: 39, longitude: -104.9}");
    for (int which = 0; which < 4; which++) {
        double y[2] = {0, 0}, there[2] = {0, 0};

        measured(one, which, 600, cartesian, y);
        measured(other, which, 600, elements, there);
        for (int j = 0; j < 2; j++)
            ck_assert_double_eq_tol(y[j], there[j], 1e-13 * fabs(y[j]) + 1e-13);
    }
    for (int k = 0; k < 2; k++) {
        const double origin[8] = {0}, *column[8];

        for (int j = 0; j < 6; j++)
            column[j] = k ? &elements[j] : &cartesian[j];
        const gbees_problem *of = k ? other : one;

        of->functions->target_d(0, 1, 0, origin, column, of->parameters, &height[k]);
    }
    ck_assert_double_eq_tol(height[0], height[1], 1e-9);
    gbees_problem_destroy(one);
    gbees_problem_destroy(other);
}
END_TEST

/* The names of a card's states are those of its coordinates: the equations can't be the other ones. */
START_TEST(fixed_coordinates)
{
    static const char *const wrong[] = {"parameters.coordinates=2", "parameters.coordinates=1"};
    gbees_problem *problem = NULL;
    gbees_error error;

    for (int k = 0; k < 2; k++) {
        const gbees_model *of = model(both[k]);
        const scenario_source from = {
            .text = of->scenarios[0].text, .settings = (setting_list){wrong[k]}, .over_default = 1};

        ck_assert_int_eq(problem_make(of, &from, &problem, &error), GBEES_EINPUT);
        ck_assert_msg(strstr(error.text, "coordinates"), "%s", error.text);
    }
}
END_TEST

/* ---- conjunction ---- */

static double distance(const gbees_problem *problem, const double *x, double t)
{
    const double origin[8] = {0}, *column[8];
    double g;

    for (int k = 0; k < 6; k++)
        column[k] = &x[k];
    problem->functions->target_d(0, 1, t, origin, column, problem->parameters, &g);
    return g + problem->parameters[1];
}

/* The air's density overflows, and drag is off. */
START_TEST(what_is_off_is_not_felt)
{
    gbees_problem *problem = problem_changed(
        model("orbit"), 1,
        (setting_list){"parameters={zonal: 0, drag: 0, solar: 0, sun: 0, moon: 0, height: 10000, scale: 0.1}",
                       "frame=fixed"});
    const double origin[6] = {7000, 0, 0, 0, 7.5, 0}, zero[8] = {0};
    const double time[8] = {0}, *column[6] = {zero, zero, zero, zero, zero, zero};
    double out[6][8], *to[6] = {out[0], out[1], out[2], out[3], out[4], out[5]};

    for (int timed = 0; timed < 2; timed++) {
        memset(out, 0, sizeof out);
        if (timed)
            problem->functions->drift_times_d(8, time, origin, column, problem->parameters, to);
        else
            problem->functions->drift_d(8, 0, origin, column, problem->parameters, to);
        for (int i = 0; i < 8; i++) {
            ck_assert_msg(fabs(out[3][i] + problem->parameters[0] / 49e6) < 1e-15, "%.17g, not %.17g", out[3][i],
                          -problem->parameters[0] / 49e6);
            ck_assert(out[0][i] == 0 && out[1][i] == 7.5 && out[4][i] == 0 && out[5][i] == 0);
        }
    }
    gbees_problem_destroy(problem);
}
END_TEST

/* Both objects integrated by `orbit`, in kilometres, are as far from each other as the target says, before and after
 * t = 0 and revolutions later. */
START_TEST(both_on_their_orbits)
{
    static const double times[] = {-3000, -10, 0.5, 2500, 40000};
    gbees_problem *pair =
        problem_create(model("conjunction"), 0, "parameters={distance: 7.0e6, outwards: 300, onwards: 7700}");
    gbees_problem *one =
        problem_changed(model("orbit"), 1,
                        (setting_list){"parameters={zonal: 0, drag: 0, solar: 0, sun: 0, moon: 0}", "frame=fixed"});
    const double apart[6] = {300, -2000, 100, 20, 10, -4000};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        double first[6] = {7000, 0, 0, 0.3, 7.7, 0}, second[6], square = 0;

        for (int j = 0; j < 6; j++)
            second[j] = first[j] + apart[j] / 1000;
        integrate(one->functions, 0, times[i], 20000, one->parameters, first);
        integrate(one->functions, 0, times[i], 20000, one->parameters, second);
        for (int j = 0; j < 3; j++)
            square += pow((first[j] - second[j]) * 1000, 2);
        ck_assert_double_eq_tol(distance(pair, apart, times[i]), sqrt(square), 1e-8 * sqrt(square));
    }
    gbees_problem_destroy(pair);
    gbees_problem_destroy(one);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("orbit");
    TCase *tcase = tcase_create("orbit");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, registry_open, registry_close);
    tcase_add_loop_test(tcase, another_integrator, 0, 2);
    tcase_add_test(tcase, sun_and_moon);
    tcase_add_test(tcase, stations);
    tcase_add_test(tcase, the_same_seen);
    tcase_add_test(tcase, fixed_coordinates);
    tcase_add_test(tcase, both_on_their_orbits);
    tcase_add_test(tcase, what_is_off_is_not_felt);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
