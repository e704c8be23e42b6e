/* one_run.c - opens a solver, propagates it to the end or to a limit, and passes what it observes to writer, report,
 * progress bar and comparison. */
#include "one_run.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "command/units.h"
#include "compare.h"
#include "signals.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char lack_of_memory[] = "lack of memory";
static const double most_of_free = 0.9; /* of the memory that is free at the start: a run stops there */

/* ---- functions that the solver calls ---- */

/* Adds to a certificate what the run before lets estimate: the total variation and, if it can't tell the error, that
 * of the moments. */
static int add_estimates(const gbees_one_run *r, const gbees_record *record, gbees_certificate *certificate,
                         gbees_error *error)
{
    const int status = gbees_refinement_variation(r->refinement, record, &certificate->variation, error);

    if (status || !certificate->reason[0])
        return status;
    certificate->estimate = gbees_refinement_estimate(r->refinement, record);
    if (!isnan(certificate->estimate)) {
        const size_t used = strlen(certificate->reason);

        (void)snprintf(certificate->reason + used, sizeof certificate->reason - used,
                       "; by a run on coarser cells means and standard deviations may be off by %.2g (an estimate, "
                       "not a bound)",
                       certificate->estimate);
    }
    return GBEES_OK;
}

/* Writes the record to disk before it is printed. */
static int on_record(void *context, const gbees_record *made, gbees_error *error)
{
    gbees_one_run *r = context;
    gbees_record completed = *made;
    gbees_certificate certificate;
    gbees_score score;
    const gbees_record *record = &completed;
    int status = GBEES_OK;

    if (r->refinement && made->certificate) {
        certificate = *made->certificate;
        status = add_estimates(r, made, &certificate, error);
        completed.certificate = &certificate;
    }
    if (made->frame.bend > r->bend) {
        r->bend = made->frame.bend;
        r->bend_time = made->time;
    }
    if (r->setup->truth && gbees_truth_score(r->setup->truth, made, &score))
        completed.score = &score;
    if (!status && r->writer)
        status = gbees_writer_record(r->writer, record, error);
    if (!status && r->refinement)
        status = gbees_refinement_record(r->refinement, record, error);
    if (!status && r->comparison)
        status = gbees_compare_keep(r->comparison, record, error);
    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    if (!status)
        status = gbees_report_record(r->report, record, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

/* Writes and prints a record given all measurements. */
static int on_smoothed(void *context, const gbees_record *record, gbees_error *error)
{
    gbees_one_run *r = context;
    int status = r->writer ? gbees_writer_smoothed(r->writer, record, error) : GBEES_OK;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    if (!status)
        status = gbees_report_record(r->report, record, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int on_step(void *context, const gbees_record *record, gbees_error *error)
{
    const gbees_one_run *r = context;

    return gbees_writer_step(r->writer, record, error);
}

static int on_update(void *context, const gbees_problem *problem, int number, double time,
                     const gbees_evidence *evidence, gbees_error *error)
{
    gbees_one_run *r = context;
    int status = r->writer ? gbees_writer_update(r->writer, number, time, evidence, error) : GBEES_OK;

    if (!status && r->refinement)
        status = gbees_refinement_update(r->refinement, number, evidence, error);
    if (r->comparison)
        gbees_comparison_update(r->comparison);

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    if (!status)
        status = gbees_report_update(r->report, problem, number, time, evidence, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int on_jump(void *context, const gbees_problem *problem, int number, double time, gbees_error *error)
{
    gbees_one_run *r = context;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    const int status = gbees_report_jump(r->report, problem, number, time, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int on_progress(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    gbees_one_run *r = context;
    int status = GBEES_OK;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_show(&r->progress, time, fraction, totals);
    if (r->progress.stream != stderr)
        status = gbees_print_flush(r->progress.stream, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

/* What the folder does not have yet reaches it also within a step that does not end. */
static int on_idle(void *context, gbees_error *error)
{
    const gbees_one_run *r = context;

    return gbees_writer_sync(r->writer, error);
}

static int is_checkpoint_due(void *context)
{
    gbees_one_run *r = context;
    const double now = gbees_seconds_now();

    if (!gbees_signals_take_request() && !(r->options->every > 0 && now >= r->next_checkpoint_s))
        return 0;
    r->next_checkpoint_s = now + 60 * r->options->every;
    return 1;
}

/* Without memory for it the run goes on, and the checkpoint before it stays. */
static int on_checkpoint(void *context, gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_one_run *r = context;
    gbees_error cause = {0};
    int status = gbees_resumption_save(r->setup, r->options, checkpoint, &cause);

    if (!status)
        status = gbees_writer_checkpoint(r->writer, checkpoint, &cause);
    r->checkpointed = r->checkpointed || !status;
    const char *before = r->checkpointed ? "the one before it is kept" : "there is none before it";
    if (status != GBEES_ENOMEM)
        return status ? gbees_error_set(error, (gbees_status)status, "no checkpoint was written: %s; %s", cause.text,
                                        before)
                      : GBEES_OK;
    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    (void)fprintf(stderr, "gbees-run: no checkpoint was written: %s; %s\n", cause.text, before);
    (void)pthread_mutex_unlock(&r->lock);
    return GBEES_OK;
}

static int is_over_memory(const gbees_one_run *run)
{
    gbees_summary summary;

    if (!(run->stop_bytes > 0))
        return 0;
    gbees_solver_summary(run->solver, &summary);
    return (double)summary.totals.peak_bytes > run->stop_bytes;
}

int gbees_one_run_is_late(void *context)
{
    const double stop_s = *(const double *)context;

    return gbees_signals_caught() || (stop_s > 0 && gbees_seconds_now() > stop_s);
}

/* Whether a limit or a signal ends the run: asked before each call to the backend. */
static int is_cancelled(void *context)
{
    gbees_one_run *r = context;

    if (!r->stopped_by && is_over_memory(r))
        r->stopped_by = r->memory_option ? "--max-memory" : lack_of_memory;
    if (!r->stopped_by && r->stop_s > 0 && gbees_seconds_now() > r->stop_s)
        r->stopped_by = "--max-time";
    const int ends = gbees_signals_caught() || r->stopped_by;
    if (ends)
        gbees_signals_limit(0); /* to write a checkpoint may take any time */
    return ends;
}

/* ---- a run ---- */

static int is_interrupted(void *context)
{
    (void)context;
    return gbees_signals_caught();
}

/* Makes what the filters of --compare need of the run's records. */
static int begin_comparison(gbees_one_run *run, const gbees_options *options, gbees_error *error)
{
    const gbees_comparison_options how = {.rivals = options->rivals,
                                          .threads = options->threads,
                                          .truth = run->setup->truth,
                                          .cancelled = is_interrupted};

    if (options->rivals.count == 0)
        return GBEES_OK;
    return gbees_comparison_create(run->setup->problem, &how, &run->comparison, error);
}

int gbees_is_audited(const gbees_setup *setup, const gbees_options *options)
{
    return options->audit && (!gbees_problem_is_exact(setup->problem) || options->samples > 0);
}

int gbees_exit_code(const gbees_error *failure, int began)
{
    if (failure->status == GBEES_ECANCELLED)
        return GBEES_EXIT_SIGNAL + (gbees_signals_caught() ? gbees_signals_caught() : SIGPIPE);
    began |= failure->status == GBEES_ENOMEM || failure->status == GBEES_ENUMERIC;
    return began ? GBEES_EXIT_FAILED : GBEES_EXIT_BAD_INPUT;
}

/* The memory that a grid on the CPU may take where the user gives no limit, in bytes; 0: on a GPU, or not known. */
static double default_memory(const gbees_setup *setup)
{
    const double available = setup->backend->capture ? INFINITY : gbees_memory_available();

    return isfinite(available) ? most_of_free * available : 0;
}

gbees_engine_options gbees_one_run_engine(const gbees_options *options)
{
    return (gbees_engine_options){.threads = options->threads,
                                  .deterministic = options->deterministic,
                                  .memory_bytes = options->max_memory * 1073741824.0,
                                  .ranks_per_gpu = options->ranks_per_gpu,
                                  .parallel = options->parallel};
}

int gbees_one_run_open(gbees_one_run *run, const gbees_options *options, gbees_registry *registry, gbees_error *error)
{
    gbees_engine_options engine = gbees_one_run_engine(options);
    gbees_setup *setup = run->setup;
    int status = begin_comparison(run, options, error);

    if (!(engine.memory_bytes > 0) && setup->problem->raise_threshold) /* before the limit would stop the run */
        engine.memory_bytes = default_memory(setup);
    if (options->parallel)
        status = gbees_parallel_agree(options->parallel, status, error);

    if (status)
        return status;
    if (run->from)
        return gbees_solver_resume(setup->problem, setup->backend, &engine, run->from->checkpoint, &run->solver,
                                   error);
    status = gbees_solver_create(setup->problem, setup->backend, &engine, &run->solver, error);

    if (status != GBEES_EBACKEND || strcmp(options->backend, "auto") != 0 || setup->why_no_gpu[0])
        return status;
    gbees_error why = error ? *error : (gbees_error){0};
    status = gbees_setup_use_cpu(setup, registry, why.text, error);
    return status ? status : gbees_solver_create(setup->problem, setup->backend, &engine, &run->solver, error);
}

int gbees_one_run_write_to(gbees_one_run *run, const char *folder, const char *command, gbees_error *error)
{
    const gbees_setup *setup = run->setup;
    const gbees_provenance provenance = {.scenario = gbees_scenario_text(setup->scenario),
                                         .backend = setup->backend->name,
                                         .device = setup->backend->title,
                                         .command = command};

    if (!folder)
        return GBEES_OK;
    if (!provenance.scenario)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    int status = run->from ? gbees_writer_resume(folder, setup->problem, &provenance, run->from->checkpoint,
                                                 run->from->forced, &run->writer, error)
                           : gbees_writer_create(folder, setup->problem, &provenance, &run->writer, error);
    if (!status && !run->from && !setup->output->records_apart)
        status = gbees_writer_one_file(run->writer, error);
    if (!status)
        gbees_writer_output(run->writer, setup->output);
    return status;
}

/* Whether a comparison computes marginals from cells, as those of the backend are along other axes than it needs. */
static int compares_cells(const gbees_one_run *run)
{
    const gbees_setup *setup = run->setup;

    return run->comparison && (!run->audit || !setup->backend->marginals || setup->problem->moving);
}

/* Whether few records need cells: a run of an accuracy, or beside other filters, that writes no records and whose
 * backend computes marginals needs only the cells of records whose joint density is compared. To fetch more cells
 * would take longer than to compute them. */
static int needs_few_cells(const gbees_one_run *run)
{
    return (run->refinement || run->comparison) && !run->writer && !run->setup->truth && !compares_cells(run) &&
           run->setup->backend->marginals;
}

static int writes_densities(const gbees_one_run *run)
{
    return run->writer && run->setup->output->densities != GBEES_DENSITIES_NONE;
}

/* Whether someone wants the cells of records. Points that go with the flow have none: a truth's ranks are not worth
 * to make them. */
static int needs_cells(const gbees_one_run *run)
{
    return writes_densities(run) || run->refinement || run->comparison ||
           (run->setup->truth && !gbees_problem_is_exact(run->setup->problem));
}

/* How many cells of a record are in memory at a time, about: 3 GiB of them, unless the environment says otherwise. */
static uint64_t cells_at_once(const gbees_one_run *run)
{
    const char *text = getenv("GBEES_RECORD_CELLS");
    const unsigned long long wanted = text ? strtoull(text, NULL, 10) : 0;

    if (run->refinement || run->comparison) /* they need all */
        return 0;
    return wanted > 0 ? wanted : UINT64_C(1) << 27;
}

void gbees_one_run_limit_memory(gbees_one_run *run, double gib)
{
    run->stop_bytes = gib > 0 ? gib * 1073741824.0 : default_memory(run->setup);
    run->memory_option = gib > 0;
}

const char *gbees_one_run_limit_reached(const gbees_one_run *run)
{
    return gbees_signals_caught() ? NULL : run->stopped_by;
}

/* Says which limit has stopped a run. */
static void name_limit(const gbees_one_run *run, gbees_error *error)
{
    const gbees_error before = *error;
    gbees_summary summary;
    char bytes[32];

    if (!gbees_one_run_limit_reached(run) || before.status != GBEES_ECANCELLED)
        return;
    gbees_solver_summary(run->solver, &summary);
    (void)gbees_error_set(error, before.status, "%s by %s, with %s taken", before.text, run->stopped_by,
                          gbees_units_bytes(bytes, sizeof bytes, (double)summary.totals.peak_bytes));
}

int gbees_one_run_propagate(gbees_one_run *run, const gbees_options *options, gbees_error *error)
{
    const gbees_observer observer = {.context = run,
                                     .record = on_record,
                                     .step = run->writer && run->setup->output->every_step ? on_step : NULL,
                                     .smoothed = on_smoothed,
                                     .update = on_update,
                                     .jump = on_jump,
                                     .progress = on_progress,
                                     .idle = run->writer ? on_idle : NULL,
                                     .cancelled = is_cancelled,
                                     .checkpoint_due = run->writer ? is_checkpoint_due : NULL,
                                     .checkpoint = run->writer && !run->refinement ? on_checkpoint : NULL,
                                     .concurrent = run->writer != NULL,
                                     .marginals = writes_densities(run),
                                     .no_cells = !needs_cells(run),
                                     .cells_most = needs_few_cells(run) ? GBEES_COMPARED_CELLS : 0,
                                     .audit = run->audit,
                                     .cells_at_once = cells_at_once(run)};
    FILE *console = run->console ? run->console : run->report->out;
    gbees_summary at_start;
    int status;

    (void)pthread_mutex_init(&run->lock, NULL);
    run->checkpointed = run->from != NULL;
    run->next_checkpoint_s = gbees_seconds_now() + 60 * run->options->every;
    gbees_solver_summary(run->solver, &at_start);
    status = gbees_report_header(run->report, run->setup, &at_start.totals, error);
    gbees_progress_start(&run->progress, options->progress,
                         options->progress == GBEES_PROGRESS_JSON && options->json ? console : stderr);
    run->progress.has_warned = options->quiet;
    gbees_signals_limit(run->stop_s > 0 ? fmax(run->stop_s - gbees_seconds_now(), 0.001) : options->max_time);
    if (!status)
        status = gbees_solver_run(run->solver, &observer, error);
    gbees_signals_limit(0);
    gbees_progress_clear(&run->progress);
    if (status && error)
        name_limit(run, error);
    return status;
}

/* What has stopped a run that ended with this status; NULL: nothing, or a failure of its own. */
static const char *what_stopped(const gbees_one_run *run, int status)
{
    if (status == GBEES_ENOMEM)
        return lack_of_memory;
    if (status != GBEES_ECANCELLED)
        return NULL;
    if (gbees_one_run_limit_reached(run))
        return run->stopped_by;
    return gbees_signals_name(gbees_signals_caught() ? gbees_signals_caught() : SIGPIPE);
}

int gbees_one_run_finish(gbees_one_run *run, int status, const gbees_summary *summary, gbees_error *failure)
{
    const char *state = !status ? "complete" : status == GBEES_ECANCELLED ? "cancelled" : "failed";
    gbees_error late = {0};
    int finished = GBEES_OK;

    if (run->writer) {
        gbees_writer_set_stopped_by(run->writer, what_stopped(run, status));
        finished = gbees_writer_finish(run->writer, state, summary, &late);
    }
    if (status || !finished)
        return status;
    *failure = late;
    return finished;
}

int gbees_check_warnings(const gbees_options *options, const gbees_summary *summary, gbees_error *failure)
{
    char text[GBEES_WARNING_TEXT];

    if (!options->strict || !summary->warnings)
        return GBEES_OK;
    gbees_warning_text((gbees_warning)(summary->warnings & -summary->warnings), summary->problem, &summary->totals,
                       text, sizeof text);
    return gbees_error_set(failure, GBEES_ENUMERIC,
                           "the run is complete, but with --strict a warning is a failure: %s", text);
}

int gbees_one_run_compare(gbees_one_run *run, const gbees_summary *summary, gbees_error *error)
{
    if (!run->comparison)
        return GBEES_OK;
    const int status = gbees_comparison_run(run->comparison, summary->propagate_s, error);
    if (!status)
        run->report->comparison = run->comparison;
    return status;
}

void gbees_one_run_close_solver(gbees_one_run *run)
{
    gbees_solver_destroy(run->solver);
    run->solver = NULL;
}

void gbees_one_run_close(gbees_one_run *run)
{
    gbees_comparison_destroy(run->comparison);
    run->comparison = NULL;
    gbees_writer_destroy(run->writer);
    gbees_one_run_close_solver(run);
    run->writer = NULL;
}
