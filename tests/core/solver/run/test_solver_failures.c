/* test_solver_failures.c - runs that a backend, a measurement, an observer or the user ends. */
#include "fixtures/stage_fixture.h"
#include "fixtures/suite.h"

START_TEST(test_backend_fails)
{
    stage s = make(1, 4, 0.1, 0, NULL);
    gbees_summary summary;
    gbees_error error;

    s.fail_at_step = 4;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_ENUMERIC);
    ck_assert_int_eq(error.status, GBEES_ENUMERIC);
    ck_assert_str_eq(error.text, "at t = 0.25 (leg 0, step 3): the drift is not finite");
    ck_assert_int_eq(s.record_count, 2);
    ck_assert_uint_eq(summary.totals.steps, 3);
    ck_assert(s.fraction < 1);
}
END_TEST

START_TEST(test_statistics_fail)
{
    stage s = make(1, 4, 0.1, 0, NULL);
    gbees_summary summary;
    gbees_error error;

    s.fail_statistics = 1;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_ENUMERIC);
    ck_assert_str_eq(error.text, "at t = 0 (leg 0, step 0): the density has vanished");
    ck_assert_int_eq(s.record_count, 0);
}
END_TEST

/* A backend that is wrong about a sum must not give a posterior. */
START_TEST(test_mass_above_one)
{
    stage s = make(1, 2, 0.1, 1, (double[]){0.25});
    gbees_summary summary;
    gbees_error error;

    s.mass_after_update = 1.7;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_ENUMERIC);
    ck_assert_msg(strstr(error.text, "the probabilities add up to 1.7"), "%s", error.text);
    ck_assert_int_eq(s.update_count, 1);
    s = make(1, 2, 0.1, 1, (double[]){0.25});
    s.mass_after_update = 1 + 1e-6; /* rounding */
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_OK);
}
END_TEST

START_TEST(test_backend_stands_still)
{
    stage s = make(1, 4, 0.1, 0, NULL);
    gbees_summary summary;
    gbees_error error;

    s.stick_at_step = 2;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(error.text, "time stands still"));
}
END_TEST

START_TEST(test_unsupported_measurement)
{
    stage s = make(1, 2, 0.1, 2, (double[]){0.25, 0.5});
    gbees_summary summary;
    gbees_error error;

    s.measurements[1].value[0] = 5000;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "measurement 2 (z) at t = 0.5 (leg 2, step "));
    ck_assert_ptr_nonnull(strstr(error.text, "log-likelihood -1.25e+07"));
    ck_assert_int_eq(s.record_count, 6);
    ck_assert_int_eq(s.update_count, 1);
    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_EUNSUPPORTED);
}
END_TEST

START_TEST(test_observer_fails)
{
    stage s = make(1, 4, 0.1, 0, NULL);
    gbees_summary summary;
    gbees_error error;

    s.fail_at_record = 3;
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_EIO);
    ck_assert_str_eq(error.text, "the disk is full");
    ck_assert_int_eq(s.record_count, 3);
}
END_TEST

START_TEST(test_cancelled)
{
    stage s = make(1, 4, 0.25, 0, NULL);
    gbees_summary summary;
    gbees_error error;

    s.cancel_after = 3; /* asked before the leg and before each slice: two intervals are done */
    ck_assert_int_eq(run(&s, &summary, &error), GBEES_ECANCELLED);
    ck_assert_str_eq(error.text, "stopped at t = 0.5 (leg 0, step 2)");
    ck_assert_int_eq(s.record_count, 3);
    ck_assert_uint_eq(summary.totals.steps, 2);
}
END_TEST

START_TEST(test_create_fails)
{
    stage s = make(1, 4, 0.25, 0, NULL);
    gbees_solver *solver = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_solver_create(&s.problem, &fake, &(gbees_engine_options){.threads = 13}, &solver, &error),
                     GBEES_EBACKEND);
    ck_assert_ptr_null(solver);
    ck_assert_ptr_nonnull(strstr(error.text, "bad luck"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver_failures");
    TCase *failures = tcase_create("failures");

    tcase_set_timeout(failures, 60);
    tcase_add_test(failures, test_backend_fails);
    tcase_add_test(failures, test_statistics_fail);
    tcase_add_test(failures, test_mass_above_one);
    tcase_add_test(failures, test_backend_stands_still);
    tcase_add_test(failures, test_unsupported_measurement);
    tcase_add_test(failures, test_observer_fails);
    tcase_add_test(failures, test_cancelled);
    tcase_add_test(failures, test_create_fails);
    suite_add_tcase(suite, failures);
    return run_suite(suite);
}
