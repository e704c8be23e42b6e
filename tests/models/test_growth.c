/* test_growth.c - the growth model over 50 steps with a measurement at each, simulated here, beside a direct
 * quadrature of its prediction and update on a fine grid. */
#include "fixtures/world_fixture.h"
#include "numerics/philox.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 50, POINTS = 1601, TEXT = 1 << 13 };

static const double pi = 3.14159265358979323846, most = 40, apart = 0.05, noise = 10, start = 5;

static double step_to(double x, int k)
{
    return x / 2 + 25 * x / (1 + x * x) + 8 * cos(1.2 * k);
}

static double gaussian(double off, double variance)
{
    return exp(-0.5 * off * off / variance) / sqrt(2 * pi * variance);
}

/* ---- what is measured ---- */

static void simulate(double *y)
{
    double z[4], x;

    gbees_normals(7, 0, 0, 0, 0, z);
    x = sqrt(start) * z[0];
    for (int k = 1; k <= STEPS; k++) {
        gbees_normals(7, (uint64_t)k, 0, 0, 0, z);
        x = step_to(x, k) + sqrt(noise) * z[0];
        y[k - 1] = x * x / 20 + z[1];
    }
}

/* ---- the quadrature ---- */

/* By the trapezoid rule, which is as good as exact for integrands that are smooth over some points. */
typedef struct quadrature {
    double p[POINTS], log_evidence, mean[STEPS];
} quadrature;

static double at(int i)
{
    return -most + apart * i;
}

static void predict(quadrature *q, int k)
{
    static double next[POINTS];

    memset(next, 0, sizeof next);
    for (int i = 0; i < POINTS; i++) {
        const double middle = step_to(at(i), k), reach = 9 * sqrt(noise);

        for (int j = 0; j < POINTS && q->p[i] > 1e-30; j++)
            if (fabs(at(j) - middle) < reach)
                next[j] += apart * q->p[i] * gaussian(at(j) - middle, noise);
    }
    memcpy(q->p, next, sizeof next);
}

static void update(quadrature *q, double y, int k)
{
    double sum = 0;

    for (int i = 0; i < POINTS; i++) {
        q->p[i] *= gaussian(y - at(i) * at(i) / 20, 1);
        sum += apart * q->p[i];
    }
    q->log_evidence += log(sum);
    for (int i = 0; i < POINTS; i++) {
        q->p[i] /= sum;
        q->mean[k - 1] += apart * q->p[i] * at(i);
    }
}

/* ---- the run ---- */

typedef struct outcome {
    int jumps, records;
    double log_evidence, mean[STEPS], deviation[STEPS];
} outcome;

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    outcome *o = context;

    (void)error;
    if (record->leg > 0 && record->number == 0) {
        o->mean[record->leg - 1] = record->statistics.mean[0];
        o->deviation[record->leg - 1] = sqrt(record->statistics.covariance[0]);
    }
    o->records++;
    return 0;
}

static int on_update(void *context, const gbees_problem *problem, int number, double time,
                     const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem, (void)number, (void)time, (void)error;
    ((outcome *)context)->log_evidence = evidence->total;
    return 0;
}

static int on_jump(void *context, const gbees_problem *problem, int number, double time, gbees_error *error)
{
    (void)error;
    ck_assert_int_eq(number, ++((outcome *)context)->jumps);
    ck_assert_double_eq(problem->instants[number - 1].time, time);
    return 0;
}

static outcome run_all(const double *y)
{
    static char list[TEXT];
    outcome o = {0};
    const gbees_observer observer = {.context = &o, .record = on_record, .update = on_update, .jump = on_jump};
    size_t length = (size_t)snprintf(list, sizeof list, "measurements=[");
    world w;

    for (int k = 1; k <= STEPS; k++)
        length += (size_t)snprintf(list + length, sizeof list - length,
                                   "%s{time: %d, function: y, value: [%.17g], covariance: [1]}", k > 1 ? ", " : "", k,
                                   y[k - 1]);
    (void)snprintf(list + length, sizeof list - length, "]");
    world_create(&w, "growth", (setting_list){list, "end=50"});
    ck_assert_msg(world_run(&w, 1, &observer, NULL) == GBEES_OK, "%s", w.error.text);
    world_close(&w);
    return o;
}

START_TEST(as_by_quadrature)
{
    static quadrature q;
    double y[STEPS];

    simulate(y);
    for (int i = 0; i < POINTS; i++)
        q.p[i] = gaussian(at(i), start);
    for (int k = 1; k <= STEPS; k++) {
        predict(&q, k);
        update(&q, y[k - 1], k);
    }
    const outcome o = run_all(y);
    ck_assert_int_eq(o.jumps, STEPS);
    ck_assert_int_eq(o.records, 2 * STEPS + 1);
    ck_assert_msg(fabs(o.log_evidence - q.log_evidence) < 0.02, "log evidence %.6f, by quadrature %.6f",
                  o.log_evidence, q.log_evidence);
    for (int k = 0; k < STEPS; k++)
        ck_assert_msg(fabs(o.mean[k] - q.mean[k]) < 0.02 * o.deviation[k], "step %d: mean %.6f, by quadrature %.6f",
                      k + 1, o.mean[k], q.mean[k]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("growth");
    TCase *tcase = tcase_create("steps");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, as_by_quadrature);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
