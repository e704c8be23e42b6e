/* ranks.h - what ranks that share a grid (doc/cluster.md) have, wherever an engine keeps its bricks: the boxes of
 * all, the calls of the communicator, timed and counted, requests for bricks, and what a summary says of each.
 *
 * Each rank owns the bricks in a box (partition.h), and has ghosts, copies of other ranks' bricks near that box. All
 * ranks call a function that says so, in the same order, and get the same status. A run of one process has no
 * engine_ranks: for `ranks` NULL sums, maxima and agreement leave the values as they are.
 */
#ifndef GBEES_COMMON_RANKS_RANKS_H
#define GBEES_COMMON_RANKS_RANKS_H

#include "numerics/brick.h"
#include "partition.h"
#include "speed.h"
#include <gbees/backend.h>
#include <gbees/parallel.h>

/* A list of bricks by their keys. */
typedef struct key_list {
    int32_t *key;             /* [capacity][n] */
    uint64_t count, capacity; /* bricks */
} key_list;

/* A rank whose box is so near that bricks of one are ghosts of the other. There are n + 1 classes of ghosts: class j
 * < n is outside the box along axis j alone, and a sweep along j reads it; class n is outside along several axes. */
typedef struct rank_partner {
    int rank;
    key_list out, in; /* keys that are sent to it, and that it has sent */
} rank_partner;

typedef struct engine_ranks {
    const gbees_parallel *parallel;
    int n;                     /* dimensions */
    partition cuts;            /* part r is the box of rank r; part NULL: none have been chosen yet */
    int layers[GBEES_MAX_DIM]; /* of ghosts beside the box, by axis */
    rank_partner *partner;     /* [ranks] */
    int partners;              /* of this rank: partner[0 .. partners - 1] */
    gbees_message *out, *in;   /* [ranks]: memory for messages */
    rank_speeds speeds;
    uint64_t bricks;            /* of all ranks, when they were last counted; ghosts count for none */
    uint64_t own;               /* of this rank */
    double busiest;             /* the largest load of a rank (speed.h) */
    double reached;             /* ranks_load() after the last cuts */
    double imbalance;           /* the sum over steps of ranks_load() */
    double own_bricks;          /* of this rank, summed up over steps */
    double steps;               /* how many steps these were */
    double sent, seconds;       /* by this rank: bytes in messages; in the functions below, most of it waiting */
    double all_sent, most_wait; /* of all ranks, at the last ranks_report(): the sum; the longest, in seconds */
    uint64_t peak_bytes;        /* of all ranks, then: the sum */
    gbees_rank_totals *each;    /* [ranks]: of each, at the last ranks_report() */
} engine_ranks;

/* Makes what the ranks of an engine have. least_s: each is measured for so many seconds before its speed counts. The
 * caller destroys it, also after an error; NULL is allowed. */
int ranks_create(engine_ranks **ranks, const gbees_parallel *parallel, const gbees_problem *problem,
                 const gbees_shape *shape, double least_s, gbees_error *error);
void ranks_destroy(engine_ranks *ranks);
/* Sets all counts of steps, bytes and seconds to 0, and forgets the cuts: for another grid. */
void ranks_restart(engine_ranks *ranks);

/* ---- the communicator ---- */

/* All ranks, or `ranks` NULL: replaces values[count] by their sums over all ranks, or by the largest ones. */
void ranks_sum(engine_ranks *ranks, int64_t *values, size_t count);
void ranks_most(engine_ranks *ranks, double *values, size_t count);
/* All ranks, or NULL: whether `here` is not 0 on any rank. */
int ranks_any(engine_ranks *ranks, int here);
/* All ranks, or NULL: returns the status of the lowest rank that has failed, with its text, on all; 0: none has. */
int ranks_agree(engine_ranks *ranks, int status, gbees_error *error);
/* All ranks that have messages for each other: as exchange() of the communicator. */
void ranks_exchange(engine_ranks *ranks, const gbees_message *out, int outs, const gbees_message *in, int ins);
/* Ends all ranks with the text `why`: this one can't go on, and the others wait for it. MPI's communicator does not
 * return from it. */
_Noreturn void ranks_abort(engine_ranks *ranks, const char *why);
/* All ranks: sent[ranks] are numbers of bricks that go from this rank to each. Sets arriving[ranks] to those that
 * come from each, and returns their sum. */
uint64_t ranks_count_moves(engine_ranks *ranks, const uint64_t *sent, uint64_t *arriving);
/* Sets the error for memory that has run out, and returns its status. */
int ranks_no_memory(gbees_error *error);

/* ---- loads, and what a summary says ---- */

/* The seconds that this rank has had for itself: those of a clock without those in the functions above. NULL: 0. */
double ranks_own_seconds(const engine_ranks *ranks);
/* Enters that it has advanced its bricks since ranks_own_seconds() was `began`. NULL is allowed. */
void ranks_enter_speed(engine_ranks *ranks, double began);

/* All ranks: counts the bricks of all, of which this rank has `own`; returns ranks_load(). */
double ranks_count(engine_ranks *ranks, uint64_t own);
/* The time of the slowest rank over that of an even division of the bricks. */
double ranks_load(const engine_ranks *ranks);
/* Enters a step, of `bricks` of all ranks and `own` of this one, with the load `busiest`. */
void ranks_enter_step(engine_ranks *ranks, uint64_t own, uint64_t bricks);
/* All ranks, or NULL: has all know what each has done, with this rank's largest memory. */
void ranks_report(engine_ranks *ranks, uint64_t peak_bytes);
/* As rank_totals() of gbees_backend; and the members of its totals that are about all ranks. Neither does anything
 * for NULL. */
void ranks_get_each(const engine_ranks *ranks, int most, gbees_rank_totals *all);
void ranks_get_totals(const engine_ranks *ranks, gbees_totals *totals);

/* ---- cuts.c ---- */

/* The keys by which cuts are chosen. */
typedef struct key_stream {
    void *context;
    void (*rewind)(void *context);            /* has next() begin with the first one */
    int (*next)(void *context, int32_t *key); /* sets key[n]; returns 0 if there is none left */
    int is_everyones;                         /* all ranks have the same keys; else each has some of them */
} key_stream;

/* All ranks: sets the cuts by the keys of all ranks. The old ones stay after an error. */
int ranks_choose_cuts(engine_ranks *ranks, const key_stream *keys, gbees_error *error);

/* ---- requests.c ---- */

/* Whether this rank owns the brick with a key; NULL: it does. */
int ranks_own(const engine_ranks *ranks, const int32_t *key);
/* Sets the partners by the cuts, with empty lists. */
void ranks_find_partners(engine_ranks *ranks);
/* Appends a key to the list of those that are sent to a partner, or to the partner that owns it. Both return 1 if
 * there is no memory. */
int ranks_add_key(const engine_ranks *ranks, rank_partner *partner, const int32_t *key);
int ranks_request(engine_ranks *ranks, const int32_t *key);
/* All ranks: sends the lists `out` to the partners, and receives theirs, `in`. `out` is empty after it. Ends all
 * ranks if there is no memory for a list that a partner sends. */
void ranks_exchange_keys(engine_ranks *ranks);

#endif
