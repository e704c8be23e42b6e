/* test_moving_noise.c - process noise on a grid that moves, beside exact Gaussians: drift and noise of a linear model
 * are no matter how long the steps are, and Q may be of any correlation. On the CPU, and by the CUDA engine's kernels
 * on threads. */
#include "fixtures/kalman.h"
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

/* ---- exact answers: dm/dt = B m, dC/dt = B C + C B^T + Q(t) ------------------------------------------------------
 */

typedef struct equation {
    int n;
    double b[KALMAN_SQUARE], q[KALMAN_SQUARE], rise; /* Q(t) = (1 + rise t) q */
} equation;

static void rates(const equation *e, double time, const kalman_state *at, kalman_state *rate)
{
    double product[KALMAN_SQUARE];
    const int n = e->n;

    kalman_multiply(n, e->b, at->covariance, 0, product);
    for (int i = 0; i < n; i++) {
        rate->mean[i] = 0;
        for (int j = 0; j < n; j++) {
            rate->mean[i] += e->b[i * n + j] * at->mean[j];
            rate->covariance[i * n + j] =
                product[i * n + j] + product[j * n + i] + (1 + e->rise * time) * e->q[i * n + j];
        }
    }
}

static void move(const kalman_state *from, double by, const kalman_state *rate, kalman_state *to)
{
    *to = *from;
    for (int i = 0; i < KALMAN_DIM; i++)
        to->mean[i] += by * rate->mean[i];
    for (int k = 0; k < KALMAN_SQUARE; k++)
        to->covariance[k] += by * rate->covariance[k];
}

/* Runge and Kutta's method with steps of a thousandth. */
static void predict(const equation *e, double from, double to, kalman_state *s)
{
    const int steps = (int)ceil((to - from) * 1000);
    const double dt = (to - from) / steps;
    kalman_state at, rate[4] = {{.n = 0}};

    for (int k = 0; k < steps; k++) {
        const double time = from + k * dt;

        rates(e, time, s, &rate[0]);
        move(s, dt / 2, &rate[0], &at);
        rates(e, time + dt / 2, &at, &rate[1]);
        move(s, dt / 2, &rate[1], &at);
        rates(e, time + dt / 2, &at, &rate[2]);
        move(s, dt, &rate[2], &at);
        rates(e, time + dt, &at, &rate[3]);
        for (int r = 0; r < 4; r++)
            move(s, dt / 6 * (r == 0 || r == 3 ? 1 : 2), &rate[r], s);
    }
}

/* Holds a record against the exact state. */
static void check(const kept_record *record, const kalman_state *exact, double mean, double covariance)
{
    const kalman_error error = kalman_compare(exact, &record->record.statistics);

    ck_assert_msg(error.mean < mean && error.covariance < covariance, "t = %g: mean off by %g, covariance by %g",
                  record->record.time, error.mean, error.covariance);
}

/* ---- linear: noise on each link, and a measurement ---------------------------------------------------------------
 */

/* What p* leaves out is some 3e-4 with four states. */
START_TEST(links_with_noise)
{
    static const char *const dimension[] = {"dimension=1", "dimension=2", "dimension=3", "dimension=4"};
    const int n = _i + 1;
    const a_case of = {"linear",
                       "cpu",
                       {dimension[_i], "frame=moving", "precision=double", "mean=[2, ...]", "covariance=[0.25, ...]",
                        "parameters={noise: 0.3}", "extent=5", "threshold=1e-9", "factor=1",
                        n < 4 ? "end=3" : "end=1", n < 4 ? "records=3" : "records=1", "measurements=[]"}};
    equation e = {.n = n};
    kalman_state exact = {.n = n};
    kept_run *run = run_with(&of, "cpu", 2, 0);

    for (int j = 0; j < n; j++) {
        e.b[j * n + j] = -0.1;
        if (j + 1 < n)
            e.b[j * n + j + 1] = 1.25, e.b[(j + 1) * n + j] = -0.8;
        e.q[j * n + j] = 0.3;
        exact.mean[j] = 2;
        exact.covariance[j * n + j] = 0.25;
    }
    for (int k = 1; k < run->count; k++) {
        predict(&e, run->record[k - 1].record.time, run->record[k].record.time, &exact);
        check(&run->record[k], &exact, 1e-5, 1e-3);
    }
    ck_assert_int_gt((int)run->record[run->count - 1].record.frame.replaced, 0);
    forget(run);
}
END_TEST

START_TEST(a_measurement_between)
{
    static const a_case of = {"linear",
                              "cpu",
                              {"dimension=2", "frame=moving", "precision=double", "mean=[2, ...]",
                               "covariance=[0.25, ...]", "parameters={noise: 0.3}", "extent=5", "threshold=1e-9",
                               "factor=1.5", "end=2", "records=1",
                               "measurements=[{time: 1, function: x1, value: [3.5], covariance: [0.04]}]"}};
    const equation e = {.n = 2, .b = {-0.1, 1.25, -0.8, -0.1}, .q = {0.3, 0, 0, 0.3}};
    kalman_state exact = {.n = 2, .mean = {2, 2}, .covariance = {0.25, 0, 0, 0.25}};
    kept_run *run = run_with(&of, "cpu", 2, 0);

    predict(&e, 0, 1, &exact);
    const double evidence = kalman_update(&exact, 3.5, 0.04);
    predict(&e, 1, 2, &exact);
    ck_assert_double_eq_tol(run->evidence[0].log_evidence, evidence, 1e-3);
    check(&run->record[run->count - 1], &exact, 1e-3, 2e-3);
    forget(run);
}
END_TEST

/* ---- noise: along one direction alone, and rising with time ------------------------------------------------------
 */

#define ALONG_A_LINE                                                                                                 \
    "dimension=2", "frame=moving", "precision=double", "scheme=split5", "mean=[1, -1]", "covariance=[0.25, 0.25]",   \
        "extent=5", "threshold=1e-9", "factor=1", "end=2", "records=2", "measurements=[]", "bound=off",              \
        "parameters={growth: -0.3, shear: 2, own: 0.4, beside: 0.4, rise: 0.5}"

/* Q has rank 1, and the frame turns away from it. */
START_TEST(noise_along_a_line)
{
    static const a_case of = {"noise", "cpu", {ALONG_A_LINE}};
    const equation e = {.n = 2, .b = {-0.3, 2, 0, -0.3}, .q = {0.4, 0.4, 0.4, 0.4}, .rise = 0.5};
    kalman_state exact = {.n = 2, .mean = {1, -1}, .covariance = {0.25, 0, 0, 0.25}};

    if (!is_built(backend_names[_i]))
        return;
    kept_run *run = run_on(&of, backend_names[_i]);
    for (int k = 1; k < run->count; k++) {
        predict(&e, run->record[k - 1].record.time, run->record[k].record.time, &exact);
        check(&run->record[k], &exact, 1e-5, 1e-3);
    }
    forget(run);
}
END_TEST

/* ---- what is refused ---------------------------------------------------------------------------------------------
 */

START_TEST(noise_that_differs_from_place_to_place)
{
    static const a_case of = {
        "noise", "cpu", {ALONG_A_LINE, "parameters={growth: -0.3, shear: 2, own: 0.4, square: 0.1}"}};
    kept_run *run = try_run(&of, "cpu");

    ck_assert_int_eq(run->status, GBEES_EUSAGE);
    ck_assert_msg(strstr(run->error.text, "is not the same all over the density") != NULL, "%s", run->error.text);
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moving noise");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, links_with_noise, 0, 4);
    tcase_add_test(tests, a_measurement_between);
    tcase_add_loop_test(tests, noise_along_a_line, 0, BACKENDS);
    tcase_add_test(tests, noise_that_differs_from_place_to_place);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
