/* test_watch.c - calls that do not return are found, however long a step is that consists of calls that do; and the
 * functions that note calls compute what the model's own do. */
#include "command/watch.h"
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"
#include <pthread.h>

static const double for_ever = 1e9; /* seconds: the thread that looks has no say here */

static void start(void)
{
    gbees_watch_start("test", for_ever);
    ck_assert(gbees_watch_is_on());
}

START_TEST(only_a_call_that_goes_on_is_counted)
{
    start();
    ck_assert_int_eq(gbees_watch_look(), 0);
    const unsigned before = gbees_watch_enter();
    for (int k = 0; k < 5; k++)
        ck_assert_int_eq(gbees_watch_look(), k);
    gbees_watch_leave(before);
    ck_assert_int_eq(gbees_watch_look(), 0);
    for (int k = 0; k < 1000; k++) { /* a long step: there is another call at each look */
        const unsigned none = gbees_watch_enter();
        ck_assert_int_eq(gbees_watch_look(), 0);
        gbees_watch_leave(none);
    }
    for (int k = 0; k < 1000; k++) /* and work that calls nothing */
        ck_assert_int_eq(gbees_watch_look(), 0);
}
END_TEST

START_TEST(a_call_within_a_call_is_watched_as_both_are)
{
    start();
    const unsigned none = gbees_watch_enter();
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(gbees_watch_look(), k);
    const unsigned outer = gbees_watch_enter();
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(gbees_watch_look(), k);
    gbees_watch_leave(outer);
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(gbees_watch_look(), k);
    gbees_watch_leave(none);
    ck_assert_int_eq(gbees_watch_look(), 0);
    ck_assert_int_eq(gbees_watch_look(), 0);
}
END_TEST

static void *call_once(void *unused)
{
    gbees_watch_leave(gbees_watch_enter());
    return unused;
}

static pthread_barrier_t both;

static void *stay_within(void *unused)
{
    const unsigned before = gbees_watch_enter();

    (void)pthread_barrier_wait(&both);
    (void)pthread_barrier_wait(&both);
    gbees_watch_leave(before);
    return unused;
}

static pthread_t begin(void *function(void *))
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, function, NULL), 0);
    return thread;
}

START_TEST(threads_are_watched_one_by_one)
{
    start();
    for (int k = 0; k < 3000; k++) /* more than there are places at a time */
        ck_assert_int_eq(pthread_join(begin(call_once), NULL), 0);
    ck_assert_int_eq(gbees_watch_look(), 0);
    ck_assert_int_eq(pthread_barrier_init(&both, NULL, 2), 0);
    const pthread_t thread = begin(stay_within);
    (void)pthread_barrier_wait(&both);
    for (int k = 0; k < 5; k++) {
        ck_assert_int_eq(gbees_watch_look(), k);
        gbees_watch_leave(gbees_watch_enter()); /* this thread's calls are no sign of life of that one */
    }
    (void)pthread_barrier_wait(&both);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(gbees_watch_look(), 0);
}
END_TEST

/* ---- a model's functions ---- */

/* All functions of the drift at the points, one after the other: f[] and d[], of components, planes and the whole. */
typedef struct results {
    float f[2 * 8 + 8][POINTS];
    double d[2 * 8 + 8][POINTS];
} results;

static void evaluate(const gbees_functions *functions, const box_points *at, const double *p, double t, results *made)
{
    float p_f[GBEES_PARAMETER_VALUES], *out_f[8];
    double *out_d[8];

    memset(made, 0, sizeof *made);
    for (int k = 0; k < GBEES_PARAMETER_VALUES; k++)
        p_f[k] = (float)p[k];
    for (int j = 0; j < functions->n; j++) {
        out_f[j] = made->f[16 + j];
        out_d[j] = made->d[16 + j];
        functions->component_f[j](POINTS, (float)t, at->origin_f, at->column_f, p_f, made->f[j]);
        functions->component_d[j](POINTS, t, at->origin, at->column, p, made->d[j]);
        if (!functions->planes_f[j])
            continue;
        functions->planes_f[j](2, POINTS / 2, (float)t, at->origin_f, at->column_f, at->column_f[0], p_f,
                               made->f[8 + j]);
        functions->planes_d[j](2, POINTS / 2, t, at->origin, at->column, at->column[0], p, made->d[8 + j]);
    }
    functions->drift_f(POINTS, (float)t, at->origin_f, at->column_f, p_f, out_f);
    functions->drift_d(POINTS, t, at->origin, at->column, p, out_d);
}

static void compare(const gbees_functions *own, const gbees_functions *watched, const gbees_problem *problem)
{
    static results before, after;
    box_points at;

    ck_assert_ptr_ne(own, watched);
    ck_assert_ptr_ne((const void *)own->component_d, (const void *)watched->component_d);
    ck_assert_int_eq(own->n, watched->n);
    box_fill(&at, problem);
    evaluate(own, &at, problem->parameters, problem->start, &before);
    evaluate(watched, &at, problem->parameters, problem->start, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    ck_assert(!own->measure_d == !watched->measure_d && !own->bound_d == !watched->bound_d);
    ck_assert(!own->log_likelihood_d == !watched->log_likelihood_d && !own->diffusion_d == !watched->diffusion_d);
    for (int j = 0; j < 8; j++) {
        ck_assert(j >= own->n || own->component_f[j] != watched->component_f[j]);
        ck_assert(own->planes_f[j] == watched->planes_f[j] && own->planes_d[j] == watched->planes_d[j]);
    }
}

START_TEST(watched_functions_compute_the_same)
{
    static const struct {
        const char *model, *change;
    } cases[] = {{"lorenz96", "dimension=8"}, {"lorenz63", NULL}, {"cr3bp", NULL}, {"lorenz63", "rotate=yes"}};

    start();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gbees_problem *problem = problem_create(model(cases[k].model), 0, cases[k].change);
        const gbees_functions *own = problem->functions;
        const gbees_functions *in_model = functions_of(problem->model, problem->dimension);

        gbees_watch_problem(problem);
        ck_assert_ptr_nonnull(problem->batches);
        ck_assert_int_eq(own == in_model, problem->functions == functions_of(problem->model, problem->dimension));
        compare(own, problem->functions, problem);
        if (own->framed)
            compare(own->framed, problem->functions->framed, problem);
        gbees_problem_destroy(problem);
    }
}
END_TEST

/* ---- a backend ---- */

static int looks;

static int slow(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    (void)engine, (void)clock, (void)error;
    for (uint64_t k = 0; k < max_steps; k++)
        looks = gbees_watch_look();
    return 7;
}

static int capture(gbees_engine *engine, gbees_capture **made, gbees_error *error)
{
    (void)engine, (void)made, (void)error;
    return 0;
}

START_TEST(slices_of_a_gpu_are_watched)
{
    static const gbees_backend cpu = {.advance = slow}, gpu = {.advance = slow, .capture = capture};

    start();
    ck_assert_ptr_eq(gbees_watch_backend(&cpu), &cpu);
    const gbees_backend *watched = gbees_watch_backend(&gpu);
    ck_assert(watched->capture == capture && !watched->frame_set && !watched->frame_fit);
    ck_assert_int_eq(watched->advance(NULL, NULL, 4, NULL), 7);
    ck_assert_int_eq(looks, 3);
    ck_assert_int_eq(gbees_watch_look(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("watch");
    TCase *calls = tcase_create("calls"), *models = tcase_create("models");

    tcase_add_test(calls, only_a_call_that_goes_on_is_counted);
    tcase_add_test(calls, a_call_within_a_call_is_watched_as_both_are);
    tcase_add_test(calls, threads_are_watched_one_by_one);
    tcase_add_test(calls, slices_of_a_gpu_are_watched);
    suite_add_tcase(suite, calls);
    tcase_add_checked_fixture(models, registry_open, registry_close);
    tcase_add_test(models, watched_functions_compute_the_same);
    suite_add_tcase(suite, models);
    return run_suite(suite);
}
