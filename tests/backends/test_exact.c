/* test_exact.c - the split scheme beside exact answers: drifts that depend on time, shear and stretching of what
 * varies inside a cell, and the published problem. */
#include "fixtures/engine_fixture.h"
#include "fixtures/run_fixture.h"
#include "fixtures/suite.h"

/* The mean's error at t = 0.8 for the velocity 1.3 cos(t), the same everywhere. */
static double drift_of_the_mean(rig *r, int axis, double step)
{
    r->problem.numerics.time_step = step;
    rig_start(r, 1);
    rig_until(r, 0.8);
    return fabs(rig_statistics(r).mean[axis] - r->problem.mean[axis] - 1.3 * sin(0.8));
}

START_TEST(drifts_of_time_are_of_second_order)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, 14);
    rig_straighten(&r);
    r.problem.parameters[BEAT] = 1.3;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            r.problem.covariance[j * n + k] = j == k ? 0.16 : 0; /* two cells; the box is cut at seven sigma */
    for (int axis = 0; axis < n; axis++) {
        double coarse = drift_of_the_mean(&r, axis, 0.1), fine = drift_of_the_mean(&r, axis, 0.05);

        ck_assert_msg(coarse < 1e-3 && log2(coarse / fine) > 1.9, "order %.3f (errors %.3g, %.3g)",
                      log2(coarse / fine), coarse, fine);
    }
    rig_close(&r);
}
END_TEST

/* The relative error of the variance of x1 at t = 1 under dx1/dt = x_n, without correlations at the start: it grows
 * from s_1^2 to s_1^2 + s_n^2. */
static double shear_error(rig *r, gbees_cell_values values)
{
    const int n = r->problem.dimension;
    double *c = r->problem.covariance, exact;

    r->problem.numerics.cell_values = values;
    rig_start(r, 1);
    double start = rig_statistics(r).covariance[0];
    ck_assert_double_eq_tol(start / c[0], 1, 1e-6); /* either way */
    rig_until(r, 1);
    exact = c[0] + c[n * n - 1];
    return rig_statistics(r).covariance[0] / exact - 1;
}

/* Averages: what varies inside a cell, h^2/12, is sheared with the rest. Points: nothing but the scheme's own error.
 */
START_TEST(points_shear_without_the_variance_inside_a_cell)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, 12);
    rig_straighten(&r);
    r.problem.parameters[SHEAR] = 1;
    for (int j = 0; j < n; j++) {
        r.problem.width[j] = 0.5 + 0.1 * j;
        for (int k = 0; k < n; k++)
            r.problem.covariance[j * n + k] = j == k ? 4 * r.problem.width[j] * r.problem.width[j] : 0;
    }
    double h = r.problem.width[n - 1], first = r.problem.width[0];
    double inside = h * h / 12 / (4 * (h * h + first * first));
    double averages = shear_error(&r, GBEES_CELL_AVERAGES), points = shear_error(&r, GBEES_CELL_POINTS);
    ck_assert_msg(fabs(averages / inside - 1) < 0.1 && fabs(points) < 0.05 * inside,
                  "averages %.4g, points %.4g, expected %.4g and 0", averages, points, inside);
    rig_close(&r);
}
END_TEST

/* The other way round: a density that is stretched along an axis stretches what varies inside a cell, too.  Averages
 * know of it, points don't. */
START_TEST(averages_stretch_with_the_variance_inside_a_cell)
{
    rig r;

    rig_open_split(&r, "cpu", 1, 12);
    rig_straighten(&r);
    r.problem.parameters[RATE] = 0.5;
    r.problem.mean[0] = 0;
    r.problem.covariance[0] = 4 * r.problem.width[0] * r.problem.width[0];
    for (int points = 0; points < 2; points++) {
        r.problem.numerics.cell_values = points ? GBEES_CELL_POINTS : GBEES_CELL_AVERAGES;
        rig_start(&r, 1);
        rig_until(&r, 1);
        double off = rig_statistics(&r).covariance[0] / (r.problem.covariance[0] * exp(1)) - 1;
        ck_assert_double_eq_tol(off, points ? -(exp(1) - 1) / (48 * exp(1)) : 0, 1e-3);
    }
    rig_close(&r);
}
END_TEST

/* Monte Carlo, 8e6 samples: 4.868; the paper's scheme has 2.8. */
START_TEST(lorenz_63_is_near_the_truth)
{
    const char *const settings[] = {"scheme=split5", NULL};
    double mean = run_model("lorenz63", settings).statistics.mean[0]; /* at t = 1, just before the measurement */

    ck_assert_msg(fabs(mean - 4.868) < 4.868 - 3.4, "the mean of x is %.4f", mean);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact answers");
    TCase *accuracy = tcase_create("accuracy");

    tcase_set_timeout(accuracy, 60);
    tcase_add_loop_test(accuracy, drifts_of_time_are_of_second_order, 0, places_to(2));
    tcase_add_loop_test(accuracy, points_shear_without_the_variance_inside_a_cell, places_to(1), places_to(3));
    tcase_add_test(accuracy, averages_stretch_with_the_variance_inside_a_cell);
    tcase_add_test(accuracy, lorenz_63_is_near_the_truth);
    suite_add_tcase(suite, accuracy);
    return run_suite(suite);
}
