/* test_weights.c - Monte Carlo's weights: likelihoods that are not Gaussian, components that were not measured, that
 * come back to themselves, against integrals and closed forms. */
#include "audit/montecarlo.h"
#include "fixtures/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200000 };

/* ---- a model that only measures: x0 and x2; its own likelihoods are e^(y x0), "not below y", and no number
 * ---------
 */

static void pair(int which, size_t count, double t, const double *origin, const double *const *offset,
                 const double *p, double *const *out)
{
    (void)which, (void)t, (void)p;
    for (size_t i = 0; i < count; i++) {
        out[0][i] = origin[0] + offset[0][i];
        out[1][i] = origin[2] + offset[2][i];
    }
}

static void own(int which, size_t count, double t, const double *origin, const double *const *offset, const double *p,
                const double *y, double *out)
{
    (void)t, (void)p;
    for (size_t i = 0; i < count; i++) {
        const double x = origin[0] + offset[0][i];

        out[i] = which == 0 ? y[0] * x : which == 1 ? (x < y[0] ? -INFINITY : 3) : x > y[0] ? NAN : 0;
    }
}

static const gbees_functions functions = {.n = 3, .measure_d = pair, .log_likelihood_d = own};
static const gbees_model still = {.abi = GBEES_MODEL_ABI,
                                  .size = sizeof(gbees_model),
                                  .name = "still",
                                  .dim_min = 3,
                                  .dim_max = 3,
                                  .dim_default = 3,
                                  .functions = &functions,
                                  .function_count = 1};
static const gbees_problem problem = {.model = &still,
                                      .functions = &functions,
                                      .dimension = 3,
                                      .end = 1,
                                      .records = 1,
                                      .mean = {1, -2, 3},
                                      .covariance = {1, 0.3, 0, 0.3, 0.5, -0.2, 0, -0.2, 0.8},
                                      .width = {0.5, 0.35, 0.45},
                                      .extent = {9, 9, 9}};

static gbees_montecarlo *draw(void)
{
    const gbees_montecarlo_options options = {.count = COUNT, .step = 0.01, .seed = 5};
    gbees_montecarlo *samples = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_create(&problem, &options, &samples, &error) == GBEES_OK, "%s", error.text);
    return samples;
}

static gbees_sample_moments moments_after(const gbees_measurement *measurement)
{
    gbees_montecarlo *samples = draw();
    gbees_sample_moments m;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_update(samples, measurement, &error) == GBEES_OK, "%s", error.text);
    ck_assert_msg(gbees_montecarlo_measure(samples, 0, &m, &error) == GBEES_OK, "%s", error.text);
    gbees_montecarlo_destroy(samples);
    return m;
}

/* ---- residuals ------------------------------------------------------------------------------------------------ */

/* Mean and variance of x0 and x2, which are uncorrelated, times a likelihood: a sum over a fine grid. */
typedef struct integral {
    double mean[2], variance[2];
} integral;

static integral integrate(double (*likelihood)(double x0, double x2))
{
    const double sigma = sqrt(0.8);
    double sum = 0, first[2] = {0}, second[2] = {0};

    for (int i = -400; i <= 400; i++)
        for (int k = -400; k <= 400; k++) {
            const double z0 = i / 50.0, z2 = k / 50.0, x[2] = {1 + z0, 3 + sigma * z2};
            const double weight = exp(-(z0 * z0 + z2 * z2) / 2) * likelihood(x[0], x[1]);

            sum += weight;
            for (int j = 0; j < 2; j++) {
                first[j] += weight * x[j];
                second[j] += weight * x[j] * x[j];
            }
        }
    integral found = {{first[0] / sum, first[1] / sum}, {0}};
    for (int j = 0; j < 2; j++)
        found.variance[j] = second[j] / sum - found.mean[j] * found.mean[j];
    return found;
}

static double student_of_both(double x0, double x2)
{
    const double r0 = 2.8 - x0, r2 = 2.4 - x2, det = 0.5 * 0.4 - 0.01;
    const double square = (0.4 * r0 * r0 - 0.2 * r0 * r2 + 0.5 * r2 * r2) / det;

    return pow(1 + square / 2.5, -(2.5 + 2) / 2);
}

static double student_of_first(double x0, double x2)
{
    (void)x2;
    return pow(1 + (2.8 - x0) * (2.8 - x0) / 0.5 / 2.5, -(2.5 + 1) / 2);
}

static double gaussian_of_second(double x0, double x2)
{
    (void)x0;
    return exp(-(2.4 - x2) * (2.4 - x2) / 0.8);
}

/* 20.8 is 2.8 and -0.2 with a period of 3. */
static double wrapped(double x0, double x2)
{
    const double r0 = 2.8 - x0 - 3 * floor((2.8 - x0) / 3 + 0.5);

    return exp(-r0 * r0 / (2 * 0.1) - (2.4 - x2) * (2.4 - x2) / 0.8);
}

static const struct {
    gbees_measurement measurement;
    double (*likelihood)(double x0, double x2);
} residuals[] = {
    {{.size = 2,
      .value = {2.8, 2.4},
      .covariance = {0.5, 0.1, 0.1, 0.4},
      .likelihood = GBEES_LIKELIHOOD_STUDENT,
      .degrees_of_freedom = 2.5},
     student_of_both},
    {{.size = 2,
      .value = {2.8, 0},
      .covariance = {0.5, 0.1, 0.1, 0.4},
      .likelihood = GBEES_LIKELIHOOD_STUDENT,
      .degrees_of_freedom = 2.5,
      .missing = 2},
     student_of_first},
    {{.size = 2, .value = {0, 2.4}, .covariance = {0.5, 0.1, 0.1, 0.4}, .missing = 1}, gaussian_of_second},
    {{.size = 2, .value = {20.8, 2.4}, .covariance = {0.1, 0, 0, 0.4}, .period = {3, 0}}, wrapped},
};

START_TEST(residuals_are_judged)
{
    const integral exact = integrate(residuals[_i].likelihood);
    const gbees_sample_moments m = moments_after(&residuals[_i].measurement);

    for (int j = 0; j < 2; j++) {
        ck_assert_double_eq_tol(m.mean[2 * j], exact.mean[j], 5 * m.mean_error[2 * j]);
        ck_assert_double_eq_tol(m.covariance[8 * j], exact.variance[j], 5 * m.covariance_error[8 * j]);
    }
}
END_TEST

/* ---- the model's own ------------------------------------------------------------------------------------------ */

/* e^(a x0) moves a Gaussian by a times the covariance's first column, and no more. */
START_TEST(an_exponential_moves_the_mean)
{
    const double a = 0.7;
    const gbees_sample_moments m = moments_after(
        &(gbees_measurement){.size = 2, .value = {a}, .likelihood = GBEES_LIKELIHOOD_MODEL, .function = 0});

    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(m.mean[j], problem.mean[j] + a * problem.covariance[3 * j], 5 * m.mean_error[j]);
    for (int j = 0; j < 9; j++)
        ck_assert_double_eq_tol(m.covariance[j], problem.covariance[j], 5 * m.covariance_error[j]);
}
END_TEST

/* What is impossible has no weight: a Gaussian cut at its mean plus half a deviation. */
START_TEST(impossible_samples_have_no_weight)
{
    const double peak = exp(-0.125) / sqrt(8 * atan(1)), above = 0.5 * erfc(0.5 / sqrt(2)), mean = peak / above;
    const gbees_sample_moments m = moments_after(
        &(gbees_measurement){.size = 2, .value = {1.5}, .likelihood = GBEES_LIKELIHOOD_MODEL, .function = 1});

    ck_assert_double_eq_tol(m.mean[0], 1 + mean, 5 * m.mean_error[0]);
    ck_assert_double_eq_tol(m.covariance[0], 1 + 0.5 * mean - mean * mean, 5 * m.covariance_error[0]);
    ck_assert_double_eq_tol(m.effective, COUNT * above, 5 * sqrt(COUNT * above * (1 - above)));
}
END_TEST

START_TEST(says_what_is_wrong)
{
    static const struct {
        gbees_measurement measurement;
        int status;
        const char *text;
    } cases[] = {
        {{.time = 2, .size = 2, .value = {99}, .likelihood = GBEES_LIKELIHOOD_MODEL, .function = 1},
         GBEES_ENUMERIC,
         "no sample is possible after the measurement at t = 2"},
        {{.time = 2, .size = 2, .value = {1}, .likelihood = GBEES_LIKELIHOOD_MODEL, .function = 2},
         GBEES_ENUMERIC,
         "the likelihood of the measurement at t = 2 is not a number at a sample"},
        {{.time = 2, .size = 2, .covariance = {1, 2, 2, 1}},
         GBEES_EINPUT,
         "the covariance of the measurement at t = 2 is not positive definite"},
    };
    gbees_montecarlo *samples = draw();
    gbees_error error = {GBEES_OK, ""};

    ck_assert_int_eq(gbees_montecarlo_update(samples, &cases[_i].measurement, &error), cases[_i].status);
    ck_assert_msg(strstr(error.text, cases[_i].text) != NULL, "%s", error.text);
    gbees_montecarlo_destroy(samples);
}
END_TEST

START_TEST(says_what_the_model_lacks)
{
    const gbees_functions none = {.n = 3};
    gbees_model lacking = still;
    gbees_problem bare = problem;
    gbees_montecarlo *samples = draw();
    gbees_measurement measurement = {.size = 2, .covariance = {1, 0, 0, 1}};
    gbees_error error = {GBEES_OK, ""};

    lacking.functions = &none;
    bare.model = &lacking;
    bare.functions = &none;
    samples->problem = &bare;
    ck_assert_int_eq(gbees_montecarlo_update(samples, &measurement, &error), GBEES_EMODEL);
    ck_assert_msg(strstr(error.text, "the model 'still' has no measurement function") != NULL, "%s", error.text);
    measurement.likelihood = GBEES_LIKELIHOOD_MODEL;
    ck_assert_int_eq(gbees_montecarlo_update(samples, &measurement, &error), GBEES_EMODEL);
    ck_assert_msg(strstr(error.text, "the model 'still' has no likelihood of its own") != NULL, "%s", error.text);
    gbees_montecarlo_destroy(samples);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weights");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, residuals_are_judged, 0, (int)(sizeof residuals / sizeof *residuals));
    tcase_add_test(all, an_exponential_moves_the_mean);
    tcase_add_test(all, impossible_samples_have_no_weight);
    tcase_add_loop_test(all, says_what_is_wrong, 0, 3);
    tcase_add_test(all, says_what_the_model_lacks);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
