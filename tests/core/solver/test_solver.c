/* test_solver.c - legs, records, updates and errors, on a backend that only counts steps. */
#include "solver/schedule.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* What is to happen, and what did.  The problem comes first: it is all that a backend is given. */
typedef struct stage {
    gbees_problem problem;
    gbees_measurement measurements[4];
    uint64_t fail_at_step, stick_at_step; /* 0: never */
    int fail_statistics, engines;

    int record_count;
    int leg[MOST], number[MOST];
    double time[MOST];
    uint64_t step[MOST], leg_step[MOST];
    size_t cells[MOST];
    char events[MOST]; /* r: record, u: update */
    int event_count;
    int update_number[MOST];
    double update_time[MOST];
    int update_count;
    double fraction;
    int progress_count;
    int fail_at_record; /* observer's */
    int cancel_after;   /* calls of cancelled(); 0: never */
    int asked;
} stage;

/* ---- the backend ---- */

struct gbees_engine {
    stage *stage;
    gbees_totals totals;
    uint64_t last_leg_step;
};

static int fake_create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                       gbees_error *error)
{
    gbees_engine *made;

    if (options->threads == 13)
        return gbees_error_set(error, GBEES_EBACKEND, "thirteen threads bring bad luck");
    made = calloc(1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    made->stage = (stage *)(uintptr_t)problem;
    made->stage->engines++;
    made->totals.threads = options->threads ? options->threads : 1;
    *engine = made;
    return GBEES_OK;
}

static void fake_destroy(gbees_engine *engine)
{
    engine->stage->engines--;
    free(engine);
}

static int fake_advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    const double dt = engine->stage->problem.numerics.time_step;

    ck_assert_uint_ge(max_steps, 1);
    ck_assert(clock->elapsed < clock->length);
    for (uint64_t i = 0; i < max_steps && clock->elapsed < clock->length; i++) {
        const double left = clock->length - clock->elapsed;
        const double step = dt < left * (1 - 1e-12) ? dt : left;

        if (engine->stage->stick_at_step && engine->totals.steps >= engine->stage->stick_at_step)
            return GBEES_OK;
        if (engine->stage->fail_at_step == engine->totals.steps + 1)
            return gbees_error_set(error, GBEES_ENUMERIC, "the drift is not finite");
        clock->time += step;
        clock->elapsed = step < left ? clock->elapsed + step : clock->length;
        engine->last_leg_step = ++clock->leg_step;
        engine->totals.steps++;
        engine->totals.cell_updates += 10;
    }
    return GBEES_OK;
}

static int fake_update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error)
{
    (void)engine;
    ck_assert_uint_eq(clock->leg_step, 0);
    if (measurement->value[0] > 1000)
        return gbees_error_set(error, GBEES_EUNSUPPORTED, "no cell supports it: log-likelihood -1.25e+07 at best");
    evidence->log_evidence = -measurement->value[0];
    evidence->log_likelihood_max = 0;
    return GBEES_OK;
}

static int fake_statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error)
{
    if (engine->stage->fail_statistics)
        return gbees_error_set(error, GBEES_ENUMERIC, "the density has vanished");
    engine->stage->leg_step[engine->stage->record_count] = clock->leg_step;
    statistics->cells = 10;
    statistics->mass = 1;
    return GBEES_OK;
}

static int fake_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error)
{
    const int32_t axis[3] = {-1, 0, 1};
    const int32_t *const index[1] = {axis};
    const double p[3] = {0.25, 0.5, 0.25};

    (void)engine, (void)fraction, (void)error;
    return visitor(context, 3, index, p);
}

static void fake_totals(const gbees_engine *engine, gbees_totals *totals)
{
    *totals = engine->totals;
}

static const gbees_backend fake = {.abi = GBEES_BACKEND_ABI,
                                   .size = sizeof(gbees_backend),
                                   .name = "fake",
                                   .title = "counts steps",
                                   .create = fake_create,
                                   .destroy = fake_destroy,
                                   .advance = fake_advance,
                                   .update = fake_update,
                                   .statistics = fake_statistics,
                                   .cells = fake_cells,
                                   .totals = fake_totals};

/* ---- the observer ---- */

static int see_record(void *context, const gbees_record *record, gbees_error *error)
{
    stage *s = context;
    const int i = s->record_count;

    if (s->fail_at_record && i == s->fail_at_record)
        return gbees_error_set(error, GBEES_EIO, "the disk is full");
    ck_assert_int_lt(i, MOST);
    s->leg[i] = record->leg;
    s->number[i] = record->number;
    s->time[i] = record->time;
    s->step[i] = record->totals.steps;
    s->cells[i] = gbees_cells_count(record->cells);
    ck_assert(record->wall_s >= 0);
    s->record_count++;
    s->events[s->event_count++] = 'r';
    return GBEES_OK;
}

static int see_update(void *context, const gbees_problem *problem, int number, double time,
                      const gbees_evidence *evidence, gbees_error *error)
{
    stage *s = context;

    (void)error;
    ck_assert_ptr_eq(problem, &s->problem);
    ck_assert(evidence->log_evidence <= 0);
    s->update_number[s->update_count] = number;
    s->update_time[s->update_count++] = time;
    s->events[s->event_count++] = 'u';
    return GBEES_OK;
}

static int see_progress(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    stage *s = context;

    (void)time, (void)totals, (void)error;
    ck_assert(fraction >= s->fraction && fraction <= 1);
    s->fraction = fraction;
    s->progress_count++;
    return GBEES_OK;
}

static int see_cancel(void *context)
{
    stage *s = context;

    return s->cancel_after && ++s->asked > s->cancel_after;
}

/* ---- set-up ---- */

static const gbees_measurement_function functions[] = {{"z", "the state", 1, NULL, NULL}};
static const gbees_model model = {.name = "fake", .measurement_count = 1, .measurements = functions};

/* From 0 to `end`, with measurements at `times`. */
static stage make(double end, int records, double step, int count, const double *times)
{
    stage s = {.problem = {.model = &model,
                           .dimension = 1,
                           .end = end,
                           .records = records,
                           .numerics = {.time_step = step},
                           .measurement_count = count}};

    for (int i = 0; i < count; i++)
        s.measurements[i] = (gbees_measurement){.time = times[i], .size = 1, .value = {1}, .covariance = {1}};
    return s;
}

static int run(stage *s, gbees_summary *summary, gbees_error *error)
{
    const gbees_observer observer = {
        .context = s, .record = see_record, .update = see_update, .progress = see_progress, .cancelled = see_cancel};
    gbees_solver *solver = NULL;
    int status;

    s->problem.measurements = s->measurements;
    ck_assert_int_eq(gbees_solver_create(&s->problem, &fake, NULL, &solver, error), GBEES_OK);
    status = gbees_solver_run(solver, &observer, error);
    gbees_solver_summary(solver, summary);
    gbees_solver_destroy(solver);
    ck_assert_int_eq(s->engines, 0);
    return status;
}

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

/* ---- failures ---- */

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
    Suite *suite = suite_create("solver");
    TCase *legs = tcase_create("legs"), *failures = tcase_create("failures");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(legs, 60);
    tcase_add_test(legs, test_two_legs);
    tcase_add_test(legs, test_measurements_of_one_time);
    tcase_add_test(legs, test_measurement_at_end);
    tcase_add_test(legs, test_measurement_at_start);
    tcase_add_test(legs, test_measurement_after_end);
    tcase_add_test(legs, test_clock);
    tcase_add_test(legs, test_many_steps);
    tcase_add_test(legs, test_without_observer);
    tcase_add_test(legs, test_schedule);
    suite_add_tcase(suite, legs);
    tcase_set_timeout(failures, 60);
    tcase_add_test(failures, test_backend_fails);
    tcase_add_test(failures, test_statistics_fail);
    tcase_add_test(failures, test_backend_stands_still);
    tcase_add_test(failures, test_unsupported_measurement);
    tcase_add_test(failures, test_observer_fails);
    tcase_add_test(failures, test_cancelled);
    tcase_add_test(failures, test_create_fails);
    suite_add_tcase(suite, failures);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
