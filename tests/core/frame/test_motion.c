/* test_motion.c - the motion of a frame in affine fields: closed forms, and predictions on a line. */
#include "fixtures/suite.h"
#include "frame/motion.h"
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void step(const gbees_affine *field, double dt, gbees_moving_frame *frame)
{
    gbees_error error = {0};

    ck_assert_msg(gbees_motion_step(field, dt, frame, &error) == GBEES_OK, "%s", error.text);
}

static void check_edges(const gbees_moving_frame *frame, const double *a, double tolerance)
{
    for (int k = 0; k < frame->n * frame->n; k++)
        ck_assert_double_eq_tol(frame->a[k], a[k], tolerance);
}

/* A rotation about a point, by up to 30 rad, in units of x that differ by `unit`. */
START_TEST(rotation)
{
    static const double angles[] = {1e-6, 0.3, 3, 30}, units[] = {1, 1e8};
    const double angle = angles[_i % 4], unit = units[_i / 4], c = cos(angle), s = sin(angle);
    const gbees_affine field = {.centre = {3, -unit}, .b = {0, -1 / unit, unit, 0}};
    gbees_moving_frame frame = {.n = 2, .m = {5, -unit}, .a = {2, 0, 0, unit}};
    const double edges[] = {2 * c, -s, 2 * unit * s, unit * c};

    step(&field, angle, &frame);
    ck_assert_double_eq_tol(frame.m[0], 3 + 2 * c, 1e-12);
    ck_assert_double_eq_tol(frame.m[1] / unit, -1 + 2 * s, 1e-12);
    for (int k = 0; k < 4; k++)
        ck_assert_double_eq_tol(frame.a[k] / (k > 1 ? unit : 1), edges[k] / (k > 1 ? unit : 1), 1e-12);
}
END_TEST

/* dx_2/dt = -3 x_1 without any other motion, as of orbital elements: B is nilpotent, and steps may be of any length.
 */
START_TEST(shear)
{
    static const double lengths[] = {1e-3, 1, 1e6};
    const double dt = lengths[_i];
    const gbees_affine field = {.a = {0, 0.5}, .b = {0, 0, -3, 0}, .centre = {1, 2}};
    gbees_moving_frame frame = {.n = 2, .m = {1.5, 7}, .a = {0.25, 0, 0, 4}};
    const double edges[] = {0.25, 0, -0.75 * dt, 4};

    step(&field, dt, &frame);
    ck_assert_double_eq(frame.m[0], 1.5);
    ck_assert_double_eq_tol(frame.m[1], 7 + dt * (0.5 - 3 * 0.5), 1e-15 * (1 + dt));
    check_edges(&frame, edges, 1e-15 * (1 + dt));
}
END_TEST

/* Decay at rates from 1 to 1e4, and growth: m goes to the fixed point, edges are scaled one by one. Rounding errors
 * are of the size of the norm of B dt. */
START_TEST(stiff_contraction)
{
    static const double rate[] = {-1, -50, -1e4, 0.5}, dt = 0.75, rounding = 2 * DBL_EPSILON * 1e4 * 0.75;
    gbees_affine field = {.a = {1, 1, 1, 1}};
    gbees_moving_frame frame = {.n = 4, .m = {2, 2, 2, 2}}, before;

    for (int j = 0; j < 4; j++) {
        field.b[j * 5] = rate[j];
        for (int k = 0; k < 4; k++)
            frame.a[j * 4 + k] = j == k ? 1 + j : 0.125 * (j - k);
    }
    before = frame;
    step(&field, dt, &frame);
    for (int j = 0; j < 4; j++) {
        const double grown = exp(rate[j] * dt);

        ck_assert_double_eq_tol(frame.m[j], 2 * grown + expm1(rate[j] * dt) / rate[j], rounding);
        for (int k = 0; k < 4; k++)
            ck_assert_double_eq_tol(frame.a[j * 4 + k], before.a[j * 4 + k] * grown, rounding);
    }
}
END_TEST

/* Of a full B: two steps are one, back is where it was, and det A grows with the trace. */
START_TEST(steps_add_up)
{
    const gbees_affine field = {.a = {1, -1, 0.5}, .b = {0.2, -3, 1, 2, -0.4, 0.7, -1, 2, 0.5}, .centre = {1, 2, 3}};
    const gbees_moving_frame start = {.n = 3, .m = {0, 1, -1}, .a = {1, 0.2, 0, -0.3, 2, 0.1, 0, 0.4, 0.5}};
    gbees_moving_frame once = start, twice = start;
    double volume[2];

    step(&field, 1.5, &once);
    step(&field, 0.25, &twice);
    step(&field, 1.25, &twice);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(twice.m[j], once.m[j], 1e-12 * (1 + fabs(once.m[j])));
    check_edges(&twice, once.a, 1e-12);
    for (int k = 0; k < 2; k++) {
        const double *a = k ? once.a : start.a;

        volume[k] = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                    a[2] * (a[3] * a[7] - a[4] * a[6]);
    }
    ck_assert_double_eq_tol(volume[1] / volume[0], exp(1.5 * (0.2 - 0.4 + 0.5)), 1e-12);
    step(&field, -1.5, &once);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(once.m[j], start.m[j], 1e-11);
    check_edges(&once, start.a, 1e-11);
}
END_TEST

/* Fits whose parts are linear in time are predicted exactly, up to twice the last distance ahead; before there are
 * two the last one holds, and none is no motion. */
START_TEST(predictions)
{
    gbees_motion_fits fits = {0};
    gbees_affine fit = {0}, field;

    gbees_motion_predict(&fits, 2, 1, &field);
    ck_assert_double_eq(field.a[0], 0);
    for (int k = 0; k < 3; k++) {
        const double time = 1 + 0.5 * k;

        fit.a[0] = 2 * time;
        fit.b[1] = 1 - time;
        fit.centre[1] = 3 * time;
        gbees_motion_note(&fits, time, &fit);
        gbees_motion_predict(&fits, 2, time + 0.25, &field);
        ck_assert_double_eq_tol(field.a[0], 2 * (time + (k ? 0.25 : 0)), 1e-14);
        ck_assert_double_eq_tol(field.b[1], 1 - (time + (k ? 0.25 : 0)), 1e-14);
        ck_assert_double_eq_tol(field.centre[1], 3 * (time + (k ? 0.25 : 0)), 1e-14);
    }
    gbees_motion_predict(&fits, 2, 10, &field);
    ck_assert_double_eq_tol(field.a[0], 2 * (2 + 2 * 0.5), 1e-14);
    fit.a[0] = 9;
    gbees_motion_note(&fits, 2, &fit); /* again for the same time */
    ck_assert_double_eq(fits.time[0], 1.5);
    ck_assert_double_eq(fits.fit[1].a[0], 9);
}
END_TEST

/* In a field a(t) that is linear in time the middle frame is that of the exact path, to third order in the step. */
START_TEST(the_middle_of_a_step)
{
    gbees_motion_fits fits = {0};
    const gbees_affine fit[] = {{.a = {1}}, {.a = {3}}};
    gbees_moving_frame frame = {.n = 1, .a = {1}};
    gbees_error error = {0};

    gbees_motion_note(&fits, 0, &fit[0]);
    gbees_motion_note(&fits, 1, &fit[1]); /* a = 1 + 2 t: m = t + t^2 */
    ck_assert_int_eq(gbees_motion_middle(&fits, 1, 0.5, &frame, &error), GBEES_OK);
    ck_assert_double_eq_tol(frame.m[0], (1.25 + 1.25 * 1.25) - 2, 1e-14);
}
END_TEST

START_TEST(bad_motions_are_errors)
{
    static const char *const texts[] = {"singular", "not finite", "grows too fast"};
    gbees_affine field = {.b = {1, 0, 0, 1}};
    gbees_moving_frame frame = {.n = 2, .a = {1, 0, 0, 1}};
    gbees_error error = {0};

    if (_i == 0)
        frame.a[3] = 0;
    else
        field.b[0] = _i == 1 ? NAN : 1e4;
    const gbees_moving_frame before = frame;
    ck_assert_int_eq(gbees_motion_step(&field, 1, &frame, &error), GBEES_ENUMERIC);
    ck_assert_msg(strstr(error.text, texts[_i]) != NULL, "%s", error.text);
    ck_assert_mem_eq(&frame, &before, sizeof frame);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("motion");
    TCase *motion = tcase_create("motion");

    tcase_add_loop_test(motion, rotation, 0, 8);
    tcase_add_loop_test(motion, shear, 0, 3);
    tcase_add_test(motion, stiff_contraction);
    tcase_add_test(motion, steps_add_up);
    tcase_add_test(motion, predictions);
    tcase_add_test(motion, the_middle_of_a_step);
    tcase_add_loop_test(motion, bad_motions_are_errors, 0, 3);
    suite_add_tcase(suite, motion);
    return run_suite(suite);
}
