/* ranks.h - a grid that is shared among processes (ranks): doc/cluster.md.
 *
 * Each rank owns the bricks in a box (common/partition.h), and has ghost bricks, copies of other ranks' bricks near
 * that box. Ghosts are in the grid, in the Used List behind or among own bricks. They have no active cells and are in
 * no sum; their owners' P is copied to them before it is read, and what sweeps make of their P is not used. The
 * solver calls rank 0's engine, and the others do the same (common/ranks/shared.h).
 *
 * Functions marked "all ranks" exchange messages: every rank calls them, in the same order. If they agree on a
 * status, it is the same on all ranks. In a run of one process, where e->ranks is NULL, those that a step, a prune or
 * growth calls do nothing, and return what they got, or 0.
 */
#ifndef GBEES_CPU_RANKS_H
#define GBEES_CPU_RANKS_H

#include "base/exact.h"
#include "common/initial_bricks.h"
#include "common/ranks/ranks.h"
#include "engine.h"
#include <gbees/parallel.h>
#include <math.h>

/* A list of bricks by their slots. */
typedef struct slot_list {
    uint32_t *slot; /* [capacity] */
    size_t count, capacity;
} slot_list;

/* The ghosts of this rank and a partner, by class (rank_partner). The list `give` of one rank has the same bricks in
 * the same order as the list `take` of its partner, so that rows travel without keys. */
typedef struct ghost_lists {
    slot_list give[GBEES_MAX_DIM + 1]; /* own bricks that are its ghosts */
    slot_list take[GBEES_MAX_DIM + 1]; /* ghosts that it owns */
} ghost_lists;

/* What an engine has of them. */
typedef struct engine_ghosts {
    ghost_lists *beside; /* [ranks]: as ranks->partner */
    void *buffer;        /* data of messages, [buffer_size] bytes */
    size_t buffer_size;
} engine_ghosts;

/* The number of bricks in use; among ranks those of all, when they were last counted. */
static inline uint64_t engine_bricks(const gbees_engine *e)
{
    return e->ranks ? e->ranks->bricks : e->g.count;
}

/* ---- ranks.c ---- */
/* Makes e->ranks and e->ghosts. engine_leave_ranks() frees them, also after an error. */
int engine_join_ranks(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error);
void engine_leave_ranks(gbees_engine *e);
/* All ranks: replaces sums[count] by their sums over all ranks, without rounding. */
void ranks_sum_exactly(gbees_engine *e, exact_sum *sums, size_t count);

/* ---- ghosts.c ---- */
/* All ranks: sends requests (ranks_request()) and inserts the own bricks that others have requested. Then announces
 * the own bricks that are new, used bricks `from` and later, to the partners whose ghosts they are, and inserts
 * ghosts of the partners' new ones. `status` is that of this rank so far, and the result is this rank's: ranks have
 * not agreed on it. */
int ghosts_grow(gbees_engine *e, uint32_t from, int status, gbees_error *error);
/* The class that a brick of another rank's box has as a ghost (rank_partner); -1: it is too far away to be one. */
int ghosts_class(const gbees_engine *e, const int32_t *key);
/* All ranks: lists the ghosts for the present cuts, and adds and clears those that are not there; no other ghosts may
 * be there. Links used bricks `linked` and later, ghosts among them; they are not inspected. */
int ghosts_renew(gbees_engine *e, uint32_t linked, gbees_error *error);
/* All ranks, after a prune: makes the lists `give` and `take` anew, of the bricks and ghosts that it has kept. */
int ghosts_relist(gbees_engine *e, gbees_error *error);
/* All ranks, in a prune: copies the needed cells of all ghosts from their owners, so that a prune keeps a ghost
 * exactly if its owner keeps the brick. */
void ghosts_keep(gbees_engine *e);
/* All ranks: copies rows of ghosts from their owners: of those ghosts that a sweep along the axis reads, or of all
 * (axis < 0). rows: P, or another array of its size, [slot][cells]. */
void ghosts_refresh(gbees_engine *e, void *rows, int axis);

/* Of the pencils along an axis, whose first bricks are first[count], keeps those that may have own bricks; returns
 * their number. */
uint32_t ghosts_pick_pencils(const gbees_engine *e, int axis, uint32_t *first, uint32_t count);

/* ---- balance.c ---- */
/* All ranks: chooses the cuts by bricks of the initial density. */
int balance_start(gbees_engine *e, initial_bricks *bricks, gbees_error *error);
/* What moves of bricks: of a checkpoint, on rank 0, or of the grid. */
typedef struct brick_rows {
    uint64_t count;
    const int32_t *key;                /* [count][n] */
    const uint64_t *active, *expanded; /* [count], as engine_rows has them */
    const void *p;                     /* [count][cells] */
} brick_rows;
/* All ranks: chooses the cuts by the bricks of a checkpoint, sends them from rank 0 to their owners, and makes
 * ghosts. */
int balance_deal(gbees_engine *e, const brick_rows *bricks, gbees_error *error);
/* All ranks, after a prune: if a rank has far more bricks than the mean, chooses new cuts, moves bricks to their
 * owners and makes ghosts; otherwise makes the lists of ghosts anew. */
int balance_renew(gbees_engine *e, gbees_error *error);
/* All ranks, after a step without a prune: chooses new cuts, moves bricks and makes ghosts if growth has given a rank
 * far more bricks than the mean. */
int balance_step(gbees_engine *e, gbees_error *error);

/* ---- ranks_sums.c ---- */
/* ---- All of these are called by all ranks, and give the same results on all. ---- */
/* Replaces *largest and *active by the largest rates of all ranks, and finds the largest load. */
void ranks_find_rates(gbees_engine *e, double *largest, double *active);
/* As engine_add_up(). */
int ranks_add_up(gbees_engine *e, const brick_numbers *of, double *sums, gbees_error *error);
/* After the pass that ends a step: sets *total from the sums that it has left in the bricks of all ranks
 * (rows.ended), and clears the active cells of ghosts. failed: memory has run out on this rank. Returns whether it
 * has on any. */
int ranks_end_step(gbees_engine *e, int failed, kernel_sums *total);
/* Sets *needed and *active to the numbers of these cells in the bricks of all ranks, and clears the active cells of
 * ghosts.
 */
void ranks_count_cells(gbees_engine *e, uint64_t *needed, uint64_t *active);
/* Sets *total to the moments of the bricks of all ranks, and peak_key[n] to the key of the brick with the largest P.
 */
void ranks_moments(gbees_engine *e, kernel_moments *total, int32_t *peak_key);

/* ---- collect.c ---- */
/* All ranks: returns the rows, of `row` bytes each, of the bricks of all ranks, rank after rank, on rank 0; NULL if a
 * rank has no memory. Sets *owned to what the caller free()s. */
const void *ranks_collect(gbees_engine *e, const void *rows, size_t row, void **owned);
/* All ranks: returns what a grid of one process with the bricks of all ranks, in that order, has as its state; its
 * count is 0 if they are too many for one process. */
grid_state ranks_grid_state(gbees_engine *e);

#endif
