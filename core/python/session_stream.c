/* session_stream.c - a session whose measurements arrive one by one (gbees/stream.h); see session.h. */
#include "session_private.h"
#include <math.h>

/* Calls the stream with what Python wants to be told. */
static gbees_observer begin(gbees_session *s, const gbees_session_observer *observer)
{
    atomic_store(&s->cancelled, 0);
    s->observer = observer;
    return gbees_session_observes(s);
}

static int end(gbees_session *s, int status)
{
    gbees_summary summary;

    s->observer = NULL;
    gbees_stream_summary(s->stream, &summary);
    gbees_session_keep_warnings(s, &summary);
    return status;
}

int gbees_session_predict(gbees_session *session, double time, int with_cells, const gbees_session_observer *observer,
                          gbees_error *error)
{
    gbees_observer told = begin(session, observer);

    told.no_cells = !with_cells && gbees_problem_is_exact(session->problem); /* which has to make them */
    if (isnan(time))
        time = gbees_stream_problem(session->stream)->end;
    return end(session, gbees_stream_predict(session->stream, time, &told, error));
}

int gbees_session_update(gbees_session *session, const char *measurement, const gbees_session_observer *observer,
                         gbees_error *error)
{
    gbees_observer told = begin(session, observer);
    gbees_measurement read;
    int status = gbees_measurement_read(session->problem, measurement, &read, error);

    told.no_cells = gbees_problem_is_exact(session->problem);
    if (!status)
        status = gbees_stream_update(session->stream, &read, &told, error);
    return end(session, status);
}

int gbees_session_smooth(gbees_session *session, const gbees_session_observer *observer, gbees_error *error)
{
    gbees_observer told = begin(session, observer);

    told.no_cells = 1;
    return end(session, gbees_stream_smooth(session->stream, &told, error));
}

int gbees_session_save(gbees_session *session, const char *folder, gbees_error *error)
{
    const gbees_provenance provenance = {.scenario = gbees_scenario_text(session->scenario),
                                         .backend = session->backend->name,
                                         .command = "the Python package gbees"};
    gbees_writer *writer = NULL;
    int status = gbees_writer_create(folder, gbees_stream_problem(session->stream), &provenance, &writer, error);

    if (!status)
        status = gbees_stream_save(session->stream, writer, error);
    gbees_writer_destroy(writer);
    return status;
}

int gbees_session_resume(gbees_session *session, const char *folder, gbees_error *error)
{
    const gbees_engine_options options = {.threads = session->threads};
    gbees_checkpoint *checkpoint = NULL;
    gbees_stream *stream = NULL;
    gbees_error note;
    int status = gbees_checkpoint_read(folder, &checkpoint, &note, error);

    if (!status)
        status = gbees_checkpoint_check(checkpoint, session->problem, gbees_scenario_text(session->scenario), error);
    if (!status)
        status = gbees_stream_resume(session->problem, session->backend, &options, checkpoint, &stream, error);
    gbees_checkpoint_destroy(checkpoint);
    if (status)
        return status;
    gbees_stream_destroy(session->stream);
    session->stream = stream;
    return GBEES_OK;
}
