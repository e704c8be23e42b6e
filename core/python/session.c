/* session.c - registry, problem, plan and results of the runs behind the Python package's calls; see session.h. What
 * happens during a run is in session_run.c. */
#include "session_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gbees_session_sizes(size_t sizes[4])
{
    sizes[0] = sizeof(gbees_session_record);
    sizes[1] = sizeof(gbees_certificate);
    sizes[2] = sizeof(gbees_evidence);
    sizes[3] = sizeof(gbees_functions);
}

/* ---- scenario, problem, backend ---- */

/* The text of a key's value in a scenario, each of whose keys begins a line; NULL: it has none. */
static const char *value_of(gbees_scenario *scenario, const char *key)
{
    const char *text = gbees_scenario_text(scenario);
    const size_t length = strlen(key);

    while (text && (strncmp(text, key, length) != 0 || text[length] != ':')) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? text + length + 1 : NULL;
}

/* Creates the scenario. Keys come, in this order, from the YAML, the folder of measurements, the model's scenario
 * `own`, the table of measurements, and the model's default. */
static int read_scenario(gbees_session *s, const gbees_session_options *o, gbees_error *error)
{
    int status = gbees_scenario_create(o->scenario ? o->scenario : "", "the scenario", &s->scenario, error);

    if (!status && o->stream && !value_of(s->scenario, "accuracy"))
        status = gbees_scenario_set(s->scenario, "accuracy=0", error);
    if (!status && o->folder)
        status = gbees_scenario_measurements(s->scenario, o->folder, NULL, error);
    if (!status && o->own)
        status = gbees_scenario_merge_own(s->scenario, s->model, o->own, error);
    if (!status)
        status = gbees_scenario_load(s->scenario, s->model, error);
    if (!status)
        status = gbees_scenario_merge_own(s->scenario, s->model, NULL, error);
    if (!status && o->stream && !value_of(s->scenario, "end")) { /* it needs one, of no effect */
        const char *start = value_of(s->scenario, "start");
        char end[64];

        (void)snprintf(end, sizeof end, "end=%.17g", (start ? strtod(start, NULL) : 0) + 1);
        status = gbees_scenario_set(s->scenario, end, error);
    }
    return status;
}

static int choose_backend(gbees_session *s, const gbees_session_options *o, gbees_error *error)
{
    gbees_error ignored;

    const char *wanted = o->otherwise ? gbees_solver_wants(s->problem) : o->backend;

    if (wanted)
        return gbees_registry_usable_backend(s->registry, wanted, &s->backend, error);
    if (!gbees_problem_is_small(s->problem) &&
        !gbees_registry_usable_backend(s->registry, o->backend, &s->backend, &ignored))
        return GBEES_OK;
    return gbees_registry_usable_backend(s->registry, o->otherwise, &s->backend, error);
}

static int plan(gbees_session *s, gbees_error *error)
{
    const gbees_audit_options how = {.seed = 1, .threads = s->threads};
    gbees_audit_outlook outlook;
    gbees_error ignored;
    int status = gbees_refinement_create(s->problem, &s->refinement, error);

    if (!status && !gbees_audit_look_out(s->problem, &how, &outlook, &ignored))
        gbees_refinement_expect(s->refinement, &outlook);
    return status;
}

int gbees_session_create(const gbees_session_options *options, gbees_session **session, gbees_error *error)
{
    gbees_session *s = calloc(1, sizeof *s);

    if (!s)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run");
    s->threads = options->threads;
    s->with_audit = options->audit;
    s->samples = options->samples;
    int status = options->compare ? gbees_rivals_parse(options->compare, &s->rivals, error) : GBEES_OK;
    if (!status)
        status = gbees_registry_create(options->plugin_path, &s->registry, error);
    if (!status)
        status = gbees_registry_model(s->registry, options->model, &s->model, error);
    if (!status)
        status = read_scenario(s, options, error);
    if (!status && s->rivals.count > 0)
        status = gbees_scenario_unroll(s->scenario, s->model, error);
    if (!status)
        status = gbees_problem_create(s->model, s->scenario, &s->problem, error);
    if (!status)
        status = choose_backend(s, options, error);
    if (!status && s->problem->accuracy > 0 && s->with_audit &&
        !gbees_problem_is_exact(s->problem)) /* which needs one run */
        status = plan(s, error);
    if (!status && options->stream)
        status = gbees_stream_create(s->problem, s->backend, &(gbees_engine_options){.threads = s->threads},
                                     &s->stream, error);
    if (status)
        gbees_session_destroy(s);
    else
        *session = s;
    return status;
}

static void free_run(session_run *run)
{
    gbees_writer_destroy(run->writer);
    gbees_problem_destroy(run->problem);
    gbees_scenario_destroy(run->scenario);
    *run = (session_run){0};
}

void gbees_session_destroy(gbees_session *session)
{
    if (!session)
        return;
    gbees_session_close(session);
    gbees_stream_destroy(session->stream);
    free_run(&session->best);
    free(session->steps);
    gbees_audit_destroy(session->audit);
    gbees_refinement_destroy(session->refinement);
    gbees_problem_destroy(session->problem);
    gbees_scenario_destroy(session->scenario);
    gbees_registry_destroy(session->registry);
    gbees_output_destroy(session->output);
    free(session->warnings);
    free(session);
}

const char *gbees_session_backend(const gbees_session *session)
{
    return session->backend->name;
}

int gbees_session_dimension(const gbees_session *session)
{
    return session->problem->dimension;
}

const char *gbees_session_state(const gbees_session *session, int j, int unit)
{
    const gbees_quantity *state = &session->model->states[j];
    const char *text = unit ? state->unit : state->name;

    return text ? text : "";
}

double gbees_session_accuracy(const gbees_session *session)
{
    return session->refinement || gbees_problem_is_exact(session->problem) ? session->problem->accuracy : 0;
}

const char *gbees_session_scenario(gbees_session *session)
{
    return gbees_scenario_text(session->best.scenario ? session->best.scenario : session->scenario);
}

/* ---- a run ---- */

/* Creates run.scenario and run.problem for the next run of a search. The scenario is that of a single run, without an
 * accuracy. */
static int refined_problem(gbees_session *s, gbees_error *error)
{
    int status = gbees_scenario_copy_once(s->scenario, &s->run.scenario, error);

    if (!status)
        status = gbees_refinement_scenario(s->refinement, s->run.scenario, error);
    if (!status)
        status = gbees_problem_create(s->model, s->run.scenario, &s->run.problem, error);
    if (!status) { /* each record's certificate is compared with it */
        s->run.problem->accuracy = s->problem->accuracy;
        s->run.problem->accuracy_of = s->problem->accuracy_of;
    }
    return status;
}

/* Creates the run's audit. The runs of a search share one that keeps its samples, as long as they want the same
 * number of them, so that these are integrated once. */
static int make_audit(gbees_session *s, const gbees_problem *problem, gbees_error *error)
{
    gbees_audit_options how = {.samples = s->samples,
                               .share = 0.05,
                               .seed = 1,
                               .threads = s->threads,
                               .keep = s->refinement != NULL,
                               .backend = s->backend,
                               .points = s->samples ? NULL : gbees_solver_points()};
    const int is_other = !s->refinement || (!s->samples && gbees_refinement_audit(s->refinement, &how));

    if (!is_other && s->audit) {
        gbees_audit_rewind(s->audit);
        return GBEES_OK;
    }
    gbees_audit_destroy(s->audit);
    s->audit = NULL;
    problem = s->refinement ? s->problem : problem;
    if (!s->with_audit ||
        (gbees_problem_is_exact(problem) && s->samples == 0)) /* its points are their own certificate */
        return GBEES_OK;
    return gbees_audit_create(problem, &how, &s->audit, error);
}

static int make_writer(gbees_session *s, const gbees_problem *problem, const char *folder, gbees_error *error)
{
    const gbees_provenance provenance = {.scenario =
                                             gbees_scenario_text(s->run.scenario ? s->run.scenario : s->scenario),
                                         .backend = s->backend->name,
                                         .device = s->backend->title,
                                         .command = "the Python package gbees"};

    int status = s->output ? GBEES_OK : gbees_output_create(s->scenario, s->problem->end, &s->output, error);
    if (!status && folder)
        status = gbees_writer_create(folder, problem, &provenance, &s->run.writer, error);
    if (!status && s->run.writer && !s->output->records_apart)
        status = gbees_writer_one_file(s->run.writer, error);
    if (!status && s->run.writer)
        gbees_writer_output(s->run.writer, s->output);
    return status;
}

int gbees_session_is_cancelled(void *context)
{
    gbees_session *s = context;

    return atomic_load(&s->cancelled);
}

static int make_comparison(gbees_session *s, const gbees_problem *problem, gbees_error *error)
{
    const gbees_comparison_options how = {.rivals = s->rivals,
                                          .threads = s->threads,
                                          .keeps_densities = 1,
                                          .cancelled = gbees_session_is_cancelled,
                                          .context = s};

    return s->rivals.count ? gbees_comparison_create(problem, &how, &s->comparison, error) : GBEES_OK;
}

int gbees_session_open(gbees_session *session, const char *folder, gbees_error *error)
{
    const gbees_engine_options engine = {.threads = session->threads};
    int status = session->refinement ? refined_problem(session, error) : GBEES_OK;
    const gbees_problem *problem = session->run.problem ? session->run.problem : session->problem;

    atomic_store(&session->cancelled, 0);
    session->step = (gbees_refinement_step){.met = -1};
    if (!status)
        status = gbees_solver_create(problem, session->backend, &engine, &session->solver, error);
    if (!status)
        status = make_audit(session, problem, error);
    if (!status)
        status = make_writer(session, problem, folder, error);
    if (!status)
        status = make_comparison(session, problem, error);
    if (status)
        gbees_session_close(session);
    return status;
}

void gbees_session_close(gbees_session *session)
{
    const int ended = session->run.state && session->refinement;

    gbees_comparison_destroy(session->comparison);
    gbees_solver_destroy(session->solver);
    session->comparison = NULL;
    session->solver = NULL;
    if (ended && (session->step.best || !session->best.state)) {
        free_run(&session->best);
        session->best = session->run;
        session->run = (session_run){0};
    }
    free_run(&session->run);
}

void gbees_session_cancel(gbees_session *session)
{
    atomic_store(&session->cancelled, 1);
}

/* ---- the results --------------------------------------------------------------------------------------------- */

void gbees_session_keep_warnings(gbees_session *s, const gbees_summary *summary)
{
    free(s->warnings);
    s->warnings = calloc(GBEES_WARNING_COUNT, GBEES_WARNING_TEXT);
    for (int k = 0; s->warnings && k < GBEES_WARNING_COUNT; k++)
        if (summary->warnings >> k & 1)
            gbees_warning_text((gbees_warning)(1 << k), summary->problem, &summary->totals,
                               s->warnings + k * GBEES_WARNING_TEXT, GBEES_WARNING_TEXT);
}

/* What the search says of its best run: the certificates have the effect of narrow marginals, and of tails that
 * measurements select. */
static void judge(gbees_session *s)
{
    const unsigned certified = GBEES_WARNING_NARROW | GBEES_WARNING_FRAME_CELLS | GBEES_WARNING_TAIL;
    gbees_summary *summary = &s->best.summary;

    if (s->met)
        summary->warnings &= ~certified;
    else if (s->count > 0)
        summary->warnings |= GBEES_WARNING_ACCURACY;
}

int gbees_session_conclude(gbees_session *session, gbees_error *error)
{
    session_run *best = &session->best;
    int status = GBEES_OK;

    if (!best->state)
        return GBEES_OK;
    judge(session);
    gbees_session_keep_warnings(session, &best->summary);
    if (best->writer && session->count > 0)
        status = gbees_writer_runs(best->writer, session->steps, session->count, error);
    if (!status && best->writer)
        status = gbees_writer_finish(best->writer, best->state, &best->summary, error);
    gbees_writer_destroy(best->writer);
    best->writer = NULL;
    return status;
}

int gbees_session_retry(gbees_session *session)
{
    return session->refinement && gbees_refinement_retry(session->refinement, GBEES_EUNSUPPORTED);
}

int gbees_session_plan(const gbees_session *session, int *best, int *met, double *bound)
{
    *best = session->step.best;
    *met = session->step.met;
    *bound = session->step.error;
    return session->step.next && session->step.met != 1;
}

int gbees_session_warning(const gbees_session *session, unsigned bit, char *text, size_t size)
{
    const char *kept = session->warnings ? session->warnings + bit * GBEES_WARNING_TEXT : "";

    if (bit >= GBEES_WARNING_COUNT || !*kept)
        return 0;
    (void)snprintf(text, size, "%s", kept);
    return 1;
}
