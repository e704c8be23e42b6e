/* plugin_check.c - gbees-plugin check, in the parent: starts a child for the checks on the CPU, one for a run
 * there, one for the other processor's compiler, and one for each of two runs; prints a line for each check. See
 * plugin.h. */
#include "plugin.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Densities of two backends may differ by this much: they sum in float in different orders. */
static const double densities_agree = 1e-4;

/* Compilations and runs take longer than the checks of equations. */
enum { LONGER = 12, NAME = 96 };

typedef struct verdicts {
    FILE *out;
    gbees_probe probe; /* the child's copy is filled */
    void (*task)(gbees_probe *probe);
    char current[NAME]; /* the check that has begun and has no verdict yet, or "" */
    int ok, notes, warnings, failed, stop;
} verdicts;

static void print(verdicts *v, int kind, const char *text)
{
    const char *word = kind == GBEES_PROBE_OK     ? "ok"
                       : kind == GBEES_PROBE_NOTE ? "note"
                       : kind == GBEES_PROBE_WARN ? "warning"
                                                  : "FAILED";

    (void)fprintf(v->out, "%-30s %s%s%s\n", v->current, word, *text ? ": " : "", text);
    v->ok += kind == GBEES_PROBE_OK;
    v->notes += kind == GBEES_PROBE_NOTE;
    v->warnings += kind == GBEES_PROBE_WARN;
    v->failed += kind == GBEES_PROBE_FAILED;
    v->current[0] = '\0';
}

static void begin(verdicts *v, const char *name)
{
    (void)snprintf(v->current, sizeof v->current, "%s", name);
}

static void hear(void *context, const char *line)
{
    verdicts *v = context;

    switch (line[0]) {
    case GBEES_PROBE_TEXT:
        (void)fprintf(v->out, "%s\n", line + 1);
        break;
    case GBEES_PROBE_BEGIN:
        begin(v, line + 1);
        break;
    case GBEES_PROBE_STOP:
        v->stop = 1;
        break;
    default:
        if (line[0])
            print(v, line[0], line + 1);
    }
    (void)fflush(v->out);
}

static void do_task(void *context, FILE *say)
{
    verdicts *v = context;

    v->probe.say = say;
    v->task(&v->probe);
}

/* A crash of the child is the verdict of its present check, and ends the checks of this plugin. That compilations and
 * runs (is_long) exceed their time limit is a note: the problem may be big, and the equations have returned before.
 */
static void run_child(verdicts *v, void (*task)(gbees_probe *), int is_long)
{
    const double seconds = (is_long ? LONGER : 1) * v->probe.options->time_limit;
    gbees_error error = {0};
    char text[128];

    v->task = task;
    const int status = gbees_child_run(do_task, hear, v, seconds, &error);
    if (status == GBEES_ECANCELLED && is_long) {
        (void)snprintf(text, sizeof text, "not checked: it takes longer than %g s; --time-limit gives it more",
                       seconds);
        print(v, GBEES_PROBE_NOTE, text);
    } else if (status) {
        print(v, GBEES_PROBE_FAILED, error.text);
        v->stop = 1;
    }
}

/* ---- runs ---- */

static void judge_distance(verdicts *v, FILE *const *cells)
{
    gbees_error error = {0};
    double distance = 0;
    size_t count = 0;
    char text[256];

    if (gbees_compare_distance(cells[0], cells[1], &distance, &count, &error)) {
        print(v, GBEES_PROBE_NOTE, error.text);
        return;
    }
    if (distance < densities_agree)
        (void)snprintf(text, sizeof text, "after a tenth of the run the sum of |P - Q| over %zu cells is %.2g", count,
                       distance);
    else
        (void)snprintf(text, sizeof text,
                       "after a tenth of the run the sum of |P - Q| over %zu cells is %.2g, not below %g: look for "
                       "what depends on the type `real`, or on more than the arguments",
                       count, distance, densities_agree);
    print(v, distance < densities_agree ? GBEES_PROBE_OK : GBEES_PROBE_FAILED, text);
}

/* Compares a run on the other backend with one on the CPU. The other comes first: if it can't be used here there is
 * nothing to compare. */
static void check_runs(verdicts *v)
{
    const gbees_plugin_options *options = v->probe.options;
    const char *const backends[] = {options->backend, "cpu"};
    FILE *cells[] = {tmpfile(), tmpfile()};
    char name[NAME];

    (void)snprintf(name, sizeof name, "run on %s and on the CPU", options->backend);
    begin(v, name);
    if (!cells[0] || !cells[1])
        print(v, GBEES_PROBE_NOTE, "not checked: no temporary file can be made");
    for (int k = 0; v->current[0] && k < 2; k++) {
        v->probe.backend = backends[k];
        v->probe.cells = cells[k];
        run_child(v, gbees_compare_run, 1);
    }
    if (v->current[0])
        judge_distance(v, cells);
    for (int k = 0; k < 2; k++)
        if (cells[k])
            (void)fclose(cells[k]);
}

static int check_subject(const char *subject, gbees_error *error)
{
    const char *dot = strrchr(subject, '.');

    if (dot && (!strcmp(dot, ".c") || !strcmp(dot, ".cc") || !strcmp(dot, ".cpp") || !strcmp(dot, ".cxx")))
        return gbees_error_set(error, GBEES_EUSAGE, "%s is a source file: first  gbees-plugin build %s", subject,
                               subject);
    return GBEES_OK;
}

int gbees_plugin_check(const gbees_plugin_options *options, FILE *out, int *failed, gbees_error *error)
{
    verdicts v = {.out = out, .probe = {.options = options}};
    int status = check_subject(options->subject, error);

    if (status)
        return status;
    run_child(&v, gbees_probe_run, 0);
    if (!v.stop)
        run_child(&v, gbees_probe_source, 1);
    /* After a failure on the CPU there is no comparison. */
    if (!v.stop && !v.failed)
        run_child(&v, gbees_compare_monitor, 1);
    if (!v.stop && !v.failed) {
        run_child(&v, gbees_compare_compile, 1);
        if (!v.stop && !v.failed)
            check_runs(&v);
    } else
        (void)fprintf(out, "not looked at for that: the plugin on %s\n", options->backend);
    (void)fprintf(out, "%s: ok %d, notes %d, warnings %d, FAILED %d\n", options->subject, v.ok, v.notes, v.warnings,
                  v.failed);
    if (v.warnings && !options->lenient)
        (void)fprintf(out, "a warning is a failure here: see to it, or say --no-strict\n");
    *failed = v.failed + (options->lenient ? 0 : v.warnings);
    return GBEES_OK;
}
