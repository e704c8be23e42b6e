/* step_state.h - what each block of a launch keeps of the state in its shared memory, the barrier of all blocks, and
 * the sums that they add to.
 *
 * The first thread of each block computes grid-uniform numbers (the clock, the step, the ledger) from the same sums
 * by the same operations: so they are the same in all blocks, and no block waits for another one's result.  The first
 * thread of the grid stores them into the state when the kernel ends.
 */
#ifndef GBEES_CUDA_STEP_STATE_H
#define GBEES_CUDA_STEP_STATE_H

#include "device/noise.h"
#include "numerics/sweeps.h"

/* The sums of all blocks, as a thread reads them behind a barrier: by plain loads, which are all under way at once,
 * as volatile ones would not be. */
typedef struct reduced_sums {
    uint64_t max_rate, max_active_rate; /* bits of doubles: the largest CFL rate of all bricks, and of active ones */
    int64_t mass, clipped, outflow;     /* in units of 2^-60 */
    uint32_t count, far_axis, overflow, bad;
} reduced_sums;

/* The step state of a block: written by its first thread, read by all of its threads behind block_sync(). */
typedef struct step_state {
    gbees_run_state run;
    gbees_step_plan plan;
    uint64_t target;               /* run.steps at which the launch ends */
    uint32_t ghosts;               /* copies of other ranks' bricks */
    uint32_t count, linked, fresh; /* bricks; the linked ones; those that are not linked, or that a prune keeps */
    int current;                   /* rows[current] is P */
    int stop;
    uint32_t where;
    int goes_on;        /* another step follows in this launch */
    int advected;       /* gbees_advect() has advected the density by the planned step */
    int turn;           /* axes by which the order of the sweeps is rotated in this step */
    number lambda[DIM]; /* step / width */
    reduced_sums sums;
#if GBEES_ABSORBS
    int64_t entered[STATE_TARGETS + 1]; /* as the state has it */
    uint32_t targets_move;
#endif
#if GBEES_DIFFUSION
    double noise_steps; /* explicit steps of diffusion in this step */
#endif
} step_state;

/* The grid barrier: waits until all blocks of the launch have called it; what each has written before is visible to
 * all after it. All threads call it. */
GBEES_NUM void grid_barrier(const gbees_setup *m, gbees_state *s)
{
    if (m->clustered)
        cluster_barrier();
    else
        counter_barrier(&s->barrier[m->barrier]);
}

/* The middle of the planned step: velocities and Q are evaluated there. */
GBEES_NUM double step_middle(const step_state *b)
{
    return gbees_step_middle(&b->run.clock, &b->run.step);
}

/* Whether the launch has steps left to take. */
GBEES_NUM int has_steps_left(const step_state *b)
{
    return b->run.steps < b->target && b->run.clock.elapsed < b->run.clock.length;
}

/* The sums of step number `step`. */
GBEES_NUM gbees_step_sums *sums_of(gbees_state *s, uint64_t step)
{
    return &s->sums[step % STATE_SUMS];
}

/* Sets the sums of a step to 0. */
GBEES_NUM void clear_sums(gbees_step_sums *sums)
{
    sums->max_rate = sums->max_active_rate = sums->max_noise = 0;
    sums->mass = sums->clipped = sums->outflow = 0;
#if GBEES_DIFFUSION
    for (int j = 0; j < DIM; j++)
        sums->widest[j] = sums->narrowest[j] = 0;
#endif
}

/* ---- targets that absorb ---- */

/* Whether a target's function depends on the time. */
GBEES_NUM int targets_move(const step_state *b)
{
#if GBEES_ABSORBS
    return (int)b->targets_move;
#else
    return (void)b, 0;
#endif
}

#if GBEES_ABSORBS

/* Before a step whose sums are set to 0: sets what targets take in it to 0, too, and what they have emptied. */
GBEES_NUM void clear_entering(gbees_state *s, uint64_t step)
{
    for (int k = 0; k <= STATE_TARGETS; k++)
        s->targets.entering[step % STATE_SUMS][k] = s->targets.emptied[k] = 0;
}

/* Adds what targets have taken to what they had, and returns the sum. b->stop: a function is not a number. By a
 * block's first thread. */
GBEES_NUM double take_entered(step_state *b, const int64_t *more)
{
    double sum = 0;

    for (int k = 0; k < STATE_TARGETS; k++)
        sum += gbees_fixed_value(more[k]);
    for (int k = 0; k <= STATE_TARGETS; k++)
        b->entered[k] += more[k];
    return sum;
}

#endif

/* Sets lambda along all axes, once the block's first thread has set the step. By the first warp of a block: a lane an
 * axis, as divisions take long. */
GBEES_NUM void find_courant(const gbees_setup *m, step_state *b)
{
    warp_sync();
    for (int j = warp_lane(); j < DIM; j += WARP_SIZE)
        b->lambda[j] = (number)(b->run.step.size / m->width[j]);
}

/* Sets lambda along all axes: all threads of a block call it; it ends with block_sync(). */
GBEES_NUM void set_courant(const gbees_setup *m, step_state *b)
{
    if (block_warp() == 0)
        find_courant(m, b);
    block_sync();
}

/* The rows that do not hold the density, which passes may use. */
GBEES_NUM int spare_of(int current)
{
    return current ? 0 : 1;
}

/* Passes of a step's advection.  Split schemes: a sweep along each axis.  ctu: transverse sums, then fluxes. */
enum { ADVECT_PASSES = GBEES_SPLIT ? DIM : 2 };

/* Passes of the planned step: sweeps that add much noise are repeated. */
GBEES_NUM int advect_passes(const gbees_step_plan *plan)
{
    return SPREADS ? gbees_sweep_passes(DIM, plan->parts) : ADVECT_PASSES;
}

/* The rows that hold the density after so many passes: each sweep writes the other array than it reads; ctu writes
 * the density in its last pass only. */
GBEES_NUM int rows_after(int current, int passes)
{
    int changes = GBEES_SPLIT ? passes : passes / ADVECT_PASSES;

    return changes % 2 ? spare_of(current) : current;
}

/* Sets a block's step state from the state, for steps up to number `target`. Called by all threads; ends with
 * block_sync(). */
GBEES_NUM void load_step_state(step_state *b, const gbees_state *s, uint64_t target)
{
    if (is_block_leader()) {
        b->run = s->run;
        b->plan = s->plan;
        b->target = target;
        b->count = s->count;
        b->linked = s->linked;
        b->fresh = 0;
        b->ghosts = s->ghosts;
        b->advected = s->stop == STOP_ADVECT;
        b->current = b->advected ? rows_after(s->current, advect_passes(&s->plan)) : s->current;
        b->plan.grows = b->advected && s->plan.grows;
        b->stop = STOP_DONE;
        b->where = 0;
        b->goes_on = 0;
        b->turn = gbees_sweep_turn(DIM, s->run.steps);
#if GBEES_ABSORBS
        for (int k = 0; k <= STATE_TARGETS; k++)
            b->entered[k] = s->targets.entered[k];
        b->targets_move = s->targets.move;
#endif
    }
    block_sync();
}

/* Stores it in the state, by the first thread of the grid; the others do nothing. */
GBEES_NUM void store_step_state(gbees_state *s, const step_state *b)
{
    if (!is_grid_leader())
        return;
    s->run = b->run;
    s->plan = b->plan;
    s->count = b->count;
    s->linked = b->linked;
    s->current = b->current;
    s->stop = b->stop;
    s->where = b->where;
#if GBEES_ABSORBS
    for (int k = 0; k <= STATE_TARGETS; k++)
        s->targets.entered[k] = b->entered[k];
#endif
}

#endif
