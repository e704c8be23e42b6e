/* test_warnings.c - what is no error but must be known: when it is said, and how. */
#include "fixtures/suite.h"
#include "record/warnings.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three axes of sigma 2, cells of half of it, a box to 3.25 sigma. */
static gbees_problem make_problem(void)
{
    gbees_problem problem = {.dimension = 3, .end = 2, .threshold = 1e-5};

    for (int j = 0; j < 3; j++) {
        problem.covariance[4 * j] = 4;
        problem.width[j] = 1;
        problem.extent[j] = 6;
    }
    return problem;
}

static const char *text_of(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals)
{
    static char text[GBEES_WARNING_TEXT];

    gbees_warning_text(warning, problem, totals, text, sizeof text);
    ck_assert_uint_gt(strlen(text), 0);
    ck_assert_uint_lt(strlen(text) + 1, sizeof text); /* not cut */
    ck_assert_ptr_null(strchr(text, '\n'));
    return text;
}

static void check_text(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals,
                       const char *part)
{
    const char *text = text_of(warning, problem, totals);

    ck_assert_msg(strstr(text, part), "no '%s' in: %s", part, text);
}

START_TEST(all_is_well)
{
    gbees_problem problem = make_problem();
    gbees_totals totals = {.mass_outflow = 0.03, .mass_pruned = 0.06, .mass_clipped = 0.5, .mass_normalised = 0.5};

    ck_assert_uint_eq(gbees_warnings(&problem, NULL), 0);
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), 0);
}
END_TEST

/* 1 - erf(2.25 / sqrt 2)^3 = 0.0716; of five cells and a half, 1 - erf(2.75 / sqrt 2)^3 = 0.0178. */
START_TEST(small_boxes)
{
    gbees_problem problem = make_problem();

    for (int j = 0; j < 3; j++)
        problem.extent[j] = 4;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_BOX);
    check_text(GBEES_WARNING_BOX, &problem, NULL, "the initial box cuts off 7.16 % of the Gaussian");
    for (int j = 0; j < 3; j++)
        problem.extent[j] = 5;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_BOX);
    problem.extent[2] = problem.extent[1] = 6; /* 0.0060 + 2 * 0.0012 */
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), 0);
}
END_TEST

/* Beyond walls there is no state: what a Gaussian has there is not cut off by its box. */
START_TEST(walls_cut_off_nothing)
{
    gbees_gaussian gaussian = {.weight = 1, .covariance = {1}, .lo = {-2}, .hi = {2}};
    gbees_problem problem = {.dimension = 1, .end = 2, .covariance = {1}, .width = {0.5}, .gaussians = &gaussian};

    problem.gaussian_count = 1;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_BOX);
    problem.range[0] = (gbees_axis_range){{GBEES_END_REFLECT, GBEES_END_ABSORB}, -2, 2};
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), 0);
    gaussian.lo[0] = 0;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_BOX);
    problem.accuracy = 0.05;
    check_text(GBEES_WARNING_ACCURACY, &problem, NULL, "samples do not know of walls");
}
END_TEST

/* Each box that `extent: 3` makes is large enough: by rounding it may end at 3 sigma, which cuts off 0.27 % an axis.
 */
START_TEST(default_boxes_are_large_enough)
{
    gbees_problem problem = {.dimension = _i};

    for (double factor = 0.3; factor < 4; factor *= 1.1) {
        for (int j = 0; j < _i; j++) {
            problem.covariance[(_i + 1) * j] = 0.09;
            problem.width[j] = 0.3 / (2 * factor);
            problem.extent[j] = (int)round(2 * 3 * factor);
        }
        ck_assert_msg(!(gbees_warnings(&problem, NULL) & GBEES_WARNING_BOX), "factor %g", factor);
    }
}
END_TEST

START_TEST(wide_cells)
{
    gbees_problem problem = make_problem();

    problem.width[1] = 3.1;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_WIDTH);
    check_text(GBEES_WARNING_WIDTH, &problem, NULL, "the cells are 1.55 standard deviations of the initial Gaussian");
    check_text(GBEES_WARNING_WIDTH, &problem, NULL, "along axis 2");
    problem.width[1] = 2.9;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), 0);
}
END_TEST

/* A ridge between axes 1 and 3 whose shadow on either is wide: sigma of one with the other held is 2 sqrt(1 - r^2).
 */
START_TEST(narrow_ridges)
{
    gbees_problem problem = make_problem();

    problem.covariance[2] = problem.covariance[6] = 4 * 0.95;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), GBEES_WARNING_WIDTH);
    check_text(GBEES_WARNING_WIDTH, &problem, NULL, "the cells are 1.6 standard deviations");
    problem.covariance[2] = problem.covariance[6] = 4 * 0.9;
    ck_assert_uint_eq(gbees_warnings(&problem, NULL), 0);
}
END_TEST

/* Each of twenty updates has made up for 6 % that were lost since the one before: no interval lost much. */
START_TEST(losses_between_updates_are_not_added_up)
{
    gbees_problem problem = make_problem();
    gbees_totals totals = {.mass_outflow = 1.2, .mass_pruned = 0.06, .mass_normalised = 1.2};
    gbees_record record = {.problem = &problem, .statistics = {.mass = 0.94}};
    gbees_error error;

    ck_assert_uint_eq(gbees_warnings(&problem, &totals), 0);
    totals.mass_outflow = 1.27;
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), GBEES_WARNING_MASS_LOST);
    check_text(GBEES_WARNING_MASS_LOST, &problem, &totals,
               "more than 10 % of the mass has been lost since an update (13 % since the last one): give a smaller");
    record.statistics.mass = 0.87;
    record.totals = totals;
    ck_assert_int_eq(gbees_warnings_mass(&problem, &record, &error), GBEES_OK);
}
END_TEST

START_TEST(lost_mass)
{
    gbees_problem problem = make_problem();
    gbees_totals totals = {.mass_outflow = 0.07, .mass_pruned = 0.04};

    ck_assert_uint_eq(gbees_warnings(&problem, &totals), GBEES_WARNING_MASS_LOST);
    ck_assert_str_eq(
        text_of(GBEES_WARNING_MASS_LOST, &problem, &totals),
        "losses since the start add up to 11 % of the mass, 7 % through faces and 4 % by pruning: give a "
        "smaller 'threshold'");
}
END_TEST

START_TEST(spent_budgets)
{
    gbees_problem problem = make_problem();
    gbees_totals totals = {.mass_outflow = 0.02, .mass_pruned = 0.011};

    problem.mass_budget = 0.01; /* 0.02 for the run, 0.032 with the margin */
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), 0);
    totals.mass_pruned = 0.013;
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), GBEES_WARNING_BUDGET_SPENT);
    check_text(GBEES_WARNING_BUDGET_SPENT, &problem, &totals,
               "3.3 % of the mass has been lost, of 2 % for the whole run (0.01 a unit of time)");
}
END_TEST

START_TEST(what_the_backend_says)
{
    gbees_problem problem = make_problem();
    gbees_totals totals = {.warnings = GBEES_WARNING_BUDGET_FLOOR | GBEES_WARNING_BUDGET_MEMORY, .threshold = 1e-7};

    problem.mass_budget = 0.01;
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), totals.warnings);
    check_text(GBEES_WARNING_BUDGET_MEMORY, &problem, &totals,
               "memory does not allow the mass budget of 0.01 a unit of time: p* has been raised (now 1e-07)");
    check_text(GBEES_WARNING_BUDGET_FLOOR, &problem, &totals,
               "no threshold holds the mass budget of 0.01 a unit of time: 0 % of the mass has been lost, though p*");
}
END_TEST

/* A fifth of the mass has left a grid with a bound, and a budget of a fiftieth has driven p* to nothing: there is one
 * warning. Without a budget the threshold may be the cause, too; where p* has been lowered in vain it is the bound.
 */
START_TEST(one_warning_of_losses_through_a_bound)
{
    static const struct {
        unsigned by_backend;
        double budget;
        gbees_warning expected;
        const char *bounded, *otherwise;
    } cases[] = {
        {0, 0, GBEES_WARNING_MASS_LOST,
         "give a smaller 'threshold', or, as the bound lets mass out, too, a larger 'factor' or 'bound: off'",
         "give a smaller 'threshold'"},
        {GBEES_WARNING_BUDGET_FLOOR, 0.01, GBEES_WARNING_BUDGET_FLOOR,
         "though p* has been lowered (now 1e-18); the bound lets mass out: give a larger 'factor', or 'bound: off'",
         "; give finer cells"},
        {0, 0.01, GBEES_WARNING_BUDGET_SPENT,
         "give a smaller budget or a larger 'factor', or, as the bound lets mass out, too, 'bound: off'",
         "give a smaller budget, finer cells or a larger 'extent'"}};
    gbees_totals totals = {
        .mass_outflow = 0.19, .mass_pruned = 0.01, .threshold = 1e-18, .warnings = cases[_i].by_backend};
    gbees_problem problem = make_problem();

    problem.mass_budget = cases[_i].budget;
    ck_assert_uint_eq(gbees_warnings(&problem, &totals), cases[_i].expected);
    check_text(cases[_i].expected, &problem, &totals, "20 % of the mass");
    check_text(cases[_i].expected, &problem, &totals, cases[_i].otherwise);
    ck_assert_ptr_null(strstr(text_of(cases[_i].expected, &problem, &totals), "bound"));
    problem.bounded = 1;
    check_text(cases[_i].expected, &problem, &totals, cases[_i].bounded);
}
END_TEST

/* All at once: no text is missing, or another's. */
START_TEST(each_warning_has_a_text_of_its_own)
{
    const gbees_problem problem = make_problem();
    const gbees_totals totals = {.mass_outflow = 0.25, .lost_since = 1.5};
    char texts[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT] = {""};

    for (int k = 0; k < GBEES_WARNING_COUNT; k++) {
        if (1 << k == GBEES_WARNING_JUMP) /* of a drift, which is tested with its model */
            continue;
        (void)strcpy(texts[k], text_of((gbees_warning)(1 << k), &problem, &totals));
        for (int j = 0; j < k; j++)
            ck_assert_str_ne(texts[j], texts[k]);
    }
    check_text(GBEES_WARNING_SADDLE, &problem, &totals, "0.25 of the probability has been lost");
    check_text(GBEES_WARNING_SADDLE, &problem, &totals, "give 'tail: 1e-10'");
    check_text(GBEES_WARNING_PART, &problem, &totals, "a part of the initial density that p* cuts off");
    check_text(GBEES_WARNING_BLOW_UP, &problem, &totals, "the first before t = 1.5, 25 % of the probability now");
}
END_TEST

/* Just above 1.5 cells along all axes, and just below along one. */
START_TEST(narrow_marginals)
{
    const gbees_problem problem = {.dimension = 3, .width = {0.5, 2, 1}};
    gbees_statistics statistics = {.covariance = {0.5626, 9, 9, 9, 9.001, 9, 9, 9, 2.2501}};

    ck_assert_uint_eq(gbees_warnings_record(&problem, &statistics, 1), 0);
    statistics.covariance[4] = 8.999;
    ck_assert_uint_eq(gbees_warnings_record(&problem, &statistics, 1), GBEES_WARNING_NARROW);
    statistics.covariance[4] = NAN;
    ck_assert_uint_eq(gbees_warnings_record(&problem, &statistics, 1), GBEES_WARNING_NARROW);
    check_text(GBEES_WARNING_NARROW, &problem, NULL, "below 1.5 cells");

    /* of points that go with the flow: half a cell, of records that have cells */
    const gbees_backend exact = {.exact = 1};
    const gbees_problem points = {.dimension = 1, .width = {1}, .own_backend = &exact, .accuracy = 0.01};
    gbees_certificate certificate = {.mean = {{0.002, 0.009}}, .std = {{0.001, 0.009}}};

    statistics.covariance[0] = 0.26;
    ck_assert_uint_eq(gbees_warnings_record(&points, &statistics, 1), 0);
    statistics.covariance[0] = 0.24;
    ck_assert_uint_eq(gbees_warnings_record(&points, &statistics, 1), GBEES_WARNING_NARROW);
    ck_assert_uint_eq(gbees_warnings_record(&points, &statistics, 0), 0);
    check_text(GBEES_WARNING_NARROW, &points, NULL, "right at the edges of cells");

    /* two parts far apart, each of less than half a cell, in the middle of one and on a face */
    const double apart[] = {0, 0.5, 0, 0, 0, 0.02, 0.23, 0.24, 0.01, 0}, wide[] = {0.1, 0.2, 0.4, 0.2, 0.1};
    const gbees_marginals two = {.length = {10}, .line = {apart}}, one = {.length = {5}, .line = {wide}};
    ck_assert_uint_eq(gbees_warnings_marginals(&points, &two), GBEES_WARNING_NARROW);
    ck_assert_uint_eq(gbees_warnings_marginals(&points, &one), 0);
    const gbees_marginals left = {.length = {4}, .line = {apart}}, right = {.length = {5}, .line = {apart + 5}};
    ck_assert_uint_eq(gbees_warnings_marginals(&points, &left), GBEES_WARNING_NARROW);
    ck_assert_uint_eq(gbees_warnings_marginals(&points, &right), 0); /* .03 of .5 beside two: half a cell */
    ck_assert_uint_eq(gbees_warnings_certificate(&points, &certificate), 0);
    certificate.mean[0].bound = 0.011;
    ck_assert_uint_eq(gbees_warnings_certificate(&points, &certificate), GBEES_WARNING_ACCURACY);
    check_text(GBEES_WARNING_AUDIT, &problem, NULL, "the audit says");
}
END_TEST

/* A mass that is not the ledger's by more than a millionth; what targets have taken is no difference. */
START_TEST(what_rounding_has_made)
{
    gbees_problem problem = make_problem();
    gbees_record record = {.problem = &problem,
                           .totals = {.mass_outflow = 0.03, .mass_pruned = 0.02, .mass_entered = {0.25, 0.1}},
                           .statistics = {.mass = 0.6 + 0.9e-6}};

    ck_assert_uint_eq(gbees_warnings_ledger(&problem, &record), 0);
    record.statistics.mass = 0.6 + 1.1e-6;
    ck_assert_uint_eq(gbees_warnings_ledger(&problem, &record), GBEES_WARNING_ROUNDING);
    record.statistics.mass = 0.6 - 1.1e-6;
    ck_assert_uint_eq(gbees_warnings_ledger(&problem, &record), GBEES_WARNING_ROUNDING);
    check_text(GBEES_WARNING_ROUNDING, &problem, &record.totals, "precision: double");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("warnings");
    TCase *before = tcase_create("before the run"), *during = tcase_create("during it");

    tcase_add_test(before, all_is_well);
    tcase_add_test(before, small_boxes);
    tcase_add_test(before, walls_cut_off_nothing);
    tcase_add_loop_test(before, default_boxes_are_large_enough, 1, 6);
    tcase_add_test(before, wide_cells);
    tcase_add_test(before, narrow_ridges);
    tcase_add_test(during, lost_mass);
    tcase_add_test(during, losses_between_updates_are_not_added_up);
    tcase_add_test(during, spent_budgets);
    tcase_add_loop_test(during, one_warning_of_losses_through_a_bound, 0, 3);
    tcase_add_test(during, narrow_marginals);
    tcase_add_test(during, each_warning_has_a_text_of_its_own);
    tcase_add_test(during, what_the_backend_says);
    tcase_add_test(during, what_rounding_has_made);
    suite_add_tcase(suite, before);
    suite_add_tcase(suite, during);
    return run_suite(suite);
}
