/* test_selection.c - tails that measurements select: the next run of an accuracy keeps them; and its scheme. */
#include "fixtures/suite.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double accuracy = 0.1;

static void measure(int which, size_t count, double t, const double *origin, const double *const *offset,
                    const double *p, double *const *y)
{
    (void)which, (void)t, (void)p;
    for (size_t i = 0; i < count; i++)
        y[0][i] = origin[0] + offset[0][i];
}

enum { FIRST = 4 /* factor of the first run on a line */ };

/* The number after a key of the scenario of the next run; NAN: it has no such key. */
static double next(const gbees_refinement *plan, const char *key)
{
    gbees_error error;
    gbees_scenario *scenario = NULL;

    ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
    ck_assert_int_eq(gbees_refinement_scenario(plan, scenario, &error), GBEES_OK);
    const char *at = strstr(gbees_scenario_text(scenario), key);
    const double number = at ? strtod(at + strlen(key), NULL) : NAN;
    gbees_scenario_destroy(scenario);
    return number;
}

/* Lets the plan see a run of 100 cells that has lost .005, whose only measurement, of variance 1, has this log
 * evidence, by the grid and by samples (NAN: they can't tell); its records have an error of .5, and these warnings
 * after it. */
static void run(gbees_refinement *plan, const gbees_problem *problem, double found, double sampled, unsigned warnings,
                gbees_refinement_step *step)
{
    const gbees_evidence evidence = {.log_evidence = found, .sampled = sampled, .sampled_error = 0 * sampled};
    const gbees_summary summary = {
        .problem = problem,
        .updates = 1,
        .totals = {.cell_updates = 1000, .max_cells = 100, .mass_pruned = 0.005, .peak_bytes = 1000}};
    gbees_certificate certificate = {
        .samples = 10000, .effective = 5000, .mean = {{0.49, 0.5}}, .std = {{0.09, 0.1}}};
    gbees_error error;

    for (int leg = 0; leg < 2; leg++) {
        gbees_record record = {
            .problem = problem, .leg = leg, .time = leg, .certificate = &certificate, .warnings = leg ? warnings : 0};

        if (leg)
            ck_assert_msg(!gbees_refinement_update(plan, 1, &evidence, &error), "%s", error.text);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
        record.number = 1;
        record.totals.cell_updates = 500 * (leg + 1);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
    }
    ck_assert_int_eq(gbees_refinement_finish(plan, &summary, step, &error), GBEES_OK);
}

static gbees_problem problem_of(const gbees_measurement *measurement, const gbees_model *model,
                                const gbees_functions *functions)
{
    return (gbees_problem){.model = model,
                           .functions = functions,
                           .dimension = 1,
                           .end = 2,
                           .covariance = {1},
                           .width = {0.5},
                           .measurements = measurement,
                           .measurement_count = 1,
                           .accuracy = accuracy};
}

/* A measurement has selected the share s = C / max(L) of the density. The next run has the same cells, a box that
 * cuts off a twentieth of the accuracy of that share, and a p* by which all its cells together have a hundredth.
 * Samples are believed rather than the grid; and a run that finds the same share makes cells finer again. */
START_TEST(the_tail_is_kept)
{
    const gbees_model model = {.name = "test"};
    const gbees_functions functions = {.measure_d = measure};
    const gbees_measurement measurement = {.time = 1, .size = 1, .covariance = {1}};
    const gbees_problem problem = problem_of(&measurement, &model, &functions);
    const double share = 1e-6, log_evidence = log(share) - 0.5 * log(2 * acos(-1));
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    ck_assert_double_eq(next(plan, "mass_budget_total: "), 0.01);
    ck_assert_double_eq(next(plan, "extent: "), 3);
    run(plan, &problem, _i ? log_evidence + 3 : log_evidence, _i ? log_evidence : NAN, GBEES_WARNING_TAIL, &step);
    ck_assert_int_eq(step.next, 1);
    ck_assert_double_gt(step.next_updates, 1300);
    ck_assert_double_eq(next(plan, "factor: ["), FIRST);
    const double extent = next(plan, "extent: "), cells = step.next_updates / 1000 * 100;
    ck_assert_double_le(erfc(extent / sqrt(2)), 0.05 * accuracy * share);
    ck_assert_double_gt(erfc((extent - 0.06) / sqrt(2)), 0.05 * accuracy * share);
    ck_assert(isnan(next(plan, "mass_budget_total: ")));
    ck_assert_double_eq_tol(next(plan, "threshold: ") * cells / (0.01 * accuracy * share), 1, 1e-9);

    run(plan, &problem, log_evidence - 1, NAN, GBEES_WARNING_TAIL, &step);
    ck_assert_int_eq(step.next, 1);
    ck_assert_double_gt(next(plan, "factor: ["), 1.2 * FIRST);
    ck_assert_double_eq(next(plan, "extent: "), extent);
    ck_assert_double_lt(next(plan, "threshold: "), 0.01 * accuracy * share / cells);
    gbees_refinement_destroy(plan);
}
END_TEST

/* However little a run has found where it had lost the tail: what the next one keeps is bounded. */
START_TEST(a_lost_tail_asks_for_no_more_than_can_be_kept)
{
    const gbees_model model = {.name = "test"};
    const gbees_functions functions = {.measure_d = measure};
    const gbees_measurement measurement = {.time = 1, .size = 1, .covariance = {1}};
    const gbees_problem problem = problem_of(&measurement, &model, &functions);
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    run(plan, &problem, -800, NAN, GBEES_WARNING_TAIL, &step);
    ck_assert_int_eq(step.next, 1);
    ck_assert_double_lt(next(plan, "extent: "), 8);
    ck_assert_double_ge(next(plan, "threshold: "), 1e-18);
    run(plan, &problem, -800, NAN, GBEES_WARNING_TAIL, &step);
    ck_assert_double_gt(next(plan, "factor: ["), 1.2 * FIRST);
    gbees_refinement_destroy(plan);
}
END_TEST

/* As small a share in the density's middle, of a sharp measurement, asks for nothing, unless finer cells are in vain:
 * what was lost is so much more of the density after the measurement. */
START_TEST(a_measurement_in_the_middle_keeps_the_budget)
{
    const gbees_model model = {.name = "test"};
    const gbees_functions functions = {.measure_d = measure};
    const gbees_measurement measurement = {.time = 1, .size = 1, .covariance = {1}};
    const gbees_problem problem = problem_of(&measurement, &model, &functions);
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    run(plan, &problem, -14, NAN, 0, &step);
    ck_assert_double_gt(next(plan, "factor: ["), 1.2 * FIRST);
    ck_assert(isnan(next(plan, "threshold: ")));
    ck_assert_double_eq(next(plan, "mass_budget_total: "), 0.01);
    const double factor = next(plan, "factor: [");
    run(plan, &problem, -14, NAN, 0, &step);
    ck_assert_int_eq(step.next, 1);
    ck_assert_double_eq(next(plan, "factor: ["), factor);
    ck_assert(isnan(next(plan, "mass_budget_total: ")));
    ck_assert_double_gt(next(plan, "extent: "), 5);
    gbees_refinement_destroy(plan);
}
END_TEST

/* What is lost before a measurement is missing from the evidence; with noise there is always a next loss. On a line
 * cells far out cost little. */
START_TEST(noise_and_measurements_lose_less)
{
    const gbees_model model = {.name = "test", .diffusion = GBEES_FULL};
    const gbees_measurement measurement = {.time = 1, .size = 1, .covariance = {1}};
    const int measured = _i % 2, is_line = _i < 2;
    const double part = is_line ? 0.01 : measured ? 0.1 : 1;
    gbees_problem problem = problem_of(&measurement, &model, NULL);
    gbees_refinement *plan = NULL;
    gbees_error error;

    problem.measurement_count = measured;
    problem.dimension = is_line ? 1 : 2;
    problem.covariance[problem.dimension * problem.dimension - 1] = 1;
    problem.width[1] = 0.5;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    ck_assert_double_eq_tol(next(plan, "mass_budget_total: "), part * 0.01, 1e-15);
    ck_assert_double_le(erfc(next(plan, "extent: ") / sqrt(2)), 0.05 * accuracy * part);
    gbees_refinement_destroy(plan);
}
END_TEST

/* The scheme of a run: that of the highest order whose sweeps can take the noise; one that is given stays. */
START_TEST(noise_chooses_the_scheme)
{
    static const struct {
        int noise, moving;
        const char *given, *scheme;
    } cases[] = {{0, 0, "", "split7-mp"},
                 {GBEES_DIAGONAL, 0, "", "split7"},
                 {GBEES_FULL, 0, "", "split7-mp"},
                 {GBEES_DIAGONAL, 1, "", "split7-mp"}, /* its noise is not in the sweeps */
                 {GBEES_DIAGONAL, 0, "scheme: split5", "split5"}};
    const gbees_model model = {.name = "test", .diffusion = cases[_i].noise};
    gbees_problem problem = problem_of(NULL, &model, NULL);
    gbees_refinement *plan = NULL;
    gbees_scenario *scenario = NULL;
    gbees_error error;
    char wanted[64];

    problem.measurement_count = 0;
    problem.moving = cases[_i].moving;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    ck_assert_int_eq(gbees_scenario_create(cases[_i].given, "test", &scenario, &error), GBEES_OK);
    ck_assert_msg(!gbees_refinement_scenario(plan, scenario, &error), "%s", error.text);
    (void)snprintf(wanted, sizeof wanted, "scheme: %s\n", cases[_i].scheme);
    ck_assert_msg(strstr(gbees_scenario_text(scenario), wanted) != NULL, "%s", gbees_scenario_text(scenario));
    gbees_scenario_destroy(scenario);
    gbees_refinement_destroy(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("selection");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, the_tail_is_kept, 0, 2);
    tcase_add_test(tests, a_lost_tail_asks_for_no_more_than_can_be_kept);
    tcase_add_test(tests, a_measurement_in_the_middle_keeps_the_budget);
    tcase_add_loop_test(tests, noise_and_measurements_lose_less, 0, 4);
    tcase_add_loop_test(tests, noise_chooses_the_scheme, 0, 5);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
