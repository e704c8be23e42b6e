/* test_sample_count.c - how many samples the runs of an accuracy have, from the share that the run before has found
 * effective. */
#include "accuracy/plan.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The number of samples of the run after one that had `before` samples, this share of them effective, and an error of
 * so many times the accuracy. */
static size_t after(double accuracy, size_t before, double share, double error)
{
    const gbees_problem problem = {.accuracy = accuracy};
    gbees_refinement plan = {
        .problem = &problem, .samples = before, .now = {.effective = share, .error = error * accuracy, .owned = 1}};

    gbees_plan_choose_samples(&plan);
    return plan.samples;
}

START_TEST(two_standard_errors_are_a_quarter_of_the_accuracy)
{
    for (double share = 0.05; share <= 1; share += 0.05) {
        const double effective = share * (double)gbees_plan_samples_for(0.02, share);

        ck_assert_double_gt(effective, 64 / (0.02 * 0.02));
        ck_assert_double_lt(effective, 1.11 * 64 / (0.02 * 0.02));
    }
    ck_assert_uint_eq(gbees_plan_samples_for(0.5, 1), 10000);
    ck_assert_uint_eq(gbees_plan_samples_for(0.001, 1), 1 << 22);
}
END_TEST

START_TEST(they_grow_when_the_grids_error_is_near_to_theirs)
{
    const size_t before = gbees_plan_samples_for(0.02, 1), needed = gbees_plan_samples_for(0.02, 0.5);

    ck_assert_uint_eq(after(0.02, before, 0.5, 2), needed);
    ck_assert_uint_eq(after(0.02, before, 0.5, 20), before);
    ck_assert_uint_eq(after(0.02, needed, 1, 2), needed); /* they never become fewer */
}
END_TEST

/* More samples are integrated anew from the start. There are more than needed by a margin; a share that is a little
 * less than expected leaves enough. */
START_TEST(they_stay_where_their_margin_suffices)
{
    const size_t before = gbees_plan_samples_for(0.02, 0.05);

    ck_assert_uint_eq(after(0.02, before, 0.0499, 2), before);
    ck_assert_uint_eq(after(0.02, before, 0.046, 2), before);
    ck_assert_double_gt(0.046 * (double)before, 64 / (0.02 * 0.02));
    ck_assert_uint_gt(after(0.02, before, 0.045, 2), before);
}
END_TEST

/* A grid at rest begins with those for .05; one that moves with all, as its first run may be the last. */
START_TEST(a_moving_grid_has_all_from_the_start)
{
    for (int moving = 0; moving < 2; moving++) {
        const gbees_problem problem = {.accuracy = 0.02, .moving = moving};
        gbees_refinement plan = {.problem = &problem};

        gbees_refinement_expect(&plan, &(gbees_audit_outlook){.effective = 0.5});
        ck_assert_uint_eq(plan.samples, gbees_plan_samples_for(moving ? 0.02 : 0.05, 0.5));
    }
}
END_TEST

/* They begin with as many as take a second, or a tenth of the work of the grid before, and may grow to all of them;
 * where only samples are missing they may take as much as the grid. */
START_TEST(their_work_is_bounded)
{
    const gbees_problem problem = {.accuracy = 0.02};
    gbees_refinement plan = {.problem = &problem};
    gbees_audit_options how = {0};

    gbees_refinement_expect(&plan, &(gbees_audit_outlook){.effective = 0.1, .steps = 500});
    ck_assert_int_eq(gbees_refinement_audit(&plan, &how), 1);
    ck_assert_uint_eq(how.samples, 16666);
    ck_assert_uint_eq(how.most, gbees_plan_samples_for(0.05, 0.1));
    ck_assert_double_eq(how.share, 0.1);
    ck_assert_int_eq(gbees_refinement_audit(&plan, &how), 1); /* the run before had none */
    plan.before.work = 1e9;
    plan.before.samples = 20000;
    (void)gbees_refinement_audit(&plan, &how);
    ck_assert_uint_eq(how.samples, 33333);
    plan.insists = 1;
    ck_assert_int_eq(gbees_refinement_audit(&plan, &how), 1);
    ck_assert_uint_eq(how.samples, how.most);
    plan.before.samples = how.samples;
    ck_assert_int_eq(gbees_refinement_audit(&plan, &how), 0);
    plan.before.samples = 0; /* points have certified the run before: they are kept */
    plan.before.by_points = 1;
    ck_assert_int_eq(gbees_refinement_audit(&plan, &how), 0);
    plan.steps = 1e6; /* never fewer than these */
    (void)gbees_refinement_audit(&plan, &how);
    ck_assert_uint_eq(how.samples, 10000);
}
END_TEST

/* What the plan makes of a run for .01 whose records are all off by `value`, as far as so many samples can tell,
 * whose own error is .02. */
static void see_run(gbees_refinement *plan, const gbees_problem *problem, size_t samples, double value,
                    gbees_refinement_step *step)
{
    const gbees_certificate certificate = {
        .samples = samples, .effective = (double)samples, .mean = {{value, value + 0.02}}, .std = {{0, 0.02}}};
    const gbees_summary summary = {
        .problem = problem, .totals = {.cell_updates = 1e6, .mass_pruned = 0.01}, .propagate_s = 1};
    gbees_error error;

    for (int k = 0; k < 5; k++) {
        const gbees_record record = {
            .problem = problem, .number = k, .certificate = &certificate, .totals.cell_updates = 1e6};

        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
    }
    ck_assert_int_eq(gbees_refinement_finish(plan, &summary, step, &error), GBEES_OK);
}

enum { FIRST = 4 /* factor of the first run on a line */ };

/* Where an error may be all the samples' own, the next run has more samples, if these do not take too long; else
 * there is none. Cells become finer only as far as the grid's work is a tenth of that of these samples, which a few
 * steps of the grid are worth. Where the grid is certainly off, they become finer in any case. */
START_TEST(an_error_of_the_samples_refines_little)
{
    static const struct {
        double steps, value;
        int next, few;
    } cases[] = {{100, 0.01, 1, 0}, {100, 0.029, 1, 0}, {1e6, 0.01, 0, 1}, {100, 0.2, 1, 0}, {1e6, 0.2, 1, 0}};
    const gbees_model model = {.name = "test", .diffusion = GBEES_DIAGONAL};
    const gbees_problem problem = {
        .model = &model, .dimension = 1, .end = 1, .covariance = {1}, .width = {0.5}, .accuracy = 0.01};
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_audit_options how = {0};
    gbees_error error;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    gbees_refinement_expect(plan, &(gbees_audit_outlook){.effective = 1, .steps = cases[_i].steps});
    (void)gbees_refinement_audit(plan, &how);
    see_run(plan, &problem, how.samples, cases[_i].value, &step);
    ck_assert_int_eq(step.met, 0);
    ck_assert_int_eq(step.next, cases[_i].next);
    ck_assert_int_eq(step.samples_few, cases[_i].few);
    if (cases[_i].value < 0.1) {
        ck_assert_uint_eq(step.samples_needed, gbees_plan_samples_for(0.01, 1));
        ck_assert_double_ge(step.next_updates, step.updates);
        ck_assert_double_le(step.next_updates,
                            fmax(step.updates, 0.6 * cases[_i].steps * (double)step.samples_needed));
    }
    for (size_t before = how.samples; cases[_i].value < 0.1 && step.next; before = how.samples) {
        (void)gbees_refinement_audit(plan, &how); /* four times as many, as long as it is not for long */
        const size_t wanted = before * 4 < step.samples_needed ? before * 4 : step.samples_needed;
        const size_t most = (size_t)(1e9 / (6 * cases[_i].steps)); /* that ten seconds allow */
        ck_assert_uint_eq(how.samples, wanted < most ? wanted : most);
        ck_assert_double_le(plan->now.legs[0].factor[0], 30);
        see_run(plan, &problem, how.samples, cases[_i].value, &step);
    }
    ck_assert_int_eq(step.samples_few, cases[_i].value < 0.1);
    if (cases[_i].value > 0.1)
        ck_assert_double_eq_tol(plan->now.legs[0].factor[0], 4 * FIRST, 1e-12);
    gbees_refinement_destroy(plan);
}
END_TEST

/* Errors of samples tell one leg from another: with noise all have the finest one's cells. */
START_TEST(with_noise_all_legs_have_one_grid)
{
    const gbees_model model = {.name = "test", .diffusion = _i ? GBEES_DIAGONAL : 0};
    const gbees_problem problem = {
        .model = &model, .dimension = 1, .end = 2, .covariance = {1}, .width = {0.5}, .accuracy = 0.05};
    gbees_refinement *plan = NULL;
    gbees_scenario *scenario = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    leg_result *legs = realloc(plan->now.legs, 2 * sizeof *legs);
    ck_assert_ptr_nonnull(legs);
    legs[1] = (leg_result){.time = 1, .factor = {4 * FIRST}};
    plan->now.legs = legs;
    plan->now.leg_count = 2;
    ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
    ck_assert_int_eq(gbees_refinement_scenario(plan, scenario, &error), GBEES_OK);
    const char *text = gbees_scenario_text(scenario);
    ck_assert_msg(strstr(text, _i ? "factor: [16]\n" : "factor: [4]\n") != NULL, "%s", text);
    ck_assert_int_eq(strstr(text, "{time: 1, factor: [4]}") != NULL, _i == 0);
    gbees_scenario_destroy(scenario);
    gbees_refinement_destroy(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sample_count");
    TCase *tcase = tcase_create("sample_count");

    tcase_add_test(tcase, two_standard_errors_are_a_quarter_of_the_accuracy);
    tcase_add_test(tcase, they_grow_when_the_grids_error_is_near_to_theirs);
    tcase_add_test(tcase, they_stay_where_their_margin_suffices);
    tcase_add_test(tcase, their_work_is_bounded);
    tcase_add_loop_test(tcase, an_error_of_the_samples_refines_little, 0, 5);
    tcase_add_loop_test(tcase, with_noise_all_legs_have_one_grid, 0, 2);
    tcase_add_test(tcase, a_moving_grid_has_all_from_the_start);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
