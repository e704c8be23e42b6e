/* ranks.h - a large grid that several ranks share, each with a GPU of its own: doc/cluster.md.
 *
 * While a grid is small rank 0 has all of it, and the others wait. When it has grown to `split_from` bricks, each
 * rank takes the bricks of a box (common/partition.h), and ghosts beside it (device/share.h). All ranks then take the
 * same steps (ranks_step.c). Before rank 0 does anything else, all bricks come back to it (ranks_move.c).
 */
#ifndef GBEES_CUDA_RANKS_H
#define GBEES_CUDA_RANKS_H

#include "common/exchange.h"
#include "common/partition.h"
#include "engine.h"
#include "nccl.h"

/* Slots of bricks, in the GPU's memory. */
typedef struct brick_list {
    device_array slots;
    uint32_t count;
} brick_list;

/* Keys of bricks, [count][n], in the host's memory. */
typedef struct key_list {
    int32_t *key;
    uint64_t count, capacity;
} key_list;

/* A rank whose box lies near this one's. The lists of both have the same bricks in the same order, by class: [j]
 * ghosts that are outside the box along axis j alone, which sweeps along j read; [n] all others. */
typedef struct rank_partner {
    int rank;
    brick_list give[GBEES_MAX_DIM + 1];                                /* own bricks that are ghosts there */
    brick_list take[GBEES_MAX_DIM + 1];                                /* ghosts that it owns */
    uint32_t give_new[GBEES_MAX_DIM + 1], take_new[GBEES_MAX_DIM + 1]; /* of them, those that are being added */
    key_list out, in;                                                  /* keys that are sent and received */
} rank_partner;

/* A message between GPUs. */
typedef struct device_message {
    int rank;
    size_t size;
    CUdeviceptr at;
} device_message;

struct engine_ranks {
    const gbees_parallel *parallel;
    nccl_comm nccl;      /* {0}: rows travel through the hosts */
    int is_alone;        /* 1: the problem's grids are never large enough to gain by sharing */
    int is_split;        /* 1: each rank has its own part */
    uint32_t split_from; /* bricks; back to rank 0 below half of it */
    partition cuts;      /* the last ones that were chosen; ranks == 0: none yet */
    partition_box *box;  /* [ranks]: who owns what */
    int layers[GBEES_MAX_DIM];
    rank_partner *partner;
    int partners, capacity; /* in use, and made */
    int has_grown;          /* 1: the last step has inserted the bricks for the next one; they are not linked */
    uint32_t ghosts;        /* that are linked */
    double inspected;       /* the time of flow and rates, with a drift that depends on time */
    uint64_t bricks;        /* of all ranks, at the last count */
    double busiest;         /* of the rank that has most */
    device_array counters, keys, announced, send, receive;
    uint32_t *counts;         /* of all lists, [ranks][n + 1]: page-locked */
    device_message *out, *in; /* [ranks] */
    gbees_message *to, *from; /* [ranks] */
    void *host[2];            /* [size[i]]: rows that go through the host: sent, received */
    size_t size[2];
    exchange_log log;        /* of this rank */
    double bytes, waited;    /* of all, at the last report */
    double imbalance, steps; /* summed up over steps */
};

/* ---- ranks.c ---- */
/* Makes the ranks of an engine; its problem is one that they can share. */
int ranks_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error);
void ranks_destroy(gbees_engine *e);
/* All ranks: has rows travel by NCCL, if all have it. */
int ranks_connect(gbees_engine *e, gbees_error *error);
void ranks_sum(gbees_engine *e, int64_t *values, size_t count);
void ranks_most(gbees_engine *e, double *values, size_t count);
int ranks_agree(gbees_engine *e, int status, gbees_error *error);
void ranks_exchange(gbees_engine *e, const gbees_message *out, int outs, const gbees_message *in, int ins);
/* Exchanges ranks->out and ranks->in, between GPUs. */
int ranks_exchange_rows(gbees_engine *e, int outs, int ins, gbees_error *error);
/* Grows an array of the GPU's memory. */
int ranks_reserve(gbees_engine *e, device_array *array, size_t size, gbees_error *error);
/* Replaces the totals of this rank by those of all. */
void ranks_report(gbees_engine *e);

/* ---- ranks_requests.c ---- */
/* Inserts bricks by their keys, [count][n]; slots: where to write their slots, or 0. */
int ranks_insert(gbees_engine *e, CUdeviceptr keys, uint32_t count, CUdeviceptr slots, gbees_error *error);
/* Sends the keys of new ghosts to their owners; inserts those that arrive, unless the heap is full. */
int ranks_exchange_requests(gbees_engine *e, int is_full, gbees_error *error);

/* ---- ranks_ghosts.c ---- */
/* Makes all ghosts anew for the present boxes. is_clean: a prune has dropped the ones before from table and links. */
int ranks_renew(gbees_engine *e, int is_clean, gbees_error *error);
/* After growth, which has inserted own bricks and ghosts: has the ghosts' owners insert them, tells the partners of
 * new own bricks, and links what is new. *too_small: the heap was too small, and some are missing. */
int ranks_spread(gbees_engine *e, uint64_t step, int *too_small, gbees_error *error);
/* With a drift that depends on time: flow and rates of own bricks and ghosts at a time. */
int ranks_inspect(gbees_engine *e, double time, gbees_error *error);
/* Gives the ghosts of a class the rows that their owners have. */
int ranks_refresh(gbees_engine *e, CUdeviceptr rows, int class, gbees_error *error);
/* The same of the rows `which`, for classes 0 .. last. */
int ranks_refresh_classes(gbees_engine *e, int which, int last, gbees_error *error);

/* ---- ranks_move.c ---- */
/* All ranks: chooses cuts for the bricks as they are, and moves these to their owners; no ghosts yet. */
int ranks_cut(gbees_engine *e, gbees_error *error);
/* Moves the bricks to the owners that the last cuts gave them; all to rank 0. */
int ranks_divide(gbees_engine *e, gbees_error *error);
int ranks_collect(gbees_engine *e, gbees_error *error);
/* Counts the bricks of all ranks. */
void ranks_count(gbees_engine *e);

/* ---- ranks_advect.c ---- */
/* With process noise: into how many explicit steps of diffusion the planned step is cut; else 0. */
int ranks_choose_noise_steps(gbees_engine *e, double *steps, gbees_error *error);
/* Advects the density by the planned step, and diffuses it; marks its cells, and grows the grid if that is planned.
 * An error ends all ranks: the others wait for rows. */
int ranks_advance_density(gbees_engine *e, double noise_steps, gbees_error *error);

/* ---- ranks_step.c ---- */
/* All ranks, of a grid that is split: takes steps until number `target`, the end of the interval, or until the grid
 * has shrunk and is rank 0's again. */
int ranks_steps(gbees_engine *e, uint64_t target, gbees_error *error);
/* Prunes, and sees to it that the ranks have equal shares; the grid may be rank 0's again. */
int ranks_shrink(gbees_engine *e, gbees_error *error);
/* Before anything but steps: links the bricks that the last step has inserted. */
int ranks_settle(gbees_engine *e, gbees_error *error);

/* ---- ranks_statistics.c: all ranks, of a grid that is split ---- */
/* The sums of all ranks, to found->moment; the largest P, and its cell. */
int ranks_find_moments(gbees_engine *e, double *peak, int32_t *index, gbees_error *error);
/* The range of cells' indices, found->lowest and highest. */
void ranks_join_range(gbees_engine *e);
/* The counts of cells. */
int ranks_count_cells(gbees_engine *e, gbees_statistics *out, gbees_error *error);

/* ---- ranks_update.c: all ranks, of a grid that is split ---- */
/* Multiplies the density by a likelihood, and divides it by its sum, as engine_launch_update(), whose findings it
 * leaves, those of all ranks; and prunes it. */
int ranks_multiply(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* ---- ranks_tell.c, ranks_serve.c ---- */
typedef enum ranks_order {
    RANKS_END,
    RANKS_SPLIT,
    RANKS_STEPS,
    RANKS_STATISTICS,
    RANKS_CELLS,
    RANKS_MARGINALS,
    RANKS_UPDATE,
    RANKS_COLLECT
} ranks_order;

/* What all ranks need to know of the run, and of what they are to do. */
typedef struct ranks_command {
    ranks_order order;
    uint64_t target; /* steps */
    uint64_t most;   /* entries of a plane of marginals */
    double fraction; /* of p*: cells */
    gbees_clock clock;
    gbees_measurement measurement;
    gbees_run_state run;
    mass_budget budget;
} ranks_command;

/* Sends an order from rank 0 to the others. */
void ranks_tell(const gbees_parallel *p, ranks_command *command);
/* All ranks: shares the bricks out. */
int ranks_split(gbees_engine *e, gbees_error *error);
static inline int engine_is_split(const gbees_engine *e)
{
    return e->ranks && e->ranks->is_split;
}
/* Rank 0: has the others take part in what is to be done with a grid that is split: `command` without the run. Then
 * all do so. */
int ranks_begin(gbees_engine *e, const ranks_command *command, gbees_error *error);
/* Rank 0: whether the grid is large enough to be shared, or is shared. */
int ranks_are_due(const gbees_engine *e);
/* Rank 0: splits the grid unless it is, and has all ranks take steps. */
int ranks_advance(gbees_engine *e, uint64_t target, gbees_error *error);
/* Rank 0: tells the others that the engine ends. */
void ranks_end(gbees_engine *e);

#endif
