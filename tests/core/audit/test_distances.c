/* test_distances.c - core/audit: distances of marginals and of joint densities, with exact answers. */
#include "audit/bins.h"
#include "audit/marginal.h"
#include "base/workers.h"
#include "fixtures/suite.h"
#include "record/cells.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- marginals ---- */

enum { CELLS = 10, PLACES = 1000 };

/* A uniform marginal on ten cells, and samples of the same one, `shift` cells above it. */
static void uniform_distance(double shift, double *wasserstein, double *kolmogorov)
{
    double p[CELLS], place[PLACES], weight[PLACES];

    for (int i = 0; i < CELLS; i++)
        p[i] = 0.02; /* the sum need not be 1 */
    for (int i = 0; i < PLACES; i++) {
        place[i] = 3 - 0.5 + (i + 0.5) * CELLS / PLACES + shift;
        weight[i] = 7;
    }
    gbees_marginal marginal = {.first = 3, .length = CELLS, .p = p};
    ck_assert_int_eq(gbees_marginal_open(&marginal, place[0], place[PLACES - 1]), GBEES_OK);
    for (size_t part = 0; part < GBEES_WORKERS_PARTS; part++) {
        const size_t first = gbees_workers_first(PLACES, part), last = gbees_workers_first(PLACES, part + 1);

        gbees_marginal_add(&marginal, part, last - first, place + first, weight + first);
    }
    gbees_marginal_distance(&marginal, wasserstein, kolmogorov);
    gbees_marginal_close(&marginal);
}

START_TEST(a_shift_is_the_distance)
{
    static const double shifts[] = {0, 0.25, 1, -1, 2.5, -4, 30, -30};
    double wasserstein, kolmogorov;

    for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
        uniform_distance(shifts[k], &wasserstein, &kolmogorov);
        ck_assert_double_eq_tol(wasserstein, fabs(shifts[k]), 0.01 + 0.005 * fabs(shifts[k]));
        ck_assert_double_eq_tol(kolmogorov, fmin(1, fabs(shifts[k]) / CELLS), 0.011);
    }
}
END_TEST

/* The total variation of a uniform marginal on ten cells to `count` samples, uniform on others `shift` cells above
 * it. */
static double variation(double shift, size_t count)
{
    double p[CELLS];
    uint64_t state = 1;

    for (int i = 0; i < CELLS; i++)
        p[i] = 0.02;
    gbees_marginal marginal = {.first = 3, .length = CELLS, .p = p};
    ck_assert_int_eq(gbees_marginal_open(&marginal, 3 + fmin(0, shift) - 0.5, 3 + CELLS + fmax(0, shift)), GBEES_OK);
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double place = 3 - 0.5 + shift + (double)(state >> 11) / 9007199254740992.0 * CELLS, weight = 7;

        gbees_marginal_add(&marginal, i % GBEES_WORKERS_PARTS, 1, &place, &weight);
    }
    const double found = gbees_marginal_variation(&marginal);
    gbees_marginal_close(&marginal);
    return found;
}

/* It is a lower bound: few samples make it smaller, not larger, as 1/2 sum |p - q| would be. */
START_TEST(the_total_variation_of_a_shift)
{
    ck_assert_double_eq_tol(variation(5, 100000), 0.5, 0.01);
    ck_assert_double_eq_tol(variation(-2, 100000), 0.2, 0.01);
    ck_assert_double_eq_tol(variation(50, 1000), 1, 1e-12);
    ck_assert_double_eq_tol(variation(0, 100000), 0, 0.005);
    ck_assert_double_le(variation(0, 64), 0.1);
    ck_assert_double_eq(variation(0, 1), 0); /* one half has none */
}
END_TEST

START_TEST(a_sample_may_be_anywhere)
{
    double p[] = {1}, place[] = {-1e300, 0, 1e300}, weight[] = {1, 2, 1}, wasserstein, kolmogorov;
    gbees_marginal marginal = {.length = 1, .p = p};

    ck_assert_int_eq(gbees_marginal_open(&marginal, place[0], place[2]), GBEES_OK);
    gbees_marginal_add(&marginal, 5, 3, place, weight);
    gbees_marginal_distance(&marginal, &wasserstein, &kolmogorov);
    gbees_marginal_close(&marginal);
    ck_assert(isfinite(wasserstein));
    ck_assert_double_eq_tol(kolmogorov, 0.25, 1e-12);
}
END_TEST

/* ---- joint densities ---- */

/* 20 x 20 cells of equal probability, and samples of the same density, `offset` cells further along both axes; as
 * many of them in a row as `copies` are in one place. */
static void bin_difference(int offset, size_t samples, size_t copies, double *difference, double *error)
{
    const int size[] = {1, 1};
    gbees_bins *bins = gbees_bins_create(2, size);
    gbees_cells *cells = gbees_cells_create(2);
    uint64_t state = 5;
    double place[2];
    gbees_error failure;

    for (int32_t i = 0; i < 20; i++)
        for (int32_t k = 0; k < 20; k++)
            ck_assert_int_eq(gbees_cells_add(cells, 1, (const int32_t *const[]){&i, &k}, &(double){1.0 / 400}), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &failure), GBEES_OK);
    for (size_t part = 0; part < GBEES_WORKERS_PARTS; part++)
        ck_assert_int_eq(gbees_bins_add_cells(bins, part, cells), GBEES_OK);
    for (size_t i = 0; i < samples; i++) {
        for (int j = 0; j < 2 && i % copies == 0; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            place[j] = (double)(state >> 11) * 0x1p-53 * 20 - 0.5 + offset;
        }
        ck_assert_int_eq(gbees_bins_add_samples(bins, i * GBEES_WORKERS_PARTS / samples, 1,
                                                (const double *const[]){&place[0], &place[1]}, &(double){3}),
                         GBEES_OK);
    }
    for (size_t share = 0; share < GBEES_WORKERS_PARTS; share++)
        ck_assert_int_eq(gbees_bins_merge(bins, share), GBEES_OK);
    gbees_bins_difference(bins, copies > 1, difference, error);
    gbees_cells_destroy(cells);
    gbees_bins_destroy(bins);
}

START_TEST(equal_densities_differ_by_nothing)
{
    double difference, error;

    for (size_t samples = 800; samples <= 80000; samples *= 10) {
        bin_difference(0, samples, 1, &difference, &error);
        ck_assert_double_gt(error, 0);
        ck_assert_double_lt(fabs(difference), 4 * error);
        /* A group of N / 8 samples in 400 bins knows sum q^2 to sqrt(800) / (N / 8), and C to half of that. */
        ck_assert(error * (double)samples > 20 && error * (double)samples < 80);
    }
}
END_TEST

/* Of 20 cells 10 are in common along each axis: C = 1/4. */
START_TEST(densities_that_overlap_differ_by_the_rest)
{
    double difference, error;

    bin_difference(10, 80000, 1, &difference, &error);
    ck_assert_double_eq_tol(difference, 0.75, 4 * error + 1e-3);
    bin_difference(1000, 8000, 1, &difference, &error);
    ck_assert_double_eq(difference, 1);
}
END_TEST

/* Copies of samples, as resampling makes them, add nothing to the overlap. */
START_TEST(copies_differ_by_nothing)
{
    double difference, error;

    bin_difference(0, 80000, 20, &difference, &error);
    ck_assert_double_gt(error, 0);
    ck_assert_double_lt(error, 0.05);
    ck_assert_double_lt(fabs(difference), 4 * error);
}
END_TEST

/* Equal densities differ by less than nothing in half of the cases: a bound below 0, or below what samples can tell
 * of a perfect result, would be wrong. */
START_TEST(no_bound_is_below_that_of_nothing)
{
    int negative = 0;

    for (size_t samples = 800; samples < 1600; samples += 50) {
        double difference, error;

        bin_difference(0, samples, 1, &difference, &error);
        const gbees_difference found = gbees_bins_bound(difference, error);
        negative += difference < 0;
        ck_assert_double_eq(found.value, difference);
        ck_assert_double_eq_tol(found.bound, 2 * error + (difference > 0 ? difference : 0), 1e-15);
    }
    ck_assert_int_ge(negative, 4);
    ck_assert(isnan(gbees_bins_bound((double)NAN, (double)NAN).bound));
}
END_TEST

START_TEST(too_few_samples_tell_nothing)
{
    double difference, error;

    bin_difference(0, 16, 1, &difference, &error);
    ck_assert(isnan(difference) && isnan(error));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("distances");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_shift_is_the_distance);
    tcase_add_test(tests, the_total_variation_of_a_shift);
    tcase_add_test(tests, a_sample_may_be_anywhere);
    tcase_add_test(tests, equal_densities_differ_by_nothing);
    tcase_add_test(tests, densities_that_overlap_differ_by_the_rest);
    tcase_add_test(tests, copies_differ_by_nothing);
    tcase_add_test(tests, no_bound_is_below_that_of_nothing);
    tcase_add_test(tests, too_few_samples_tell_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
