/* test_filtered.c - densities of filters as they are drawn: Gaussians, and samples on bins that are spread. */
#include "fixtures/suite.h"
#include "plot/filtered.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

static const double bin_width = 0.05, first_bin = -4;

/* One record of one state, by a filter with samples if is_sampled: mean 1, variance 4. */
static gbees_compared *make(int is_sampled)
{
    gbees_compared *c = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_compared_create(1, 1, 1, &is_sampled, &c, &error), 0);
    c->filter[0].mean[0] = 1;
    c->filter[0].covariance[0] = 4;
    c->filter[0].effective[0] = 10000;
    if (is_sampled) {
        c->filter[0].first[0] = first_bin;
        c->filter[0].width[0] = bin_width;
        for (int b = 0; b < GBEES_COMPARED_BINS; b++)
            c->filter[0].p[b] = 0;
    }
    return c;
}

static gbees_density *density_of(gbees_compared *c)
{
    gbees_density *density = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_filtered_create(c, 0, 0, 0, &density, &error), 0);
    gbees_compared_destroy(c);
    return density;
}

/* The integral of (x - about)^power times the density. */
static double moment(const gbees_density *density, double about, int power)
{
    double sum = 0;

    for (size_t i = 0; i < density->length[0]; i++)
        sum += density->value[i] * density->width[0] *
               pow(density->first[0] + density->width[0] * (double)i - about, power);
    return sum;
}

START_TEST(a_gaussian)
{
    gbees_density *density = density_of(make(0));

    ck_assert_double_eq_tol(moment(density, 0, 0), 1, 1e-4);
    ck_assert_double_eq_tol(moment(density, 0, 1), 1, 1e-3);
    ck_assert_double_eq_tol(moment(density, 1, 2), 4, 0.01);
    ck_assert_double_eq_tol(density->peak, 1 / sqrt(8 * acos(-1)), 1e-12);
    gbees_density_destroy(density);
}
END_TEST

/* Two parts 5 apart, of standard deviation 0.2 and of probability 0.7 and 0.3: mass and mean are kept, and the
 * height of each part is right to a tenth, though the density's standard deviation is ten times that of a part. */
START_TEST(two_narrow_parts)
{
    gbees_compared *c = make(1);
    double total = 0;

    for (int b = 0; b < GBEES_COMPARED_BINS; b++) {
        const double x = first_bin + bin_width * b;

        c->filter[0].p[b] = (float)(0.7 * exp(-12.5 * (x + 1) * (x + 1)) + 0.3 * exp(-12.5 * (x - 4) * (x - 4)));
        total += (double)c->filter[0].p[b];
    }
    for (int b = 0; b < GBEES_COMPARED_BINS; b++)
        c->filter[0].p[b] /= (float)total;
    gbees_density *density = density_of(c);
    const size_t low = (size_t)((4 - density->first[0]) / density->width[0] + 0.5);
    const double of_part = 1 / (0.2 * sqrt(2 * acos(-1)));

    ck_assert_double_eq_tol(moment(density, 0, 0), 1, 1e-4);
    ck_assert_double_eq_tol(moment(density, 0, 1), 0.7 * -1 + 0.3 * 4, 2e-3);
    ck_assert_double_eq_tol(density->peak / (0.7 * of_part), 1, 0.1);
    ck_assert_double_eq_tol(density->value[low] / (0.3 * of_part), 1, 0.1);
    gbees_density_destroy(density);
}
END_TEST

/* What is not known is no line: a record that was not reached, a variance that is none. */
START_TEST(what_is_not_known)
{
    static const double mean[] = {NAN, 1, 1}, variance[] = {4, -1, NAN};
    gbees_compared *c = make(_i == 1);

    c->filter[0].mean[0] = mean[_i];
    c->filter[0].covariance[0] = variance[_i];
    ck_assert_ptr_null(density_of(c));
}
END_TEST

/* All samples in one bin: a line, and not more than all. */
START_TEST(one_bin)
{
    gbees_compared *c = make(1);

    c->filter[0].p[0] = 1;
    c->filter[0].effective[0] = 1;
    gbees_density *density = density_of(c);
    ck_assert_ptr_nonnull(density);
    ck_assert_double_eq_tol(moment(density, 0, 0), 1, 1e-4);
    ck_assert(isfinite(density->peak));
    gbees_density_destroy(density);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filtered");
    TCase *tests = tcase_create("filtered");

    tcase_add_test(tests, a_gaussian);
    tcase_add_test(tests, two_narrow_parts);
    tcase_add_loop_test(tests, what_is_not_known, 0, 3);
    tcase_add_test(tests, one_bin);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
