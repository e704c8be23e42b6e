/* session_run.c - a run of a session while it goes on: its records, updates, and the filters beside it; see
 * session.h. */
#include "session_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the solver's observer ---- */

static void describe_grid(gbees_session_grid *grid, const gbees_problem *problem, const gbees_cells *cells)
{
    const int n = problem->dimension;

    memcpy(grid->origin, problem->rotated ? problem->centre : problem->mean, sizeof grid->origin);
    memcpy(grid->width, problem->width, sizeof grid->width);
    for (int j = 0; j < n * n; j++)
        grid->rotation[j] = problem->rotated ? problem->rotation[j] : j % (n + 1) == 0;
    if (problem->rotated) /* cell 0 is at y = mean */
        gbees_problem_point(problem, problem->mean, grid->origin);
    grid->cells = cells;
    grid->count = cells ? gbees_cells_count(cells) : 0;
}

static void describe(gbees_session_record *to, const gbees_record *record)
{
    const gbees_statistics *statistics = &record->statistics;

    *to = (gbees_session_record){.leg = record->leg,
                                 .number = record->number,
                                 .dimension = record->problem->dimension,
                                 .smoothed = record->smoothed,
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
    for (int j = 0; j < to->dimension; j++) {
        const int circle = record->problem->period[j] > 0;

        to->direction[j] = circle ? statistics->direction[j] : NAN;
        to->resultant[j] = circle ? statistics->resultant[j] : NAN;
    }
    describe_grid(&to->grid, record->problem, record->cells);
    to->target_count = record->problem->target_count;
    for (int k = 0; k < to->target_count; k++) {
        to->targets[k].name = gbees_problem_target_name(record->problem, k);
        to->targets[k].kind = gbees_problem_target_word(record->problem, k);
        to->targets[k].state = record->targets[k];
    }
}

/* Has Python copy the record. */
static void pass_on(const gbees_session *s, const gbees_record *record)
{
    gbees_session_record described;

    if (!s->observer->record)
        return;
    describe(&described, record);
    s->observer->record(&described);
}

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    gbees_session *s = context;
    int status = s->run.writer ? gbees_writer_record(s->run.writer, record, error) : GBEES_OK;

    if (!status && s->refinement)
        status = gbees_refinement_record(s->refinement, record, error);
    if (!status && s->comparison)
        status = gbees_comparison_record(s->comparison, record, error);
    if (!status)
        pass_on(s, record);
    return status;
}

static int on_smoothed(void *context, const gbees_record *record, gbees_error *error)
{
    const gbees_session *s = context;
    const int status = s->run.writer ? gbees_writer_smoothed(s->run.writer, record, error) : GBEES_OK;

    if (!status)
        pass_on(s, record);
    return status;
}

static int on_step(void *context, const gbees_record *record, gbees_error *error)
{
    const gbees_session *s = context;

    return gbees_writer_step(s->run.writer, record, error);
}

static int on_update(void *context, const gbees_problem *problem, int number, double time,
                     const gbees_evidence *evidence, gbees_error *error)
{
    const gbees_session *s = context;
    int status = s->run.writer ? gbees_writer_update(s->run.writer, number, time, evidence, error) : GBEES_OK;

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

/* Adds what the run has shown to the list of the search's runs. */
static int add_step(gbees_session *s, gbees_error *error)
{
    int status = gbees_refinement_finish(s->refinement, &s->run.summary, &s->step, error);

    if (!status && s->count == s->capacity) {
        const int capacity = 2 * s->capacity + 16;
        gbees_refinement_step *steps = realloc(s->steps, (size_t)capacity * sizeof *steps);

        if (!steps)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run");
        s->steps = steps;
        s->capacity = capacity;
    }
    if (!status)
        s->steps[s->count++] = s->step;
    s->met |= !status && s->step.met == 1;
    return status;
}

/* Writes how the run has ended; `status` is the solver's. */
static int finish_writer(gbees_session *s, int status, gbees_error *error)
{
    session_run *run = &s->run;

    run->state = !status ? "complete" : status == GBEES_ECANCELLED ? "cancelled" : "failed";
    if (!run->writer)
        return GBEES_OK;
    gbees_writer_set_stopped_by(run->writer, status == GBEES_ECANCELLED ? "the caller"
                                             : status == GBEES_ENOMEM   ? "lack of memory"
                                                                        : NULL);
    return gbees_writer_finish(run->writer, run->state, &run->summary, status ? NULL : error);
}

gbees_observer gbees_session_observes(gbees_session *session)
{
    const int every_step = session->run.writer && session->output->every_step;

    return (gbees_observer){.context = session,
                            .record = on_record,
                            .smoothed = on_smoothed,
                            .step = every_step ? on_step : NULL,
                            .update = on_update,
                            .progress = on_progress,
                            .cancelled = gbees_session_is_cancelled,
                            .audit = session->audit};
}

int gbees_session_run(gbees_session *session, const gbees_session_observer *observer, gbees_error *error)
{
    gbees_observer solver_observer = gbees_session_observes(session);

    /* Points have to be made into cells, which in six dimensions takes minutes. */
    solver_observer.no_cells = session->output && session->output->densities == GBEES_DENSITIES_NONE &&
                               gbees_problem_is_exact(session->problem) && !session->comparison;
    session->observer = observer;
    int status = gbees_solver_run(session->solver, &solver_observer, error);
    session->observer = NULL;
    gbees_solver_summary(session->solver, &session->run.summary);
    gbees_session_keep_warnings(session, &session->run.summary);
    const int finished = finish_writer(session, status, error);
    session->step = (gbees_refinement_step){.best = !session->best.state, .met = -1};
    if (!status && !finished && session->refinement)
        status = add_step(session, error);
    return status ? status : finished;
}

/* ---- comparison with other filters ---- */

int gbees_session_compare(gbees_session *session, gbees_error *error)
{
    if (!session->comparison)
        return GBEES_OK;
    return gbees_comparison_run(session->comparison, session->run.summary.propagate_s, error);
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
                                   .densities = &r->densities,
                                   .total = gbees_comparison_records(session->comparison)};
    return 1;
}

void gbees_session_answer(const gbees_session *session, char *text, size_t size)
{
    gbees_comparison_answer(session->comparison, text, size);
}

void gbees_session_cells(const gbees_session_grid *grid, int dimension, int32_t *index, double *p)
{
    int32_t *row[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < dimension; j++)
        row[j] = index + (size_t)j * grid->count;
    gbees_cells_copy(grid->cells, 0, grid->count, row, p);
}
