/* accuracy.c - runs on finer and finer grids until every record's certificate is within the problem's accuracy, or
 * time, memory or grids run out; the best run is reported and its results are kept. */
#include "base/memory.h"
#include "base/text.h"
#include "io/jsonl.h"
#include "io/scenario.h"
#include "io/store.h"
#include "one_run.h"
#include "ranks.h"
#include "signals.h"
#include "units.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS_MOST = 16 };

static const double large_bend = 30; /* a frame that moves needs so many times the cells of a Gaussian, or more */

/* A run of the ladder: its own scenario and problem, its folder until it is known to be the best, and its report as
 * text. */
typedef struct attempt {
    gbees_setup setup;     /* owns scenario and problem; the rest is the command's */
    gbees_options options; /* the command's, with as many samples as the run has */
    gbees_one_run run;
    gbees_report report;
    gbees_summary summary;
    char *folder;
    char *text; /* what the report has printed */
    size_t size;
} attempt;

typedef struct ladder {
    const gbees_options *options;
    gbees_registry *registry;
    gbees_setup *setup; /* the command's: the problem as it was asked for */
    gbees_report *report;
    const char *command;
    gbees_refinement *refinement;
    gbees_audit *audit;
    size_t samples; /* of the audit */
    attempt *best;  /* NULL: none has ended */
    gbees_refinement_step steps[RUNS_MOST];
    int count, met; /* runs so far; 1: the best is within the accuracy */
    int folders;    /* the number of the last folder */
    double began_s;
} ladder;

/* ---- a run ---- */

/* Removes a folder of results: files only. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);

    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." fail */
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}

/* Frees a run; its folder is removed unless it has been taken over. */
static void attempt_free(attempt *a)
{
    if (!a)
        return;
    gbees_one_run_close(&a->run);
    if (a->folder)
        remove_folder(a->folder);
    if (a->report.out)
        (void)fclose(a->report.out);
    free(a->folder);
    free(a->text);
    gbees_problem_destroy(a->setup.problem);
    gbees_scenario_destroy(a->setup.scenario);
    free(a);
}

/* Names the run's folder, as in "results/lorenz63.run2": the first that does not exist, as a run that was killed may
 * have left one. */
static int name_folder(ladder *l, char **folder, gbees_error *error)
{
    for (;;) {
        gbees_text text = {0};

        gbees_text_add(&text, "%s.run%d", l->setup->folder, ++l->folders);
        char *path = gbees_text_take(&text);
        if (!path)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW)) {
            *folder = path;
            return GBEES_OK;
        }
        int status = gbees_store_check(path, error);
        free(path);
        if (status)
            return status;
    }
}

/* Makes the run's folder. If that fails a->folder is NULL: a folder that the run has not made must not be removed. */
static int make_folder(ladder *l, attempt *a, gbees_error *error)
{
    char *folder = NULL;
    int status = l->setup->folder ? name_folder(l, &folder, error) : GBEES_OK;

    if (!status)
        status = gbees_one_run_write_to(&a->run, folder, l->command, error);
    if (status)
        free(folder);
    else
        a->folder = folder;
    return status;
}

/* Sets the scheme that reaches an accuracy with the fewest cells, unless the scenario has one. */
static int choose_scheme(gbees_scenario *scenario, gbees_error *error)
{
    return gbees_scenario_find(scenario, "scheme") ? GBEES_OK
                                                   : gbees_scenario_set(scenario, "scheme=split7-mp", error);
}

/* Copies the scenario without the key `accuracy`, so that the scenario in a run's results repeats this run alone. */
static int copy_scenario(const ladder *l, attempt *a, gbees_error *error)
{
    const char *line = gbees_scenario_text(l->setup->scenario);
    gbees_text text = {0};

    for (size_t length; line && *line; line += length) {
        length = strcspn(line, "\n");
        length += line[length] == '\n';
        if (strncmp(line, "accuracy", strlen("accuracy")) != 0)
            gbees_text_add(&text, "%.*s", (int)length, line);
    }
    char *copy = line ? gbees_text_take(&text) : NULL;
    int status = copy ? gbees_scenario_create(copy, "the scenario", &a->setup.scenario, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    free(copy);
    return status;
}

static int make_problem(const ladder *l, attempt *a, gbees_error *error)
{
    int status = copy_scenario(l, a, error);

    if (!status)
        status = choose_scheme(a->setup.scenario, error);
    if (!status)
        status = gbees_refinement_scenario(l->refinement, a->setup.scenario, error);
    if (!status)
        status = gbees_problem_create(a->setup.model, a->setup.scenario, &a->setup.problem, error);
    if (!status) { /* certificates tell whether records are within the accuracy */
        a->setup.problem->accuracy = l->setup->problem->accuracy;
        a->setup.problem->accuracy_of = l->setup->problem->accuracy_of;
    }
    return status;
}

/* Tells the plan how many samples the measurements leave effective. If that fails, the runs' audit reports why. */
static void expect_samples(const ladder *l)
{
    double share;
    gbees_error ignored;

    if (!gbees_audit_effective(l->setup->problem, l->options->threads, &share, &ignored))
        gbees_refinement_expect(l->refinement, share);
}

/* Makes the audit with as many samples as the next run needs, or rewinds the present one to the start. */
static int prepare_audit(ladder *l, gbees_error *error)
{
    const size_t wanted = gbees_refinement_samples(l->refinement);
    const gbees_audit_options how = {
        .samples = wanted, .seed = 1, .threads = l->options->threads, .keep = 1, .backend = l->setup->backend};

    if (l->audit && wanted == l->samples) {
        gbees_audit_rewind(l->audit);
        return GBEES_OK;
    }
    gbees_audit_destroy(l->audit);
    l->audit = NULL;
    l->samples = wanted;
    return gbees_audit_create(l->setup->problem, &how, &l->audit, error);
}

static int attempt_open(ladder *l, attempt *a, gbees_error *error)
{
    int status = make_problem(l, a, error);

    if (!status && l->options->parallel)
        status = gbees_ranks_send_run(l->options->parallel, &a->setup, error);
    else if (!status)
        status = gbees_check_memory(&a->setup, error);
    if (!status)
        status = gbees_one_run_open(&a->run, l->options, l->registry, error);
    l->setup->backend = a->setup.backend; /* which may have been replaced by the CPU's */
    if (!status && !l->setup->why_no_gpu[0] && a->setup.why_no_gpu[0])
        memcpy(l->setup->why_no_gpu, a->setup.why_no_gpu, sizeof l->setup->why_no_gpu);
    if (!status)
        status = prepare_audit(l, error);
    if (!status)
        status = make_folder(l, a, error);
    a->run.audit = l->audit;
    a->options = *l->options;
    a->options.samples = l->samples;
    a->run.options = &a->options;
    return status;
}

/* Keeps the folder of a run that was interrupted and can be resumed, beside the best one's. */
static void keep_interrupted(attempt *a, gbees_error *error)
{
    if (!a->folder || !a->run.checkpointed)
        return;
    gbees_resumption_hint(a->folder, error);
    free(a->folder);
    a->folder = NULL;
}

/* One run, from its scenario to its summary. The report is kept as text. */
static int attempt_run(ladder *l, attempt *a, gbees_error *error)
{
    int status;

    a->setup = *l->setup;
    a->setup.scenario = NULL;
    a->setup.problem = NULL;
    a->report = *l->report;
    a->report.warned = ~0u; /* the summary has the best run's warnings; those of the others are not reported */
    a->report.out = open_memstream(&a->text, &a->size);
    a->run = (gbees_one_run){.setup = &a->setup,
                             .options = l->options,
                             .report = &a->report,
                             .refinement = l->refinement,
                             .console = l->report->out};
    if (l->options->max_time > 0 && l->best)
        a->run.stop_s = l->began_s + l->options->max_time;
    if (!a->report.out)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run's report");
    status = attempt_open(l, a, error);
    if (!status && l->count == 0 && l->setup->why_no_gpu[0] && !l->options->quiet)
        (void)fprintf(stderr, "gbees-run: running on the CPU: %s\n", l->setup->why_no_gpu);
    if (!status) {
        gbees_one_run_limit_memory(&a->run, l->best ? l->options->max_memory : 0);
        status = gbees_one_run_propagate(&a->run, l->options, error);
    }
    if (!status && a->run.writer)
        gbees_writer_remove_checkpoints(a->run.writer);
    if (a->run.solver)
        gbees_solver_summary(a->run.solver, &a->summary);
    return status;
}

/* ---- messages ---- */

static const char *name_of(gbees_accuracy_of of)
{
    return of == GBEES_ACCURACY_DENSITY ? "density" : of == GBEES_ACCURACY_MARGINALS ? "marginals" : "moments";
}

static void print_step(const ladder *l, const gbees_refinement_step *step)
{
    FILE *out = l->report->out;
    char updates[32];

    if (l->options->json) {
        char *line = gbees_jsonl_run(step);

        (void)fprintf(out, "%s\n", line ? line : "{}");
        free(line);
    } else if (!l->options->quiet) {
        (void)fprintf(out, "run %d: %s updates in %.3g s, error of the %s ", step->run,
                      gbees_units_count(updates, sizeof updates, step->updates), step->seconds,
                      name_of(l->setup->problem->accuracy_of));
        if (isnan(step->error))
            (void)fprintf(out, "not certifiable with %zu samples", step->samples);
        if (isfinite(step->estimate))
            (void)fprintf(out, ", may be %.2g by the run before", step->estimate);
        if (isfinite(step->evidence_estimate))
            (void)fprintf(out, ", the log evidence %.2g", step->evidence_estimate);
        if (!isnan(step->error))
            (void)fprintf(out, "%s %.2g at t = %.6g", l->report->unicode ? "\u2264" : "<=", step->error, step->time);
        if (step->next)
            (void)fprintf(out, "; a finer one would take about %.2g s", step->next_seconds);
        (void)fprintf(out, "\n");
    }
    (void)fflush(out);
}

/* Says, before the second run, that a grid at rest may do with far less than one that moves. */
static void notice_bend(const ladder *l, const attempt *a, const gbees_refinement_step *step)
{
    if (l->count != 1 || !step->next || l->options->quiet || a->run.bend < large_bend)
        return;
    (void)fprintf(
        stderr,
        "gbees-run: at t = %g the density is so bent that a grid that moves needs up to %.2g times the cells "
        "of a Gaussian: one at rest ('frame: fixed') may reach the accuracy in far less time\n",
        a->run.bend_time, a->run.bend);
}

/* Why no further run is made, although the accuracy is not met; NULL: it is made. */
static const char *reason_to_stop(const ladder *l, const gbees_refinement_step *step)
{
    const double limit =
        l->options->max_memory > 0 ? l->options->max_memory * 1073741824.0 : 0.8 * gbees_memory_available();
    /* A GPU's memory is its own: a run that does not fit fails, and the best one stays. */
    const int limited = l->options->max_memory > 0 || !l->setup->backend->capture;

    if (step->samples_few)
        return "so few samples certify it on no grid (--audit): give more of them, or leave it to the program";
    if (!step->next && step->estimate <= l->setup->problem->accuracy)
        return "samples are too few to certify it, but by runs on coarser cells it may be (an estimate, not a bound)";
    if (!step->next || l->count == RUNS_MOST)
        return "finer grids do not help";
    if (l->options->max_time > 0 && gbees_progress_now_s() - l->began_s + step->next_seconds > l->options->max_time)
        return "a finer run would exceed the time (--max-time)";
    if (limited && step->next_bytes > limit)
        return "a finer run would exceed the memory (--max-memory)";
    return NULL;
}

/* ---- all of them ---- */

/* Runs until the accuracy is met or there is a reason to stop, which *why receives. Keeps the best run. */
static int run_until_met(ladder *l, const char **why, gbees_error *error)
{
    int status = GBEES_OK;

    for (*why = NULL; !status && !*why && !l->met;) {
        gbees_refinement_step *step = &l->steps[l->count];
        attempt *a = calloc(1, sizeof *a);

        if (!a)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run");
        status = attempt_run(l, a, error);
        if (!status)
            status = gbees_one_run_finish(&a->run, status, &a->summary, error);
        if (!status)
            status = gbees_refinement_finish(l->refinement, &a->summary, step, error);
        if (status) {
            if (a->run.stopped_by && !gbees_signals_caught())
                *why = a->run.stop_bytes > 0 && (double)a->summary.totals.peak_bytes > a->run.stop_bytes
                           ? "a finer run exceeded the memory (--max-memory)"
                           : "a finer run exceeded the time (--max-time)";
            if (!l->best && a->run.solver &&
                (a->folder || !l->setup->folder)) { /* what there is of the only run is kept */
                l->best = a;
                if (a->run.checkpointed)
                    gbees_resumption_hint(l->setup->folder, error);
                return status;
            }
            if (!*why)
                keep_interrupted(a, error);
            attempt_free(a);
            return *why ? GBEES_OK : status;
        }
        gbees_one_run_close_solver(&a->run); /* the next run needs its memory and its ranks */
        l->count++;
        l->met = step->met == 1;
        print_step(l, step);
        notice_bend(l, a, step);
        if (!l->met)
            *why = reason_to_stop(l, step);
        if (step->best || !l->best) {
            attempt_free(l->best);
            l->best = a;
        } else
            attempt_free(a);
    }
    return status;
}

/* Gives the best run's folder the name that was asked for. */
static int keep_folder(ladder *l, const char *state, gbees_error *error)
{
    attempt *best = l->best;
    int status = GBEES_OK;

    if (!best->folder)
        return GBEES_OK;
    if (l->count > 0)
        status = gbees_writer_runs(best->run.writer, l->steps, l->count, error);
    if (!status)
        status = gbees_writer_finish(best->run.writer, state, &best->summary, error);
    if (!status && rename(best->folder, l->setup->folder))
        status = gbees_error_set(error, GBEES_EIO, "the results in %s can't be renamed to %s: %s", best->folder,
                                 l->setup->folder, strerror(errno));
    free(best->folder); /* it is no longer to be removed */
    best->folder = NULL;
    return status;
}

/* Prints the best run's report, and what has become of the accuracy. */
static int print_best(ladder *l, const char *why, const gbees_error *failure, gbees_error *error)
{
    attempt *best = l->best;
    const gbees_problem *problem = l->setup->problem;
    FILE *out = l->report->out;
    int status = gbees_report_summary(&best->report, &best->setup, &best->summary, failure, error);

    (void)fclose(best->report.out);
    best->report.out = NULL;
    if (best->size)
        (void)fwrite(best->text, 1, best->size, out);
    if (!l->options->json && !l->options->quiet && l->count > 0) {
        (void)fprintf(out, "accuracy %g of the %s: %s%s%s\n", problem->accuracy, name_of(problem->accuracy_of),
                      l->met ? "met" : "not met", why ? ": " : "", why ? why : "");
        if (!l->met && l->steps[l->count - 1].next)
            (void)fprintf(out, "a finer run would take about %.2g s\n", l->steps[l->count - 1].next_seconds);
    }
    return status ? status : gbees_print_flush(out, error);
}

/* Reports the best run and finishes its folder; `status` and *failure: how the runs ended. Returns the exit status.
 */
static int conclude(ladder *l, int status, const char *why, gbees_error *failure)
{
    gbees_error late = {0};
    attempt *best = l->best;

    if (!l->met)
        best->summary.warnings |= GBEES_WARNING_ACCURACY;
    else /* the certificates have the effect of narrow marginals */
        best->summary.warnings &= ~(unsigned)(GBEES_WARNING_NARROW | GBEES_WARNING_FRAME_CELLS);
    int first = keep_folder(l,
                            l->count > 0                 ? "complete"
                            : status == GBEES_ECANCELLED ? "cancelled"
                                                         : "failed",
                            &late);
    if (!status && first) {
        *failure = late;
        status = first;
    }
    if (!status)
        status = gbees_check_warnings(l->options, &best->summary, failure);
    if (!status)
        status = gbees_one_run_compare(&best->run, &best->summary, failure);
    first = print_best(l, why, status ? failure : NULL, &late);
    if (status)
        gbees_report_error(l->report, failure);
    else if (first) {
        *failure = late;
        status = first;
        (void)fprintf(stderr, "gbees-run: %s\n", failure->text);
    }
    return status ? gbees_exit_code(failure, 1) : EXIT_SUCCESS;
}

int gbees_command_accuracy(const gbees_options *options, gbees_registry *registry, gbees_setup *setup,
                           gbees_report *report, const char *command)
{
    ladder l = {.options = options,
                .registry = registry,
                .setup = setup,
                .report = report,
                .command = command,
                .began_s = gbees_progress_now_s()};
    gbees_error failure = {0}, ignored;
    const gbees_backend *const backend = setup->backend; /* a run may change over to another */
    gbees_hold *hold = NULL;                             /* what the engines of all runs share */
    const char *why = NULL;
    int code, status = gbees_refinement_create(setup->problem, &l.refinement, &failure);

    gbees_signals_listen();
    if (backend->hold && backend->hold(&hold, &ignored))
        hold = NULL; /* each run opens everything anew */
    if (!status && options->samples)
        gbees_refinement_fix(l.refinement, options->samples);
    else if (!status)
        expect_samples(&l);
    if (!status)
        status = run_until_met(&l, &why, &failure);
    if (l.best)
        code = conclude(&l, status, why, &failure);
    else {
        gbees_report_error(report, &failure);
        code = gbees_exit_code(&failure, 0);
    }
    attempt_free(l.best);
    if (options->parallel)
        gbees_ranks_end_runs(options->parallel);
    gbees_audit_destroy(l.audit);
    gbees_refinement_destroy(l.refinement);
    if (hold)
        backend->release(hold);
    return code;
}
