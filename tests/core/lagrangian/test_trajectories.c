/* test_trajectories.c - points along a drift: the tolerance is kept on closed forms and invariants; any number of
 * threads; both directions; the integral of the divergence. Trajectories that end: test_trajectory_ends.c. */
#include "fixtures/cloud_fixture.h"

/* ---- models of one state, with closed forms ----------------------------------------------------------------------
 */

static double sway(double t, double x, const double *p)
{
    return p[0] * cos(t) * x;
}

/* Moves all points by p[0] at the time p[1], within p[2] of it. */
static double pulse(double t, double x, const double *p)
{
    const double off = (t - p[1]) / p[2];

    (void)x;
    return p[0] / (sqrt(2 * acos(-1)) * p[2]) * exp(-off * off / 2);
}

/* Hardly faster here than there. */
static double wave(double t, double x, const double *p)
{
    (void)t, (void)p;
    return 1 + cos(x) / 1000;
}

OWN(wave, 0);
OWN(sway, GBEES_TIME_DEPENDENT);
OWN(pulse, GBEES_TIME_DEPENDENT);

/* ---- accuracy ----------------------------------------------------------------------------------------------------
 */

/* x(t) of `linear`, dx/dt = A x, by the exponential series. */
static void linear_exactly(int n, double t, const double *start, double *x)
{
    long double term[STATES], sum[STATES];

    for (int j = 0; j < n; j++)
        sum[j] = term[j] = start[j];
    for (int k = 1; k < 100; k++) {
        long double next[STATES];

        for (int j = 0; j < n; j++)
            next[j] =
                (-0.1L * term[j] + 1.25L * (j < n - 1 ? term[j + 1] : 0) - 0.8L * (j ? term[j - 1] : 0)) * t / k;
        for (int j = 0; j < n; j++)
            sum[j] += term[j] = next[j];
    }
    for (int j = 0; j < n; j++)
        x[j] = (double)sum[j];
}

START_TEST(errors_are_those_that_are_allowed)
{
    static const double tolerance[] = {1e-6, 1e-9, 1e-12};
    double evaluations[3];

    for (int k = 0; k < 3; k++) {
        const char *const dimension[] = {"dimension=1", "dimension=4", "dimension=8"};
        gbees_problem *problem = problem_create(model("linear"), 0, dimension[_i]);
        cloud start, c;

        cloud_of(&start, problem, 333);
        cloud_copy(&c, &start);
        go(problem, 1, tolerance[k], &c, 0, 0.5, 3.5);
        for (size_t i = 0; i < c.count; i++) {
            double from[STATES], to[STATES];

            for (int j = 0; j < c.n; j++)
                from[j] = start.x[j][i];
            linear_exactly(c.n, 3, from, to);
            for (int j = 0; j < c.n; j++)
                ck_assert_double_eq_tol(c.x[j][i], to[j], 20 * tolerance[k] * c.scale[j] + 1e-14);
        }
        evaluations[k] = c.evaluations / (double)c.count;
        cloud_destroy(&c);
        cloud_destroy(&start);
        gbees_problem_destroy(problem);
    }
    /* Of eighth order: a thousandth of the error takes 2.4 times as many steps. */
    ck_assert_double_lt(evaluations[2], 4 * evaluations[1]);
    ck_assert_double_lt(evaluations[1], 4 * evaluations[0]);
    ck_assert_double_gt(evaluations[2], 1.5 * evaluations[0]);
}
END_TEST

static void constants_of(const gbees_problem *problem, const cloud *c, double *out)
{
    const double zero[STATES] = {0};

    gbees_problem_own_functions(problem)->bound_d(c->count, 0, zero, (const double *const *)c->x, problem->parameters,
                                                  out);
}

START_TEST(the_jacobi_constant_is_kept)
{
    enum { COUNT = 2000 };
    gbees_problem *problem = problem_create(model("cr3bp"), 2, NULL); /* at rest, so in the axes of the model */
    static double before[COUNT], after[COUNT];
    double worst = 0;
    cloud c;

    cloud_of(&c, problem, COUNT);
    constants_of(problem, &c, before);
    go(problem, 1, 1e-9, &c, 1, 0, 0.75);
    constants_of(problem, &c, after);
    for (int i = 0; i < COUNT; i++) {
        worst = fmax(worst, fabs(after[i] - before[i]));
        ck_assert_double_eq(c.stretch[i], 0);
    }
    ck_assert_double_lt(worst, 1e-11);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

/* A chaotic drift, one that depends on the time, and one whose divergence varies. */
static const struct {
    const char *name;
    double length, back; /* how far off points are after going there and back */
} journeys[] = {{"lorenz63", 1, 1e-3}, {"duffing", 3, 1e-7}, {"vanderpol", 1.5, 1e-5}};

START_TEST(they_come_back)
{
    gbees_problem *problem = problem_create(model(journeys[_i].name), 0, NULL);
    cloud start, c;

    cloud_of(&start, problem, 1000);
    cloud_copy(&c, &start);
    go(problem, 1, 1e-11, &c, 1, 2, 2 + journeys[_i].length);
    ck_assert_double_gt(apart(&start, &c), 0.1);
    go(problem, 1, 1e-11, &c, 1, 2 + journeys[_i].length, 2);
    ck_assert_double_lt(apart(&start, &c), journeys[_i].back);
    for (size_t i = 0; i < c.count; i++)
        ck_assert_double_eq_tol(c.stretch[i], 0, 1e-6);
    cloud_destroy(&start);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    static const int threads[] = {1, 2, 5};
    gbees_problem *problem = problem_create(model(journeys[_i].name), 0, NULL);
    cloud c[3];

    cloud_of(&c[0], problem, 10001);
    c[0].x[0][77] = NAN;
    for (int k = 1; k < 3; k++)
        cloud_copy(&c[k], &c[0]);
    for (int k = 0; k < 3; k++)
        go(problem, threads[k], 1e-9, &c[k], 1, 0, 1);
    for (int k = 1; k < 3; k++)
        assert_same(&c[0], &c[k]);
    for (int k = 0; k < 3; k++)
        cloud_destroy(&c[k]);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(a_drift_may_depend_on_the_time)
{
    gbees_problem problem = own_problem(&sway_model);
    cloud c;

    problem.parameters[0] = 1.5;
    cloud_create(&c, 1, 100);
    for (size_t i = 0; i < c.count; i++)
        c.x[0][i] = 1 + (double)i;
    go(&problem, 1, 1e-11, &c, 1, -1, 4);
    for (size_t i = 0; i < c.count; i++) {
        const double stretch = 1.5 * (sin(4) + sin(1));

        ck_assert_double_eq_tol(c.x[0][i], (1 + (double)i) * exp(stretch), 1e-9);
        ck_assert_double_eq_tol(c.stretch[i], stretch, 1e-7);
    }
    cloud_destroy(&c);
}
END_TEST

/* Nothing but the pulse would make steps short, and a single one goes all the way. */
START_TEST(a_short_pulse_is_met)
{
    static const double width[] = {0.03, 1e-3, 1e-4, 6e-5}, at[] = {0.3, 0.5, 0.70711, 0, 1};
    gbees_problem problem = own_problem(&pulse_model);

    for (int k = 0; k < 4 * 5; k++) {
        const int is_end = k / 4 > 2, back = k % 2;
        cloud c;

        problem.parameters[0] = 2;
        problem.parameters[1] = at[k / 4];
        problem.parameters[2] = width[k % 4];
        cloud_create(&c, 1, 100);
        for (size_t i = 0; i < c.count; i++)
            c.x[0][i] = (double)i;
        go(&problem, 1, 1e-9, &c, 1, back, !back);
        for (size_t i = 0; i < c.count; i++)
            ck_assert_double_eq_tol(c.x[0][i], (double)i + (back ? -1 : 1) * (is_end ? 1 : 2), 1e-6);
        cloud_destroy(&c);
    }
}
END_TEST

/* ---- the stretch -------------------------------------------------------------------------------------------------
 */

static double determinant_2d(const gbees_problem *problem, const double *x, double length)
{
    const double h = 1e-4;
    double place[4][2];
    cloud c;

    cloud_create(&c, 2, 4);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 2; j++)
            c.x[j][k] = x[j] + (k / 2 == j ? k % 2 ? h : -h : 0);
    go(problem, 1, 1e-13, &c, 0, 0, length);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 2; j++)
            place[k][j] = c.x[j][k];
    cloud_destroy(&c);
    return ((place[1][0] - place[0][0]) * (place[3][1] - place[2][1]) -
            (place[1][1] - place[0][1]) * (place[3][0] - place[2][0])) /
           (4 * h * h);
}

/* The divergence is not the rounding of a drift over so short a length. */
START_TEST(a_narrow_cloud_is_kept)
{
    static const double width[] = {1e-7, 1e-10};
    const gbees_problem problem = own_problem(&wave_model);
    cloud start, c;

    cloud_create(&start, 1, 100);
    start.scale[0] = width[_i];
    for (size_t i = 0; i < start.count; i++)
        start.x[0][i] = width[_i] * ((double)i / 25 - 2);
    cloud_copy(&c, &start);
    go(&problem, 1, 1e-6, &c, 1, 0, 1);
    for (size_t i = 0; i < c.count; i++) /* in one dimension dx(1)/dx(0) is the ratio of the drifts */
        ck_assert_double_eq_tol(c.stretch[i], log(wave(0, c.x[0][i], NULL) / wave(0, start.x[0][i], NULL)), 1e-7);
    ck_assert_double_lt(c.evaluations, 100 * (double)c.count);
    cloud_destroy(&c);
    cloud_destroy(&start);
}
END_TEST

START_TEST(the_stretch_is_that_of_the_map)
{
    gbees_problem *problem = problem_create(model("vanderpol"), 0, NULL);
    cloud start, c;

    cloud_of(&start, problem, 40);
    cloud_copy(&c, &start);
    go(problem, 1, 1e-9, &c, 1, 0, 1.5);
    for (size_t i = 0; i < c.count; i++) {
        const double x[] = {start.x[0][i], start.x[1][i]};

        ck_assert_double_eq_tol(c.stretch[i], log(determinant_2d(problem, x, 1.5)), 3e-6);
    }
    cloud_destroy(&start);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

/* It is added, and costs hardly anything. */
START_TEST(a_constant_divergence_is_not_integrated)
{
    static const struct {
        const char *name;
        int scenario;
        double rate;
    } cases[] = {{"lorenz63", 0, -6}, {"lorenz96", 0, -6}, {"duffing", 0, -0.35}, {"cr3bp", 2, 0}};
    gbees_problem *problem = problem_create(model(cases[_i].name), cases[_i].scenario, NULL);
    cloud with, without;

    cloud_of(&with, problem, 5000);
    cloud_copy(&without, &with);
    for (size_t i = 0; i < with.count; i++)
        with.stretch[i] = 7;
    go(problem, 1, 1e-9, &with, 1, 0.4, 0);
    go(problem, 1, 1e-9, &without, 0, 0.4, 0);
    ck_assert_double_eq(apart(&with, &without), 0);
    ck_assert_double_lt(with.evaluations, 1.02 * without.evaluations);
    for (size_t i = 0; i < with.count; i++)
        ck_assert_double_eq_tol(with.stretch[i], 7 - 0.4 * cases[_i].rate, 1e-8);
    cloud_destroy(&with);
    cloud_destroy(&without);
    gbees_problem_destroy(problem);
}
END_TEST

/* The points that are looked at first may all have left. */
START_TEST(one_point_among_others_that_have_left_is_stretched)
{
    gbees_problem *problem = problem_create(model("lorenz63"), 0, NULL);
    cloud c;

    cloud_of(&c, problem, 100);
    for (size_t i = 0; i < c.count; i++)
        c.x[0][i] = i == 1 ? c.x[0][i] : NAN;
    go(problem, 1, 1e-9, &c, 1, 0, 0.4);
    ck_assert_double_eq_tol(c.stretch[1], -6 * 0.4, 1e-6);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trajectories");
    TCase *tcase = tcase_create("trajectories");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, registry_open, registry_close);
    tcase_add_loop_test(tcase, errors_are_those_that_are_allowed, 0, 3);
    tcase_add_test(tcase, the_jacobi_constant_is_kept);
    tcase_add_loop_test(tcase, they_come_back, 0, sizeof journeys / sizeof *journeys);
    tcase_add_loop_test(tcase, threads_change_no_bit, 0, sizeof journeys / sizeof *journeys);
    tcase_add_test(tcase, a_drift_may_depend_on_the_time);
    tcase_add_test(tcase, a_short_pulse_is_met);
    tcase_add_loop_test(tcase, a_narrow_cloud_is_kept, 0, 2);
    tcase_add_test(tcase, the_stretch_is_that_of_the_map);
    tcase_add_loop_test(tcase, a_constant_divergence_is_not_integrated, 0, 4);
    tcase_add_test(tcase, one_point_among_others_that_have_left_is_stretched);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
