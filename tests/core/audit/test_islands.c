/* test_islands.c - samples that are resampled between thirty measurements of the model `linear` with noise: what they
 * say of a run beside the Kalman filter, which is exact for it. */
#include "audit/islands.h"
#include "fixtures/kalman.h"
#include "fixtures/suite.h"
#include "numerics/philox.h"
#include <check.h>
#include <stdlib.h>

enum { MEASURED = 30, DIM = 2, RECORDS_MOST = 256, FIGURES = 4 };
static const char *const figures[FIGURES] = {"mean", "standard deviation", "marginal", "distribution function"};

static const double parameters[] = {-0.1, 1.25, -0.8}, noise = 0.3, variance = 0.04, spacing = 0.2;

/* The filter: its state after k measurements, the values measured and the logarithms of the evidence. */
typedef struct filter {
    kalman_state after[MEASURED + 1];
    double value[MEASURED], log_evidence[MEASURED];
} filter;

/* Values as the filter expects them, with the spread that it expects. */
static filter *run_filter(uint64_t seed)
{
    filter *f = calloc(1, sizeof *f);

    ck_assert_ptr_nonnull(f);
    f->after[0] = (kalman_state){.n = DIM, .mean = {2, 2}, .covariance = {0.25, 0, 0, 0.25}};
    for (int k = 0; k < MEASURED; k++) {
        kalman_state *now = &f->after[k + 1];
        double z[4];

        *now = f->after[k];
        kalman_predict_noisy(now, parameters, noise, spacing);
        gbees_normals(seed, (uint64_t)k, 0, 0, 77, z);
        f->value[k] = now->mean[0] + z[0] * sqrt(now->covariance[0] + variance);
        f->log_evidence[k] = kalman_update(now, f->value[k], variance);
    }
    return f;
}

/* ---- runs ---- */

typedef struct audited {
    const filter *exact;
    int count, pairs, below[FIGURES], uncertified; /* records, axes of them; bounds below the true error, by figure */
    double effective;                              /* the least */
    gbees_certificate list[RECORDS_MOST];
    gbees_evidence evidence[MEASURED];
    int updates;
} audited;

/* Distances of the record's marginal from that of a Gaussian: their distribution functions at sixteenths of cells,
 * Kolmogorov's at faces. */
static void marginal_error(const gbees_record *record, int axis, double mean, double sigma, double *wasserstein,
                           double *kolmogorov)
{
    const gbees_problem *problem = record->problem;
    const double h = problem->width[axis];
    int32_t lo, hi;
    double *p = NULL, sum = 0, below = 0;
    gbees_error error;

    gbees_cells_range(record->cells, axis, &lo, &hi);
    ck_assert_int_eq(gbees_cells_marginal_1d(record->cells, axis, &p, &error), GBEES_OK);
    for (int32_t i = 0; i <= hi - lo; i++)
        sum += p[i];
    *wasserstein = *kolmogorov = 0;
    for (int32_t i = 0; i <= hi - lo; below += p[i++] / sum)
        for (int part = 0; part < 16; part++) {
            const double inside = (part + 1) / 16.0, x = problem->mean[axis] + h * (lo + i - 0.5 + inside);
            const double off = fabs(below + inside * p[i] / sum - 0.5 * erfc((mean - x) / sigma / sqrt(2)));

            *wasserstein += off * h / 16 / sigma;
            *kolmogorov = part == 15 ? fmax(*kolmogorov, off) : *kolmogorov;
        }
    free(p);
}

static int compare_record(void *context, const gbees_record *record, gbees_error *error)
{
    audited *all = context;
    const gbees_certificate *found = record->certificate;
    kalman_state exact = all->exact->after[record->leg];
    const double passed = record->time - spacing * record->leg;

    (void)error;
    ck_assert_int_lt(all->count, RECORDS_MOST);
    all->list[all->count++] = *found;
    if (found->reason[0]) {
        all->uncertified++;
        return 0;
    }
    if (passed > 1e-9)
        kalman_predict_noisy(&exact, parameters, noise, passed);
    all->effective = fmin(all->effective, found->effective);
    for (int j = 0; j < DIM; j++) {
        const double sigma = sqrt(exact.covariance[j * DIM + j]);
        const double mean = fabs(record->statistics.mean[j] - exact.mean[j]) / sigma,
                     std = fabs(sqrt(record->statistics.covariance[j * DIM + j]) / sigma - 1);

        double wasserstein, kolmogorov;

        marginal_error(record, j, exact.mean[j], sigma, &wasserstein, &kolmogorov);
        all->pairs++;
        all->below[0] += found->mean[j].bound < mean;
        all->below[1] += found->std[j].bound < std;
        all->below[2] += found->marginal[j].bound < wasserstein;
        all->below[3] += found->kolmogorov[j].bound < kolmogorov;
    }
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

static void make_text(const filter *exact, double factor, double added, char *text, size_t size)
{
    int length = snprintf(text, size,
                          "dimension: %d\nparameters: {noise: %g}\nmean: [2, 2]\ncovariance: [0.25, 0.25]\nfactor: "
                          "%g\nextent: 5\nthreshold: 1.0e-9\nend: "
                          "%.17g\nrecords: 1\nmeasurements:\n",
                          DIM, added, factor, spacing * (MEASURED + 1));

    for (int k = 0; k < MEASURED; k++)
        length += snprintf(text + length, size - (size_t)length,
                           "  - {time: %.17g, function: x1, value: [%.17g], covariance: [%g]}\n", spacing * (k + 1),
                           exact->value[k], variance);
    ck_assert_int_lt(length, (int)size);
}

/* An audit that keeps its samples has two runs, the second of which is returned. */
static audited *run_audited(const filter *exact, double factor, double added, gbees_audit_options how)
{
    gbees_audit *audit = NULL;
    audited *all = calloc(1, sizeof *all);
    char text[8192];
    world w;

    ck_assert_ptr_nonnull(all);
    make_text(exact, factor, added, text, sizeof text);
    ck_assert_msg(world_open(&w, NULL, "linear", "cpu") == GBEES_OK, "%s", w.error.text);
    ck_assert_msg(world_make(&w, &(scenario_source){.text = text, .name = "islands"}) == GBEES_OK, "%s",
                  w.error.text);
    ck_assert_int_eq(gbees_audit_create(w.problem, &how, &audit, &w.error), GBEES_OK);
    const gbees_observer observer = {
        .context = all, .record = compare_record, .update = keep_update, .concurrent = 1, .audit = audit};
    for (int run = 0; run <= how.keep; run++) {
        gbees_audit_rewind(audit);
        *all = (audited){.exact = exact, .effective = INFINITY};
        ck_assert_msg(world_run(&w, 1, &observer, NULL) == GBEES_OK, "%s", w.error.text);
    }
    gbees_audit_destroy(audit);
    world_close(&w);
    ck_assert_int_eq(all->updates, MEASURED);
    return all;
}

/* ---- tests ---- */

enum { SEEDS = 12, SEEDS_USUAL = 4, SAMPLES = 20000 };

/* Of the bounds no more than a twentieth are below the true error, with cells that are too wide, and with others. The
 * first ones are of make check: of some seeds, which are 120 estimates of the evidence already. */
static const struct {
    double factor;
    int seeds;
} bounded[] = {{0.8, SEEDS_USUAL}, {0.8, SEEDS}, {1.5, SEEDS}};

START_TEST(bounds_hold_after_many_measurements)
{
    const int seeds = bounded[_i].seeds;
    int records = 0, uncertified = 0, pairs = 0, below[FIGURES] = {0}, beyond = 0;

    for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
        filter *exact = run_filter(seed);
        audited *all =
            run_audited(exact, bounded[_i].factor, noise, (gbees_audit_options){.samples = SAMPLES, .seed = seed});
        double total = 0;

        for (int k = 0; k < MEASURED; k++)
            total += exact->log_evidence[k];
        records += all->count;
        uncertified += all->uncertified;
        for (int f = 0; f < FIGURES; f++)
            below[f] += all->below[f];
        pairs += all->pairs;
        for (int k = 0; k < MEASURED; k++)
            beyond += fabs(all->evidence[k].sampled - exact->log_evidence[k]) > 2 * all->evidence[k].sampled_error;
        ck_assert_double_lt(fabs(all->evidence[MEASURED - 1].total_sampled - total),
                            3.5 * all->evidence[MEASURED - 1].total_error);
        ck_assert_double_lt(all->evidence[MEASURED - 1].total_error, 0.15);
        free(all);
        free(exact);
    }
    ck_assert_msg(100 * uncertified <= records, "%d of %d records are not certified", uncertified, records);
    for (int f = 0; f < FIGURES; f++)
        ck_assert_msg(20 * below[f] <= pairs, "%d of %d bounds of the %s are below the true error", below[f], pairs,
                      figures[f]);
    /* Two-sided: of 5 %, with 360 of them, or 120. */
    ck_assert_msg(beyond <= seeds * MEASURED / 12,
                  "%d of %d estimates of the evidence are off by two standard errors", beyond, seeds * MEASURED);
}
END_TEST

/* Without noise samples run out: copies of them would stay together. */
START_TEST(without_noise_nothing_is_resampled)
{
    filter *exact = run_filter(1);
    audited *all = run_audited(exact, 1, 0, (gbees_audit_options){.seed = 1});

    ck_assert_int_gt(all->uncertified, 0);
    ck_assert(isnan(all->evidence[MEASURED - 1].total_sampled));
    free(all);
    free(exact);
}
END_TEST

/* Neither threads nor samples that are kept of a run before change a bit. */
START_TEST(resampled_samples_are_the_same_again)
{
    static const gbees_audit_options ways[] = {{.seed = 3, .threads = 3}, {.seed = 3, .threads = 2, .keep = 1}};
    filter *exact = run_filter(3);
    audited *one = run_audited(exact, 1, noise, (gbees_audit_options){.seed = 3, .threads = 1});
    audited *other = run_audited(exact, 1, noise, ways[_i]);

    ck_assert_int_eq(one->count, other->count);
    ck_assert_mem_eq(one->list, other->list, (size_t)one->count * sizeof *one->list);
    ck_assert_mem_eq(one->evidence, other->evidence, sizeof one->evidence);
    free(one);
    free(other);
    free(exact);
}
END_TEST

/* Islands of equal weight have the standard error of their mean; one that outweighs all has no neighbour to differ
 * from. */
START_TEST(islands_have_standard_errors)
{
    gbees_island_weights weights;
    gbees_sample_evidence evidence = {0};

    for (int k = 0; k < GBEES_ISLANDS; k++) {
        weights.before[k] = 1;
        weights.after[k] = k % 2 ? 1.5 : 0.5;
    }
    gbees_islands_estimate(&weights, &evidence);
    ck_assert_double_eq_tol(evidence.islands, GBEES_ISLANDS / 1.25, 1e-9);
    ck_assert_double_eq_tol(evidence.error, 0.5 / sqrt(GBEES_ISLANDS * (1 - 1 / evidence.islands)), 1e-12);
    ck_assert_double_eq_tol(evidence.total_error, evidence.error, 1e-12);
    memcpy(weights.before, weights.after, sizeof weights.after);
    gbees_islands_estimate(&weights, &evidence);
    ck_assert_double_eq(evidence.error, 0);
    memset(weights.after, 0, sizeof weights.after);
    weights.after[5] = 1;
    gbees_islands_estimate(&weights, &evidence);
    ck_assert_double_eq(evidence.islands, 1);
    ck_assert_double_gt(evidence.total_error, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("islands");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, bounds_hold_after_many_measurements, 0, 1);
    tcase_add_test(tests, without_noise_nothing_is_resampled);
    tcase_add_loop_test(tests, resampled_samples_are_the_same_again, 0, 2);
    tcase_add_test(tests, islands_have_standard_errors);
    suite_add_tcase(suite, tests);
    tests = add_long_case(suite, "more", 120);
    tcase_add_loop_test(tests, bounds_hold_after_many_measurements, 1, 3);
    return run_suite(suite);
}
