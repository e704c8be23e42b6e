/* test_kalman.c - the model `linear` against the Kalman filter: after a stretch of motion and after an update mean,
 * covariance and evidence are the filter's, but for errors of second order in the cells' width; with cell averages an
 * update adds to these no more than one of fourth order. */
#include "fixtures/kalman.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>

static const struct {
    int n;
    double factor, finer;
    const char *settings;
    int points;
} cases[] = {
    {1, 2, 4, "precision: double\nextent: 6\nthreshold: 1.0e-14\n", 0},
    {2, 1, 2, "precision: double\nextent: 6\nthreshold: 1.0e-14\n", 0},
    {2, 1, 2, "precision: double\nextent: 6\nthreshold: 1.0e-14\ncell_values: points\n", 1},
    {3, 1, 2, "precision: double\nextent: 5\nthreshold: 1.0e-12\n", 0},
    {4, 1, 1.5, "precision: double\nextent: 4.5\nthreshold: 1.0e-10\n", 0},
};

static const double cut_off = 1e-5; /* by the boxes */

static kalman_result run(int k, double factor)
{
    kalman_result result = {.steps = 0};
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(kalman_run(cases[k].n, factor, cases[k].settings, 1, &result, &error) == GBEES_OK, "%s",
                  error.text);
    return result;
}

/* Below a fifth of (h / sigma)^2, and with finer cells as much less as that is, or nearly, where it is more than what
 * the box cuts off. */
static void check(const char *what, double coarse, double fine, double width, double finer)
{
    const double order = width * width / (finer * finer);

    ck_assert_msg(coarse < 0.2 * width * width, "%s: %g with cells of %g deviations", what, coarse, width);
    ck_assert_msg(fine < fmax(1.3 * coarse / order, cut_off), "%s: %g with cells of %g deviations, %g with %g", what,
                  coarse, width, fine, finer);
}

/* Of cell averages: what an update makes of what motion has left. */
static void check_update(const kalman_result *r, double width)
{
    const double most = fmax(r->updated.mean, fmax(r->updated.covariance, r->evidence));
    const double before = fmax(r->predicted.mean, r->predicted.covariance);

    ck_assert_msg(most < 1.1 * before + 0.05 * pow(width, 4) + cut_off,
                  "mean %g, covariance %g, evidence %g with cells of %g deviations; before %g", r->updated.mean,
                  r->updated.covariance, r->evidence, width, before);
}

START_TEST(the_filter_is_met_at_second_order)
{
    const double width = 1 / (2 * cases[_i].factor), finer = 1 / (2 * cases[_i].finer);
    kalman_result coarse = run(_i, cases[_i].factor), fine = run(_i, cases[_i].finer);

    check("covariance", coarse.predicted.covariance, fine.predicted.covariance, width, finer);
    if (cases[_i].points) {
        check("mean, updated", coarse.updated.mean, fine.updated.mean, width, finer);
        check("covariance, updated", coarse.updated.covariance, fine.updated.covariance, width, finer);
        check("evidence", coarse.evidence, fine.evidence, width, finer);
    } else {
        check_update(&coarse, width);
        check_update(&fine, finer);
    }
    /* The means move with the cells; what is left of them is the steps'. */
    ck_assert_double_lt(coarse.predicted.mean, 0.02 * width);
    ck_assert_double_lt(fine.predicted.mean, 0.02 * finer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kalman");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, the_filter_is_met_at_second_order, 0, (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
