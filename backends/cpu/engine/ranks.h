/* ranks.h - a grid that is shared among processes (ranks): doc/cluster.md.
 *
 * Each rank owns the bricks of a box (partition.h) and has a ghost brick for each of its neighbours' bricks near the
 * box: a copy. Ghosts have no active cells, are in no sum, and get P from their owners before it is read; what sweeps
 * make of them is not used. Rank 0 is told what to do by the solver, and tells the others (serve.c).
 */
#ifndef GBEES_CPU_RANKS_H
#define GBEES_CPU_RANKS_H

#include "common/exchange.h"
#include "common/partition.h"
#include "engine.h"
#include "exact.h"
#include <gbees/parallel.h>
#include <math.h>

/* Some slots, or keys. */
typedef struct slot_list {
    uint32_t *slot;
    size_t count, capacity;
} slot_list;

typedef struct key_list {
    int32_t (*key)[GBEES_MAX_DIM];
    uint64_t count;
    size_t capacity;
} key_list;

/* A rank whose box lies near this one's. The lists of both have the same bricks in the same order, by class: [j]
 * ghosts that are outside the box along axis j alone, which sweeps along j read; [n] all others. */
typedef struct rank_partner {
    int rank;
    slot_list give[GBEES_MAX_DIM + 1]; /* own bricks that are ghosts there */
    slot_list take[GBEES_MAX_DIM + 1]; /* ghosts that it owns */
    key_list out, in;                  /* keys that are sent and received */
} rank_partner;

typedef struct engine_ranks {
    const gbees_parallel *parallel;
    partition cuts;
    int layers[GBEES_MAX_DIM]; /* of ghosts */
    rank_partner *partner;
    int partners;
    gbees_message *out, *in; /* [ranks] */
    void *buffer;            /* of messages */
    size_t buffer_size;
    uint64_t bricks;           /* of all ranks, at the last count */
    uint64_t own;              /* of this one */
    double busiest, imbalance; /* bricks of the rank that has most; that over the mean, summed up over steps */
    double reached;            /* that over the mean after the last cuts */
    double steps;
    double bytes, waited; /* sent by all ranks, and seconds that the slowest waited, at the last report */
    exchange_log log;     /* of this rank */
    double peak_bytes;    /* of all ranks, at the last report */
} engine_ranks;

/* Bricks in use, on all ranks: at the last count. */
static inline uint64_t engine_bricks(const gbees_engine *e)
{
    return e->ranks ? e->ranks->bricks : e->g.count;
}

/* ---- ranks.c ---- */
/* What a problem has that ranks can't share: GBEES_EUSAGE. */
int ranks_check(const gbees_problem *problem, gbees_error *error);
int ranks_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error);
void ranks_destroy(gbees_engine *e);
/* Sums and largest values over all ranks. */
void ranks_sum(gbees_engine *e, int64_t *values, size_t count);
void ranks_most(gbees_engine *e, double *values, size_t count);
void ranks_sum_exactly(gbees_engine *e, exact_sum *sums, size_t count);
void ranks_exchange(gbees_engine *e, const gbees_message *out, int outs, const gbees_message *in, int ins);
/* Returns the status of the lowest rank that has failed, with its text, on all ranks; 0 if none has. */
int ranks_agree(gbees_engine *e, int status, gbees_error *error);
/* Memory for messages; NULL: out of memory. */
void *ranks_buffer(engine_ranks *ranks, size_t size);

/* ---- ghosts.c ---- */
/* Whether this rank owns the brick with a key. */
int ranks_owns(const gbees_engine *e, const int32_t *key);
/* Notes a brick to be inserted by its owner. Returns 1 if there is no memory. */
int ghosts_request(gbees_engine *e, const int32_t *key);
/* Inserts the own bricks that others have requested, then the ghosts of what is new from used brick `from` on.
 * status: of this rank so far, as is the result: ranks don't agree yet. */
int ghosts_grow(gbees_engine *e, uint32_t from, int status, gbees_error *error);
/* Makes all ghosts anew for the present cuts, where there is none, linked, cleared and not inspected. */
int ghosts_renew(gbees_engine *e, gbees_error *error);
/* Lists the ghosts anew for the same cuts, after a prune has kept those of what their owners keep. */
int ghosts_relist(gbees_engine *e, gbees_error *error);
/* Marks as needed those ghosts, and no others, whose owners need them. */
void ghosts_keep(gbees_engine *e);
/* Gives ghosts the rows (of P, or of a pass of a step) that their owners have: those that a sweep along the axis
 * reads, or all (axis < 0). */
void ghosts_refresh(gbees_engine *e, void *rows, int axis);

/* Keeps the pencils along an axis that own bricks may lie in; returns how many. */
uint32_t ghosts_pick_pencils(const gbees_engine *e, int axis, uint32_t *first, uint32_t count);

/* ---- balance.c ---- */
/* Chooses the cuts for the bricks of the initial density, of which this rank then inserts its own. */
int balance_start(gbees_engine *e, gbees_error *error);
/* The bricks of a checkpoint, on rank 0: keys of n numbers, and rows. */
typedef struct saved_bricks {
    uint64_t count; /* 0 on other ranks */
    const int32_t *key;
    const uint64_t *active, *expanded;
    const void *p;
} saved_bricks;
/* Chooses the cuts for the bricks of a checkpoint, which rank 0 deals out. */
int balance_deal(gbees_engine *e, const saved_bricks *bricks, gbees_error *error);
/* After a prune that has kept the ghosts of what their owners keep: chooses new cuts if a rank has far more bricks
 * than the mean, moves bricks to their owners, and makes the ghosts. */
int balance_renew(gbees_engine *e, gbees_error *error);
/* The same after a step without a prune, where the grid has grown on one side. */
int balance_step(gbees_engine *e, gbees_error *error);

/* ---- ranks_sums.c ---- */
/* The sum of P over own bricks k with except[k] == 0 (NULL: all), on all ranks. */
double ranks_sum_density(gbees_engine *e, const unsigned char *except);
/* The sum of rows.rate over own bricks, on all ranks. */
double ranks_sum_rates(gbees_engine *e);
/* After the pass that ends a step: adds the sums of the own bricks of all ranks; ghosts get no active cells. failed:
 * memory has run out on this rank; the result: on any. */
int ranks_end_step(gbees_engine *e, int failed, kernel_sums *total);
/* Replaces the counts of cells by those of own bricks on all ranks; ghosts have no active cells. */
void ranks_count_cells(gbees_engine *e, uint64_t *needed, uint64_t *active);
/* The moments of all ranks, and the key of the brick of the peak. */
void ranks_moments(gbees_engine *e, kernel_moments *total, int32_t *peak_key);
/* Some numbers of each brick, whose sums over all ranks are wanted. */
typedef struct ranks_numbers {
    int count;
    exact_sum *sum; /* [count] */
    double *value;  /* [count] */
    int64_t odd;    /* numbers that are not finite */
} ranks_numbers;
int ranks_numbers_open(gbees_engine *e, int count, ranks_numbers *numbers, gbees_error *error);
/* Adds a brick's number to sum k. */
static inline void ranks_add(ranks_numbers *to, int k, double number)
{
    if (isfinite(number))
        exact_add(&to->sum[k], number);
    else
        to->odd++;
}
/* The sums over all ranks, which are no numbers if one is not finite. */
const double *ranks_numbers_close(gbees_engine *e, ranks_numbers *numbers);
void ranks_numbers_free(ranks_numbers *numbers);
/* Whether a rank says yes. */
int ranks_any(gbees_engine *e, int here);
/* The spectrum of the initial density (common/budget.h), of all ranks. */
void ranks_spectrum(gbees_engine *e, budget_spectrum *spectrum);
/* Collects the totals of all ranks. */
void ranks_report(gbees_engine *e);

/* ---- ranks_ctu.c ---- */
/* A step of ctu, to rows.next; the sums are those of all ranks. */
void ranks_step_ctu(gbees_engine *e, kernel_sums *total);

/* ---- serve.c: what rank 0 has the others do ---- */
typedef enum ranks_order {
    RANKS_END,
    RANKS_ADVANCE,
    RANKS_UPDATE,
    RANKS_STATISTICS,
    RANKS_CELLS,
    RANKS_SAVE,
    RANKS_FRAME_SET,
    RANKS_FRAME_FIT,
    RANKS_FRAME_INFORMATION
} ranks_order;

typedef struct ranks_command {
    ranks_order order;
    gbees_clock clock;
    uint64_t max_steps;
    double fraction;
    gbees_measurement measurement;
    gbees_grid_frame frame;
    double time;
    int wants_rate;
} ranks_command;

/* Rank 0: tells the others. */
void ranks_tell(gbees_engine *e, const ranks_command *command);
/* Other ranks: do what they are told, until the end. */
void ranks_obey(gbees_engine *e);
/* The cells of all ranks, for rank 0's visitor; others send them. */
int ranks_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error);

/* ---- collect.c ---- */
/* The rows of the own bricks of all ranks, rank after rank, which rank 0 free()s; NULL on the others, or without
 * memory. */
void *ranks_collect(gbees_engine *e, const void *rows, size_t row);
/* A grid of the own bricks of all ranks, in that order; without bricks if one process can't have so many. */
grid_state ranks_grid_state(gbees_engine *e);

#endif
