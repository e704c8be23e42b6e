/* test_montecarlo.c - the Monte Carlo of tests/accuracy against exact answers and against tests/data/golden. */
#include "audit/montecarlo.h"
#include "fixtures/suite.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a model with an answer: a rotation at rate p[0], and dx2/dt = cos t; measured: (x0, x2) ---------------- */

static void turn_x(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)t;
    for (size_t i = 0; i < count; i++)
        out[i] = -p[0] * (origin[1] + offset[1][i]);
}

static void turn_y(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)t;
    for (size_t i = 0; i < count; i++)
        out[i] = p[0] * (origin[0] + offset[0][i]);
}

static void turn_z(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)origin, (void)offset, (void)p;
    for (size_t i = 0; i < count; i++)
        out[i] = cos(t);
}

static void turn_measure(int which, size_t count, double t, const double *origin, const double *const *offset,
                         const double *p, double *const *out)
{
    (void)which, (void)t, (void)p;
    ck_assert_ptr_null(out[2]);
    for (size_t i = 0; i < count; i++) {
        out[0][i] = origin[0] + offset[0][i];
        out[1][i] = origin[2] + offset[2][i];
    }
}

static void turn_all(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                     double *const *out)
{
    turn_x(count, t, origin, offset, p, out[0]);
    turn_y(count, t, origin, offset, p, out[1]);
    turn_z(count, t, origin, offset, p, out[2]);
}

static const gbees_functions turn_functions = {
    .n = 3, .component_d = {turn_x, turn_y, turn_z}, .drift_d = turn_all, .measure_d = turn_measure};
static const gbees_model turn_model = {.abi = GBEES_MODEL_ABI,
                                       .size = sizeof(gbees_model),
                                       .name = "turn",
                                       .dim_min = 3,
                                       .dim_max = 3,
                                       .dim_default = 3,
                                       .functions = &turn_functions,
                                       .function_count = 1};

/* dx = -x dt + noise, of a Q that has no root but a triangular one with a zero in it. */
static void sink(const double *origin, const double *offset, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = -(origin[0] + offset[i]);
}

static void sink_x(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)t, (void)p;
    sink(origin, offset[0], count, out);
}

static void sink_y(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)t, (void)p;
    sink(origin + 1, offset[1], count, out);
}

static void sink_z(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *out)
{
    (void)t, (void)p;
    sink(origin + 2, offset[2], count, out);
}

static const double sink_noise[9] = {0.4, 0.2, 0, 0.2, 0.1, 0, 0, 0, 0.3};

static void sink_q(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                   double *const *out)
{
    (void)t, (void)origin, (void)offset, (void)p;
    for (int k = 0; k < 9; k++)
        for (size_t i = 0; i < count; i++)
            out[k][i] = sink_noise[k];
}

static void sink_all(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                     double *const *out)
{
    sink_x(count, t, origin, offset, p, out[0]);
    sink_y(count, t, origin, offset, p, out[1]);
    sink_z(count, t, origin, offset, p, out[2]);
}

static const gbees_functions sink_functions = {
    .n = 3, .component_d = {sink_x, sink_y, sink_z}, .drift_d = sink_all, .diffusion_d = sink_q};

static gbees_problem turn_problem(void)
{
    return (gbees_problem){.model = &turn_model,
                           .functions = &turn_functions,
                           .dimension = 3,
                           .parameters = {2},
                           .start = 0.5,
                           .end = 2,
                           .records = 1,
                           .mean = {1, -2, 3},
                           .covariance = {1, 0.3, 0, 0.3, 0.5, -0.2, 0, -0.2, 0.8},
                           .width = {0.5, 0.35, 0.45},
                           .extent = {4, 4, 4}};
}

static gbees_montecarlo *make(const gbees_problem *problem, size_t count, double step, int threads, int cut)
{
    const gbees_montecarlo_options options = {
        .count = count, .step = step, .seed = 1, .threads = threads, .cut = cut};
    gbees_montecarlo *montecarlo = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_create(problem, &options, &montecarlo, &error) == GBEES_OK, "%s", error.text);
    return montecarlo;
}

static gbees_sample_moments moments_of(const gbees_montecarlo *montecarlo)
{
    gbees_sample_moments moments;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_measure(montecarlo, 0, &moments, &error) == GBEES_OK, "%s", error.text);
    return moments;
}

static void advance(gbees_montecarlo *montecarlo, double time)
{
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_advance(montecarlo, time, &error) == GBEES_OK, "%s", error.text);
}

static void update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement)
{
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_update(montecarlo, measurement, &error) == GBEES_OK, "%s", error.text);
}

START_TEST(draws_the_initial_gaussian)
{
    const gbees_problem problem = turn_problem();
    gbees_montecarlo *montecarlo = make(&problem, 100000, 0.01, 0, 0);
    const gbees_sample_moments moments = moments_of(montecarlo);

    ck_assert_double_eq_tol(moments.effective, 100000, 1e-6);
    for (int j = 0; j < 3; j++) {
        ck_assert_double_eq_tol(moments.mean_error[j], sqrt(problem.covariance[4 * j] / 100000), 1e-3);
        ck_assert_double_eq_tol(moments.mean[j], problem.mean[j], 5 * moments.mean_error[j]);
    }
    for (int j = 0; j < 9; j++)
        ck_assert_double_eq_tol(moments.covariance[j], problem.covariance[j], 5 * moments.covariance_error[j]);
    gbees_montecarlo_destroy(montecarlo);
}
END_TEST

START_TEST(noise_is_that_of_q)
{
    gbees_problem problem = turn_problem();
    gbees_model model = turn_model;

    model.diffusion = GBEES_FULL;
    model.functions = problem.functions = &sink_functions;
    problem.model = &model;
    gbees_montecarlo *montecarlo = make(&problem, 100000, 0.05, 0, 0), *again = make(&problem, 100000, 0.05, 1, 0);
    const double time = 0.7, left = exp(-2 * time);
    advance(montecarlo, problem.start + 0.3);
    advance(montecarlo, problem.start + time);
    advance(again, problem.start + 0.3);
    advance(again, problem.start + time);
    const gbees_sample_moments moments = moments_of(montecarlo);
    for (int j = 0; j < 3; j++)
        ck_assert_mem_eq(montecarlo->x[j], again->x[j], montecarlo->count * sizeof(double));
    for (int j = 0; j < 9; j++)
        ck_assert_double_eq_tol(moments.covariance[j], problem.covariance[j] * left + sink_noise[j] * (1 - left) / 2,
                                5 * moments.covariance_error[j]);
    gbees_montecarlo_destroy(montecarlo);
    gbees_montecarlo_destroy(again);
}
END_TEST

START_TEST(cuts_at_the_box)
{
    const gbees_problem problem = turn_problem();
    gbees_montecarlo *cut = make(&problem, 20000, 0.01, 0, 1), *full = make(&problem, 20000, 0.01, 0, 0);
    size_t outside[2] = {0, 0}, same = 0;

    for (size_t i = 0; i < 20000; i++) {
        int out[2] = {0, 0};

        for (int j = 0; j < 3; j++) {
            const double edge = 4.5 * problem.width[j];

            out[0] |= fabs(cut->x[j][i] - problem.mean[j]) > edge;
            out[1] |= fabs(full->x[j][i] - problem.mean[j]) > edge;
        }
        outside[0] += (size_t)out[0];
        outside[1] += (size_t)out[1];
        same += cut->x[0][i] == full->x[0][i];
    }
    ck_assert_uint_eq(outside[0], 0);
    ck_assert_uint_gt(outside[1], 500);
    ck_assert_uint_eq(same, 20000 - outside[1]); /* only those outside are drawn again */
    gbees_montecarlo_destroy(cut);
    gbees_montecarlo_destroy(full);
}
END_TEST

START_TEST(each_sample_follows_the_flow)
{
    const gbees_problem problem = turn_problem();
    const double t = 1.75, angle = 2 * (t - 0.5);
    gbees_montecarlo *now = make(&problem, 1500, 1e-3, 0, 0), *then = make(&problem, 1500, 1e-3, 0, 0);

    advance(now, 1.0);
    advance(now, t);
    for (size_t i = 0; i < 1500; i++) {
        const double x = then->x[0][i], y = then->x[1][i];

        ck_assert_double_eq_tol(now->x[0][i], x * cos(angle) - y * sin(angle), 1e-10);
        ck_assert_double_eq_tol(now->x[1][i], x * sin(angle) + y * cos(angle), 1e-10);
        ck_assert_double_eq_tol(now->x[2][i], then->x[2][i] + sin(t) - sin(0.5), 1e-10);
    }
    gbees_montecarlo_destroy(now);
    gbees_montecarlo_destroy(then);
}
END_TEST

/* x0 and x2 measured with noise S: gain K = C H' (H C H' + S)^-1, for a prior of means 1, 3 and variances 1, 0.8. */
START_TEST(weights_by_the_likelihood)
{
    const gbees_problem problem = turn_problem();
    const gbees_measurement measurement = {
        .time = 0.5, .size = 2, .value = {1.8, 2.4}, .covariance = {0.5, 0.1, 0.1, 0.4}};
    gbees_montecarlo *montecarlo = make(&problem, 200000, 0.01, 0, 0);
    const double a = 1 + 0.5, b = 0.1, c = 0.8 + 0.4, det = a * c - b * b;
    const double *const prior = problem.covariance;
    gbees_sample_moments moments;

    update(montecarlo, &measurement);
    moments = moments_of(montecarlo);
    ck_assert_double_lt(moments.effective, 150000);
    for (int j = 0; j < 3; j++) {
        const double gain0 = (prior[j * 3] * c - prior[j * 3 + 2] * b) / det;
        const double gain2 = (prior[j * 3 + 2] * a - prior[j * 3] * b) / det;
        const double mean = problem.mean[j] + gain0 * 0.8 + gain2 * -0.6;

        ck_assert_double_eq_tol(moments.mean[j], mean, 5 * moments.mean_error[j]);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(moments.covariance[j * 3 + k],
                                    prior[j * 3 + k] - gain0 * prior[k] - gain2 * prior[6 + k],
                                    5 * moments.covariance_error[j * 3 + k]);
    }
    gbees_montecarlo_destroy(montecarlo);
}
END_TEST

/* The likelihood of a measurement 1e4 standard deviations away underflows; its logarithm does not. */
START_TEST(weights_survive_a_far_measurement)
{
    const gbees_problem problem = turn_problem();
    const gbees_measurement far = {.time = 0.5, .size = 2, .value = {1e4, 3}, .covariance = {1, 0, 0, 1}};
    gbees_montecarlo *montecarlo = make(&problem, 1000, 0.01, 0, 0);
    gbees_sample_moments moments;

    update(montecarlo, &far);
    moments = moments_of(montecarlo);
    ck_assert_double_ge(moments.effective, 1);
    ck_assert_double_gt(moments.mean[0], 3);
    gbees_montecarlo_destroy(montecarlo);
}
END_TEST

START_TEST(same_bits_for_any_number_of_threads)
{
    const gbees_problem problem = turn_problem();
    const gbees_measurement measurement = {.time = 1, .size = 2, .value = {2, 3}, .covariance = {0.01, 0, 0, 0.01}};
    const size_t count = 30011;
    gbees_montecarlo *run[3];
    gbees_sample_moments moments[3];

    for (int k = 0; k < 3; k++) {
        run[k] = make(&problem, count, 0.01, k + 1, 1);
        advance(run[k], 1);
        update(run[k], &measurement);
        advance(run[k], 1.5);
        moments[k] = moments_of(run[k]);
    }
    ck_assert_uint_lt(run[0]->count, count); /* some are without weight */
    for (int k = 1; k < 3; k++) {
        ck_assert_uint_eq(run[k]->count, run[0]->count);
        for (int j = 0; j < 3; j++)
            ck_assert_mem_eq(run[k]->x[j], run[0]->x[j], run[0]->count * sizeof(double));
        ck_assert_mem_eq(run[k]->weight, run[0]->weight, run[0]->count * sizeof(double));
        ck_assert_mem_eq(&moments[k], &moments[0], sizeof moments[0]);
    }
    for (int k = 0; k < 3; k++)
        gbees_montecarlo_destroy(run[k]);
}
END_TEST

START_TEST(says_what_is_wrong)
{
    gbees_problem problem = turn_problem();
    gbees_montecarlo_options options = {.count = 100, .step = 0.01, .seed = 1, .threads = 1};
    gbees_montecarlo *montecarlo = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_montecarlo_create(&problem, &options, &montecarlo, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "at least 128 samples"));
    options.count = 200;
    problem.covariance[0] = -1;
    ck_assert_int_eq(gbees_montecarlo_create(&problem, &options, &montecarlo, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "not positive definite"));
    ck_assert_ptr_null(montecarlo);
    problem = turn_problem();
    montecarlo = make(&problem, 200, 0.01, 1, 0);
    ck_assert_int_eq(gbees_montecarlo_advance(montecarlo, 0.25, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "can't go back"));
    problem.parameters[0] = NAN;
    ck_assert_int_eq(gbees_montecarlo_advance(montecarlo, 1, &error), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(error.text, "no longer finite"));
    gbees_montecarlo_destroy(montecarlo);
}
END_TEST

/* ---- the plugins against the golden truth ------------------------------------------------------------------- */

/* Each line of the table that fits, axis by axis: within 5 standard errors of both. */
static void compare_golden(const gbees_montecarlo *montecarlo, const char *model, const char *start,
                           const char *phase)
{
    const char *folder = getenv("srcdir");
    const gbees_sample_moments moments = moments_of(montecarlo);
    char path[4096], line[512];
    int found = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/golden/montecarlo.txt", folder ? folder : ".");
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s can't be read", path);
    while (fgets(line, sizeof line, file)) {
        char words[3][32];
        double time, mean, mean_error, std, std_error;
        int axis;

        if (sscanf(line, "%31s %31s %31s %lf %*s %*s %d %lf %lf %lf %lf", words[0], words[1], words[2], &time, &axis,
                   &mean, &mean_error, &std, &std_error) != 9 ||
            strcmp(words[0], model) != 0 || strcmp(words[1], start) != 0 || strcmp(words[2], phase) != 0 ||
            fabs(time - montecarlo->time) > 1e-6)
            continue;
        found++;
        ck_assert_double_eq_tol(moments.mean[axis], mean, 5 * hypot(mean_error, moments.mean_error[axis]));
        ck_assert_double_eq_tol(moments.std[axis], std, 5 * hypot(std_error, moments.std_error[axis]));
    }
    fclose(file);
    ck_assert_int_eq(found, montecarlo->problem->dimension);
}

static gbees_registry *load(const char *name, gbees_problem *problem)
{
    gbees_registry *registry = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_registry_create(NULL, &registry, &error) == GBEES_OK, "%s", error.text);
    ck_assert_msg(gbees_registry_model(registry, name, &problem->model, &error) == GBEES_OK, "%s", error.text);
    problem->dimension = problem->model->dim_default;
    problem->functions = &problem->model->functions[problem->dimension - problem->model->dim_min];
    ck_assert_int_eq(problem->functions->n, problem->dimension);
    for (int k = 0; k < problem->model->parameter_count; k++)
        problem->parameters[k] = problem->model->parameters[k].value;
    return registry;
}

START_TEST(lorenz63_against_golden)
{
    gbees_problem problem = {.mean = {-11.5, -10, 9.5},
                             .covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                             .width = {0.5, 0.5, 0.5},
                             .extent = {6, 6, 6}};
    const gbees_measurement measurement = {.time = 1, .size = 1, .value = {-8}, .covariance = {1}};
    gbees_registry *registry = load("lorenz63", &problem);
    gbees_montecarlo *montecarlo = make(&problem, 200000, 2e-3, 0, 0);

    advance(montecarlo, 0.25);
    compare_golden(montecarlo, "lorenz63", "full", "prior");
    advance(montecarlo, 1);
    compare_golden(montecarlo, "lorenz63", "full", "prior");
    update(montecarlo, &measurement);
    compare_golden(montecarlo, "lorenz63", "full", "posterior");
    advance(montecarlo, 1.25);
    compare_golden(montecarlo, "lorenz63", "full", "posterior");
    gbees_montecarlo_destroy(montecarlo);
    gbees_registry_destroy(registry);
}
END_TEST

/* The chosen steps are short enough for the few samples that a measurement leaves, in the spread of these. */
START_TEST(steps_suit_the_samples_that_count)
{
    gbees_problem problem = {.mean = {-11.5, -10, 9.5}, .covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const gbees_measurement measurement = {.time = 1, .size = 1, .value = {-8}, .covariance = {0.01}};
    const double tolerance = 5e-5;
    gbees_registry *registry = load("lorenz63", &problem);
    gbees_montecarlo *chosen = make(&problem, 20000, INFINITY, 0, 0), *exact = make(&problem, 20000, 2e-4, 0, 0);
    gbees_error error = {GBEES_OK, ""};
    const double times[] = {1, 1.25, 1.5};

    for (int k = 0; k < 3; k++) {
        ck_assert_msg(gbees_montecarlo_follow(chosen, times[k], tolerance, &error) == GBEES_OK, "%s", error.text);
        advance(exact, times[k]);
        if (k == 0) {
            update(chosen, &measurement);
            update(exact, &measurement);
        }
        const gbees_sample_moments a = moments_of(chosen), b = moments_of(exact);
        for (int j = 0; j < 3; j++) {
            ck_assert_double_le(fabs(a.mean[j] - b.mean[j]), 20 * tolerance * b.std[j]);
            ck_assert_double_le(fabs(a.std[j] - b.std[j]), 20 * tolerance * b.std[j]);
        }
    }
    gbees_montecarlo_destroy(chosen);
    gbees_montecarlo_destroy(exact);
    gbees_registry_destroy(registry);
}
END_TEST

START_TEST(lorenz96_against_golden)
{
    gbees_problem problem = {.mean = {4.5, 4, 4, 4, 4, 4}};
    gbees_registry *registry = load("lorenz96", &problem);

    for (int j = 0; j < 6; j++) {
        problem.covariance[7 * j] = 0.04;
        problem.width[j] = 0.1;
        problem.extent[j] = 6;
    }
    for (int cut = 0; cut < 2; cut++) {
        gbees_montecarlo *montecarlo = make(&problem, 200000, 0.01, 0, cut);

        advance(montecarlo, 0.2);
        compare_golden(montecarlo, "lorenz96", cut ? "cut" : "full", "prior");
        advance(montecarlo, 0.4);
        compare_golden(montecarlo, "lorenz96", cut ? "cut" : "full", "prior");
        gbees_montecarlo_destroy(montecarlo);
    }
    gbees_registry_destroy(registry);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("montecarlo");
    TCase *exact = tcase_create("exact"), *golden = tcase_create("golden");

    tcase_set_timeout(exact, 60);
    tcase_add_test(exact, draws_the_initial_gaussian);
    tcase_add_test(exact, noise_is_that_of_q);
    tcase_add_test(exact, cuts_at_the_box);
    tcase_add_test(exact, each_sample_follows_the_flow);
    tcase_add_test(exact, weights_by_the_likelihood);
    tcase_add_test(exact, weights_survive_a_far_measurement);
    tcase_add_test(exact, same_bits_for_any_number_of_threads);
    tcase_add_test(exact, says_what_is_wrong);
    suite_add_tcase(suite, exact);
    tcase_set_timeout(golden, 60);
    tcase_add_test(golden, lorenz63_against_golden);
    tcase_add_test(golden, steps_suit_the_samples_that_count);
    tcase_add_test(golden, lorenz96_against_golden);
    suite_add_tcase(suite, golden);
    return run_suite(suite);
}
