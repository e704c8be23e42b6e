/* plugin_compare.c - gbees-plugin check: the plugin on another processor, and on the CPU; see plugin.h. */
#include "plugin.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- compiled ---- */

typedef struct compiling {
    char first[256]; /* the backend's own words */
} compiling;

static void take_line(void *context, const char *line)
{
    compiling *c = context;

    if (!c->first[0])
        (void)snprintf(c->first, sizeof c->first, "%s", line);
}

void gbees_compare_compile(gbees_probe *probe)
{
    const char *arch = probe->options->arch;
    const gbees_backend *backend = NULL;
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    compiling c = {""};
    char why[512] = "";

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "compiled for %s", probe->options->backend);
    int status = gbees_probe_open(probe, &error);
    if (!status)
        status = gbees_registry_backend(probe->registry, probe->options->backend, &backend, &error);
    if (!status && !backend->compile) {
        gbees_probe_report(probe, GBEES_PROBE_OK, "this backend compiles nothing");
        return;
    }
    if (!status)
        status = gbees_probe_problem(probe, 0, NULL, &problem, &error);
    if (!status) {
        if (!arch && backend->probe(why, sizeof why))
            arch = "sm_90"; /* no GPU here: compile for a common one */
        status = backend->compile(problem, arch, take_line, &c, &error);
    }
    if (!status)
        gbees_probe_report(probe, GBEES_PROBE_OK, "%s", c.first);
    else if (status == GBEES_EBACKEND || status == GBEES_EUSAGE || status == GBEES_ENOMEM)
        gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: %s", error.text);
    else
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "%s", error.text);
    gbees_problem_destroy(problem);
}

/* ---- run: the last density goes to a file as the number of cells, then index and P of each ---- */

typedef struct cell {
    int32_t index[GBEES_MAX_DIM];
    double p;
} cell;

typedef struct density {
    cell *cells;
    size_t count;
    unsigned warnings;   /* of all records */
    gbees_totals totals; /* of the last one */
} density;

static int copy_cells(const gbees_record *record, density *to, gbees_error *error)
{
    const size_t count = record->cells ? gbees_cells_count(record->cells) : 0;

    free(to->cells);
    to->cells = calloc(count + 1, sizeof *to->cells);
    to->count = count;
    for (size_t i = 0; to->cells && i < count; i++) {
        int32_t *index[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < record->problem->dimension; j++)
            index[j] = &to->cells[i].index[j];
        gbees_cells_copy(record->cells, i, 1, index, &to->cells[i].p);
    }
    return to->cells ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a density");
}

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    density *last = context;

    last->warnings |= record->warnings;
    last->totals = record->totals;
    return copy_cells(record, last, error);
}

/* A tenth of the default scenario, without what is measured later. */
static int make_short(const gbees_probe *probe, gbees_problem **problem, gbees_error *error)
{
    gbees_problem *whole = NULL;
    char end[64];
    int status = gbees_probe_problem(probe, 0, NULL, &whole, error);

    if (status)
        return status;
    (void)snprintf(end, sizeof end, "end=%.17g", whole->start + (whole->end - whole->start) / 10);
    gbees_problem_destroy(whole);
    const char *const changes[] = {"precision=mixed", "records=1", end, NULL};
    return gbees_probe_problem(probe, 0, changes, problem, error);
}

/* Runs it on a backend, if that can be used here. */
static int run_short(gbees_probe *probe, const char *name, gbees_problem **problem, density *last, gbees_error *error)
{
    const gbees_engine_options options = {.threads = 0};
    const gbees_observer observer = {.context = last, .record = on_record};
    const gbees_backend *backend = NULL;
    gbees_solver *solver = NULL;
    char why[512] = "";
    int status = gbees_probe_open(probe, error);

    if (!status)
        status = gbees_registry_backend(probe->registry, name, &backend, error);
    if (!status && backend->probe(why, sizeof why))
        status = gbees_error_set(error, GBEES_EBACKEND, "%s", why);
    if (!status)
        status = make_short(probe, problem, error);
    if (!status)
        status = gbees_solver_create(*problem, backend, &options, &solver, error);
    if (!status)
        status = gbees_solver_run(solver, &observer, error);
    gbees_solver_destroy(solver);
    return status;
}

/* The first warning of a run that is over. A drift that jumps has been reported by a check of its own. Of a scenario
 * that asks for an accuracy this is the first of several runs: its cells are not those of the result. */
static void report_warnings(const gbees_probe *probe, const gbees_problem *problem, const density *last)
{
    const unsigned other =
        GBEES_WARNING_JUMP | (problem->accuracy > 0 ? GBEES_WARNING_WIDTH | GBEES_WARNING_NARROW : 0);
    const unsigned warnings = last->warnings & ~other;
    char text[GBEES_WARNING_TEXT];

    if (!warnings) {
        gbees_probe_report(probe, GBEES_PROBE_OK, "no warnings to t = %g", problem->end);
        return;
    }
    gbees_warning_text((gbees_warning)(warnings & -warnings), problem, &last->totals, text, sizeof text);
    gbees_probe_report(probe, GBEES_PROBE_WARN, "to t = %g: %s", problem->end, text);
}

void gbees_compare_monitor(gbees_probe *probe)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    density last = {0};

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "run, default");
    const int status = run_short(probe, "cpu", &problem, &last, &error);
    if (!status)
        report_warnings(probe, problem, &last);
    else if (status == GBEES_EMODEL || status == GBEES_ENUMERIC)
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "a short run fails: %s", error.text);
    else
        gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: %s", error.text);
    free(last.cells);
    gbees_problem_destroy(problem);
}

void gbees_compare_run(gbees_probe *probe)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    density last = {0};
    int status = run_short(probe, probe->backend, &problem, &last, &error);

    if (!status &&
        (fwrite(&last.count, sizeof last.count, 1, probe->cells) != 1 ||
         fwrite(last.cells, sizeof *last.cells, last.count, probe->cells) != last.count || fflush(probe->cells)))
        status = gbees_error_set(&error, GBEES_EIO, "the density can't be written: %s", strerror(errno));
    if (status == GBEES_EMODEL || status == GBEES_ENUMERIC)
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "a short run on %s fails: %s", probe->backend, error.text);
    else if (status)
        gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: %s", error.text);
    free(last.cells);
    gbees_problem_destroy(problem);
}

/* ---- compared ---- */

static int by_index(const void *a, const void *b)
{
    const cell *left = a, *right = b;

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        if (left->index[j] != right->index[j])
            return left->index[j] < right->index[j] ? -1 : 1;
    return 0;
}

static int read_density(FILE *file, density *d, gbees_error *error)
{
    rewind(file);
    int good = fread(&d->count, sizeof d->count, 1, file) == 1 && d->count <= SIZE_MAX / sizeof *d->cells - 1 &&
               (d->cells = malloc((d->count + 1) * sizeof *d->cells)) &&
               fread(d->cells, sizeof *d->cells, d->count, file) == d->count;

    if (!good)
        return gbees_error_set(error, GBEES_EIO, "the densities to compare can't be read back");
    qsort(d->cells, d->count, sizeof *d->cells, by_index);
    return GBEES_OK;
}

static double distance_of(const density *a, const density *b)
{
    double sum = 0;

    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : by_index(&a->cells[i], &b->cells[k]);

        sum += fabs((order <= 0 ? a->cells[i].p : 0) - (order >= 0 ? b->cells[k].p : 0));
        i += order <= 0;
        k += order >= 0;
    }
    return sum;
}

int gbees_compare_distance(FILE *a, FILE *b, double *distance, size_t *count, gbees_error *error)
{
    density first = {0}, second = {0};
    int status = read_density(a, &first, error);

    if (!status)
        status = read_density(b, &second, error);
    if (!status) {
        *distance = distance_of(&first, &second);
        *count = first.count;
    }
    free(first.cells);
    free(second.cells);
    return status;
}
