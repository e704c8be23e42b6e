/* grow.h - marks the active cells, those with P >= p*, and inserts the absent bricks that probability flows into from
 * them (paper, section 3.3).
 */
#ifndef GBEES_CUDA_GROW_H
#define GBEES_CUDA_GROW_H

#include "device/inspect.h"
#include "numerics/downwind.h"

/* A warp's part of the sums over the grid. Until warp_add() each lane has a part of `mass` and of `outflow`. */
typedef struct warp_sums {
    double max_rate, max_active_rate; /* of all bricks; of those with active cells */
    int64_t mass, outflow;            /* in units of 2^-60 */
} warp_sums;

/* A lane's slice of a brick: its numbers of cells, directions and axes. A whole brick is read at once; with
 * PREFETCH_VIEW, for which there have to be registers for two bricks, the next one is read while one is processed. */
enum {
    SLICE_CELLS = CELLS / WARP_SIZE,
    SLICE_DIRECTIONS = (DIRECTIONS + WARP_SIZE - 1) / WARP_SIZE,
    SLICE_AXES = (DIM + WARP_SIZE - 1) / WARP_SIZE,
    PREFETCH_VIEW = !(GBEES_LOW_REGISTERS && (GBEES_BOUNDED || GBEES_KERNELS != GBEES_KERNELS_MARK)),
    /* 1: flow and key of each brick are read with the rest. Not on large grids, where few bricks need them, and whose
     * speed is that of memory. */
    VIEW_FLOW = GBEES_KERNELS != GBEES_KERNELS_MARK
};

/* What a lane has read of a brick. */
typedef struct brick_view {
    number p[SLICE_CELLS];
    uint64_t flow[SLICE_DIRECTIONS];
    uint32_t neighbor[SLICE_DIRECTIONS];
    uint64_t active;
    double rate;
    int32_t key[SLICE_AXES];
} brick_view;

/* A brick in shared memory, for all lanes of a warp. */
typedef struct staged_brick {
    uint64_t flow[DIRECTIONS]; /* of active cells */
    uint32_t neighbor[DIRECTIONS];
    int32_t key[DIM]; /* with VIEW_FLOW only */
} staged_brick;

/* Reads the lane's cells. */
GBEES_NUM void view_cells(const number *p, uint32_t slot, brick_view *v)
{
#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++)
        v->p[i] = p[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)];
}

/* Reads flow and neighbours in the lane's directions. */
GBEES_NUM void view_flow(const gbees_setup *m, uint32_t slot, brick_view *v)
{
#pragma unroll
    for (int i = 0; i < SLICE_DIRECTIONS; i++) {
        int d = warp_lane() + i * WARP_SIZE;

        v->flow[i] = d < DIRECTIONS ? m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] : 0;
        v->neighbor[i] = d < DIRECTIONS ? m->grid.neighbor[d][slot] : 0;
    }
}

/* Reads the lane's components of a key. */
GBEES_NUM void view_key(const int32_t *from, int32_t *key)
{
#pragma unroll
    for (int i = 0; i < SLICE_AXES; i++)
        key[i] = warp_lane() + i * WARP_SIZE < DIM ? from[warp_lane() + i * WARP_SIZE] : 0;
}

/* Reads the active cells and the rate. */
GBEES_NUM void view_marks(const gbees_setup *m, uint32_t slot, brick_view *v)
{
    v->active = m->grid.active[slot];
    v->rate = m->grid.rate[slot];
}

/* Reads all that marking and growth need of each brick. */
GBEES_NUM void view_brick(const gbees_setup *m, const number *p, uint32_t slot, brick_view *v)
{
    view_cells(p, slot, v);
    view_marks(m, slot, v);
    if (VIEW_FLOW) {
        view_flow(m, slot, v);
        view_key(m->grid.key + (size_t)slot * DIM, v->key);
    }
}

/* Copies links, and the flow of active cells, to shared memory; sides: as gbees_leaving() takes it. By a warp. */
GBEES_NUM void stage_flow(const gbees_setup *m, const brick_view *v, uint64_t active, int sides, staged_brick *brick)
{
    warp_sync();
#pragma unroll
    for (int i = 0; i < SLICE_DIRECTIONS; i++) {
        int d = warp_lane() + i * WARP_SIZE;

        if (d < DIRECTIONS) {
            brick->flow[d] = gbees_leaving(&m->shape, active, v->flow[i], d, sides);
            brick->neighbor[d] = v->neighbor[i];
        }
    }
    warp_sync();
}

/* Copies all that growth needs of a brick to shared memory: the flow of `active` cells out of the brick, links and
 * key. By a warp. */
GBEES_NUM void stage_brick(const gbees_setup *m, const brick_view *v, uint64_t active, staged_brick *brick)
{
    stage_flow(m, v, active, 1, brick);
    if (!VIEW_FLOW)
        return;
#pragma unroll
    for (int i = 0; i < SLICE_AXES; i++)
        if (warp_lane() + i * WARP_SIZE < DIM)
            brick->key[warp_lane() + i * WARP_SIZE] = v->key[i];
    warp_sync();
}

/* The key of the neighbour in a pair of directions. */
GBEES_NUM near_key key_beside(const gbees_setup *m, uint32_t slot, const staged_brick *brick, int d, int f)
{
    near_key key = key_near(m, slot, d, f);

    if (VIEW_FLOW)
        key.brick = brick->key;
    return key;
}

/* Returns the cells of a brick with P >= threshold, adds the lane's P to *mass, and sets P that are too small to be
 * kept to 0. By a warp. */
GBEES_NUM uint64_t mark_brick(number *p, uint32_t slot, const brick_view *v, number threshold, int64_t *mass)
{
    uint64_t active = 0;

#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++) {
        const number value = mark_cell(v->p[i], mass);

        if (value != v->p[i])
            p[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)] = value;
        active |= (uint64_t)warp_ballot(value >= threshold) << (i * WARP_SIZE);
    }
    return active;
}

/* Pairs of directions, and those of a lane. */
enum { PAIRS = DIRECTIONS * DIM, SLICE_PAIRS = (PAIRS + WARP_SIZE - 1) / WARP_SIZE };

/* Sets *d and *f to a pair of directions. Returns 0 if there is none with that number. */
GBEES_NUM int pair_directions(int pair, int *d, int *f)
{
    gbees_pair(DIM, pair, d, f);
    return pair < PAIRS;
}

/* Whether a neighbour that active cells flow into, in a pair of directions, may be absent from the grid. Links are
 * those of the pass before: bricks that are inserted by this one are linked by link_new(). */
GBEES_NUM int may_be_absent(const gbees_setup *m, uint32_t slot, const staged_brick *brick, int d, int f)
{
    const uint32_t neighbor = brick->neighbor[d];

    if (!gbees_downwind_from(brick->flow[d], brick->flow[f]))
        return 0;
#if GBEES_BOUNDED
    if (is_blocked(m, slot, d, f))
        return 0;
    if (f != d && !neighbor)
        return !brick->neighbor[f] || !m->grid.neighbor[d][brick->neighbor[f]];
#else
    (void)slot;
#endif
    return !neighbor || (f != d && !m->grid.neighbor[f][neighbor]);
}

#if GBEES_BOUNDED

/* Zeros the cells outside the bound; returns the mass that this lane has removed. By a warp. */
GBEES_NUM int64_t drop_outside(const gbees_setup *m, number *p, uint32_t slot, brick_view *v)
{
    const uint64_t inside = m->grid.inside[slot];
    int64_t lost = 0;

    if (inside == ~(uint64_t)0)
        return 0;
#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++) {
        int cell = warp_lane() + i * WARP_SIZE;

        if (!(inside >> cell & 1) && v->p[i] != 0) {
            lost += v->p[i] < least_number() ? 0 : gbees_fixed((double)v->p[i]);
            p[(size_t)slot * CELLS + (size_t)cell] = v->p[i] = 0;
        }
    }
    return lost;
}

/* grow_brick() on a bounded grid: inserts a neighbour only if it has cells inside the bound, else stores that it is
 * blocked. The whole warp evaluates the bound of one neighbour after the other. */
GBEES_NUM void grow_bounded(const gbees_setup *m, gbees_state *s, uint32_t slot, const staged_brick *brick)
{
#pragma unroll 1
    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        int d, f;
        int absent = pair_directions(first + warp_lane(), &d, &f) && may_be_absent(m, slot, brick, d, f);

        for (uint32_t votes = warp_ballot(absent); votes; votes &= votes - 1) {
            (void)pair_directions(first + count_bits((votes & (0 - votes)) - 1), &d, &f);
            near_key key = key_beside(m, slot, brick, d, f);
            uint64_t inside = cells_inside(m, key);

            if (warp_lane() == 0 && inside)
                table_insert(m, s, key);
            if (warp_lane() == 0 && !inside)
                set_blocked(m, slot, d, f);
        }
    }
    warp_sync();
}

#endif

/* Inserts the absent neighbours, across faces and edges, that active cells at the brick's sides flow into. Each lane
 * handles some pairs of directions. By a warp. */
GBEES_NUM void grow_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, const staged_brick *brick)
{
    uint32_t absent = 0;

#pragma unroll 3 /* more would spill */
    for (int i = 0; i < SLICE_PAIRS; i++) {
        int d, f;

        if (!pair_directions(warp_lane() + i * WARP_SIZE, &d, &f) || !may_be_absent(m, slot, brick, d, f))
            continue;
        if (i < 32)
            absent |= 1u << i;
        else /* with one lane only */
            table_insert(m, s, key_beside(m, slot, brick, d, f));
    }
    for (int i = 0; absent; i++, absent >>= 1) {
        int d, f;

        if (absent & 1 && pair_directions(warp_lane() + i * WARP_SIZE, &d, &f))
            table_insert(m, s, key_beside(m, slot, brick, d, f));
    }
}

/* Inserts the absent neighbours that the cells `risen` flow into. By a warp; `brick` is its shared memory. */
GBEES_NUM void insert_neighbors(const gbees_setup *m, gbees_state *s, uint32_t slot, brick_view *v, uint64_t risen,
                                staged_brick *brick)
{
    if (!VIEW_FLOW)
        view_flow(m, slot, v);
    stage_brick(m, v, risen, brick);
#if GBEES_BOUNDED
    grow_bounded(m, s, slot, brick);
#else
    grow_brick(m, s, slot, brick);
#endif
}

/* Adds the warps' sums to those of the step: masses to `marked`, rates to `rates`. They are reduced in the block
 * first, since atomics to one address are executed one after the other. By a block. */
GBEES_NUM void add_sums(const warp_sums *own, gbees_step_sums *marked, gbees_step_sums *rates)
{
    BLOCK_LOCAL warp_sums all[BLOCK_WARPS];
    warp_sums sums = {0, 0, 0, 0};

    if (warp_lane() == 0)
        all[block_warp()] = *own;
    block_sync();
    if (block_warp() != 0)
        return;
    if (warp_lane() < BLOCK_WARPS) /* a block has no more warps than a warp has lanes */
        sums = all[warp_lane()];
    const uint64_t max_rate = warp_max_64(bits_of(sums.max_rate));
    const uint64_t max_active_rate = warp_max_64(bits_of(sums.max_active_rate));
    sums.mass = warp_add(sums.mass);
    if (GBEES_BOUNDED)
        sums.outflow = warp_add(sums.outflow);
    if (warp_lane() != 0)
        return;
    if (sums.mass)
        atomic_add_64(&marked->mass, sums.mass);
    if (sums.outflow)
        atomic_add_64(&marked->outflow, sums.outflow);
    if (max_rate) {
        atomic_max_64(&rates->max_rate, max_rate);
        atomic_max_64(&rates->max_active_rate, max_active_rate);
    }
}

/* One pass over the bricks 1 .. count. `mark`: marks the cells, and adds mass and outflow to `marked`. `grow`: adds
 * the largest rates to `rates`, and inserts the neighbours that active cells flow into; with `mark` only for cells
 * that have risen above the threshold in this step, as the others' neighbours have been inserted before and only a
 * prune removes bricks. By all blocks. */
GBEES_NUM void mark_and_grow(const gbees_setup *m, gbees_state *s, uint32_t count, int current, double threshold,
                             int mark, int grow, gbees_step_sums *marked, gbees_step_sums *rates)
{
    BLOCK_LOCAL staged_brick bricks[BLOCK_WARPS];
    staged_brick *brick = &bricks[block_warp()];
    number *p = rows_of(m, current);
    const warp_slots slots = slots_of_warp(m, count, 1);
    warp_sums sums = {0, 0, 0, 0};
    brick_view next;

    if (PREFETCH_VIEW && slots.from <= slots.last)
        view_brick(m, p, slots.from, &next);
    for (uint32_t slot = slots.from, ahead = slot; slot <= slots.last; slot = ahead) {
        brick_view v;

        if (PREFETCH_VIEW) {
            v = next;
        } else {
            view_brick(m, p, slot, &v);
        }
        ahead = slot + slots.stride;
        if (PREFETCH_VIEW && ahead <= slots.last)
            view_brick(m, p, ahead, &next);
#if GBEES_BOUNDED
        sums.outflow += mark ? drop_outside(m, p, slot, &v) : 0;
#endif
        uint64_t active = mark ? mark_brick(p, slot, &v, (number)threshold, &sums.mass) : v.active;
        if (mark && active != v.active && warp_lane() == 0)
            m->grid.active[slot] = active;
        if (grow) {
            const uint64_t risen = mark ? active & ~v.active : active;

            sums.max_rate = fmax(sums.max_rate, v.rate);
            if (active)
                sums.max_active_rate = fmax(sums.max_active_rate, v.rate);
            if (risen)
                insert_neighbors(m, s, slot, &v, risen, brick);
        }
    }
    sums.mass = mark ? warp_add(sums.mass) : 0;
#if GBEES_BOUNDED
    sums.outflow = mark ? warp_add(sums.outflow) : 0;
#endif
    add_sums(&sums, marked, rates);
}

#endif
