/* accuracy.c - runs on finer and finer grids until every record's certificate is within the problem's accuracy, or
 * time, memory or grids run out; the best run is reported and its results are kept. */
#include "base/memory.h"
#include "base/seconds.h"
#include "command/units.h"
#include "ranks.h"
#include "results/run/jsonl.h"
#include "search.h"
#include "signals.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double large_bend = 30; /* a frame that moves needs so many times the cells of a Gaussian, or more */

/* ---- messages ---- */

static void print_step(const gbees_search *s, const gbees_refinement_step *step)
{
    FILE *out = s->report->out;
    char updates[32];

    if (s->options->json) {
        char *line = gbees_jsonl_run(step);

        (void)fprintf(out, "%s\n", line ? line : "{}");
        free(line);
    } else if (!s->options->quiet) {
        (void)fprintf(out, "run %d: %s updates in %.3g s, error of the %s ", step->run,
                      gbees_units_count(updates, sizeof updates, step->updates), step->seconds,
                      gbees_print_accuracy_of(s->setup->problem->accuracy_of));
        if (isnan(step->error))
            (void)fprintf(out, "not certifiable with %zu samples", step->samples);
        if (isfinite(step->estimate))
            (void)fprintf(out, ", may be %.2g by the run before", step->estimate);
        if (isfinite(step->evidence_estimate))
            (void)fprintf(out, ", the log evidence %.2g", step->evidence_estimate);
        if (!isnan(step->error))
            (void)fprintf(out, "%s %.2g at t = %.6g", s->report->unicode ? "\u2264" : "<=", step->error, step->time);
        if (step->next)
            (void)fprintf(out, "; a finer one would take about %.2g s", step->next_seconds);
        (void)fprintf(out, "\n");
    }
    (void)fflush(out);
}

/* Says, before the second run, that a grid of the other kind may do with far less: in up to three dimensions one at
 * rest where the density is bent, in more than four one that moves (doc/notes/accuracy-runs.md). */
static void notice_frame(const gbees_search *s, const gbees_search_run *a, const gbees_refinement_step *step)
{
    const gbees_problem *problem = s->setup->problem;

    if (s->count != 1 || !step->next || s->options->quiet)
        return;
    if (problem->moving && problem->dimension <= 3 && a->run.bend >= large_bend)
        (void)fprintf(
            stderr,
            "gbees-run: at t = %g the density is so bent that a grid that moves needs up to %.2g times the cells "
            "of a Gaussian: one at rest ('frame: fixed') may reach the accuracy in far less time\n",
            a->run.bend_time, a->run.bend);
    if (!problem->moving && problem->dimension > 4)
        (void)fprintf(stderr,
                      "gbees-run: in %d dimensions a grid that moves ('frame: moving') may reach the accuracy in far "
                      "less time\n",
                      problem->dimension);
}

static const double worth_it = 1.1; /* times as many samples */

/* Why no further run is made, although the accuracy is not met; NULL: it is made. */
static const char *reason_to_stop(gbees_search *s, const gbees_refinement_step *step)
{
    const double limit =
        s->options->max_memory > 0 ? s->options->max_memory * 1073741824.0 : 0.8 * gbees_memory_available();
    /* A GPU's memory is its own: a run that does not fit fails, and the best one stays. */
    const int limited = s->options->max_memory > 0 || !s->setup->backend->capture;

    if (step->samples_few && s->options->samples)
        return "so few samples certify it on no grid (--audit): give more of them, or leave it to the program";
    if (step->samples_few && isnan(step->error))
        return "samples can't certify it, and more of them would take long";
    if (step->samples_few) {
        int length =
            snprintf(s->few, sizeof s->few,
                     "most of the error is that of %zu samples, which no finer grid makes smaller: ", step->samples);

        if ((double)step->samples_needed > worth_it * (double)step->samples)
            length += snprintf(s->few + length, sizeof s->few - (size_t)length,
                               "more would take long; give --audit %zu, or ", step->samples_needed);
        (void)snprintf(s->few + length, sizeof s->few - (size_t)length, "ask for %.2g with --audit %zu",
                       1.1 * step->error, step->samples);
        return s->few;
    }
    if (!step->next && step->estimate <= s->setup->problem->accuracy)
        return "samples are too few to certify it, but by runs on coarser cells it may be (an estimate, not a bound)";
    if (!step->next || s->count == GBEES_SEARCH_RUNS)
        return "finer grids do not help";
    if (s->options->max_time > 0 && gbees_seconds_now() - s->began_s + step->next_seconds > s->options->max_time)
        return "a finer run would exceed the time (--max-time)";
    if (limited && step->next_bytes > limit)
        return "a finer run would exceed the memory (--max-memory)";
    return NULL;
}

/* ---- all runs ---- */

/* Tells the plan what samples will be like. If that fails, the runs' audit reports why. */
static void expect_samples(gbees_search *s)
{
    const gbees_audit_options how = {
        .seed = 1, .threads = s->options->threads, .cancelled = gbees_one_run_is_late, .context = &s->stop_s};
    gbees_audit_outlook outlook;
    gbees_error ignored;

    if (!gbees_audit_look_out(s->setup->problem, &how, &outlook, &ignored))
        gbees_refinement_expect(s->refinement, &outlook);
}

/* After the failure of a run. A limit of the command ends the search, with *why; the first run is kept as far as it
 * has come. Returns the status of the search. */
static int stop_at(gbees_search *s, gbees_search_run *a, int status, const char **why, gbees_error *error)
{
    if (gbees_one_run_limit_reached(&a->run))
        *why = a->run.stop_bytes > 0 && (double)a->summary.totals.peak_bytes > a->run.stop_bytes
                   ? "a finer run exceeded the memory (--max-memory)"
                   : "a finer run exceeded the time (--max-time)";
    if (!s->best && a->run.solver && (a->run.writer || !s->setup->folder)) {
        s->best = a;
        return status;
    }
    gbees_search_run_free(a);
    if (*why)
        *error = (gbees_error){0};
    return *why ? GBEES_OK : status;
}

/* Takes a run that has ended to the others; *why receives why there is to be no further one, or NULL. */
static int add_run(gbees_search *s, gbees_search_run *a, const char **why, gbees_error *error)
{
    gbees_refinement_step *step = &s->steps[s->count];
    int status = gbees_refinement_finish(s->refinement, &a->summary, step, error);
    gbees_search_run *worse = a;

    if (status)
        return stop_at(s, a, status, why, error);
    gbees_one_run_close_solver(&a->run); /* the next run needs its memory and its ranks */
    s->count++;
    s->met = step->met == 1;
    print_step(s, step);
    notice_frame(s, a, step);
    *why = s->met ? NULL : reason_to_stop(s, step);
    if (step->best || !s->best) {
        worse = s->best;
        s->best = a;
    }
    gbees_search_run_free(worse);
    return GBEES_OK;
}

/* Drops a first run that has failed, in whose place another is planned. */
static int try_anew(gbees_search_run *a, gbees_error *error)
{
    (void)fprintf(stderr, "gbees-run: %s; cells four times narrower are tried\n", error->text);
    gbees_search_run_free(a);
    *error = (gbees_error){0};
    return GBEES_OK;
}

/* Runs until the accuracy is met or there is a reason to stop, which *why receives. Keeps the best run. */
static int run_until_met(gbees_search *s, const char **why, gbees_error *error)
{
    int status = GBEES_OK;

    while (!status && !*why && !s->met) {
        gbees_search_run *a = calloc(1, sizeof *a);

        if (!a)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run");
        status = gbees_search_run_make(s, a, error);
        status = gbees_refinement_retry(s->refinement, status) ? try_anew(a, error)
                 : status                                      ? stop_at(s, a, status, why, error)
                                                               : add_run(s, a, why, error);
    }
    return status;
}

/* Gives the best run's folder the name that was asked for. */
static int keep_folder(gbees_search *s, const char *state, gbees_error *error)
{
    gbees_search_run *best = s->best;
    int status = GBEES_OK;

    if (!best->folder)
        return GBEES_OK;
    if (s->count > 0)
        status = gbees_writer_runs(best->run.writer, s->steps, s->count, error);
    if (!status)
        status = gbees_writer_finish(best->run.writer, state, &best->summary, error);
    if (!status && rename(best->folder, s->setup->folder))
        status = gbees_error_set(error, GBEES_EIO, "the results in %s can't be renamed to %s: %s", best->folder,
                                 s->setup->folder, strerror(errno));
    free(best->folder); /* it is no longer to be removed */
    best->folder = NULL;
    return status;
}

/* Names the records that samples have not certified, where the others are within the accuracy. */
static void print_unsure(const gbees_refinement_step *step, FILE *out)
{
    if (step->met != 1 || step->unsure == 0)
        return;
    (void)fprintf(out, "not certified by so few samples: %d record%s, at t =", step->unsure,
                  step->unsure == 1 ? "" : "s");
    for (int k = 0; k < step->unsure && k < GBEES_UNSURE_LISTED; k++)
        (void)fprintf(out, "%s %.6g", k ? "," : "", step->unsure_time[k]);
    (void)fprintf(out, "%s\n", step->unsure > GBEES_UNSURE_LISTED ? " ..." : "");
}

/* Prints the best run's report, and what has become of the accuracy. */
static int print_best(gbees_search *s, const char *why, const gbees_error *failure, gbees_error *error)
{
    gbees_search_run *best = s->best;
    const gbees_problem *problem = s->setup->problem;
    FILE *out = s->report->out;
    int status = gbees_report_summary(&best->report, &best->setup, &best->summary, failure, error);

    (void)fclose(best->report.out);
    best->report.out = NULL;
    if (best->size)
        (void)fwrite(best->text, 1, best->size, out);
    if (!s->options->json && !s->options->quiet && s->count > 0) {
        (void)fprintf(out, "accuracy %g of the %s: %s%s%s\n", problem->accuracy,
                      gbees_print_accuracy_of(problem->accuracy_of), s->met ? "met" : "not met", why ? ": " : "",
                      why ? why : "");
        print_unsure(&s->steps[s->count - 1], out);
        if (!s->met && s->steps[s->count - 1].next)
            (void)fprintf(out, "a finer run would take about %.2g s\n", s->steps[s->count - 1].next_seconds);
    }
    return status ? status : gbees_print_flush(out, error);
}

/* Reports the best run and finishes its folder; `status` and *failure: how the runs ended. Returns the exit status.
 */
static int conclude(gbees_search *s, int status, const char *why, gbees_error *failure)
{
    gbees_error late = {0};
    gbees_search_run *best = s->best;

    const int failed = s->count == 0 && status && status != GBEES_ECANCELLED; /* of which its error says enough */

    if (!s->met)
        best->summary.warnings |= failed ? 0 : GBEES_WARNING_ACCURACY;
    else /* the certificates have the effect of narrow marginals, and of tails that measurements select */
        best->summary.warnings &= ~(unsigned)(GBEES_WARNING_NARROW | GBEES_WARNING_FRAME_CELLS | GBEES_WARNING_TAIL);
    int first = keep_folder(s,
                            s->count > 0                 ? "complete"
                            : status == GBEES_ECANCELLED ? "cancelled"
                                                         : "failed",
                            &late);
    if (!status && first) {
        *failure = late;
        status = first;
    }
    gbees_search_end(s);
    if (!status)
        status = gbees_check_warnings(s->options, &best->summary, failure);
    if (!status)
        status = gbees_one_run_compare(&best->run, &best->summary, failure);
    first = print_best(s, why, status ? failure : NULL, &late);
    if (status)
        gbees_report_error(s->report, failure);
    else if (first) {
        *failure = late;
        status = first;
        (void)fprintf(stderr, "gbees-run: %s\n", failure->text);
    }
    if (gbees_one_run_limit_reached(&best->run) && status == GBEES_ECANCELLED)
        return GBEES_EXIT_FAILED;
    return status ? gbees_exit_code(failure, 1) : EXIT_SUCCESS;
}

/* Sets what the plan needs. */
static int prepare(gbees_search *s, gbees_error *error)
{
    const int status = gbees_refinement_create(s->setup->problem, &s->refinement, error);

    if (status)
        return status;
    if (s->options->samples)
        gbees_refinement_fix(s->refinement, s->options->samples);
    else
        expect_samples(s);
    return GBEES_OK;
}

int gbees_command_accuracy(const gbees_options *options, gbees_registry *registry, gbees_setup *setup,
                           gbees_report *report, const char *command)
{
    gbees_search s = {.options = options,
                      .registry = registry,
                      .setup = setup,
                      .report = report,
                      .command = command,
                      .began_s = gbees_seconds_now()};
    s.stop_s = options->max_time > 0 ? s.began_s + options->max_time : 0;
    gbees_error failure = {0}, ignored;
    const gbees_backend *const backend = setup->backend; /* a run may change over to another */
    gbees_hold *hold = NULL;                             /* what the engines of all runs share */
    const char *why = NULL;
    int code, status;

    gbees_signals_listen();
    if (backend->hold && backend->hold(&hold, &ignored))
        hold = NULL; /* each run opens everything anew */
    status = prepare(&s, &failure);
    if (!status)
        status = run_until_met(&s, &why, &failure);
    if (s.best)
        code = conclude(&s, status, why, &failure);
    else {
        gbees_search_end(&s);
        gbees_report_error(report, &failure);
        code = gbees_exit_code(&failure, 0);
    }
    gbees_search_run_free(s.best);
    if (options->parallel)
        gbees_ranks_end_runs(options->parallel);
    gbees_audit_destroy(s.audit);
    gbees_refinement_destroy(s.refinement);
    if (hold)
        backend->release(hold);
    return code;
}
