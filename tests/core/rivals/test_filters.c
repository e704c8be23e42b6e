/* test_filters.c - each filter on the model `linear`, with and without noise, beside the Kalman filter, which is
 * exact for it; and what a measurement may have: missing components, angles, likelihoods that are no Gaussian. */
#include "fixtures/kalman.h"
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"
#include "rivals/filter.h"

enum { MEASURED = 8, SEEDS = 16, SAMPLES = 4000, FIGURES = 3 /* mean and deviation of x1, log evidence */ };

static const double parameters[] = {-0.1, 1.25, -0.8}, variance = 0.04, spacing = 0.4;

/* ---- the problem, and what is exact ---- */

/* The Kalman filter after each measurement of x1, whose values are a part of a deviation off what it expects. */
typedef struct exact_run {
    kalman_state after[MEASURED];
    double value[MEASURED], log_evidence[MEASURED]; /* of all measurements so far */
} exact_run;

static void run_exactly(int n, double noise, exact_run *exact)
{
    kalman_state now = {.n = n};
    double total = 0;

    for (int j = 0; j < n; j++) {
        now.mean[j] = 2;
        now.covariance[j * n + j] = 0.25;
    }
    for (int k = 0; k < MEASURED; k++) {
        if (noise > 0)
            kalman_predict_noisy(&now, parameters, noise, spacing);
        else
            kalman_predict(&now, parameters, spacing);
        exact->value[k] = now.mean[0] + 0.8 * cos(2.0 * k) * sqrt(now.covariance[0] + variance);
        total += kalman_update(&now, exact->value[k], variance);
        exact->after[k] = now;
        exact->log_evidence[k] = total;
    }
}

static gbees_problem *make_problem(int n, double noise, exact_run *exact)
{
    char text[4096];
    size_t used;

    run_exactly(n, noise, exact);
    used =
        (size_t)snprintf(text, sizeof text,
                         "dimension: %d\nparameters: {noise: %.17g}\nmean: [2, ...]\ncovariance: [0.25, ...]\n"
                         "width: [0.5, ...]\nextent: 3\nthreshold: 1.0e-6\nend: %.17g\nrecords: 1\nmeasurements:\n",
                         n, noise, spacing * MEASURED);
    for (int k = 0; k < MEASURED; k++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {time: %.17g, function: x1, value: [%.17g], covariance: [%.17g]}\n",
                                 spacing * (k + 1), exact->value[k], variance);
    return problem_of_text("linear", text);
}

static void *make_filter(const gbees_filter *kind, const gbees_problem *problem, uint64_t seed)
{
    gbees_filter_setup setup = {.problem = problem, .samples = SAMPLES, .seed = seed, .threads = 1};
    void *filter = NULL;
    gbees_error error = {0};

    memcpy(setup.start.mean, problem->mean, sizeof problem->mean);
    memcpy(setup.start.covariance, problem->covariance, sizeof problem->covariance);
    ck_assert_msg(!kind->create(&setup, &filter, &error), "%s", error.text);
    return filter;
}

/* Carries the filter to measurement k, and updates by it. */
static void step(const gbees_filter *kind, void *filter, const gbees_problem *problem, int k)
{
    gbees_error error = {0};

    ck_assert_msg(!kind->advance(filter, problem->measurements[k].time, &error), "%s", error.text);
    ck_assert_msg(!kind->update(filter, &problem->measurements[k], &error), "%s", error.text);
}

/* ---- filters that are exact for it ---- */

static void compare_exactly(const gbees_filter *kind, int n, double noise)
{
    exact_run exact;
    gbees_problem *problem = make_problem(n, noise, &exact);
    void *filter = make_filter(kind, problem, 1);

    for (int k = 0; k < MEASURED; k++) {
        gbees_statistics found = {0};
        gbees_filter_moments moments;
        gbees_error error = {0};

        step(kind, filter, problem, k);
        ck_assert_msg(!kind->moments(filter, &moments, &error), "%s", error.text);
        memcpy(found.mean, moments.mean, sizeof found.mean);
        memcpy(found.covariance, moments.covariance, sizeof found.covariance);
        const kalman_error off = kalman_compare(&exact.after[k], &found);
        ck_assert_msg(off.mean < 1e-6 && off.covariance < 1e-6, "n = %d, noise %g, measurement %d: %g, %g", n, noise,
                      k + 1, off.mean, off.covariance);
        ck_assert_double_eq_tol(kind->evidence(filter).value, exact.log_evidence[k], 1e-6);
    }
    ck_assert_ptr_null(kind->samples(filter));
    kind->destroy(filter);
    gbees_problem_destroy(problem);
}

START_TEST(gaussian_filters_are_exact)
{
    static const gbees_filter *const kinds[] = {&gbees_filter_ekf, &gbees_filter_ukf};

    for (int k = 0; k < 2; k++)
        for (int n = 1; n <= 4; n++) {
            compare_exactly(kinds[k], n, 0);
            compare_exactly(kinds[k], n, 0.3);
        }
}
END_TEST

/* ---- filters with samples: over seeds their means are exact to their own spread ---- */

typedef struct spread {
    double mean, std; /* of one seed's result */
} spread;

static spread spread_of(const double *value)
{
    spread s = {0, 0};

    for (int i = 0; i < SEEDS; i++)
        s.mean += value[i] / SEEDS;
    for (int i = 0; i < SEEDS; i++)
        s.std += (value[i] - s.mean) * (value[i] - s.mean) / (SEEDS - 1);
    s.std = sqrt(s.std);
    return s;
}

/* Fills the figures of each seed, and the mean of the standard errors that the filter claims for its evidence. */
static double run_seeds(const gbees_filter *kind, const gbees_problem *problem, int measured, double (*figure)[SEEDS])
{
    double claimed = 0;

    for (int i = 0; i < SEEDS; i++) {
        void *filter = make_filter(kind, problem, 100 + (uint64_t)i);
        gbees_filter_moments moments;
        gbees_error error = {0};

        for (int k = 0; k < measured; k++)
            step(kind, filter, problem, k);
        ck_assert_msg(!kind->moments(filter, &moments, &error), "%s", error.text);
        figure[0][i] = moments.mean[0];
        figure[1][i] = sqrt(moments.covariance[0]);
        figure[2][i] = kind->evidence(filter).value;
        claimed += kind->evidence(filter).error / SEEDS;
        ck_assert_ptr_nonnull(kind->samples(filter));
        kind->destroy(filter);
    }
    return claimed;
}

/* Returns the standard error claimed for the evidence over that of one seed. */
static double compare_samples(const gbees_filter *kind, double noise, int measured, double widest)
{
    static const char *const names[FIGURES] = {"mean", "standard deviation", "log evidence"};
    exact_run exact;
    gbees_problem *problem = make_problem(2, noise, &exact);
    const kalman_state *last = &exact.after[measured - 1];
    const double wanted[FIGURES] = {last->mean[0], sqrt(last->covariance[0]), exact.log_evidence[measured - 1]};
    double figure[FIGURES][SEEDS];

    const double claimed = run_seeds(kind, problem, measured, figure);
    for (int f = 0; f < FIGURES; f++) {
        const spread s = spread_of(figure[f]);
        const double unit = f < 2 ? wanted[1] : 1;

        ck_assert_msg(fabs(s.mean - wanted[f]) < 4 * s.std / sqrt(SEEDS), "%s: %g, not %g, spread %g", names[f],
                      s.mean, wanted[f], s.std);
        ck_assert_msg(s.std < widest * unit, "%s: its spread is %g", names[f], s.std / unit);
    }
    const double found = spread_of(figure[2]).std;
    gbees_problem_destroy(problem);
    return claimed / found;
}

START_TEST(samples_with_weights)
{
    const double claimed = compare_samples(&gbees_filter_mc, 0, 2, 0.2);

    ck_assert_msg(claimed > 0.5 && claimed < 2, "the standard error is off by a factor of %g", claimed);
}
END_TEST

START_TEST(particles)
{
    const double claimed = compare_samples(&gbees_filter_pf, 0.3, MEASURED, 0.2);

    ck_assert_msg(claimed > 0.5 && claimed < 2, "the standard error is off by a factor of %g", claimed);
}
END_TEST

START_TEST(ensemble)
{
    ck_assert(isnan(compare_samples(&gbees_filter_enkf, 0.3, MEASURED, 0.2)));
    ck_assert(isnan(compare_samples(&gbees_filter_enkf, 0, MEASURED, 0.2)));
}
END_TEST

/* Without resampling both are the same filter, and so is the standard error of the evidence. */
START_TEST(particles_begin_as_plain_samples)
{
    exact_run exact;
    gbees_problem *problem = make_problem(2, 0.3, &exact);
    void *mc = make_filter(&gbees_filter_mc, problem, 5), *pf = make_filter(&gbees_filter_pf, problem, 5);

    step(&gbees_filter_mc, mc, problem, 0);
    step(&gbees_filter_pf, pf, problem, 0);
    ck_assert(gbees_filter_mc.evidence(mc).value == gbees_filter_pf.evidence(pf).value);
    ck_assert_double_eq_tol(gbees_filter_mc.evidence(mc).error, gbees_filter_pf.evidence(pf).error, 1e-12);
    step(&gbees_filter_pf, pf, problem, 1);
    ck_assert_uint_gt(gbees_filter_pf.samples(pf)->count, 0);
    ck_assert(gbees_filter_pf.samples(pf)->evidence.effective > 0.1 * SAMPLES);
    gbees_filter_mc.destroy(mc);
    gbees_filter_pf.destroy(pf);
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- what a measurement may have ---- */

static const gbees_filter *const linear_updates[] = {&gbees_filter_ekf, &gbees_filter_ukf, &gbees_filter_enkf};

/* The mean after an update at the start; NAN where the filter refuses it, with its reason. */
static gbees_filter_moments update_once(const gbees_filter *kind, const gbees_problem *problem,
                                        const gbees_measurement *measurement, gbees_error *error)
{
    gbees_filter_setup setup = {.problem = problem, .samples = SAMPLES, .seed = 1, .threads = 1};
    gbees_filter_moments moments = {.mean = {NAN}};
    void *filter = NULL;

    memcpy(setup.start.mean, problem->mean, sizeof problem->mean);
    memcpy(setup.start.covariance, problem->covariance, sizeof problem->covariance);
    ck_assert_msg(!kind->create(&setup, &filter, error), "%s", error->text);
    if (!kind->update(filter, measurement, error))
        ck_assert_msg(!kind->moments(filter, &moments, error), "%s", error->text);
    kind->destroy(filter);
    return moments;
}

/* The distance and the direction of a beacon, as they may have been measured at the mean. */
static gbees_measurement see_beacon(const gbees_problem *problem)
{
    const gbees_model *unicycle = problem->model;
    gbees_measurement seen = {.time = problem->start, .size = 2, .covariance = {0.01, 0, 0, 0.04}};
    gbees_error error = {0};

    while (unicycle->measurements[seen.function].size != 2)
        ck_assert_int_lt(++seen.function, unicycle->measurement_count);
    for (int k = 0; k < 2; k++)
        seen.period[k] = unicycle->measurements[seen.function].period[k];
    ck_assert_msg(!gbees_measurement_draw(problem, &seen, problem->mean, 1, 1, &error), "%s", error.text);
    return seen;
}

START_TEST(a_missing_component_counts_for_nothing)
{
    gbees_problem *problem = problem_create(model("unicycle"), 0, NULL);
    gbees_measurement seen = see_beacon(problem), other;

    seen.missing = 2;
    other = seen;
    other.value[1] += 1;
    other.covariance[3] *= 3;
    for (size_t k = 0; k < 3; k++) {
        gbees_error error = {0};
        const gbees_filter_moments a = update_once(linear_updates[k], problem, &seen, &error),
                                   b = update_once(linear_updates[k], problem, &other, &error);

        ck_assert_msg(isfinite(a.mean[0]), "%s", error.text);
        for (int j = 0; j < problem->dimension; j++)
            ck_assert(a.mean[j] == b.mean[j]);
        ck_assert(a.mean[0] != problem->mean[0]);
    }
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(an_angle_has_no_turns)
{
    gbees_problem *problem = problem_create(model("unicycle"), 0, NULL);
    gbees_measurement seen = see_beacon(problem), turned = seen;

    ck_assert(seen.period[1] > 0);
    turned.value[1] += seen.period[1];
    for (size_t k = 0; k < 3; k++) {
        gbees_error error = {0};
        const gbees_filter_moments a = update_once(linear_updates[k], problem, &seen, &error),
                                   b = update_once(linear_updates[k], problem, &turned, &error);

        ck_assert_msg(isfinite(a.mean[0]), "%s", error.text);
        for (int j = 0; j < problem->dimension; j++)
            ck_assert_double_eq_tol(a.mean[j], b.mean[j], 1e-10);
    }
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(likelihoods_that_are_no_gaussian)
{
    exact_run exact;
    gbees_problem *problem = make_problem(2, 0, &exact);
    gbees_measurement gaussian = problem->measurements[0], student = gaussian, own = gaussian;

    student.likelihood = GBEES_LIKELIHOOD_STUDENT;
    student.degrees_of_freedom = 4;
    gaussian.covariance[0] *= 2; /* that of this Student's t */
    own.likelihood = GBEES_LIKELIHOOD_MODEL;
    for (size_t k = 0; k < 3; k++) {
        gbees_error error = {0};
        const gbees_filter_moments a = update_once(linear_updates[k], problem, &gaussian, &error),
                                   b = update_once(linear_updates[k], problem, &student, &error);

        ck_assert_msg(a.mean[0] == b.mean[0], "%g, not %g: %s", b.mean[0], a.mean[0], error.text);
        ck_assert(isnan(update_once(linear_updates[k], problem, &own, &error).mean[0]));
        ck_assert_int_eq(error.status, GBEES_EMODEL);
        ck_assert_ptr_nonnull(strstr(error.text, "has the model's own likelihood"));
        student.degrees_of_freedom = 2;
        ck_assert(isnan(update_once(linear_updates[k], problem, &student, &error).mean[0]));
        ck_assert_ptr_nonnull(strstr(error.text, "mc and pf take it"));
        student.degrees_of_freedom = 4;
    }
    gbees_problem_destroy(problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filters");
    TCase *tests = tcase_create("filters");

    tcase_add_checked_fixture(tests, registry_open, registry_close);
    tcase_add_test(tests, gaussian_filters_are_exact);
    tcase_add_test(tests, samples_with_weights);
    tcase_add_test(tests, particles);
    tcase_add_test(tests, ensemble);
    tcase_add_test(tests, particles_begin_as_plain_samples);
    tcase_add_test(tests, a_missing_component_counts_for_nothing);
    tcase_add_test(tests, an_angle_has_no_turns);
    tcase_add_test(tests, likelihoods_that_are_no_gaussian);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
