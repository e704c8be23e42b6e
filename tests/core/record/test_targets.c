/* test_targets.c - which part of a cell is inside of a target, and what cells have inside. */
#include "base/fraction.h"
#include "fixtures/suite.h"
#include "record/targets.h"
#include <math.h>
#include <stdlib.h>

/* The part of a box where g < 0, on a lattice of `side` points along each of n edges. */
static double part_by_points(int n, double g, const double *change, int side)
{
    int index[4] = {0}, inside = 0, all = 0;

    for (;;) {
        double value = g;
        int k = 0;

        for (int j = 0; j < n; j++)
            value += change[j] * ((index[j] + 0.5) / side - 0.5);
        inside += value < 0;
        all++;
        while (k < n && ++index[k] == side)
            index[k++] = 0;
        if (k == n)
            return (double)inside / all;
    }
}

static const struct {
    int n;
    double g, change[4], tolerance;
} planes[] = {
    {1, 0.3, {-2}, 1e-3},
    {2, -0.2, {1, 0.4}, 2e-3},
    {2, 0.55, {-1, 0.4}, 2e-3},
    {3, 0.1, {0.2, -0.9, 0.5}, 2e-3},
    {3, -0.7, {0.8, 0.7, 0.6}, 2e-3},
    {3, 0.2, {1, 1e-9, 1e-5}, 6e-3},
    {4, 0.15, {0.2, -0.9, 0.5, 0.4}, 0.012}, /* by the variance of the smaller changes */
};

START_TEST(a_plane_cuts_a_cell)
{
    const int side = planes[_i].n == 1 ? 4000 : planes[_i].n == 2 ? 1000 : planes[_i].n == 3 ? 160 : 40;
    const double part = gbees_fraction_inside(planes[_i].n, planes[_i].g, planes[_i].change);
    double other[4];

    ck_assert_double_eq_tol(part, part_by_points(planes[_i].n, planes[_i].g, planes[_i].change, side),
                            planes[_i].tolerance);
    for (int k = 0; k < 4; k++)
        other[k] = -planes[_i].change[3 - k];
    if (planes[_i].n == 4) /* neither the order of the edges nor their sign matters */
        ck_assert_double_eq_tol(part, gbees_fraction_inside(4, planes[_i].g, other), 1e-14);
    ck_assert_double_eq_tol(part + gbees_fraction_inside(planes[_i].n, -planes[_i].g, planes[_i].change), 1, 1e-12);
}
END_TEST

START_TEST(a_cell_is_in_or_out)
{
    const double change[] = {1, 0.5, 0.25, 0}, none[] = {0, 0, 0, 0};

    ck_assert_double_eq(gbees_fraction_inside(3, -0.876, change), 1);
    ck_assert_double_eq_tol(gbees_fraction_inside(3, 0.876, change), 0, 1e-14);
    ck_assert_double_eq(gbees_fraction_inside(4, -1e-9, none), 1);
    ck_assert_double_eq(gbees_fraction_inside(4, 0, none), 0);
}
END_TEST

/* Along one axis the mass below a point of exp(s z) has a closed form. */
START_TEST(a_density_with_a_slope)
{
    const double change[] = {2, 0}, slope[] = {1.5, -3}, across[] = {0, 5};
    const double part = gbees_fraction_inside(2, 0.3, change);

    ck_assert_double_eq_tol(part, 0.35, 1e-15);
    ck_assert_double_eq_tol(gbees_fraction_of_mass(2, part, change, slope), (exp(1.5 * 0.35) - 1) / (exp(1.5) - 1),
                            1e-14);
    ck_assert_double_eq(gbees_fraction_of_mass(2, 0.35, change, across), 0.35);
}
END_TEST

enum { CELLS = 999 };

/* Inside where x < 0.1. */
static void below(int which, size_t count, double time, const double *origin, const double *const *x, const double *p,
                  double *out)
{
    (void)which, (void)time, (void)origin, (void)p;
    for (size_t i = 0; i < count; i++)
        out[i] = x[0][i] - 0.1;
}

/* Cells of masses that differ by many orders, from the first on and from the last: the same bits, and a number that
 * is right. */
START_TEST(cells_come_in_any_order)
{
    const gbees_functions functions = {.n = 1, .target_d = below};
    const gbees_problem problem = {.dimension = 1, .functions = &functions, .target_count = 1, .width = {0.01}};
    gbees_target_sums forward = {.problem = &problem}, back = {.problem = &problem};
    const int32_t *column;

    for (int i = 0; i < CELLS; i++) {
        const int32_t index[] = {i - CELLS / 2, CELLS - 1 - i - CELLS / 2};
        const double p[] = {exp(-0.07 * abs(index[0])), exp(-0.07 * abs(index[1]))};

        column = &index[0];
        ck_assert_int_eq(gbees_target_sums_add(&forward, 1, &column, &p[0]), 0);
        column = &index[1];
        ck_assert_int_eq(gbees_target_sums_add(&back, 1, &column, &p[1]), 0);
    }
    const double part = gbees_target_sums_inside(&forward, 0), q = exp(-0.07);
    ck_assert(part == gbees_target_sums_inside(&back, 0));
    /* cells up to number 9, and half of number 10; a geometric series to both sides */
    ck_assert_double_eq_tol(part, 1 - (pow(q, 10) / 2 + pow(q, 11) / (1 - q)) / ((1 + q) / (1 - q)), 1e-13);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("targets");
    TCase *tcase = tcase_create("fractions");

    tcase_add_loop_test(tcase, a_plane_cuts_a_cell, 0, (int)(sizeof planes / sizeof *planes));
    tcase_add_test(tcase, a_cell_is_in_or_out);
    tcase_add_test(tcase, a_density_with_a_slope);
    tcase_add_test(tcase, cells_come_in_any_order);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
