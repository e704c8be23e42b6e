/* test_moments.c - moments, entropy and peak of a density against plain loops over its cells, on each backend; the
 * logarithm that the CPU's kernels use. */
#include "cpu/kernel/logarithm.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the logarithm ---- */

static double log_of(double x)
{
    double_vector v = vector_log(x - (double_vector){0});

    for (size_t l = 1; l < sizeof v / sizeof v[0]; l++)
        ck_assert_double_eq(v[l], v[0]);
    return v[0];
}

static void is_log(double x)
{
    const long double truth = logl((long double)x);
    const double unit = nextafter(fabs((double)truth), INFINITY) - fabs((double)truth);

    ck_assert_msg(fabsl((long double)log_of(x) - truth) <= (long double)unit, "log %a is %a, not %La", x, log_of(x),
                  truth);
}

START_TEST(logarithms_are_good_to_a_unit)
{
    const double root = sqrt(0.5), odd[] = {DBL_MIN, DBL_MAX, 1, 2, 0.5, 1e-30, 1e-8, (double)FLT_MIN, 3e-200};

    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++)
        is_log(odd[k]);
    ck_assert_double_eq(log_of(1), 0);
    for (int k = 0; k < 4000; k++) /* where k turns, and where digits cancel */
        for (int at = 0; at < 2; at++)
            is_log((at ? 1 : root) * (1 + (k - 2000) * (k % 3 ? DBL_EPSILON : 1e-7)));
    for (int k = 0; k < 200000; k++)
        is_log(ldexp(1 + fmod(k * 0.6180339887498949, 1), k % 2000 - 1000));
}
END_TEST

/* ---- the sums ---- */

typedef struct sums {
    long double mass, first[GBEES_MAX_DIM], second[GBEES_MAX_DIM][GBEES_MAX_DIM], log;
    size_t peak;
} sums;

static sums plain_sums(const cell_list *list)
{
    sums s = {0};

    for (size_t i = 0; i < list->count; i++) {
        const long double p = (long double)list->p[i];

        s.mass += p;
        s.log += p * logl(p);
        s.peak = p > (long double)list->p[s.peak] ? i : s.peak;
        for (int j = 0; j < list->n; j++) {
            s.first[j] += p * list->index[i][j];
            for (int k = 0; k < list->n; k++)
                s.second[j][k] += p * list->index[i][j] * list->index[i][k];
        }
    }
    return s;
}

static void compare(rig *r)
{
    const gbees_problem *problem = &r->problem;
    const double rounding = problem->numerics.precision == GBEES_DOUBLE ? 1e-13 : 1e-6;
    const gbees_statistics got = rig_statistics(r);
    const gbees_totals totals = rig_totals(r);
    cell_list list = rig_cells(r);
    const sums s = plain_sums(&list);
    const int n = list.n;
    long double volume = 1;

    for (int j = 0; j < n; j++) {
        const long double mean = s.first[j] / s.mass, width = (long double)problem->width[j];

        volume *= width;
        ck_assert_double_eq_tol(got.mean[j], (double)((long double)problem->mean[j] + width * mean), 1e-13);
        ck_assert_int_eq(got.peak_index[j], list.index[s.peak][j]);
        for (int k = 0; k < n; k++) {
            long double own = s.second[j][k] / s.mass - mean * s.first[k] / s.mass - (j == k ? 1.0L / 12 : 0);
            long double units = width * (long double)problem->width[k];

            ck_assert_double_eq_tol(got.covariance[j * n + k], (double)(own * units), 1e-13);
        }
    }
    ck_assert_double_eq_tol((double)s.mass, 1, 1e-12); /* the list has all of them */
    ck_assert_double_eq_tol(got.mass, 1 + totals.mass_clipped - totals.mass_outflow, rounding);
    ck_assert_double_eq_tol(got.entropy, (double)(-s.log / s.mass + logl(s.mass) + logl(volume)), 1e-12);
    ck_assert_double_eq_tol(got.peak, list.p[s.peak], 1e-13);
    list_free(&list);
}

/* Far fewer cells are cut off than could be seen, so that the list has all of the density. */
START_TEST(moments_are_those_of_the_cells)
{
    const char *isa[] = {"generic", "avx2", "avx512"}; /* where the machine lacks one, the next lower */
    const int n = 1 + _i;
    rig r;

    rig_open_split(&r, "cpu", n, n <= 3 ? 9 : n <= 5 ? 3 : 1);
    r.problem.threshold = 1e-25;
    for (int k = 0; k < 6; k++) {
        r.problem.numerics.precision = k % 2 ? GBEES_MIXED : GBEES_DOUBLE;
        (void)setenv("GBEES_CPU_ISA", isa[k / 2], 1);
        rig_start(&r, 2);
        compare(&r);
        rig_steps(&r, 1);
        compare(&r);
    }
    (void)unsetenv("GBEES_CPU_ISA");
    rig_close(&r);
}
END_TEST

START_TEST(moments_on_threads)
{
    rig r;

    if (!is_built("shim"))
        return;
    rig_open_split(&r, "shim", _i, _i <= 3 ? 9 : 3);
    r.problem.threshold = 1e-25;
    for (int mixed = 0; mixed < (_i == 2 ? 2 : 1); mixed++) {
        r.problem.numerics.precision = mixed ? GBEES_MIXED : GBEES_DOUBLE;
        rig_start(&r, 2);
        compare(&r);
        rig_steps(&r, 1);
        compare(&r);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moments");
    TCase *tcase = tcase_create("sums");

    tcase_add_test(tcase, logarithms_are_good_to_a_unit);
    tcase_add_loop_test(tcase, moments_are_those_of_the_cells, 0, GBEES_MAX_DIM);
    tcase_add_loop_test(tcase, moments_on_threads, 1, 5);
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
