/* test_split_noise.c - core/numerics/split_noise.h: masses beside expectations that are integrated numerically,
 * bounds, and an Ornstein-Uhlenbeck process beside its exact answer. */
#include "fixtures/suite.h"
#include "numerics/diffusion.h"
#include <check.h>
#include <math.h>
#include <string.h>

#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"

#include "numerics/split_noise.h"

#undef GBEES_REAL
#undef GBEES_REAL_FN
#define GBEES_REAL float
#define GBEES_REAL_FN(name) name##_f
#include "numerics/split.h"

#include "numerics/split_noise.h"

/* The mass of the polynomial's density, sum of a[k] x^k, between x and 0. */
static double mass_below(const double *a, double x)
{
    double sum = 0;

    for (int k = 5; k >= 1; k--)
        sum = (sum + a[k - 1] / k) * x;
    return -sum;
}

/* The expectation of mass_below(-(c + v^(1/2) xi)), by the midpoint rule. */
static double expected(const double *a, double c, double v)
{
    const int steps = 4000;
    double sum = 0, weight = 0;

    for (int i = 0; i < steps; i++) {
        const double xi = -10 + 20 * (i + 0.5) / steps, w = exp(-xi * xi / 2);

        sum += w * mass_below(a, -(c + sqrt(v) * xi));
        weight += w;
    }
    return sum / weight;
}

START_TEST(mass_is_the_expectation_of_a_quartic)
{
    const double a[] = {1, 0.3, -0.2, 0.11, 0.07};
    double p[6];

    for (int k = 0; k < 6; k++) /* cells from -3 to 3 */
        p[k] = mass_below(a, k - 3) - mass_below(a, k - 2);
    for (double c = -1; c <= 1; c += 0.25)
        for (double v = 0; v <= 1; v += 0.125)
            ck_assert_double_eq_tol(gbees_spread_mass_d(p, 1, c, v, 0, 0), expected(a, c, v), 1e-12);
}
END_TEST

START_TEST(waves_do_not_grow)
{
    for (double c = -1; c <= 1; c += 0.125)
        for (double v = 1.0 / 64; v <= 1; v += 1.0 / 64)
            for (double angle = 0.05; angle <= 3.15; angle += 0.05) {
                double wave[2][6], next[2];

                for (int k = 0; k < 6; k++) {
                    wave[0][k] = cos(angle * (k - 2));
                    wave[1][k] = sin(angle * (k - 2));
                }
                for (int part = 0; part < 2; part++)
                    next[part] = gbees_spread_mass_d(wave[part], 1, c, v, 0, 0);
                /* The cell below the face is exp(0 i); the face below it has the mass times exp(-i angle). */
                const double real = 1 - next[0] + (next[0] * cos(angle) + next[1] * sin(angle));
                const double imaginary = -next[1] + (next[1] * cos(angle) - next[0] * sin(angle));

                ck_assert_double_le(hypot(real, imaginary), 1 + 1e-12);
            }
}
END_TEST

START_TEST(faces_of_a_cell_take_what_it_has)
{
    ck_assert_double_eq_tol(gbees_spread_bounded_d(-2, 3, 0, 1, 9, 1, 1), 0.6, 1e-15); /* 3 / 5 of the cell below */
    ck_assert_double_eq_tol(gbees_spread_bounded_d(0, -2, 3, 9, 1, -1, 1), -0.4, 1e-15);
    ck_assert_double_eq(gbees_spread_bounded_d(-2, 3, 0, 5, 9, 1, 1), 3); /* it has enough */
    ck_assert_double_eq(gbees_spread_bounded_d(7, 3, 0, 3, 9, 1, 1), 3);
    ck_assert_double_eq(gbees_spread_bounded_d(7, 3, 0, 0, 9, 1, 1), 0);
    ck_assert_double_eq(gbees_spread_bounded_d(7, 3, 0, -1e-20, 9, 1, 1), 0);
    ck_assert_double_eq(gbees_spread_bounded_d(0, 3, 0, 8, 9, -1, 0.25), 2); /* against the flow: a quarter */
    ck_assert_double_eq(gbees_spread_bounded_d(0, -3, 0, 8, 8, 1, 0.25), -2);
    ck_assert_double_eq(gbees_spread_bounded_d(0, -3, 0, 8, 8, -1, 0.25), -3);
}
END_TEST

/* ---- dx = -x dt + dw ---- */

enum { MOST = 600, BEYOND = GBEES_SPREAD_REACH };

/* The probability that a normal number is below x. */
static double below(double x, double mean, double deviation)
{
    return 0.5 * erfc((mean - x) / (deviation * sqrt(2)));
}

/* The bounded mass through a face at x, in cells; mass[3]: from the face below on; p: the cell above it. */
static double bounded(const double *mass, const double *p, double x, double variance)
{
    return gbees_spread_bounded_d(mass[0], mass[1], mass[2], p[-1], p[0], -x, sqrt(variance));
}

/* One step of length dt over p[cells] with `BEYOND` zeros on each side, of width h; the lowest face is at `first`;
 * inside: 1/24 if p are values at centres, 0 if they are averages. */
static void take_step(double *p, int cells, double first, double h, double dt, double inside)
{
    static double mass[MOST + 3], after[MOST];

    for (int face = -1; face <= cells + 1; face++) {
        const double u = -dt * (first / h + face);
        double v = dt / (h * h);
        const double c = gbees_spread_origin_d(u + dt, u, u - dt, inside, 1, &v);
        double six[6] = {0};

        for (int k = 0; k < 6; k++)
            if (face - 3 + k >= -BEYOND && face - 3 + k < cells + BEYOND)
                six[k] = p[face - 3 + k];
        mass[face + 1] = gbees_spread_mass_d(six, 1, c, v, 0, 0);
    }
    for (int i = 0; i < cells; i++)
        after[i] = p[i] + bounded(mass + i, p + i, first / h + i, dt / (h * h)) -
                   bounded(mass + i + 1, p + i + 1, first / h + i + 1, dt / (h * h));
    memcpy(p, after, (size_t)cells * sizeof *p);
}

/* P of the cell at x of width h, of a normal density: its average over the cell, or its value at the centre. */
static double p_of(double x, double h, double mean, double deviation, int points)
{
    const double z = (x - mean) / deviation;

    return points ? h * exp(-z * z / 2) / (deviation * sqrt(2 * M_PI))
                  : below(x + h / 2, mean, deviation) - below(x - h / 2, mean, deviation);
}

/* The sum of the errors of all cells at t = 1, for a deviation of 0.3 and so many cells in it at the start. */
static double error_of(int cells_a_deviation, int points)
{
    const double deviation = 0.3, mean = 1.5, h = deviation / cells_a_deviation;
    const int half = (int)(6 / h), cells = 2 * half, steps = 20 * cells_a_deviation * cells_a_deviation;
    static double rows[MOST + 2 * BEYOND];
    double *p = rows + BEYOND, sum = 0;

    ck_assert_int_le(cells, MOST);
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < cells; i++)
        p[i] = p_of((i + 0.5 - half) * h, h, mean, deviation, points);
    for (int k = 0; k < steps; k++)
        take_step(p, cells, -half * h, h, 1.0 / steps, points ? 1.0 / 24 : 0);
    const double end = mean * exp(-1), spread = sqrt(deviation * deviation * exp(-2) + 0.5 * (1 - exp(-2)));
    for (int i = 0; i < cells; i++) {
        ck_assert_double_ge(p[i], -1e-15);
        sum += fabs(p[i] - p_of((i + 0.5 - half) * h, h, end, spread, points));
    }
    return sum;
}

/* Of averages, and of values at centres, which stretch and spread by other moments. */
START_TEST(an_ornstein_uhlenbeck_process_is_of_fourth_order_at_least)
{
    const double one = error_of(1, _i), two = error_of(2, _i), four = error_of(4, _i);

    ck_assert_double_le(one, _i ? 5.5e-4 : 5e-4);
    ck_assert_double_le(two, one / 16);
    ck_assert_double_le(four, two / 16);
}
END_TEST

/* A float to which a part of its last digit is added is rounded up as often as that part says, whatever its leading
 * digits are. */
START_TEST(small_changes_of_floats_do_not_vanish)
{
    static const float starts[] = {1.0000001F, 1.5F, 1.9999998F, 3e-20F};
    const float p = starts[_i], digit = nextafterf(p, 10) - p;
    enum { MANY = 100000 };

    for (double part = -0.75; part <= 0.75; part += 0.125) {
        double sum = 0;

        for (uint32_t k = 0; k < MANY; k++) {
            const float next = gbees_spread_sum_f(p, (float)part * digit, k * GBEES_DITHER_CELL, 0);

            ck_assert(fabsf(next - p) <= digit);
            sum += ((double)next - (double)p) / (double)digit;
        }
        ck_assert_double_eq_tol(sum / MANY, part, 1e-3);
    }
}
END_TEST

/* A cell that is emptied is empty, and none is below 0; the lean moves the mean; doubles are added as they are. */
START_TEST(dithered_sums_are_not_negative)
{
    double sum = 0;

    for (uint32_t k = 0; k < 1000; k++) {
        const uint32_t dither = gbees_dither_of_pass(k, 1);

        ck_assert_float_eq(gbees_spread_sum_f(0.3F, -0.3F, dither, -0.25F), 0);
        ck_assert_float_eq(gbees_spread_sum_f(0, 0, dither, 0.25F), 0);
        ck_assert_float_ge(gbees_spread_sum_f(0.3F, -0.29999998F, dither, -0.25F), 0);
        ck_assert_double_eq(gbees_spread_sum_d(0.3, 1e-17, dither, 0.25), 0.3 + 1e-17);
        sum += gbees_spread_sum_f(1.5F, 0, k * GBEES_DITHER_CELL, 0.25F) > 1.5F;
    }
    ck_assert_double_eq_tol(sum, 250, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split with noise");
    TCase *one = tcase_create("one face"), *many = tcase_create("many cells");

    tcase_set_timeout(one, 60);
    tcase_set_timeout(many, 60);
    tcase_add_test(one, mass_is_the_expectation_of_a_quartic);
    tcase_add_test(one, waves_do_not_grow);
    tcase_add_test(one, faces_of_a_cell_take_what_it_has);
    tcase_add_loop_test(one, small_changes_of_floats_do_not_vanish, 0, 4);
    tcase_add_test(one, dithered_sums_are_not_negative);
    tcase_add_loop_test(many, an_ornstein_uhlenbeck_process_is_of_fourth_order_at_least, 0, 2);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, many);
    return run_suite(suite);
}
