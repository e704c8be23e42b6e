/* grid.h - the grid of a cluster's steps (GBEES_SMALL), where a step is a chain of waits: for memory, for each
 * other, and for instructions that depend on the ones before them.
 *
 * Each block has all keys and a table of its own in its own memory, and each warp what there is to know of its bricks
 * but their P.  What a warp finds out that others need it sends to all blocks' memories: which bricks its own ask
 * for, and its sums.  What all need is then computed in each block by itself, from the same numbers in the same
 * order, and nothing is waited for but the next meeting. The grid's arrays in the GPU's memory are read when a launch
 * begins and written when it ends; in between only the rows are.
 *
 * For the split schemes in up to three dimensions, where bricks are as wide along all axes; without noise or bound.
 */
#ifndef GBEES_CUDA_SMALL_GRID_H
#define GBEES_CUDA_SMALL_GRID_H

#include "device/grow.h"
#include "device/step_state.h"

enum {
    SMALL_BLOCKS = 16,
    SMALL_BLOCK_ROUNDS = (SMALL_BLOCKS + WARP_SIZE - 1) / WARP_SIZE, /* of a warp's lanes, for all blocks */
    INSERT_WARP = BLOCK_WARPS > 1,         /* the warp that makes bricks: one that has few of them */
    FIRST_RATE_WARP = BLOCK_WARPS > 1 ? 2 : 0, /* the first of those that look how fast these flow */
    SMALL_BRICKS = 1024,                     /* bricks; fewer if there are fewer blocks */
    SMALL_WARPS = SMALL_BLOCKS * BLOCK_WARPS,
    SMALL_WARP_BRICKS = WARP_SIZE > 1 ? (SMALL_BRICKS + SMALL_WARPS - 1) / SMALL_WARPS : SMALL_BRICKS, /* bricks of a warp */
    SMALL_TABLE = 2 * SMALL_BRICKS,
    /* Bricks that a block asks for at once, at most: for all that it has, if there are as many blocks. */
    SMALL_REQUESTS = (WARP_SIZE > 1 ? SMALL_BRICKS / SMALL_BLOCKS : SMALL_WARP_BRICKS) * PAIRS / 2,
    SMALL_SENT_REQUESTS = 4 /* of them, those that come with its sums */
};

/* A brick that a warp has at hand. */
typedef struct small_brick {
    uint64_t flow[DIRECTIONS], active; /* the cells that probability leaves, by direction; those above p* */
    double rate;
    position base[DIM], beside[DIRECTIONS]; /* its base, and its neighbours' along the axis that they are on */
    uint32_t link[DIRECTIONS];              /* its neighbours; 0: absent */
    int32_t key[DIM];
    uint32_t absent; /* bit by bit: pairs of directions in which there is no brick */
} small_brick;

typedef struct small_key {
    int32_t at[DIM];
} small_key;

/* A pair of directions, and the cells that lie at both sides. */
typedef struct direction_pair {
    uint64_t sides;
    int32_t d, f;
    small_key by; /* the way there */
} direction_pair;

/* What others need of it when bricks go: a cell flows where it flowed, whatever becomes of the brick meanwhile. */
typedef struct brick_snapshot {
    uint64_t flow[DIRECTIONS], active;
    double rate;
} brick_snapshot;

/* Bricks that stay when others go: as their warps have told it, and bit by bit; and which one it was that is this one
 * now. */
typedef struct compaction {
    uint32_t kept_bits[SMALL_BRICKS / WARP_SIZE];
    uint16_t old_slot[SMALL_BRICKS + 1];
    uint8_t is_kept[SMALL_BRICKS + 1];
} compaction;

/* What a block tells the others, in letters of a multiple of 16 bytes: its warps' sums ... */
typedef struct sums_message {
    alignas(16) uint64_t busy; /* a rate, as bits of a double */
    int64_t mass, outflow;
#if GBEES_DRIFT_TIME_DEPENDENT
    uint64_t most; /* else new bricks' rates are all that changes it */
#endif
} sums_message;

/* ... how many bricks it asks for, and the first of these. */
typedef struct request_message {
    alignas(16) uint32_t count;
    small_key asked[SMALL_SENT_REQUESTS];
} request_message;

/* A block's memory. */
typedef struct small_block {
    step_state state;
    sums_message note[2][SMALL_BLOCKS]; /* of all blocks, in turns */
    request_message wish[2][SMALL_BLOCKS];
    uint64_t sums_mbarrier[2], request_mbarrier[2]; /* where they are counted */
    warp_sums own[BLOCK_WARPS];
    double rate[BLOCK_WARPS];                        /* the largest of those bricks that a warp has looked at */
    uint32_t before[BLOCK_WARPS], held[BLOCK_WARPS]; /* bricks of a warp, before and after it has taken new ones */
    direction_pair pair[PAIRS];
    small_brick brick[BLOCK_WARPS][SMALL_WARP_BRICKS];
    brick_snapshot snapshot[BLOCK_WARPS][SMALL_WARP_BRICKS];
    small_key key[SMALL_BRICKS + 1];
    union { /* no one asks for bricks while some go */
        small_key asked[SMALL_REQUESTS];
        compaction compaction;
    };
    uint32_t table[SMALL_TABLE];
    uint32_t asks;               /* bricks that this block asks for */
    uint32_t count;              /* bricks, with those that this growth has made */
    uint32_t far_axis, overflow; /* of this growth */
} small_block;

/* A warp, and how many of its bricks there are: slots 1 + place, 1 + place + warps, ... */
typedef struct small_warp {
    uint32_t place, warps, held;
    small_brick *brick;
} small_warp;

/* Bricks that there is room for. */
GBEES_NUM uint32_t small_capacity(void)
{
    const uint32_t most = SMALL_WARP_BRICKS * warp_count();

    return most < SMALL_BRICKS ? most : SMALL_BRICKS;
}

/* ---- keys and the table ---------------------------------------------------------------------------------------- */

/* The key of a brick's neighbour, so many times `by` away. */
GBEES_NUM small_key neighbor_key(const int32_t *key, small_key by, int times)
{
    small_key to;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        to.at[k] = key[k] + times * by.at[k];
    return to;
}

GBEES_NUM uint32_t small_hash(small_key key)
{
    uint32_t hash = 0;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        hash = (hash + (uint32_t)key.at[k]) * 0x9e3779b1u;
    return hash >> 16 & (SMALL_TABLE - 1);
}

/* The slot of a brick, 0 if it is absent. No one inserts meanwhile. */
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

/* A brick that is not there. */
GBEES_NUM void small_insert(small_block *b, uint32_t slot, small_key key)
{
    uint32_t at = small_hash(key);

    b->key[slot] = key;
    while (block_cas_32(&b->table[at], 0, slot))
        at = (at + 1) & (SMALL_TABLE - 1);
}

/* ---- bricks at hand -------------------------------------------------------------------------------------------- */

/* A brick that has a key; by a warp, which then meets. */
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

/* Looks for the bricks around it that have been absent: links to those beside it. */
GBEES_NUM void link_to_neighbors(const gbees_setup *m, const small_block *b, small_brick *brick)
{
    uint32_t absent = brick->absent;

    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        const int pair = first + warp_lane();
        uint32_t slot = 0;

        if (pair < PAIRS && absent >> pair & 1) {
            const int d = b->pair[pair].d, f = b->pair[pair].f, axis = d >> 1;

            slot = small_find(b, neighbor_key(brick->key, b->pair[pair].by, 1));
            if (slot && f == d) {
                brick->link[d] = slot;
                brick->beside[d] = base_along(m, axis, brick->key[axis] + (d & 1 ? 1 : -1));
            }
        }
        absent &= ~(warp_ballot(slot != 0) << first);
    }
    warp_sync(); /* all have read it */
    if (warp_lane() == 0)
        brick->absent = absent;
    warp_sync();
}

/* How fast it flows in a cell: of inspect_brick(). */
GBEES_NUM number cell_rate(const gbees_setup *m, const position *base, int cell, double time)
{
    number rate = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        position x[DIM];

        face_point(m, base, cell, j, cell_local(cell, j) + 1, x);
        const number above = velocity(m, x, j, time);
        const number here = (above < 0 ? -above : above) * (number)m->over_width[j];

        rate = here > rate ? here : rate + (here - here); /* no number is_kept none */
    }
    return rate;
}

/* Flow masks and the rate of a brick, from some cells on; returns the rate. */
GBEES_NUM double inspect_small_brick(const gbees_setup *m, double time, int from, int to, small_brick *brick)
{
    double most = from ? brick->rate : 0;

#pragma unroll 1
    for (int first = from; first < to; first += WARP_SIZE) {
        const int cell = first + warp_lane();

#pragma unroll
        for (int j = 0; j < DIM; j++) {
            position x[DIM];

            face_point(m, brick->base, cell, j, cell_local(cell, j), x);
            put_ballot(&brick->flow[2 * j], first, warp_ballot(velocity(m, x, j, time) < 0));
            face_point(m, brick->base, cell, j, cell_local(cell, j) + 1, x);
            put_ballot(&brick->flow[2 * j + 1], first, warp_ballot(velocity(m, x, j, time) > 0));
        }
        most = fmax(most, visible_rate((double)cell_rate(m, brick->base, cell, time)));
    }
    most = double_of(warp_max_64(bits_of(most)));
    warp_sync(); /* all have read it */
    if (warp_lane() == 0)
        brick->rate = most;
    warp_sync();
    return most;
}

/* ---- from the grid's arrays and back --------------------------------------------------------------------------- */

/* What a block has of the grid, and the largest rate, but for what each warp has at hand; others may send to its
 * memory once all have met after this. */
GBEES_NUM void small_load(const gbees_setup *m, const gbees_state *s, uint64_t target, small_block *b,
                          small_warp *warp)
{
    const uint32_t thread = block_warp() * WARP_SIZE + (uint32_t)warp_lane(), threads = BLOCK_WARPS * WARP_SIZE;
    const uint32_t count = s->count;
    double most = 0;

    warp->place = warp_place(m);
    warp->warps = warp_count();
    warp->held = 0;
    warp->brick = b->brick[block_warp()];
    for (uint32_t i = thread; i < SMALL_TABLE; i += threads)
        b->table[i] = 0;
    for (uint32_t i = thread; i < PAIRS; i += threads) {
        int d, f;

        (void)split_pair((int)i, &d, &f);
        b->pair[i].sides = gbees_shape_side(&m->shape, d) & gbees_shape_side(&m->shape, f);
        b->pair[i].d = d;
        b->pair[i].f = f;
        for (int k = 0; k < DIM; k++)
            b->pair[i].by.at[k] = (d == 2 * k + 1) - (d == 2 * k) + (f != d) * ((f == 2 * k + 1) - (f == 2 * k));
    }
    if (thread == 0) {
        for (int k = 0; k < 2; k++) {
            mbarrier_init(&b->sums_mbarrier[k], block_count());
            mbarrier_init(&b->request_mbarrier[k], block_count());
        }
        b->asks = 0;
    }
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads) {
        b->key[slot] = *(const small_key *)(m->grid.key + (size_t)slot * DIM);
        most = fmax(most, m->grid.rate[slot]);
    }
    most = double_of(warp_max_64(bits_of(most)));
    if (warp_lane() == 0)
        b->rate[block_warp()] = most;
    load_step_state(&b->state, s, target); /* with which a block meets */
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads)
        small_insert(b, slot, b->key[slot]);
    if (block_warp() == 0) {
        const uint64_t rate = warp_max_64(warp_lane() < BLOCK_WARPS ? bits_of(b->rate[warp_lane()]) : 0);

        if (is_block_leader())
            b->state.sums.max_rate = rate;
        if (warp_lane() < FIRST_RATE_WARP) /* which look at none */
            b->rate[warp_lane()] = 0;
    }
    if (thread == 0) {
        b->count = count;
        b->state.goes_on = 1;
    }
    block_sync();
}

/* The grid's arrays as they are to be; bricks beyond `known` are not in its table. */
GBEES_NUM void store_bricks(const gbees_setup *m, const small_warp *warp, uint32_t known)
{
    block_sync(); /* new bricks have been looked at */
    for (uint32_t i = 0; i < warp->held; i++) {
        const small_brick *brick = &warp->brick[i];
        const uint32_t slot = 1 + warp->place + i * warp->warps;

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

#endif
