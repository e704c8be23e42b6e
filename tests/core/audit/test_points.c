/* test_points.c - certificates of grids by points that go with the flow: the Kalman filter is within them, also after
 * fifty precise measurements; no figure of a record is refuted by another; what fails gives way to samples. */
#include "fixtures/kalman.h"
#include "fixtures/world_fixture.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MOST = 128 };

typedef struct audited {
    int count, leg[RECORDS_MOST];
    double time[RECORDS_MOST];
    gbees_statistics statistics[RECORDS_MOST];
    gbees_certificate list[RECORDS_MOST];
    int updates;
    gbees_evidence evidence[RECORDS_MOST];
    gbees_summary summary;
    unsigned warnings;
} audited;

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    audited *all = context;

    (void)error;
    ck_assert_int_lt(all->count, RECORDS_MOST);
    all->leg[all->count] = record->leg;
    all->time[all->count] = record->time;
    all->statistics[all->count] = record->statistics;
    all->list[all->count++] = *record->certificate;
    all->warnings |= record->warnings;
    return 0;
}

static int keep_update(void *context, const gbees_problem *problem, int number, double time,
                       const gbees_evidence *evidence, gbees_error *error)
{
    audited *all = context;

    (void)problem, (void)number, (void)time, (void)error;
    all->evidence[all->updates++] = *evidence;
    return 0;
}

/* Runs an open world; with how.keep twice, and the second is returned. */
static audited *run_world(world *w, gbees_audit_options how)
{
    audited *all = calloc(1, sizeof *all);
    gbees_audit *audit = NULL;

    ck_assert_ptr_nonnull(all);
    ck_assert_msg(!gbees_audit_create(w->problem, &how, &audit, &w->error), "%s", w->error.text);
    const gbees_observer observer = {
        .context = all, .record = keep, .update = keep_update, .concurrent = 1, .audit = audit};
    for (int run = 0; run <= how.keep; run++) {
        gbees_audit_rewind(audit);
        memset(all, 0, sizeof *all);
        ck_assert_msg(world_run(w, 1, &observer, &all->summary) == GBEES_OK, "%s", w->error.text);
    }
    gbees_audit_destroy(audit);
    return all;
}

static audited *run_audited(const char *model, const char *const *settings, gbees_audit_options how)
{
    world w;

    world_create(&w, model, settings);
    audited *all = run_world(&w, how);
    world_close(&w);
    return all;
}

static gbees_audit_options by_points(void)
{
    return (gbees_audit_options){.seed = 1, .points = gbees_solver_points()};
}

/* ---- the Kalman filter ---- */

enum { MEASURED = 50 };
static const double spacing = 0.04, variance = 1e-4;

/* Rotates, so that both states are observed by the first. */
static void make_text(int measured, char *text, size_t size)
{
    int length =
        snprintf(text, size,
                 "parameters: {diagonal: -0.1, upper: 1, lower: -1}\nmean: [2, 0]\ncovariance: [0.25, 0.25]\n"
                 "factor: 2\nregrid: auto\nend: %.17g\nrecords: 1\nmeasurements:%s\n",
                 spacing * (MEASURED + 1), measured ? "" : " []");

    for (int k = 0; k < measured; k++)
        length += snprintf(text + length, size - (size_t)length,
                           "  - {time: %.17g, function: x1, value: [%.17g], covariance: [%g]}\n", spacing * (k + 1),
                           2 * cos(spacing * (k + 1)) + 0.01 * sin(7.0 * k), variance);
    ck_assert_int_lt(length, (int)size);
}

/* Checks a record against the filter: no true error is above its bound, and no bound much above the error. */
static void check_record(const gbees_certificate *c, const gbees_statistics *found, const kalman_state *exact)
{
    for (int j = 0; j < exact->n; j++) {
        const double deviation = sqrt(exact->covariance[j * exact->n + j]);
        const double mean = fabs(found->mean[j] - exact->mean[j]) / deviation;
        const double std = fabs(sqrt(found->covariance[j * exact->n + j]) / deviation - 1);

        ck_assert_double_ge(c->mean[j].bound, mean);
        ck_assert_double_ge(c->std[j].bound, std);
        ck_assert_double_le(c->mean[j].bound, 1.05 * mean + 0.05);
        ck_assert_double_le(c->std[j].bound, 1.05 * std + 0.05);
    }
}

START_TEST(the_filter_is_within_the_bounds)
{
    const int measured = _i ? MEASURED : 0;
    char text[8192];
    world w;

    make_text(measured, text, sizeof text);
    ck_assert_int_eq(world_open(&w, NULL, "linear", "cpu"), GBEES_OK);
    ck_assert_msg(!world_make(&w, &(scenario_source){.text = text, .name = "points"}), "%s", w.error.text);
    const double parameters[] = {-0.1, 1, -1};
    kalman_state exact = {.n = 2, .mean = {2, 0}, .covariance = {0.25, 0, 0, 0.25}};
    audited *all = run_world(&w, by_points());
    double time = 0, total = 0;

    for (int k = 0; k < all->count; k++) {
        kalman_predict(&exact, parameters, all->time[k] - time);
        time = all->time[k];
        if (k > 0 && all->leg[k] > all->leg[k - 1]) {
            const gbees_measurement *m = &w.problem->measurements[all->leg[k] - 1];
            const gbees_evidence *e = &all->evidence[all->leg[k] - 1];

            total += kalman_update(&exact, m->value[0], m->covariance[0]);
            ck_assert_double_le(fabs(e->total_sampled - total), 3 * e->total_error + 0.01);
        }
        ck_assert_str_eq(all->list[k].reason, "");
        ck_assert_uint_gt(all->list[k].points, 0);
        ck_assert_uint_eq(all->list[k].samples, 0);
        check_record(&all->list[k], &all->statistics[k], &exact);
    }
    ck_assert_int_eq(all->updates, measured);
    free(all);
    world_close(&w);
}
END_TEST

/* ---- no figure refutes another ---- */

static const struct {
    const char *model, *settings[4];
    int compared; /* whether joint densities are: it may take a share of the run's work */
} runs[] = {{"linear", {NULL}, 1},
            {"vanderpol", {NULL}, 1},
            {"pendulum", {"states=lines", NULL}, 1},
            {"duffing", {NULL}, 1},
            {"rossler", {"end=1.5", NULL}, 1},
            {"lorenz63", {"factor=4", NULL}, 1},
            {"cr3bp", {"frame=moving", "factor=0.7", "end=0.2", NULL}, 0}};
enum { RUNS = sizeof runs / sizeof *runs };

static void check_difference(gbees_difference d)
{
    ck_assert_double_ge(d.value, 0);
    ck_assert_double_ge(d.bound, d.value);
}

START_TEST(no_figure_is_refuted)
{
    audited *points = run_audited(runs[_i].model, runs[_i].settings, by_points());
    audited *samples =
        run_audited(runs[_i].model, runs[_i].settings, (gbees_audit_options){.samples = 40000, .seed = 5});
    int compared = 0;

    for (int k = 0; k < points->count; k++) {
        const gbees_certificate *c = &points->list[k], *s = &samples->list[k];

        ck_assert_uint_gt(c->points, 0);
        compared += c->variation > 0;
        for (int j = 0; j < GBEES_MAX_DIM && !isnan(c->mean[j].bound); j++) {
            check_difference(c->mean[j]);
            check_difference(c->std[j]);
            check_difference(c->marginal[j]);
            check_difference(c->kolmogorov[j]);
            if (c->variation > 0)
                ck_assert_double_ge(c->variation, c->kolmogorov[j].value);
            /* what samples show by four standard errors is within the bounds */
            ck_assert_double_le(3 * s->mean[j].value - 2 * s->mean[j].bound, c->mean[j].bound);
            ck_assert_double_le(3 * s->std[j].value - 2 * s->std[j].bound, c->std[j].bound);
            ck_assert_double_le(3 * s->marginal[j].value - 2 * s->marginal[j].bound, c->marginal[j].bound);
            ck_assert_double_le(3 * s->kolmogorov[j].value - 2 * s->kolmogorov[j].bound, c->kolmogorov[j].bound);
        }
        if (!isnan(c->density.bound))
            check_difference(c->density);
    }
    ck_assert_int_eq(compared > 0, runs[_i].compared);
    free(points);
    free(samples);
}
END_TEST

/* At t = 2 the density has two modes, each of which the grid makes too wide along y, though mean and deviation of
 * both together are right: so marginals are off, which the total variation may not hide. */
START_TEST(two_wide_modes_are_told)
{
    static const char *const settings[] = {"factor=4", NULL};
    audited *all = run_audited("lorenz63", settings, by_points());
    const gbees_certificate *last = &all->list[all->count - 1];

    ck_assert_double_gt(last->kolmogorov[1].value, 0.1);
    ck_assert_double_gt(last->variation, 0.3);
    ck_assert_double_ge(last->variation, last->variation_least);
    free(all);
}
END_TEST

/* ---- what is kept, and threads ---- */

START_TEST(kept_points_say_the_same)
{
    static const char *const settings[] = {"end=1.5", NULL};
    gbees_audit_options how = by_points();
    audited *once = run_audited("lorenz63", settings, how);
    how.keep = 1;
    how.threads = 3;
    audited *twice = run_audited("lorenz63", settings, how);

    ck_assert_int_eq(once->count, twice->count);
    for (int k = 0; k < once->count; k++) { /* joint densities are compared less often in one of many runs */
        const gbees_certificate *a = &once->list[k], *b = &twice->list[k];

        ck_assert_uint_eq(a->points, b->points);
        ck_assert_mem_eq(a->mean, b->mean, sizeof a->mean);
        ck_assert_mem_eq(a->std, b->std, sizeof a->std);
        ck_assert_mem_eq(a->marginal, b->marginal, sizeof a->marginal);
        ck_assert_mem_eq(a->kolmogorov, b->kolmogorov, sizeof a->kolmogorov);
    }
    ck_assert_double_eq(once->evidence[0].sampled, twice->evidence[0].sampled);
    ck_assert_double_eq(once->evidence[0].total_error, twice->evidence[0].total_error);
    free(once);
    free(twice);
}
END_TEST

/* ---- samples in place of points ---- */

static int refuse(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    (void)problem, (void)options, (void)engine;
    return gbees_error_set(error, GBEES_ENOMEM, "too many points");
}

static int fail_advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    if (clock->time > 0.6)
        return gbees_error_set(error, GBEES_ENUMERIC, "double precision");
    return gbees_solver_points()->advance(engine, clock, max_steps, error);
}

START_TEST(samples_take_the_place_of_points)
{
    gbees_backend points = *gbees_solver_points();
    gbees_audit_options how = {.seed = 1, .points = &points};
    char text[GBEES_CERTIFICATE_TEXT];

    if (_i == 0)
        points.create = refuse;
    else
        points.advance = fail_advance;
    audited *all = run_audited("lorenz63", (const char *const[]){"end=1.5", NULL}, how);
    const gbees_certificate *first = &all->list[0], *last = &all->list[all->count - 1];

    ck_assert_uint_eq(first->points > 0, _i == 1);
    ck_assert_uint_eq(last->points, 0);
    ck_assert_uint_eq(last->samples, 10000);
    ck_assert_double_gt(last->effective, 256);
    gbees_certificate_text(last, 3, 0, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "effective; points would cost too much)"));
    ck_assert_double_gt(all->evidence[0].sampled_error, 0.01);
    ck_assert_uint_eq(all->warnings & GBEES_WARNING_AUDIT_LOST, 0);
    free(all);
}
END_TEST

/* A model with noise, and a density that is to be compared, have samples. */
START_TEST(points_do_not_always_apply)
{
    static const char *const noisy[] = {"parameters={noise: 0.3}", "end=0.2", NULL};
    audited *all = run_audited("linear", noisy, by_points());

    ck_assert_uint_eq(all->list[0].points, 0);
    ck_assert_uint_eq(all->list[0].samples, 10000);
    free(all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("points");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_filter_is_within_the_bounds, 0, 2);
    tcase_add_loop_test(tests, no_figure_is_refuted, 0, RUNS);
    tcase_add_test(tests, two_wide_modes_are_told);
    tcase_add_test(tests, kept_points_say_the_same);
    tcase_add_loop_test(tests, samples_take_the_place_of_points, 0, 2);
    tcase_add_test(tests, points_do_not_always_apply);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
