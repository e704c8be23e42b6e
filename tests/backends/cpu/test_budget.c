/* test_budget.c - the controller of p*, step by step: losses are made up, and what it makes of p* is looked at.
 * (That whole runs keep to their budgets is in test_ledger.c.) */
#include "cpu/engine/engine.h"
#include "fixtures/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

/* A budget of 0.02 a unit of time, one unit long. */
typedef struct rig {
    gbees_problem problem;
    gbees_engine engine;
    double time;
} rig;

static void rig_start(rig *r)
{
    gbees_error error = {GBEES_OK, ""};

    *r = (rig){.problem = {.dimension = 2, .end = 1, .mass_budget = 0.02}};
    r->engine = (gbees_engine){.problem = &r->problem, .cells = 64, .memory_limit = INFINITY};
    ck_assert_msg(grid_create(&r->engine.g, 2, 64, &error) == GBEES_OK, "%s", error.text);
    mass_budget_start(&r->engine.budget, &r->problem, &(budget_spectrum){{0}});
    r->engine.budget.threshold = 1e-6;
}

/* A hundredth of the run later so much has been lost at this rate. */
static double steer(rig *r, double rate)
{
    r->time += 0.01;
    r->engine.run.ledger.outflow += 0.01 * rate;
    budget_steer(&r->engine, r->time);
    return engine_threshold(&r->engine);
}

START_TEST(p_follows_the_rate)
{
    rig r;

    rig_start(&r);
    ck_assert_double_eq_tol(steer(&r, 0.02), 1e-6, 1e-18); /* as it should be */
    ck_assert_double_lt(steer(&r, 0.03), 1e-6);
    ck_assert_double_gt(steer(&r, 0.03), 0.25e-6);
    r.engine.budget.threshold = 1e-6;
    ck_assert_double_eq(steer(&r, 10), 0.5e-6); /* never more than by two */
    r.engine.budget.threshold = 1.5e-18;
    ck_assert_double_eq(steer(&r, 10), 1e-18);
    grid_destroy(&r.engine.g);
}
END_TEST

/* Up to the highest p*, as long as the budget is kept. */
START_TEST(p_rises_where_nothing_is_lost)
{
    rig r;

    rig_start(&r);
    ck_assert_double_eq(steer(&r, 0), 2e-6);
    r.engine.budget.threshold = 0.9e-3;
    ck_assert_double_eq(steer(&r, 0), 1e-3);
    grid_destroy(&r.engine.g);
}
END_TEST

/* Losses may come a brick at a time, with prunes between them that lose nothing. */
START_TEST(p_does_not_rise_while_the_budget_is_overspent)
{
    rig r;

    rig_start(&r);
    ck_assert_double_eq(steer(&r, 0.2), 0.5e-6); /* .002 of .0002 */
    for (int k = 0; k < 8; k++)
        ck_assert_double_eq(steer(&r, 0), 0.5e-6);
    r.time += 0.02; /* now it is less than .0024 */
    ck_assert_double_eq(steer(&r, 0), 1e-6);
    grid_destroy(&r.engine.g);
}
END_TEST

/* Of ten bricks, 640 cells, whose mean is 1.6e-3: from a 16th of that on p* rises by an eighth of an octave at most.
 */
START_TEST(p_rises_slowly_where_most_cells_would_go)
{
    rig r;

    rig_start(&r);
    r.engine.g.count = 10;
    r.engine.budget.threshold = 0.9 / 16 / 640;
    ck_assert_double_eq_tol(steer(&r, 0), 2 * 0.9 / 16 / 640, 1e-12);
    ck_assert_double_eq_tol(steer(&r, 0), 2 * 0.9 / 16 / 640 * pow(2, 0.125), 1e-12);
    ck_assert_double_lt(steer(&r, 10), 0.9 / 16 / 640 * 1.1); /* it falls as ever */
    grid_destroy(&r.engine.g);
}
END_TEST

/* It is made up for in what is left. */
START_TEST(what_an_update_prunes_is_no_rate)
{
    rig r;

    rig_start(&r);
    double before = steer(&r, 0.02);
    r.engine.run.ledger.pruned += 0.001;
    budget_steer(&r.engine, r.time);
    ck_assert_double_eq(engine_threshold(&r.engine), before);
    ck_assert_double_lt(steer(&r, 0.02), before);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    grid_destroy(&r.engine.g);
}
END_TEST

/* A threshold that may be raised is so, once for each prune that has no memory, and never lowered. */
START_TEST(memory_raises_a_threshold)
{
    rig r;

    rig_start(&r);
    r.problem.mass_budget = 0;
    r.problem.raise_threshold = 1;
    r.problem.threshold = r.engine.budget.threshold = 1e-6;
    ck_assert_double_eq(steer(&r, 1), 1e-6);
    r.engine.memory_limit = -1;
    r.engine.g.count = 1;
    ck_assert_double_eq(steer(&r, 1), 2e-6);
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_MEMORY);
    r.engine.memory_limit = INFINITY;
    ck_assert_double_eq(steer(&r, 0), 2e-6);
    r.problem.raise_threshold = 0;
    ck_assert_double_eq(engine_threshold(&r.engine), 1e-6);
    grid_destroy(&r.engine.g);
}
END_TEST

START_TEST(memory_comes_first)
{
    rig r;

    rig_start(&r);
    (void)steer(&r, 1);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    r.engine.memory_limit = -1;
    double before = engine_threshold(&r.engine);
    r.engine.g.count = 1;
    ck_assert_double_eq(steer(&r, 1), 2 * before);
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_MEMORY);
    r.engine.memory_limit = INFINITY;
    (void)steer(&r, 0);
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_MEMORY); /* it stays on record */
    grid_destroy(&r.engine.g);
}
END_TEST

/* Nine prunes in a row with 1.65 times the budget, whatever p* is. */
START_TEST(lowering_in_vain_is_told)
{
    rig r;

    rig_start(&r);
    for (int k = 0; k < 9; k++) {
        ck_assert_uint_eq(r.engine.budget.warnings, 0);
        (void)steer(&r, 0.033);
    }
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_FLOOR);
    grid_destroy(&r.engine.g);
}
END_TEST

START_TEST(the_lowest_p_is_told)
{
    rig r;

    rig_start(&r);
    r.engine.budget.threshold = 1e-18;
    (void)steer(&r, 0.031);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    r.engine.budget.threshold = 1e-18;
    (void)steer(&r, 0.033);
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_FLOOR);
    grid_destroy(&r.engine.g);
}
END_TEST

/* Too much is lost for long, but less and less; or not every time. */
START_TEST(what_helps_is_not_in_vain)
{
    rig r;
    double rate = 4;

    rig_start(&r);
    for (int k = 0; k < 20; k++, rate *= 0.8)
        (void)steer(&r, rate);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    for (int k = 0; k < 40; k++) {
        r.engine.budget.threshold = 1e-9;
        (void)steer(&r, k % 8 == 7 ? 0.02 : 0.2);
    }
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    grid_destroy(&r.engine.g);
}
END_TEST

/* Half of the run lost nothing: then three times the rate is no more than what was to be lost by then. */
START_TEST(what_was_saved_is_spent_without_a_word)
{
    rig r;

    rig_start(&r);
    for (int k = 0; k < 50; k++)
        (void)steer(&r, 0);
    for (int k = 0; k < 24; k++)
        (void)steer(&r, 0.06);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    for (int k = 0; k < 20; k++)
        (void)steer(&r, 0.06);
    ck_assert_uint_eq(r.engine.budget.warnings, GBEES_WARNING_BUDGET_FLOOR);
    grid_destroy(&r.engine.g);
}
END_TEST

/* A cell of 2^-k in each octave k: those below 2^-k hold 2^-k or, with the last octave, a little less. */
START_TEST(the_first_p_is_within_a_short_runs_budget)
{
    const double ends[] = {1, 0.02, 0.01, 1e-3}, most[] = {2e-4, 2e-4, 1e-4, 1e-5};
    budget_spectrum spectrum = {{0}};

    for (int k = 1; k < BUDGET_OCTAVES; k++)
        budget_spectrum_add(&spectrum, ldexp(1, -k - 1));
    for (int k = 0; k < 4; k++) {
        gbees_problem problem = {.dimension = 2, .end = ends[k], .mass_budget = 0.02};
        mass_budget budget;

        mass_budget_start(&budget, &problem, &spectrum);
        ck_assert_double_le(budget.threshold, most[k]);
        ck_assert_double_gt(budget.threshold, most[k] / 2);
    }
}
END_TEST

START_TEST(nothing_is_steered_without_a_budget)
{
    rig r;

    rig_start(&r);
    r.problem.mass_budget = 0;
    r.problem.threshold = 1e-5;
    mass_budget_start(&r.engine.budget, &r.problem, &(budget_spectrum){{0}});
    for (int k = 0; k < 20; k++)
        ck_assert_double_eq(steer(&r, 5), 1e-5);
    ck_assert_uint_eq(r.engine.budget.warnings, 0);
    grid_destroy(&r.engine.g);
}
END_TEST

/* In one dimension p* stays so low that no brick of 64 cells takes more than half of the whole budget. */
START_TEST(a_brick_is_not_the_whole_budget)
{
    rig r;

    rig_start(&r);
    r.problem.dimension = 1;
    r.engine.budget.threshold = 1e-4;
    for (int k = 0; k < 9; k++)
        ck_assert_double_le(64 * steer(&r, 0), 0.01 * (1 + 1e-12));
    grid_destroy(&r.engine.g);
}
END_TEST

/* In one dimension, far beyond the budget, p* falls at prunes that lose hardly anything, too, by octaves in
 * proportion to the time. */
START_TEST(p_falls_while_too_much_is_lost)
{
    rig r;

    rig_start(&r);
    r.problem.dimension = 1;
    (void)steer(&r, 10);
    const double before = r.engine.budget.threshold;
    for (int k = 0; k < 4; k++)
        (void)steer(&r, 1e-9);
    ck_assert_double_lt(r.engine.budget.threshold, 0.9 * before);
    grid_destroy(&r.engine.g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *tcase = tcase_create("budget");

    tcase_add_test(tcase, p_follows_the_rate);
    tcase_add_test(tcase, p_rises_where_nothing_is_lost);
    tcase_add_test(tcase, p_does_not_rise_while_the_budget_is_overspent);
    tcase_add_test(tcase, p_rises_slowly_where_most_cells_would_go);
    tcase_add_test(tcase, what_an_update_prunes_is_no_rate);
    tcase_add_test(tcase, memory_raises_a_threshold);
    tcase_add_test(tcase, memory_comes_first);
    tcase_add_test(tcase, lowering_in_vain_is_told);
    tcase_add_test(tcase, the_lowest_p_is_told);
    tcase_add_test(tcase, what_helps_is_not_in_vain);
    tcase_add_test(tcase, what_was_saved_is_spent_without_a_word);
    tcase_add_test(tcase, a_brick_is_not_the_whole_budget);
    tcase_add_test(tcase, p_falls_while_too_much_is_lost);
    tcase_add_test(tcase, the_first_p_is_within_a_short_runs_budget);
    tcase_add_test(tcase, nothing_is_steered_without_a_budget);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
