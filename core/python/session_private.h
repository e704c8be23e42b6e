/* session_private.h - a session, as session.c and session_run.c share it. */
#ifndef GBEES_PYTHON_SESSION_PRIVATE_H
#define GBEES_PYTHON_SESSION_PRIVATE_H

#include "session.h"
#include <stdatomic.h>

/* A run and its results. The scenario and the problem are NULL unless it is one of a search for an accuracy. */
typedef struct session_run {
    gbees_scenario *scenario;
    gbees_problem *problem;
    gbees_writer *writer; /* NULL: nothing is written */
    const char *state;    /* how it has ended, as gbees_writer_finish() takes it; NULL: it has not */
    gbees_summary summary;
} session_run;

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
    session_run run;  /* between open and close */
    session_run best; /* the best of those that have been closed, in a search for an accuracy */
    gbees_solver *solver;
    gbees_stream *stream;         /* NULL: the measurements are the scenario's */
    gbees_output *output;         /* of the writers */
    gbees_comparison *comparison; /* NULL: no filters are asked for */
    gbees_refinement_step *steps; /* [count]: what each run of the search has shown */
    int count, capacity;
    int met;                    /* whether a run was within the accuracy */
    gbees_refinement_step step; /* of the last run */
    char *warnings;             /* [GBEES_WARNING_COUNT][GBEES_WARNING_TEXT]: texts, empty if the bit is not set */
    atomic_int cancelled;
    const gbees_session_observer *observer;
};

/* Whether the session's run is to end. The callback gbees_observer.cancelled; `context` is the session. */
int gbees_session_is_cancelled(void *context);

/* What the session tells Python of, and whether it is to end. */
gbees_observer gbees_session_observes(gbees_session *session);

/* Writes the texts of the run's warnings, as its problem may be freed before they are read. */
void gbees_session_keep_warnings(gbees_session *session, const gbees_summary *summary);

#endif
