/* test_cuda_integrator.c - samples integrated by the CUDA backend on a GPU made of threads: they end
 * where this process's threads take them, to the last bit; and what follows when it can't integrate them, or takes
 * them elsewhere. */
#include "audit/montecarlo.h"
#include "audit/offload.h"
#include "cuda_engine_fixture.h"
#include "fixtures/suite.h"
#include "lagrangian/trajectories.h"

enum { COUNT = 1501 };

/* A model's problem, the shim, and how often it has integrated samples. */
typedef struct scene {
    world w;
    gbees_backend backend; /* the shim's, but it counts */
} scene;

static int calls_done;
static int (*shim_run)(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                       gbees_error *error);

static int run_and_count(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                         gbees_error *error)
{
    const int status = shim_run(integrator, integration, done, error);

    calls_done += *done;
    return status;
}

static void open_from(scene *s, const char *name, scenario_source from)
{
    (void)setenv("SHIM_INTEGRATE", "1", 1);
    ck_assert_int_eq(world_open(&s->w, open_registry(), name, "shim"), 0);
    ck_assert_msg(world_make(&s->w, &from) == 0, "%s", s->w.error.text);
    s->backend = *s->w.backend;
    shim_run = s->backend.integrator_run;
    s->backend.integrator_run = run_and_count;
    calls_done = 0;
}

static void open_scene(scene *s, const char *name, const char *const *settings)
{
    open_from(s, name, (scenario_source){.settings = settings});
}

/* Samples that have gone `length` by a given number of steps; a step that leaves more doubt is cut. */
static gbees_montecarlo *gone(scene *s, gbees_offload *offload, double length, double steps, double doubt_most)
{
    const gbees_montecarlo_options options = {
        .count = COUNT, .step = length / steps, .seed = 7, .threads = 1, .offload = offload};
    gbees_montecarlo *samples = NULL;

    ck_assert_msg(gbees_montecarlo_create(s->w.problem, &options, &samples, &s->w.error) == 0, "%s", s->w.error.text);
    samples->doubt_most = doubt_most;
    for (int k = 1; k <= 2; k++)
        ck_assert_msg(gbees_montecarlo_advance(samples, s->w.problem->start + k * length, &s->w.error) == 0, "%s",
                      s->w.error.text);
    return samples;
}

static const struct {
    const char *model;
    const char *settings[MOST_SETTINGS];
    double length, steps, doubt_most;
} cases[] = {
    {"lorenz63", {NULL}, 0.5, 400, INFINITY},
    {"lorenz63", {NULL}, 2, 300, 1e-4}, /* steps are cut */
    {"duffing", {NULL}, 1.4, 420, INFINITY},
    {"linear",
     {"dimension=8", "factor=0.5", "threshold=1e-5", "parameters.noise=0.5", "measurements=[]"},
     0.3,
     36,
     1},
    {"noise",
     {"factor=2", "parameters.growth=-0.5", "parameters.own=0.3", "parameters.beside=0.2", "parameters.square=0.1",
      "parameters.rise=2"},
     0.07,
     70,
     INFINITY},
};

START_TEST(samples_go_the_same_way)
{
    scene s;

    open_scene(&s, cases[_i].model, cases[_i].settings);
    gbees_offload offload = {.backend = &s.backend, .problem = s.w.problem};
    gbees_montecarlo *here = gone(&s, NULL, cases[_i].length, cases[_i].steps, cases[_i].doubt_most);
    gbees_montecarlo *there = gone(&s, &offload, cases[_i].length, cases[_i].steps, cases[_i].doubt_most);

    ck_assert_int_eq(calls_done, 2);
    for (int j = 0; j < s.w.problem->dimension; j++)
        ck_assert_mem_eq(there->x[j], here->x[j], COUNT * sizeof(double));
    gbees_montecarlo_destroy(here);
    gbees_montecarlo_destroy(there);
    gbees_offload_close(&offload);
    world_close(&s.w);
}
END_TEST

/* Samples that have lost others between them keep their random numbers. */
START_TEST(noise_belongs_to_the_sample)
{
    static const char *const settings[] = {"dimension=1",     "precision=mixed",      "factor=20",
                                           "measurements=[]", "parameters.noise=0.3", NULL};
    const gbees_measurement sharp = {.size = 1, .value = {1}, .covariance = {1e-3}, .function = 0};
    gbees_montecarlo *samples[2];
    scene s;

    open_scene(&s, "linear", settings);
    gbees_offload offload = {.backend = &s.backend, .problem = s.w.problem};
    for (int k = 0; k < 2; k++) {
        samples[k] = gone(&s, k ? &offload : NULL, 0.5, 150, INFINITY);
        ck_assert_int_eq(gbees_montecarlo_update(samples[k], &sharp, &s.w.error), 0);
        ck_assert_uint_lt(samples[k]->count, COUNT);
        samples[k]->options.step /= 2;
        ck_assert_int_eq(gbees_montecarlo_advance(samples[k], s.w.problem->start + 2, &s.w.error), 0);
    }
    ck_assert_int_eq(calls_done, 3);
    ck_assert_uint_eq(samples[0]->count, samples[1]->count);
    ck_assert_mem_eq(samples[0]->x[0], samples[1]->x[0], samples[0]->count * sizeof(double));
    for (int k = 0; k < 2; k++)
        gbees_montecarlo_destroy(samples[k]);
    gbees_offload_close(&offload);
    world_close(&s.w);
}
END_TEST

/* Without memory, or after a failure, this process's threads integrate them. */
START_TEST(threads_do_what_a_backend_can_not)
{
    static const char *const settings[] = {NULL};
    scene s;

    if (_i == 0)
        (void)setenv("SHIM_MEMORY", "1000", 1);
    open_scene(&s, _i == 2 ? "aizawa" : "lorenz63", settings);
    if (_i == 1)
        s.backend.integrator_run = NULL, s.backend.integrator_create = NULL;
    gbees_offload offload = {.backend = &s.backend, .problem = s.w.problem};
    gbees_montecarlo *here = gone(&s, NULL, 0.5, 400, INFINITY), *there = gone(&s, &offload, 0.5, 400, INFINITY);

    ck_assert_int_eq(calls_done, 0);
    ck_assert_int_eq(offload.failed, _i == 2); /* the shim has no kernels of that model */
    for (int j = 0; j < 3; j++)
        ck_assert_mem_eq(there->x[j], here->x[j], COUNT * sizeof(double));
    gbees_montecarlo_destroy(here);
    gbees_montecarlo_destroy(there);
    gbees_offload_close(&offload);
    world_close(&s.w);
    set_back();
}
END_TEST

/* As a backend with a fault would do: samples end a little beside. */
static int run_with_fault(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                          gbees_error *error)
{
    const int status = run_and_count(integrator, integration, done, error);

    for (uint64_t i = 0; i < integration->count; i++)
        integration->to[0][i] += 0.01 * integration->scale[0];
    return status;
}

START_TEST(samples_that_end_elsewhere_are_not_taken)
{
    static const char *const settings[] = {NULL};
    scene s;

    open_scene(&s, "lorenz63", settings);
    s.backend.integrator_run = run_with_fault;
    gbees_offload offload = {.backend = &s.backend, .problem = s.w.problem};
    gbees_montecarlo *here = gone(&s, NULL, 0.5, 400, INFINITY), *there = gone(&s, &offload, 0.5, 400, INFINITY);

    ck_assert_int_eq(calls_done, 1);
    ck_assert_int_eq(offload.failed, 1);
    for (int j = 0; j < 3; j++)
        ck_assert_mem_eq(there->x[j], here->x[j], COUNT * sizeof(double));
    gbees_montecarlo_destroy(here);
    gbees_montecarlo_destroy(there);
    gbees_offload_close(&offload);
    world_close(&s.w);
}
END_TEST

/* ---- with a tolerance: trajectories, each by steps of its own ---- */

static const struct {
    const char *model;
    const char *settings[MOST_SETTINGS];
    double from, to;
    int ends;    /* 1: some trajectories end before */
    double most; /* difference: more than none where the CPU's drift has a cosine for vectors */
} ways[] = {
    {"lorenz63", {NULL}, 0, 2, 0, 0},
    {"lorenz63", {NULL}, 1, 0.4, 0, 0},
    {"duffing", {NULL}, 0.3, 9, 0, 1e-11},
    {"linear", {"dimension=8", "factor=0.5", "threshold=1e-5", "measurements=[]"}, 0, 6, 0, 0},
    {"lorenz63", {NULL}, 0, -2, 1, 0},
};

static void spread(const gbees_problem *problem, size_t count, double **x, double *scale)
{
    uint64_t state = 7;

    for (int j = 0; j < problem->dimension; j++) {
        x[j] = malloc(count * sizeof(double));
        ck_assert_ptr_nonnull(x[j]);
        scale[j] = sqrt(problem->covariance[j * problem->dimension + j]);
        for (size_t i = 0; i < count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[j][i] = problem->mean[j] + 2 * scale[j] * ((double)(state >> 11) * 0x1p-52 - 1);
        }
    }
    x[0][5] = NAN;
}

START_TEST(trajectories_go_the_same_way)
{
    enum { MANY = 3001 };
    double *x[2][GBEES_MAX_DIM], scale[GBEES_MAX_DIM], evaluations[2];
    size_t lost = 0;
    scene s;

    open_scene(&s, ways[_i].model, ways[_i].settings);
    for (int there = 0; there < 2; there++) {
        gbees_trajectories *t = NULL;

        spread(s.w.problem, MANY, x[there], scale);
        ck_assert_msg(gbees_trajectories_create(s.w.problem, there ? &s.backend : NULL, 1, &t, &s.w.error) == 0, "%s",
                      s.w.error.text);
        ck_assert_msg(gbees_trajectories_run(t, MANY, x[there], NULL,
                                             &(gbees_travel){ways[_i].from, ways[_i].to, scale, 1e-9, 0, NULL, NULL},
                                             &s.w.error) == 0,
                      "%s", s.w.error.text);
        evaluations[there] = gbees_trajectories_evaluations(t);
        gbees_trajectories_destroy(t);
    }
    ck_assert_int_eq(calls_done, 1);
    ck_assert_double_eq(evaluations[0], evaluations[1]);
    for (size_t i = 0; i < MANY; i++)
        lost += isnan(x[1][0][i]) != 0;
    ck_assert(ways[_i].ends ? lost > 10 && lost < MANY - 10 : lost == 1);
    for (int j = 0; j < s.w.problem->dimension; j++) {
        for (size_t i = 0; i < MANY; i++)
            ck_assert(fabs(x[0][j][i] - x[1][j][i]) <= ways[_i].most || (isnan(x[0][j][i]) && isnan(x[1][j][i])));
        free(x[0][j]);
        free(x[1][j]);
    }
    world_close(&s.w);
}
END_TEST

/* A few points are not moved to a GPU, nor are any if it has no memory for them. */
START_TEST(threads_take_trajectories_that_a_backend_does_not)
{
    static const char *const settings[] = {NULL};
    const size_t count = _i ? 3001 : 8;
    double *x[GBEES_MAX_DIM], scale[GBEES_MAX_DIM];
    gbees_trajectories *t = NULL;
    scene s;

    if (_i)
        (void)setenv("SHIM_MEMORY", "1000", 1);
    open_scene(&s, "lorenz63", settings);
    spread(s.w.problem, count, x, scale);
    ck_assert_int_eq(gbees_trajectories_create(s.w.problem, &s.backend, 1, &t, &s.w.error), 0);
    ck_assert_int_eq(
        gbees_trajectories_run(t, count, x, NULL, &(gbees_travel){0, 1, scale, 1e-9, 0, NULL, NULL}, &s.w.error), 0);
    ck_assert_int_eq(calls_done, 0);
    ck_assert_double_gt(gbees_trajectories_evaluations(t), 100 * (double)(count - 1));
    for (size_t i = 0; i < count; i++)
        ck_assert(isfinite(x[0][i]) || i == 5);
    for (int j = 0; j < 3; j++)
        free(x[j]);
    gbees_trajectories_destroy(t);
    world_close(&s.w);
    set_back();
}
END_TEST

/* Points of lattices that are begun anew go through all measurements so far on the GPU. */
static int keep_statistics(void *context, const gbees_record *record, gbees_error *error)
{
    (void)error;
    *(gbees_statistics *)context = record->statistics;
    return 0;
}

START_TEST(points_go_through_measurements_there)
{
    static const char text[] =
        "frame: lagrangian\npoints: 1.5\nmean: [-11.5, -10, 9.5]\ncovariance: [1, 1, 1]\nend: 0.6\nrecords: 1\n"
        "measurements:\n  - {time: 0.2, function: z, value: [-1], covariance: [1]}\n"
        "  - {time: 0.4, function: z, value: [-10], covariance: [0.1]}\n"
        "  - {time: 0.6, function: z, value: [-12], covariance: [0.1]}\n";
    gbees_statistics last[2];
    gbees_summary summary[2];

    for (int there = 0; there < 2; there++) {
        const gbees_observer observer = {.context = &last[there], .record = keep_statistics};
        scene s;

        open_from(&s, "lorenz63", (scenario_source){.text = text, .name = "test"});
        if (!there)
            s.backend.integrator_create = NULL;
        s.w.backend = &s.backend;
        ck_assert_msg(world_run(&s.w, 1, &observer, &summary[there]) == 0, "%s", s.w.error.text);
        ck_assert_int_eq(calls_done > 0, there);
        world_close(&s.w);
    }
    ck_assert_double_eq_tol(summary[0].evidence.total, summary[1].evidence.total, 1e-8);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(last[0].mean[j], last[1].mean[j], 1e-8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_integrator");
    TCase *tcase = tcase_create("integrator");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, samples_go_the_same_way, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tcase, noise_belongs_to_the_sample);
    tcase_add_loop_test(tcase, threads_do_what_a_backend_can_not, 0, 3);
    tcase_add_test(tcase, samples_that_end_elsewhere_are_not_taken);
    tcase_add_loop_test(tcase, trajectories_go_the_same_way, 0, sizeof ways / sizeof *ways);
    tcase_add_loop_test(tcase, threads_take_trajectories_that_a_backend_does_not, 0, 2);
    tcase_add_test(tcase, points_go_through_measurements_there);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
