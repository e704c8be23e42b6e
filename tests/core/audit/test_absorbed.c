/* test_absorbed.c - samples that targets absorb, beside exact probabilities: noise and a drift between bounds,
 * circles that are left and that are hit, by steps that are much longer than the way to the boundary; trajectories
 * that pass a sphere within a step; what an update begins again; the same bits on any number of threads. */
#include "audit/samples.h"
#include "audit/targets.h"
#include "fixtures/backends.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 200000, FEWER = SAMPLES / 8, POINTS = 20000, NODES = 400, ZEROS = 8 };

static const double pi = 3.14159265358979323846;

/* ---- what is left of dx = u dt + dW and the like ---- */

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* From N(0, 0.1^2) with the drift 0.5, absorbed at 1, by an image. */
static double left_of_drift(double t)
{
    const double u = 0.5, s = 0.1, width = sqrt(t + s * s);

    return normal((1 - u * t) / width) -
           exp(2 * u + 2 * u * u * s * s) * normal((-1 - u * t - 2 * u * s * s) / width);
}

/* From N(0, 0.1^2) with the drift -x, absorbed at -1 and 1: the backward equation S_t = S''/2 - x S' by Crank and
 * Nicolson's scheme, on -1 + 2 k / NODES. */
static double left_of_pull(double t)
{
    const double h = 2.0 / NODES, dt = 1e-3;
    double s[NODES + 1], up[NODES + 1], right[NODES + 1], sum = 0, all = 0;

    for (int k = 0; k <= NODES; k++)
        s[k] = k > 0 && k < NODES;
    for (int step = 0; step < (int)round(t / dt) + 4; step++) {
        const double by = step < 8 ? dt / 2 : dt, old = step < 8 ? 0 : 0.5; /* implicit at first */

        up[0] = right[0] = right[NODES] = 0;
        for (int k = 1; k < NODES; k++) {
            const double x = -1 + h * k, lower = 0.5 / (h * h) + x / (2 * h), upper = 0.5 / (h * h) - x / (2 * h);
            const double rate = lower * s[k - 1] - s[k] / (h * h) + upper * s[k + 1];
            const double pivot = 1 + by * (1 - old) * (1 / (h * h) - lower * up[k - 1]);

            up[k] = by * (1 - old) * upper / pivot;
            right[k] = (s[k] + by * old * rate + by * (1 - old) * lower * right[k - 1]) / pivot;
        }
        for (int k = NODES - 1; k > 0; k--)
            s[k] = right[k] + up[k] * s[k + 1] * (k + 1 < NODES);
    }
    for (int k = 0; k <= NODES; k++) {
        const double x = -1 + h * k, p = exp(-x * x / (2 * 0.01));

        sum += p * s[k];
        all += p;
    }
    return sum / all;
}

/* Without a drift in the plane, from N(0, 0.1^2 I), absorbed out of a circle of radius 1: as from 0 at the time
 * -0.1^2, by the zeros of Bessel's function. */
static double left_in_circle(double t)
{
    double sum = 0;

    for (int k = 1; k <= ZEROS; k++) {
        double zero = (k - 0.25) * pi;

        for (int newton = 0; newton < 8; newton++)
            zero += j0(zero) / j1(zero);
        sum += 2 / (zero * j1(zero)) * exp(-zero * zero * (t + 0.01) / 2);
    }
    return sum;
}

/* Without a drift in the plane, from the distance 0.5, absorbed in a circle of radius 0.1: H. S. Carslaw, J. C.
 * Jaeger, Conduction of Heat in Solids, 1959, section 13.5, over the logarithm of u; by the functions' limits where
 * that is below -30. */
static double left_around(double t)
{
    const double r = 0.5, a = 0.1, low = -30, part = 35.0 / POINTS, euler = 0.57721566490153286;
    double sum = log(r / a) * (atan(2 / pi * (low + log(a / 2) + euler)) + pi / 2);

    for (int k = 0; k < POINTS; k++) {
        const double u = exp(low + part * (k + 0.5)), j = j0(u * a), y = y0(u * a);

        sum += part * exp(-u * u * t / 2) * (y0(u * r) * j - j0(u * r) * y) / (j * j + y * y);
    }
    return 2 / pi * sum;
}

/* With hardly any noise past a circle of radius 0.1, from a Gaussian of deviation 0.1. */
static double left_beside(double t)
{
    (void)t;
    return 2 * normal(-1);
}

/* By an integral over the circle in the plane of the encounter (S. Alfano, AAS 09-233, case 3). */
static double left_of_encounter(double t)
{
    (void)t;
    return 1 - 0.10035096;
}

#define ONE "targets.below=off"
#define PLANE "dimension=2", "mean=[0, 0]", "covariance=[0.01, 0.01]"

static const struct {
    const char *model;
    setting_list settings;
    double end, step;
    double (*left)(double t);
} cases[] = {
    {"exits", {ONE, "parameters.fx=0.5"}, 1, 1, left_of_drift},
    {"exits", {ONE, "parameters.fx=0.5"}, 2, 0.1, left_of_drift},
    {"exits", {"parameters.linear=-1"}, 1, 0.05, left_of_pull},
    {"exits", {"targets={out: absorb, above: off, below: off}", "parameters.linear=-1"}, 1, 0.05, left_of_pull},
    {"exits", {PLANE, "targets={out: absorb, above: off, below: off}"}, 0.5, 0.5, left_in_circle},
    {"exits", {PLANE, "targets={out: absorb, above: off, below: off}"}, 0.5, 0.1, left_in_circle},
    {"exits",
     {"dimension=2", "mean=[0.5, 0]", "covariance=[1e-10, 1e-10]", "parameters.high=0.1",
      "targets={spot: absorb, above: off, below: off}"},
     1,
     0.5,
     left_around},
    {"exits",
     {"dimension=2", "mean=[-1, 0]", "covariance=[0.01, 0.01]", "parameters.high=0.1", "parameters.fx=1",
      "parameters.Q=1e-8", "targets={spot: absorb, above: off, below: off}"},
     2,
     2,
     left_beside},
    {"encounter", {NULL}, 24, 24, left_of_encounter},
};

static void make(world *w, const char *model, const char *const *settings)
{
    const scenario_source from = {.settings = settings};

    ck_assert_msg(world_open(w, open_registry(), model, "cpu") == GBEES_OK, "%s", w->error.text);
    ck_assert_msg(world_make(w, &from) == GBEES_OK, "%s", w->error.text);
}

static gbees_montecarlo *draw(world *w, gbees_montecarlo_options how)
{
    gbees_montecarlo *samples = NULL;

    how.seed = 1;
    ck_assert_msg(gbees_montecarlo_create(w->problem, &how, &samples, &w->error) == GBEES_OK, "%s", w->error.text);
    return samples;
}

static void advance(world *w, gbees_montecarlo *samples, double time)
{
    ck_assert_msg(gbees_montecarlo_advance(samples, time, &w->error) == GBEES_OK, "%s", w->error.text);
}

/* What is left if samples are looked at after each step, and at no other time. */
static double left_plainly(world *w, double end, double step)
{
    gbees_montecarlo *samples = draw(w, (gbees_montecarlo_options){.count = FEWER, .step = step});
    unsigned char in[FEWER] = {0};
    double g[FEWER], left = 0;

    for (double t = step; t < end + step / 2; t += step) {
        advance(w, samples, t);
        for (int target = 0; target < w->problem->target_count; target++) {
            gbees_target_values(w->problem, target, t, FEWER, (const double *const *)samples->x, g);
            for (size_t i = 0; i < FEWER; i++)
                in[i] |= g[i] < 0;
        }
    }
    for (size_t i = 0; i < FEWER; i++)
        left += !in[i];
    gbees_montecarlo_destroy(samples);
    return left / FEWER;
}

START_TEST(as_many_are_left)
{
    const double end = cases[_i].end, step = cases[_i].step, exact = cases[_i].left(end);
    const double deviation = sqrt(exact * (1 - exact) / SAMPLES);
    world w;

    make(&w, cases[_i].model, cases[_i].settings);
    gbees_montecarlo *samples = draw(&w, (gbees_montecarlo_options){.count = SAMPLES, .step = step, .absorbed = 1});
    advance(&w, samples, end);
    const double left = (double)samples->count / SAMPLES, plainly = left_plainly(&w, end, step);
    ck_assert_msg(fabs(left - exact) < 4 * deviation, "%g is left, not %g: %.2g deviations off", left, exact,
                  (left - exact) / deviation);
    ck_assert_msg(plainly - exact > 20 * deviation, "plainly %g", plainly); /* so this test can fail */
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* ---- what is told ---- */

START_TEST(threads_do_not_matter)
{
    static const char *const settings[] = {PLANE, "targets={out: absorb, above: absorb, below: off}", NULL};
    world w;

    make(&w, "exits", settings);
    gbees_montecarlo *one = draw(&w, (gbees_montecarlo_options){FEWER, .step = 0.1, .threads = 1, .absorbed = 1});
    gbees_montecarlo *three = draw(&w, (gbees_montecarlo_options){FEWER, .step = 0.1, .threads = 3, .absorbed = 1});
    for (int k = 1; k <= 2; k++) {
        advance(&w, one, 0.2 * k);
        advance(&w, three, 0.2 * k);
    }
    ck_assert_uint_lt(one->count, FEWER);
    ck_assert_uint_eq(one->count, three->count);
    for (int j = 0; j < 2; j++)
        ck_assert_mem_eq(one->x[j], three->x[j], one->count * sizeof(double));
    ck_assert_mem_eq(&one->entries, &three->entries, sizeof one->entries);
    gbees_montecarlo_destroy(one);
    gbees_montecarlo_destroy(three);
    world_close(&w);
}
END_TEST

/* After an update that says nothing the count begins again: of those that were left at 0.5. */
START_TEST(an_update_begins_again)
{
    static const char *const settings[] = {
        ONE, "parameters.fx=0.5", "measurements=[{function: x, time: 0.5, value: [0], covariance: [1e6]}]", NULL};
    const double before = left_of_drift(0.5), after = left_of_drift(1);
    gbees_target_state state;
    world w;

    make(&w, "exits", settings);
    gbees_montecarlo *samples = draw(&w, (gbees_montecarlo_options){SAMPLES, .step = 0.1, .absorbed = 1});
    advance(&w, samples, 0.5);
    gbees_samples_targets(samples, SAMPLES, &state);
    ck_assert_double_le(fabs(state.probability - (1 - before)), 2 * state.bound); /* of two standard errors */
    ck_assert_double_eq_tol(state.bound, 2 * sqrt(before * (1 - before) / SAMPLES), 0.3 * state.bound);
    ck_assert_int_eq(gbees_montecarlo_update(samples, w.problem->measurements, &w.error), GBEES_OK);
    ck_assert_double_lt(samples->evidence.total_error, 1e-6);
    gbees_samples_targets(samples, SAMPLES, &state);
    ck_assert_double_eq(state.probability, 0);
    ck_assert(state.bound > 0 && state.bound < 1e-4);
    advance(&w, samples, 1);
    gbees_samples_targets(samples, SAMPLES, &state);
    ck_assert_double_le(fabs(state.probability - (1 - after / before)), 2 * state.bound);
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* Half of the samples are taken into a target by a jump, and the rest by the drift. */
START_TEST(all_are_taken)
{
    static const char *const settings[] = {"parameters.fx=9", "parameters.Q=0", "targets.below=off",
                                           "instants=[{time: 0, value: [1]}]", NULL};
    gbees_sample_moments moments;
    gbees_target_state state;
    world w;

    make(&w, "exits", settings);
    gbees_montecarlo *samples = draw(&w, (gbees_montecarlo_options){FEWER, .step = 0.1, .absorbed = 1});
    ck_assert_int_eq(gbees_montecarlo_jump(samples, 0, &w.error), GBEES_OK);
    gbees_samples_targets(samples, FEWER, &state);
    ck_assert_double_le(fabs(state.probability - 0.5), 2 * state.bound);
    for (int k = 1; k <= 2; k++) {
        ck_assert_int_eq(gbees_montecarlo_follow(samples, k, 1e-4, &w.error), GBEES_OK);
        ck_assert_int_eq(gbees_montecarlo_measure(samples, 0, &moments, &w.error), GBEES_OK);
        gbees_samples_targets(samples, 0, &state);
        ck_assert_double_eq(moments.effective, 0);
        ck_assert_double_eq(state.probability, 1);
    }
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("absorbed samples");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, as_many_are_left, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, threads_do_not_matter);
    tcase_add_test(tests, an_update_begins_again);
    tcase_add_test(tests, all_are_taken);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
