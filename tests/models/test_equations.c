/* test_equations.c - the shipped models against what is known of their equations by other ways: formulas written
 * anew, invariants along a path, exact solutions, and limits in which one model is another. */
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"

/* ---- formulas written anew, for the default parameters, at t ---- */

static void aizawa(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = x[2] * x[0] - 0.7 * x[0] - 3.5 * x[1];
    dxdt[1] = 3.5 * x[0] + x[2] * x[1] - 0.7 * x[1];
    dxdt[2] = 0.6 + 0.95 * x[2] - pow(x[2], 3) / 3 - pow(x[0], 2) + 0.1 * x[2] * pow(x[0], 3);
}

/* From the potential (x^2 + y^2)/2 + (1 - mu)/r1 + mu/r2. */
static void cr3bp(int n, double t, const double *x, double *dxdt)
{
    const double mu = 1.215058446919780e-2, r1 = hypot(hypot(x[0] + mu, x[1]), x[2]),
                 r2 = hypot(hypot(x[0] - 1 + mu, x[1]), x[2]);

    (void)n, (void)t;
    for (int j = 0; j < 3; j++)
        dxdt[j] = x[3 + j];
    dxdt[3] = 2 * x[4] + x[0] - (1 - mu) * (x[0] + mu) / pow(r1, 3) - mu * (x[0] - 1 + mu) / pow(r2, 3);
    dxdt[4] = -2 * x[3] + x[1] - (1 - mu) * x[1] / pow(r1, 3) - mu * x[1] / pow(r2, 3);
    dxdt[5] = -(1 - mu) * x[2] / pow(r1, 3) - mu * x[2] / pow(r2, 3);
}

static void duffing(int n, double t, const double *x, double *dxdt)
{
    (void)n;
    dxdt[0] = x[1];
    dxdt[1] = x[0] - pow(x[0], 3) - 0.35 * x[1] + 0.3 * cos(t);
}

static void linear(int n, double t, const double *x, double *dxdt)
{
    (void)t;
    for (int j = 0; j < n; j++)
        dxdt[j] = -0.1 * x[j] + 1.25 * (j < n - 1 ? x[j + 1] : 0) - 0.8 * (j ? x[j - 1] : 0);
}

static void pendulum(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = x[1];
    dxdt[1] = -0.1 * x[1] - sin(x[0]);
}

static void poe2bp(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = 0;
    dxdt[1] = pow(19.910350621818949, 2) * pow(x[0], -3);
}

static void rossler(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = -(x[1] + x[2]);
    dxdt[1] = x[0] + 0.2 * x[1];
    dxdt[2] = 0.2 + x[0] * x[2] - 5.7 * x[2];
}

static void unicycle(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = sin(x[2] + acos(-1) / 2);
    dxdt[1] = cos(x[2] - acos(-1) / 2);
    dxdt[2] = 0.3;
}

static void vanderpol(int n, double t, const double *x, double *dxdt)
{
    (void)n, (void)t;
    dxdt[0] = x[1];
    dxdt[1] = x[1] - x[0] * x[0] * x[1] - x[0];
}

typedef void equations(int n, double t, const double *x, double *dxdt);

/* Whether a drift is of + - * / and square roots alone: then all functions that evaluate it give the same bits, also
 * in float, whose whole drift is not compiled for the processor at hand. */
static int is_rounded_alike(const char *name)
{
    return strcmp(name, "duffing") && strcmp(name, "pendulum") && strcmp(name, "unicycle");
}

/* At points of the initial box of the default scenario, in both precisions: the equations but for rounding. */
static void check_drift(const char *name, const char *dimension, equations *by_hand)
{
    enum { COUNT = 61 };
    const double t = 0.75;
    gbees_problem *problem = problem_changed(model(name), 0, (setting_list){"frame=fixed", dimension});
    const int n = problem->dimension;
    box_points points;
    double at[8][POINTS], component[POINTS], *out[8];
    float at_f[8][POINTS], component_f[POINTS], p_f[GBEES_MAX_PARAMETERS], *out_f[8];

    box_fill(&points, problem);
    for (int j = 0; j < 8; j++) {
        out[j] = at[j];
        out_f[j] = at_f[j];
    }
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++)
        p_f[k] = (float)problem->parameters[k];
    problem->functions->drift_d(COUNT, t, points.origin, points.column, problem->parameters, out);
    problem->functions->drift_f(COUNT, (float)t, points.origin_f, points.column_f, p_f, out_f);
    for (int j = 0; j < n; j++) {
        problem->functions->component_d[j](COUNT, t, points.origin, points.column, problem->parameters, component);
        problem->functions->component_f[j](COUNT, (float)t, points.origin_f, points.column_f, p_f, component_f);
        ck_assert_mem_eq(component, at[j], COUNT * sizeof component[0]);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert(fabsf(component_f[i] - at_f[j][i]) <=
                      (is_rounded_alike(name) ? 0 : 4e-7 * fmax(1, fabs(at[j][i]))));
    }
    for (size_t i = 0; i < COUNT; i++) {
        double x[8], dxdt[8], size = 0;

        box_point(&points, i, n, x);
        by_hand(n, t, x, dxdt);
        for (int j = 0; j < n; j++)
            size = fmax(size, fabs(x[j]) + fabs(dxdt[j]));
        for (int j = 0; j < n; j++) {
            ck_assert_msg(fabs(at[j][i] - dxdt[j]) <= 1e-14 * size, "%s, component %d: %.17g, not %.17g", name, j,
                          at[j][i], dxdt[j]);
            ck_assert_msg(fabs((double)at_f[j][i] - dxdt[j]) <= 4e-6 * size,
                          "%s, component %d, float: %.9g, not %.9g", name, j, (double)at_f[j][i], dxdt[j]);
        }
    }
    gbees_problem_destroy(problem);
}

START_TEST(drifts)
{
    check_drift("aizawa", NULL, aizawa);
    check_drift("cr3bp", NULL, cr3bp);
    check_drift("duffing", NULL, duffing);
    check_drift("pendulum", NULL, pendulum);
    check_drift("poe2bp", NULL, poe2bp);
    check_drift("rossler", NULL, rossler);
    check_drift("unicycle", NULL, unicycle);
    check_drift("vanderpol", NULL, vanderpol);
    for (int n = 1; n <= 8; n++) {
        char dimension[] = "dimension=0";

        dimension[sizeof dimension - 2] = (char)('0' + n);
        check_drift("linear", dimension, linear);
    }
}
END_TEST

START_TEST(who_knows_the_time)
{
    static const char *const names[] = {"aizawa",   "conjunction", "cr3bp",  "linear",  "lorenz63", "lorenz96",
                                        "pendulum", "pcr3bp",      "poe2bp", "rossler", "unicycle", "vanderpol"};
    const double x[2] = {0.5, 0.25}, p[3] = {0.35, 0.3, 2};
    double early[2], late[2];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_uint_eq(model(names[i])->flags, 0);
    ck_assert_uint_eq(model("duffing")->flags, GBEES_TIME_DEPENDENT);
    ck_assert_uint_eq(model("orbit")->flags, GBEES_TIME_DEPENDENT);
    ck_assert_uint_eq(model("orbit_elements")->flags, GBEES_TIME_DEPENDENT);
    drift_at(functions_of(model("duffing"), 2), 0, x, p, early);
    drift_at(functions_of(model("duffing"), 2), 1.5, x, p, late);
    ck_assert_double_eq_tol(late[1] - early[1], 0.3 * (cos(3.0) - 1), 1e-15);
}
END_TEST

/* ---- invariants along a path ---- */

static double bound_at(const gbees_problem *problem, const double *x)
{
    const double origin[8] = {0}, *column[8];
    double result;

    for (int k = 0; k < problem->dimension; k++)
        column[k] = &x[k];
    problem->functions->bound_d(1, 0, origin, column, problem->parameters, &result);
    return result;
}

/* The bound is a constant of the motion, from the mean and from a corner of the initial box. */
static void check_bound(const char *name, int scenario, double length)
{
    gbees_problem *problem = problem_create(model(name), scenario, "frame=fixed");

    for (int corner = 0; corner < 2; corner++) {
        double x[8], before, moved = 0;

        for (int j = 0; j < problem->dimension; j++)
            x[j] = problem->mean[j] + corner * problem->extent[j] * problem->width[j];
        before = bound_at(problem, x);
        integrate(problem->functions, 0, length, 50000, problem->parameters, x);
        ck_assert_double_eq_tol(bound_at(problem, x), before, 1e-11);
        for (int j = 0; j < problem->dimension; j++)
            moved += fabs(x[j] - problem->mean[j]);
        ck_assert_double_gt(moved, 1e-3);
    }
    gbees_problem_destroy(problem);
}

START_TEST(jacobi_constant)
{
    const double mu[1] = {0.3}, zero[6] = {0};
    const double rest[6] = {0.5 - 0.3, sqrt(0.75)}, moving[6] = {0.5 - 0.3, sqrt(0.75), 0, 1, 2, 3};
    const double *column[6] = {zero, zero, zero, zero, zero, zero};
    double at;

    check_bound("pcr3bp", 0, 0.9317920047894);
    for (int scenario = 0; scenario < 4; scenario++) /* of orbits; the others pass by */
        check_bound("cr3bp", scenario, scenario % 2 ? 0.889584448745932 : 0.751047510475105);
    /* At rest in the triangular point it is 3. */
    functions_of(model("cr3bp"), 6)->bound_d(1, 0, rest, column, mu, &at);
    ck_assert_double_eq_tol(at, 3, 1e-14);
    functions_of(model("cr3bp"), 6)->bound_d(1, 0, moving, column, mu, &at);
    ck_assert_double_eq_tol(at, 3 - 14, 1e-14);
    functions_of(model("pcr3bp"), 4)->bound_d(1, 0, rest, column, mu, &at);
    ck_assert_double_eq_tol(at, 3, 1e-14);
    ck_assert_str_eq(model("pcr3bp")->bound->name, "J");
    ck_assert_str_eq(model("cr3bp")->bound->name, "J");
}
END_TEST

START_TEST(energy_without_friction)
{
    const double free_duffing[3] = {0, 0, 1}, free_pendulum[3] = {0, 2, 0.5}, harmonic[1] = {0};
    double x[2] = {0.1, 1}, before = x[1] * x[1] / 2 - x[0] * x[0] / 2 + pow(x[0], 4) / 4;

    integrate(functions_of(model("duffing"), 2), 0, 5, 20000, free_duffing, x);
    ck_assert_double_eq_tol(x[1] * x[1] / 2 - x[0] * x[0] / 2 + pow(x[0], 4) / 4, before, 1e-12);
    x[0] = 2.5;
    x[1] = -1;
    before = x[1] * x[1] / 2 - 2 * cos(x[0]) - 0.5 * x[0];
    integrate(functions_of(model("pendulum"), 2), 0, 5, 20000, free_pendulum, x);
    ck_assert_double_eq_tol(x[1] * x[1] / 2 - 2 * cos(x[0]) - 0.5 * x[0], before, 1e-12);
    x[0] = 1;
    x[1] = 0;
    integrate(functions_of(model("vanderpol"), 2), 0, 5, 20000, harmonic, x);
    ck_assert_double_eq_tol(x[0], cos(5), 1e-12);
    ck_assert_double_eq_tol(x[1], -sin(5), 1e-12);
}
END_TEST

START_TEST(planar_motion_in_space)
{
    const double mu[1] = {0.0121}, in_plane[4] = {0.9, 0.1, -0.2, 0.3}, in_space[6] = {0.9, 0.1, 0, -0.2, 0.3, 0};
    double planar[4], spatial[6];

    drift_at(functions_of(model("pcr3bp"), 4), 0, in_plane, mu, planar);
    drift_at(functions_of(model("cr3bp"), 6), 0, in_space, mu, spatial);
    for (int j = 0; j < 2; j++) {
        ck_assert_double_eq(spatial[j], planar[j]);
        ck_assert_double_eq_tol(spatial[3 + j], planar[2 + j], 1e-14);
    }
    ck_assert_double_eq(spatial[2], 0);
    ck_assert_double_eq(spatial[5], 0);
}
END_TEST

/* ---- exact solutions ---- */

START_TEST(two_bodies)
{
    const double mu[1] = {19.910350621818949};
    double x[2] = {4.7, 0.25};

    integrate(functions_of(model("poe2bp"), 2), 0, 32.242, 100, mu, x);
    ck_assert_double_eq(x[0], 4.7);
    ck_assert_double_eq_tol(x[1], 0.25 + mu[0] * mu[0] / pow(4.7, 3) * 32.242, 1e-11);
}
END_TEST

/* exp(A t) x, A tridiagonal with p on it, by its series, in parts short enough for it. */
static void exponential(int n, const double *p, double t, double *x)
{
    enum { PARTS = 64, TERMS = 24 };
    double term[8], next[8];

    for (int part = 0; part < PARTS; part++) {
        memcpy(term, x, (size_t)n * sizeof term[0]);
        for (int k = 1; k <= TERMS; k++) {
            for (int j = 0; j < n; j++)
                next[j] = (p[0] * term[j] + (j < n - 1 ? p[1] * term[j + 1] : 0) + (j ? p[2] * term[j - 1] : 0)) * t /
                          PARTS / k;
            memcpy(term, next, (size_t)n * sizeof term[0]);
            for (int j = 0; j < n; j++)
                x[j] += term[j];
        }
    }
}

START_TEST(linear_chain)
{
    /* Damped oscillations, oscillations for ever, a shear, a spread. */
    static const double p[][3] = {{-0.1, 1.25, -0.8}, {0, 1, -1}, {0, 1, 0}, {-0.5, 0.5, 0.25}};

    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
        for (int n = 1; n <= 8; n++) {
            double path[8], exact[8];

            for (int j = 0; j < n; j++)
                path[j] = exact[j] = cos(j);
            integrate(functions_of(model("linear"), n), 0, 6, 6000, p[i], path);
            exponential(n, p[i], 6, exact);
            for (int j = 0; j < n; j++)
                ck_assert_double_eq_tol(path[j], exact[j], 1e-9 * (1 + fabs(exact[j])));
        }
}
END_TEST

/* The eigenvalues that the card tells of, with their vectors: (lower/upper)^(j/2) sin(j k pi / (n + 1)). */
START_TEST(linear_eigenvalues)
{
    const double p[3] = {-0.3, 2, 0.5}, pi = acos(-1);

    for (int n = 1; n <= 8; n++)
        for (int k = 1; k <= n; k++) {
            const double value = p[0] + 2 * sqrt(p[1] * p[2]) * cos(k * pi / (n + 1));
            double vector[8], image[8];

            for (int j = 0; j < n; j++)
                vector[j] = pow(p[2] / p[1], (j + 1) / 2.0) * sin((j + 1) * k * pi / (n + 1));
            drift_at(functions_of(model("linear"), n), 0, vector, p, image);
            for (int j = 0; j < n; j++)
                ck_assert_double_eq_tol(image[j], value * vector[j], 1e-14);
        }
}
END_TEST

/* ---- measurements ---- */

static void measure_at(const char *name, int which, const double *x, double *y)
{
    gbees_problem *problem = problem_create(model(name), 0, "frame=fixed");
    const double origin[8] = {0}, *column[8];
    double *out[GBEES_MAX_DIM + 1] = {NULL};

    for (int k = 0; k < problem->dimension; k++)
        column[k] = &x[k];
    for (int k = 0; k < problem->model->measurements[which].size; k++)
        out[k] = &y[k];
    problem->functions->measure_d(which, 1, 0, origin, column, problem->parameters, out);
    gbees_problem_destroy(problem);
}

START_TEST(measured_states)
{
    static const char *const names[] = {"aizawa", "duffing", "rossler", "vanderpol"};
    const double x[3] = {3, 5, 7};
    double y[1];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int which = 0; which < model(names[i])->dim_default; which++) {
            measure_at(names[i], which, x, y);
            ck_assert_double_eq(y[0], x[which]);
            ck_assert_str_eq(model(names[i])->measurements[which].name, model(names[i])->states[which].name);
        }
    measure_at("poe2bp", 0, x, y); /* L = sqrt(mu a) */
    ck_assert_double_eq_tol(sqrt(19.910350621818949 * y[0]), 3, 1e-14);
    measure_at("poe2bp", 1, x, y);
    ck_assert_double_eq(y[0], 5);
    measure_at("pendulum", 0, x, y);
    ck_assert_double_eq(y[0], 3);
    measure_at("pendulum", 1, x, y);
    ck_assert_double_eq(y[0], 5);
    measure_at("pendulum", 2, x, y);
    ck_assert_double_eq_tol(y[0], 2 * pow(sin(1.5), 2), 1e-15);
    measure_at("pendulum", 3, x, y);
    ck_assert_double_eq_tol(y[0], sin(3), 1e-15);
}
END_TEST

/* Right nine times in ten, whether it is seen on the right or on the left. */
START_TEST(the_pendulum_is_seen_on_a_side)
{
    const gbees_functions *f = functions_of(model("pendulum"), 2);
    const double angle[] = {0.5, -0.5, 4, 2.5 + 4 * 3.14159265358979323846}, zero[] = {0, 0, 0, 0}, right = 1,
                 left = -1, none[3] = {0};
    const double *const columns[] = {angle, zero};
    const int to_the_right[] = {1, 0, 0, 1};
    double seen_right[4], seen_left[4], other[4];

    f->log_likelihood_d(3, 4, 0, none, columns, none, &right, seen_right);
    f->log_likelihood_d(3, 4, 0, none, columns, none, &left, seen_left);
    f->log_likelihood_d(0, 4, 0, none, columns, none, &left, other);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(exp(seen_right[i]), to_the_right[i] ? 0.9 : 0.1, 1e-15);
        ck_assert_double_eq_tol(exp(seen_left[i]), to_the_right[i] ? 0.1 : 0.9, 1e-15);
        ck_assert(isnan(other[i]));
    }
}
END_TEST

/* The beacon is at (5, 5): from (1, 2) it is 5 away, in the direction of atan2(3, 4). The bearing has a period. */
START_TEST(unicycle_sees_the_beacon)
{
    const double x[3] = {1, 2, 0.5};
    double range, bearing, sight[2];

    measure_at("unicycle", 0, x, &range);
    measure_at("unicycle", 1, x, &bearing);
    measure_at("unicycle", 2, x, sight);
    ck_assert_double_eq_tol(range, 5, 1e-14);
    ck_assert_double_eq_tol(bearing, asin(0.6) - 0.5, 1e-14);
    ck_assert_double_eq(sight[0], range);
    ck_assert_double_eq(sight[1], bearing);
    ck_assert_double_eq_tol(*model("unicycle")->measurements[1].period, 2 * acos(-1), 1e-14);
    ck_assert_double_eq(model("unicycle")->measurements[2].period[0], 0);
    ck_assert_double_eq_tol(model("unicycle")->measurements[2].period[1], 2 * acos(-1), 1e-14);
}
END_TEST

/* The exact path is an arc of a circle: chord and direction after half a turn. */
START_TEST(unicycle_drives_in_circles)
{
    const double p[6] = {2, 0.5, 0.05, 0.1, 5, 5}, pi = acos(-1);
    double x[3] = {1, 2, 0.25};

    integrate(functions_of(model("unicycle"), 3), 0, pi / 0.5, 2000, p, x);
    ck_assert_double_eq_tol(x[0], 1 - 2 * 4 * sin(0.25), 1e-10);
    ck_assert_double_eq_tol(x[1], 2 + 2 * 4 * cos(0.25), 1e-10);
    ck_assert_double_eq_tol(x[2], 0.25 + pi, 1e-12);
}
END_TEST

START_TEST(linear_measures_what_is_there)
{
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, origin[8] = {0}, none[1] = {0}, *column[8];

    for (int k = 0; k < 8; k++)
        column[k] = &x[k];
    for (int n = 1; n <= 8; n++)
        for (int which = 0; which < 8; which++) {
            double y, *out[] = {&y, NULL};

            functions_of(model("linear"), n)->measure_d(which, 1, 0, origin, column, none, out);
            ck_assert_int_eq(isnan(y), which >= n);
            if (which < n)
                ck_assert_double_eq(y, which + 1);
        }
}
END_TEST

START_TEST(sight_in_space)
{
    const double moon = 1 - 1.215058446919780e-2, x[6] = {moon - 3, 4, 12, 1, 2, 3};
    double y[4], later[4], ahead[6];

    measure_at("cr3bp", 0, x, y);
    ck_assert_double_eq_tol(y[0], 13, 1e-14);
    ck_assert_double_eq_tol(y[1], acos(-1) - atan2(4, 3), 1e-14);
    ck_assert_double_eq_tol(y[2], atan2(12, 5), 1e-14);
    for (int j = 0; j < 6; j++)
        ahead[j] = x[j] + (j < 3 ? 1e-6 * x[3 + j] : 0);
    measure_at("cr3bp", 0, ahead, later);
    ck_assert_double_eq_tol(y[3], (later[0] - y[0]) / 1e-6, 1e-6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("equations");
    TCase *tcase = tcase_create("equations");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, registry_open, registry_close);
    tcase_add_test(tcase, drifts);
    tcase_add_test(tcase, who_knows_the_time);
    tcase_add_test(tcase, jacobi_constant);
    tcase_add_test(tcase, energy_without_friction);
    tcase_add_test(tcase, planar_motion_in_space);
    tcase_add_test(tcase, two_bodies);
    tcase_add_test(tcase, linear_chain);
    tcase_add_test(tcase, linear_eigenvalues);
    tcase_add_test(tcase, measured_states);
    tcase_add_test(tcase, the_pendulum_is_seen_on_a_side);
    tcase_add_test(tcase, unicycle_sees_the_beacon);
    tcase_add_test(tcase, unicycle_drives_in_circles);
    tcase_add_test(tcase, linear_measures_what_is_there);
    tcase_add_test(tcase, sight_in_space);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
