/* steps.h - time steps of a small grid, and the prunes between them; the kernel gbees_small() calls small_load()
 * (grid.h), small_advance() (at the end of this file), and small_store() (grid.h).
 *
 * A step with n axes. Each row ends with a barrier: (c) of the cluster, (b) of each block, (-) none.
 *
 *   phase               warps of each block    reads -> writes
 *   sweeps 1 .. n - 1   each, its bricks       P in the GPU's memory -> P's other array                          (c)
 *                       0 as well              inspects new bricks of its block in shared memory
 *   sweep n, marks      each, its bricks       P -> P's other array; active cells, sums and requests in shared
 *                                              memory                                                            (b)
 *   report              0, INSERT_WARP         sums and requests -> messages in all blocks; all warps arrive at the
 *                                              cluster barrier                                                   (-)
 *   clock               0                      sums of all blocks, when these messages are there -> step state   (-)
 *   insertion           INSERT_WARP            requests of all blocks, the same -> keys, hash table              (-)
 *   wait                each                   the cluster barrier; then P -> registers, for the first sweep     (c)
 *   growth              FIRST_RATE_WARP, ...   keys of new bricks -> their largest rate
 *                       each, its bricks       keys, hash table -> its new bricks, links                         (b)
 *   repetition          0                      if a new brick is faster than all others or the capacity is
 *                                              exceeded: the clock's phase again, for the step alone             (b)
 *
 * "clock" and "insertion" run side by side, and neither waits for the cluster barrier. Before the first step of a
 * launch, and after a step that was not to grow the grid, there is a pass without sweeps, from "marks" on: it
 * requests the neighbours of all active cells.
 *
 * A lane sweeps a part of a line: two cells with their three faces. A brick of 64 cells occupies a warp, which marks
 * the cells that it has swept without a barrier in between.
 */
#ifndef GBEES_CUDA_SMALL_STEPS_H
#define GBEES_CUDA_SMALL_STEPS_H

#include "device/advance.h"
#include "device/small/grow.h"
#include "device/small/prune.h"
#include "device/sweep.h"

enum {
    SMALL_EDGE_BITS = 6 / DIM,
    SMALL_EDGE = 1 << SMALL_EDGE_BITS, /* cells of a brick along each axis */
    PART_CELLS = 2,
    BRICK_PARTS = CELLS / PART_CELLS,
    /* If a lane has one part of a brick, and registers for its cells, they are loaded before the growth. */
    PREFETCH_PART = WARP_SIZE == (int)BRICK_PARTS && sizeof(number) == sizeof(float) && !GBEES_LOW_REGISTERS
};

/* A pass of all blocks; the same in all threads. */
typedef struct small_pass {
    int advects;            /* 1: a step; 0: marks and growth alone */
    int grows;              /* new bricks are inserted after it */
    int round;              /* of its messages */
    uint32_t filled, count; /* bricks; those up to `filled` had cells before the step, later ones are read as zeros */
} small_pass;

/* One sweep of a pass. */
typedef struct small_sweep {
    const number *p;
    number *next;
    uint32_t filled; /* bricks 1 .. filled have cells in p */
    int axis, is_last;
    number lambda, threshold;
    double time;
} small_sweep;

/* ---- a part of a line ------------------------------------------------------------------------------------------ */

/* Some cells of a line, which a lane sweeps. */
typedef struct line_part {
    int axis, shift; /* neighbouring cells of the line differ by 1 << shift */
    int cell, first; /* the lowest cell of the line; the first of the part's cells, counted from there */
} line_part;

/* The cells of a part, with BEYOND cells on each side. */
typedef struct part_cells {
    number q[PART_CELLS + 2 * BEYOND];
} part_cells;

/* A part that has been prefetched, if is_valid. */
typedef struct prefetched_part {
    int is_valid;
    part_cells cells;
} prefetched_part;

/* Part number `which`, 0 .. BRICK_PARTS - 1, of the lines along an axis. */
GBEES_NUM line_part part_of_brick(int axis, int which)
{
    const int shift = axis * SMALL_EDGE_BITS, line = which / (SMALL_EDGE / PART_CELLS);
    const int low = line & ((1 << shift) - 1);
    line_part part = {axis, shift, (line >> shift) << (shift + SMALL_EDGE_BITS) | low,
                      which % (SMALL_EDGE / PART_CELLS) * PART_CELLS};

    return part;
}

/* Loads a part's cells and those beyond it, from the brick and its neighbours. Neighbours above `filled` are read as
 * the null brick: nothing has been written to their rows yet. Rows are selected by their 32-bit indices, which takes
 * half of the instructions that pointers take. */
GBEES_NUM part_cells load_part(const number *p, uint32_t filled, const small_brick *brick, uint32_t slot,
                               line_part part)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    const uint32_t own = slot * CELLS + (uint32_t)part.cell;
    const uint32_t lower = (below <= filled ? below : 0) * CELLS + (uint32_t)part.cell;
    const uint32_t upper = (above <= filled ? above : 0) * CELLS + (uint32_t)part.cell;
    part_cells line;

#pragma unroll
    for (int i = 0; i < PART_CELLS + 2 * BEYOND; i++) {
        const int at = part.first + i - BEYOND;
        const uint32_t row = at < 0 ? lower : at >= SMALL_EDGE ? upper : own;

        line.q[i] = p[row + ((uint32_t)(at & (SMALL_EDGE - 1)) << part.shift)];
    }
    return line;
}

/* Sets v[PART_CELLS + 3] to the velocities at the faces of a part's cells, from one face before the first to one
 * behind the last. The axis is no constant of the compiler here: all axes share one text, as the kernel has to fit
 * the instruction cache. */
GBEES_NUM void part_velocities(const gbees_setup *m, const small_brick *brick, line_part part, double time, number *v)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    position x[DIM], at[PART_CELLS + 3];

#pragma unroll
    for (int i = 0; i < PART_CELLS + 3; i++) {
        const int face = part.first + i - 1;
        /* The position of a face between two bricks is computed from the lower one, so that both round it alike. */
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

/* Sweeps a part and stores its cells; adds the mass that has left the grid to the sums; in the last sweep marks the
 * cells: adds to *active and to the sums' mass. */
GBEES_NUM void sweep_part(const gbees_setup *m, const small_sweep *sweep, const part_cells *line,
                          const small_brick *brick, uint32_t slot, line_part part, uint64_t *active, warp_sums *sums)
{
    const int is_lowest = part.first == 0 && !brick->link[2 * part.axis];
    const int is_highest = part.first + PART_CELLS == SMALL_EDGE && !brick->link[2 * part.axis + 1];
    number v[PART_CELLS + 3] = {0}, crossing[PART_CELLS + 1];

    part_velocities(m, brick, part, sweep->time, v);
    face_masses(line->q, v, PART_CELLS, sweep->lambda, crossing);
#pragma unroll
    for (int i = 0; i < PART_CELLS; i++) {
        const int cell = part.cell + ((part.first + i) << part.shift);
        number value = line->q[BEYOND + i] + (crossing[i] - crossing[i + 1]);

        if (sweep->is_last) {
            value = mark_cell(value, &sums->mass);
            *active |= (uint64_t)(value >= sweep->threshold) << cell;
        }
        sweep->next[slot * CELLS + (uint32_t)cell] = value;
    }
    if (PART_CELLS < SMALL_EDGE) /* a part has one end of a line at most: one text for both */
        add_outflow(is_lowest ? -crossing[0] : is_highest ? crossing[PART_CELLS] : 0, &sums->outflow);
    else
        add_outflow_of_line(crossing, PART_CELLS, is_lowest, is_highest, &sums->outflow);
}

/* ---- a pass ---------------------------------------------------------------------------------------------------- */

/* Sweeps a brick; adds to the warp's sums, and in the last sweep to *active. By a warp. */
GBEES_NUM void sweep_brick(const gbees_setup *m, const small_sweep *sweep, const small_brick *brick, uint32_t slot,
                           const prefetched_part *prefetched, uint64_t *active, warp_sums *sums)
{
#pragma unroll 1
    for (int which = warp_lane(); which < BRICK_PARTS; which += WARP_SIZE) {
        const line_part part = part_of_brick(sweep->axis, which);
        part_cells line = prefetched->cells;

        if (!prefetched->is_valid)
            line = load_part(sweep->p, sweep->filled, brick, slot, part);
        sweep_part(m, sweep, &line, brick, slot, part, active, sums);
    }
}

/* Ends the last sweep of a brick: stores its active cells and requests the neighbours that they flow into, after a
 * step only for those that have become active in it. In a pass that does not advect, all active cells request theirs,
 * and a drift that depends on time is evaluated for the coming step. By a warp. */
GBEES_NUM void mark_small_brick(const gbees_setup *m, gbees_state *s, small_block *b, const small_pass *pass,
                                small_brick *brick, uint32_t slot, uint64_t active, warp_sums *sums)
{
    const uint64_t before = pass->advects ? brick->active : 0;

    active = pass->advects ? warp_or(active) : brick->active;
#if GBEES_DRIFT_TIME_DEPENDENT
    if (!pass->advects && !(inspect_small_brick(m, b->state.run.clock.time, 0, CELLS, brick) < 1e300))
        store_release_32(&s->bad, slot + 1);
    sums->max_rate = fmax(sums->max_rate, brick->rate);
#else
    (void)m, (void)s, (void)slot;
#endif
    if (active)
        sums->max_active_rate = fmax(sums->max_active_rate, brick->rate);
    warp_sync();
    if (warp_lane() == 0)
        brick->active = active;
    if (pass->grows && (active & ~before))
        request_neighbors(b, brick, active & ~before);
}

/* One sweep of this warp's bricks, and the marks if it is the last. The first sweep's first brick may be prefetched.
 * By each warp. */
GBEES_NUM void sweep_bricks(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp,
                            const small_pass *pass, const small_sweep *sweep, prefetched_part *prefetched,
                            warp_sums *sums)
{
#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        small_brick *brick = &warp->brick[i];
        const uint32_t slot = slot_of(warp, i);
        uint64_t active = 0;

        if (pass->advects)
            sweep_brick(m, sweep, brick, slot, prefetched, &active, sums);
        prefetched->is_valid = 0;
        if (sweep->is_last)
            mark_small_brick(m, s, b, pass, brick, slot, active, sums);
    }
}

/* rows_of(), as a choice of two: without indexing the setup. */
GBEES_NUM number *density_rows(const gbees_setup *m, int which)
{
    return (number *)(which ? m->grid.rows[1] : m->grid.rows[0]);
}

/* The sweeps of a pass and its marks, with a barrier of the cluster before each sweep but the first. There is at
 * least one such barrier before the marks of a step: they overwrite requests that other blocks may still read. Warp 0
 * inspects the new bricks meanwhile, some cells in each sweep. By all warps of all blocks. */
GBEES_NUM void sweep_and_mark(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp,
                              const small_pass *pass, prefetched_part *prefetched, warp_sums *sums)
{
    enum { INSPECTIONS = ADVECT_PASSES > 1 ? ADVECT_PASSES - 1 : 1 };
    const step_state *k = &b->state;
    const int inspects = pass->count > pass->filled && block_warp() == 0;

#pragma unroll 1
    for (int i = pass->advects ? 0 : ADVECT_PASSES - 1; i < ADVECT_PASSES; i++) {
        const int axis = axis_of(k, i), from = rows_after(k->current, i);
        const small_sweep sweep = {density_rows(m, from),          density_rows(m, spare_of(from)),
                                   i ? pass->count : pass->filled, axis,
                                   i == ADVECT_PASSES - 1,         k->lambda[axis],
                                   (number)k->plan.threshold,      step_middle(k)};

        if (ADVECT_PASSES == 1 && inspects)
            inspect_new_bricks(m, b, 0, CELLS);
        if (pass->advects && (i > 0 || ADVECT_PASSES == 1))
            grid_barrier(m, s);
        sweep_bricks(m, s, b, warp, pass, &sweep, prefetched, sums);
        if (i < ADVECT_PASSES - 1 && inspects)
            inspect_new_bricks(m, b, CELLS * i / INSPECTIONS, CELLS * (i + 1) / INSPECTIONS);
    }
}

/* ---- between two passes ---------------------------------------------------------------------------------------- */

/* Updates the clock and the ledger, and chooses the next step, before it is known which bricks are new, since these
 * hardly ever change it. With `again` it chooses the step with the new bricks' rates, or stops if they could not be
 * inserted. By warp 0 of each block. */
GBEES_NUM void choose_next_step(const gbees_setup *m, small_block *b, const small_pass *pass, int again)
{
    step_state *k = &b->state;
    uint64_t most = 0;

    if (again)
        most = warp_max_64(warp_lane() < BLOCK_WARPS ? bits_of(b->new_rate[warp_lane()]) : 0);
    else
        reduce_sums(b, pass->round);
    if (is_block_leader()) {
        if (again) {
            k->sums.max_rate = most > k->sums.max_rate ? most : k->sums.max_rate;
        } else {
            k->current = rows_after(k->current, pass->advects ? ADVECT_PASSES : 0);
            advance_clock(m, k, pass->advects);
        }
        if (pass->grows && k->goes_on) {
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

/* Whether the growth has changed the step, or could not be done. The same in all warps of all blocks. */
GBEES_NUM int must_choose_again(const small_block *b)
{
    const double most = double_of(b->state.sums.max_rate);

    return warp_any(warp_lane() < BLOCK_WARPS && b->new_rate[warp_lane()] > most) || b->far_axis || b->overflow;
}

/* Waits until all blocks have reported the pass; the insert warp inserts new bricks when it has the requests. */
GBEES_NUM void wait_and_insert(small_block *b, const small_pass *pass)
{
    int has_waited = 0;

    if (block_warp() == INSERT_WARP) {
        mbarrier_wait(&b->requests_mbarrier[pass->round % 2], pass->round / 2);
        has_waited = pass->grows && insert_requested(b, pass->count, pass->round);
    }
    if (!has_waited)
        cluster_wait();
}

/* Grows the grid by the bricks that the insert warp has inserted, whose rows in p become zeros. By each warp. */
GBEES_NUM void grow_small(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp,
                          const small_pass *pass, number *p)
{
    wait_for_insertion();
    if (block_warp() + 1 > FIRST_RATE_WARP)
        rate_new_bricks(m, s, b, pass->count);
    if (warp->rank < b->count) { /* else the warp has no bricks */
        init_new_bricks(m, b, warp, p);
        link_small_bricks(m, b, warp, pass->count);
    }
}

/* What comes between two passes: the clock, insertion and growth. `p`: the rows of the density. If *prefetched is to
 * be valid, loads the part that this lane sweeps first, along `axis`. The second round of the loop is that of the
 * step chosen again: a loop, so that the text of choose_next_step() is in the instruction cache once. By all warps of
 * all blocks; ends with a barrier of each block. */
GBEES_NUM void finish_small_pass(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp,
                                 const small_pass *pass, number *p, int axis, prefetched_part *prefetched)
{
#pragma unroll 1
    for (int again = 0;; again = 1) {
        if (block_warp() == 0)
            choose_next_step(m, b, pass, again);
        if (!again) {
            wait_and_insert(b, pass);
            if (prefetched->is_valid)
                prefetched->cells =
                    load_part(p, pass->count, warp->brick, slot_of(warp, 0), part_of_brick(axis, warp_lane()));
        }
        if (pass->grows && !again)
            grow_small(m, s, b, warp, pass, p);
        block_sync();
        const int goes_on = b->state.goes_on, must = must_choose_again(b); /* loaded together */
        if (again || !pass->grows || !goes_on || !must)
            return;
        block_sync(); /* all warps have read what warp 0 is going to write */
    }
}

/* Takes steps until there is a reason to stop. round: of the first messages; returns the next one. Code that is
 * seldom needed is not in this loop, which just fits the instruction cache. By all warps of all blocks. */
GBEES_NUM int small_steps(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp, int round)
{
    step_state *k = &b->state;
    small_pass pass = {0, 1, round, k->linked, k->linked};
    prefetched_part prefetched = {0};

    for (;; pass.round++) {
        warp_sums sums = {0, 0, 0, 0};

        pass.grows = !pass.advects || k->plan.grows;
        sweep_and_mark(m, s, b, warp, &pass, &prefetched, &sums);
        const int current = rows_after(k->current, pass.advects ? ADVECT_PASSES : 0);
        const uint64_t steps = k->run.steps + (uint64_t)pass.advects;
        const int turn = pass.advects ? gbees_sweep_turn_after(DIM, k->turn, steps) : k->turn;
        const int axis = gbees_sweep_axis(DIM, turn, gbees_step_is_reversed(steps), 0);

        report_pass(b, &sums, pass.round);
        prefetched.is_valid = PREFETCH_PART && pass.grows && warp->held > 0;
        finish_small_pass(m, s, b, warp, &pass, density_rows(m, current), axis, &prefetched);
        pass.filled = pass.count;
        if (pass.grows) {
            pass.count = b->count;
            if (is_block_leader())
                k->linked = k->count = pass.count;
        }
        if (!k->goes_on || k->stop)
            return pass.round + 1;
        pass.advects = pass.grows;
    }
}

/* ---- prunes, and all of a launch ------------------------------------------------------------------------------- */

/* Prunes the grid; its messages are those of round `round`. Returns how many bricks are left; their warps load them
 * next (load_bricks()). By all warps of all blocks. */
GBEES_NUM uint32_t small_prune(const gbees_setup *m, gbees_state *s, small_block *b, const small_warp *warp,
                               int round)
{
    warp_sums sums = {0, 0, 0, 0};

    take_snapshots(m, b, warp);
    grid_barrier(m, s);
    find_kept(m, b, warp, &sums);
    report_pass(b, &sums, round);
    cluster_wait();
    if (block_warp() == 0)
        reduce_sums(b, round);
    if (block_warp() == INSERT_WARP) /* requests: none, but each message is waited for once */
        mbarrier_wait(&b->requests_mbarrier[round % 2], round / 2);
    const uint32_t kept = compact_keys(b);
    if (is_block_leader())
        finish_small_prune(m, b, kept);
    return kept;
}

/* Takes steps, with the prunes between them, until the state has another reason to stop. Returns how many bricks are
 * still in the grid's table in the GPU's memory, for small_store(): 0 after a prune. By all warps of all blocks. */
GBEES_NUM uint32_t small_advance(const gbees_setup *m, gbees_state *s, small_block *b, small_warp *warp)
{
    step_state *k = &b->state;
    uint32_t known = k->linked, count = known;
    int round = 0, current = 0;

    for (;;) {
        load_bricks(m, b, warp, count, !known, current);
        block_sync();
        if (!k->goes_on)
            return known;
        round = small_steps(m, s, b, warp, round);
        if (k->stop != STOP_PRUNE)
            return known;
        current = k->current;
        count = small_prune(m, s, b, warp, round);
        known = 0;
        round++;
    }
}

#endif
