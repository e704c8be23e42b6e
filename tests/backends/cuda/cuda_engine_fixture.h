/* cuda_engine_fixture.h - for the tests of the CUDA engine: a run on a backend, all of it kept, and two of them
 * compared.
 */
#ifndef GBEES_TESTS_CUDA_ENGINE_FIXTURE_H
#define GBEES_TESTS_CUDA_ENGINE_FIXTURE_H

#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a run, all of it kept --------------------------------------------------------------------------------------
 */

enum { MOST_RECORDS = 32, MOST_SETTINGS = 16 };

typedef struct kept_record {
    gbees_record record;
    uint64_t marginals; /* a hash of their bits; 0: there were none */
    size_t count;
    int32_t *index; /* [axis][cell] */
    double *p;
} kept_record;

typedef struct kept_run {
    int n, count, evidence_count, status;
    kept_record record[MOST_RECORDS];
    gbees_evidence evidence[MOST_RECORDS];
    gbees_totals totals;
    gbees_error error;
    double width[GBEES_MAX_DIM];
} kept_run;

typedef struct a_case {
    const char *model, *backend;
    const char *settings[MOST_SETTINGS];
} a_case;

/* The marginals that came with a record are those of its cells, but for the rounding of `cells` addends: of each to a
 * multiple of 2^-60, and of a sum of doubles. */
static inline void check_marginal(const double *p, const double *of_cells, uint64_t count, size_t cells,
                                  uint64_t *hash)
{
    double most = 0;

    for (uint64_t i = 0; i < count; i++)
        most = fmax(most, of_cells[i]);
    most = 1e-13 * most + (double)cells * 0x1p-61;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits;

        ck_assert_msg(fabs(p[i] - of_cells[i]) <= most, "entry %llu of %llu: %.17g, not %.17g", (unsigned long long)i,
                      (unsigned long long)count, p[i], of_cells[i]);
        memcpy(&bits, &p[i], sizeof bits);
        *hash = (*hash ^ bits) * 1099511628211u;
    }
}

static inline uint64_t check_marginals(const gbees_record *record)
{
    const gbees_marginals *m = record->marginals;
    uint64_t hash = 14695981039346656037u;
    const size_t cells = gbees_cells_count(record->cells);
    double *of_cells;

    for (int j = 0; j < record->problem->dimension; j++) {
        int32_t first, last;

        gbees_cells_range(record->cells, j, &first, &last);
        ck_assert_int_eq(m->first[j], first);
        ck_assert_uint_eq(m->length[j], (uint64_t)(last - first + 1));
        ck_assert_int_eq(gbees_cells_marginal_1d(record->cells, j, &of_cells, NULL), 0);
        check_marginal(m->line[j], of_cells, m->length[j], cells, &hash);
        free(of_cells);
        for (int k = j + 1; k < record->problem->dimension; k++) {
            ck_assert_int_eq(gbees_cells_marginal_2d(record->cells, j, k, &of_cells, NULL), 0);
            check_marginal(m->plane[j][k], of_cells, m->length[j] * m->length[k], cells, &hash);
            free(of_cells);
        }
    }
    return hash;
}

static inline int keep_record(void *context, const gbees_record *record, gbees_error *error)
{
    kept_run *run = context;
    kept_record *to = &run->record[run->count];
    int32_t *index[GBEES_MAX_DIM] = {NULL};

    (void)error;
    ck_assert_int_lt(run->count, MOST_RECORDS);
    run->n = record->problem->dimension;
    memcpy(run->width, record->problem->width, sizeof run->width);
    to->record = *record;
    to->marginals = record->marginals ? check_marginals(record) : 0;
    to->count = gbees_cells_count(record->cells);
    to->p = malloc((to->count + 1) * sizeof *to->p);
    to->index = malloc((to->count + 1) * (size_t)run->n * sizeof *to->index);
    ck_assert(to->p && to->index);
    for (int j = 0; j < run->n; j++)
        index[j] = to->index + (size_t)j * to->count;
    gbees_cells_copy(record->cells, 0, to->count, index, to->p);
    run->count++;
    return 0;
}

static inline int keep_evidence(void *context, const gbees_problem *problem, int number, double time,
                                const gbees_evidence *evidence, gbees_error *error)
{
    kept_run *run = context;

    (void)problem, (void)number, (void)time, (void)error;
    ck_assert_int_lt(run->evidence_count, MOST_RECORDS);
    run->evidence[run->evidence_count++] = *evidence;
    return 0;
}

static inline void forget(kept_run *run)
{
    if (!run)
        return;
    for (int k = 0; k < run->count; k++) {
        free(run->record[k].index);
        free(run->record[k].p);
    }
    free(run);
}

static inline const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value ? value : otherwise;
}

static inline gbees_registry *open_registry(void)
{
    const char *top = environment("GBEES_TOP_BUILD", ".");
    gbees_registry *registry = NULL;
    gbees_error error;
    char modules[4096];

    (void)snprintf(modules, sizeof modules, "%s/tests/.libs", top);
    (void)setenv("GBEES_BACKEND_PATH", modules, 1);
    ck_assert_msg(gbees_registry_create(modules, &registry, &error) == GBEES_OK, "%s", error.text);
    return registry;
}

/* The model's default scenario, changed by the settings, on a backend. Its error, if it fails, is kept, too.
 * `concurrent`: records are told while the run goes on. */
static inline kept_run *try_run_telling(const a_case *c, const char *backend_name, int concurrent)
{
    kept_run *run = calloc(1, sizeof *run);
    gbees_registry *registry = open_registry();
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    gbees_summary summary;

    ck_assert_ptr_nonnull(run);
    int status = gbees_registry_model(registry, c->model, &model, &run->error);
    if (!status)
        status = gbees_registry_backend(registry, backend_name, &backend, &run->error);
    if (!status)
        status = gbees_scenario_create(model->scenarios[0].text, c->model, &scenario, &run->error);
    for (int k = 0; !status && k < MOST_SETTINGS && c->settings[k]; k++)
        status = gbees_scenario_set(scenario, c->settings[k], &run->error);
    if (!status)
        status = gbees_problem_create(model, scenario, &problem, &run->error);
    ck_assert_msg(status == GBEES_OK, "%s: %s", c->model, run->error.text);
    status = gbees_solver_create(problem, backend, &(gbees_engine_options){.threads = 1}, &solver, &run->error);
    if (!status)
        status = gbees_solver_run(solver,
                                  &(gbees_observer){.context = run,
                                                    .record = keep_record,
                                                    .update = keep_evidence,
                                                    .concurrent = concurrent,
                                                    .marginals = 1},
                                  &run->error);
    run->status = status;
    if (solver) {
        gbees_solver_summary(solver, &summary);
        run->totals = summary.totals;
    }
    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return run;
}

static inline kept_run *try_run(const a_case *c, const char *backend)
{
    return try_run_telling(c, backend, 0);
}

static inline kept_run *run_telling(const a_case *c, const char *backend, int concurrent)
{
    kept_run *run = try_run_telling(c, backend, concurrent);

    ck_assert_msg(run->status == GBEES_OK, "%s on %s: %s", c->model, backend, run->error.text);
    ck_assert_int_gt(run->count, 0);
    return run;
}

static inline kept_run *run_on(const a_case *c, const char *backend)
{
    return run_telling(c, backend, 0);
}

/* ---- comparing --------------------------------------------------------------------------------------------------
 */

/* Of two runs, how far they may be apart. */
typedef struct bounds {
    double p;       /* relative to the largest; 0: probabilities are floats, and have the same bits */
    double moments; /* in standard deviations */
    double ledger;  /* of 1 */
} bounds;

#define CLOSE(a, b, tolerance, of, what)                                                                             \
    ck_assert_msg(fabs((a) - (b)) <= (tolerance), "%s: %s: %.17g, not %.17g", of, what, a, b)

static inline void compare_cells(const kept_run *a, const kept_run *b, int k, double tolerance)
{
    const kept_record *left = &a->record[k], *right = &b->record[k];
    const double left_mass = left->record.statistics.mass, right_mass = right->record.statistics.mass;
    double most = 0;

    ck_assert_msg(left->count == right->count, "record %d: %zu cells, not %zu", k, left->count, right->count);
    ck_assert_mem_eq(left->index, right->index, left->count * (size_t)a->n * sizeof *left->index);
    for (size_t i = 0; i < left->count; i++)
        most = fmax(most, right->p[i]);
    /* A cell's P is a float, handed out over the sum of all, whose last bits depend on the order. */
    for (size_t i = 0; i < left->count && tolerance == 0; i++)
        ck_assert_msg((float)(left->p[i] * left_mass) == (float)(right->p[i] * right_mass),
                      "record %d, cell %zu: %.9g, not %.9g", k, i, left->p[i] * left_mass, right->p[i] * right_mass);
    for (size_t i = 0; i < left->count && tolerance > 0; i++)
        ck_assert_msg(fabs(left->p[i] - right->p[i]) <= tolerance * most, "record %d, cell %zu: %.17g, not %.17g", k,
                      i, left->p[i], right->p[i]);
}

static inline void compare_statistics(const kept_run *a, const kept_run *b, int k, const bounds *most)
{
    const gbees_statistics *left = &a->record[k].record.statistics, *right = &b->record[k].record.statistics;
    char of[64];

    (void)snprintf(of, sizeof of, "record %d", k);
    ck_assert_uint_eq(left->cells, right->cells);
    ck_assert_uint_eq(left->cells_above, right->cells_above);
    ck_assert_uint_eq(left->cells_raw, right->cells_raw);
    CLOSE(left->mass, right->mass, most->ledger, of, "mass");
    CLOSE(left->entropy, right->entropy, 10 * most->moments, of, "entropy");
    CLOSE(left->peak, right->peak, (most->p + most->ledger) * right->peak, of, "peak");
    for (int j = 0; j < a->n; j++) {
        double sigma = sqrt(right->covariance[j * a->n + j]) + a->width[j];

        CLOSE(left->mean[j], right->mean[j], most->moments * (sigma + fabs(right->mean[j])), of, "mean");
        for (int i = 0; i < a->n; i++)
            CLOSE(left->covariance[j * a->n + i], right->covariance[j * a->n + i],
                  100 * most->moments * sigma * (sqrt(right->covariance[i * a->n + i]) + a->width[i]), of,
                  "covariance");
    }
}

static inline void compare_totals(const gbees_totals *a, const gbees_totals *b, double ledger, const char *of)
{
    ck_assert_uint_eq(a->steps, b->steps);
    ck_assert_uint_eq(a->max_cells, b->max_cells);
    CLOSE(a->cell_updates, b->cell_updates, 1e-14 * b->cell_updates, of, "cell updates");
    CLOSE(a->raw_cell_updates, b->raw_cell_updates, 1e-14 * b->raw_cell_updates, of, "raw cell updates");
    CLOSE(a->mass_clipped, b->mass_clipped, ledger, of, "clipped");
    CLOSE(a->mass_outflow, b->mass_outflow, ledger, of, "outflow");
    CLOSE(a->mass_pruned, b->mass_pruned, ledger, of, "pruned");
    CLOSE(a->mass_normalised, b->mass_normalised, ledger, of, "normalised");
    CLOSE(a->time_step, b->time_step, ledger * b->time_step, of, "time step");
    ck_assert_double_eq(a->threshold, b->threshold);
    ck_assert_uint_eq(a->warnings, b->warnings);
}

/* The ledger closes where probabilities are not rounded to floats. */
static inline void check_ledger(const kept_run *run)
{
    for (int k = 0; k < run->count; k++) {
        const gbees_totals *t = &run->record[k].record.totals;

        CLOSE(run->record[k].record.statistics.mass,
              1 + t->mass_clipped + t->mass_normalised - t->mass_outflow - t->mass_pruned, 1e-11, "ledger", "mass");
    }
}

static inline void compare(const kept_run *a, const kept_run *b, const bounds *most)
{
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->evidence_count, b->evidence_count);
    for (int k = 0; k < a->count; k++) {
        char of[64];

        (void)snprintf(of, sizeof of, "totals at record %d", k);
        ck_assert_double_eq(a->record[k].record.time, b->record[k].record.time);
        compare_totals(&a->record[k].record.totals, &b->record[k].record.totals, most->ledger, of);
        compare_cells(a, b, k, most->p);
        compare_statistics(a, b, k, most);
    }
    for (int k = 0; k < a->evidence_count; k++) {
        CLOSE(a->evidence[k].log_evidence, b->evidence[k].log_evidence, 100 * most->moments, "evidence", "log");
        CLOSE(a->evidence[k].log_likelihood_max, b->evidence[k].log_likelihood_max, 100 * most->moments, "evidence",
              "largest");
    }
    compare_totals(&a->totals, &b->totals, most->ledger, "totals");
}

/* All bits that are no time. */
static inline void compare_bits(const kept_run *a, const kept_run *b)
{
    ck_assert_int_eq(a->count, b->count);
    for (int k = 0; k < a->count; k++) {
        compare_cells(a, b, k, 0);
        ck_assert_uint_eq(a->record[k].marginals, b->record[k].marginals);
        ck_assert_mem_eq(a->record[k].p, b->record[k].p, a->record[k].count * sizeof(double));
        ck_assert_mem_eq(&a->record[k].record.statistics, &b->record[k].record.statistics, sizeof(gbees_statistics));
    }
    ck_assert_mem_eq(a->evidence, b->evidence, sizeof a->evidence);
    compare_totals(&a->totals, &b->totals, 0, "totals");
}

/* ---- some runs, and an engine by itself ----------------------------------------------------------------------- */

static const a_case measured = {"lorenz63", "shim", {"records=1", "end=1.2"}};
static const a_case moving = {"duffing", "shim", {"records=1", "end=1"}};
static const a_case corners = {"lorenz63", "shim", {"records=1", "end=0.6", "scheme=ctu", "precision=double"}};
/* More bricks than the heap begins with. */
static const a_case large = {"lorenz96", "shim", {"dimension=6", "records=1", "end=0.006", "extent=2"}};

static inline void set_back(void)
{
    (void)unsetenv("SHIM_BLOCKS");
    (void)unsetenv("SHIM_CLUSTER");
    (void)unsetenv("SHIM_MEMORY");
    (void)unsetenv("SHIM_VIRTUAL");
    (void)unsetenv("SHIM_FAILING_LAUNCH");
    (void)unsetenv("SHIM_LARGE");
}

/* An engine for the default scenario of lorenz63, and all that it is made of. */
typedef struct bare {
    gbees_registry *registry;
    gbees_scenario *scenario;
    gbees_problem *problem;
    const gbees_backend *backend;
    gbees_engine *engine;
    gbees_clock clock;
    gbees_error error;
} bare;

static inline bare open_bare(void)
{
    bare b = {.registry = open_registry(), .clock = {.length = 0.1}};
    const gbees_model *model = NULL;
    const gbees_engine_options options = {.threads = 1};

    ck_assert_int_eq(gbees_registry_model(b.registry, "lorenz63", &model, &b.error), 0);
    ck_assert_int_eq(gbees_registry_backend(b.registry, "shim", &b.backend, &b.error), 0);
    ck_assert_int_eq(gbees_scenario_create(model->scenarios[0].text, "lorenz63", &b.scenario, &b.error), 0);
    ck_assert_int_eq(gbees_problem_create(model, b.scenario, &b.problem, &b.error), 0);
    ck_assert_msg(b.backend->create(b.problem, &options, &b.engine, &b.error) == 0, "%s", b.error.text);
    return b;
}

static inline void close_bare(bare *b)
{
    b->backend->destroy(b->engine);
    b->backend->destroy(NULL);
    gbees_problem_destroy(b->problem);
    gbees_scenario_destroy(b->scenario);
    gbees_registry_destroy(b->registry);
}

static inline int add_up(void *context, size_t count, const int32_t *const *index, const double *p)
{
    double *sum = context;

    for (size_t i = 0; i < count; i++) {
        uint64_t mixed = (uint64_t)(uint32_t)index[0][i] * 31u + (uint64_t)(uint32_t)index[1][i] * 17u;

        sum[0] += p[i];
        sum[1] += p[i] * (double)(mixed % 101u);
    }
    return 0;
}

static inline int stop_at_once(void *context, size_t count, const int32_t *const *index, const double *p)
{
    (void)context, (void)count, (void)index, (void)p;
    return 77;
}

#endif
