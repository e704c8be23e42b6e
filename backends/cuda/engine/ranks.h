/* ranks.h - a large grid that several ranks share, each with a GPU of its own: doc/cluster.md.
 *
 * A small grid is rank 0's alone, and the other ranks wait (common/ranks/shared.h). From `split_from` bricks on
 * the grid is split: each rank owns the bricks in its box (common/partition.h), and has ghosts, copies of the bricks
 * of other ranks near that box (device/ranks.h). Steps of a split grid (ranks_step.c), its moments and its counts of
 * cells (ranks_statistics.c) are computed by all ranks at once. For updates, cells, marginals and checkpoints all
 * bricks move to rank 0 first (ranks_move.c).
 *
 * Functions marked "all ranks" exchange messages: every rank calls them, in the same order. Their status is the same
 * on all ranks. A rank that fails where the others already wait for its message ends all ranks (ranks_abort()).
 */
#ifndef GBEES_CUDA_RANKS_H
#define GBEES_CUDA_RANKS_H

#include "common/ranks/ranks.h"
#include "engine.h"
#include "nccl.h"

/* A list of bricks: slots[count], in the GPU's memory. */
typedef struct brick_list {
    device_array slots;
    uint32_t count;
} brick_list;

/* The ghosts of this rank and a partner, by class (rank_partner). The list `give` of one rank has the same bricks in
 * the same order as the list `take` of its partner, so that rows travel without keys. */
typedef struct ghost_lists {
    brick_list give[GBEES_MAX_DIM + 1];                                /* own bricks that are its ghosts */
    brick_list take[GBEES_MAX_DIM + 1];                                /* ghosts that it owns */
    uint32_t give_new[GBEES_MAX_DIM + 1], take_new[GBEES_MAX_DIM + 1]; /* bricks that are being added to the lists */
} ghost_lists;

/* A message between GPUs: as gbees_message, with its data in the GPU's memory. */
typedef struct device_message {
    int rank;
    size_t size; /* bytes */
    CUdeviceptr at;
} device_message;

/* What a rank's engine has of a grid that may be split. */
typedef struct split_grid {
    gbees_problem changed;      /* of ranks but 0, after the grid has changed: the engine's problem */
    nccl_comm nccl;             /* {0}: messages between GPUs travel through the hosts */
    ghost_lists *beside;        /* [ranks]: as ranks->partner */
    int has_grown;              /* 1: the last step has inserted the bricks for the next one; they are not linked */
    uint32_t ghosts;            /* that are linked: gbees_state.ghosts has those, too, that growth has inserted */
    double inspected;           /* time of flow and rates, with a drift that depends on time */
    device_array counters;      /* [partners][n + 1]: lengths of the lists `give`, while bricks are selected */
    device_array keys;          /* keys to be sent or inserted, [..][n]; slots of bricks that move to other ranks */
    device_array announced;     /* keys of the partners' new bricks near this rank's box, [..][n] */
    device_array send, receive; /* data of messages between GPUs */
    uint32_t *counts;           /* [partners][n + 1]: the host's copy of `counters`, in page-locked memory */
    device_message *out, *in;   /* [ranks]: the messages of the next split_exchange() */
    void *host[2];              /* data of messages between GPUs that travel through the hosts: sent, received */
    size_t size[2];             /* of `host`, bytes */
} split_grid;

/* ---- ranks.c ---- */
/* Makes e->ranks and e->split. split_destroy() frees them, also after an error. */
int split_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error);
void split_destroy(gbees_engine *e);
/* All ranks: connects the GPUs by NCCL if every rank finds it. Else messages travel through the hosts. */
int split_connect(gbees_engine *e, gbees_error *error);
/* Sends the messages split->out[outs] and receives split->in[ins], from GPU to GPU. The partners call it with
 * messages of these sizes. Those that were received are there for what is put into the engine's stream after them.
 * An error ends all ranks. */
int split_exchange(gbees_engine *e, int outs, int ins, gbees_error *error);
/* Sends the state, runs a kernel over own bricks and fetches the state. */
int split_run(gbees_engine *e, int kernel, void **arguments, const char *doing, gbees_error *error);
/* Makes an array of the GPU's memory at least `size` bytes long. Its contents stay. */
int split_reserve(gbees_engine *e, device_array *array, size_t size, gbees_error *error);

/* ---- ranks_requests.c ---- */
/* Inserts the bricks with keys[count][n] into the grid, as own ones or ghosts, and writes their slots to slots[count]
 * unless that is 0. Keys and slots are in the GPU's memory. A brick that is there keeps its slot. */
int ranks_insert(gbees_engine *e, CUdeviceptr keys, uint32_t count, CUdeviceptr slots, gbees_error *error);
/* All ranks: sends the keys of the ghosts that growth has inserted to their owners, and inserts the bricks whose keys
 * arrive, as this rank owns them. With is_full it inserts none, and only takes part in the exchange. */
int ranks_exchange_requests(gbees_engine *e, int is_full, gbees_error *error);

/* ---- ranks_ghosts.c ---- */
/* The keys that a rank owns, as kernels take them, and the layers of ghosts beside them. Of a grid that is not split,
 * rank 0 owns all. */
gbees_key_box ranks_box(const gbees_engine *e, int rank);
/* All ranks: makes all ghosts anew, for the present boxes. is_clean: no ghosts are in the hash table and the links,
 * as a prune or ranks_divide() has dropped them; otherwise it removes them first. */
int ranks_renew(gbees_engine *e, int is_clean, gbees_error *error);
/* All ranks, after growth, which has inserted own bricks and ghosts. Has the owners of these ghosts insert them, too,
 * announces new own bricks to the partners whose ghosts they are, and links the new bricks and ghosts with their
 * neighbours; `step` is the number of the step. Sets *too_small to 1 if this rank's heap is full, so that bricks are
 * missing, or nearly full: then ranks_renew() makes the heap larger. Returns 0; an error ends all ranks. */
int ranks_spread(gbees_engine *e, uint64_t step, int *too_small, gbees_error *error);
/* All ranks, with a drift that depends on time: computes flow and rates of own bricks and ghosts at a time. */
int ranks_inspect(gbees_engine *e, double time, gbees_error *error);
/* All ranks: copies the rows of the ghosts of a class (rank_partner) from their owners. `rows` is P, or another array
 * [slot][64] of the density's size. An error ends all ranks. */
int ranks_refresh(gbees_engine *e, CUdeviceptr rows, int class, gbees_error *error);
/* All ranks: copies the rows e->rows[which] of the ghosts of classes 0 .. last, as ranks_refresh(). */
int ranks_refresh_classes(gbees_engine *e, int which, int last, gbees_error *error);

/* ---- ranks_move.c ---- */
/* All ranks: chooses new cuts, so that the ranks have equal numbers of bricks, and moves the bricks to their owners.
 * There are no ghosts after it. */
int ranks_cut(gbees_engine *e, gbees_error *error);
/* All ranks: moves the bricks to their owners by the cuts that were chosen last. There are no ghosts after it. */
int ranks_divide(gbees_engine *e, gbees_error *error);
/* All ranks: moves all bricks to rank 0; the grid is not split after it. */
int ranks_collect(gbees_engine *e, gbees_error *error);

/* ---- ranks_advect.c ---- */
/* All ranks: sets *steps to the number of explicit steps of diffusion into which the planned step is cut; 0: no
 * noise. */
int ranks_choose_noise_steps(gbees_engine *e, double *steps, gbees_error *error);
/* All ranks: advects the density by the planned step, and diffuses it in noise_steps explicit steps; marks its cells,
 * and grows the grid for the next step if that is planned. Fetches the state. */
int ranks_advance_density(gbees_engine *e, double noise_steps, gbees_error *error);

/* ---- ranks_step.c ---- */
/* All ranks, of a split grid: takes steps up to number `target` or the end of the interval. It returns sooner if a
 * prune leaves so few bricks that they are moved to rank 0. */
int ranks_steps(gbees_engine *e, uint64_t target, gbees_error *error);
/* All ranks, of a split grid: prunes it. Moves it to rank 0 if it has become small; else chooses new cuts if the
 * ranks' numbers of bricks differ much, and makes ghosts. */
int ranks_shrink(gbees_engine *e, gbees_error *error);
/* All ranks, of a split grid, before anything but a step: links the bricks that the last step has inserted. Does
 * nothing for a grid that is not split. */
int ranks_link_inserted(gbees_engine *e, gbees_error *error);

/* ---- ranks_statistics.c: all ranks, of a split grid ---- */
/* Sets found->moment to the sums of all ranks, *peak to the largest P, and index[n] to the multi-index of its cell.
 */
int ranks_find_moments(gbees_engine *e, double *peak, int32_t *index, gbees_error *error);
/* Sets found->lowest and found->highest to the range of all ranks' cells, as KERNEL_RANGE to that of one; does
 * nothing for a grid that is not split. */
void ranks_join_range(gbees_engine *e);
/* Counts the cells of all ranks: sets out->cells, cells_above and cells_raw. */
int ranks_count_cells(gbees_engine *e, gbees_statistics *out, gbees_error *error);

/* ---- ranks_update.c: all ranks, of a split grid ---- */
/* Multiplies the density by a likelihood and divides it by its sum, as engine_launch_update() does, and leaves the
 * same in e->found; then ranks_shrink(), unless there is no density left, of which e->found tells why. */
int ranks_multiply(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* ---- ranks_split.c: of these the first three do nothing in a run of one process ---- */
/* Other ranks, in advance(): take part in the steps of a split grid until ranks_return() on rank 0; returns 1.
 * Returns 0 on rank 0. */
int ranks_follow(gbees_engine *e);
void ranks_return(gbees_engine *e);
/* All ranks, for another grid: it is not split, and has no cuts. */
void ranks_forget(gbees_engine *e);
/* Whether each rank has the bricks of its box; 0 for an engine of one process. */
static inline int engine_is_split(const gbees_engine *e)
{
    return e->shared.is_divided;
}
/* The ranks that share the grid now; NULL: one has all of it. */
static inline engine_ranks *split_ranks(const gbees_engine *e)
{
    return engine_is_split(e) ? e->ranks : NULL;
}
/* Rank 0: whether the next steps are all ranks': the grid is split, or has enough bricks for it and none is unlinked.
 */
int ranks_are_due(const gbees_engine *e);
/* Rank 0: splits the grid unless it is split, and has all ranks take steps up to number `target`. */
int ranks_advance(gbees_engine *e, uint64_t target, gbees_error *error);
#endif
