/* step_state.h - the clock and the sums, which each block has for itself, and where they come from and go to. */
#ifndef GBEES_CUDA_STEP_STATE_H
#define GBEES_CUDA_STEP_STATE_H

#include "device/inspect.h"

/* What all blocks have written, read at once where they have just met: one after the other costs as many waits.  The
 * meeting has all of it seen, so that these are plain loads; volatile ones wait for each other. By a block's first
 * thread, for itself. */
typedef struct reduced_sums {
    uint64_t most, busy; /* rates */
    int64_t mass, clipped, outflow;
    uint32_t count, far_axis, overflow, bad;
} reduced_sums;

/* The clock and the sums, the same in every block. Written by a block's first thread, between block_sync()s. */
typedef struct step_state {
    double time, elapsed, length, mass, step, threshold;
    number lambda[DIM]; /* step / width */
    uint64_t leg_step, steps, target;
    uint32_t count, linked, fresh;
    uint32_t phase; /* steps since one after which a prune was due */
    int current, last, stop, due, grown, goes_on;
    int advected; /* the density has been, by gbees_advect() */
    int turn;     /* by how many axes the order of the sweeps is rotated in this step */
    uint32_t where;
    reduced_sums seen;
    double clipped, outflow, needed_steps, last_step, raw_cell_updates; /* the clerk's are the state's, at the end */
#if GBEES_DIFFUSION
    double noise_steps; /* explicit ones in this step */
#endif
} step_state;

/* By a block's first warp, once its first thread has the step: an axis a lane, as a division takes long. */
GBEES_NUM void find_courant(const gbees_setup *m, step_state *b)
{
    warp_sync();
    for (int j = warp_lane(); j < DIM; j += WARP_SIZE)
        b->lambda[j] = (number)(b->step / m->width[j]);
}

/* ... by all of a block. */
GBEES_NUM void set_courant(const gbees_setup *m, step_state *b)
{
    if (block_warp() == 0)
        find_courant(m, b);
    block_sync();
}

/* The spare rows that a prune and a count of marks may use. */
GBEES_NUM int spare_of(int current)
{
    return current ? 0 : 1;
}

/* Passes that move the density: a sweep along each axis, or what crosses corners and then the fluxes; ctu-positive
 * has one between these. */
enum { ADVECT_PASSES = GBEES_SPLIT ? DIM : 2 + GBEES_LIMITED };

/* Which rows hold the density after so many of them: each sweep is from one array to the other. */
GBEES_NUM int rows_after(int current, int passes)
{
    int changes = GBEES_SPLIT ? passes : passes / ADVECT_PASSES;

    return changes % 2 ? spare_of(current) : current;
}

GBEES_NUM void load_step_state(step_state *b, const gbees_state *s, uint64_t target)
{
    if (is_block_leader()) {
        b->time = s->time;
        b->elapsed = s->elapsed;
        b->length = s->length;
        b->mass = s->mass;
        b->step = s->step;
        b->leg_step = s->leg_step;
        b->phase = s->phase;
        b->steps = s->steps;
        b->target = target;
        b->turn = (int)(s->steps / 2 % DIM);
        b->advected = s->stop == STOP_ADVECT;
        b->count = s->count;
        b->linked = s->linked;
        b->current = b->advected ? rows_after(s->current, ADVECT_PASSES) : s->current;
        b->threshold = s->step_threshold;
        b->last = s->step_is_last;
        b->due = s->step_is_due;
        b->grown = b->advected && s->step_is_grown;
        b->stop = STOP_DONE;
        b->where = 0;
        b->fresh = 0;
        b->goes_on = 0;
        b->clipped = s->clipped;
        b->outflow = s->outflow;
        b->needed_steps = s->needed_steps;
        b->last_step = s->last_step;
        b->raw_cell_updates = s->raw_cell_updates;
    }
    block_sync();
}

GBEES_NUM void store_step_state(gbees_state *s, const step_state *b)
{
    if (!is_grid_leader())
        return;
    s->time = b->time;
    s->elapsed = b->elapsed;
    s->mass = b->mass;
    s->step = b->step;
    s->leg_step = b->leg_step;
    s->phase = b->phase;
    s->steps = b->steps;
    s->count = b->count;
    s->linked = b->linked;
    s->current = b->current;
    s->step_threshold = b->threshold;
    s->step_is_last = b->last;
    s->step_is_due = b->due;
    s->step_is_grown = b->grown;
    s->stop = b->stop;
    s->where = b->where;
    s->clipped = b->clipped;
    s->outflow = b->outflow;
    s->needed_steps = b->needed_steps;
    s->last_step = b->last_step;
    s->raw_cell_updates = b->raw_cell_updates;
}

#endif
