/* advect.h - the passes that advect the density by a step: sweeps of the split schemes, or the passes of ctu. */
#ifndef GBEES_CUDA_ADVECT_H
#define GBEES_CUDA_ADVECT_H

#include "device/ctu_lines.h"
#include "device/cuts.h"
#include "device/pencil.h"
#include "device/step_state.h"

#if GBEES_SPLIT

/* The axis of a step's pass number `pass`. */
GBEES_NUM int axis_of(const step_state *b, int pass)
{
    return gbees_pass_axis(DIM, b->turn, gbees_step_is_reversed(b->run.steps), SPREADS ? b->plan.parts : NULL, pass);
}

/* Pass number `pass` of a step, along an axis, from rows `from` to the spare ones. */
GBEES_NUM axis_sweep sweep_of(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int axis, int pass)
{
    axis_sweep w = {
        rows_of(m, from),
        rows_of(m, spare_of(from)),
        axis,
        b->lambda[axis],
        step_middle(b),
        (number)b->plan.variance[axis],
        b->run.step.size,
        b->plan.varies,
        gbees_dither_of_pass(b->run.steps, pass),
        SPREADS ? (number)gbees_ledger_lean(&b->run.ledger) : 0,
        (number)m->inside,
#if GBEES_ABSORBS
        (number)sqrt(b->plan.variance[axis]),
        &s->targets,
        s->targets.entering[b->run.steps % STATE_SUMS]
#endif
    };

    (void)s;
    if (SPREADS && b->plan.parts[axis] > 1) {
        w.part /= b->plan.parts[axis];
        w.lambda = (number)(w.part / m->width[axis]);
    }
    return w;
}

/* Sweeps all lines along an axis. A brick is swept by as many lanes as it has lines, and a warp sweeps several bricks
 * at once if these are fewer than its lanes. Adds the mass that leaves the grid to the lane's own sum, which lies in
 * memory, as it is seldom needed. By all blocks. */
GBEES_NUM void sweep_along(const gbees_setup *m, const axis_sweep *w, uint32_t count, int64_t *outflow)
{
    const int axis = w->axis, parts = axis_edge(axis) / piece_cells(axis), lines = (CELLS >> axis_bits(axis)) * parts;
    const int lanes = lines < WARP_SIZE ? lines : WARP_SIZE, bricks = WARP_SIZE / lanes;

    const warp_slots slots = slots_of_warp(m, count, (uint32_t)bricks);

    for (uint32_t slot = slots.from + (uint32_t)(warp_lane() / lanes); slot <= slots.last; slot += slots.stride)
#pragma unroll 1
        for (int line = warp_lane() % lanes; line < lines; line += lanes) {
#if GBEES_ABSORBS
            if (is_near_targets(m, axis, slot)) {
                const axis_sweep own = *w; /* by its address, which *w is not to have */

                sweep_cut_line(m, &own, slot, line_cell(axis, line / parts), line % parts, outflow);
                continue;
            }
#endif
            sweep_line(m, w, slot, line_cell(axis, line / parts), line % parts, outflow);
        }
}

/* Sweeps along an axis.  Adds what leaves the grid, in units of 2^-60, to the lane's *outflow. */
GBEES_NUM void sweep_axis(const gbees_setup *m, const step_state *b, const axis_sweep *w, uint32_t *work_queue,
                          int64_t *outflow)
{
    const int apart = GBEES_KERNELS != GBEES_KERNELS_ALL || m->advect_apart;

    /* Pencils have open ends, and know no targets. */
    const int open = !GBEES_ABSORBS && (!GBEES_CLOSED || !gbees_shape_is_closed(&m->shape, w->axis));

    /* Pencils take an axis once a step: the sweeps of an axis that is swept by parts would need a queue each. */
    if (HAS_PENCILS && apart && open && pencils_spread(w) && b->plan.parts[w->axis] == 1)
        sweep_pencils(m, w, SPREADS, b->count, b->ghosts, work_queue, outflow);
    else if (HAS_PENCILS && apart && open && !(SPREADS && w->variance > 0))
        sweep_pencils(m, w, 0, b->count, b->ghosts, work_queue, outflow);
    else
        sweep_along(m, w, b->count, outflow);
}

/* Pass number `pass` of a step, from rows `from` to the spare ones; adds what leaves the grid to the step's sums. */
GBEES_NUM void advect_pass(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int pass)
{
    BLOCK_LOCAL int64_t outflows[BLOCK_WARPS][WARP_SIZE]; /* seldom needed: registers would be wasted on it */
    int64_t *outflow = &outflows[block_warp()][warp_lane()];
    const int axis = axis_of(b, pass);

    *outflow = 0;
#pragma unroll
    for (int j = 0; j < DIM; j++) /* each axis has code of its own */
        if (j == axis) {
            const axis_sweep w = sweep_of(m, s, b, from, j, pass);

            sweep_axis(m, b, &w, &s->work_queue[j], outflow);
        }
    if (!warp_ballot(*outflow != 0))
        return;
    int64_t sum = warp_add(*outflow);
    if (warp_lane() == 0)
        atomic_add_64(&sums_of(s, b->run.steps)->outflow, sum);
}

#else

/* Pass number `pass` of ctu, from rows `from`: the transverse sums to rows 2; the new density to the spare rows. Adds
 * the clipped mass to the step's sums. */
GBEES_NUM void advect_pass(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int pass)
{
    const double middle = step_middle(b);

    if (pass == 0) {
        make_transverse(m, rows_of(m, from), rows_of(m, 2), b->count, b->lambda, middle);
        return;
    }
    int64_t clipped = warp_add(
        apply_fluxes(m, rows_of(m, from), rows_of(m, 2), rows_of(m, spare_of(from)), b->count, b->lambda, middle));
    if (warp_lane() == 0 && clipped)
        atomic_add_64(&sums_of(s, b->run.steps)->clipped, clipped);
}

#endif

/* All passes of a step, with a grid barrier behind each. */
GBEES_NUM void advect_density(const gbees_setup *m, gbees_state *s, step_state *b)
{
    const int current = b->current, passes = advect_passes(&b->plan);

    if (ADVECT_PASSES == 1) /* all threads read b->current before it is written: no barrier comes between */
        block_sync();
#if !GBEES_SPLIT
#pragma unroll
#endif
    for (int pass = 0; pass < passes; pass++) {
        advect_pass(m, s, b, rows_after(current, pass), pass);
        if (is_block_leader() && pass == passes - 1)
            b->current = rows_after(current, passes);
        grid_barrier(m, s);
    }
}

#endif
