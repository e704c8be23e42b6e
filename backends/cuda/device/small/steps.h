/* steps.h - steps of a cluster's grid: the sweeps, the marks behind the last of them, and the growth; and the
 * prunes between them.
 *
 * A warp has a brick, and a lane two of its cells with their three faces, in place of a line of four with five. The
 * last sweep's bricks are marked by the warps that have swept them: no meeting is between.  So all meet once behind
 * each sweep, and not for anything else.
 */
#ifndef GBEES_CUDA_SMALL_STEPS_H
#define GBEES_CUDA_SMALL_STEPS_H

#include "device/advance.h"
#include "device/small/grow.h"
#include "device/small/prune.h"
#include "device/sweep.h"

enum {
    SMALL_EDGE_BITS = 6 / DIM,
    SMALL_EDGE = 1 << SMALL_EDGE_BITS,
    PART_CELLS = 2,
    BRICK_PARTS = CELLS / PART_CELLS,
    /* A lane has one part of a brick, and registers for what it begins with. */
    PREFETCH_PART = WARP_SIZE == (int)BRICK_PARTS && sizeof(number) == sizeof(float) && !GBEES_LOW_REGISTERS
};

/* ---- sweeps ---------------------------------------------------------------------------------------------------- */

/* The lowest cell of a lane's line, and where on it the lane's cells begin. */
typedef struct line_part {
    int axis, shift, cell, first;
} line_part;

GBEES_NUM line_part part_of_lane(int axis, int which)
{
    const int shift = axis * SMALL_EDGE_BITS, line = which / (SMALL_EDGE / PART_CELLS);
    const int low = line & ((1 << shift) - 1);
    line_part part = {axis, shift, (line >> shift) << (shift + SMALL_EDGE_BITS) | low,
                      which % (SMALL_EDGE / PART_CELLS) * PART_CELLS};

    return part;
}

/* Velocities at the faces around a lane's cells, from one before the first on. */
GBEES_NUM void part_velocities(const gbees_setup *m, const small_brick *brick, line_part part, double time, number *v)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    position x[DIM], at[PART_CELLS + 3];

#pragma unroll
    for (int i = 0; i < PART_CELLS + 3; i++) {
        const int face = part.first + i - 1;
        /* A face between two bricks is the lower one's: rounded once, the same for both. */
        const int lower = face <= 0 && below, upper = face > SMALL_EDGE && above;
        const position base = lower   ? brick->beside[2 * part.axis]
                              : upper ? brick->beside[2 * part.axis + 1]
                                      : brick->base[part.axis];

        at[i] = base + face_offset(m, part.axis, face + (lower - upper) * SMALL_EDGE);
    }
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = brick->base[k] + cell_offset(m, k, cell_local(part.cell, k));
#pragma unroll
    for (int k = 0; k < DIM; k++) {
        if (k != part.axis)
            continue;
#pragma unroll
        for (int i = 0; i < PART_CELLS + 3; i++) {
            x[k] = at[i];
            v[i] = velocity(m, x, k, time);
        }
    }
}

/* A sweep: from where to where, and which rows hold something yet: those of new bricks are not read before they have
 * been written. */
typedef struct small_sweep {
    const number *p;
    number *next;
    uint32_t known;
    int axis, is_swept, is_last, asks;
    number lambda, threshold;
    double time;
} small_sweep;

/* mark_brick(), of some cells behind the last sweep. */
GBEES_NUM number mark_cell(const small_sweep *sweep, number value, int cell, uint64_t *active, int64_t *mass)
{
    if (value < least_number())
        value = 0;
    *mass += gbees_fixed((double)value);
    *active |= (uint64_t)(value >= sweep->threshold) << cell;
    return value;
}

/* Two cells of a line, with those beyond them. */
typedef struct part_cells {
    number q[PART_CELLS + 2 * BEYOND];
} part_cells;

/* (A brick is as long as two lanes' cells: those of the second lie where those of the first do, with one bit changed;
 * and that bit tells whether what is before them is the neighbour's.) */
GBEES_NUM part_cells load_part(const number *p, uint32_t known, const small_brick *brick, uint32_t slot,
                               line_part part)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    const uint32_t own = slot * CELLS + (uint32_t)part.cell;
    const uint32_t before = (below <= known ? below : 0) * CELLS + (uint32_t)part.cell;
    const uint32_t behind = (above <= known ? above : 0) * CELLS + (uint32_t)part.cell;
    part_cells line;

#pragma unroll
    for (int i = 0; i < PART_CELLS + 2 * BEYOND; i++) {
        const int at = part.first + i - BEYOND;
        const uint32_t row = at < 0 ? before : at >= SMALL_EDGE ? behind : own;

        line.q[i] = p[row + ((uint32_t)(at & (SMALL_EDGE - 1)) << part.shift)];
    }
    return line;
}

/* Sweeps a lane's cells, and marks them if the sweep is the last one; returns what flowed out where they are at an
 * end of the grid. */
GBEES_NUM number sweep_part(const gbees_setup *m, const small_sweep *sweep, const part_cells *line,
                            const small_brick *brick, uint32_t slot, line_part part, uint64_t *active,
                            int64_t *mark_mass)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    number v[PART_CELLS + 3] = {0}, mass[PART_CELLS + 1], outflow = 0;

    part_velocities(m, brick, part, sweep->time, v);
#pragma unroll
    for (int i = 0; i <= PART_CELLS; i++)
        mass[i] = face_mass(line->q + i, v + i, sweep->lambda);
#pragma unroll
    for (int i = 0; i < PART_CELLS; i++) {
        const int at = part.cell + ((part.first + i) << part.shift);
        number value = line->q[BEYOND + i] + (mass[i] - mass[i + 1]);

        if (sweep->is_last)
            value = mark_cell(sweep, value, at, active, mark_mass);
        sweep->next[slot * CELLS + (uint32_t)at] = value;
    }
    if (part.first == 0 && mass[0] < 0 && !below)
        outflow = -mass[0];
    if (part.first + PART_CELLS == SMALL_EDGE && mass[PART_CELLS] > 0 && !above)
        outflow += mass[PART_CELLS];
    return outflow;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* A sweep, behind the last one of a step the marks, and what they ask for: mark_and_grow(). Or this alone, of all
 * cells above p*.  The first sweep may have its first brick's cells at hand. */
GBEES_NUM void sweep_bricks(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp,
                            const small_sweep *sweep, int is_prefetched, const part_cells *prefetched,
                            warp_sums *sums)
{
#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        small_brick *brick = &warp->brick[i];
        const uint32_t slot = 1 + warp->place + i * warp->warps;
        const uint64_t was = sweep->is_swept ? brick->active : 0;
        uint64_t active = 0;

#pragma unroll 1
        for (int which = warp_lane(); which < BRICK_PARTS && sweep->is_swept; which += WARP_SIZE) {
            const line_part part = part_of_lane(sweep->axis, which);
            part_cells line = *prefetched;

            if (!is_prefetched || i > 0)
                line = load_part(sweep->p, sweep->known, brick, slot, part);
            const number out = sweep_part(m, sweep, &line, brick, slot, part, &active, &sums->mass);
            if (out > 0)
                sums->outflow += gbees_fixed((double)out);
        }
        if (!sweep->is_last)
            continue;
        active = sweep->is_swept ? warp_or(active) : brick->active;
#if GBEES_DRIFT_TIME_DEPENDENT /* as it is at a step's beginning */
        if (!sweep->is_swept && !(inspect_small_brick(m, b->state.run.clock.time, 0, CELLS, brick) < 1e300))
            store_release_32(&s->bad, slot + 1);
        sums->most = fmax(sums->most, brick->rate);
#else
        (void)s;
#endif
        if (active)
            sums->busy = fmax(sums->busy, brick->rate);
        warp_sync();
        if (warp_lane() == 0)
            brick->active = active;
        if (sweep->asks && (active & ~was))
            request_neighbors(b, brick, active & ~was);
    }
}

/* rows_of() of what is swept, without a table. */
GBEES_NUM number *swept_rows(const gbees_setup *m, int which)
{
    return (number *)(which ? m->grid.rows[1] : m->grid.rows[0]);
}

/* A step, but for the last meeting; its bricks are 1 .. count, of which those up to `known` had cells before it. Or
 * what comes before one, if none has been prefetched of it or the last one did not grow the grid. */
GBEES_NUM void advect_small(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp, int moves,
                            uint32_t known, uint32_t count, int is_prefetched, const part_cells *prefetched,
                            warp_sums *sums)
{
    enum { LOOKS = ADVECT_PASSES > 1 ? ADVECT_PASSES - 1 : 1 };
    const step_state *k = &b->state;

#pragma unroll 1
    for (int pass = moves ? 0 : ADVECT_PASSES - 1; pass < ADVECT_PASSES; pass++) {
        const int axis = axis_of(k, pass), from = rows_after(k->current, pass);
        const small_sweep sweep = {swept_rows(m, from),
                                   swept_rows(m, spare_of(from)),
                                   pass ? count : known,
                                   axis,
                                   moves,
                                   pass == ADVECT_PASSES - 1,
                                   moves ? k->plan.grows : 1,
                                   k->lambda[axis],
                                   (number)k->plan.threshold,
                                   step_middle(k)};

        if (ADVECT_PASSES == 1 && count > known && block_warp() == 0)
            inspect_new_bricks(m, b, 0, CELLS);
        if (moves && (pass > 0 || ADVECT_PASSES == 1)) /* one there is to be between what was sent and what will be */
            grid_barrier(m, s);
        sweep_bricks(m, s, b, warp, &sweep, is_prefetched && pass == 0, prefetched, sums);
        if (pass < ADVECT_PASSES - 1 && count > known &&
            block_warp() == 0) /* some now, some before the next meeting */
            inspect_new_bricks(m, b, CELLS * pass / LOOKS, CELLS * (pass + 1) / LOOKS);
    }
}

/* What is one number for all, by the first warp of each block: the clock, and the step, before it is known what new
 * bricks there are, as these hardly ever change it; `again`: they do, or there is no place for them. */
GBEES_NUM void choose_next_step(const gbees_setup *m, small_block *b, int moved, int grow, int turn, int again)
{
    step_state *k = &b->state;
    uint64_t most = 0;

    if (again)
        most = warp_max_64(warp_lane() < BLOCK_WARPS ? bits_of(b->rate[warp_lane()]) : 0);
    else
        reduce_sums(b, turn);
    if (is_block_leader()) {
        if (again) {
            k->sums.max_rate = most > k->sums.max_rate ? most : k->sums.max_rate;
        } else {
            k->current = rows_after(k->current, moved ? ADVECT_PASSES : 0);
            advance_clock(m, k, moved);
        }
        if (grow && k->goes_on) {
            k->sums.bad = !(double_of(k->sums.max_rate) < 1e300);
            choose_step(m, k);
            if (again && (b->far_axis || b->overflow)) {
                k->stop = b->far_axis ? STOP_FAR : STOP_CAPACITY;
                k->where = b->far_axis - 1;
            }
        }
    }
    find_courant(m, k);
}

GBEES_NUM int must_choose_again(const small_block *b)
{
    const double most = double_of(b->state.sums.max_rate);

    return warp_any(warp_lane() < BLOCK_WARPS && b->rate[warp_lane()] > most) || b->far_axis || b->overflow;
}

/* Between two steps: the clock, and side by side with it the new bricks.  For both the notes are enough; the others
 * meet here, and ask for what they will sweep first. */
GBEES_NUM void finish_step(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp, int moved,
                           int grow, int turn, uint32_t linked, number *p, int is_prefetched, int axis,
                           part_cells *prefetched)
{
#pragma unroll 1
    for (int again = 0;; again = 1) {
        if (block_warp() == 0)
            choose_next_step(m, b, moved, grow, turn, again);
        if (!again) {
            int has_waited = 0;

            if (block_warp() == INSERT_WARP) {
                mbarrier_wait(&b->request_mbarrier[turn % 2], turn / 2);
                has_waited = grow && insert_requested(b, linked, turn);
            }
            if (!has_waited)
                cluster_wait();
            if (is_prefetched)
                *prefetched = load_part(p, linked, warp->brick, 1 + warp->place, part_of_lane(axis, warp_lane()));
        }
        if (grow && !again) {
            wait_for_insertion();
            if (block_warp() + 1 > FIRST_RATE_WARP) /* (it may be 0) */
                rate_new_bricks(m, s, b, linked);
            if (warp->place < b->count) { /* it has some, or will */
                init_new_bricks(m, b, warp, p);
                link_small_bricks(m, b, warp, linked);
            }
        }
        block_sync();
        const int goes_on = b->state.goes_on, surprised = must_choose_again(b); /* read at once */
        if (again || !grow || !goes_on || !surprised)
            return;
        block_sync(); /* all have seen it */
    }
}

/* Steps, until something else is due. All that a warp does is known when a step is over, but for new bricks: what is
 * read for it is asked for at once. `turn`: which note is written first; returns the one that comes next.  What is
 * done seldom is_kept out of this loop: a processor's cache of instructions has just room for it. */
GBEES_NUM int small_steps(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp, int turn)
{
    const warp_sums none = {0, 0, 0, 0};
    step_state *k = &b->state;
    uint32_t known = k->linked, linked = known;
    part_cells prefetched = {{0}};
    int moves = 0, is_prefetched = 0;

    for (;; turn++) {
        warp_sums sums = none;

        advect_small(m, s, b, warp, moves, known, linked, is_prefetched, &prefetched, &sums);
        const int grow = !moves || k->plan.grows, current = rows_after(k->current, moves ? ADVECT_PASSES : 0);
        const uint64_t steps = k->run.steps + (uint64_t)moves;
        const int round = k->turn + (moves && steps % 2 == 0);
        const int axis = gbees_sweep_axis(DIM, round < DIM ? round : 0, (int)(steps % 2), 0);

        exchange_sums_and_requests(b, &sums, turn);
        is_prefetched = PREFETCH_PART && grow && warp->held > 0;
        finish_step(m, s, b, warp, moves, grow, turn, linked, swept_rows(m, current), is_prefetched, axis,
                    &prefetched);
        known = linked;
        if (grow) {
            linked = b->count;
            if (is_block_leader())
                k->linked = k->count = linked;
        }
        if (!k->goes_on || k->stop)
            return turn + 1;
        moves = grow;
    }
}

/* A prune; returns how many bricks are left. */
GBEES_NUM uint32_t small_prune(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp, int turn)
{
    warp_sums sums = {0, 0, 0, 0};

    take_snapshots(m, b, warp);
    grid_barrier(m, s);
    find_kept(m, b, warp, &sums);
    exchange_sums_and_requests(b, &sums, turn);
    cluster_wait();
    if (block_warp() == 0)
        reduce_sums(b, turn);
    if (block_warp() == INSERT_WARP)
        mbarrier_wait(&b->request_mbarrier[turn % 2], turn / 2);
    const uint32_t kept = compact_keys(b);
    if (is_block_leader())
        finish_small_prune(m, b, kept);
    return kept;
}

/* Steps and the prunes between them. Returns how many bricks the table in the GPU's memory still has: after a prune
 * none. */
GBEES_NUM uint32_t small_advance(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp)
{
    step_state *k = &b->state;
    uint32_t entered = k->linked, count = entered;
    int turn = 0, was = 0;

    for (;;) {
        load_bricks(m, b, warp, count, !entered, was);
        block_sync();
        if (!k->goes_on)
            return entered;
        turn = small_steps(m, s, b, warp, turn);
        if (k->stop != STOP_PRUNE)
            return entered;
        was = k->current;
        count = small_prune(m, s, b, warp, turn);
        entered = 0;
        turn++;
    }
}

#endif
