/* test_extrapolate.c - what a run will take: made-up trials and histories whose continuation is known. */
#include "command/run/extrapolate.h"
#include "fixtures/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

/* What is extrapolated from three trials of a run, of which everything is a power of the width. */
static double try_powers(double narrowest)
{
    gbees_trial trial[3];

    for (int k = 0; k < 3; k++) {
        const double width = narrowest * pow(2, 0.5 * (2 - k));
        trial[k] = (gbees_trial){width, 1e6 * pow(width, -2), 3e7 * pow(width, -2)};
    }
    return gbees_extrapolate_bytes(trial, 3);
}

START_TEST(trials_close_to_the_run_continue_their_powers)
{
    ck_assert_double_eq_tol(try_powers(sqrt(2)), 3e7, 1);
}
END_TEST

/* Exponents fall towards the run's own: with wide cells the forecast is lower than the power. */
START_TEST(trials_far_from_the_run_grow_by_less)
{
    const double bytes = try_powers(4);

    ck_assert_double_gt(bytes, 3e7 / 4);
    ck_assert_double_lt(bytes, 3e7);
}
END_TEST

START_TEST(trials_without_cells_tell_nothing)
{
    const gbees_trial trial[2] = {{4, 0, 1000}, {2, 20, 2000}};

    ck_assert(isnan(gbees_extrapolate_bytes(trial, 2)));
}
END_TEST

/* Seconds up to a fraction f of runs whose cost is constant, grows linearly to 21 times, and exponentially to e^3. */
static double taken(int kind, double f)
{
    return kind == 0 ? 100 * f : kind == 1 ? 100 * (f + 10 * f * f) : 100 * expm1(3 * f);
}

START_TEST(the_time_left_is_known_from_a_third_of_the_run_on)
{
    const double first = _i / 3 ? 0.2 : 0; /* a run that is resumed there */
    const int kind = _i % 3;
    gbees_history history = {0};

    for (int k = 0; k < 1000; k++) {
        const double f = first + (1 - first) * k / 1000.0;
        const double true_left = taken(kind, 1) - taken(kind, f);

        gbees_history_add(&history, f, 5 + taken(kind, f));
        if (k < 334)
            continue;
        const double left = gbees_history_left(&history);
        ck_assert_msg(left < 1.3 * true_left && left > true_left / 1.3, "kind %d at %g: %g s, not %g", kind, f, left,
                      true_left);
    }
    ck_assert_int_le(history.count, GBEES_HISTORY_POINTS);
}
END_TEST

START_TEST(few_points_tell_no_time_left)
{
    gbees_history history = {0};

    gbees_history_add(&history, 0, 0);
    for (int k = 1; k < 3; k++)
        gbees_history_add(&history, 0.1 * k, k);
    gbees_history_add(&history, 0.2, 3); /* no progress: no point */
    ck_assert_double_lt(gbees_history_left(&history), 0);
}
END_TEST

/* A busy machine does a hundredth of a run in a tenth of a second, and then waits for two: thirds of what is done
 * tell a growth without end. */
START_TEST(a_delay_makes_no_long_run)
{
    static const double fraction[] = {0, 0.002, 0.004, 0.006, 0.008, 0.01},
                        seconds[] = {0, 0.001, 0.002, 0.01, 0.02, 2};
    gbees_history history = {0};

    for (int k = 0; k < 6; k++)
        gbees_history_add(&history, fraction[k], seconds[k]);
    ck_assert_double_gt(gbees_history_left(&history), 86400);
    ck_assert_double_eq_tol(gbees_history_at_pace(&history), 2 * 0.99 / 0.01, 1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("extrapolate");
    TCase *tcase = tcase_create("extrapolate");

    tcase_add_test(tcase, trials_close_to_the_run_continue_their_powers);
    tcase_add_test(tcase, trials_far_from_the_run_grow_by_less);
    tcase_add_test(tcase, trials_without_cells_tell_nothing);
    tcase_add_loop_test(tcase, the_time_left_is_known_from_a_third_of_the_run_on, 0, 6);
    tcase_add_test(tcase, few_points_tell_no_time_left);
    tcase_add_test(tcase, a_delay_makes_no_long_run);
    suite_add_tcase(suite, tcase);

    return run_suite(suite);
}
