/* test_diffusion.c - the rates of core/numerics/diffusion.h: their covariance, that a step keeps the mass and makes
 * nothing below 0, and what is wrong with a Q that can't be. */
#include "fixtures/suite.h"
#include "numerics/diffusion.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Symmetric, and diagonally dominant in units of cells. */
static void random_noise(int n, const double *over, uint64_t *state, double *q)
{
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++)
            q[j * n + k] = q[k * n + j] = (2 * uniform(state) - 1) / (over[j] * over[k]);
    for (int j = 0; j < n; j++) {
        double beside = 0;

        for (int k = 0; k < n; k++)
            beside += k == j ? 0 : fabs(q[j * n + k]) * over[k] / over[j];
        q[j * n + j] = beside + uniform(state) / (over[j] * over[j]);
    }
}

/* Number `number` of the shifts that a cell may give to, and at which rate; 0: there are no more. */
static int shift_of(int n, int number, const double *q, const double *over, int *shift, double *rate)
{
    memset(shift, 0, sizeof *shift * 3);
    if (number < 2 * n) {
        shift[number / 2] = number % 2 ? 1 : -1;
        *rate = gbees_diffusion_axis(n, 1, q, 1, over, number / 2);
        return 1;
    }
    number -= 2 * n;
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++, number -= 2)
            if (number < 2) {
                double pair = gbees_diffusion_pair(n, q, 1, over, j, k);

                shift[j] = number ? 1 : -1;
                shift[k] = pair > 0 ? shift[j] : -shift[j];
                *rate = fabs(pair);
                return 1;
            }
    return 0;
}

/* The jumps of the chain have no mean, and Q as their covariance. */
START_TEST(jumps_have_the_covariance)
{
    const int n = _i;
    uint64_t state = 17;

    for (int trial = 0; trial < 100; trial++) {
        double q[9], over[3], sum[3] = {0}, square[9] = {0}, total = 0, rate;
        int shift[3];

        for (int j = 0; j < n; j++)
            over[j] = 0.3 + 3 * uniform(&state);
        random_noise(n, over, &state, q);
        for (int number = 0; shift_of(n, number, q, over, shift, &rate); number++) {
            ck_assert_double_ge(rate, 0);
            total += rate;
            for (int j = 0; j < n; j++) {
                sum[j] += rate * shift[j];
                for (int k = 0; k < n; k++)
                    square[j * n + k] += rate * shift[j] * shift[k] / (over[j] * over[k]);
            }
        }
        ck_assert_double_eq_tol(gbees_diffusion_total(n, 1, q, 1, over), total, 1e-13 * total);
        for (int j = 0; j < n; j++) {
            ck_assert_int_eq(gbees_diffusion_fault(n, 1, q, 1, over, j), GBEES_NOISE_FINE);
            ck_assert_double_eq_tol(sum[j], 0, 1e-13 * total);
            for (int k = 0; k < n; k++)
                ck_assert_double_eq_tol(square[j * n + k], q[j * n + k], 1e-12 * (fabs(q[j * n + j]) + 1));
        }
    }
}
END_TEST

enum { BOX = 6 };

/* Where a shift leads in a box without ends. */
static int cell_beside(int n, int cell, const int *shift)
{
    int to = 0;

    for (int j = 0, stride = 1; j < n; j++, stride *= BOX)
        to += (cell / stride % BOX + shift[j] + BOX) % BOX * stride;
    return to;
}

/* One explicit step as long as it may be, with Q and P drawn anew for each cell. */
START_TEST(a_step_is_positive_and_conservative)
{
    const int n = _i, cells = n == 1 ? BOX : n == 2 ? BOX * BOX : BOX * BOX * BOX;
    double over[3] = {1.7, 0.4, 2.9};
    uint64_t state = 5;

    for (int trial = 0; trial < 20; trial++) {
        double q[BOX * BOX * BOX][9], p[BOX * BOX * BOX], to[BOX * BOX * BOX], most = 0, before = 0, after = 0, rate;
        int shift[3];

        for (int i = 0; i < cells; i++) {
            random_noise(n, over, &state, q[i]);
            to[i] = p[i] = uniform(&state) < 0.5 ? 0 : uniform(&state);
            most = fmax(most, gbees_diffusion_total(n, 1, q[i], 1, over));
            before += p[i];
        }
        double step = 0.7, steps = gbees_diffusion_steps(step, most);
        ck_assert_double_le(most * step / steps, 0.96875);
        ck_assert_double_gt(most * step / (steps - 1), 0.96875);
        for (int i = 0; i < cells; i++)
            for (int number = 0; shift_of(n, number, q[i], over, shift, &rate); number++) {
                to[i] -= step / steps * rate * p[i];
                to[cell_beside(n, i, shift)] += step / steps * rate * p[i];
            }
        for (int i = 0; i < cells; i++) {
            ck_assert_double_ge(to[i], 0);
            after += to[i];
        }
        ck_assert_double_eq_tol(after, before, 1e-13 * before);
    }
}
END_TEST

START_TEST(faults_are_found)
{
    const double over[2] = {1, 2};
    const double fine[4] = {1, 0.5, 0.5, 0.25}, wide[4] = {1, 0.5001, 0.5001, 1};
    const double negative[4] = {1, 0, 0, -1}, infinite[4] = {1, INFINITY, INFINITY, 1};

    /* 0.5 is a cell's 1 against 1. */
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, fine, 1, over, 0), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, fine, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, wide, 1, over, 0), GBEES_NOISE_NOT_DOMINANT);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, wide, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, negative, 1, over, 1), GBEES_NOISE_NEGATIVE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, infinite, 1, over, 0), GBEES_NOISE_NOT_FINITE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 0, negative, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_double_eq(gbees_diffusion_steps(0.5, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diffusion");
    TCase *rates = tcase_create("rates");

    tcase_add_loop_test(rates, jumps_have_the_covariance, 1, 4);
    tcase_add_loop_test(rates, a_step_is_positive_and_conservative, 1, 4);
    tcase_add_test(rates, faults_are_found);
    suite_add_tcase(suite, rates);
    return run_suite(suite);
}
