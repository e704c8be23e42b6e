/* test_stream.c - measurements that arrive one by one: the results are those of a run that has them all, on points
 * that go with the flow and on grids; each costs its own interval; one that is refused changes nothing. */
#include "fixtures/backends.h"
#include "fixtures/kalman.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"

enum { SEEN = 64, WIDE = 3 };

/* What a run or a stream tells. */
typedef struct seen {
    int count, updates, smoothed, with_cells, cancelled;
    gbees_statistics record[SEEN], back[SEEN]; /* back: given all measurements */
    double time[SEEN], log_evidence[SEEN], evaluations[SEEN], bound[SEEN];
    uint64_t refinements[SEEN];
} seen;

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    seen *s = context;

    (void)error;
    ck_assert_int_lt(s->count, SEEN);
    s->time[s->count] = record->time;
    s->evaluations[s->count] = record->totals.cell_updates;
    s->refinements[s->count] = record->totals.refinements;
    s->bound[s->count] =
        record->certificate
            ? gbees_certificate_error(record->certificate, record->problem->dimension, GBEES_ACCURACY_MOMENTS).bound
            : NAN;
    s->with_cells += record->cells != NULL;
    s->record[s->count++] = record->statistics;
    return 0;
}

static int keep_smoothed(void *context, const gbees_record *record, gbees_error *error)
{
    seen *s = context;

    (void)error;
    s->back[s->smoothed++] = record->statistics;
    return 0;
}

static int keep_update(void *context, const gbees_problem *problem, int number, double time,
                       const gbees_evidence *evidence, gbees_error *error)
{
    seen *s = context;

    (void)time, (void)error;
    ck_assert_int_eq(number, s->updates + 1);
    ck_assert_int_ge(problem->measurement_count, number);
    s->log_evidence[s->updates++] = evidence->total;
    return 0;
}

static int is_cancelled(void *context)
{
    return ((const seen *)context)->cancelled;
}

static gbees_observer observer_of(seen *s)
{
    return (gbees_observer){.context = s,
                            .record = keep,
                            .smoothed = keep_smoothed,
                            .update = keep_update,
                            .cancelled = is_cancelled,
                            .no_cells = 1};
}

/* ---- problems, and what is measured ---- */

typedef struct task {
    const char *model, *scenario, *form; /* form: of a measurement, of its time and value */
    int count;
    const double *value; /* [count], every `interval` */
    double interval;
    const char *backend; /* shim: the CUDA backend, compiled for the host */
} task;

static const double lorenz_values[] = {8.4, 2.2, -5.8, -8.3, -13.3, -16.5, -17.1, -20.5, -19.3, -7.5};
static const double parameters[] = {-0.1, 1.25, -0.8}; /* of `linear` */
static const double linear_values[] = {3.2, 3.6, 3.1, 1.9, 0.4, -1.2, -2.0, -2.3, -1.7, -0.6, 0.7, 1.8};

#define LORENZ "mean: [-11.5, -10, 9.5]\ncovariance: [1, 1, 1]\nrecords: 1\nend: "
#define LINEAR "dimension: 2\nmean: [2, ...]\ncovariance: [0.25, ...]\nend: 6\nrecords: 1\n"
static const task tasks[] = {
    {"lorenz63", "frame: lagrangian\n" LORENZ "1\n", "{time: %.17g, function: z, value: [%.17g], covariance: [1]}",
     10, lorenz_values, 0.1, "cpu"},
    {"linear", "frame: lagrangian\npoints: 1.25\n" LINEAR,
     "{time: %.17g, function: x1, value: [%.17g], covariance: [4]}", 12, linear_values, 0.5, "cpu"},
    {"lorenz63", "factor: 1\nthreshold: 1e-5\n" LORENZ "1\n",
     "{time: %.17g, function: z, value: [%.17g], covariance: [1]}", 10, lorenz_values, 0.1, "cpu"},
    {"linear", "frame: moving\nfactor: 2\nthreshold: 1e-6\n" LINEAR,
     "{time: %.17g, function: x1, value: [%.17g], covariance: [4]}", 12, linear_values, 0.5, "cpu"},
    {"lorenz63", "factor: 1\nthreshold: 1e-5\n" LORENZ "0.375\n",
     "{time: %.17g, function: z, value: [%.17g], covariance: [1]}", 3, lorenz_values, 0.125, "shim"},
};
enum { POINTS_BENT, POINTS_LINEAR, AT_REST, MOVING, TASKS, ON_GPU = TASKS };

static void write_measurement(const task *t, int k, char text[128])
{
    (void)snprintf(text, 128, t->form, t->interval * (k + 1), t->value[k]);
}

static void open_world(world *w, const task *t, const char *more)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "%s%s", t->scenario, more);
    ck_assert_msg(world_open(w, open_registry(), t->model, t->backend) == 0, "%s", w->error.text);
    ck_assert_msg(world_make(w, &(scenario_source){.text = text, .name = "test"}) == 0, "%s", w->error.text);
}

/* All measurements at once. */
static void run_all(const task *t, seen *s)
{
    const gbees_observer observer = observer_of(s);
    char list[4096] = "measurements:\n", one[128];
    world w;

    for (int k = 0; k < t->count; k++) {
        write_measurement(t, k, one);
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "  - %s\n", one);
    }
    *s = (seen){0};
    open_world(&w, t, list);
    ck_assert_msg(world_run(&w, 2, &observer, NULL) == 0, "%s", w.error.text);
    world_close(&w);
}

/* ---- streams ---- */

static gbees_stream *open_stream(world *w, const task *t)
{
    const gbees_engine_options options = {.threads = 2};
    gbees_stream *stream = NULL;

    open_world(w, t, "measurements: []\n");
    ck_assert_msg(gbees_stream_create(w->problem, w->backend, &options, &stream, &w->error) == 0, "%s",
                  w->error.text);
    return stream;
}

static int update_by(gbees_stream *stream, const char *text, seen *s, gbees_error *error)
{
    const gbees_observer observer = observer_of(s);
    gbees_measurement measurement;
    const int status = gbees_measurement_read(gbees_stream_problem(stream), text, &measurement, error);

    return status ? status : gbees_stream_update(stream, &measurement, &observer, error);
}

/* Measurements first ... last - 1. */
static void update(gbees_stream *stream, const task *t, int first, int last, seen *s)
{
    gbees_error error = {0};
    char text[128];

    for (int k = first; k < last; k++) {
        write_measurement(t, k, text);
        ck_assert_msg(update_by(stream, text, s, &error) == 0, "%s", error.text);
    }
}

static void close_stream(gbees_stream *stream, world *w)
{
    gbees_stream_destroy(stream);
    world_close(w);
}

static void check_same_bits(const gbees_statistics *one, const gbees_statistics *other)
{
    ck_assert_mem_eq(one->mean, other->mean, sizeof one->mean);
    ck_assert_mem_eq(one->covariance, other->covariance, sizeof one->covariance);
    ck_assert(one->entropy == other->entropy && one->cells == other->cells);
}

START_TEST(it_has_the_bits_of_a_run_with_all_measurements)
{
    const task *t = &tasks[_i];
    static seen all, some;
    world w;

    run_all(t, &all);
    gbees_stream *stream = open_stream(&w, t);
    some = (seen){0};
    update(stream, t, 0, t->count, &some);
    ck_assert_int_eq(some.count, all.count); /* the run's last leg has no length */
    for (int k = 0; k < all.count; k++) {
        ck_assert(some.time[k] == all.time[k]);
        check_same_bits(&some.record[k], &all.record[k]);
    }
    ck_assert_mem_eq(some.log_evidence, all.log_evidence, sizeof all.log_evidence);
    close_stream(stream, &w);
}
END_TEST

START_TEST(it_is_the_kalman_filter)
{
    const task *t = &tasks[POINTS_LINEAR];
    kalman_state exact = {.n = 2, .mean = {2, 2}, .covariance = {0.25, 0, 0, 0.25}};
    double log_evidence = 0;
    static seen s;
    world w;
    gbees_stream *stream = open_stream(&w, t);

    s = (seen){0};
    for (int k = 0; k < t->count; k++) {
        update(stream, t, k, k + 1, &s);
        kalman_predict(&exact, parameters, t->interval);
        log_evidence += kalman_update(&exact, t->value[k], 4);
        const kalman_error off = kalman_compare(&exact, &s.record[s.count - 1]);
        ck_assert_double_lt(off.mean, 1e-8);
        ck_assert_double_lt(off.covariance, 1e-8);
        ck_assert_double_eq_tol(s.log_evidence[k], log_evidence, 1e-8);
    }
    close_stream(stream, &w);
}
END_TEST

/* Predictions between the measurements divide the intervals, so that the last bits are others. */
START_TEST(predictions_between_are_within_the_certificate)
{
    const task *t = &tasks[POINTS_BENT];
    gbees_error error = {0};
    static seen all, some;
    world w;

    run_all(t, &all);
    gbees_stream *stream = open_stream(&w, t);
    some = (seen){0};
    const gbees_observer observer = observer_of(&some);
    for (int k = 0; k < t->count; k++) {
        ck_assert_int_eq(gbees_stream_predict(stream, t->interval * (k + 0.4), &observer, &error), 0);
        update(stream, t, k, k + 1, &some);
    }
    const gbees_statistics *last = &some.record[some.count - 1], *exact = &all.record[all.count - 1];
    for (int j = 0; j < WIDE; j++) {
        const double std = sqrt(exact->covariance[(WIDE + 1) * j]);

        ck_assert_double_le(fabs(last->mean[j] - exact->mean[j]), all.bound[all.count - 1] * std);
        ck_assert_double_le(fabs(sqrt(last->covariance[(WIDE + 1) * j]) / std - 1), all.bound[all.count - 1]);
    }
    ck_assert_double_eq_tol(some.log_evidence[some.updates - 1], all.log_evidence[all.updates - 1], 1e-3);
    ck_assert_int_eq(some.with_cells, 0);
    ck_assert_int_eq(some.count, 3 * t->count + 1);
    close_stream(stream, &w);
}
END_TEST

/* ---- cost ---- */

/* The way to a measurement costs its interval, and all of the linear model are alike. One that refines nothing has
 * but some of the points next to the lattice come from the start, and their part does not grow with the time since
 * then: the lattice itself would take 1 + k times the first interval. */
START_TEST(a_measurement_costs_its_own_interval)
{
    const task *t = &tasks[POINTS_LINEAR];
    static seen s;
    world w;
    gbees_stream *stream = open_stream(&w, t);
    double before = 0, first = 0;

    s = (seen){0};
    for (int k = 0; k < t->count; k++) {
        update(stream, t, k, k + 1, &s);
        const double *now = &s.evaluations[s.count - 1], way = now[-1] - before;
        first = k == 0 ? way : first;
        ck_assert_uint_eq(s.refinements[s.count - 1], 0);
        ck_assert_double_le(way, 1.1 * first);
        ck_assert_double_le(now[0] - now[-1], 0.7 * first);
        before = now[0];
    }
    close_stream(stream, &w);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(a_refused_measurement_changes_nothing)
{
    static const struct {
        const char *text, *why;
        int status;
    } bad[] = {
        {"{time: %g, function: %s, value: [-1], covariance: [1]}", "before that of the density", GBEES_EINPUT},
        {"{time: %g, function: %s, value: [1e9], covariance: [1]}", "is supported by no ", GBEES_EUNSUPPORTED},
        {"{time: %g, function: %s, value: [1, 2], covariance: [1]}", "value", GBEES_EINPUT},
        {"{time: %g, function: %s}", "value", GBEES_EINPUT},
    };
    enum { BAD = sizeof bad / sizeof *bad };
    const task *t = &tasks[_i];
    const char *function = strcmp(t->model, "linear") == 0 ? "x1" : "z";
    static seen one, other, ignored;
    world w, u;
    gbees_stream *stream = open_stream(&w, t), *plain = open_stream(&u, t);

    one = other = (seen){0};
    for (int k = 0; k < 3; k++) {
        for (int b = 0; b < BAD; b++) {
            const double time = b == 0 ? t->interval * (k - 0.5) : t->interval * (k + 1.5);
            gbees_error error = {0};
            char text[128];

            ignored = (seen){.updates = k};
            (void)snprintf(text, sizeof text, bad[b].text, time, function);
            ck_assert_msg(update_by(stream, text, &ignored, &error) == bad[b].status, "%s", error.text);
            ck_assert_msg(strstr(error.text, bad[b].why), "%s", error.text);
            ck_assert_int_eq(gbees_stream_problem(stream)->measurement_count, k);
        }
        update(stream, t, k, k + 1, &one);
        update(plain, t, k, k + 1, &other);
    }
    ck_assert_int_eq(one.count, other.count);
    for (int k = 0; k < one.count; k++)
        check_same_bits(&one.record[k], &other.record[k]);
    ck_assert(one.log_evidence[2] == other.log_evidence[2]);
    close_stream(stream, &w);
    close_stream(plain, &u);
}
END_TEST

START_TEST(a_cancelled_step_changes_nothing)
{
    const task *t = &tasks[_i];
    static seen one, other, ignored;
    gbees_error error = {0};
    world w, u;
    gbees_stream *stream = open_stream(&w, t), *plain = open_stream(&u, t);
    char text[128];

    one = other = (seen){0};
    update(stream, t, 0, 1, &one);
    update(plain, t, 0, 1, &other);
    ignored = (seen){.updates = 1, .cancelled = 1};
    write_measurement(t, 1, text);
    ck_assert_int_eq(update_by(stream, text, &ignored, &error), GBEES_ECANCELLED);
    update(stream, t, 1, 2, &one);
    update(plain, t, 1, 2, &other);
    check_same_bits(&one.record[one.count - 1], &other.record[other.count - 1]);
    close_stream(stream, &w);
    close_stream(plain, &u);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    const gbees_engine_options ranks = {.parallel = &(gbees_parallel){0}};
    const gbees_measurement wrong[] = {{.time = 0.1, .function = 7, .size = 1}, {.time = 0.1, .size = 2}};
    static const char *const text[][2] = {{"", "expected one measurement"},
                                          {"{time: 1", "measurement"},
                                          {"{time: 1, function: q, value: [1], covariance: [1]}", "no function 'q'"}};
    static seen ignored;
    gbees_measurement measurement;
    gbees_error error = {0};
    world w;
    gbees_stream *stream = open_stream(&w, &tasks[AT_REST]);

    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(gbees_stream_update(stream, &wrong[k], NULL, &error), GBEES_EUSAGE);
        ck_assert_msg(strstr(error.text, "lorenz63 has not"), "%s", error.text);
    }
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(gbees_measurement_read(w.problem, text[k][0], &measurement, &error), GBEES_EINPUT);
        ck_assert_msg(strstr(error.text, text[k][1]), "%s", error.text);
    }
    ck_assert_int_eq(gbees_stream_predict(stream, NAN, NULL, &error), GBEES_EINPUT);
    const gbees_observer observer = observer_of(&ignored);
    ck_assert_int_eq(gbees_stream_smooth(stream, &observer, &error), GBEES_EUSAGE);
    ck_assert_msg(strstr(error.text, "frame: lagrangian"), "%s", error.text);
    gbees_stream_destroy(stream);
    ck_assert_int_eq(gbees_stream_create(w.problem, w.backend, &ranks, &stream, &error), GBEES_EUSAGE);
    world_close(&w);
}
END_TEST

/* A backend that can't save its state has nothing to go back to. */
START_TEST(without_a_copy_a_refusal_is_the_end)
{
    static seen s;
    gbees_error error = {0};
    world w;

    open_world(&w, &tasks[AT_REST], "measurements: []\n");
    gbees_backend plain = *w.backend;
    gbees_stream *stream = NULL;
    plain.save = NULL;
    ck_assert_int_eq(gbees_stream_create(w.problem, &plain, NULL, &stream, &error), 0);
    update(stream, &tasks[AT_REST], 0, 2, &s);
    ck_assert_int_eq(update_by(stream, "{time: 0.3, function: z, value: [1e9], covariance: [1]}", &s, &error),
                     GBEES_EUNSUPPORTED);
    ck_assert_msg(strstr(error.text, "the density is lost: there was no memory"), "%s", error.text);
    ck_assert_int_eq(gbees_stream_predict(stream, 0.4, NULL, &error), GBEES_EUSAGE);
    close_stream(stream, &w);
}
END_TEST

/* ---- smoothing ---- */

START_TEST(it_looks_back)
{
    const task *t = &tasks[POINTS_LINEAR];
    kalman_state start = {.n = 2, .mean = {2, 2}, .covariance = {0.25, 0, 0, 0.25}};
    static seen one, other;
    gbees_error error = {0};
    world w, u;
    gbees_stream *stream = open_stream(&w, t), *plain = open_stream(&u, t);

    one = other = (seen){0};
    update(stream, t, 0, 3, &one);
    update(plain, t, 0, 3, &other);
    const gbees_observer observer = observer_of(&one);
    ck_assert_msg(gbees_stream_smooth(stream, &observer, &error) == 0, "%s", error.text);
    for (int k = 0; k < 3; k++)
        kalman_smooth(&start, parameters, t->interval * (k + 1), t->value[k], 4);
    const kalman_error off = kalman_compare(&start, &one.back[0]);
    ck_assert_double_lt(off.mean, 1e-8);
    ck_assert_double_lt(off.covariance, 1e-8);
    ck_assert_int_eq(one.smoothed, one.count); /* a record before and after each measurement, and that of the start */
    update(stream, t, 3, 5, &one);
    update(plain, t, 3, 5, &other);
    check_same_bits(&one.record[one.count - 1], &other.record[other.count - 1]);
    close_stream(stream, &w);
    close_stream(plain, &u);
}
END_TEST

/* ---- checkpoints ---- */

static void save(gbees_stream *stream, world *w, const char *folder)
{
    const gbees_provenance provenance = {
        .scenario = gbees_scenario_text(w->scenario), .backend = "cpu", .command = "test"};
    gbees_writer *writer = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_writer_create(folder, gbees_stream_problem(stream), &provenance, &writer, &error) == 0, "%s",
                  error.text);
    ck_assert_msg(gbees_stream_save(stream, writer, &error) == 0, "%s", error.text);
    gbees_writer_destroy(writer);
}

START_TEST(it_goes_on_from_a_checkpoint)
{
    const task *t = &tasks[_i];
    static seen one, other;
    char scratch[SCRATCH_FOLDER], folder[SCRATCH_FOLDER + 8];
    gbees_checkpoint *checkpoint = NULL;
    gbees_error error = {0}, note;
    world w;
    gbees_stream *stream = open_stream(&w, t), *second = NULL;

    scratch_folder_make(scratch);
    (void)snprintf(folder, sizeof folder, "%s/kept", scratch);
    one = (seen){0};
    update(stream, t, 0, 4, &one);
    save(stream, &w, folder);
    ck_assert_msg(gbees_checkpoint_read(folder, &checkpoint, &note, &error) == 0, "%s", error.text);
    ck_assert_msg(gbees_stream_resume(w.problem, w.backend, NULL, checkpoint, &second, &error) == 0, "%s",
                  error.text);
    gbees_checkpoint_destroy(checkpoint);
    ck_assert_int_eq(gbees_stream_problem(second)->measurement_count, 4);
    other = one;
    update(stream, t, 4, 6, &one);
    update(second, t, 4, 6, &other);
    for (int k = 0; k < one.count; k++)
        check_same_bits(&one.record[k], &other.record[k]);
    ck_assert(one.log_evidence[5] == other.log_evidence[5]);
    gbees_stream_destroy(second);
    close_stream(stream, &w);
    scratch_folder_remove(scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream");
    TCase *tcase = tcase_create("streams");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, it_has_the_bits_of_a_run_with_all_measurements, 0, ON_GPU + is_built("shim"));
    tcase_add_test(tcase, it_is_the_kalman_filter);
    tcase_add_test(tcase, predictions_between_are_within_the_certificate);
    tcase_add_test(tcase, a_measurement_costs_its_own_interval);
    tcase_add_loop_test(tcase, a_refused_measurement_changes_nothing, 0, TASKS);
    tcase_add_loop_test(tcase, a_cancelled_step_changes_nothing, 0, TASKS);
    tcase_add_test(tcase, what_cannot_be_is_refused);
    tcase_add_test(tcase, it_looks_back);
    tcase_add_test(tcase, without_a_copy_a_refusal_is_the_end);
    tcase_add_loop_test(tcase, it_goes_on_from_a_checkpoint, 0, TASKS);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
