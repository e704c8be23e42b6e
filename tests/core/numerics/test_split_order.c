/* test_split_order.c - core/numerics/split.h on dense boxes: its order in space and time, for translation, linear
 * drifts, rotation and swirls; the monotonicity-preserving bounds. */
#include "fixtures/dense_split.h"
#include "fixtures/suite.h"
#include <check.h>

static const double pi = 3.14159265358979323846;

/* ---- order in space ------------------------------------------------------------------------------------------ */

/* The cell average of a smooth density of period 1 along each axis, carried by t along the diagonal. */
static double smooth(const dense *d, long cell, const double *v, double t)
{
    double p = 1;

    for (int j = 0; j < d->n; j++) {
        double h = d->width[j], x = (dense_coordinate(d, cell, j) + 0.5) * h - v[j] * t;

        p *= 2 + sin(2 * pi * x) * sin(pi * h) / (pi * h);
    }
    return p;
}

/* The mean error after some time at constant velocity, the largest Courant number c. */
static double translation_error(int n, int cells, double courant, int form)
{
    const double v[3] = {1, -0.8, 0.6};
    const int size[DENSE_DIM] = {cells, cells, cells};
    double sum = 0, time = courant < 0.5 ? 0.1 : 0.4;
    int steps = (int)lround(time * cells / courant);
    dense d;

    time = steps * courant / cells; /* exactly this Courant number */
    dense_create(&d, n, NULL, size, 1);
    for (int j = 0; j < n; j++) {
        d.width[j] = 1.0 / cells;
        for (long i = 0; i < d.cells; i++)
            d.v[j][i] = v[j];
    }
    for (long i = 0; i < d.cells; i++)
        d.p[i] = smooth(&d, i, v, 0);
    for (int k = 0; k < steps; k++)
        split_step(&d, (uint64_t)k, time / steps, form);
    for (long i = 0; i < d.cells; i++)
        sum += fabs(d.p[i] - smooth(&d, i, v, time));
    sum /= (double)d.cells;
    dense_destroy(&d);
    return sum;
}

static void assert_order(const char *what, int n, double coarse, double fine, double least)
{
    double order = log2(coarse / fine);

    ck_assert_msg(fine < coarse && order >= least, "%s, n = %d: order %.3f (errors %.3g, %.3g)", what, n, order,
                  coarse, fine);
}

START_TEST(translation_is_of_fifth_order)
{
    assert_order("c = 0.1", _i, translation_error(_i, 32, 0.1, 0), translation_error(_i, 64, 0.1, 0), 4.5);
    assert_order("c = 0.8", _i, translation_error(_i, 32, 0.8, 0), translation_error(_i, 64, 0.8, 0), 4.5);
}
END_TEST

START_TEST(upwind_is_of_first_order)
{
    for (int k = 1; k <= 8; k += 7) {
        const double coarse = translation_error(_i, 32, 0.1 * k, SPLIT_FIRST);
        const double fine = translation_error(_i, 64, 0.1 * k, SPLIT_FIRST);

        assert_order("upwind", _i, coarse, fine, 0.8);
        ck_assert_double_gt(fine, coarse / 2.5);
    }
}
END_TEST

START_TEST(translation_is_of_seventh_order)
{
    for (int k = 1; k <= 8; k += 7) {
        double courant = 0.1 * k;

        assert_order("split7", _i, translation_error(_i, 16, courant, SPLIT_SEVENTH),
                     translation_error(_i, 32, courant, SPLIT_SEVENTH), 6.5);
        ck_assert_double_lt(translation_error(_i, 32, courant, SPLIT_SEVENTH),
                            translation_error(_i, 32, courant, 0) / 10);
    }
}
END_TEST

/* The bounds leave a smooth extremum alone: the same error. */
START_TEST(bounds_leave_smooth_densities_alone)
{
    double plain = translation_error(_i, 64, 0.5, 0), bounded = translation_error(_i, 64, 0.5, 1);

    assert_order("bounded", _i, translation_error(_i, 32, 0.5, 1), bounded, 4.5);
    ck_assert_double_eq_tol(bounded / plain, 1, 1e-6);
}
END_TEST

static double lowest(const dense *d)
{
    double least = d->p[0];

    for (long i = 1; i < d->cells; i++)
        least = fmin(least, d->p[i]);
    return least;
}

/* How far a block's cells leave [0, 1] while it moves. */
static double overshoot(double courant, int preserving)
{
    const int size = 60;
    double most = 0;
    dense d;

    dense_create(&d, 1, NULL, &size, 1);
    for (int i = 0; i < size; i++) {
        d.p[i] = i >= 20 && i < 40;
        d.v[0][i] = -1;
    }
    for (uint64_t k = 0; k < 100; k++) {
        split_step(&d, k, courant, preserving);
        most = fmax(most, fmax(dense_most(&d) - 1, -lowest(&d)));
    }
    dense_destroy(&d);
    return most;
}

START_TEST(bounds_make_no_new_extrema)
{
    for (double courant = 0.1; courant < 0.95; courant += 0.2) {
        ck_assert_double_gt(overshoot(courant, 0), 1e-2);
        ck_assert_double_lt(overshoot(courant, 1), 1e-14);
    }
}
END_TEST

/* The mass of a Gaussian between two points. */
static double gauss(double lo, double hi, double mean, double sigma)
{
    return 0.5 * (erf((hi - mean) / (sigma * sqrt(2))) - erf((lo - mean) / (sigma * sqrt(2))));
}

/* The sum of errors for the drift a x + b in one dimension; 0 is the centre of a cell, which flows out on both sides
 * if a > 0. */
static double linear_error(int cells, double a, double b, int steps, double time)
{
    const int size = cells | 1;
    const double mean = 0.2, sigma = 0.25, grown = exp(a * time);
    double sum = 0;
    dense d;

    dense_create(&d, 1, NULL, &size, 0);
    memset(d.present, 1, (size_t)d.cells);
    d.width[0] = 4.0 / cells;
    for (int i = 0; i < size; i++) {
        double lo = (i - 0.5 * size) * d.width[0];

        d.v[0][i] = a * (lo + d.width[0]) + b;
        d.p[i] = gauss(lo, lo + d.width[0], mean, sigma);
    }
    for (int k = 0; k < steps; k++)
        split_step(&d, (uint64_t)k, time / steps, 0);
    for (int i = 0; i < size; i++) {
        double lo = (i - 0.5 * size) * d.width[0], now = mean * grown + b * (a == 0 ? time : (grown - 1) / a);

        sum += fabs(d.p[i] - gauss(lo, lo + d.width[0], now, sigma * grown));
    }
    dense_destroy(&d);
    return sum;
}

START_TEST(linear_drifts_converge)
{
    static const double drifts[][2] = {{0.6, 0}, {-0.6, 0}, {0.6, 0.5}, {-0.6, -0.5}};

    for (int k = 0; k < 4; k++) {
        double a = drifts[k][0], b = drifts[k][1];

        assert_order("a x + b", 1, linear_error(64, a, b, 400, 0.5), linear_error(128, a, b, 400, 0.5), 4.5);
        assert_order("a x + b, c = 1", 1, linear_error(64, a, b, 14, 0.5), linear_error(128, a, b, 28, 0.5), 4.5);
    }
}
END_TEST

/* ---- rotation ------------------------------------------------------------------------------------------------ */

/* The sum of errors after a turn by `angle` of a round Gaussian beside the centre. */
static double rotation_error(int cells, int steps, double angle, int fixed)
{
    const int size[DENSE_DIM] = {cells, cells};
    const double sigma = 0.2, radius = 0.4, half = 1.6;
    double sum = 0;
    dense d;

    dense_create(&d, 2, NULL, size, 0);
    memset(d.present, 1, (size_t)d.cells);
    d.width[0] = d.width[1] = 2 * half / cells;
    for (int turned = 0; turned < 2; turned++) {
        double x = radius * cos(turned * angle), y = radius * sin(turned * angle), h = d.width[0];

        for (long i = 0; i < d.cells; i++) {
            double x0 = dense_coordinate(&d, i, 0) * h - half, y0 = dense_coordinate(&d, i, 1) * h - half;
            double p = gauss(x0, x0 + h, x, sigma) * gauss(y0, y0 + h, y, sigma);

            if (turned) {
                sum += fabs(d.p[i] - p);
                continue;
            }
            d.p[i] = p;
            d.v[0][i] = -(y0 + h / 2);
            d.v[1][i] = x0 + h / 2;
        }
        for (int k = 0; k < steps && !turned; k++)
            split_step(&d, fixed ? 0 : (uint64_t)k, angle / steps, 0);
    }
    dense_destroy(&d);
    return sum;
}

START_TEST(rotation_is_of_fifth_order_in_space)
{
    assert_order("rotation", 2, rotation_error(48, 800, 0.8, 0), rotation_error(96, 800, 0.8, 0), 4.5);
}
END_TEST

START_TEST(rotation_is_of_second_order_in_time)
{
    const double fixed = rotation_error(200, 80, 0.8, 1), fixed_half = rotation_error(200, 160, 0.8, 1);
    double coarse = rotation_error(200, 80, 0.8, 0), fine = rotation_error(200, 160, 0.8, 0);

    assert_order("rotation in time", 2, coarse, fine, 1.8);
    assert_order("fixed order", 2, fixed, fixed_half, 0.8);
    ck_assert_double_lt(coarse, fixed / 10); /* what turning the order is for */
}
END_TEST

/* ---- other drifts without divergence -------------------------------------------------------------------------- */

/* What (x, -y) makes of a constant, in the middle of a window whose ends aren't felt there. */
static double stretching_error(int steps, double time)
{
    enum { CELLS = 60, FELT = 28 };
    const int size[DENSE_DIM] = {CELLS, CELLS};
    double off = 0;
    dense d;

    dense_create(&d, 2, NULL, size, 0);
    memset(d.present, 1, (size_t)d.cells);
    for (long i = 0; i < d.cells; i++) {
        d.p[i] = 1;
        d.v[0][i] = dense_coordinate(&d, i, 0) + 1 - CELLS / 2;
        d.v[1][i] = -(dense_coordinate(&d, i, 1) + 1 - CELLS / 2);
    }
    for (int k = 0; k < steps; k++)
        split_step(&d, (uint64_t)k, time / steps, 0);
    for (long i = 0; i < d.cells; i++) {
        int x = dense_coordinate(&d, i, 0), y = dense_coordinate(&d, i, 1);

        if (x >= FELT && x < CELLS - FELT && y >= FELT && y < CELLS - FELT)
            off = fmax(off, fabs(d.p[i] - 1));
    }
    dense_destroy(&d);
    return off;
}

START_TEST(stretching_keeps_a_constant_to_third_order)
{
    assert_order("(x, -y)", 2, stretching_error(2, 0.16), stretching_error(4, 0.16), 2.7);
}
END_TEST

/* A periodic swirl, at a fixed Courant number: the largest change of a constant. */
static double swirl_error(int cells, double courant)
{
    const int size[DENSE_DIM] = {cells, cells};
    const int steps = 4 * (int)lround(cells / courant / 16);
    double off = 0;
    dense d;

    dense_create(&d, 2, NULL, size, 1);
    d.width[0] = d.width[1] = 1.0 / cells;
    for (long i = 0; i < d.cells; i++) {
        double x = 2 * pi * dense_coordinate(&d, i, 0) / cells, y = 2 * pi * dense_coordinate(&d, i, 1) / cells;

        d.p[i] = 1;
        d.v[0][i] = sin(x + 2 * pi / cells) * cos(y + pi / cells);
        d.v[1][i] = -cos(x + pi / cells) * sin(y + 2 * pi / cells);
    }
    for (int k = 0; k < steps; k++)
        split_step(&d, (uint64_t)k, 0.25 / steps, 0);
    for (long i = 0; i < d.cells; i++)
        off = fmax(off, fabs(d.p[i] - 1));
    dense_destroy(&d);
    return off;
}

START_TEST(swirls_keep_a_constant_to_second_order)
{
    assert_order("swirl, c = 0.5", 2, swirl_error(64, 0.5), swirl_error(128, 0.5), 1.8);
    assert_order("swirl, c = 1", 2, swirl_error(64, 1), swirl_error(128, 1), 1.8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split order");
    TCase *order = tcase_create("order"), *largest = add_long_case(suite, "three dimensions", 60);

    tcase_add_loop_test(largest, translation_is_of_fifth_order, 3, 4);
    tcase_add_loop_test(largest, upwind_is_of_first_order, 3, 4);
    tcase_set_timeout(order, 60);
    tcase_add_loop_test(order, translation_is_of_fifth_order, 1, 3);
    tcase_add_loop_test(order, upwind_is_of_first_order, 1, 3);
    tcase_add_loop_test(order, translation_is_of_seventh_order, 1, 4);
    tcase_add_loop_test(order, bounds_leave_smooth_densities_alone, 1, 3);
    tcase_add_test(order, bounds_make_no_new_extrema);
    tcase_add_test(order, linear_drifts_converge);
    tcase_add_test(order, rotation_is_of_fifth_order_in_space);
    tcase_add_test(order, rotation_is_of_second_order_in_time);
    tcase_add_test(order, stretching_keeps_a_constant_to_third_order);
    tcase_add_test(order, swirls_keep_a_constant_to_second_order);
    suite_add_tcase(suite, order);
    return run_suite(suite);
}
