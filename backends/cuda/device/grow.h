/* grow.h - makes the bricks that probability will flow into (paper, section 3.3), and marks the cells. */
#ifndef GBEES_CUDA_GROW_H
#define GBEES_CUDA_GROW_H

#include "device/inspect.h"

/* What a warp gathers: the largest rates, and the mass. */
typedef struct warp_sums {
    double most, busy;
    int64_t mass, outflow;
} warp_sums;

/* A lane's share of what is read of a brick: all of it at once, and while the brick before is worked on, if there are
 * registers for both. */
enum {
    SLICE_CELLS = CELLS / WARP_SIZE,
    SLICE_DIRECTIONS = (DIRECTIONS + WARP_SIZE - 1) / WARP_SIZE,
    SLICE_AXES = (DIM + WARP_SIZE - 1) / WARP_SIZE,
    VIEW_AHEAD = !(GBEES_LOW_REGISTERS && (GBEES_BOUNDED || GBEES_KERNELS != GBEES_KERNELS_MARK)),
    VIEW_FLOW = GBEES_KERNELS != GBEES_KERNELS_MARK /* large ones have few bricks that need it, and wait for memory */
};

typedef struct brick_view {
    number p[SLICE_CELLS];
    uint64_t flow[SLICE_DIRECTIONS];
    uint32_t neighbor[SLICE_DIRECTIONS];
    uint64_t active;
    double rate;
    int32_t key[SLICE_AXES];
} brick_view;

/* What a warp's lanes tell each other of a brick. */
typedef struct staged_brick {
    uint64_t flow[DIRECTIONS]; /* of cells with P >= p* */
    uint32_t neighbor[DIRECTIONS];
    int32_t key[DIM]; /* where it is viewed with the rest */
} staged_brick;

GBEES_NUM void view_cells(const number *p, uint32_t slot, brick_view *v)
{
#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++)
        v->p[i] = p[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)];
}

GBEES_NUM void view_flow(const gbees_setup *m, uint32_t slot, brick_view *v)
{
#pragma unroll
    for (int i = 0; i < SLICE_DIRECTIONS; i++) {
        int d = warp_lane() + i * WARP_SIZE;

        v->flow[i] = d < DIRECTIONS ? m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] : 0;
        v->neighbor[i] = d < DIRECTIONS ? m->grid.neighbor[d][slot] : 0;
    }
}

GBEES_NUM void view_key(const int32_t *from, int32_t *key)
{
#pragma unroll
    for (int i = 0; i < SLICE_AXES; i++)
        key[i] = warp_lane() + i * WARP_SIZE < DIM ? from[warp_lane() + i * WARP_SIZE] : 0;
}

GBEES_NUM void view_marks(const gbees_setup *m, uint32_t slot, brick_view *v)
{
    v->active = m->grid.active[slot];
    v->rate = m->grid.rate[slot];
}

/* All that marking and growth are sure to need of a brick. */
GBEES_NUM void view_brick(const gbees_setup *m, const number *p, uint32_t slot, brick_view *v)
{
    view_cells(p, slot, v);
    view_marks(m, slot, v);
    if (VIEW_FLOW) {
        view_flow(m, slot, v);
        view_key(m->grid.key + (size_t)slot * DIM, v->key);
    }
}

/* `sides`: only the cells from which probability leaves the brick. */
GBEES_NUM void stage_flow(const gbees_setup *m, const brick_view *v, uint64_t active, int sides, staged_brick *brick)
{
    warp_sync();
#pragma unroll
    for (int i = 0; i < SLICE_DIRECTIONS; i++) {
        int d = warp_lane() + i * WARP_SIZE;

        if (d < DIRECTIONS) {
            brick->flow[d] = active & v->flow[i] & (sides ? gbees_shape_side(&m->shape, d) : ~(uint64_t)0);
            brick->neighbor[d] = v->neighbor[i];
        }
    }
    warp_sync();
}

/* ... with its key, where that is viewed. */
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

/* The key of a neighbour of it. */
GBEES_NUM near_key key_beside(const gbees_setup *m, uint32_t slot, const staged_brick *brick, int d, int f)
{
    near_key key = key_near(m, slot, d, f == d ? -1 : f);

    if (VIEW_FLOW)
        key.brick = brick->key;
    return key;
}

/* Cells with P >= threshold; counts the mass, drops denormals. */
GBEES_NUM uint64_t mark_brick(number *p, uint32_t slot, const brick_view *v, number threshold, int64_t *mass)
{
    uint64_t active = 0;

#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++) {
        number value = v->p[i];

        if (value < least_number() && value != 0)
            p[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)] = value = 0;
        *mass += gbees_fixed((double)value);
        active |= (uint64_t)warp_ballot(value >= threshold) << (i * WARP_SIZE);
    }
    return active;
}

/* Pairs of directions: each with itself, a face, and with those of other axes, an edge. */
enum { PAIRS = DIRECTIONS * DIM, SLICE_PAIRS = (PAIRS + WARP_SIZE - 1) / WARP_SIZE };

/* Pair number `pair`: d, and f == d or f along a later axis.  Of two axes the first one's directions are paired with
 * the same ones of the other, the other one's with the opposite ones of the first.  0: there is no such pair. */
GBEES_NUM int split_pair(int pair, int *d, int *f)
{
    const int own = pair / DIM, axis = pair % DIM, later = own >> 1 < axis;
    const int other = own >> 1 == axis ? own : 2 * axis + (later ? own & 1 : 1 - (own & 1));

    *d = later ? own : other;
    *f = later ? other : own;
    return pair < PAIRS;
}

#if GBEES_BOUNDED

/* What a step has brought to cells that are out of bound goes; how much that is. */
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

/* Whether the brick in directions d and f (f == d: in d alone) has to be looked for. */
GBEES_NUM int may_be_absent(const gbees_setup *m, uint32_t slot, const staged_brick *brick, int d, int f)
{
    uint32_t neighbor = brick->neighbor[d];

    if (!(brick->flow[d] & brick->flow[f]) || is_blocked(m, slot, d, f))
        return 0;
    if (f == d)
        return !neighbor;
    if (neighbor)
        return !m->grid.neighbor[f][neighbor];
    return !brick->neighbor[f] || !m->grid.neighbor[d][brick->neighbor[f]];
}

/* grow_brick() below, of bricks that the bound leaves cells: J is evaluated by the whole warp. */
GBEES_NUM void grow_bounded(const gbees_setup *m, gbees_state *s, uint32_t slot, const staged_brick *brick)
{
#pragma unroll 1
    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        int d, f;
        int absent = split_pair(first + warp_lane(), &d, &f) && may_be_absent(m, slot, brick, d, f);

        for (uint32_t votes = warp_ballot(absent); votes; votes &= votes - 1) {
            (void)split_pair(first + count_bits((votes & (0 - votes)) - 1), &d, &f);
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

/* Makes the absent ones of the face neighbours, and of the edge neighbours in two directions along different axes,
 * that cells at the brick's sides flow into: each lane looks after some pairs of directions.  (Links change in
 * another pass: a brick that is made here is nobody's neighbour yet.) */
GBEES_NUM void grow_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, const staged_brick *brick)
{
    uint32_t absent = 0;

#pragma unroll 3 /* more of them take more registers than there are */
    for (int i = 0; i < (PAIRS + WARP_SIZE - 1) / WARP_SIZE; i++) {
        int d, f;

        if (!split_pair(warp_lane() + i * WARP_SIZE, &d, &f))
            continue;
        if (brick->flow[d] & brick->flow[f]) {
            uint32_t neighbor = brick->neighbor[d];

            if (!neighbor || (f != d && !m->grid.neighbor[f][neighbor])) {
                if (i < 32)
                    absent |= 1u << i;
                else /* with one lane only */
                    table_insert(m, s, key_beside(m, slot, brick, d, f));
            }
        }
    }
    for (int i = 0; absent; i++, absent >>= 1) {
        int d, f;

        if (absent & 1 && split_pair(warp_lane() + i * WARP_SIZE, &d, &f))
            table_insert(m, s, key_beside(m, slot, brick, d, f));
    }
}

/* What the warps have gathered, by all of a block: put together there, as what all add to at the same address takes
 * its turn, and the meeting waits for it. */
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
    const uint64_t most = warp_max_64(bits_of(sums.most)), busy = warp_max_64(bits_of(sums.busy));
    sums.mass = warp_add(sums.mass);
    if (GBEES_BOUNDED)
        sums.outflow = warp_add(sums.outflow);
    if (warp_lane() != 0)
        return;
    if (sums.mass)
        atomic_add_64(&marked->mass, sums.mass);
    if (sums.outflow)
        atomic_add_64(&marked->outflow, sums.outflow);
    if (most) {
        atomic_max_64(&rates->max_rate, most);
        atomic_max_64(&rates->max_active_rate, busy);
    }
}

/* One pass over the bricks: marks cells, if asked to, and makes what they need, if asked to.  Where it does both the
 * cells that were marked before have had what they need, in the pass before this one: bricks go in a prune alone. */
GBEES_NUM void mark_and_grow(const gbees_setup *m, gbees_state *s, uint32_t count, int current, double threshold,
                             int mark, int grow, gbees_step_sums *marked, gbees_step_sums *rates)
{
    BLOCK_LOCAL staged_brick bricks[BLOCK_WARPS];
    staged_brick *brick = &bricks[block_warp()];
    number *p = rows_of(m, current);
    const warp_slots slots = slots_of_warp(m, count, 1);
    warp_sums sums = {0, 0, 0, 0};
    brick_view next;

    if (VIEW_AHEAD && slots.from <= slots.last)
        view_brick(m, p, slots.from, &next);
    for (uint32_t slot = slots.from, ahead = slot; slot <= slots.last; slot = ahead) {
        brick_view v;

        if (VIEW_AHEAD) {
            v = next;
        } else {
            view_brick(m, p, slot, &v);
        }
        ahead = slot + slots.stride;
        if (VIEW_AHEAD && ahead <= slots.last)
            view_brick(m, p, ahead, &next);
#if GBEES_BOUNDED
        sums.outflow += mark ? drop_outside(m, p, slot, &v) : 0;
#endif
        uint64_t active = mark ? mark_brick(p, slot, &v, (number)threshold, &sums.mass) : v.active;
        if (mark && active != v.active && warp_lane() == 0)
            m->grid.active[slot] = active;
        if (grow) {
            const uint64_t risen = mark ? active & ~v.active : active;
            sums.most = fmax(sums.most, v.rate);
            if (active)
                sums.busy = fmax(sums.busy, v.rate);
            if (risen) {
                if (!VIEW_FLOW)
                    view_flow(m, slot, &v);
                stage_brick(m, &v, risen, brick);
#if GBEES_BOUNDED
                grow_bounded(m, s, slot, brick);
#else
                grow_brick(m, s, slot, brick);
#endif
            }
        }
    }
    sums.mass = mark ? warp_add(sums.mass) : 0;
#if GBEES_BOUNDED
    sums.outflow = mark ? warp_add(sums.outflow) : 0;
#endif
    add_sums(&sums, marked, rates);
}

#endif
