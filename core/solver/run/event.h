/* event.h - what a run tells its observer: a record, a step, an update, a jump or a checkpoint.
 *
 * An event is first prepared, by which its cells are fetched and sorted and the audit compares it, and then observed,
 * by which the observer is called. Both may be done by different threads: while the observer writes one record the
 * next one is audited. Events are prepared in their order, and observed in their order.
 */
#ifndef GBEES_SOLVER_RUN_EVENT_H
#define GBEES_SOLVER_RUN_EVENT_H

#include <gbees/gbees.h>

/* A record, or a step, if record.problem is set, a checkpoint if that is, a jump if that is,
 * else an update. An event owns
 * cells, capture, marginals, `moved` and `checkpoint`. */
typedef struct gbees_event {
    gbees_record record;
    gbees_cells *cells;           /* unsorted: the notifier sorts them; NULL: the observer wants none */
    gbees_capture *capture;       /* in place of cells: the notifier fetches them */
    gbees_marginals *marginals;   /* of a record, or NULL */
    gbees_problem *moved;         /* the record's problem, if it is not the run's; or NULL */
    gbees_checkpoint *checkpoint; /* instead of a record or an update; or NULL */
    int is_step;                  /* `record` is a step's: without cells and marginals */
    int is_certified;             /* the backend has set `certificate` */
    int number;                   /* of an update: its measurement, counted from 1 */
    int jump;                     /* of a jump: its instant, counted from 1; else 0 */
    double time;
    gbees_evidence evidence;
    gbees_certificate certificate; /* of a record that has been audited or certified */
    gbees_sample_list samples;     /* the audit's samples of a record, and what holds their states */
    float *states;
} gbees_event;

enum { GBEES_EVENT_CELL_BYTES = 24 /* that a cell of a record takes, see cells.h */ };

/* Of all events of a run: its problem and backend, and who is told. */
typedef struct gbees_event_target {
    const gbees_problem *problem;
    const gbees_backend *backend;
    const gbees_observer *observer;
} gbees_event_target;

/* Whether the event is a record. */
int gbees_event_is_record(const gbees_event *event);
/* The bytes that a record's cells take, or will take once they are fetched; 0 for other events. */
double gbees_event_bytes(const gbees_event *event);
/* Fetches and sorts a record's cells and has the audit compare it, has the audit estimate an update's evidence, or
 * adds the audit's samples to a checkpoint. Returns the status of what failed. */
int gbees_event_prepare(const gbees_event_target *target, gbees_event *event, gbees_error *error);
/* Calls the observer with a prepared event and returns its status. */
int gbees_event_observe(const gbees_event_target *target, gbees_event *event, gbees_error *error);
/* Frees what the event owns. */
void gbees_event_drop(const gbees_event_target *target, gbees_event *event);

#endif
