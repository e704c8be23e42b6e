/* teller.h - tells the observer of records and updates, in their order: at once, or from a thread of its own while
 * the run goes on.  (Of an observer that says so: see gbees_observer in gbees.h.)
 *
 * What is told later is kept until then: a few records, as long as they are small, else one.
 */
#ifndef GBEES_SOLVER_TELLER_H
#define GBEES_SOLVER_TELLER_H

#include <gbees/gbees.h>

typedef struct gbees_teller gbees_teller;

/* A record, if its problem is set, else an update.  Cells, capture and marginals are the teller's from then on. */
typedef struct gbees_news {
    gbees_record record;
    gbees_cells *cells;         /* as they were added: the teller sorts them; NULL: no one wants any */
    gbees_capture *capture;     /* in place of cells: the teller fetches them */
    gbees_marginals *marginals; /* of a record, or NULL */
    int number;
    double time;
    gbees_evidence evidence;
} gbees_news;

/* Problem, backend and observer must outlive it. */
int gbees_teller_create(const gbees_problem *problem, const gbees_backend *backend, const gbees_observer *observer,
                        gbees_teller **teller, gbees_error *error);
/* Waits for what is still to be told; an error that was not yet heard of is forgotten. */
void gbees_teller_destroy(gbees_teller *teller);

/* Whether there is a thread: else all is told at once. */
int gbees_teller_is_concurrent(const gbees_teller *teller);
/* Waits until there is room for a record of so many cells. An error is that of something told before. */
int gbees_teller_wait(gbees_teller *teller, uint64_t cells, gbees_error *error);
int gbees_teller_tell(gbees_teller *teller, gbees_news *news, gbees_error *error);
/* What went wrong so far, without waiting. */
int gbees_teller_hear(gbees_teller *teller, gbees_error *error);
/* Waits until all is told. */
int gbees_teller_finish(gbees_teller *teller, gbees_error *error);

#endif
