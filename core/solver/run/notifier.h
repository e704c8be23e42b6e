/* notifier.h - calls the observer with records and updates, in their order.
 *
 * If the observer is `concurrent` (see gbees_observer in gbees/solver.h), two threads of the notifier take the events
 * while the run goes on: one prepares them (event.h), the other makes the calls. Events wait in a queue: two records
 * as long as their cells together are small, else one.
 */
#ifndef GBEES_SOLVER_RUN_NOTIFIER_H
#define GBEES_SOLVER_RUN_NOTIFIER_H

#include "event.h"

typedef struct gbees_notifier gbees_notifier;

/* Problem, backend and observer must outlive the notifier. */
int gbees_notifier_create(const gbees_problem *problem, const gbees_backend *backend, const gbees_observer *observer,
                          gbees_notifier **notifier, gbees_error *error);
/* Waits until the queue is empty. An error that gbees_notifier_status() has not reported is lost. */
void gbees_notifier_destroy(gbees_notifier *notifier);

/* Whether the notifier has threads; without them gbees_notifier_post() calls the observer itself. */
int gbees_notifier_is_concurrent(const gbees_notifier *notifier);

/* The functions below return the status of the first call to the observer that failed; after it there are no calls.
 */

/* Waits until the queue has capacity for a record of `cells` cells. */
int gbees_notifier_wait(gbees_notifier *notifier, uint64_t cells, gbees_error *error);
/* Queues the event, or calls the observer at once; takes ownership of what the event owns. */
int gbees_notifier_post(gbees_notifier *notifier, gbees_event *event, gbees_error *error);
/* Waits until the queue is empty, then prepares the event and calls the observer, in this thread: for cells that are
 * fetched meanwhile. Takes ownership of what the event owns. */
int gbees_notifier_call(gbees_notifier *notifier, gbees_event *event, gbees_error *error);
/* Waits until the queue is empty, then calls the observer with a checkpoint, which stays the caller's and has the
 * audit's samples. */
int gbees_notifier_checkpoint(gbees_notifier *notifier, gbees_checkpoint *checkpoint, gbees_error *error);
/* Does not wait. */
int gbees_notifier_status(gbees_notifier *notifier, gbees_error *error);
/* Waits until all events in the queue are prepared: the audit has seen them. Calls to the observer may still come. */
int gbees_notifier_wait_prepared(gbees_notifier *notifier, gbees_error *error);
/* Waits until the queue is empty. */
int gbees_notifier_finish(gbees_notifier *notifier, gbees_error *error);

#endif
