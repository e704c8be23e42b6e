/* session.c - registry, problem, solver, audit and writer behind the Python package's calls; see session.h. */
#include "session.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbees_session {
    int threads, with_audit;
    size_t samples;
    gbees_rivals rivals;
    gbees_registry *registry;
    const gbees_model *model;
    const gbees_backend *backend;
    gbees_scenario *scenario;     /* as the user has asked for it */
    gbees_problem *problem;       /* of that scenario */
    gbees_refinement *refinement; /* NULL: no accuracy is asked for */
    gbees_audit *audit;
    size_t audit_samples; /* as asked for when it was created */
    /* The run between open and close; the first two are NULL unless it is one of a search for an accuracy. */
    gbees_scenario *run_scenario;
    gbees_problem *run_problem;
    gbees_solver *solver;
    gbees_writer *writer;         /* NULL: nothing is written */
    gbees_output *output;         /* of the writer */
    gbees_comparison *comparison; /* NULL: no filters are asked for */
    gbees_refinement_step step;   /* of the last run, as are the next two */
    gbees_summary summary;
    char *warnings; /* [GBEES_WARNING_COUNT][GBEES_WARNING_TEXT]: texts, empty if the bit is not set */
    atomic_int cancelled;
    const gbees_session_observer *observer;
};

void gbees_session_sizes(size_t sizes[3])
{
    sizes[0] = sizeof(gbees_session_record);
    sizes[1] = sizeof(gbees_certificate);
    sizes[2] = sizeof(gbees_evidence);
}

/* ---- scenario, problem, backend ---- */

/* Creates the scenario. Keys come, in this order, from the YAML, the folder of measurements, the model's scenario
 * `own`, the table of measurements, and the model's default. */
static int read_scenario(gbees_session *s, const gbees_session_options *o, gbees_error *error)
{
    int status = gbees_scenario_create(o->scenario ? o->scenario : "", "the scenario", &s->scenario, error);

    if (!status && o->folder)
        status = gbees_scenario_measurements(s->scenario, o->folder, NULL, error);
    if (!status && o->own)
        status = gbees_scenario_merge_own(s->scenario, s->model, o->own, error);
    if (!status)
        status = gbees_scenario_load(s->scenario, s->model, error);
    return status ? status : gbees_scenario_merge_own(s->scenario, s->model, NULL, error);
}

static int plan(gbees_session *s, gbees_error *error)
{
    gbees_error ignored;
    double effective;
    int status = gbees_refinement_create(s->problem, &s->refinement, error);

    if (!status && !gbees_audit_effective(s->problem, s->threads, &effective, &ignored))
        gbees_refinement_expect(s->refinement, effective);
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
        status = gbees_registry_usable_backend(s->registry, options->backend, &s->backend, error);
    if (!status)
        status = read_scenario(s, options, error);
    if (!status)
        status = gbees_problem_create(s->model, s->scenario, &s->problem, error);
    if (!status && s->problem->accuracy > 0 && s->with_audit)
        status = plan(s, error);
    if (status)
        gbees_session_destroy(s);
    else
        *session = s;
    return status;
}

void gbees_session_destroy(gbees_session *session)
{
    if (!session)
        return;
    gbees_session_close(session);
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
    return session->refinement ? session->problem->accuracy : 0;
}

const char *gbees_session_scenario(gbees_session *session)
{
    return gbees_scenario_text(session->scenario);
}

/* ---- a run ---- */

/* Creates run_scenario and run_problem for the next run of a search. The scenario is that of a single run, without an
 * accuracy. If the user's has no scheme, it is the one that reaches an accuracy with the fewest cells. */
static int refined_problem(gbees_session *s, gbees_error *error)
{
    const char *text = gbees_scenario_text(s->scenario);
    int status = text ? gbees_scenario_create(text, "the scenario", &s->run_scenario, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");

    if (!status)
        status = gbees_scenario_set(s->run_scenario, "accuracy=0", error);
    if (!status && strncmp(text, "scheme:", 7) != 0 && !strstr(text, "\nscheme:"))
        status = gbees_scenario_set(s->run_scenario, "scheme=split7-mp", error);
    if (!status)
        status = gbees_refinement_scenario(s->refinement, s->run_scenario, error);
    if (!status)
        status = gbees_problem_create(s->model, s->run_scenario, &s->run_problem, error);
    if (!status) { /* each record's certificate is compared with it */
        s->run_problem->accuracy = s->problem->accuracy;
        s->run_problem->accuracy_of = s->problem->accuracy_of;
    }
    return status;
}

/* Creates the run's audit. The runs of a search share one that keeps its samples, as long as they want the same
 * number of them, so that these are integrated once. */
static int make_audit(gbees_session *s, const gbees_problem *problem, gbees_error *error)
{
    const size_t samples = s->refinement && !s->samples ? gbees_refinement_samples(s->refinement) : s->samples;
    const gbees_audit_options how = {.samples = samples,
                                     .share = 0.05,
                                     .seed = 1,
                                     .threads = s->threads,
                                     .keep = s->refinement != NULL,
                                     .backend = s->backend};

    if (s->refinement && s->audit && samples == s->audit_samples) {
        gbees_audit_rewind(s->audit);
        return GBEES_OK;
    }
    gbees_audit_destroy(s->audit);
    s->audit = NULL;
    s->audit_samples = samples;
    problem = s->refinement ? s->problem : problem;
    return s->with_audit ? gbees_audit_create(problem, &how, &s->audit, error) : GBEES_OK;
}

static int make_writer(gbees_session *s, const gbees_problem *problem, const char *folder, gbees_error *error)
{
    const gbees_provenance provenance = {.scenario =
                                             gbees_scenario_text(s->run_scenario ? s->run_scenario : s->scenario),
                                         .backend = s->backend->name,
                                         .device = s->backend->title,
                                         .command = "the Python package gbees"};

    int status = s->output ? GBEES_OK : gbees_output_create(s->scenario, s->problem->end, &s->output, error);
    if (!status && folder)
        status = gbees_writer_create(folder, problem, &provenance, &s->writer, error);
    if (!status && s->writer && !s->output->records_apart)
        status = gbees_writer_one_file(s->writer, error);
    if (!status && s->writer)
        gbees_writer_output(s->writer, s->output);
    return status;
}

static int is_cancelled(void *context)
{
    gbees_session *s = context;

    return atomic_load(&s->cancelled);
}

static int make_comparison(gbees_session *s, const gbees_problem *problem, gbees_error *error)
{
    const gbees_comparison_options how = {
        .rivals = s->rivals, .threads = s->threads, .cancelled = is_cancelled, .context = s};

    return s->rivals.count ? gbees_comparison_create(problem, &how, &s->comparison, error) : GBEES_OK;
}

int gbees_session_open(gbees_session *session, const char *folder, gbees_error *error)
{
    const gbees_engine_options engine = {.threads = session->threads};
    int status = session->refinement ? refined_problem(session, error) : GBEES_OK;
    const gbees_problem *problem = session->run_problem ? session->run_problem : session->problem;

    atomic_store(&session->cancelled, 0);
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
    gbees_comparison_destroy(session->comparison);
    gbees_writer_destroy(session->writer);
    gbees_solver_destroy(session->solver);
    gbees_problem_destroy(session->run_problem);
    gbees_scenario_destroy(session->run_scenario);
    session->comparison = NULL;
    session->writer = NULL;
    session->solver = NULL;
    session->run_problem = NULL;
    session->run_scenario = NULL;
}

void gbees_session_cancel(gbees_session *session)
{
    atomic_store(&session->cancelled, 1);
}

/* ---- the solver's observer ---- */

static void describe_part(gbees_session_part *part, const gbees_problem *problem, const gbees_cells *cells)
{
    const int n = problem->dimension;

    memcpy(part->origin, problem->rotated ? problem->centre : problem->mean, sizeof part->origin);
    memcpy(part->width, problem->width, sizeof part->width);
    for (int j = 0; j < n * n; j++)
        part->rotation[j] = problem->rotated ? problem->rotation[j] : j % (n + 1) == 0;
    if (problem->rotated) /* cell 0 is at y = mean */
        gbees_problem_point(problem, problem->mean, part->origin);
    part->cells = cells;
    part->count = cells ? gbees_cells_count(cells) : 0;
}

static void describe(gbees_session_record *to, const gbees_record *record)
{
    const gbees_statistics *statistics = &record->statistics;

    *to = (gbees_session_record){.leg = record->leg,
                                 .number = record->number,
                                 .dimension = record->problem->dimension,
                                 .parts = record->mode_count ? record->mode_count : 1,
                                 .time = record->time,
                                 .wall_s = record->wall_s,
                                 .mass = statistics->mass,
                                 .entropy = statistics->entropy,
                                 .clipped = record->totals.mass_clipped,
                                 .outflow = record->totals.mass_outflow,
                                 .pruned = record->totals.mass_pruned,
                                 .steps = record->totals.steps,
                                 .cells = statistics->cells,
                                 .warnings = record->warnings,
                                 .certificate = record->certificate,
                                 .samples = record->samples};
    memcpy(to->mean, statistics->mean, sizeof to->mean);
    memcpy(to->covariance, statistics->covariance, sizeof to->covariance);
    for (int k = 0; k < record->mode_count; k++) {
        describe_part(&to->part[k], record->modes[k].problem, record->modes[k].cells);
        to->part[k].weight = record->modes[k].weight;
    }
    if (!record->mode_count) {
        describe_part(&to->part[0], record->problem, record->cells);
        to->part[0].weight = 1;
    }
}

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    gbees_session *s = context;
    gbees_session_record described;
    int status = s->writer ? gbees_writer_record(s->writer, record, error) : GBEES_OK;

    if (!status && s->refinement)
        status = gbees_refinement_record(s->refinement, record, error);
    if (!status && s->comparison)
        status = gbees_comparison_record(s->comparison, record, error);
    if (!status && s->observer->record) {
        describe(&described, record);
        s->observer->record(&described);
    }
    return status;
}

static int on_step(void *context, const gbees_record *record, gbees_error *error)
{
    const gbees_session *s = context;

    return gbees_writer_step(s->writer, record, error);
}

static int on_update(void *context, const gbees_problem *problem, int number, double time,
                     const gbees_evidence *evidence, gbees_error *error)
{
    const gbees_session *s = context;
    int status = s->writer ? gbees_writer_update(s->writer, number, time, evidence, error) : GBEES_OK;

    (void)problem;
    if (!status && s->refinement)
        status = gbees_refinement_update(s->refinement, number, evidence, error);
    if (!status && s->comparison)
        gbees_comparison_update(s->comparison);
    if (!status && s->observer->update)
        s->observer->update(number, time, evidence);
    return status;
}

static int on_progress(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    const gbees_session *s = context;

    (void)totals, (void)error;
    if (s->observer->progress)
        s->observer->progress(time, fraction);
    return GBEES_OK;
}

/* Writes the texts of the last run's warnings, as its problem may be freed before they are read. */
static void keep_warnings(gbees_session *s)
{
    free(s->warnings);
    s->warnings = calloc(GBEES_WARNING_COUNT, GBEES_WARNING_TEXT);
    for (int k = 0; s->warnings && k < GBEES_WARNING_COUNT; k++)
        if (s->summary.warnings >> k & 1)
            gbees_warning_text((gbees_warning)(1 << k), s->summary.problem, &s->summary.totals,
                               s->warnings + k * GBEES_WARNING_TEXT, GBEES_WARNING_TEXT);
}

int gbees_session_run(gbees_session *session, const gbees_session_observer *observer, gbees_error *error)
{
    const gbees_observer solver_observer = {.context = session,
                                            .record = on_record,
                                            .step = session->writer && session->output->every_step ? on_step : NULL,
                                            .update = on_update,
                                            .progress = on_progress,
                                            .cancelled = is_cancelled,
                                            .audit = session->audit};
    int finished = GBEES_OK;

    session->observer = observer;
    int status = gbees_solver_run(session->solver, &solver_observer, error);
    session->observer = NULL;
    gbees_solver_summary(session->solver, &session->summary);
    keep_warnings(session);
    if (session->writer) {
        gbees_writer_set_stopped_by(session->writer, status == GBEES_ECANCELLED ? "the caller"
                                                     : status == GBEES_ENOMEM   ? "lack of memory"
                                                                                : NULL);
        finished = gbees_writer_finish(session->writer,
                                       !status                      ? "complete"
                                       : status == GBEES_ECANCELLED ? "cancelled"
                                                                    : "failed",
                                       &session->summary, status ? NULL : error);
    }
    session->step = (gbees_refinement_step){.best = 1, .met = -1};
    if (!status && !finished && session->refinement)
        status = gbees_refinement_finish(session->refinement, &session->summary, &session->step, error);
    return status ? status : finished;
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

/* ---- comparison with other filters ---- */

int gbees_session_compare(gbees_session *session, gbees_error *error)
{
    if (!session->comparison)
        return GBEES_OK;
    const int status = gbees_comparison_run(session->comparison, session->summary.propagate_s, error);
    return status || !session->writer
               ? status
               : gbees_writer_comparison(session->writer, gbees_comparison_compared(session->comparison), error);
}

int gbees_session_rival_of(const gbees_session *session, int k, gbees_session_rival *rival)
{
    if (!session->comparison || k >= gbees_comparison_count(session->comparison))
        return 0;
    const gbees_rival_result *r = gbees_comparison_result(session->comparison, k);
    *rival = (gbees_session_rival){.name = gbees_rival_name(r->rival),
                                   .failure = r->failure.status ? r->failure.text : "",
                                   .samples = r->samples,
                                   .count = r->count,
                                   .seconds = r->seconds,
                                   .mean = r->worst.mean,
                                   .std = r->worst.std,
                                   .kolmogorov = r->worst.kolmogorov,
                                   .bc = r->worst.bc,
                                   .ratio = r->ratio,
                                   .log_evidence = r->log_evidence,
                                   .log_evidence_error = r->log_evidence_error,
                                   .records = r->records,
                                   .compared = gbees_comparison_compared(session->comparison)};
    if (rival->compared)
        rival->own = &rival->compared->filter[k];
    return 1;
}

void gbees_session_answer(const gbees_session *session, char *text, size_t size)
{
    gbees_comparison_answer(session->comparison, text, size);
}

void gbees_session_cells(const gbees_session_part *part, int dimension, int32_t *index, double *p)
{
    int32_t *row[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < dimension; j++)
        row[j] = index + (size_t)j * part->count;
    gbees_cells_copy(part->cells, 0, part->count, row, p);
}
