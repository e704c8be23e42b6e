/* test_trajectory_ends.c - points whose trajectories end in finite time or take too long, and drifts that jump. */
#include "fixtures/cloud_fixture.h"

static double square(double t, double x, const double *p)
{
    (void)t, (void)p;
    return x * x;
}

/* Leads all points to 0 and keeps them there. */
static double slide(double t, double x, const double *p)
{
    (void)t, (void)p;
    return x > 0 ? -1 : 1;
}

/* Faster beyond 0, by p[0] in place of p[1]. */
static double jump(double t, double x, const double *p)
{
    (void)t;
    return x > 0 ? p[0] : p[1];
}

OWN(square, 0);
OWN(slide, 0);
OWN(jump, 0);

/* x = x0 / (1 - x0 t) ends at 1 / x0, for half of the points before the time is over; evaluations are counted, as a
 * machine may be busy: some 100 million take less than a second. */
START_TEST(points_that_blow_up_are_marked)
{
    gbees_problem problem = own_problem(&square_model);
    cloud c;

    cloud_create(&c, 1, 100000);
    for (size_t i = 0; i < c.count; i++)
        c.x[0][i] = 2 * (double)i / (double)c.count + 1e-6;
    go(&problem, 2, 1e-9, &c, _i, 0, 1);
    for (size_t i = 0; i < c.count; i++) {
        const double start = 2 * (double)i / (double)c.count + 1e-6;

        if (start > 1)
            ck_assert_double_nan(c.x[0][i]);
        else if (start < 0.99) {
            ck_assert_double_eq_tol(c.x[0][i], start / (1 - start), 1e-4);
            ck_assert_double_eq_tol(c.stretch[i], _i ? -2 * log(1 - start) : 0, 1e-6);
        }
    }
    ck_assert_double_lt(c.evaluations, 7000 * (double)c.count);
    cloud_destroy(&c);
}
END_TEST

START_TEST(points_that_are_not_finite_are_skipped)
{
    gbees_problem *problem = problem_create(model("lorenz63"), 0, NULL);
    cloud c;

    cloud_of(&c, problem, 99);
    for (size_t i = 0; i < c.count; i++)
        c.x[i % 3][i] = i % 2 ? NAN : -INFINITY;
    go(problem, 1, 1e-9, &c, 1, 0, 1);
    for (size_t i = 0; i < c.count; i++) {
        ck_assert(i % 2 ? isnan(c.x[i % 3][i]) : c.x[i % 3][i] < 0 && isinf(c.x[i % 3][i]));
        ck_assert(isfinite(c.x[(i + 1) % 3][i]));
    }
    ck_assert_double_lt(c.evaluations, 1);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

/* From -1 at p[1] to 0, on at p[0]. */
START_TEST(points_cross_a_jump)
{
    static const double speed[][2] = {{2, 1}, {0.5, 1}, {2e7, 1e7}};
    gbees_problem problem = own_problem(&jump_model);
    const double before = speed[_i][1], behind = speed[_i][0], end = 2 / before;
    cloud c;

    problem.parameters[0] = behind;
    problem.parameters[1] = before;
    cloud_create(&c, 1, 1000);
    for (size_t i = 0; i < c.count; i++)
        c.x[0][i] = -1.5 + (double)i / 1000;
    go(&problem, 1, 1e-9, &c, 0, 0, end);
    for (size_t i = 0; i < c.count; i++) {
        const double start = -1.5 + (double)i / 1000;

        ck_assert_double_eq_tol(c.x[0][i], behind * (end + start / before), 1e-7);
    }
    ck_assert_double_lt(c.evaluations, 1000 * (double)c.count);
    cloud_destroy(&c);
}
END_TEST

/* Points are kept at 0 by steps that would be ever so short. */
START_TEST(points_slide_along_a_jump)
{
    gbees_problem problem = own_problem(&slide_model);
    cloud c;

    cloud_create(&c, 1, 3000);
    for (size_t i = 0; i < c.count; i++)
        c.x[0][i] = (double)i / 3000 - 0.5;
    go(&problem, 2, 1e-9, &c, 0, 0, 1);
    for (size_t i = 0; i < c.count; i++)
        ck_assert_double_eq_tol(c.x[0][i], 0, 0.01);
    ck_assert_double_lt(c.evaluations, 25000 * (double)c.count);
    cloud_destroy(&c);
}
END_TEST

/* Backwards the points of Lorenz '63 turn ever faster, without an end in finite time: those that would take millions
 * of steps are given up. */
START_TEST(points_that_take_too_long_are_given_up)
{
    gbees_problem *problem = problem_create(model("lorenz63"), 0, NULL);
    size_t lost = 0;
    cloud c;

    cloud_of(&c, problem, 64);
    go(problem, 1, 1e-9, &c, 0, 0, -3);
    for (size_t i = 0; i < c.count; i++)
        lost += isnan(c.x[0][i]) != 0;
    ck_assert_uint_gt(lost, 32);
    ck_assert_double_lt(c.evaluations, 200000 * (double)c.count);
    cloud_destroy(&c);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(nothing_to_do_is_done)
{
    gbees_problem problem = own_problem(&square_model);
    gbees_trajectories *t = NULL;
    gbees_error error;
    double place = 1, *x = &place, scale = 0;

    ck_assert_int_eq(gbees_trajectories_create(&problem, NULL, 1, &t, &error), 0);
    ck_assert_int_eq(
        gbees_trajectories_run(t, 0, &x, NULL, &(gbees_travel){0, 1, &scale, 1e-9, 0, NULL, NULL}, &error), 0);
    ck_assert_int_eq(
        gbees_trajectories_run(t, 1, &x, NULL, &(gbees_travel){1, 1, &scale, 1e-9, 0, NULL, NULL}, &error), 0);
    ck_assert_int_ne(
        gbees_trajectories_run(t, 1, &x, NULL, &(gbees_travel){0, 1, &scale, 1e-9, 0, NULL, NULL}, &error), 0);
    ck_assert_double_eq(place, 1);
    ck_assert_double_eq(gbees_trajectories_evaluations(t), 0);
    gbees_trajectories_destroy(t);
    gbees_trajectories_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trajectory ends");
    TCase *tcase = tcase_create("trajectory ends");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, registry_open, registry_close);
    tcase_add_loop_test(tcase, points_that_blow_up_are_marked, 0, 2); /* 1: with the stretch */
    tcase_add_test(tcase, points_that_are_not_finite_are_skipped);
    tcase_add_loop_test(tcase, points_cross_a_jump, 0, 3);
    tcase_add_test(tcase, points_slide_along_a_jump);
    tcase_add_test(tcase, points_that_take_too_long_are_given_up);
    tcase_add_test(tcase, nothing_to_do_is_done);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
