/* test_refinement.c - the plan of runs for an accuracy, against errors whose law is known. */
#include "fixtures/plan_fixture.h"
#include "fixtures/suite.h"
#include <math.h>

/* ---- runs whose errors have a law ---- */

/* A run that is made up: its grid is read from the scenario that the plan has set. */
typedef struct law {
    double start[2], size[2]; /* of each leg: error at its record 0 and at its end, with cells of factor 1 */
    double order;
    double floor;   /* that no grid falls below, per lost mass */
    double samples; /* standard error of 1 / sqrt(samples * share) */
    double share;
    int legs;
    const gbees_cells *cells; /* of each record; NULL: they are not known */
    double sparse;            /* updates go with the power 1 - sparse of cells times steps */
} law;

/* Factors of both legs. */
static void read_grid(const char *text, double (*factor)[N])
{
    const char *regrid = strstr(text, "\n  - {time: 1, factor: [");

    for (int j = 0; j < N; j++) {
        factor[0][j] = number_after(text, "factor: [", j);
        factor[1][j] = factor[0][j] * (regrid ? number_after(regrid, "factor: [", j) : 1);
    }
}

/* The samples that the plan wants in the end. */
static size_t samples_of(gbees_refinement *plan)
{
    gbees_audit_options how = {0};

    (void)gbees_refinement_audit(plan, &how);
    return how.most;
}

/* Lets the plan see one run; returns its cost. */
static double run(const law *by, const gbees_problem *problem, gbees_refinement *plan, double (*factor)[N],
                  gbees_refinement_step *step)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_scenario *scenario = NULL;
    gbees_certificate certificate;
    gbees_summary summary = {.problem = problem, .propagate_s = 1, .wall_s = 2};
    double updates = 0;

    ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
    ck_assert_msg(gbees_refinement_scenario(plan, scenario, &error) == GBEES_OK, "%s", error.text);
    const char *text = gbees_scenario_text(scenario);
    const double lost = number_after(text, "mass_budget_total: ", 0);
    const size_t samples = samples_of(plan);
    read_grid(text, factor);
    for (int l = 0; l < by->legs; l++) {
        const double finer = fmin(factor[l][0], factor[l][1]), scale = pow(finer, -by->order);
        const double earlier = l ? pow(fmin(factor[0][0], factor[0][1]), -by->order) : 1;

        for (int k = 0; k < 2; k++) {
            gbees_record record = {.problem = problem,
                                   .leg = l,
                                   .number = k,
                                   .time = l + k,
                                   .certificate = &certificate,
                                   .cells = by->cells};

            updates +=
                k ? 1e6 * pow(factor[l][0] * factor[l][1] * fmax(factor[l][0], factor[l][1]), 1 - by->sparse) : 0;
            record.totals.cell_updates = updates;
            fill_certificate(&certificate, (k ? by->size[l] * scale : by->start[l] * earlier) + by->floor * lost,
                             2 * by->samples / sqrt(by->share * (double)samples), samples, by->share);
            ck_assert_msg(gbees_refinement_record(plan, &record, &error) == GBEES_OK, "%s", error.text);
        }
    }
    summary.totals.cell_updates = updates;
    summary.totals.mass_pruned = lost;
    summary.totals.peak_bytes = 1000;
    ck_assert_msg(gbees_refinement_finish(plan, &summary, step, &error) == GBEES_OK, "%s", error.text);
    ck_assert_double_eq(step->updates, updates);
    gbees_scenario_destroy(scenario);
    return updates;
}

/* Runs until the plan ends; returns how many runs it took. */
static int climb(const law *by, double accuracy, double (*factor)[N], double *cost, gbees_refinement_step *step)
{
    const gbees_problem problem = problem_of(accuracy);
    gbees_refinement *plan = NULL;
    gbees_error error = {GBEES_OK, ""};
    double last = 0, all = 0;
    int runs = 0;

    ck_assert_msg(gbees_refinement_create(&problem, &plan, &error) == GBEES_OK, "%s", error.text);
    do {
        last = run(by, &problem, plan, factor, step);
        all += last;
        ck_assert_int_eq(step->run, ++runs);
    } while (step->next);
    *cost = all / last;
    gbees_refinement_destroy(plan);
    return runs;
}

START_TEST(reaches_what_is_asked_for)
{
    const double asked[] = {0.2, 0.1, 0.05, 0.02};

    for (int order = 1; order <= 2; order++)
        for (int k = 0; k < 4; k++) {
            const law by = {.size = {0.5}, .order = order, .samples = 1, .share = 1, .legs = 1};
            gbees_refinement_step step;
            double factor[2][N], cost;
            const int runs = climb(&by, asked[k], factor, &cost, &step);

            ck_assert_int_eq(step.met, 1);
            ck_assert_double_le(step.error, asked[k]);
            ck_assert_double_gt(step.error, asked[k] / 40); /* not far finer than needed */
            ck_assert_int_le(runs, order == 1 ? 8 : 5);
            ck_assert_double_le(cost, 2.2);
        }
}
END_TEST

START_TEST(a_run_that_is_fine_enough_is_the_last)
{
    const law by = {.size = {0.01}, .order = 1, .samples = 1, .share = 1, .legs = 1};
    gbees_refinement_step step;
    double factor[2][N], cost;

    ck_assert_int_eq(climb(&by, 0.1, factor, &cost, &step), 1);
    ck_assert_int_eq(step.met, 1);
    ck_assert_double_eq_tol(factor[0][0], 1, 1e-12); /* the problem's own cells */
    ck_assert_double_eq_tol(factor[0][1], 1, 1e-12);
}
END_TEST

START_TEST(a_leg_gets_what_it_needs)
{
    const law by = {.start = {0, 0.01}, .size = {0.02, 0.8}, .order = 2, .samples = 1, .share = 1, .legs = 2};
    gbees_refinement_step step;
    double factor[2][N], cost;

    (void)climb(&by, 0.1, factor, &cost, &step);
    ck_assert_int_eq(step.met, 1);
    for (int j = 0; j < N; j++) {
        const double times = factor[1][j] / factor[0][j];

        ck_assert_double_ge(factor[1][j], 2.8); /* sqrt(0.8 / 0.1) */
        ck_assert_double_ge(times, 1);
        ck_assert_double_eq(log2(times), round(log2(times)));
    }
}
END_TEST

/* Cells along an axis on which the density is smooth become wider for an accuracy of .05, not for finer ones. */
START_TEST(a_smooth_axis_may_become_coarser)
{
    static const struct {
        double accuracy, smooth;
    } cases[] = {{0.05, 0.7}, {0.049, 1}};
    int32_t at[100][N] = {{0}};
    double p[100], factor[2][N];
    gbees_error error = {GBEES_OK, ""};

    for (int i = 0; i < 100; i++) {
        at[i][1] = i;
        p[i] = 0.01;
    }
    gbees_cells *cells = cells_of(100, (const int32_t(*)[N])at, p);
    const law by = {.size = {0.5}, .order = 1, .samples = 1, .share = 1, .legs = 1, .cells = cells};
    for (int k = 0; k < 2; k++) {
        const gbees_problem problem = problem_of(cases[k].accuracy);
        gbees_refinement *plan = NULL;
        gbees_refinement_step step;

        ck_assert_msg(gbees_refinement_create(&problem, &plan, &error) == GBEES_OK, "%s", error.text);
        (void)run(&by, &problem, plan, factor, &step);
        (void)run(&by, &problem, plan, factor, &step);
        ck_assert_double_gt(factor[0][0], 2);
        ck_assert_double_eq_tol(factor[0][1], cases[k].smooth, 1e-12);
        gbees_refinement_destroy(plan);
    }
    gbees_cells_destroy(cells);
}
END_TEST

/* The cost of a third run, where cells and steps go with the factors, and where the first two have shown that there
 * are fewer. */
START_TEST(the_growth_of_the_cost_is_observed)
{
    for (int k = 0; k < 2; k++) {
        const law by = {.size = {4}, .order = 1, .samples = 1, .share = 1, .legs = 1, .sparse = 0.4 * k};
        const gbees_problem problem = problem_of(0.02);
        gbees_refinement *plan = NULL;
        gbees_refinement_step step;
        gbees_error error = {GBEES_OK, ""};
        double factor[2][N];

        ck_assert_msg(gbees_refinement_create(&problem, &plan, &error) == GBEES_OK, "%s", error.text);
        const double first = run(&by, &problem, plan, factor, &step);
        const double unobserved = step.next_updates, second = run(&by, &problem, plan, factor, &step);
        ck_assert_double_gt(second, 1.5 * first);
        ck_assert_double_eq_tol(log(unobserved / first), log(second / first) / (1 - by.sparse), 1e-6);
        const double predicted = step.next_updates, third = run(&by, &problem, plan, factor, &step);
        ck_assert_double_gt(third, 1.5 * second);
        ck_assert_double_eq_tol(predicted, third, 1e-3 * third);
        gbees_refinement_destroy(plan);
    }
}
END_TEST

START_TEST(what_a_leg_begins_with_is_the_earlier_ones)
{
    const law by = {.start = {0, 0.6}, .size = {0.02, 0.02}, .order = 2, .samples = 1, .share = 1, .legs = 2};
    gbees_refinement_step step;
    double factor[2][N], cost;

    (void)climb(&by, 0.1, factor, &cost, &step);
    ck_assert_int_eq(step.met, 1);
    ck_assert_double_gt(factor[0][0], 2);
}
END_TEST

/* Where lost mass is the error, less is lost; the cells stay nearly as they are. */
START_TEST(a_loss_is_made_smaller)
{
    const law by = {.size = {0.01}, .order = 2, .floor = 3.5, .samples = 1, .share = 1, .legs = 1};
    gbees_refinement_step step;
    double factor[2][N], cost;

    (void)climb(&by, 0.1, factor, &cost, &step);
    ck_assert_int_eq(step.met, 1);
    ck_assert_double_le(factor[0][0], 1.5);
}
END_TEST

START_TEST(more_samples_where_few_are_effective)
{
    const law by = {.size = {0.01}, .order = 2, .samples = 1, .share = 0.02, .legs = 1};
    gbees_refinement_step step;
    double factor[2][N], cost;

    (void)climb(&by, 0.05, factor, &cost, &step);
    ck_assert_int_eq(step.met, 1);
    ck_assert(step.samples >= 500000);
}
END_TEST

START_TEST(what_can_not_be_told_is_not_met)
{
    const gbees_problem problem = problem_of(0.1);
    const gbees_certificate unknown = {.samples = 10000,
                                       .effective = 6,
                                       .mean = {{NAN, NAN}, {NAN, NAN}},
                                       .std = {{NAN, NAN}, {NAN, NAN}},
                                       .density = {NAN, NAN}};
    const gbees_record record = {.problem = &problem, .certificate = &unknown};
    const gbees_summary summary = {.problem = &problem, .totals.cell_updates = 1};
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
    ck_assert_int_eq(gbees_refinement_finish(plan, &summary, &step, &error), GBEES_OK);
    ck_assert_int_eq(step.met, -1);
    ck_assert(isnan(step.error));
    ck_assert(samples_of(plan) > 1000000);
    gbees_refinement_destroy(plan);
}
END_TEST

/* Where samples can't tell, runs are compared with each other: until they differ by no more than the accuracy. */
START_TEST(runs_on_coarser_cells_estimate_what_samples_can_not)
{
    const gbees_problem problem = problem_of(0.1);
    const gbees_certificate unknown = {.samples = 10000,
                                       .effective = 0.5,
                                       .mean = {{NAN, NAN}, {NAN, NAN}},
                                       .std = {{NAN, NAN}, {NAN, NAN}},
                                       .density = {NAN, NAN}};
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error = {GBEES_OK, ""};
    double off = 0;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    gbees_refinement_expect(plan, &(gbees_audit_outlook){.effective = 5e-5});
    ck_assert_uint_eq(samples_of(plan), 10000);
    do {
        gbees_record record = {.problem = &problem, .certificate = &unknown, .totals.cell_updates = 1000};
        gbees_summary summary = {
            .problem = &problem, .totals.cell_updates = 1000, .updates = 2, .evidence.total_error = NAN};
        gbees_scenario *scenario = NULL;

        ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
        ck_assert_int_eq(gbees_refinement_scenario(plan, scenario, &error), GBEES_OK);
        off = 0.4 / number_after(gbees_scenario_text(scenario), "factor: [", 0);
        record.statistics = (gbees_statistics){.mean = {1 + off, 2}, .covariance = {1, 0, 0, 1}};
        const double evidence_off = 50 * sqrt(off); /* of order 1/2, as has been seen */
        summary.evidence.total = -evidence_off;
        gbees_scenario_destroy(scenario);
        const double estimate = gbees_refinement_estimate(plan, &record);
        ck_assert(isnan(estimate) ? off == 0.4 : estimate > 0.9 * off && estimate < 3.1 * off);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
        ck_assert_int_eq(gbees_refinement_finish(plan, &summary, &step, &error), GBEES_OK);
        ck_assert_int_eq(step.met, -1);
        ck_assert_int_eq(step.best, 1);
        ck_assert(isnan(estimate)
                      ? isnan(step.evidence_estimate)
                      : step.evidence_estimate > 0.999 * evidence_off && step.evidence_estimate < 3.1 * evidence_off);
    } while (step.next);
    ck_assert_double_le(step.estimate, 0.1);
    ck_assert_double_le(off, 0.1);
    ck_assert_uint_eq(samples_of(plan), 10000);
    gbees_refinement_destroy(plan);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(refuses_problems_whose_grid_is_given)
{
    const gbees_initial_cells cells = {0};
    gbees_problem problem = problem_of(0);
    gbees_refinement *plan = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_EUSAGE);
    problem = problem_of(0.1);
    problem.cells = &cells;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "a record, whose grid is given"));
    problem = problem_of(0.1);
    problem.numerics.mode = GBEES_MODE_PAPER;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "keep the grid that is given"));
    problem = problem_of(0.1);
    problem.regrid_auto = 1;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "it chooses when the grid changes"));
    problem = problem_of(0.1);
    problem.regrid_count = 1;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_EUSAGE);
    ck_assert_ptr_null(plan);
}
END_TEST

/* A run of twenty records of which samples can't certify the first `unsure`: their own error is above the accuracy.
 */
static void run_with_unsure(gbees_refinement *plan, const gbees_problem *problem, int unsure,
                            gbees_refinement_step *step)
{
    const gbees_summary summary = {.problem = problem, .totals.cell_updates = 1e6, .propagate_s = 1};
    gbees_error error = {GBEES_OK, ""};

    for (int k = 0; k < 20; k++) {
        gbees_certificate certificate;
        const gbees_record record = {
            .problem = problem, .number = k, .time = k, .certificate = &certificate, .totals.cell_updates = 1e6};

        fill_certificate(&certificate, 0.01, k < unsure ? 0.2 : 0.01, 10000, k < unsure ? 0.01 : 0.9);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
    }
    ck_assert_int_eq(gbees_refinement_finish(plan, &summary, step, &error), GBEES_OK);
}

/* Up to a tenth of the records are named where samples can't certify them; with more the accuracy is not met. */
START_TEST(few_records_that_samples_can_not_certify_are_named)
{
    const gbees_problem problem = problem_of(0.1);
    gbees_refinement_step step;
    gbees_error error = {GBEES_OK, ""};

    for (int unsure = 1; unsure < 6; unsure++) {
        gbees_refinement *plan = NULL;

        ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
        run_with_unsure(plan, &problem, unsure, &step);
        ck_assert_int_eq(step.met, unsure <= 2);
        ck_assert_int_eq(step.unsure, unsure <= 2 ? unsure : 0);
        ck_assert_double_eq(step.unsure_time[unsure <= 2 ? unsure - 1 : 0], unsure <= 2 ? unsure - 1 : 0);
        ck_assert_double_eq_tol(step.error, unsure <= 2 ? 0.02 : 0.21, 1e-12);
        gbees_refinement_destroy(plan);
    }
}
END_TEST

/* The Courant number of the next run of a plan. */
static double courant_of(const gbees_refinement *plan)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_scenario *scenario = NULL;

    ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
    ck_assert_int_eq(gbees_refinement_scenario(plan, scenario, &error), GBEES_OK);
    const char *text = gbees_scenario_text(scenario);
    const double courant = strstr(text, "courant: ") ? number_after(text, "courant: ", 0) : 1;
    gbees_scenario_destroy(scenario);
    return courant;
}

/* An error that falls with the square of the time step alone (_i = 0), or with nothing: where finer cells have not
 * helped, the next run has half the step, and where that has not helped, the step of before. */
START_TEST(the_time_step_is_to_blame_where_cells_are_not)
{
    gbees_problem problem = problem_of(0.02);
    gbees_refinement *plan = NULL;
    gbees_refinement_step step = {.next = 1};
    gbees_error error = {GBEES_OK, ""};
    double least = 1, last = 1;

    problem.numerics.courant = 1;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    while (step.next) {
        gbees_certificate certificate;
        const gbees_record record = {
            .problem = &problem, .number = 1, .certificate = &certificate, .totals.cell_updates = 1e6};
        const gbees_summary summary = {.problem = &problem, .totals.cell_updates = 1e6, .propagate_s = 1};

        last = courant_of(plan);
        least = fmin(least, last);
        fill_certificate(&certificate, _i == 0 ? 0.1 * last * last : 0.1, 0.001, 1000000, 1);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
        ck_assert_int_eq(gbees_refinement_finish(plan, &summary, &step, &error), GBEES_OK);
    }
    ck_assert_double_eq(least, _i == 0 ? 0.25 : 0.5);
    ck_assert_double_eq(last, _i == 0 ? 0.25 : 1);
    ck_assert_int_eq(step.met, _i == 0);
    gbees_refinement_destroy(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refinement");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, reaches_what_is_asked_for);
    tcase_add_test(tests, a_run_that_is_fine_enough_is_the_last);
    tcase_add_test(tests, a_leg_gets_what_it_needs);
    tcase_add_test(tests, a_smooth_axis_may_become_coarser);
    tcase_add_test(tests, the_growth_of_the_cost_is_observed);
    tcase_add_test(tests, what_a_leg_begins_with_is_the_earlier_ones);
    tcase_add_test(tests, a_loss_is_made_smaller);
    tcase_add_test(tests, more_samples_where_few_are_effective);
    tcase_add_test(tests, what_can_not_be_told_is_not_met);
    tcase_add_test(tests, few_records_that_samples_can_not_certify_are_named);
    tcase_add_loop_test(tests, the_time_step_is_to_blame_where_cells_are_not, 0, 2);
    tcase_add_test(tests, runs_on_coarser_cells_estimate_what_samples_can_not);
    tcase_add_test(tests, refuses_problems_whose_grid_is_given);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
