/* test_solver.c - legs, records and updates, on a backend that only counts steps. */
#include "fixtures/stage_fixture.h"
#include "fixtures/suite.h"
#include "solver/problem/schedule.h"

static void check_record(const stage *s, int i, int leg, int number, double time)
{
    ck_assert_int_lt(i, s->record_count);
    ck_assert_int_eq(s->leg[i], leg);
    ck_assert_int_eq(s->number[i], number);
    ck_assert_msg(s->time[i] == time, "record %d is at %.17g, not %.17g", i, s->time[i], time);
}

/* ---- legs and records ---- */

START_TEST(test_two_legs)
{
    stage s = make(2, 4, 0.1, 1, (double[]){1.2});
    gbees_summary summary;
    gbees_error error;

    ck_assert_int_eq(run(&s, &summary, &error), GBEES_OK);
    ck_assert_int_eq(s.record_count, 10);
    for (int i = 0; i < 5; i++) {
        check_record(&s, i, 0, i, i == 4 ? 1.2 : 0.0 + i * 1.2 / 4);
        check_record(&s, 5 + i, 1, i, i == 4 ? 2.0 : 1.2 + i * (2 - 1.2) / 4);
    }
    ck_assert_int_eq(memcmp(s.events, "rrrrrurrrrr", 11), 0);
    ck_assert_int_eq(s.update_number[0], 1);
    ck_assert(s.update_time[0] == 1.2);
    ck_assert_uint_eq(s.leg_step[4], 12);
    ck_assert_uint_eq(s.leg_step[5], 0);
    ck_assert_uint_eq(s.leg_step[9], 8);
    ck_assert_uint_eq(s.step[5], 12);
    ck_assert_uint_eq(s.step[9], 20);
    ck_assert_uint_eq(s.cells[3], 3);
    ck_assert_uint_eq(summary.totals.steps, 20);
    ck_assert(summary.propagate_s <= summary.wall_s);
    ck_assert(s.fraction == 1);
    ck_assert_int_ge(s.progress_count, 1);
}
END_TEST

START_TEST(test_measurements_of_one_time)
{
    stage s = make(1, 1, 0.25, 3, (double[]){0.5, 0.5, 0.75});
    gbees_summary summary;

    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_OK);
    ck_assert_int_eq(s.record_count, 6);
    ck_assert_int_eq(memcmp(s.events, "rruurrurr", 9), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(s.update_number[i], i + 1);
    check_record(&s, 2, 1, 0, 0.5);
    check_record(&s, 4, 2, 0, 0.75);
}
END_TEST

START_TEST(test_measurement_at_end)
{
    stage s = make(1, 2, 0.25, 1, (double[]){1});
    gbees_summary summary;

    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_OK);
    ck_assert_int_eq(s.record_count, 4);
    check_record(&s, 2, 0, 2, 1);
    check_record(&s, 3, 1, 0, 1);
    ck_assert_int_eq(memcmp(s.events, "rrrur", 5), 0);
}
END_TEST

START_TEST(test_measurement_at_start)
{
    stage s = make(1, 2, 0.25, 1, (double[]){0});
    gbees_summary summary;

    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_OK);
    ck_assert_int_eq(memcmp(s.events, "rurrr", 5), 0);
    check_record(&s, 0, 0, 0, 0);
    check_record(&s, 1, 1, 0, 0);
    check_record(&s, 3, 1, 2, 1);
}
END_TEST

START_TEST(test_measurement_after_end)
{
    stage s = make(1, 2, 0.25, 2, (double[]){0.5, 1.5});
    gbees_summary summary;

    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_OK);
    ck_assert_int_eq(s.update_count, 1);
    ck_assert_int_eq(s.record_count, 6);
    check_record(&s, 5, 1, 2, 1);
}
END_TEST

/* Three steps of 0.1 are not 0.3: default mode says 0.3 all the same, paper mode what the steps add up to. */
START_TEST(test_clock)
{
    stage exact = make(0.3, 1, 0.1, 0, NULL), summed = exact;
    gbees_summary summary;

    ck_assert_int_eq(run(&exact, &summary, NULL), GBEES_OK);
    check_record(&exact, 1, 0, 1, 0.3);
    summed.problem.numerics.mode = GBEES_MODE_PAPER;
    ck_assert_int_eq(run(&summed, &summary, NULL), GBEES_OK);
    check_record(&summed, 1, 0, 1, 0.1 + 0.1 + (0.3 - (0.1 + 0.1)));
    ck_assert_uint_eq(summed.step[1], 3);
    ck_assert(summed.fraction == 1);
}
END_TEST

/* Mode paper and mode legacy are those of one backend, which has no other. */
START_TEST(test_mode_of_another_backend)
{
    stage s = make(1, 1, 0.5, 0, NULL);
    gbees_backend paper = fake;
    gbees_solver *solver = NULL;
    gbees_error error;

    paper.name = "paper";
    ck_assert_int_eq(gbees_solver_create(&s.problem, &paper, NULL, &solver, &error), GBEES_EUSAGE);
    ck_assert_str_eq(error.text,
                     "the backend 'paper' has no 'mode: default': leave --backend out, or give 'mode: paper'");
    s.problem.numerics.mode = GBEES_MODE_LEGACY;
    ck_assert_int_eq(gbees_solver_create(&s.problem, &fake, NULL, &solver, &error), GBEES_EUSAGE);
    ck_assert_str_eq(error.text,
                     "the backend 'fake' has no 'mode: legacy': leave --backend out, or give --backend paper");
}
END_TEST

START_TEST(test_many_steps)
{
    stage s = make(1, 1, 1e-6, 0, NULL);
    gbees_summary summary;

    ck_assert_int_eq(run(&s, &summary, NULL), GBEES_OK);
    ck_assert_uint_ge(summary.totals.steps, 999999);
    check_record(&s, 1, 0, 1, 1);
}
END_TEST

START_TEST(test_without_observer)
{
    stage s = make(1, 3, 0.1, 1, (double[]){0.5});
    gbees_solver *solver = NULL;
    gbees_error error;
    gbees_summary summary;

    s.problem.measurements = s.measurements;
    ck_assert_int_eq(gbees_solver_create(&s.problem, &fake, NULL, &solver, &error), GBEES_OK);
    ck_assert_int_eq(gbees_solver_run(solver, NULL, &error), GBEES_OK);
    gbees_solver_summary(solver, &summary);
    ck_assert_uint_ge(summary.totals.steps, 10);
    ck_assert_int_eq(gbees_solver_run(solver, NULL, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "has run already"));
    gbees_solver_destroy(solver);
    gbees_solver_destroy(NULL);
}
END_TEST

START_TEST(test_schedule)
{
    stage s = make(3, 4, 0.1, 3, (double[]){1, 1, 2});
    gbees_schedule *schedule = NULL;

    s.problem.measurements = s.measurements;
    ck_assert_int_eq(gbees_schedule_create(&s.problem, &schedule, NULL), GBEES_OK);
    ck_assert_int_eq(schedule->leg_count, 3);
    ck_assert_int_eq(schedule->legs[0].count, 0);
    ck_assert_int_eq(schedule->legs[1].count, 2);
    ck_assert_int_eq(schedule->legs[2].first, 2);
    ck_assert_int_eq(gbees_leg_records(&schedule->legs[2], 4), 4);
    ck_assert(gbees_leg_time(&schedule->legs[1], 4, 4) == 2);
    ck_assert(gbees_leg_time(&schedule->legs[1], 4, 1) == 1.25);
    gbees_schedule_destroy(schedule);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver");
    TCase *legs = tcase_create("legs");

    tcase_set_timeout(legs, 60);
    tcase_add_test(legs, test_two_legs);
    tcase_add_test(legs, test_measurements_of_one_time);
    tcase_add_test(legs, test_measurement_at_end);
    tcase_add_test(legs, test_measurement_at_start);
    tcase_add_test(legs, test_measurement_after_end);
    tcase_add_test(legs, test_clock);
    tcase_add_test(legs, test_mode_of_another_backend);
    tcase_add_test(legs, test_many_steps);
    tcase_add_test(legs, test_without_observer);
    tcase_add_test(legs, test_schedule);
    suite_add_tcase(suite, legs);
    return run_suite(suite);
}
