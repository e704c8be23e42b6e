/* test_motion.c - motions that are known: a velocity that varies in time, rotation, cells against bricks, whole and
 * cut off; and drifts that are not a number. The CPU alone has bricks of one cell and the reference modes. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

/* A velocity a + b cos t, the same everywhere: the mean follows a t + b sin t, to the second order of the step. */
static double beat_error(rig *r, double step)
{
    const double length = 1.6;

    r->problem.numerics.time_step = step;
    rig_start(r, 1);
    rig_until(r, length);
    double mean = rig_statistics(r).mean[0];
    return fabs(mean - (r->problem.mean[0] + 1.5 * length + sin(length)));
}

START_TEST(velocities_vary_in_time)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open(&r, backend, n, n == 1 ? 80 : 60);
    rig_straighten(&r);
    r.problem.threshold = 1e-10;
    for (int j = 0; j < n; j++) {
        r.problem.parameters[VELOCITY + j] = j ? -0.6 : 1.5;
        r.problem.width[j] = 1; /* steps that are long for the beat, and a density that is smooth on the cells */
        for (int k = 0; k < n; k++)
            r.problem.covariance[j * n + k] = j == k ? pow(r.problem.width[j] * r.problem.extent[j] / 4, 2) : 0;
    }
    r.problem.parameters[BEAT] = 1;
    double coarse = beat_error(&r, 0.32), middle = beat_error(&r, 0.16), fine = beat_error(&r, 0.08);
    ck_assert_msg(log2(coarse / middle) > 1.8 && log2(middle / fine) > 1.6, "errors %.3g, %.3g, %.3g", coarse, middle,
                  fine);
    rig_close(&r);
}
END_TEST

/* A velocity that vanishes everywhere at t = 1.77 and 4.51, where its rate allows any step. */
START_TEST(steps_grow_slowly_where_a_drift_vanishes)
{
    const advect_place *at = &places[_i];
    const double length = 6, beat = 5;
    rig r;

    if (!is_built(at->backend) || !is_planar(at))
        return;
    rig_open(&r, at->backend, at->n, 24);
    rig_straighten(&r);
    r.problem.threshold = 1e-10;
    for (int j = 0; j < at->n; j++) {
        r.problem.parameters[VELOCITY + j] = 1;
        r.problem.width[j] = 0.25;
        for (int k = 0; k < at->n; k++)
            r.problem.covariance[j * at->n + k] = j == k ? 1 : 0;
    }
    r.problem.parameters[BEAT] = beat;
    rig_start(&r, 1);
    rig_until(&r, length);
    for (int j = 0; j < at->n; j++)
        ck_assert_double_eq_tol(rig_statistics(&r).mean[j], r.problem.mean[j] + length + beat * sin(length), 0.05);
    rig_close(&r);
}
END_TEST

/* The errors of mean and covariance after a turn of 0.8 about the origin. */
static void turn(rig *r, int extent, double *mean_error, double *spread)
{
    const double angle = 0.8, x = 2, y = 1;
    gbees_problem *p = &r->problem;

    rig_straighten(r);
    p->parameters[ROTATION] = 1; /* x' = -y, y' = x */
    p->threshold = 1e-13;
    for (int j = 0; j < 2; j++) {
        p->mean[j] = j ? y : x;
        p->extent[j] = extent;
        p->width[j] = 3.0 / extent;
    }
    const double covariance[] = {0.36, 0, 0, 0.36};
    memcpy(p->covariance, covariance, sizeof covariance);
    rig_start(r, 2);
    rig_until(r, angle);
    gbees_statistics s = rig_statistics(r);
    *mean_error = hypot(s.mean[0] - (cos(angle) * x - sin(angle) * y), s.mean[1] - (sin(angle) * x + cos(angle) * y));
    *spread = (s.covariance[0] + s.covariance[3]) / 2 - 0.36;
    ck_assert_double_lt(fabs(s.covariance[1]), 0.02);
    ck_assert_double_eq(s.covariance[1], s.covariance[2]);
}

START_TEST(rotation_converges)
{
    const char *backend = backend_names[_i];
    double mean[3], spread[3];
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, 2, 3);
    for (int k = 0; k < 3; k++)
        turn(&r, 15 << k, &mean[k], &spread[k]);
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(log2(mean[k] / mean[k + 1]) > 1.6, "means off by %.3g, %.3g, %.3g", mean[0], mean[1], mean[2]);
        ck_assert_msg(fabs(spread[k + 1]) < 0.4 * fabs(spread[k]), "variances grown by %.3g, %.3g, %.3g", spread[0],
                      spread[1], spread[2]);
    }
    ck_assert_double_lt(mean[0], 0.01);
    ck_assert_double_lt(fabs(spread[0]), 0.005);
    rig_close(&r);
}
END_TEST

/* ---- not a number --------------------------------------------------------------------------------------------- */

static void says_not_finite(const rig *r, int status, const char *when)
{
    ck_assert_int_eq(status, GBEES_ENUMERIC);
    ck_assert_int_eq(r->error.status, GBEES_ENUMERIC);
    ck_assert_msg(strstr(r->error.text, "the drift of advect is not finite") && strstr(r->error.text, when),
                  "\"%s\" does not name the model and %s", r->error.text, when);
}

/* A slab so thin that it holds one plane of face centres: wherever that lies in a brick, it is found. */
START_TEST(one_face_that_is_not_a_number_is_found)
{
    for (int n = 1; n <= 3; n++) {
        rig r;

        rig_open(&r, _i == 2 ? "paper" : "cpu", n, 6);
        r.problem.start = 0.25;
        r.problem.numerics.precision = _i == 1 ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.parameters[HOLE_HALF] = 0.1 * r.problem.width[0];
        for (int k = -6; k <= 6; k++) {
            r.problem.parameters[HOLE] = r.problem.mean[0] + r.problem.width[0] * (k + 0.5);
            says_not_finite(&r, rig_try(&r, 1), "t = 0.25");
            ck_assert_ptr_null(r.engine);
        }
        r.problem.parameters[HOLE] = r.problem.mean[0] + 1000;
        rig_start(&r, 1);
        rig_close(&r);
    }
}
END_TEST

/* Velocities that can be told, and a divergence that can't. */
START_TEST(a_divergence_that_overflows_is_found)
{
    for (int n = 1; n <= 3; n++)
        for (int kind = 0; kind < 4; kind++) {
            rig r;

            rig_open(&r, "cpu", n, 6);
            rig_straighten(&r);
            r.problem.numerics.scheme = kind & 1 ? GBEES_SCHEME_SPLIT5 : GBEES_SCHEME_CTU;
            r.problem.numerics.precision = kind & 2 ? GBEES_MIXED : GBEES_DOUBLE;
            for (int j = 0; j < n; j++)
                r.problem.width[j] = 1.5;
            r.problem.parameters[HOLE] = r.problem.mean[0] + 3;
            r.problem.parameters[JUMP] = kind & 2 ? 1.5e38 : 8e307; /* half of it is no number's limit: all is well */
            rig_start(&r, 1);
            r.problem.parameters[JUMP] *= 2;
            for (int side = 0; side < 2; side++) { /* apart, and together */
                r.problem.parameters[JUMP] *= side ? -1 : 1;
                says_not_finite(&r, rig_try(&r, 1), "near x1 = ");
            }
            rig_close(&r);
        }
}
END_TEST

START_TEST(a_drift_that_becomes_not_a_number_stops_the_run)
{
    const char *backend = backend_names[_i];
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, 2, 4);
    rig_straighten(&r);
    r.problem.parameters[VELOCITY] = 1;
    r.problem.threshold = 1e-4;
    for (int kind = 0; kind < 2; kind++) {
        if (!is_cpu(backend) && kind > 0)
            continue;
        r.problem.numerics.precision = kind == 1 ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.parameters[HOLE] = 4;
        r.problem.parameters[HOLE_HALF] = 0.5;
        rig_start(&r, 1);
        r.clock.length = 20;
        says_not_finite(&r, r.backend->advance(r.engine, &r.clock, UINT64_MAX, &r.error), "near x1 = ");
        ck_assert_double_gt(r.clock.time, 0.5);
        ck_assert_double_lt(r.clock.time, 4);
    }
    rig_close(&r);
}
END_TEST

START_TEST(impossible_problems_are_refused)
{
    rig r;

    rig_open(&r, "cpu", 2, 4);
    r.problem.covariance[1] = r.problem.covariance[2] = 10;
    ck_assert_int_eq(rig_try(&r, 1), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(r.error.text, "covariance"));
    ck_assert_ptr_null(r.engine);
    rig_close(&r);
}
END_TEST

START_TEST(a_threshold_above_all_cells_is_an_error)
{
    const char *backend = backend_names[_i];
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, 2, 4);
    r.problem.threshold = 0.9;
    ck_assert_int_eq(rig_try(&r, 1), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(r.error.text, "threshold"));
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("motion");
    TCase *motion = tcase_create("motion"), *errors = tcase_create("errors");

    tcase_set_timeout(motion, 60);
    tcase_add_loop_test(motion, velocities_vary_in_time, 0, places_to(2));
    tcase_add_loop_test(motion, steps_grow_slowly_where_a_drift_vanishes, 0, places_to(2));
    tcase_add_loop_test(motion, rotation_converges, 0, BACKENDS);
    tcase_set_timeout(errors, 60);
    tcase_add_loop_test(errors, one_face_that_is_not_a_number_is_found, 0, 3);
    tcase_add_test(errors, a_divergence_that_overflows_is_found);
    tcase_add_loop_test(errors, a_drift_that_becomes_not_a_number_stops_the_run, 0, BACKENDS);
    tcase_add_test(errors, impossible_problems_are_refused);
    tcase_add_loop_test(errors, a_threshold_above_all_cells_is_an_error, 0, BACKENDS);
    suite_add_tcase(suite, motion);
    suite_add_tcase(suite, errors);
    return run_suite(suite);
}
