/* stream.c - a run whose measurements arrive one by one: its problem, its legs, and the way back to where it was
 * where one is refused. See gbees/stream.h. */
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "run.h"
#include <gbees/stream.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gbees_stream {
    gbees_problem problem; /* as given, with the measurements so far */
    int capacity;          /* of its measurements */
    gbees_solver *solver;  /* with a leg from each measurement to the next */
    int broken;            /* 1: the density is lost */
};

/* ---- create and destroy ---- */

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_stream **stream,
                  gbees_error *error)
{
    if (options && options->parallel)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "several ranks can't share a stream of measurements: run it without mpirun");
    if (problem->instant_count > 0)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "a filter to which measurements come one by one makes no jumps: leave 'instants' out");
    gbees_stream *made = calloc(1, sizeof *made);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a stream of measurements");
    made->problem = *problem;
    made->problem.measurements = NULL;
    made->problem.measurement_count = 0;
    made->problem.arriving = 1;
    *stream = made;
    return GBEES_OK;
}

/* The leg that the stream is in, which ends at the time of the density. */
static gbees_leg *leg_of(const gbees_stream *stream)
{
    return &stream->solver->schedule->legs[stream->solver->now.leg];
}

static void set_time(gbees_stream *stream, double time)
{
    leg_of(stream)->end = stream->problem.end = time;
}

int gbees_stream_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_stream **stream, gbees_error *error)
{
    gbees_stream *made = NULL;
    int status = create(problem, options, &made, error);

    if (!status)
        status = gbees_solver_create(&made->problem, backend, options, &made->solver, error);
    if (status) {
        gbees_stream_destroy(made);
        return status;
    }
    set_time(made, problem->start);
    *stream = made;
    return GBEES_OK;
}

void gbees_stream_destroy(gbees_stream *stream)
{
    if (!stream)
        return;
    gbees_solver_destroy(stream->solver);
    free((void *)stream->problem.measurements);
    free(stream);
}

const gbees_problem *gbees_stream_problem(const gbees_stream *stream)
{
    return &stream->problem;
}

void gbees_stream_summary(const gbees_stream *stream, gbees_summary *summary)
{
    gbees_solver_summary(stream->solver, summary);
}

/* ---- measurements ---- */

static int check_measurement(const gbees_stream *stream, const gbees_measurement *measurement, gbees_error *error)
{
    const gbees_model *model = stream->problem.model;

    if (measurement->function >= 0 && measurement->function < model->measurement_count &&
        measurement->size == model->measurements[measurement->function].size)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EUSAGE,
                           "the measurement has function %d and %d components, which %s has not: read it by "
                           "gbees_measurement_read()",
                           measurement->function, measurement->size, model->name);
}

/* Puts a measurement behind those that have been applied, and adds the leg that it begins. */
static int add(gbees_stream *stream, const gbees_measurement *measurement, gbees_error *error)
{
    gbees_problem *problem = &stream->problem;
    gbees_measurement *list = (gbees_measurement *)problem->measurements;

    if (problem->measurement_count == stream->capacity) {
        const int capacity = 2 * stream->capacity + 16;

        list = realloc(list, (size_t)capacity * sizeof *list);
        if (!list)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for measurement %d", stream->capacity + 1);
        problem->measurements = list;
        stream->capacity = capacity;
    }
    const int status = gbees_schedule_add(stream->solver->schedule, error);
    if (!status)
        list[problem->measurement_count++] = *measurement;
    return status;
}

/* ---- there and back ---- */

/* Where a stream was before a call. The first two are set, too, where there is no memory for a copy. */
typedef struct place {
    double time;
    int leg;
    gbees_checkpoint *copy; /* NULL: there is none */
} place;

static int keep(gbees_stream *stream, place *was, gbees_error *error)
{
    if (stream->broken)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the stream's density was lost in an earlier error: create another "
                               "stream");
    *was = (place){.time = leg_of(stream)->end, .leg = stream->solver->now.leg};
    return stream->solver->backend->save ? gbees_run_copy(stream->solver, &was->copy, error) : GBEES_OK;
}

/* Makes the engine of the copy in place of the one that there is. */
static int load(gbees_solver *solver, const gbees_checkpoint *copy, gbees_error *error)
{
    const gbees_engine_options options = solver->grid.options;

    gbees_grid_close(&solver->grid);
    return gbees_run_load(solver, &options, copy, error);
}

/* Takes the stream back to where it was. */
static int go_back(gbees_stream *stream, const place *was, int status, gbees_error *error)
{
    gbees_solver *solver = stream->solver;
    gbees_error cause = {.text = "there was no memory for a copy"};
    const int lost = was->copy ? load(solver, was->copy, &cause) : GBEES_ENOMEM;

    stream->broken = lost != 0;
    solver->now.leg = was->leg;
    solver->resumed = solver->smoothed = 0;
    solver->schedule->leg_count = solver->now.leg + 1;
    stream->problem.measurement_count = solver->now.leg;
    set_time(stream, was->time);
    if (!lost)
        return status;
    const gbees_error first = status && error ? *error : (gbees_error){0};
    return gbees_error_set(error, (gbees_status)(status ? status : lost), "%s%sthe density is lost: %s", first.text,
                           status ? "; " : "", cause.text);
}

/* ---- steps ---- */

static int check_time(const gbees_stream *stream, double time, gbees_error *error)
{
    const double now = leg_of(stream)->end;

    if (time >= now && isfinite(time))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EINPUT,
                           "time: %.9g is before that of the density, %.9g: a filter goes forward", time, now);
}

/* Takes the density to a time and through a measurement, if there is one. */
static int run(gbees_stream *stream, double time, const gbees_measurement *measurement, gbees_error *error)
{
    gbees_solver *solver = stream->solver;
    const double now = leg_of(stream)->end;
    const int again = time == now && !measurement && solver->now.number > 0;
    int status = GBEES_OK;

    set_time(stream, time);
    if (solver->now.number == 0) /* at the start */
        status = gbees_run_begin_leg(solver, error);
    if (!status && time > now)
        status = gbees_run_go_on(solver, time - now, time, error);
    if (!status && again)
        status = gbees_run_record(solver, solver->now.number - 1, error);
    if (status || !measurement)
        return status;
    status = add(stream, measurement, error);
    solver->now.leg += !status;
    return status ? status : gbees_run_begin_leg(solver, error);
}

/* Calls run() or gbees_run_smooth(), and goes back after an error, or if it is only to look. */
static int call(gbees_stream *stream, double time, const gbees_measurement *measurement, int smoothed,
                const gbees_observer *observer, gbees_error *error)
{
    gbees_observer told = observer ? *observer : (gbees_observer){0};
    gbees_solver *solver = stream->solver;
    place was = {.time = time};
    int status = keep(stream, &was, error);

    told.step = NULL;
    told.checkpoint = NULL;
    told.audit = NULL;
    solver->escape_checked = solver->now.updates > 0; /* before the first measurement it depends on the time */
    if (!status && smoothed && !was.copy)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a copy of the density");
    if (!status) {
        status = gbees_run_begin(solver, &told, error);
        if (!status)
            status = smoothed ? gbees_run_smooth(solver, error) : run(stream, time, measurement, error);
        status = gbees_run_end(solver, status, error);
        if (status || smoothed)
            status = go_back(stream, &was, status, error);
    }
    gbees_run_drop(was.copy);
    return status;
}

int gbees_stream_predict(gbees_stream *stream, double time, const gbees_observer *observer, gbees_error *error)
{
    const int status = check_time(stream, time, error);

    return status ? status : call(stream, time, NULL, 0, observer, error);
}

int gbees_stream_update(gbees_stream *stream, const gbees_measurement *measurement, const gbees_observer *observer,
                        gbees_error *error)
{
    int status = check_time(stream, measurement->time, error);

    if (!status)
        status = check_measurement(stream, measurement, error);
    return status ? status : call(stream, measurement->time, measurement, 0, observer, error);
}

int gbees_stream_smooth(gbees_stream *stream, const gbees_observer *observer, gbees_error *error)
{
    if (!observer || !observer->smoothed || !observer->record)
        return gbees_error_set(error, GBEES_EUSAGE, "smoothed records need an observer that receives records");
    if (!stream->solver->backend->rewind)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "only points that go with the flow can be smoothed: give 'frame: lagrangian'");
    return call(stream, leg_of(stream)->end, NULL, 1, observer, error);
}

/* ---- checkpoints ---- */

/* Passes a stream's state to a sink: a gbees_checkpoint_source. */
static int pass(void *context, gbees_state_sink *sink, void *to, gbees_error *error)
{
    gbees_stream *stream = context;
    const gbees_problem *problem = &stream->problem;
    const gbees_schedule *schedule = stream->solver->schedule;
    int stopped = 0;

    for (int k = 0; k < problem->measurement_count; k++)
        GBEES_CLEAR_GAPS((gbees_measurement *)&problem->measurements[k]);
    if (problem->measurement_count > 0)
        stopped = sink(to, "arrived", 1, (uint64_t)problem->measurement_count * sizeof *problem->measurements,
                       problem->measurements);
    if (stopped || sink(to, "now", sizeof(double), 1, &schedule->legs[schedule->leg_count - 1].end))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");
    return gbees_run_pass(stream->solver, sink, to, error);
}

int gbees_stream_save(gbees_stream *stream, gbees_writer *writer, gbees_error *error)
{
    gbees_checkpoint uncopied = {.rest = pass, .rest_context = stream};

    if (stream->broken || !stream->solver->backend->save)
        return gbees_error_set(error, GBEES_EUSAGE, "the backend '%s' can't save its state, or its density was lost",
                               stream->solver->backend->name);
    const int status = gbees_writer_checkpoint(writer, &uncopied, error);
    gbees_checkpoint_clear(&uncopied); /* of what the writer has added */
    return status;
}

/* Sets measurements and legs to those of a checkpoint. */
static int take(gbees_stream *stream, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    uint64_t bytes = 0;
    const void *data = gbees_checkpoint_find((void *)(uintptr_t)checkpoint, "arrived", 1, &bytes);
    double now = 0;
    int status = gbees_checkpoint_copy(checkpoint, "now", sizeof now, 1, &now, error);

    set_time(stream, stream->problem.start);
    for (uint64_t at = 0; !status && data && at + sizeof(gbees_measurement) <= bytes;
         at += sizeof(gbees_measurement)) {
        gbees_measurement measurement;

        memcpy(&measurement, (const char *)data + at, sizeof measurement);
        status = check_measurement(stream, &measurement, error);
        if (!status) {
            set_time(stream, measurement.time);
            status = add(stream, &measurement, error);
            stream->solver->now.leg += !status;
        }
    }
    if (!status)
        set_time(stream, now);
    return status;
}

int gbees_stream_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_stream **stream, gbees_error *error)
{
    gbees_stream *made = NULL;
    int status = create(problem, options, &made, error);

    if (!status)
        status = gbees_run_make(&made->problem, backend, options, &made->solver, error);
    if (!status)
        status = take(made, checkpoint, error);
    if (!status) {
        const gbees_engine_options all = gbees_run_options(made->solver, backend, options);
        const int leg = made->solver->now.leg;

        status = gbees_run_load(made->solver, &all, checkpoint, error);
        if (!status && made->solver->now.leg != leg)
            status =
                gbees_error_set(error, GBEES_EINPUT, "the checkpoint does not fit a stream: it is in leg %d of %d",
                                made->solver->now.leg, leg);
    }
    if (status) {
        gbees_stream_destroy(made);
        return status;
    }
    made->solver->resumed = 0;
    *stream = made;
    return GBEES_OK;
}
