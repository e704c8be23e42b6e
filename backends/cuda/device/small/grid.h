/* grid.h - the grid of gbees_small(), in shared memory: up to SMALL_BRICKS bricks, spread over the blocks of a
 * cluster.
 *
 * A step of a small grid is limited by latency: memory, barriers, chains of dependent instructions. So everything but
 * the probabilities is in shared memory while the kernel runs, and no block waits for the decision of another one:
 *
 *   each warp has      a fixed set of bricks (small_warp): their flow, rates, links and active cells
 *   each block has     the keys of all bricks, a hash table of them, a copy of the clock and the sums
 *   the GPU's memory   has two arrays of P; the grid's other arrays there are read when a launch begins
 *                      (small_load()) and written when it ends (small_store())
 *
 * Warps report sums and insert requests to all blocks. From these each block computes the same clock, the same step
 * and the same slots of new bricks: the same operations on the same numbers in the same order.
 *
 * For the split schemes in up to three dimensions, where a brick has the same edge along all axes; without noise and
 * without a bound.
 */
#ifndef GBEES_CUDA_SMALL_GRID_H
#define GBEES_CUDA_SMALL_GRID_H

#include "device/grow.h"
#include "device/prune.h"
#include "device/step_state.h"

enum {
    SMALL_BLOCKS = 16,                                               /* of a cluster, at most */
    SMALL_BLOCK_ROUNDS = (SMALL_BLOCKS + WARP_SIZE - 1) / WARP_SIZE, /* in which a warp handles a block a lane */
    SMALL_BRICKS = 1024,                                             /* bricks, at most; see small_capacity() */
    SMALL_WARPS = SMALL_BLOCKS * BLOCK_WARPS,
    /* Bricks of a warp. On the platform of threads any number of blocks can hold all bricks. */
    SMALL_WARP_BRICKS = WARP_SIZE > 1 ? (SMALL_BRICKS + SMALL_WARPS - 1) / SMALL_WARPS : SMALL_BRICKS,
    SMALL_TABLE = 2 * SMALL_BRICKS, /* entries of the hash table */
    /* Insert requests of a block in one step, at most: half of the neighbours of its bricks. */
    SMALL_REQUESTS = (WARP_SIZE > 1 ? SMALL_BRICKS / SMALL_BLOCKS : SMALL_WARP_BRICKS) * PAIRS / 2,
    SMALL_SENT_REQUESTS = 4, /* the first ones, which are in the message; others are read from the block's memory */

    /* Roles of the warps of a block between two steps (steps.h). Warp 0 has the clock. */
    INSERT_WARP = BLOCK_WARPS > 1,            /* inserts new bricks */
    FIRST_RATE_WARP = BLOCK_WARPS > 1 ? 2 : 0 /* this and later warps compute the new bricks' rates */
};

/* A brick; slot 1 + rank + i * stride of the grid is brick i of a warp (small_warp). */
typedef struct small_brick {
    uint64_t flow[DIRECTIONS], active; /* cells that probability leaves, by direction; cells with P >= p* */
    double rate;                       /* the largest CFL rate of its cells */
    position base[DIM];                /* the centre of its lowest cell */
    position beside[DIRECTIONS];       /* of the neighbours' bases the component along the direction's axis */
    uint32_t link[DIRECTIONS];         /* slots of the neighbours; 0: absent */
    int32_t key[DIM];
    uint32_t absent; /* bit i: there is no brick in the pair of directions i */
} small_brick;

/* A brick's key, or an offset between keys. */
typedef struct small_key {
    int32_t at[DIM];
} small_key;

/* A pair of directions (pair_directions()). */
typedef struct direction_pair {
    uint64_t sides; /* the cells at both sides of a brick */
    int32_t d, f;
    small_key offset; /* from a brick's key to that of its neighbour there */
} direction_pair;

/* What other blocks read of a brick during a prune, while the brick itself is replaced. */
typedef struct brick_snapshot {
    uint64_t flow[DIRECTIONS], active;
    double rate;
} brick_snapshot;

/* Which bricks a prune keeps. */
typedef struct compaction {
    uint32_t kept_bits[SMALL_BRICKS / WARP_SIZE]; /* bit lane of word i: slot 1 + i * WARP_SIZE + lane is kept */
    uint16_t old_slot[SMALL_BRICKS + 1];          /* by new slot */
    uint8_t is_kept[SMALL_BRICKS + 1];            /* by old slot; written by the warps of all blocks */
} compaction;

/* A block's message to each block: the sums over its warps. */
typedef struct sums_message {
    alignas(16) uint64_t max_active_rate; /* the bits of a double */
    int64_t mass, outflow;
#if GBEES_DRIFT_TIME_DEPENDENT
    uint64_t max_rate; /* changes by new bricks only, if the drift does not depend on time */
#endif
} sums_message;

/* A block's other message to each block: the number of bricks that it requests, and the first of them. */
typedef struct request_message {
    alignas(16) uint32_t count;
    small_key request[SMALL_SENT_REQUESTS];
} request_message;

/* A block's shared memory. Messages are double buffered: those of round r of a launch lie in [r % 2]. */
typedef struct small_block {
    step_state state;
    sums_message sums[2][SMALL_BLOCKS];                   /* by sending block; written by that block */
    request_message requests[2][SMALL_BLOCKS];            /* by sending block; written by that block */
    uint64_t sums_mbarrier[2], requests_mbarrier[2];      /* count the messages that have arrived */
    warp_sums own[BLOCK_WARPS];                           /* this block's sums, by warp */
    double new_rate[BLOCK_WARPS];                         /* the largest rate of new bricks that a warp has found */
    uint32_t held_before[BLOCK_WARPS], held[BLOCK_WARPS]; /* bricks of a warp: before and after the last growth */
    direction_pair pair[PAIRS];
    small_brick brick[BLOCK_WARPS][SMALL_WARP_BRICKS];
    brick_snapshot snapshot[BLOCK_WARPS][SMALL_WARP_BRICKS];
    small_key key[SMALL_BRICKS + 1]; /* of all bricks, by slot; [0] is not used */
    union {
        small_key request[SMALL_REQUESTS]; /* during steps: the bricks that this block requests; read by all blocks */
        compaction kept;                   /* during a prune */
    };
    uint32_t table[SMALL_TABLE]; /* slots, 0: empty */
    uint32_t request_count;      /* of this block in this step */
    uint32_t count;              /* all bricks, the new ones included */
    uint32_t far_axis,
        overflow; /* of the last growth: 1 + axis of a key that is too far, 0: none; 1: too many bricks */
} small_block;

/* A warp's bricks, those in slots 1 + rank, 1 + rank + stride, ...; kept in registers. */
typedef struct small_warp {
    uint32_t rank, stride, held; /* held: the number of its bricks */
    small_brick *brick;          /* in its block's shared memory */
} small_warp;

/* The number of bricks that the launch can hold. */
GBEES_NUM uint32_t small_capacity(void)
{
    const uint32_t bricks = SMALL_WARP_BRICKS * warp_count();

    return bricks < SMALL_BRICKS ? bricks : SMALL_BRICKS;
}

/* The slot of brick i of a warp. */
GBEES_NUM uint32_t slot_of(const small_warp *warp, uint32_t i)
{
    return 1 + warp->rank + i * warp->stride;
}

/* ---- keys and the hash table ----------------------------------------------------------------------------------- */

/* The key that lies `times` offsets from a brick's key. */
GBEES_NUM small_key neighbor_key(const int32_t *key, small_key offset, int times)
{
    small_key to;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        to.at[k] = key[k] + times * offset.at[k];
    return to;
}

/* The entry of the hash table at which the search for a key begins. */
GBEES_NUM uint32_t small_hash(small_key key)
{
    uint32_t hash = 0;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        hash = (hash + (uint32_t)key.at[k]) * 0x9e3779b1u;
    return hash >> 16 & (SMALL_TABLE - 1);
}

/* The slot of a brick; 0: it is absent. No bricks may be inserted meanwhile. */
GBEES_NUM uint32_t small_find(const small_block *b, small_key key)
{
    for (uint32_t at = small_hash(key);; at = (at + 1) & (SMALL_TABLE - 1)) {
        const uint32_t slot = b->table[at];
        int same = 1;

#pragma unroll
        for (int k = 0; k < DIM; k++)
            same &= b->key[slot].at[k] == key.at[k];
        if (!slot || same)
            return slot;
    }
}

/* Inserts a brick that is absent, and stores its key. Many threads of the block may call it at once. */
GBEES_NUM void small_insert(small_block *b, uint32_t slot, small_key key)
{
    uint32_t at = small_hash(key);

    b->key[slot] = key;
    while (block_cas_32(&b->table[at], 0, slot))
        at = (at + 1) & (SMALL_TABLE - 1);
}

/* ---- a warp's bricks ------------------------------------------------------------------------------------------- */

/* Initialises a brick: key and base; no links, no active cells. By a warp, which is synchronised afterwards. */
GBEES_NUM void init_brick(const gbees_setup *m, const int32_t *key, small_brick *to)
{
    for (int k = warp_lane(); k < DIM; k += WARP_SIZE) {
        to->key[k] = key[k];
        to->base[k] = base_along(m, k, key[k]);
    }
    for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
        to->link[d] = 0;
    if (warp_lane() == 0) {
        to->absent = (1u << PAIRS) - 1;
        to->active = 0;
    }
    warp_sync();
}

/* Looks up the neighbours that were absent so far, and updates links and `absent`. By a warp. */
GBEES_NUM void link_to_neighbors(const gbees_setup *m, const small_block *b, small_brick *brick)
{
    uint32_t absent = brick->absent;

    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        const int pair = first + warp_lane();
        uint32_t slot = 0;

        if (pair < PAIRS && absent >> pair & 1) {
            const int d = b->pair[pair].d, f = b->pair[pair].f, axis = d >> 1;

            slot = small_find(b, neighbor_key(brick->key, b->pair[pair].offset, 1));
            if (slot && f == d) {
                brick->link[d] = slot;
                brick->beside[d] = base_along(m, axis, brick->key[axis] + (d & 1 ? 1 : -1));
            }
        }
        absent &= ~(warp_ballot(slot != 0) << first);
    }
    warp_sync(); /* all lanes have read `absent` */
    if (warp_lane() == 0)
        brick->absent = absent;
    warp_sync();
}

/* Computes the flow masks of the cells from .. to - 1 and the rate of a brick, of which the cells below `from` have
 * been inspected before. Returns the rate. By a warp. */
GBEES_NUM double inspect_small_brick(const gbees_setup *m, double time, int from, int to, small_brick *brick)
{
    double most = from ? brick->rate : 0;
    position base[DIM];

    copy_base(brick->base, base);
#pragma unroll 1
    for (int first = from; first < to; first += WARP_SIZE)
        most = fmax(most, visible_rate((double)inspect_cells(m, base, brick->base, first, time, brick->flow)));
    most = double_of(warp_max_64(bits_of(most)));
    warp_sync(); /* all lanes have read the rate */
    if (warp_lane() == 0)
        brick->rate = most;
    warp_sync();
    return most;
}

/* ---- the grid's arrays, at a launch's begin and end
 * --------------------------------------------------------------------------- */

/* Sets the pairs of directions. By the threads of a block. */
GBEES_NUM void init_pairs(const gbees_setup *m, small_block *b, uint32_t thread, uint32_t threads)
{
    for (uint32_t i = thread; i < PAIRS; i += threads) {
        int d, f;

        (void)pair_directions((int)i, &d, &f);
        b->pair[i].sides = gbees_shape_side(&m->shape, d) & gbees_shape_side(&m->shape, f);
        b->pair[i].d = d;
        b->pair[i].f = f;
        for (int k = 0; k < DIM; k++)
            b->pair[i].offset.at[k] = (d == 2 * k + 1) - (d == 2 * k) + (f != d) * ((f == 2 * k + 1) - (f == 2 * k));
    }
}

/* Begins a launch, by all blocks: each block loads the state, all keys, the hash table and the largest rate. The
 * warps' bricks are loaded by small_advance(). Ends with a barrier of all blocks, after which they may send messages.
 */
GBEES_NUM void small_load(const gbees_setup *m, gbees_state *s, const gbees_state *from, uint64_t target,
                          small_block *b, small_warp *warp)
{
    const uint32_t thread = block_warp() * WARP_SIZE + (uint32_t)warp_lane(), threads = BLOCK_WARPS * WARP_SIZE;
    const uint32_t count = from->count;
    double most = 0;

    cluster_register_memory(b);
    warp->rank = warp_place(m);
    warp->stride = warp_count();
    warp->held = 0;
    warp->brick = b->brick[block_warp()];
    for (uint32_t i = thread; i < SMALL_TABLE; i += threads)
        b->table[i] = 0;
    init_pairs(m, b, thread, threads);
    if (thread == 0) {
        for (int k = 0; k < 2; k++) {
            mbarrier_init(&b->sums_mbarrier[k], block_count());
            mbarrier_init(&b->requests_mbarrier[k], block_count());
        }
        b->request_count = 0;
    }
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads) {
        b->key[slot] = *(const small_key *)(m->grid.key + (size_t)slot * DIM);
        most = fmax(most, m->grid.rate[slot]);
    }
    most = double_of(warp_max_64(bits_of(most)));
    if (warp_lane() == 0)
        b->new_rate[block_warp()] = most;
    load_step_state(&b->state, from, target); /* contains a barrier of the block */
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads)
        small_insert(b, slot, b->key[slot]);
    if (block_warp() == 0) {
        const uint64_t rate = warp_max_64(warp_lane() < BLOCK_WARPS ? bits_of(b->new_rate[warp_lane()]) : 0);

        if (is_block_leader())
            b->state.sums.max_rate = rate;
        if (warp_lane() < FIRST_RATE_WARP) /* warps that compute no rates */
            b->new_rate[warp_lane()] = 0;
    }
    if (thread == 0) {
        b->count = count;
        b->state.goes_on = 1;
    }
    block_sync();
    grid_barrier(m, s);
}

/* Writes a warp's bricks to the grid's arrays; those with slots above `known` are inserted in the grid's table. */
GBEES_NUM void store_bricks(const gbees_setup *m, const small_warp *warp, uint32_t known)
{
    for (uint32_t i = 0; i < warp->held; i++) {
        const small_brick *brick = &warp->brick[i];
        const uint32_t slot = slot_of(warp, i);

        for (int k = warp_lane(); k < DIM; k += WARP_SIZE) {
            m->grid.key[(size_t)slot * DIM + (size_t)k] = brick->key[k];
            ((position *)m->grid.base)[(size_t)slot * DIM + (size_t)k] = brick->base[k];
        }
        for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE) {
            m->grid.neighbor[d][slot] = brick->link[d];
            m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] = brick->flow[d];
        }
        if (warp_lane() == 0) {
            const near_key key = {brick->key, -1, -1};

            m->grid.active[slot] = brick->active;
            m->grid.rate[slot] = brick->rate;
            if (slot > known)
                table_enter(m, slot, key);
        }
    }
}

/* Ends a launch, by all blocks: writes the state and the grid's arrays. The grid's table contains the bricks 1 ..
 * known; if `known` is 0 there has been a prune, and the table is made anew. */
GBEES_NUM void small_store(const gbees_setup *m, gbees_state *s, const small_block *b, const small_warp *warp,
                           uint32_t known)
{
    if (!known)
        clear_table_pass(m);
    grid_barrier(m, s); /* after it no block accesses another one's memory */
    store_step_state(s, &b->state);
    block_sync(); /* warp 0 has inspected the other warps' new bricks */
    store_bricks(m, warp, known);
}

#endif
