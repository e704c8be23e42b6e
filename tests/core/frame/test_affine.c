/* test_affine.c - affine fits of a drift: against affine drifts and LAPACK's least squares. */
#include "fixtures/suite.h"
#include "frame/affine.h"
#include <check.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 500 };

static double p[COUNT], y[GBEES_MAX_DIM][COUNT], f[GBEES_MAX_DIM][COUNT];

/* A number in [-1, 1), the next of a sequence. */
static double some_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static gbees_moving_frame some_frame(int n)
{
    gbees_moving_frame frame = {.n = n};
    uint64_t state = 11;

    for (int j = 0; j < n; j++) {
        frame.m[j] = 10 * some_number(&state);
        for (int k = 0; k < n; k++)
            frame.a[j * n + k] = (j == k) + 0.4 * some_number(&state) / n;
    }
    return frame;
}

/* Weighted points: a cell's P, its centre in y and the drift there, in the units of x; each an array over the points.
 */
typedef struct weighted_points {
    int n;
    size_t count;
    const double *p, *y[GBEES_MAX_DIM], *f[GBEES_MAX_DIM];
} weighted_points;

static void sum_points(const weighted_points *points, gbees_affine_sums *sums)
{
    const int n = points->n;

    *sums = (gbees_affine_sums){0};
    for (size_t i = 0; i < points->count; i++) {
        const double part = points->p[i];

        sums->mass += part;
        for (int j = 0; j < n; j++) {
            const double py = part * points->y[j][i];

            sums->y[j] += py;
            sums->f[j] += part * points->f[j][i];
            for (int k = 0; k < n; k++) {
                sums->yy[j * n + k] += py * points->y[k][i];
                sums->fy[k * n + j] += py * points->f[k][i];
            }
        }
    }
}

/* Weighted points in y, COUNT of them, whose drift is not set. */
static weighted_points some_points(int n)
{
    weighted_points points = {.n = n, .count = COUNT, .p = p};
    uint64_t state = 5;

    for (int j = 0; j < n; j++) {
        points.y[j] = y[j];
        points.f[j] = f[j];
    }
    for (int i = 0; i < COUNT; i++) {
        p[i] = 1.5 + some_number(&state);
        for (int j = 0; j < n; j++)
            y[j][i] = 1 + floor(6 * some_number(&state));
    }
    return points;
}

static void place(const gbees_moving_frame *frame, int i, double *x)
{
    for (int j = 0; j < frame->n; j++) {
        x[j] = frame->m[j];
        for (int k = 0; k < frame->n; k++)
            x[j] += frame->a[j * frame->n + k] * y[k][i];
    }
}

/* Sets f = c + D x. */
static void set_affine_drift(const gbees_moving_frame *frame, const double *c, const double *d)
{
    const int n = frame->n;
    double x[GBEES_MAX_DIM];

    for (int i = 0; i < COUNT; i++) {
        place(frame, i, x);
        for (int j = 0; j < n; j++) {
            f[j][i] = c[j];
            for (int k = 0; k < n; k++)
                f[j][i] += d[j * n + k] * x[k];
        }
    }
}

static gbees_affine fit_of(const weighted_points *points, const gbees_moving_frame *frame)
{
    gbees_affine_sums sums;
    gbees_affine field;
    gbees_error error = {0};

    sum_points(points, &sums);
    ck_assert_msg(gbees_affine_fit(&sums, frame, &field, &error) == GBEES_OK, "%s", error.text);
    return field;
}

/* Component j of the field at x. */
static double value_of(const gbees_affine *field, int n, const double *x, int j)
{
    double value = field->a[j];

    for (int k = 0; k < n; k++)
        value += field->b[j * n + k] * (x[k] - field->centre[k]);
    return value;
}

START_TEST(exact_for_an_affine_drift)
{
    const int n = _i;
    const gbees_moving_frame frame = some_frame(n);
    const weighted_points points = some_points(n);
    double c[GBEES_MAX_DIM] = {0}, d[GBEES_MATRIX] = {0}, x[GBEES_MAX_DIM];
    uint64_t state = 3;

    for (int j = 0; j < n; j++)
        c[j] = some_number(&state);
    for (int k = 0; k < n * n; k++)
        d[k] = some_number(&state);
    set_affine_drift(&frame, c, d);
    const gbees_affine field = fit_of(&points, &frame);
    ck_assert_int_eq(field.rank, n);
    for (int k = 0; k < n * n; k++)
        ck_assert_double_eq_tol(field.b[k], d[k], 1e-11);
    for (int i = 0; i < COUNT; i += 50)
        for (int j = 0; j < n; j++) {
            place(&frame, i, x);
            ck_assert_double_eq_tol(value_of(&field, n, x, j), f[j][i], 1e-10);
        }
}
END_TEST

/* Sets f to a smooth function that is not affine. */
static void set_curved_drift(const gbees_moving_frame *frame)
{
    double x[GBEES_MAX_DIM];

    for (int i = 0; i < COUNT; i++) {
        place(frame, i, x);
        for (int j = 0; j < frame->n; j++)
            f[j][i] = sin(x[j]) + x[j] * x[(j + 1) % frame->n];
    }
}

START_TEST(least_squares_of_a_curved_drift)
{
    const int n = _i, columns = n + 1;
    const gbees_moving_frame frame = some_frame(n);
    const weighted_points points = some_points(n);
    static double design[COUNT * (GBEES_MAX_DIM + 1)], right[COUNT * GBEES_MAX_DIM];
    double x[GBEES_MAX_DIM];

    set_curved_drift(&frame);
    for (int i = 0; i < COUNT; i++) {
        place(&frame, i, x);
        design[i * columns] = sqrt(p[i]);
        for (int j = 0; j < n; j++) {
            design[i * columns + j + 1] = sqrt(p[i]) * x[j];
            right[i * n + j] = sqrt(p[i]) * f[j][i];
        }
    }
    ck_assert_int_eq(LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', COUNT, columns, n, design, columns, right, n), 0);
    const gbees_affine field = fit_of(&points, &frame);
    for (int j = 0; j < n; j++) {
        double constant = field.a[j];

        for (int k = 0; k < n; k++) {
            constant -= field.b[j * n + k] * field.centre[k];
            ck_assert_double_eq_tol(field.b[j * n + k], right[(k + 1) * n + j], 1e-10);
        }
        ck_assert_double_eq_tol(constant, right[j], 1e-9);
    }
}
END_TEST

/* Points on a plane of y, one axis or a diagonal, and all in one point: the field is the drift there, and B is 0
 * across it. */
START_TEST(directions_without_cells)
{
    const int n = 3;
    const gbees_moving_frame frame = some_frame(n);
    const weighted_points points = some_points(n);
    const double c[] = {1, -2, 0.5}, d[] = {0.5, -1, 0.25, 2, 0.75, -0.5, 0, 1, -0.125};
    double x[GBEES_MAX_DIM], normal[GBEES_MAX_DIM] = {0};

    for (int i = 0; i < COUNT; i++) {
        if (_i == 0)
            y[2][i] = 7; /* one cell along an axis */
        else if (_i == 1)
            y[2][i] = y[0][i] - 2 * y[1][i];
        else
            y[0][i] = y[1][i] = y[2][i] = -4;
    }
    set_affine_drift(&frame, c, d);
    const gbees_affine field = fit_of(&points, &frame);
    ck_assert_int_eq(field.rank, _i == 2 ? 0 : 2);
    for (int i = 0; i < COUNT; i += 25)
        for (int j = 0; j < n; j++) {
            place(&frame, i, x);
            ck_assert_double_eq_tol(value_of(&field, n, x, j), f[j][i], 1e-9);
        }
    normal[0] = _i == 1 ? 1 : 0;
    normal[1] = _i == 1 ? -2 : 0;
    normal[2] = _i == 1 ? -1 : 1;
    for (int j = 0; j < n; j++) {
        double across = 0; /* B A normal */

        for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++)
                across += field.b[j * n + k] * frame.a[k * n + l] * normal[l];
        ck_assert_double_eq_tol(across, 0, 1e-9);
    }
}
END_TEST

/* What can't be fitted is an error with a text, and the field stays. */
START_TEST(bad_sums_are_errors)
{
    const int n = 2;
    gbees_moving_frame frame = some_frame(n);
    const weighted_points points = some_points(n);
    const double c[] = {1, 2}, d[] = {0.5, -1, 0.25, 2};
    gbees_affine field = {.rank = 77};
    gbees_affine_sums sums;
    gbees_error error = {0};
    const char *text;

    set_affine_drift(&frame, c, d);
    sum_points(&points, &sums);
    if (_i == 0) {
        sums.mass = 0;
        text = "vanished";
    } else if (_i == 1) {
        sums.yy[3] = NAN;
        text = "covariance";
    } else if (_i == 2) {
        sums.fy[0] = INFINITY;
        text = "drift is not finite";
    } else {
        frame.a[0] = frame.a[1] = frame.a[2] = frame.a[3] = 1;
        text = "singular";
    }
    ck_assert_int_eq(gbees_affine_fit(&sums, &frame, &field, &error), GBEES_ENUMERIC);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
    ck_assert_int_eq(field.rank, 77);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("affine");
    TCase *fits = tcase_create("fits");

    tcase_add_loop_test(fits, exact_for_an_affine_drift, 1, GBEES_MAX_DIM + 1);
    tcase_add_loop_test(fits, least_squares_of_a_curved_drift, 1, GBEES_MAX_DIM + 1);
    tcase_add_loop_test(fits, directions_without_cells, 0, 3);
    tcase_add_loop_test(fits, bad_sums_are_errors, 0, 4);
    suite_add_tcase(suite, fits);
    return run_suite(suite);
}
