/* results_fixture.h - a run made by hand and a folder for it: for the tests of results. */
#ifndef GBEES_TESTS_RESULTS_FIXTURE_H
#define GBEES_TESTS_RESULTS_FIXTURE_H

#include "io/folder.h"
#include "solver/cells.h"
#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a run made by hand ---------------------------------------------------------------------------------------- */

static const char source[] = "abc";
static const gbees_quantity states[] = {{"x", "m", ""},          {"theta, \"t\"", "rad", ""},
                                        {"\xc3\xa9ta", "-", ""}, {"w", "", ""},
                                        {"a", "s", ""},          {"b", "s", ""},
                                        {"c", "s", ""},          {"d", "s", ""}};
static const gbees_parameter parameters[] = {{"sigma", "", "", 4, 0, 0}, {"rho", "", "", 1, 0, 0}};
static const gbees_model model = {.abi = GBEES_MODEL_ABI,
                                  .size = sizeof(gbees_model),
                                  .name = "handmade",
                                  .title = "made by hand",
                                  .dim_min = 1,
                                  .dim_max = 8,
                                  .dim_default = 3,
                                  .states = states,
                                  .parameter_count = 2,
                                  .parameters = parameters,
                                  .source = source,
                                  .source_end = source + 3};
static const gbees_provenance provenance = {"/lib/handmade.so", "model: handmade\n# \xc3\xa9\n", "cpu", NULL,
                                            "gbees-run --plugin handmade"};

static inline gbees_problem make_problem(int n)
{
    gbees_problem problem = {.model = &model, .dimension = n, .threshold = 1e-6, .records = 4};

    problem.numerics.precision = GBEES_DOUBLE;
    problem.parameters[0] = 4;
    problem.parameters[1] = .1;
    for (int j = 0; j < n; j++) {
        problem.mean[j] = 10 * j - .5;
        problem.width[j] = .25 * (j + 1);
    }
    return problem;
}

/* A diagonal line of cells through 0: cell i has the index i - count/2 along each axis, the last one halved. */
static inline gbees_cells *make_cells(int n, int count)
{
    gbees_cells *cells = gbees_cells_create(n);

    for (int i = 0; i < count; i++) {
        int32_t at[GBEES_MAX_DIM];
        const int32_t *index[GBEES_MAX_DIM];
        double p = (1 + i % 7) * 1e-3;

        for (int j = 0; j < n; j++) {
            at[j] = (i - count / 2) / (j == n - 1 && n > 1 ? 2 : 1);
            index[j] = &at[j];
        }
        if (gbees_cells_add(cells, 1, index, &p))
            abort();
    }
    if (gbees_cells_finish(cells, NULL))
        abort();
    return cells;
}

static inline gbees_record make_record(const gbees_problem *problem, const gbees_cells *cells, int leg, int number)
{
    gbees_record record = {
        .problem = problem, .leg = leg, .number = number, .time = leg + number / 10.0, .wall_s = .5, .cells = cells};

    record.statistics = (gbees_statistics){
        .cells = 2 * gbees_cells_count(cells), .cells_above = gbees_cells_count(cells), .mass = .75, .entropy = -1.5};
    for (int j = 0; j < problem->dimension; j++) {
        record.statistics.mean[j] = j + number;
        record.statistics.covariance[j * problem->dimension + j] = 1 + j;
    }
    record.totals = (gbees_totals){.steps = 10 + (uint64_t)number,
                                   .time_step = .01,
                                   .mass_clipped = .1,
                                   .mass_outflow = .2,
                                   .mass_pruned = .3,
                                   .mass_normalised = .15};
    record.warnings = number == 4 ? GBEES_WARNING_MASS_LOST | GBEES_WARNING_BUDGET_FLOOR : 0;
    record.since = (gbees_ledger){.clipped = .01, .outflow = .02, .pruned = .03, .normalised = .04};
    return record;
}

/* ---- folders -----------------------------------------------------------------------------------------------------
 */

static char base[4096];
static char folder[4200];

static inline void set_up(void)
{
    const char *place = getenv("TMPDIR");

    (void)snprintf(base, sizeof base, "%s/test_results.XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(base));
    (void)snprintf(folder, sizeof folder, "%s/deep/run", base);
}

static inline void tear_down(void)
{
    char command[sizeof base + 32];

    (void)snprintf(command, sizeof command, "rm -r '%s'", base);
    ck_assert_int_eq(system(command), 0);
}

static inline char *in_folder(const char *name)
{
    char *path = gbees_folder_join(folder, name);

    ck_assert_ptr_nonnull(path);
    return path;
}

static inline int exists(const char *name)
{
    char *path = in_folder(name);
    int found = access(path, F_OK) == 0;

    free(path);
    return found;
}

static inline int count_files(const char *ending)
{
    DIR *open = opendir(folder);
    int count = 0;

    ck_assert_ptr_nonnull(open);
    for (struct dirent *entry; (entry = readdir(open));) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);

        count += length > tail && strcmp(entry->d_name + length - tail, ending) == 0;
    }
    (void)closedir(open);
    return count;
}

static inline void spoil(const char *name, const char *text, off_t length)
{
    char *path = in_folder(name);

    if (text) {
        FILE *file = fopen(path, "w");

        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
    } else {
        ck_assert_int_eq(truncate(path, length), 0);
    }
    free(path);
}

static inline json_t *load_run(void)
{
    char *path = in_folder("run.json");
    json_t *run = json_load_file(path, 0, NULL);

    ck_assert_ptr_nonnull(run);
    free(path);
    return run;
}

static inline const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "(none)";
}

static inline gbees_writer *start(const gbees_problem *problem)
{
    gbees_writer *writer = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_writer_create(folder, problem, &provenance, &writer, &error) == 0, "%s", error.text);
    return writer;
}

static inline void put(gbees_writer *writer, const gbees_problem *problem, int count, int leg, int number)
{
    gbees_cells *cells = make_cells(problem->dimension, count);
    gbees_record record = make_record(problem, cells, leg, number);
    gbees_error error = {0};

    ck_assert_msg(gbees_writer_record(writer, &record, &error) == 0, "%s", error.text);
    gbees_cells_destroy(cells);
}

static inline gbees_snapshot *get(size_t number)
{
    gbees_results *results = NULL;
    gbees_snapshot *snapshot = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_results_open(folder, &results, &error) == 0, "%s", error.text);
    ck_assert_msg(gbees_results_read(results, number, &snapshot, &error) == 0, "%s", error.text);
    gbees_results_destroy(results);
    return snapshot;
}

/* Reading the first record must fail with all these words in the text. */
static inline void check_unreadable(const char *first, const char *second)
{
    gbees_results *results = NULL;
    gbees_snapshot *snapshot = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_results_open(folder, &results, &error), 0);
    ck_assert_int_ne(gbees_results_read(results, 0, &snapshot, &error), 0);
    ck_assert_ptr_null(snapshot);
    ck_assert_msg(strstr(error.text, first) && strstr(error.text, second) && !strchr(error.text, '\n'), "%s",
                  error.text);
    gbees_results_destroy(results);
}

static inline void check_same(const gbees_snapshot *snapshot, const gbees_problem *problem, int count,
                              double tolerance)
{
    gbees_cells *cells = make_cells(problem->dimension, count);
    int32_t *index = malloc(((size_t)count + 1) * sizeof *index);
    double *p = malloc(((size_t)count + 1) * sizeof *p);

    ck_assert_uint_eq(snapshot->count, (size_t)count);
    for (int j = 0; j < problem->dimension; j++) {
        int32_t *columns[GBEES_MAX_DIM] = {NULL};

        columns[j] = index;
        gbees_cells_copy(cells, 0, (size_t)count, columns, p);
        ck_assert_mem_eq(index, snapshot->index[j], (size_t)count * sizeof *index);
        ck_assert_str_eq(snapshot->name[j], states[j].name);
        ck_assert_str_eq(snapshot->unit[j], states[j].unit);
        ck_assert_double_eq(snapshot->origin[j], problem->mean[j]);
        ck_assert_double_eq(snapshot->width[j], problem->width[j]);
    }
    for (int i = 0; i < count; i++)
        ck_assert_double_eq_tol(snapshot->p[i], p[i], tolerance);
    free(index);
    free(p);
    gbees_cells_destroy(cells);
}

#endif
