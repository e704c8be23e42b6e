/* test_truth.c - a simulated truth, what is measured of it, and records compared with it. */
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"
#include "record/cells.h"
#include <stdlib.h>

enum { SEEDS = 2000, RUNS = 40 };

/* ---- the truth ---- */

static gbees_truth *simulate(const gbees_problem *problem, size_t count, const double *time, uint64_t seed)
{
    gbees_truth *truth = NULL;
    gbees_error error = {0};

    ck_assert_msg(!gbees_truth_simulate(problem, count, time, seed, &truth, &error), "%s", error.text);
    return truth;
}

START_TEST(a_seed_is_a_truth)
{
    static const double once[] = {0, 1}, often[] = {0, 0.25, 0.5, 0.75, 1};
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_truth *first = simulate(problem, 2, once, 3), *again = simulate(problem, 2, once, 3);
    gbees_truth *other = simulate(problem, 2, once, 4), *finer = simulate(problem, 5, often, 3);

    for (int j = 0; j < 2; j++) {
        ck_assert(first->x[2 + j] == again->x[2 + j]);
        ck_assert(first->x[2 + j] != other->x[2 + j]);
        ck_assert_double_eq_tol(first->x[2 + j], finer->x[8 + j], 1e-3);
    }
    ck_assert_ptr_eq(gbees_truth_at(finer, 0.5 + 1e-13), finer->x + 4);
    ck_assert_ptr_eq(gbees_truth_at(finer, 1), finer->x + 8);
    ck_assert_ptr_null(gbees_truth_at(finer, 0.6));
    ck_assert_ptr_null(gbees_truth_at(finer, 2));
    gbees_truth_destroy(first);
    gbees_truth_destroy(again);
    gbees_truth_destroy(other);
    gbees_truth_destroy(finer);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(times_are_in_order)
{
    static const double bad[] = {0, 1, 0.5};
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_truth *truth = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_truth_simulate(problem, 3, bad, 1, &truth, &error), GBEES_EUSAGE);
    ck_assert_str_eq(error.text, "times of a truth: 0.5 comes after 1");
    ck_assert_int_eq(gbees_truth_simulate(problem, 0, bad, 1, &truth, &error), GBEES_EUSAGE);
    ck_assert_ptr_null(truth);
    gbees_problem_destroy(problem);
}
END_TEST

/* Four standard errors of a mean and of a variance. */
static void check_moments(const double *x, size_t count, double mean, double variance)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i];
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - sum / (double)count) * (x[i] - sum / (double)count);
    ck_assert_double_eq_tol(sum / (double)count, mean, 4 * sqrt(variance / (double)count));
    ck_assert_double_eq_tol(squares / (double)count, variance, 4 * variance * sqrt(2 / (double)count));
}

START_TEST(truths_have_the_initial_density)
{
    const double start = 0;
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    static double x[2][SEEDS];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gbees_truth *truth = simulate(problem, 1, &start, seed);

        for (int j = 0; j < 2; j++)
            x[j][seed] = truth->x[j];
        gbees_truth_destroy(truth);
    }
    for (int j = 0; j < 2; j++)
        check_moments(x[j], SEEDS, problem->mean[j], problem->covariance[3 * j]);
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- measurements ---- */

static gbees_measurement draw(const gbees_problem *problem, gbees_measurement like, uint64_t number)
{
    static const double x[] = {1.5, -2};
    gbees_error error = {0};

    ck_assert_msg(!gbees_measurement_draw(problem, &like, x, 5, number, &error), "%s", error.text);
    return like;
}

START_TEST(noise_has_the_covariance)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    const gbees_measurement like = {.time = 1, .function = 1, .size = 1, .covariance = {9}};
    static double y[SEEDS];

    for (uint64_t i = 0; i < SEEDS; i++)
        y[i] = draw(problem, like, i).value[0];
    check_moments(y, SEEDS, -2, 9);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(components_may_be_periodic)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    const gbees_measurement like = {.time = 1, .function = 1, .size = 1, .covariance = {100}, .period = {2}};

    for (uint64_t i = 0; i < 100; i++)
        ck_assert(fabs(draw(problem, like, i).value[0]) <= 1);
    gbees_problem_destroy(problem);
}
END_TEST

/* 5 % of Student's t lie beyond these. */
static const struct {
    double degrees, beyond;
} tails[] = {{0.5, 144.5}, {1, 12.706}, {3, 3.1824}, {30, 2.0423}};

START_TEST(student_has_its_tails)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    const gbees_measurement like = {.time = 1,
                                    .function = 1,
                                    .size = 1,
                                    .covariance = {4},
                                    .likelihood = GBEES_LIKELIHOOD_STUDENT,
                                    .degrees_of_freedom = tails[_i].degrees};
    int beyond = 0;

    for (uint64_t i = 0; i < SEEDS; i++)
        beyond += fabs(draw(problem, like, i).value[0] + 2) > 2 * tails[_i].beyond;
    ck_assert_double_eq_tol(beyond, 0.05 * SEEDS, 4 * sqrt(0.05 * 0.95 * SEEDS));
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(a_likelihood_of_the_models_own_can_not_be_drawn)
{
    gbees_problem *problem = problem_create(model("pendulum"), 0, NULL);
    gbees_measurement like = {.time = 1, .function = 3, .size = 1, .likelihood = GBEES_LIKELIHOOD_MODEL};
    gbees_error error = {0};

    ck_assert_int_eq(gbees_measurement_draw(problem, &like, (const double[]){1, 2}, 1, 1, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "can't be drawn: pendulum has a likelihood for it, but no noise"));
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- scores ---- */

START_TEST(a_record_beside_a_truth)
{
    double time[] = {1, 2}, x[] = {0, 0, 1.25, 5};
    const gbees_truth truth = {.dimension = 2, .count = 2, .time = time, .x = x};
    const gbees_problem problem = {.dimension = 2, .mean = {1, 4}, .width = {0.5, 2}};
    gbees_cells *cells = gbees_cells_create(2);
    static const int32_t index[2][3] = {{0, 0, 1}, {0, 1, 0}};
    static const double p[] = {0.2, 0.2, 0.4}; /* up to a factor */
    gbees_record record = {.problem = &problem,
                           .leg = 1,
                           .time = 2,
                           .statistics = {.mean = {1.5, 4}, .covariance = {0.5, 0.25, 0.25, 2}},
                           .cells = cells};
    gbees_score score;
    gbees_error error;

    ck_assert_int_eq(gbees_cells_add(cells, 3, (const int32_t *const[]){index[0], index[1]}, p), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), GBEES_OK);
    ck_assert_int_eq(gbees_truth_score(&truth, &record, &score), 1);
    ck_assert(score.off[0] == 0.25 && score.off[1] == -1 && score.state[1] == 5);
    ck_assert_double_eq_tol(score.rmse, sqrt((0.0625 + 1) / 2), 1e-14);
    /* (0.0625 * 2 + 2 * 0.25 * 0.25 + 1 * 0.5) / (0.5 * 2 - 0.0625) */
    ck_assert_double_eq_tol(score.nees, 0.75 / 0.9375, 1e-14);
    ck_assert_double_eq_tol(score.rank[0], 0.5, 1e-14);  /* on the face between the cells */
    ck_assert_double_eq_tol(score.rank[1], 0.75, 1e-14); /* on that above the first */
    record.time = 1.5;
    ck_assert_int_eq(gbees_truth_score(&truth, &record, &score), 0);
    record.time = 1;
    record.cells = NULL;
    record.statistics.covariance[0] = 0;
    ck_assert_int_eq(gbees_truth_score(&truth, &record, &score), 1);
    ck_assert(isnan(score.rank[0]) && isnan(score.nees) && isfinite(score.rmse));
    gbees_cells_destroy(cells);
}
END_TEST

START_TEST(scores_have_bounds)
{
    gbees_scores scores = {0};
    gbees_score_summary summary;
    const gbees_score before = {.rmse = 9, .nees = 9, .rank = {0.9}},
                      first = {.leg = 1, .rmse = 1, .nees = 2, .rank = {0.25}},
                      second = {.leg = 2, .rmse = 3, .nees = 5, .rank = {0.5}};

    ck_assert_uint_eq(gbees_scores_summary(&scores, &summary), 0);
    gbees_scores_add(&scores, 3, &before);
    ck_assert_uint_eq(gbees_scores_summary(&scores, &summary), 1);
    ck_assert(summary.rmse.value == 9 && !summary.updates_only && isinf(summary.rmse.high));
    /* chi-squared of three degrees of freedom */
    ck_assert_double_eq_tol(summary.nees.low, 0.215795, 1e-5);
    ck_assert_double_eq_tol(summary.nees.high, 9.348404, 1e-5);
    gbees_scores_add(&scores, 3, &first);
    gbees_scores_add(&scores, 3, &second);
    ck_assert_uint_eq(gbees_scores_summary(&scores, &summary), 2);
    ck_assert(summary.updates_only && summary.rmse.value == 2 && summary.nees.value == 3.5);
    ck_assert_double_eq_tol(summary.rmse.high, 2 + 1.96 * 1, 1e-3);
    ck_assert_double_eq_tol(summary.rank[0].value, 0.375, 1e-15);
    ck_assert_double_eq_tol(summary.rank[0].high, 0.5 + 1.96 / sqrt(24), 1e-4);
}
END_TEST

/* ---- all of it: of a density that is right, ranks are even and distances are chi-squared ---- */

typedef struct held {
    gbees_truth *truth;
    gbees_scores *scores;
} held;

static int hold(void *context, const gbees_record *record, gbees_error *error)
{
    const held *h = context;
    gbees_score score;

    (void)error;
    ck_assert_int_eq(gbees_truth_score(h->truth, record, &score), 1);
    if (record->leg == 1 && record->number == 0)
        gbees_scores_add(h->scores, record->problem->dimension, &score);
    return 0;
}

static void run(const gbees_problem *problem, uint64_t seed, gbees_scores *scores)
{
    static const double time[] = {0, 0.5, 1};
    gbees_measurement seen = problem->measurements[0];
    gbees_problem own = *problem;
    world w = {.problem = &own};
    held h = {simulate(problem, 3, time, seed), scores};
    const gbees_observer observer = {.context = &h, .record = hold};

    ck_assert_msg(!gbees_measurement_draw(problem, &seen, h.truth->x + 2, seed, 0, &w.error), "%s", w.error.text);
    own.measurements = &seen;
    ck_assert_int_eq(gbees_registry_backend(registry, "cpu", &w.backend, NULL), GBEES_OK);
    ck_assert_msg(!world_run(&w, 1, &observer, NULL), "%s", w.error.text);
    gbees_truth_destroy(h.truth);
}

START_TEST(a_right_density_is_consistent)
{
    const char *text = "mean: [2, 2]\ncovariance: [0.25, 0.25]\nfactor: 2\nextent: 5\nthreshold: 1.0e-9\n"
                       "end: 1\nrecords: 1\nmeasurements:\n"
                       "  - {time: 0.5, function: x1, value: [0], covariance: [0.04]}\n";
    gbees_problem *problem = problem_of_text("linear", text);
    gbees_scores scores = {0};
    gbees_score_summary summary;

    for (uint64_t seed = 0; seed < RUNS; seed++)
        run(problem, seed, &scores);
    ck_assert_uint_eq(gbees_scores_summary(&scores, &summary), RUNS);
    ck_assert(summary.updates_only);
    ck_assert_msg(summary.nees.value > summary.nees.low && summary.nees.value < summary.nees.high, "%g",
                  summary.nees.value);
    for (int j = 0; j < 2; j++)
        ck_assert_msg(summary.rank[j].value > summary.rank[j].low && summary.rank[j].value < summary.rank[j].high,
                      "%g", summary.rank[j].value);
    gbees_problem_destroy(problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("truth");
    TCase *tests = tcase_create("truth");

    tcase_add_checked_fixture(tests, registry_open, registry_close);
    tcase_add_test(tests, a_seed_is_a_truth);
    tcase_add_test(tests, times_are_in_order);
    tcase_add_test(tests, truths_have_the_initial_density);
    tcase_add_test(tests, noise_has_the_covariance);
    tcase_add_test(tests, components_may_be_periodic);
    tcase_add_loop_test(tests, student_has_its_tails, 0, sizeof tails / sizeof *tails);
    tcase_add_test(tests, a_likelihood_of_the_models_own_can_not_be_drawn);
    tcase_add_test(tests, a_record_beside_a_truth);
    tcase_add_test(tests, scores_have_bounds);
    tcase_add_test(tests, a_right_density_is_consistent);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
