/* test_extrapolate.c - what a run will take: made-up trials whose continuation is known. */
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

int main(void)
{
    Suite *suite = suite_create("extrapolate");
    TCase *tcase = tcase_create("extrapolate");

    tcase_add_test(tcase, trials_close_to_the_run_continue_their_powers);
    tcase_add_test(tcase, trials_far_from_the_run_grow_by_less);
    tcase_add_test(tcase, trials_without_cells_tell_nothing);
    suite_add_tcase(suite, tcase);

    return run_suite(suite);
}
