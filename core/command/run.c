/* run.c - gbees-run: reads the command line, makes problem and backend, and runs the solver, whose observer calls
 * the writer, the report and the progress bar. */
#include "command.h"
#include "progress.h"
#include "report.h"
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_FAILED = 1, EXIT_BAD_INPUT = 2, EXIT_SIGNAL = 128 };

/* State of the signal handler. */
static volatile sig_atomic_t caught_signal;
static struct timespec caught_at;

/* The first signal ends the run after its present step; a second one ends the program at once. A second one
 * within a short time is ignored: timeout(1) sends one signal to the process and to its group. */
static void note_signal(int number)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (!caught_signal) {
        caught_signal = number;
        caught_at = now;
    } else if (now.tv_sec - caught_at.tv_sec > 1) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

/* A signal that is ignored at the start stays ignored: SIGINT of background jobs, SIGHUP under nohup(1). */
static void listen_to(int number)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, old;

    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaddset(&action.sa_mask, SIGHUP);
    if (!sigaction(number, NULL, &old) && old.sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

/* Writing to a pipe that nobody reads, or beyond the size that files may have here, is then an error like others. */
static void ignore_failed_writes(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
}

/* ---- what the solver tells ---- */

typedef struct run {
    gbees_writer *writer; /* NULL: --no-output */
    gbees_audit *audit;   /* NULL: --audit off */
    pthread_mutex_t lock; /* guards the output: a thread of the solver calls record and update */
    gbees_report *report;
    gbees_progress progress;
    int strict; /* a warning is a failure */
} run;

/* Writes the record to disk before it is printed. */
static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    run *r = context;
    int status = r->writer ? gbees_writer_record(r->writer, record, error) : GBEES_OK;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    if (!status)
        status = gbees_report_record(r->report, record, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int on_update(void *context, const gbees_problem *problem, int number, double time,
                     const gbees_evidence *evidence, gbees_error *error)
{
    run *r = context;
    int status = r->writer ? gbees_writer_update(r->writer, number, time, evidence, error) : GBEES_OK;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_clear(&r->progress);
    if (!status)
        status = gbees_report_update(r->report, problem, number, time, evidence, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int on_progress(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    run *r = context;
    int status = GBEES_OK;

    (void)pthread_mutex_lock(&r->lock);
    gbees_progress_show(&r->progress, time, fraction, totals);
    if (r->progress.stream == r->report->out)
        status = gbees_print_flush(r->report->out, error);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

static int is_cancelled(void *context)
{
    (void)context;
    return caught_signal != 0;
}

/* ---- a run ---- */

/* "gbees-run --plugin 'x y'": for the results' provenance; cut to fit. */
static void quote_command(int argc, char **argv, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < argc && used + 1 < size; i++) {
        const char *quote = argv[i][0] && !strpbrk(argv[i], " \t\n'\"\\$&|;<>()*?[]{}~`#!") ? "" : "'";
        const int length = snprintf(text + used, size - used, "%s%s%s%s", i ? " " : "", quote, argv[i], quote);

        used = length < 0 ? size : used + (size_t)length;
    }
}

/* `began`: the run began, or failed for a reason of the machine or the model. */
static int exit_code(const gbees_error *failure, int began)
{
    if (failure->status == GBEES_ECANCELLED)
        return EXIT_SIGNAL + (caught_signal ? caught_signal : SIGPIPE);
    began |= failure->status == GBEES_ENOMEM || failure->status == GBEES_ENUMERIC;
    return began ? EXIT_FAILED : EXIT_BAD_INPUT;
}

/* Retries with the CPU backend if an automatically chosen backend can't run this problem. */
static int make_solver(gbees_setup *setup, const gbees_options *options, gbees_registry *registry,
                       gbees_solver **solver, gbees_error *error)
{
    const gbees_engine_options engine = {.threads = options->threads, .deterministic = options->deterministic};
    int status = gbees_solver_create(setup->problem, setup->backend, &engine, solver, error);

    if (status != GBEES_EBACKEND || strcmp(options->backend, "auto") != 0 || setup->why_no_gpu[0])
        return status;
    gbees_error why = error ? *error : (gbees_error){0};
    status = gbees_setup_use_cpu(setup, registry, why.text, error);
    return status ? status : gbees_solver_create(setup->problem, setup->backend, &engine, solver, error);
}

static int make_writer(const gbees_setup *setup, const char *command, gbees_writer **writer, gbees_error *error)
{
    const gbees_provenance provenance = {.plugin_path = gbees_setup_path(setup->model),
                                         .scenario = gbees_scenario_text(setup->scenario),
                                         .backend = setup->backend->name,
                                         .device = setup->backend->title,
                                         .command = command};

    if (!setup->folder)
        return GBEES_OK;
    if (!provenance.scenario)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    return gbees_writer_create(setup->folder, setup->problem, &provenance, writer, error);
}

/* *audit stays NULL without one. */
static int make_audit(const gbees_setup *setup, const gbees_options *options, gbees_audit **audit, gbees_error *error)
{
    /* A backend with captures is a GPU's: its cell updates cost a hundredth of a processor's. */
    const double share = setup->backend->capture ? 0.05 / 100 : 0.05;
    const gbees_audit_options how = {
        .samples = options->samples, .share = share, .seed = 1, .threads = options->threads};

    return options->audit ? gbees_audit_create(setup->problem, &how, audit, error) : GBEES_OK;
}

/* Finishes the results folder, whatever happened. Returns the first failure. */
static int end_run(run *r, const gbees_setup *setup, const gbees_solver *solver, int status, gbees_error *failure)
{
    const char *state = !status ? "complete" : status == GBEES_ECANCELLED ? "cancelled" : "failed";
    gbees_error late = {0};
    gbees_summary summary;
    int finished = GBEES_OK;

    gbees_progress_clear(&r->progress);
    gbees_solver_summary(solver, &summary);
    if (r->writer)
        finished = gbees_writer_finish(r->writer, state, &summary, &late);
    if (!status && finished) {
        *failure = late;
        status = finished;
    }
    if (!status && r->strict && summary.warnings) {
        char text[GBEES_WARNING_TEXT];

        gbees_warning_text((gbees_warning)(summary.warnings & -summary.warnings), summary.problem, &summary.totals,
                           text, sizeof text);
        status = gbees_error_set(failure, GBEES_ENUMERIC,
                                 "the run is complete, but with --strict a warning is a "
                                 "failure: %s",
                                 text);
    }
    if (status)
        gbees_report_error(r->report, failure);
    finished = gbees_report_summary(r->report, setup, &summary, status ? failure : NULL, &late);
    if (!status && finished) {
        *failure = late;
        status = finished;
        (void)fprintf(stderr, "gbees-run: %s\n", failure->text);
    }
    return status ? exit_code(failure, 1) : EXIT_SUCCESS;
}

static int propagate(run *r, const gbees_options *options, const gbees_setup *setup, gbees_solver *solver)
{
    const gbees_observer observer = {.context = r,
                                     .record = on_record,
                                     .update = on_update,
                                     .progress = on_progress,
                                     .cancelled = is_cancelled,
                                     .concurrent = r->writer != NULL,
                                     .marginals = r->writer != NULL,
                                     .no_cells = r->writer == NULL,
                                     .audit = r->audit};
    gbees_error failure = {0};
    gbees_summary at_start;
    int status;

    gbees_solver_summary(solver, &at_start);
    status = gbees_report_header(r->report, setup, at_start.totals.threads, &failure);
    gbees_progress_start(&r->progress, options->progress,
                         options->progress == GBEES_PROGRESS_JSON && options->json ? r->report->out : stderr);
    if (!status)
        status = gbees_solver_run(solver, &observer, &failure);
    return end_run(r, setup, solver, status, &failure);
}

static int prepare(gbees_setup *setup, const gbees_options *options, gbees_registry *registry, const char *command,
                   gbees_solver **solver, run *r, gbees_error *error)
{
    int status = gbees_setup_make(setup, options, registry, error);

    if (!status)
        status = gbees_check_memory(setup, error);
    if (!status)
        status = make_solver(setup, options, registry, solver, error);
    if (!status && setup->why_no_gpu[0] && !options->quiet)
        (void)fprintf(stderr, "gbees-run: running on the CPU: %s\n", setup->why_no_gpu);
    /* From here on a signal ends the run after its step; before, it ends the program at once. */
    listen_to(SIGINT);
    listen_to(SIGTERM);
    listen_to(SIGHUP);
    if (!status)
        status = make_audit(setup, options, &r->audit, error);
    if (!status)
        status = make_writer(setup, command, &r->writer, error);
    return status;
}

static int command_run(const gbees_options *options, gbees_registry *registry, gbees_report *report,
                       const char *command)
{
    run r = {.report = report, .lock = PTHREAD_MUTEX_INITIALIZER, .strict = options->strict};
    gbees_setup setup = {0};
    gbees_solver *solver = NULL;
    gbees_error failure = {0};
    int code;

    if (prepare(&setup, options, registry, command, &solver, &r, &failure)) {
        gbees_report_error(report, &failure);
        code = exit_code(&failure, 0);
    } else
        code = propagate(&r, options, &setup, solver);
    gbees_audit_destroy(r.audit);
    gbees_writer_destroy(r.writer);
    gbees_solver_destroy(solver);
    gbees_setup_free(&setup);
    return code;
}

/* ---- main ---- */

static int print_version(const gbees_options *options, FILE *out, gbees_error *error)
{
    if (options->json)
        (void)fprintf(out, "{\"event\":\"version\",\"version\":\"%s\"}\n", gbees_version());
    else
        (void)fprintf(out, "gbees-run %s\n", gbees_version());
    return gbees_print_flush(out, error);
}

static int command(const gbees_options *options, gbees_report *report, const char *text)
{
    gbees_registry *registry = NULL;
    gbees_error failure = {0};
    int code = EXIT_SUCCESS;
    int status = gbees_registry_create(options->plugin_path, &registry, &failure);

    if (!status && options->action == GBEES_ACTION_RUN)
        code = command_run(options, registry, report, text);
    else if (!status)
        status =
            options->action == GBEES_ACTION_LIST       ? gbees_command_list(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_CHECK    ? gbees_command_check(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_COMPILE  ? gbees_command_compile(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_DESCRIBE ? gbees_command_describe(options, registry, stdout, &failure)
                                                       : print_version(options, stdout, &failure);
    if (status) {
        if (status != GBEES_ECANCELLED) /* a closed pipe, as of "gbees-run --list | head", is not reported */
            gbees_report_error(report, &failure);
        code = exit_code(&failure, 0);
    }
    gbees_registry_destroy(registry);
    return code;
}

/* Limits the time that OpenMP threads spin at a barrier to 0.1 ms. GNU's runtime spins for up to 20 ms, which on
 * a busy machine takes the processor from the thread that all wait for. It must be set before the backend is
 * loaded, which loads the runtime. An existing OMP_WAIT_POLICY or GOMP_SPINCOUNT is respected. */
static void wait_briefly(void)
{
    if (!getenv("OMP_WAIT_POLICY"))
        (void)setenv("GOMP_SPINCOUNT", "2000", 0);
}

int main(int argc, char **argv)
{
    gbees_options options;
    gbees_report report;
    gbees_error failure = {0};
    char text[8192], name[] = "gbees-run"; /* libtool's wrapper may have another name */
    int code;

    (void)setlocale(LC_CTYPE, ""); /* LC_CTYPE only: numbers keep their decimal point */
    ignore_failed_writes();
    wait_briefly();
    if (argc > 0)
        argv[0] = name;
    if (gbees_options_parse(argc, argv, &options, &failure)) {
        gbees_report_start(&report, &options, stdout);
        gbees_report_error(&report, &failure);
        code = EXIT_BAD_INPUT;
    } else {
        gbees_report_start(&report, &options, stdout);
        quote_command(argc, argv, text, sizeof text);
        code = command(&options, &report, text);
    }
    gbees_options_free(&options);
    return code;
}
