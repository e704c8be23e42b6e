/* run.c - gbees-run: reads the command line and does what it says. */
#include "base/checkpoint.h"
#include "base/seconds.h"
#include "command.h"
#include "one_run.h"
#include "ranks.h"
#include "results/hdf5/hdf5_driver.h"
#include "resume.h"
#include "signals.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

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

/* run->audit stays NULL without one. */
static int make_audit(gbees_one_run *run, const gbees_options *options, gbees_error *error)
{
    const gbees_setup *setup = run->setup;
    /* A backend with captures is a GPU's: its cell updates cost a hundredth of a processor's. */
    const double share = setup->backend->capture ? 0.05 / 100 : 0.05;
    const gbees_audit_options how = {.samples = options->samples,
                                     .share = share,
                                     .seed = 1,
                                     .threads = options->threads,
                                     .backend = setup->backend,
                                     .points = options->samples || options->parallel ? NULL : gbees_solver_points()};

    return gbees_is_audited(setup, options) ? gbees_audit_create(setup->problem, &how, &run->audit, error) : GBEES_OK;
}

/* Propagates, finishes the results folder and reports. Returns the exit status. */
static int propagate(gbees_one_run *run, const gbees_options *options)
{
    gbees_error failure = {0}, late = {0};
    gbees_summary summary;
    int status;

    run->stop_s = options->max_time > 0 ? gbees_seconds_now() + options->max_time : 0;
    gbees_one_run_limit_memory(run, options->max_memory);
    status = gbees_one_run_propagate(run, options, &failure);

    gbees_solver_summary(run->solver, &summary);
    status = gbees_one_run_finish(run, status, &summary, &failure);
    if (!status)
        status = gbees_check_warnings(options, &summary, &failure);
    if (!status)
        status = gbees_one_run_compare(run, &summary, &failure);
    if (!status && run->writer)
        gbees_writer_remove_checkpoints(run->writer);
    else if (status && run->checkpointed)
        gbees_resumption_hint(run->setup->folder, &failure);
    if (status)
        gbees_report_error(run->report, &failure);
    const int reported = gbees_report_summary(run->report, run->setup, &summary, status ? &failure : NULL, &late);
    if (!status && reported) {
        failure = late;
        status = reported;
        (void)fprintf(stderr, "gbees-run: %s\n", failure.text);
    }
    if (gbees_one_run_limit_reached(run))
        return GBEES_EXIT_FAILED;
    return status ? gbees_exit_code(&failure, 1) : EXIT_SUCCESS;
}

static int prepare(gbees_one_run *run, const gbees_options *options, gbees_registry *registry, const char *command,
                   gbees_error *error)
{
    int status = options->parallel ? GBEES_OK : gbees_check_memory(run->setup, error); /* ranks have done so */

    if (!status)
        status = gbees_one_run_open(run, options, registry, error);
    if (!status)
        gbees_setup_say_why(run->setup, options);
    gbees_signals_listen();
    if (!status)
        status = make_audit(run, options, error);
    if (!status && run->audit && run->from)
        status = gbees_audit_load(run->audit, run->from->checkpoint, error);
    if (!status && run->from)
        status = gbees_checkpoint_copy(run->from->checkpoint, "scores", 8, sizeof run->report->scores / 8,
                                       &run->report->scores, error);
    return status ? status : gbees_one_run_write_to(run, run->setup->folder, command, error);
}

/* Makes what the run needs; among ranks all of them do, or none. */
static int set_up(gbees_setup *setup, const gbees_options *options, gbees_registry *registry, gbees_error *error)
{
    int status = gbees_setup_make(setup, options, registry, error);

    if (!options->parallel)
        return status;
    if (!status)
        status = gbees_check_memory(setup, error);
    return gbees_parallel_agree(options->parallel, status, error);
}

/* Whether there are to be several runs, until one is within the problem's accuracy. Points that go with the flow
 * become denser within a run. */
static int seeks_accuracy(const gbees_options *options, const gbees_setup *setup)
{
    return !options->resume && setup->problem->accuracy > 0 && options->audit &&
           !gbees_problem_is_exact(setup->problem);
}

/* A rank but 0: has its part of the grid, and does what rank 0 asks for. Rank 0 reports what fails. */
static int command_serve(const gbees_options *given, gbees_registry *registry)
{
    gbees_options own = *given;
    const gbees_options *options = &own;
    gbees_setup setup = {0};
    gbees_resumption from = {0};
    gbees_error failure = {0};
    int status = given->resume ? gbees_resumption_receive(&from, &own, &failure) : GBEES_OK;

    if (!status)
        status = set_up(&setup, options, registry, &failure);
    if (!status && given->resume)
        status = gbees_parallel_agree(options->parallel, status, &failure); /* with gbees_resumption_check() */
    const gbees_engine_options engine = gbees_one_run_engine(options);

    gbees_signals_listen(); /* rank 0 ends the run */
    if (!status && seeks_accuracy(options, &setup)) {
        gbees_ranks_serve_runs(options, &setup);
        gbees_setup_free(&setup);
        return EXIT_SUCCESS;
    }
    if (!status)
        status = gbees_parallel_agree(options->parallel, status, &failure); /* with gbees_one_run_open() */
    if (!status)
        status = gbees_solver_serve(setup.problem, setup.backend, &engine, &failure);
    gbees_setup_free(&setup);
    gbees_resumption_free(&from);
    return status ? gbees_exit_code(&failure, 0) : EXIT_SUCCESS;
}

/* Begins a run, or goes on with one. */
static int command_run(const gbees_options *given, gbees_registry *registry, gbees_report *report,
                       const char *command)
{
    gbees_setup setup = {0};
    gbees_options own = *given;
    const gbees_options *options = &own;
    gbees_resumption from = {0};
    gbees_one_run run = {.setup = &setup, .report = report, .from = given->resume ? &from : NULL, .options = options};
    gbees_error failure = {0};
    int code, status = given->resume ? gbees_resumption_read(&from, &own, &failure) : GBEES_OK;

    if (given->resume && given->parallel)
        status = gbees_resumption_send(&from, given->parallel, status, &failure);
    if (!status)
        status = set_up(&setup, options, registry, &failure);
    if (!status && given->resume) {
        status = gbees_resumption_check(&from, &setup, options, &failure);
        if (given->parallel)
            status = gbees_parallel_agree(given->parallel, status, &failure);
    }
    if (!status && seeks_accuracy(options, &setup)) {
        code = gbees_command_accuracy(options, registry, &setup, report, command);
        gbees_setup_free(&setup);
        return code;
    }
    if (!status)
        status = prepare(&run, options, registry, command, &failure);
    if (status) {
        gbees_report_error(report, &failure);
        code = gbees_exit_code(&failure, 0);
    } else
        code = propagate(&run, options);
    gbees_one_run_close(&run);
    gbees_audit_destroy(run.audit);
    gbees_setup_free(&setup);
    gbees_resumption_free(&from);
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

/* --check: of ranks the first one alone checks. */
static int check(const gbees_options *options, gbees_registry *registry, gbees_report *report)
{
    gbees_error failure = {0};

    if (options->parallel && options->parallel->rank > 0)
        return EXIT_SUCCESS;
    const int status = gbees_command_check(options, registry, stdout, &failure);
    if (!status)
        return EXIT_SUCCESS;
    if (status != GBEES_ECANCELLED) /* a closed pipe is not reported */
        gbees_report_error(report, &failure);
    return gbees_exit_code(&failure, 0);
}

/* A run, or its check, of this process or of its ranks. */
static int command_shared(const gbees_options *given, gbees_registry *registry, gbees_report *report,
                          const char *text)
{
    gbees_options own = *given;
    gbees_ranks ranks = {0};
    gbees_error failure = {0};
    int code;

    if (gbees_ranks_join(&ranks, given, registry, &failure)) {
        gbees_report_error(report, &failure);
        return gbees_exit_code(&failure, 0);
    }
    if (ranks.module)
        gbees_ranks_adapt(&ranks.parallel, &own);
    if (own.action == GBEES_ACTION_CHECK)
        code = check(&own, registry, report);
    else if (!ranks.module || ranks.parallel.rank == 0)
        code = command_run(&own, registry, report, text);
    else
        code = command_serve(&own, registry);
    gbees_ranks_leave(&ranks);
    return code;
}

static int command(const gbees_options *options, gbees_report *report, const char *text)
{
    gbees_registry *registry = NULL;
    gbees_error failure = {0};
    int code = EXIT_SUCCESS;
    int status = gbees_registry_create(options->plugin_path, &registry, &failure);

    if (!status && options->action == GBEES_ACTION_RUN && !options->no_output)
        status = gbees_hdf5_start(&failure);
    if (!status && options->trust)
        gbees_registry_trust(registry);
    if (!status && (options->action == GBEES_ACTION_RUN || options->action == GBEES_ACTION_CHECK))
        code = command_shared(options, registry, report, text);
    else if (!status)
        status =
            options->action == GBEES_ACTION_LIST        ? gbees_command_list(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_LIST_KEYS ? gbees_command_keys(options, stdout, &failure)
            : options->action == GBEES_ACTION_COMPILE   ? gbees_command_compile(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_SIMULATE  ? gbees_command_simulate(options, registry, stdout, &failure)
            : options->action == GBEES_ACTION_DESCRIBE  ? gbees_command_describe(options, registry, stdout, &failure)
                                                        : print_version(options, stdout, &failure);
    if (status) {
        if (status != GBEES_ECANCELLED) /* a closed pipe, as of "gbees-run --list | head", is not reported */
            gbees_report_error(report, &failure);
        code = gbees_exit_code(&failure, 0);
    }
    gbees_registry_destroy(registry);
    return code;
}

/* Limits the time that OpenMP threads spin at a barrier to 0.1 ms. GNU's runtime spins for up to 20 ms, which on
 * a busy machine takes the processor from the thread that all wait for. It must be set before the backend is
 * loaded, which loads the runtime. An existing OMP_WAIT_POLICY or GOMP_SPINCOUNT is respected. */
static void limit_spinning(void)
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
    gbees_signals_ignore_failed_writes();
    limit_spinning();
    if (argc > 0)
        argv[0] = name;
    if (gbees_options_parse(argc, argv, &options, &failure)) {
        gbees_report_start(&report, &options, stdout);
        gbees_report_error(&report, &failure);
        code = GBEES_EXIT_BAD_INPUT;
    } else {
        gbees_report_start(&report, &options, stdout);
        quote_command(argc, argv, text, sizeof text);
        gbees_signals_explain();
        code = command(&options, &report, text);
        gbees_signals_finish();
    }
    gbees_options_free(&options);
    return code;
}
