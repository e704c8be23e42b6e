/* search_run.c - one run of the search for an accuracy: its problem and the run itself; see search.h. */
#include "ranks.h"
#include "search.h"
#include "signals.h"
#include <stdlib.h>
#include <string.h>

/* Creates the next run's problem. The run's results hold its scenario, and a user who runs that gets this run, not a
 * search. */
static int make_problem(const gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = gbees_scenario_copy_once(s->setup->scenario, &a->setup.scenario, error);

    if (!status)
        status = gbees_refinement_scenario(s->refinement, a->setup.scenario, error);
    if (!status)
        status = gbees_problem_create(a->setup.model, a->setup.scenario, &a->setup.problem, error);
    if (!status) { /* each record's certificate is compared with it */
        a->setup.problem->accuracy = s->setup->problem->accuracy;
        a->setup.problem->accuracy_of = s->setup->problem->accuracy_of;
    }
    return status;
}

/* ---- a run ---- */

/* Creates an audit with the number of samples that the next run needs, or rewinds the existing one if it has as many.
 */
static int prepare_audit(gbees_search *s, gbees_error *error)
{
    const int by_points = !s->options->samples && !s->options->parallel;
    gbees_audit_options how = {.seed = 1,
                               .threads = s->options->threads,
                               .keep = 1,
                               .cancelled = gbees_one_run_is_late,
                               .context = &s->stop_s,
                               .backend = s->setup->backend,
                               .points = by_points ? gbees_solver_points() : NULL};

    if (!gbees_refinement_audit(s->refinement, &how) && s->audit) {
        gbees_audit_rewind(s->audit);
        return GBEES_OK;
    }
    gbees_audit_destroy(s->audit);
    s->audit = NULL;
    return gbees_audit_create(s->setup->problem, &how, &s->audit, error);
}

/* Opens the writer in the run's folder. */
static int open_folder(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    if (!s->setup->folder)
        return gbees_one_run_write_to(&a->run, NULL, s->command, error);
    int status = gbees_search_begin(s, error);
    if (!status && !(a->folder = gbees_search_folder(s, a->number)))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    return status ? status : gbees_one_run_write_to(&a->run, a->folder, s->command, error);
}

/* Copies the command's setup, options and report to the run; its report prints to a text in memory. */
static int begin(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    a->number = s->count + 1;
    a->setup = *s->setup;
    a->setup.scenario = NULL;
    a->setup.problem = NULL;
    a->options = *s->options;
    a->report = *s->report;
    a->report.warned = ~0u; /* the summary has the best run's warnings; those of the others are not reported */
    a->report.out = open_memstream(&a->text, &a->size);
    a->run = (gbees_one_run){.setup = &a->setup,
                             .options = &a->options,
                             .report = &a->report,
                             .refinement = s->refinement,
                             .console = s->report->out};
    return a->report.out ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run's report");
}

/* Creates problem, engine, audit and writer of the run. */
static int open_run(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = make_problem(s, a, error);

    if (!status && s->options->parallel)
        status = gbees_ranks_send_run(s->options->parallel, &a->setup, error);
    else if (!status)
        status = gbees_check_memory(&a->setup, error);
    if (!status)
        status = gbees_one_run_open(&a->run, s->options, s->registry, error);
    s->setup->backend = a->setup.backend; /* the CPU's, if the GPU could not be used */
    if (!status && !s->setup->why_no_gpu[0] && a->setup.why_no_gpu[0])
        memcpy(s->setup->why_no_gpu, a->setup.why_no_gpu, sizeof s->setup->why_no_gpu);
    if (!status)
        status = prepare_audit(s, error);
    a->run.audit = s->audit;
    return status ? status : open_folder(s, a, error);
}

int gbees_search_run_make(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = begin(s, a, error);

    a->run.stop_s = s->stop_s;
    if (!status)
        status = open_run(s, a, error);
    if (!status && s->count == 0)
        gbees_setup_say_why(s->setup, s->options);
    if (status)
        return status;
    gbees_one_run_limit_memory(&a->run, s->options->max_memory);
    status = gbees_one_run_propagate(&a->run, s->options, error);
    gbees_solver_summary(a->run.solver, &a->summary);
    return gbees_one_run_finish(&a->run, status, &a->summary, error);
}

void gbees_search_run_free(gbees_search_run *a)
{
    if (!a)
        return;
    gbees_one_run_close(&a->run);
    if (a->folder)
        gbees_search_remove_folder(a->folder);
    if (a->report.out)
        (void)fclose(a->report.out);
    free(a->folder);
    free(a->text);
    gbees_problem_destroy(a->setup.problem);
    gbees_scenario_destroy(a->setup.scenario);
    free(a);
}
