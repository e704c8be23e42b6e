/* test_notifier.c - records that are told while the run goes on: in their order, one at a time, few at once; what
 * fails, and what a run leaves when it ends.  On a backend that only counts steps. */
#include "fixtures/notifier_fixture.h"
#include "fixtures/suite.h"
#include "solver/run/notifier.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the observer -------------------------------------------------------------------------------------------------
 */

/* Where it is called, and that it is not called twice at once. */
static void enter(stage *s)
{
    sigset_t blocked;

    ck_assert_int_eq(s->busy, 0);
    s->busy = 1;
    s->is_elsewhere += !pthread_equal(pthread_self(), s->runner);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    s->takes_signals += !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM);
    ck_assert_int_lt(s->told_count, MOST);
}

static int wait_for(stage *s, uint64_t steps, uint64_t visits)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    (void)pthread_mutex_lock(&s->lock);
    while ((s->steps < steps || s->visited < visits) && !pthread_cond_timedwait(&s->stepped, &s->lock, &until))
        ;
    const int came = s->steps >= steps && s->visited >= visits;
    s->steps_then = s->steps;
    (void)pthread_mutex_unlock(&s->lock);
    return came;
}

static int see_record(void *context, const gbees_record *record, gbees_error *error)
{
    stage *s = context;
    int32_t lowest, highest;

    enter(s);
    ck_assert_int_eq(record->cells == NULL, s->no_cells);
    if (s->no_cells) {
        s->told_count++;
        s->busy = 0;
        return GBEES_OK;
    }
    if (s->fail_at_record && s->told_count + 1 == s->fail_at_record) {
        s->busy = 0;
        return gbees_error_set(error, GBEES_EIO, "the disk is full");
    }
    if (s->wait_at_record && s->told_count + 1 == s->wait_at_record)
        s->has_waited = wait_for(s, s->wait_for_step, s->wait_for_visit);
    gbees_cells_range(record->cells, 0, &lowest, &highest);
    (void)snprintf(s->told[s->told_count++], sizeof s->told[0], "r %d %d %d %zu %d", record->leg, record->number,
                   (int)record->totals.steps, gbees_cells_count(record->cells), (int)highest);
    s->busy = 0;
    return GBEES_OK;
}

static int see_update(void *context, const gbees_problem *problem, int number, double time,
                      const gbees_evidence *evidence, gbees_error *error)
{
    stage *s = context;

    (void)problem, (void)error;
    enter(s);
    (void)snprintf(s->told[s->told_count++], sizeof s->told[0], "u %d %.3g %.3g", number, time,
                   evidence->log_evidence);
    s->busy = 0;
    return GBEES_OK;
}

static int see_cancel(void *context)
{
    stage *s = context;

    ck_assert(pthread_equal(pthread_self(), s->runner));
    return s->cancel_at_step && s->steps >= (uint64_t)s->cancel_at_step;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------
 */

static const gbees_measurement_function functions[] = {{"z", "the state", 1, NULL, NULL}};
static const gbees_model model = {.name = "fake", .measurement_count = 1, .measurements = functions};

/* Two legs of five records, ten steps from each to the next. */
static stage make(int concurrent)
{
    return (stage){.problem = {.model = &model,
                               .dimension = 1,
                               .end = 2,
                               .records = 4,
                               .numerics = {.time_step = 0.025},
                               .measurement_count = 1},
                   .measurement = {.time = 1, .size = 1, .value = {1}, .covariance = {1}},
                   .concurrent = concurrent,
                   .captures = concurrent,
                   .cells_above = 3,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .stepped = PTHREAD_COND_INITIALIZER};
}

static int run(stage *s, gbees_error *error)
{
    const gbees_observer observer = {.context = s,
                                     .record = see_record,
                                     .update = see_update,
                                     .cancelled = see_cancel,
                                     .concurrent = s->concurrent,
                                     .no_cells = s->no_cells};
    gbees_solver *solver = NULL;

    s->problem.measurements = &s->measurement;
    s->runner = pthread_self();
    *error = (gbees_error){0};
    ck_assert_int_eq(gbees_solver_create(&s->problem, &fake, NULL, &solver, error), GBEES_OK);
    const int status = gbees_solver_run(solver, &observer, error);
    gbees_solver_destroy(solver);
    ck_assert_int_eq(s->held, 0);
    ck_assert_int_eq(s->takes_signals, s->concurrent ? 0 : s->told_count);
    return status;
}

static void check_same(const stage *a, const stage *b, int count)
{
    ck_assert_int_eq(a->told_count, count);
    for (int i = 0; i < count; i++)
        ck_assert_str_eq(a->told[i], b->told[i]);
}

START_TEST(the_same_is_told)
{
    gbees_error error;
    stage at_once = make(0);

    ck_assert_int_eq(run(&at_once, &error), GBEES_OK);
    ck_assert_int_eq(at_once.told_count, 11);
    ck_assert_str_eq(at_once.told[4], "r 0 4 40 3 42");
    ck_assert_str_eq(at_once.told[5], "u 1 1 -1");
    ck_assert_str_eq(at_once.told[10], "r 1 4 80 3 82");
    ck_assert_int_eq(at_once.is_elsewhere, 0);
    ck_assert_int_eq(at_once.captured, 0);
    for (int captures = 0; captures < 3; captures++) {
        stage later = make(1);

        later.captures = captures;
        ck_assert_int_eq(run(&later, &error), GBEES_OK);
        check_same(&later, &at_once, 11);
        ck_assert_int_eq(later.is_elsewhere, 11);
        ck_assert_uint_eq(later.visited, captures == 0 ? 0 : captures == 1 ? 10 : 5);
    }
}
END_TEST

START_TEST(records_without_cells)
{
    gbees_error error;

    for (int concurrent = 0; concurrent < 2; concurrent++) {
        stage s = make(concurrent);

        s.no_cells = 1;
        ck_assert_int_eq(run(&s, &error), GBEES_OK);
        ck_assert_int_eq(s.told_count, 11);
        ck_assert_int_eq(s.captured, 0);
        ck_assert_uint_eq(s.visited, 0);
    }
}
END_TEST

/* The second record is told only when there have been steps after it: whoever waited for it would wait in vain. */
START_TEST(steps_go_on_meanwhile)
{
    gbees_error error;

    for (int captures = 0; captures < 2; captures++) {
        stage s = make(1);

        s.captures = captures;
        s.wait_at_record = 2;
        s.wait_for_step = 20; /* where the third one is made */
        ck_assert_int_eq(run(&s, &error), GBEES_OK);
        ck_assert_int_eq(s.has_waited, 1);
        ck_assert_int_eq(s.told_count, 11);
    }
}
END_TEST

/* While the observer has a record, the cells of the next one are fetched: whoever waited for that would wait in vain.
 */
START_TEST(the_next_record_is_prepared_meanwhile)
{
    gbees_error error;
    stage s = make(1);

    s.wait_at_record = 1;
    s.wait_for_visit = 2;
    ck_assert_int_eq(run(&s, &error), GBEES_OK);
    ck_assert_int_eq(s.has_waited, 1);
    ck_assert_int_eq(s.told_count, 11);
}
END_TEST

/* ---- the notifier alone ---- */

/* Takes a record once steps have been counted. */
static int see_record_late(void *context, const gbees_record *record, gbees_error *error)
{
    stage *s = context;

    (void)record, (void)error;
    s->has_waited += wait_for(s, 1, 0);
    (void)pthread_mutex_lock(&s->lock);
    s->told_count++;
    (void)pthread_mutex_unlock(&s->lock);
    return GBEES_OK;
}

/* Whoever waits for the audit of two records does not wait for the observer, which has the first of them. */
START_TEST(prepared_records_need_not_be_told)
{
    gbees_error error = {0};
    stage s = make(1);
    const gbees_observer observer = {.context = &s, .record = see_record_late, .concurrent = 1, .no_cells = 1};
    gbees_notifier *notifier = NULL;

    ck_assert_int_eq(gbees_notifier_create(&s.problem, &fake, &observer, &notifier, &error), GBEES_OK);
    for (int k = 0; k < 2; k++) {
        gbees_event event = {.record = {.problem = &s.problem, .number = k}};

        ck_assert_int_eq(gbees_notifier_post(notifier, &event, &error), GBEES_OK);
    }
    ck_assert_int_eq(gbees_notifier_wait_prepared(notifier, &error), GBEES_OK);
    (void)pthread_mutex_lock(&s.lock);
    ck_assert_int_eq(s.told_count, 0);
    s.steps = 1;
    (void)pthread_cond_broadcast(&s.stepped);
    (void)pthread_mutex_unlock(&s.lock);
    ck_assert_int_eq(gbees_notifier_finish(notifier, &error), GBEES_OK);
    ck_assert_int_eq(s.told_count, 2);
    ck_assert_int_eq(s.has_waited, 2);
    gbees_notifier_destroy(notifier);
}
END_TEST

/* Counts calls in place of steps; the third one fails. */
static int see_idle(void *context, gbees_error *error)
{
    stage *s = context;

    (void)pthread_mutex_lock(&s->lock);
    const uint64_t calls = ++s->steps;
    (void)pthread_cond_broadcast(&s->stepped);
    (void)pthread_mutex_unlock(&s->lock);
    return calls == 3 ? gbees_error_set(error, GBEES_EIO, "the disk is full") : GBEES_OK;
}

/* Nothing is posted any more, as within a step that does not end. */
START_TEST(idle_is_called_while_there_are_no_events)
{
    gbees_error error = {0};
    stage s = make(1);
    const gbees_observer observer = {.context = &s, .idle = see_idle, .concurrent = 1};
    gbees_notifier *notifier = NULL;
    int status = GBEES_OK;

    ck_assert_int_eq(gbees_notifier_create(&s.problem, &fake, &observer, &notifier, &error), GBEES_OK);
    ck_assert_int_eq(wait_for(&s, 3, 0), 1);
    for (int k = 0; k < 1000 && !status; k++) { /* until the status of the third call is known */
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        status = gbees_notifier_status(notifier, &error);
    }
    ck_assert_int_eq(status, GBEES_EIO);
    ck_assert_str_eq(error.text, "the disk is full");
    gbees_notifier_destroy(notifier);
    ck_assert_uint_eq(s.steps, 3);
}
END_TEST

/* While a record is told, steps go on up to the next one, or, if records are small, up to the second one. */
START_TEST(few_are_there_at_once)
{
    gbees_error error;
    static const struct {
        uint64_t cells, steps;
    } sizes[] = {{3, 30}, {1 << 28, 20}};

    for (int k = 0; k < 2; k++) {
        stage s = make(1);

        s.cells_above = sizes[k].cells;
        s.wait_at_record = 2;
        s.wait_for_step = sizes[k].steps;
        ck_assert_int_eq(run(&s, &error), GBEES_OK);
        ck_assert_int_eq(s.has_waited, 1);
        ck_assert_uint_eq(s.steps_then, sizes[k].steps);
        ck_assert_int_le(s.most_held, k ? 1 : 2);
    }
}
END_TEST

/* Between two looks at whether it is to go on a run takes steps of some tenths of a second, also where records that
 * follow each other closely have cut these calls short. */
START_TEST(calls_are_short_after_short_intervals)
{
    gbees_error error;
    stage s = make(0);

    s.is_slow = 1;
    s.problem.records = 20; /* two steps from each to the next */
    ck_assert_int_eq(run(&s, &error), GBEES_OK);
    ck_assert_uint_ge(s.most_asked, 2);
    ck_assert_uint_le(s.most_asked, 1000);
}
END_TEST

/* ---- what goes wrong ----------------------------------------------------------------------------------------------
 */

START_TEST(a_record_that_can_not_be_told)
{
    gbees_error error;
    stage all = make(0);

    ck_assert_int_eq(run(&all, &error), GBEES_OK);
    for (int at = 1; at <= 11; at++) {
        stage s = make(1);

        s.fail_at_record = at;
        if (at == 6) /* an update: it does not fail */
            continue;
        ck_assert_int_eq(run(&s, &error), GBEES_EIO);
        ck_assert_str_eq(error.text, "the disk is full");
        check_same(&s, &all, at - 1); /* those before, and none after */
    }
}
END_TEST

START_TEST(cells_that_can_not_be_fetched)
{
    gbees_error error;
    stage s = make(1);

    s.fail_at_visit = 3;
    ck_assert_int_eq(run(&s, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "at t = 0.5 (leg 0, step 20): the GPU failed while fetching cells");
    ck_assert_int_eq(s.told_count, 2);
    s = make(1);
    s.fail_at_capture = 3;
    ck_assert_int_eq(run(&s, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "at t = 0.5 (leg 0, step 20): the GPU failed while packing cells");
    ck_assert_int_eq(s.told_count, 2);
}
END_TEST

/* Records from before a step that fails are told; of two failures the one that ended the run is reported. */
START_TEST(a_step_that_fails_meanwhile)
{
    gbees_error error;
    stage s = make(1);

    s.fail_at_step = 20;
    s.wait_at_record = 2;
    s.wait_for_step = 19;
    ck_assert_int_eq(run(&s, &error), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(error.text, "(leg 0, step 19): the drift is not finite"));
    ck_assert_int_eq(s.has_waited, 1);
    ck_assert_int_eq(s.told_count, 2);
}
END_TEST

/* All that was computed is told; a disk that is full is no "cancelled". */
START_TEST(cancelled_meanwhile)
{
    gbees_error error;
    stage s = make(1);

    s.cancel_at_step = 20;
    s.wait_at_record = 2;
    s.wait_for_step = 20;
    ck_assert_int_eq(run(&s, &error), GBEES_ECANCELLED);
    ck_assert_int_eq(s.told_count, 3);
    s = make(1);
    s.cancel_at_step = 20;
    s.fail_at_record = 2;
    ck_assert_int_eq(run(&s, &error), GBEES_EIO);
    ck_assert_str_eq(error.text, "the disk is full");
    ck_assert_int_eq(s.told_count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notifier");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_same_is_told);
    tcase_add_test(tests, records_without_cells);
    tcase_add_test(tests, steps_go_on_meanwhile);
    tcase_add_test(tests, the_next_record_is_prepared_meanwhile);
    tcase_add_test(tests, prepared_records_need_not_be_told);
    tcase_add_test(tests, idle_is_called_while_there_are_no_events);
    tcase_add_test(tests, few_are_there_at_once);
    tcase_add_test(tests, calls_are_short_after_short_intervals);
    tcase_add_test(tests, a_record_that_can_not_be_told);
    tcase_add_test(tests, cells_that_can_not_be_fetched);
    tcase_add_test(tests, a_step_that_fails_meanwhile);
    tcase_add_test(tests, cancelled_meanwhile);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
