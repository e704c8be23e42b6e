/* advance.h - time steps, as many as asked for, without a word to the host (paper, Fig. 1).
 *
 * Moving the density is most of the work. On a large grid it is done by a kernel that does nothing else,
 * gbees_advect(): that needs fewer registers, so that more of its threads are there at once and wait for memory side
 * by side.  Prunes are a kernel of their own, too: they come every few steps, and are compiled beside these.
 *
 * Each block holds the clock and the sums that its passes need in its own memory; its first thread computes what is
 * one number for all, the same in every block, and one of these, the clerk, writes the books.  Between passes all
 * blocks meet: n + 2 times a step. (A cluster's steps in up to three dimensions: small/steps.h.)
 */
#ifndef GBEES_CUDA_ADVANCE_H
#define GBEES_CUDA_ADVANCE_H

#include "device/ctu_lines.h"
#include "device/diffusion.h"
#include "device/grow.h"
#include "device/pencil.h"
#include "device/step_state.h"

/* All blocks. */
GBEES_NUM void grid_barrier(const gbees_setup *m, gbees_state *s)
{
    if (m->clustered || GBEES_KERNELS == GBEES_KERNELS_SMALL)
        cluster_barrier();
    else
        counter_barrier(&s->barrier[m->barrier]);
}

GBEES_NUM gbees_step_sums *sums_of(gbees_state *s, uint64_t step)
{
    return &s->sums[step % STATE_SUMS];
}

GBEES_NUM void clear_sums(gbees_step_sums *sums)
{
    sums->max_rate = sums->max_active_rate = sums->max_noise = 0;
    sums->mass = sums->clipped = sums->outflow = 0;
}

/* ---- the passes of a step ------------------------------------------------------------------------------------ */

/* The rates for the next step, when new bricks have changed them. */
GBEES_NUM void read_step_rates(const gbees_state *s, const gbees_step_sums *rates, reduced_sums *seen)
{
    uint64_t most = rates->max_rate, busy = rates->max_active_rate;
    uint32_t bad = s->bad;

    seen->most = most;
    seen->busy = busy;
    seen->bad = bad;
}

/* The step's sums, and what its growth has come to. */
GBEES_NUM void read_step_sums(const gbees_state *s, const gbees_step_sums *sums, reduced_sums *seen)
{
    int64_t mass = sums->mass, clipped = sums->clipped, outflow = sums->outflow;
    uint32_t count = s->count, far_axis = s->far_axis, overflow = s->overflow;

    seen->mass = mass;
    seen->clipped = clipped;
    seen->outflow = outflow;
    seen->count = count;
    seen->far_axis = far_axis;
    seen->overflow = overflow;
}

/* What the growth has made, or could not make. */
GBEES_NUM void read_growth(step_state *b)
{
    b->count = b->seen.count;
    b->fresh = b->count - b->linked;
    if (b->seen.far_axis) {
        b->stop = STOP_FAR;
        b->where = b->seen.far_axis - 1;
    } else if (b->seen.overflow) {
        b->stop = STOP_CAPACITY;
    }
}

/* The step for this state of the density, and whether it reaches the end of the interval. */
GBEES_NUM void choose_step(const gbees_setup *m, step_state *b)
{
    double most = double_of(b->seen.most), busy = double_of(b->seen.busy), rest = b->length - b->elapsed;
    double rate = busy < 0.8 * most ? 0.8 * most : busy;

    b->step = m->time_step > 0 ? m->time_step : m->courant / rate; /* no flow: infinite */
    b->last = !(b->step < rest);
    if (b->last)
        b->step = rest;
    if (b->seen.bad) {
        b->stop = STOP_DRIFT;
        b->where = b->seen.bad - 1;
    } else if (!b->last && b->elapsed + b->step == b->elapsed) {
        b->stop = STOP_STEP;
    }
    b->threshold = m->threshold * b->mass;
    b->due = b->phase + 1 == m->prune_interval;
    b->grown =
        !b->due && b->count <= m->brick_limit && !GBEES_DRIFT_TIME_DEPENDENT && !b->last && b->steps + 1 < b->target;
}

/* Neighbours and velocities of bricks made since, and the step; 0: it can't be taken. */
GBEES_NUM int link_and_choose_step(const gbees_setup *m, gbees_state *s, step_state *b)
{
    if (b->stop)
        return 0;
    if (b->fresh) {
        link_new(m, s, b->linked, b->count, b->current, b->time, sums_of(s, b->steps));
        grid_barrier(m, s);
    } else {
        block_sync(); /* all have read the book before it is written again */
    }
    if (is_block_leader()) {
        read_step_rates(s, sums_of(s, b->steps), &b->seen);
        b->linked = b->count;
        choose_step(m, b);
    }
    if (is_grid_leader())
        clear_sums(sums_of(s, b->steps + 1));
    set_courant(m, b);
    return !b->stop;
}

GBEES_NUM void sweep_axis(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int axis,
                          uint32_t *work_queue)
{
    const number *p = rows_of(m, from);
    number *next = rows_of(m, spare_of(from));
    BLOCK_LOCAL int64_t outflows[BLOCK_WARPS][WARP_SIZE];
    int64_t *outflow = &outflows[block_warp()][warp_lane()];

    *outflow = 0;
    switch (axis) {
#define SWEEP(j)                                                                                                     \
    case j:                                                                                                          \
        if (HAS_PENCILS && (GBEES_KERNELS != GBEES_KERNELS_ALL || m->advect_apart))                                  \
            sweep_pencils(m, p, next, j, b->count, b->lambda[j], b->time + b->step / 2, work_queue, outflow);        \
        else                                                                                                         \
            sweep_along(m, p, next, j, b->count, b->lambda[j], b->time + b->step / 2, outflow);                      \
        break
        SWEEP(0);
#if GBEES_N > 1
        SWEEP(1);
#endif
#if GBEES_N > 2
        SWEEP(2);
#endif
#if GBEES_N > 3
        SWEEP(3);
#endif
#if GBEES_N > 4
        SWEEP(4);
#endif
#if GBEES_N > 5
        SWEEP(5);
#endif
#if GBEES_N > 6
        SWEEP(6);
#endif
#if GBEES_N > 7
        SWEEP(7);
#endif
#undef SWEEP
    }
    if (!warp_ballot(*outflow != 0)) /* most often */
        return;
    int64_t sum = warp_add(*outflow);
    if (warp_lane() == 0)
        atomic_add_64(&sums_of(s, b->steps)->outflow, sum);
}

#if GBEES_SPLIT

/* One sweep along each axis: the order is reversed every step and rotated every second. */
GBEES_NUM int axis_at(int turn, int is_odd, int pass)
{
    const int axis = turn + (is_odd ? DIM - 1 - pass : pass);

    return axis < DIM ? axis : axis - DIM;
}

GBEES_NUM int axis_of(const step_state *b, int pass)
{
    return axis_at(b->turn, (int)(b->steps % 2), pass);
}

GBEES_NUM void advect_pass(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int pass)
{
    sweep_axis(m, s, b, from, axis_of(b, pass), &s->work_queue[pass]);
}

#else

GBEES_NUM void advect_pass(const gbees_setup *m, gbees_state *s, const step_state *b, int from, int pass)
{
    const double middle = b->time + b->step / 2;

    if (pass == 0) {
        make_transverse(m, rows_of(m, from), rows_of(m, 2), b->count, b->lambda, middle);
        return;
    }
#if GBEES_LIMITED
    if (pass == 1) {
        limiter_pass(m, rows_of(m, from), rows_of(m, 2), rows_of(m, 3), b->count, b->lambda, middle);
        return;
    }
#endif
    int64_t clipped = warp_add(apply_fluxes(m, rows_of(m, from), rows_of(m, 2), rows_of(m, 3),
                                            rows_of(m, spare_of(from)), b->count, b->lambda, middle));
    if (warp_lane() == 0 && clipped)
        atomic_add_64(&sums_of(s, b->steps)->clipped, clipped);
}

#endif

GBEES_NUM void advect_density(const gbees_setup *m, gbees_state *s, step_state *b)
{
    const int current = b->current;

    if (ADVECT_PASSES == 1) /* there is no meeting before it is written */
        block_sync();
#if !GBEES_SPLIT
#pragma unroll
#endif
    for (int pass = 0; pass < ADVECT_PASSES; pass++) {
        advect_pass(m, s, b, rows_after(current, pass), pass);
        if (is_block_leader() && pass == ADVECT_PASSES - 1)
            b->current =
                rows_after(current, ADVECT_PASSES); /* which all have read before a meeting, and read after one */
        grid_barrier(m, s);
    }
}

#if GBEES_DIFFUSION

/* Into how many explicit steps this one is cut; 0: Q can't be. */
GBEES_NUM int choose_noise_steps(const gbees_setup *m, gbees_state *s, step_state *b)
{
    noise_rates_pass(m, s, b->count, b->time + b->step / 2, sums_of(s, b->steps));
    grid_barrier(m, s);
    if (is_block_leader()) {
        uint64_t most = load_64(&sums_of(s, b->steps)->max_noise);
        uint32_t bad = load_32(&s->bad);

        b->noise_steps = gbees_diffusion_steps(b->step, double_of(most));
        if (bad) {
            b->stop = STOP_NOISE;
            b->where = bad - 1;
        }
    }
    block_sync();
    return !b->stop;
}

/* Heun's steps: to the spare rows, and from there into the density's own. */
GBEES_NUM void diffuse(const gbees_setup *m, gbees_state *s, const step_state *b)
{
    const double step = b->step / b->noise_steps, time = b->time + b->step / 2;
    number *p = rows_of(m, b->current), *next = rows_of(m, spare_of(b->current));

    for (double k = 0; k < b->noise_steps; k++)
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            int64_t lost = warp_add(diffuse_pass(m, half ? next : p, half ? p : next, half, b->count, step, time));

            if (warp_lane() == 0 && lost)
                atomic_add_64(&sums_of(s, b->steps)->outflow, lost);
            grid_barrier(m, s);
        }
}

/* Drift, then diffusion; in the next step the other way round. */
GBEES_NUM int take_step(const gbees_setup *m, gbees_state *s, step_state *b)
{
    if (!choose_noise_steps(m, s, b))
        return 0;
#pragma unroll 1
    for (int part = 0; part < 2; part++) {
        if ((part ^ (int)(b->steps % 2)) == 0)
            advect_density(m, s, b);
        else
            diffuse(m, s, b);
    }
    return 1;
}

#else

GBEES_NUM int take_step(const gbees_setup *m, gbees_state *s, step_state *b)
{
    advect_density(m, s, b);
    return 1;
}

#endif

/* ---- steps ------------------------------------------------------------------------------------------------------
 */

/* The clock and the ledger after a step. */
GBEES_NUM void update_ledger(const gbees_setup *m, step_state *b)
{
    double mass = gbees_fixed_value(b->seen.mass);

    if (!(mass > 0)) {
        b->stop = STOP_MASS;
        return;
    }
    const double clipped = gbees_fixed_value(b->seen.clipped), outflow = gbees_fixed_value(b->seen.outflow);
    b->clipped += clipped;
    b->outflow += m->sweeps ? outflow : b->mass + clipped - mass;
    b->needed_steps++;
    b->last_step = b->step;
    b->raw_cell_updates += (double)b->linked * CELLS; /* gbees_mark() may have made more for the next step */
    b->mass = mass;
    b->time += b->step;
    b->elapsed = b->last ? b->length : b->elapsed + b->step;
    b->leg_step++;
    b->phase = b->due ? 0 : b->phase + 1;
    b->steps++;
    if (b->steps % 2 == 0)
        b->turn = b->turn + 1 < DIM ? b->turn + 1 : 0;
}

/* Whether there is another step for now. `moved`: a step has been. */
GBEES_NUM void advance_clock(const gbees_setup *m, step_state *b, int moved)
{
    b->goes_on = 1;
    if (moved) {
        update_ledger(m, b);
        b->stop = b->stop ? b->stop : b->due ? STOP_PRUNE : b->count > m->brick_limit ? STOP_CAPACITY : STOP_DONE;
        b->goes_on = !b->stop && b->steps < b->target && b->elapsed < b->length;
    }
}

/* ... and what its growth has made. */
GBEES_NUM void finish_pass(const gbees_setup *m, gbees_state *s, step_state *b, int moved)
{
    /* Before a step those of one that is over: others may be in the one to come already. */
    read_step_sums(s, sums_of(s, b->steps + (moved ? 0 : STATE_SUMS - 1)), &b->seen);
    advance_clock(m, b, moved);
    if (b->goes_on && (!moved || b->grown))
        read_growth(b);
}

/* What comes first after a step, or before it.  Bricks in use are all linked then; their count grows meanwhile. */
GBEES_NUM void mark_pass(const gbees_setup *m, gbees_state *s, step_state *b, int moved)
{
    gbees_step_sums *marked = sums_of(s, b->steps), *rates = sums_of(s, b->steps + (uint64_t)moved);
    const int grow = moved ? b->grown : 1;

    mark_and_grow(m, s, b->linked, b->current, b->threshold, moved, grow, marked, rates);
}

/* Where nothing comes between, marking the cells after a step and growing the grid for the next are one pass. */
GBEES_NUM void advance(const gbees_setup *m, gbees_state *s, step_state *b)
{
    int moved = b->advected;

    for (;;) {
#if GBEES_DRIFT_TIME_DEPENDENT
        if (!moved) { /* as it is at a step's beginning */
            inspect_all(m, s, b->linked, b->time);
            grid_barrier(m, s);
        }
#endif
        if (!moved || !m->advect_apart) {
            mark_pass(m, s, b, moved);
            grid_barrier(m, s);
        }
        if (is_block_leader())
            finish_pass(m, s, b, moved);
        block_sync();
        if (!b->goes_on)
            return;
        if (moved && !b->grown) {
            moved = 0;
            continue;
        }
        if (!link_and_choose_step(m, s, b))
            return;
        if (GBEES_ADVECT_APART || m->advect_apart) {
            block_sync(); /* all have seen that nothing stops it */
            if (is_block_leader())
                b->stop = STOP_ADVECT;
            if (is_grid_leader())
                for (int pass = 0; pass < DIM; pass++)
                    s->work_queue[pass] = 0;
            return;
        }
        if (!take_step(m, s, b))
            return;
        moved = 1;
    }
}

#endif
