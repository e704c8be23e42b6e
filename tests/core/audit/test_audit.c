/* test_audit.c - core/audit: certificates of runs that are known to be right, and wrong. */
#include "base/workers.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include "record/certificate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- workers ---- */

static void square(void *context, size_t item)
{
    ((double *)context)[item] += (double)(item * item);
}

START_TEST(each_item_is_worked_on_once)
{
    double *out = calloc(5000, sizeof *out);

    gbees_workers_run(_i, 5000, square, out);
    for (size_t i = 0; i < 5000; i++)
        ck_assert_double_eq(out[i], (double)(i * i));
    free(out);
}
END_TEST

/* ---- runs ---- */

enum { RECORDS_MOST = 64 };

typedef struct audited {
    int count, dimension;
    gbees_certificate list[RECORDS_MOST];
    int updates;
    gbees_evidence evidence[RECORDS_MOST];
    gbees_summary summary;
} audited;

/* The samples that come with a record have the mean of all: by their weights they were chosen. */
static void check_samples(const gbees_record *record)
{
    const gbees_sample_list *samples = record->samples;
    const int n = record->problem->dimension;

    ck_assert_ptr_nonnull(samples);
    ck_assert_uint_eq(samples->count, 1000);
    for (int j = 0; j < n; j++) {
        double mean = 0, square = 0;

        for (size_t i = 0; i < samples->count; i++) {
            const double off = (double)samples->x[j][i] - record->statistics.mean[j];

            mean += off / (double)samples->count;
            square += off * off / (double)samples->count;
        }
        const double std = sqrt(fmax(square - mean * mean, record->statistics.covariance[j * n + j]));
        ck_assert_double_le(fabs(mean), (record->certificate->mean[j].value + 0.1) * std);
    }
}

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    audited *all = context;

    (void)error;
    ck_assert_ptr_nonnull(record->certificate);
    if (!record->certificate->reason[0])
        check_samples(record);
    ck_assert_int_lt(all->count, RECORDS_MOST);
    all->dimension = record->problem->dimension;
    all->list[all->count++] = *record->certificate;
    return 0;
}

static int keep_update(void *context, const gbees_problem *problem, int number, double time,
                       const gbees_evidence *evidence, gbees_error *error)
{
    audited *all = context;

    (void)problem, (void)time, (void)error;
    ck_assert_int_eq(number, all->updates + 1);
    all->evidence[all->updates++] = *evidence;
    return 0;
}

/* settings: "KEY=VALUE", ..., NULL. An audit that keeps its samples has two runs, the second of which is returned. */
static audited *run_audited(const char *name, const char *const *settings, gbees_audit_options how)
{
    gbees_audit *audit = NULL;
    audited *all = calloc(1, sizeof *all);
    world w;

    ck_assert_ptr_nonnull(all);
    world_create(&w, name, settings);
    ck_assert_msg(!gbees_audit_create(w.problem, &how, &audit, &w.error), "%s", w.error.text);
    const gbees_observer observer = {
        .context = all, .record = keep, .update = keep_update, .concurrent = 1, .audit = audit};
    for (int run = 0; run <= how.keep; run++) {
        gbees_summary summary;

        gbees_audit_rewind(audit);
        *all = (audited){0};
        ck_assert_msg(world_run(&w, 1, &observer, &summary) == GBEES_OK, "%s", w.error.text);
        all->summary = summary;
    }
    gbees_audit_destroy(audit);
    world_close(&w);
    return all;
}

static const char *const none[] = {NULL};

/* The published scenario has twice the standard deviation of z at t = 2 (doc/accuracy.md). */
START_TEST(a_wrong_result_is_told)
{
    audited *all = run_audited("lorenz63", none, (gbees_audit_options){.seed = 3});
    const gbees_certificate *last = &all->list[all->count - 1];

    ck_assert_int_eq(all->count, 10);
    ck_assert_double_eq_tol(last->std[2].value, 0.95, 0.2);
    ck_assert_double_gt(last->marginal[2].value, 0.5);
    ck_assert(last->effective > 256 && last->effective < 1000);
    ck_assert_uint_eq(all->summary.warnings & GBEES_WARNING_AUDIT, GBEES_WARNING_AUDIT);
    free(all);
}
END_TEST

START_TEST(a_right_result_is_not_blamed)
{
    audited *all = run_audited("vanderpol", none, (gbees_audit_options){.seed = (uint64_t)_i});

    for (int k = 0; k < all->count; k++) {
        ck_assert_double_lt(gbees_certificate_worst(all->list[k].mean, 2, NULL).bound, 0.07);
        ck_assert_double_lt(gbees_certificate_worst(all->list[k].std, 2, NULL).bound, 0.06);
        ck_assert_double_lt(gbees_certificate_worst(all->list[k].marginal, 2, NULL).bound, 0.07);
        ck_assert_double_lt(all->list[k].density.bound, 0.03);
    }
    ck_assert_uint_eq(all->summary.warnings, 0);
    free(all);
}
END_TEST

/* A rotated grid has the model's axes in its moments, its own in its marginals. */
START_TEST(a_rotated_grid_has_a_certificate)
{
    static const char *const settings[] = {"rotate=yes", "covariance=[[0.05, 0.03], [0.03, 0.05]]", "end=0.5", NULL};
    audited *all = run_audited("duffing", settings, (gbees_audit_options){.seed = 4});

    for (int k = 0; k < all->count; k++) {
        ck_assert_double_lt(gbees_certificate_worst(all->list[k].mean, 2, NULL).bound, 0.1);
        ck_assert_double_lt(gbees_certificate_worst(all->list[k].marginal, 2, NULL).bound, 0.1);
        ck_assert_double_lt(all->list[k].density.bound, 0.1);
    }
    free(all);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    static const char *const settings[] = {"end=1.5", NULL};
    audited *one = run_audited("lorenz63", settings, (gbees_audit_options){.threads = 1});
    audited *three = run_audited("lorenz63", settings, (gbees_audit_options){.threads = 3});

    ck_assert_int_eq(one->count, three->count);
    ck_assert_mem_eq(one->list, three->list, (size_t)one->count * sizeof *one->list);
    free(one);
    free(three);
}
END_TEST

/* More samples where the run's work allows them. */
START_TEST(samples_are_a_share_of_the_work)
{
    static const char *const settings[] = {"end=1", NULL};
    audited *fixed = run_audited("lorenz63", settings, (gbees_audit_options){.share = 0});
    audited *more = run_audited("lorenz63", settings, (gbees_audit_options){.share = 100});
    const int last = more->count - 1;

    ck_assert_uint_eq(fixed->list[last].samples, 10000);
    ck_assert_uint_gt(more->list[last].samples, 10000);
    ck_assert_uint_eq(more->list[last].samples % 10000, 0);
    ck_assert_double_lt(more->list[last].mean[0].bound - more->list[last].mean[0].value,
                        0.8 * (fixed->list[last].mean[0].bound - fixed->list[last].mean[0].value));
    free(fixed);
    free(more);
}
END_TEST

START_TEST(samples_that_ran_out_certify_nothing)
{
    static const char *const settings[] = {"measurements=[{time: 1, function: z, value: [-8], covariance: [0.0001]}]",
                                           "end=1.1", NULL};
    audited *all = run_audited("lorenz63", settings, (gbees_audit_options){.samples = 1000});
    const gbees_certificate *last = &all->list[all->count - 1];

    ck_assert_ptr_nonnull(strstr(last->reason, "not certifiable with 1000 samples: "));
    ck_assert(isnan(gbees_certificate_worst(last->mean, 3, NULL).bound) && isnan(last->density.bound));
    ck_assert_str_eq(all->list[0].reason, "");
    ck_assert_int_eq(all->updates, 1);
    ck_assert(isfinite(all->evidence[0].log_evidence) && isnan(all->evidence[0].sampled));
    ck_assert(isnan(all->summary.evidence.total_sampled) && isnan(all->summary.evidence.total_error));
    ck_assert_uint_eq(all->summary.warnings & GBEES_WARNING_EVIDENCE, 0);
    ck_assert_double_lt(all->list[0].mean[0].bound, 0.2);
    free(all);
}
END_TEST

/* ---- evidence ---- */

enum { MEASURED = 3 };

/* x(t) = x(0) e^(-t/2), x(0) Gaussian of mean 2 and variance 1/4, measured at t = 1, 1 and 2 with variance 1/10. */
static const double measured_at[MEASURED] = {1, 1, 2}, measured[MEASURED] = {1.5, 1.1, 0.9}, measured_variance = 0.1;

/* The exact logarithms of the evidence (Kalman's filter). */
static void exact_evidence(double *log_evidence)
{
    double mean = 2, variance = 0.25, time = 0;

    for (int k = 0; k < MEASURED; k++) {
        const double passed = exp(-0.5 * (measured_at[k] - time));

        mean *= passed;
        variance *= passed * passed;
        time = measured_at[k];
        const double all = variance + measured_variance, off = measured[k] - mean;
        log_evidence[k] = -0.5 * log(2 * acos(-1) * all) - 0.5 * off * off / all;
        mean += variance / all * off;
        variance *= measured_variance / all;
    }
}

static audited *run_measured(const char *factor, gbees_audit_options how)
{
    char measurements[256];
    const char *const settings[] = {"dimension=1",
                                    "parameters={diagonal: -0.5}",
                                    factor,
                                    "extent=5",
                                    "threshold=1e-9",
                                    "end=2.5",
                                    "records=4",
                                    measurements,
                                    NULL};

    (void)snprintf(measurements, sizeof measurements,
                   "measurements=[{time: 1, function: x1, value: [%g], covariance: [%g]}, {time: 1, function: x1, "
                   "value: [%g], covariance: [%g]}, {time: 2, function: x1, value: [%g], covariance: [%g]}]",
                   measured[0], measured_variance, measured[1], measured_variance, measured[2], measured_variance);
    return run_audited("linear", settings, how);
}

/* The samples' evidence is that of the exact filter to within their errors, which are those of such a mean. */
START_TEST(samples_know_the_evidence)
{
    audited *all = run_measured("factor=4", (gbees_audit_options){.seed = 7, .share = _i ? 1e6 : 0});
    const gbees_evidence *last = &all->summary.evidence;
    double exact[MEASURED], total = 0;

    exact_evidence(exact);
    ck_assert_int_eq(all->updates, MEASURED);
    ck_assert_int_eq(all->summary.updates, MEASURED);
    for (int k = 0; k < MEASURED; k++) {
        const gbees_evidence *e = &all->evidence[k];
        const double samples = (double)all->list[all->count - 1].samples;

        total += exact[k];
        ck_assert_double_eq_tol(e->log_evidence, exact[k], 1e-3);
        ck_assert_double_eq_tol(e->total, total, 2e-3);
        ck_assert(e->sampled_error > 0.1 / sqrt(samples) && e->sampled_error < 3 / sqrt(10000));
        ck_assert_double_lt(fabs(e->sampled - exact[k]), 4 * e->sampled_error);
        ck_assert_double_lt(fabs(e->total_sampled - total), 4 * e->total_error);
    }
    ck_assert_double_lt(fabs(last->total_sampled - total), 4 * last->total_error);
    ck_assert_double_eq_tol(
        last->total_error,
        sqrt(1 / all->list[all->count - 1].effective - 1 / (double)all->list[all->count - 1].samples), 1e-12);
    ck_assert_uint_eq(all->summary.warnings & GBEES_WARNING_EVIDENCE, 0);
    free(all);
}
END_TEST

/* Cells of 1.7 standard deviations: an update is off by more than .1. */
START_TEST(a_wrong_evidence_is_told)
{
    audited *all = run_measured("factor=0.3", (gbees_audit_options){.seed = 7});
    double exact[MEASURED], total = 0, most = 0;

    exact_evidence(exact);
    for (int k = 0; k < MEASURED; k++) {
        total += exact[k];
        most = fmax(most, fabs(all->evidence[k].log_evidence - exact[k]));
        most = fmax(most, fabs(all->evidence[k].total - total));
    }
    ck_assert_double_gt(most, 0.2);
    ck_assert_uint_eq(all->summary.warnings & GBEES_WARNING_EVIDENCE, GBEES_WARNING_EVIDENCE);
    free(all);
}
END_TEST

/* Samples that were kept of one run know the same of the next one. */
START_TEST(kept_samples_know_the_same_evidence)
{
    audited *once = run_measured("factor=4", (gbees_audit_options){.seed = 7});
    audited *twice = run_measured("factor=4", (gbees_audit_options){.seed = 7, .keep = 1});

    ck_assert_mem_eq(once->evidence, twice->evidence, sizeof once->evidence);
    ck_assert_double_eq(once->summary.evidence.total_sampled, twice->summary.evidence.total_sampled);
    ck_assert_int_eq(once->count, twice->count);
    ck_assert_mem_eq(once->list, twice->list, (size_t)once->count * sizeof *once->list);
    free(once);
    free(twice);
}
END_TEST

START_TEST(the_worst_axis)
{
    const gbees_difference known[] = {{1, 2}, {0, 3}, {2, 2.5}}, unknown[] = {{1, 2}, {NAN, NAN}, {2, 9}};
    int axis = -1;

    ck_assert_double_eq(gbees_certificate_worst(known, 3, &axis).bound, 3);
    ck_assert_int_eq(axis, 1);
    ck_assert(isnan(gbees_certificate_worst(unknown, 3, &axis).bound));
    ck_assert_int_eq(axis, 1);
}
END_TEST

/* Each figure is the worst of its own, whichever record has it; a record that is not certified is worse than all. */
START_TEST(the_worst_of_each_figure)
{
    gbees_certificate first, second, unknown;
    gbees_worst worst = {0};

    gbees_certificate_start(&first, 100);
    for (int j = 0; j < 2; j++)
        first.mean[j] = first.std[j] = first.marginal[j] = (gbees_difference){0.01, 0.02};
    first.density = (gbees_difference){0.3, 0.4};
    first.effective = 90;
    second = first;
    second.mean[1].bound = 0.5;
    second.density.bound = 0.1;
    second.variation = 0.7;
    second.effective = 80;
    unknown = second;
    (void)snprintf(unknown.reason, sizeof unknown.reason, "no samples are left");
    gbees_worst_add(&worst, &first, 2, 1);
    gbees_worst_add(&worst, &second, 2, 2);
    gbees_worst_add(&worst, &first, 2, 3);
    ck_assert_double_eq(gbees_certificate_worst(worst.certificate.mean, 2, NULL).bound, 0.5);
    ck_assert_double_eq(worst.time[GBEES_FIGURE_MEAN], 2);
    ck_assert_double_eq(worst.certificate.density.bound, 0.4);
    ck_assert_double_eq(worst.time[GBEES_FIGURE_DENSITY], 1);
    ck_assert_double_eq(worst.certificate.variation, 0.7);
    ck_assert_double_eq(worst.time[GBEES_FIGURE_VARIATION], 2);
    ck_assert_double_eq(worst.certificate.effective, 80);
    gbees_worst_add(&worst, &unknown, 2, 4);
    gbees_worst_add(&worst, &second, 2, 5);
    ck_assert_str_eq(worst.certificate.reason, unknown.reason);
    ck_assert_double_eq(worst.time[0], 4);
}
END_TEST

/* What was asked for is no reason for a warning. */
START_TEST(an_accuracy_is_the_limit_of_warnings)
{
    gbees_certificate c;

    gbees_certificate_start(&c, 100);
    for (int j = 0; j < 2; j++)
        c.mean[j] = c.std[j] = (gbees_difference){0.25, 0.3}; /* 0.2 or more */
    ck_assert_int_eq(gbees_certificate_warns(&c, 2, 0), 1);
    ck_assert_int_eq(gbees_certificate_warns(&c, 2, 0.05), 1);
    ck_assert_int_eq(gbees_certificate_warns(&c, 2, 0.15), 1);
    ck_assert_int_eq(gbees_certificate_warns(&c, 2, 0.3), 0);
}
END_TEST

/* A way of more steps than are chosen at once is taken piece by piece, to the end: here an oscillation of 400
 * periods, whose amplitude the samples keep. */
START_TEST(a_long_way_is_certified)
{
    const gbees_audit_options how = {.samples = 1000, .threads = 1};
    gbees_certificate certificate;
    gbees_audit *audit = NULL;
    world w;

    world_create(&w, "linear",
                 (setting_list){"dimension=2", "parameters={diagonal: 0, upper: 1, lower: -1}",
                                "covariance=[0.25, 0.25]", "measurements=[]", "end=2500"});
    ck_assert_msg(!gbees_audit_create(w.problem, &how, &audit, &w.error), "%s", w.error.text);
    gbees_record record = {.problem = w.problem, .time = 2500};
    record.statistics.covariance[0] = record.statistics.covariance[3] = 0.25;
    ck_assert_int_eq(gbees_audit_record(audit, &record, &certificate, &w.error), GBEES_OK);
    ck_assert_str_eq(certificate.reason, "");
    ck_assert_double_lt(certificate.std[0].value, 0.1);
    ck_assert_double_lt(certificate.std[1].value, 0.1);
    gbees_audit_destroy(audit);
    world_close(&w);
}
END_TEST

/* A run goes on without samples, and says so. */
START_TEST(samples_that_fail_are_a_warning)
{
    const gbees_audit_options how = {.samples = 1000, .threads = 1};
    gbees_certificate certificate;
    gbees_audit *audit = NULL;
    world w;

    world_create(&w, "lorenz63", (setting_list){NULL});
    ck_assert_msg(!gbees_audit_create(w.problem, &how, &audit, &w.error), "%s", w.error.text);
    const gbees_record record = {.problem = w.problem, .time = INFINITY};
    ck_assert_int_eq(gbees_audit_record(audit, &record, &certificate, &w.error), GBEES_OK);
    ck_assert_msg(strstr(certificate.reason, "not certifiable: samples can't be taken from t = 0 to ") != NULL, "%s",
                  certificate.reason);
    ck_assert(isnan(certificate.mean[0].bound) && isnan(certificate.density.bound));
    ck_assert_uint_eq(gbees_audit_warnings(audit), GBEES_WARNING_AUDIT_LOST);
    gbees_audit_destroy(audit);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("audit");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, each_item_is_worked_on_once, 0, 5);
    tcase_add_test(tests, samples_that_fail_are_a_warning);
    tcase_add_test(tests, a_long_way_is_certified);
    tcase_add_test(tests, a_wrong_result_is_told);
    tcase_add_loop_test(tests, a_right_result_is_not_blamed, 0, 4);
    tcase_add_test(tests, a_rotated_grid_has_a_certificate);
    tcase_add_test(tests, threads_change_no_bit);
    tcase_add_test(tests, samples_are_a_share_of_the_work);
    tcase_add_test(tests, samples_that_ran_out_certify_nothing);
    tcase_add_loop_test(tests, samples_know_the_evidence, 0, 2);
    tcase_add_test(tests, a_wrong_evidence_is_told);
    tcase_add_test(tests, kept_samples_know_the_same_evidence);
    tcase_add_test(tests, the_worst_axis);
    tcase_add_test(tests, the_worst_of_each_figure);
    tcase_add_test(tests, an_accuracy_is_the_limit_of_warnings);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
