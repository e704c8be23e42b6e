/* test_resolve.c - which grid an update needs, for linear measurements, where the Kalman filter is exact. */
#include "fixtures/suite.h"
#include "solver/grid/resolve.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Function 0: the sum of the first two states; 1: the first one and the last one; 2: ten times the first one. */
static void measure(int which, size_t count, double t, const double *origin, const double *const *offset,
                    const double *p, double *const *out)
{
    (void)t, (void)p;
    for (size_t i = 0; i < count; i++) {
        const double x = origin[0] + offset[0][i], y = origin[1] + offset[1][i], z = origin[2] + offset[2][i];

        out[0][i] = which == 0 ? x + y : which == 1 ? x : 10 * x;
        if (which == 1)
            out[1][i] = z;
    }
}

static const gbees_functions functions = {.measure_d = measure};
static const gbees_problem problem = {.functions = &functions, .dimension = 3, .width = {0.5, 0.25, 1}};
static gbees_statistics prior;
static int finer[GBEES_MAX_DIM];

/* The second state is correlated with the first one. */
static void set_up(void)
{
    prior = (gbees_statistics){.cells = 1000, .mean = {3, -2, 1}, .covariance = {1, 0.45, 0, 0.45, 0.25, 0, 0, 0, 4}};
}

static int resolve(const gbees_measurement *m, double most)
{
    memset(finer, 99, sizeof finer);
    return gbees_resolve(&problem, &prior, m, 0, most, finer);
}

static void check(int x, int y, int z)
{
    ck_assert_int_eq(finer[0], x);
    ck_assert_int_eq(finer[1], y);
    ck_assert_int_eq(finer[2], z);
}

/* The prior's deviations are 2 cells along each axis. An exact measurement of the first state leaves 0 of it, and
 * sqrt(1 - .81) of the second one; the third one knows nothing of it. */
START_TEST(deviations_after_an_update)
{
    gbees_measurement m = {.function = 1, .size = 2, .covariance = {1e-12, 0, 0, 1e12}};

    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(3, 2, 0);         /* of 0.87 cells 3.5 */
    m.covariance[0] = 0.04; /* a deviation of 0.2, of 0.4 cells: 3.1 */
    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(3, 2, 0);
    m.covariance[0] = 0.34; /* 1.01 cells, and 1.26 */
    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(1, 1, 0);
    m.covariance[0] = 2; /* 1.63, and 1.71: enough */
    ck_assert_int_eq(resolve(&m, 1e9), 0);
    check(0, 0, 0);
    m.covariance[0] = 1e-12;
    m.missing = 1;
    ck_assert_int_eq(resolve(&m, 1e9), 0);
    m.missing = 2;
    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(3, 2, 0);
}
END_TEST

/* A linear function has the same information in all frames: a^T H^T R^-1 H a. */
START_TEST(information_in_a_frame)
{
    const gbees_problem moving = {.functions = &functions, .dimension = 3};
    const gbees_moving_frame frame = {.n = 3, .m = {1, 2, 3}, .a = {1, 2, 0, 0, 3, 0, 1, 0, 0.5}};
    const double mean[3] = {4, -1, 2};
    gbees_measurement m = {.function = 1, .size = 2, .covariance = {2, 1, 1, 1}};
    double information[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    /* H a = [[1, 2, 0], [1, 0, .5]], R^-1 = [[1, -1], [-1, 2]] */
    const double expected[9] = {1 + 1, 0, 0.5, 0, 1 + 4, -1, 0.5, -1, 1 + 0.5};

    gbees_resolve_information(&moving, &frame, mean, &m, 0, information);
    for (int k = 0; k < 9; k++)
        ck_assert_double_eq_tol(information[k], expected[k], 1e-12);
    m.missing = 3; /* nothing is told */
    gbees_resolve_information(&moving, &frame, mean, &m, 0, information);
    m.likelihood = GBEES_LIKELIHOOD_MODEL;
    gbees_resolve_information(&moving, &frame, mean, &m, 0, information);
    for (int k = 0; k < 9; k++)
        ck_assert_double_eq_tol(information[k], expected[k], 1e-12);
}
END_TEST

/* In units of its own, and of a combination of states. */
START_TEST(the_measurement_is_mapped_to_the_states)
{
    gbees_measurement m = {.function = 2, .size = 1, .covariance = {34}};

    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(1, 1, 0);
    m.period[0] = 4; /* the difference over a cell is 5, that is 1 */
    m.covariance[0] = 1.36;
    ck_assert_int_eq(resolve(&m, 1e9), 1);
    check(1, 1, 0);
    /* x + y has the variance 2.15 and the covariances 1.45 and .7 with them: .022 and .022 are left. */
    const gbees_measurement sum = {.function = 0, .size = 1, .covariance = {1e-12}};
    ck_assert_int_eq(resolve(&sum, 1e9), 1);
    check(3, 2, 0);
}
END_TEST

/* The largest power is lowered first. */
START_TEST(memory_is_limited)
{
    const gbees_measurement m = {.function = 1, .size = 2, .covariance = {1e-12, 0, 0, 1e-12}};

    ck_assert_int_eq(resolve(&m, 1000 * 256), 1);
    check(3, 2, 3);
    ck_assert_int_eq(resolve(&m, 1000 * 255), 1);
    check(2, 2, 3);
    ck_assert_int_eq(resolve(&m, 1000 * 8), 1);
    check(1, 1, 1);
    ck_assert_int_eq(resolve(&m, 1000), 0);
    check(0, 0, 0);
    ck_assert_double_gt(gbees_resolve_cells_most(&problem, 0), 1e4);
    ck_assert_double_lt(gbees_resolve_cells_most(&problem, 1e5), 1e3);
}
END_TEST

/* Cells that are narrower than the problem's become wider again where four of them would still be a deviation, of a
 * Gaussian without correlations; not beyond the problem's; and not if the density is thinner than its deviations say.
 */
START_TEST(what_is_resolved_well_becomes_coarser)
{
    const gbees_measurement m = {.function = 1, .size = 2, .covariance = {1e12, 0, 0, 1e12}};
    const int level[] = {3, 3, 1};
    int coarser[GBEES_MAX_DIM];

    /* Deviations of 16.1, 8.02 and 32 cells. */
    prior.covariance[0] = 65;
    prior.covariance[1] = prior.covariance[3] = 0;
    prior.covariance[4] = 2.005 * 2.005;
    prior.covariance[8] = 1024;
    prior.entropy = 0.5 * log(65 * 2.005 * 2.005 * 1024) + 1.5 * (1 + log(6.283185307179586));
    ck_assert_int_eq(gbees_resolve_coarser(&problem, &prior, &m, 0, level, coarser), 1);
    ck_assert(coarser[0] == 2 && coarser[1] == 1 && coarser[2] == 1);
    prior.entropy -= log(1.1); /* 14.7, 7.3 and 29 cells */
    ck_assert_int_eq(gbees_resolve_coarser(&problem, &prior, &m, 0, level, coarser), 1);
    ck_assert(coarser[0] == 1 && coarser[1] == 0 && coarser[2] == 1);
    prior.entropy -= log(8);
    ck_assert_int_eq(gbees_resolve_coarser(&problem, &prior, &m, 0, level, coarser), 0);
    ck_assert(coarser[0] == 0 && coarser[1] == 0 && coarser[2] == 0);
    const gbees_measurement own = {.function = 1, .size = 2, .likelihood = GBEES_LIKELIHOOD_MODEL};
    prior.entropy += log(100);
    ck_assert_int_eq(gbees_resolve_coarser(&problem, &prior, &own, 0, level, coarser), 0);
}
END_TEST

START_TEST(what_cannot_be_predicted)
{
    gbees_measurement m = {.function = 1, .size = 2, .likelihood = GBEES_LIKELIHOOD_MODEL};

    ck_assert_int_eq(resolve(&m, 1e9), 0);
    check(0, 0, 0);
    m = (gbees_measurement){.function = 2, .size = 1, .covariance = {1e-12}};
    prior.mean[0] = NAN; /* as where a model's function is not defined */
    ck_assert_int_eq(resolve(&m, 1e9), 0);
    check(0, 0, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolve");
    TCase *tests = tcase_create("resolve");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, deviations_after_an_update);
    tcase_add_test(tests, information_in_a_frame);
    tcase_add_test(tests, the_measurement_is_mapped_to_the_states);
    tcase_add_test(tests, memory_is_limited);
    tcase_add_test(tests, what_is_resolved_well_becomes_coarser);
    tcase_add_test(tests, what_cannot_be_predicted);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
