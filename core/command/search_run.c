/* search_run.c - one run of the search for an accuracy: its scenario, its checkpoints, the run itself; see
 * search.h. */
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "base/text.h"
#include "io/scenario.h"
#include "ranks.h"
#include "search.h"
#include "signals.h"
#include <stdlib.h>
#include <string.h>

/* The part of a report's state from which its summary is printed, as checkpoints hold it. */
typedef struct report_state {
    int width[GBEES_MAX_DIM];
    gbees_certificate last;
    gbees_worst worst;
    gbees_scores scores;
    uint64_t samples; /* of the run's audit */
} report_state;

/* ---- its state ---- */

/* Adds the state that neither the solver nor the writer saves: the report and its text, the refinement plan, and the
 * summary of a run that has ended. The callback gbees_one_run.save; `context` is the run. */
static int save_run(void *context, gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_search_run *run = context;
    const gbees_report *report = &run->report;
    report_state state;

    memset(&state, 0, sizeof state);
    memcpy(state.width, report->width, sizeof state.width);
    state.last = report->last;
    state.worst = report->worst;
    state.scores = report->scores;
    state.samples = run->options.samples;
    GBEES_CLEAR_GAPS(&state);
    int bad = fflush(report->out) != 0;
    bad |= gbees_checkpoint_add(checkpoint, "report", 1, sizeof state, &state);
    bad |= gbees_checkpoint_add(checkpoint, "report_text", 1, run->size, run->text);
    if (run->ended) {
        gbees_summary plain = run->summary;

        plain.problem = NULL;
        GBEES_CLEAR_GAPS(&plain);
        bad |= gbees_checkpoint_add(checkpoint, "summary", 1, sizeof plain, &plain);
    }
    if (bad)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");
    return gbees_refinement_save(run->refinement, checkpoint, error);
}

/* Restores what save_run() has added, without the refinement plan; sets run->ended. */
static int load_run(gbees_search_run *run, gbees_error *error)
{
    gbees_checkpoint *checkpoint = run->from.checkpoint;
    gbees_report *report = &run->report;
    report_state state;
    uint64_t length = 0;
    const char *text = gbees_checkpoint_find(checkpoint, "report_text", 1, &length);
    int status = gbees_checkpoint_copy(checkpoint, "report", 1, sizeof state, &state, error);

    if (status)
        return status;
    memcpy(report->width, state.width, sizeof report->width);
    report->last = state.last;
    report->worst = state.worst;
    report->scores = state.scores;
    run->options.samples = state.samples;
    run->ended = gbees_checkpoint_find(checkpoint, "summary", 1, &(uint64_t){0}) != NULL;
    if (run->ended)
        status = gbees_checkpoint_copy(checkpoint, "summary", 1, sizeof run->summary, &run->summary, error);
    run->summary.problem = run->setup.problem;
    if (!status && run->ended) /* gbees_one_run_open() does so for the others */
        status = gbees_one_run_begin_comparison(&run->run, &run->options, error);
    if (!status && text && fwrite(text, 1, length, report->out) != length)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run's report");
    return status;
}

int gbees_search_run_keep(gbees_search_run *run, gbees_error *error)
{
    gbees_checkpoint checkpoint = {0};
    int status = GBEES_OK;

    run->ended = 1;
    if (!run->run.writer || run->options.parallel)
        return GBEES_OK;
    status = gbees_resumption_save(&run->setup, &run->options, &checkpoint, error);
    if (!status && run->run.comparison)
        status = gbees_comparison_save(run->run.comparison, &checkpoint, error);
    if (!status)
        status = save_run(run, &checkpoint, error);
    if (!status)
        status = gbees_writer_checkpoint(run->run.writer, &checkpoint, error);
    gbees_checkpoint_clear(&checkpoint);
    return status;
}

/* ---- its scenario ---- */

/* Sets the scheme that reaches an accuracy with the fewest cells, unless the scenario has one. */
static int choose_scheme(gbees_scenario *scenario, gbees_error *error)
{
    return gbees_scenario_find(scenario, "scheme") ? GBEES_OK
                                                   : gbees_scenario_set(scenario, "scheme=split7-mp", error);
}

/* Copies the search's scenario without its accuracy. The run's results hold the copy, and a user who runs it gets
 * this run, not a search. */
static int copy_scenario(const gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    const char *line = gbees_scenario_text(s->setup->scenario);
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

/* Sets the run's scenario to the grid that the refinement plan asks for next. */
static int plan_scenario(const gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = copy_scenario(s, a, error);

    if (!status)
        status = choose_scheme(a->setup.scenario, error);
    return status ? status : gbees_refinement_scenario(s->refinement, a->setup.scenario, error);
}

/* The scenario of the checkpoint. */
static int take_scenario(gbees_search_run *a, gbees_error *error)
{
    uint64_t length = 0;
    const char *text = gbees_checkpoint_find(a->from.checkpoint, "scenario", 1, &length);
    char *copy = text ? strndup(text, length) : NULL;
    int status =
        copy ? gbees_scenario_create(copy, "the scenario of the checkpoint", &a->setup.scenario, error)
             : gbees_error_set(error, GBEES_EINPUT, "the checkpoint in %s has no scenario: it is damaged", a->folder);
    free(copy);
    return status;
}

static int make_problem(const gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = a->from.checkpoint ? take_scenario(a, error) : plan_scenario(s, a, error);

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
    const size_t wanted = gbees_refinement_samples(s->refinement);
    const int by_points = !s->options->samples && !s->options->parallel;
    const gbees_audit_options how = {.samples = wanted,
                                     .seed = 1,
                                     .threads = s->options->threads,
                                     .keep = 1,
                                     .backend = s->setup->backend,
                                     .points = by_points ? gbees_solver_points() : NULL};

    if (s->audit && wanted == s->samples) {
        gbees_audit_rewind(s->audit);
        return GBEES_OK;
    }
    gbees_audit_destroy(s->audit);
    s->audit = NULL;
    s->samples = wanted;
    return gbees_audit_create(s->setup->problem, &how, &s->audit, error);
}

/* Opens the writer in the run's folder: a new one, or the existing one if the run resumes from its checkpoint. */
static int open_folder(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    if (!s->setup->folder)
        return gbees_one_run_write_to(&a->run, NULL, s->command, error);
    int status = gbees_search_begin(s, error);
    if (!status && !a->folder && !(a->folder = gbees_search_folder(s, a->number)))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    if (!status && !a->from.checkpoint) /* left by a run that was killed before its first checkpoint */
        gbees_search_remove_folder(a->folder);
    return status ? status : gbees_one_run_write_to(&a->run, a->folder, s->command, error);
}

/* Copies the command's setup, options and report to the run; its report prints to a text in memory. */
static int begin(gbees_search *s, gbees_search_run *a, int number, gbees_error *error)
{
    a->number = number;
    a->refinement = s->refinement;
    a->setup = *s->setup;
    a->setup.scenario = NULL;
    a->setup.problem = NULL;
    a->options = *s->options;
    a->options.samples = gbees_refinement_samples(s->refinement);
    a->report = *s->report;
    a->report.warned = ~0u; /* the summary has the best run's warnings; those of the others are not reported */
    a->report.out = open_memstream(&a->text, &a->size);
    a->run = (gbees_one_run){.setup = &a->setup,
                             .options = &a->options,
                             .report = &a->report,
                             .refinement = s->refinement,
                             .console = s->report->out,
                             .save = save_run,
                             .saved = a};
    return a->report.out ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run's report");
}

/* Reads the newest valid checkpoint in the run's folder. A folder without one is no failure; GBEES_ENOMEM is one. */
static int find_checkpoint(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    gbees_error note, why = {0};

    if (!s->from || !s->folder)
        return GBEES_OK;
    a->folder = gbees_search_folder(s, a->number);
    if (!a->folder)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    if (gbees_checkpoint_read(a->folder, &a->from.checkpoint, &note, &why) && why.status == GBEES_ENOMEM) {
        *error = why;
        return (int)why.status;
    }
    if (a->from.checkpoint) {
        a->run.from = &a->from;
        a->from.forced = s->from->forced;
    }
    return GBEES_OK;
}

/* Creates problem, engine, audit and writer of the run, and loads its checkpoint if it has one. */
static int open_run(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = make_problem(s, a, error);

    if (!status && s->options->parallel)
        status = gbees_ranks_send_run(s->options->parallel, &a->setup, error);
    else if (!status)
        status = gbees_check_memory(&a->setup, error);
    if (!status && a->from.checkpoint)
        status = load_run(a, error);
    if (!status && a->from.checkpoint)
        status = gbees_refinement_load(s->refinement, a->from.checkpoint, error);
    if (!status && !a->ended)
        status = gbees_one_run_open(&a->run, s->options, s->registry, error);
    s->setup->backend = a->setup.backend; /* the CPU's, if the GPU could not be used */
    if (!status && !s->setup->why_no_gpu[0] && a->setup.why_no_gpu[0])
        memcpy(s->setup->why_no_gpu, a->setup.why_no_gpu, sizeof s->setup->why_no_gpu);
    if (!status && !a->ended)
        status = prepare_audit(s, error);
    if (!status && !a->ended && a->from.checkpoint)
        status = gbees_audit_load(s->audit, a->from.checkpoint, error);
    a->run.audit = s->audit;
    return status ? status : open_folder(s, a, error);
}

int gbees_search_run_make(gbees_search *s, gbees_search_run *a, gbees_error *error)
{
    int status = begin(s, a, s->count + 1, error);

    if (!status)
        status = find_checkpoint(s, a, error);
    if (s->options->max_time > 0 && s->best)
        a->run.stop_s = s->began_s + s->options->max_time;
    if (!status)
        status = open_run(s, a, error);
    if (!status && s->count == 0)
        gbees_setup_say_why(s->setup, s->options);
    if (status || a->ended)
        return status;
    gbees_one_run_limit_memory(&a->run, s->best ? s->options->max_memory : 0);
    status = gbees_one_run_propagate(&a->run, s->options, error);
    gbees_solver_summary(a->run.solver, &a->summary);
    status = gbees_one_run_finish(&a->run, status, &a->summary, error);
    return status ? status : gbees_search_run_keep(a, error);
}

int gbees_search_run_reopen(gbees_search *s, int number, gbees_search_run **run, gbees_error *error)
{
    gbees_search_run *a = calloc(1, sizeof *a);

    *run = NULL;
    if (!a)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run");
    int status = begin(s, a, number, error);
    if (!status)
        status = find_checkpoint(s, a, error);
    if (!status && !a->from.checkpoint)
        status = gbees_error_set(error, GBEES_EINPUT, "the best run's results are not in %s any more: begin anew",
                                 a->folder);
    if (!status)
        status = make_problem(s, a, error);
    if (!status)
        status = load_run(a, error);
    if (!status)
        status = open_folder(s, a, error);
    if (!status) {
        *run = a;
        return GBEES_OK;
    }
    free(a->folder); /* the folder stays on disk */
    a->folder = NULL;
    gbees_search_run_free(a);
    return status;
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
    gbees_resumption_free(&a->from);
    free(a);
}
