/* initial_fixture.h - for the tests of initial densities: runs of Lorenz '63, and what is kept of them. */
#ifndef GBEES_TESTS_INITIAL_FIXTURE_H
#define GBEES_TESTS_INITIAL_FIXTURE_H

#include "results_fixture.h"
#include <math.h>

enum { MOST = 12, TEXT = 8192 };

typedef struct kept {
    size_t count;
    int32_t *index[3];
    double *p;
    double time;
} kept;

typedef struct run {
    gbees_writer *writer; /* or NULL */
    int count, updates;
    kept record[MOST];
    double log_evidence[MOST];
} run;

static inline int keep(void *context, const gbees_record *record, gbees_error *error)
{
    run *r = context;
    kept *to = &r->record[r->count++];
    size_t count = gbees_cells_count(record->cells);

    ck_assert_int_le(r->count, MOST);
    *to = (kept){.count = count, .time = record->time, .p = malloc(count * sizeof *to->p)};
    for (int j = 0; j < 3; j++)
        to->index[j] = malloc(count * sizeof *to->index[j]);
    gbees_cells_copy(record->cells, 0, count, to->index, to->p);
    return r->writer ? gbees_writer_record(r->writer, record, error) : GBEES_OK;
}

static inline int keep_update(void *context, const gbees_problem *problem, int number, double time,
                              const gbees_evidence *evidence, gbees_error *error)
{
    run *r = context;

    (void)problem, (void)number, (void)time, (void)error;
    r->log_evidence[r->updates++] = evidence->log_evidence;
    return GBEES_OK;
}

static inline void forget(run *r)
{
    for (int k = 0; k < r->count; k++) {
        for (int j = 0; j < 3; j++)
            free(r->record[k].index[j]);
        free(r->record[k].p);
    }
}

static gbees_registry *registry;
static const gbees_model *lorenz63;

static inline void open_model(void)
{
    gbees_error error;

    set_up();
    ck_assert_int_eq(gbees_registry_create(NULL, &registry, &error), 0);
    ck_assert_msg(gbees_registry_model(registry, "lorenz63", &lorenz63, &error) == 0, "%s", error.text);
}

static inline void close_model(void)
{
    gbees_registry_destroy(registry);
    tear_down();
}

/* A scenario's text over the model's own; settings[0 ..] up to NULL. */
static inline int try_problem(const char *text, const char *const *settings, gbees_problem **problem,
                              gbees_error *error)
{
    gbees_scenario *scenario = NULL, *defaults = NULL;
    int status = gbees_scenario_create(text, "f.yaml", &scenario, error);

    for (; !status && settings && *settings; settings++)
        status = gbees_scenario_set(scenario, *settings, error);
    if (!status)
        status = gbees_scenario_create(lorenz63->scenarios[0].text, "defaults", &defaults, error);
    if (!status)
        status = gbees_scenario_merge(scenario, defaults, error);
    if (!status)
        status = gbees_problem_create(lorenz63, scenario, problem, error);
    gbees_scenario_destroy(defaults);
    gbees_scenario_destroy(scenario);
    return status;
}

static inline gbees_problem *problem_of(const char *text)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    ck_assert_msg(try_problem(text, NULL, &problem, &error) == 0, "%s", error.text);
    return problem;
}

/* Written to a folder of that name below `base` unless it is NULL. */
static inline run run_text(const char *text, const char *name)
{
    gbees_problem *problem = problem_of(text);
    const gbees_backend *cpu = NULL;
    gbees_solver *solver = NULL;
    gbees_error error = {0};
    char path[sizeof base + 64];
    run r = {0};

    if (name) {
        (void)snprintf(path, sizeof path, "%s/%s", base, name);
        ck_assert_int_eq(gbees_writer_create(path, problem, &provenance, &r.writer, &error), 0);
    }
    ck_assert_int_eq(gbees_registry_backend(registry, "cpu", &cpu, &error), 0);
    int status = gbees_solver_create(problem, cpu, &(gbees_engine_options){.threads = 1}, &solver, &error);
    if (!status)
        status =
            gbees_solver_run(solver, &(gbees_observer){.context = &r, .record = keep, .update = keep_update}, &error);
    ck_assert_msg(status == 0, "%s", error.text);
    gbees_solver_destroy(solver);
    gbees_writer_destroy(r.writer);
    r.writer = NULL;
    gbees_problem_destroy(problem);
    return r;
}

/* Sum of |p - q| over the cells of either; both are in order. */
static inline double distance(const kept *a, const kept *b)
{
    double sum = 0;
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : 0;

        for (int j = 0; j < 3 && order == 0; j++)
            order = (a->index[j][i] > b->index[j][k]) - (a->index[j][i] < b->index[j][k]);
        sum += order < 0 ? a->p[i] : order > 0 ? b->p[k] : fabs(a->p[i] - b->p[k]);
        i += order <= 0;
        k += order >= 0;
    }
    return sum;
}

static inline double total(const kept *k)
{
    double sum = 0;

    for (size_t i = 0; i < k->count; i++)
        sum += k->p[i];
    return sum;
}

#endif
