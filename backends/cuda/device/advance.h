/* advance.h - takes any number of time steps in one launch (paper, Fig. 1).
 *
 * A step is a row of passes over the bricks, with a barrier of all blocks behind each: mark and grow, link what is
 * new, then the passes of advect.h and, with process noise, of diffusion.h.
 */
#ifndef GBEES_CUDA_ADVANCE_H
#define GBEES_CUDA_ADVANCE_H

#include "device/advect.h"
#include "device/diffusion.h"
#include "device/grow.h"

/* ---- before a step ---- */

/* Reads the largest rates, and whether a velocity was not finite. */
GBEES_NUM void read_step_rates(const gbees_state *s, const gbees_step_sums *rates, reduced_sums *to)
{
    uint64_t max_rate = rates->max_rate, max_active_rate = rates->max_active_rate;
    uint32_t bad = s->bad;

    to->max_rate = max_rate;
    to->max_active_rate = max_active_rate;
    to->bad = bad;
}

/* Reads a step's sums, and how many bricks growth has made, or why it could not. */
GBEES_NUM void read_step_sums(const gbees_state *s, const gbees_step_sums *sums, reduced_sums *to)
{
    int64_t mass = sums->mass, clipped = sums->clipped, outflow = sums->outflow;
    uint32_t count = s->count, far_axis = s->far_axis, overflow = s->overflow;

    to->mass = mass;
    to->clipped = clipped;
    to->outflow = outflow;
    to->count = count;
    to->far_axis = far_axis;
    to->overflow = overflow;
}

/* Sets the number of bricks that growth has made, or the reason to stop if it could not make them. */
GBEES_NUM void read_growth(step_state *b)
{
    b->count = b->sums.count;
    b->fresh = b->count - b->linked;
    if (b->sums.far_axis) {
        b->stop = STOP_FAR;
        b->where = b->sums.far_axis - 1;
    } else if (b->sums.overflow) {
        b->stop = STOP_CAPACITY;
    }
}

/* Plans the next step from the largest rates, or refuses it. */
GBEES_NUM void choose_step(const gbees_setup *m, step_state *b)
{
    const double rate = gbees_cfl_rate(double_of(b->sums.max_rate), double_of(b->sums.max_active_rate));
    gbees_step_plan *plan = &b->plan;
    const double longest = m->time_step > 0 ? m->time_step : gbees_cfl_step(m->courant, rate);

    const gbees_time_step before = b->run.step;

    b->run.step = gbees_step_choose(
        &b->run.clock, GBEES_MOVING ? fmin(longest, m->longest_step) : longest,
        gbees_step_follows(GBEES_DRIFT_TIME_DEPENDENT, m->time_step, GBEES_MOVING, &before) ? &before : 0);
    if (b->sums.bad) {
        b->stop = STOP_DRIFT;
        b->where = b->sums.bad - 1;
        b->run.step = before; /* the error names the time that was looked at */
    } else if (gbees_step_exceeds(b->run.step.size, rate, m->courant_limit)) {
        b->stop = STOP_COURANT;
        plan->courant = b->run.step.size * rate;
    } else if (gbees_step_vanishes(&b->run.clock, &b->run.step)) {
        b->stop = STOP_STEP;
    }
    plan->threshold = m->threshold * b->run.ledger.mass;
    /* FLT_MIN, as on the CPU: targets may take all. */
    if (GBEES_ABSORBS)
        plan->threshold = fmax(plan->threshold, (double)1.17549435e-38f);
    plan->prune_follows = gbees_prune_follows(&b->run.clock, m->prune_interval);
    plan->grows = !plan->prune_follows && b->count <= m->brick_limit && !GBEES_DRIFT_TIME_DEPENDENT &&
                  !b->run.step.is_last && b->run.steps + 1 < b->target && !targets_move(b);
}

/* The time at which the velocities of a step's bricks are looked at. */
GBEES_NUM double look_time(const step_state *b)
{
    return GBEES_DRIFT_TIME_DEPENDENT && !GBEES_MOVING ? gbees_step_look(&b->run.clock, &b->run.step)
                                                       : b->run.clock.time;
}

#if GBEES_ABSORBS

/* Of targets that move: finds the cells in them in the middle of the planned step. By all blocks. */
GBEES_NUM void find_targets_before(const gbees_setup *m, gbees_state *s, const step_state *b)
{
    find_targets_pass(m, &s->targets, b->count, b->current, step_middle(b),
                      s->targets.entering[b->run.steps % STATE_SUMS]);
    grid_barrier(m, s);
}

/* The same at the end of a step that has been taken; what they empty goes to the ledger. By all blocks. */
GBEES_NUM void find_targets_behind(const gbees_setup *m, gbees_state *s, step_state *b)
{
    find_targets_pass(m, &s->targets, b->linked, b->current, b->run.clock.time, s->targets.emptied);
    grid_barrier(m, s);
    if (is_block_leader()) {
        b->run.ledger.mass -= take_entered(b, s->targets.emptied);
        b->stop = b->entered[STATE_TARGETS] > 0 ? STOP_TARGET : b->stop;
        b->goes_on = b->goes_on && b->stop != STOP_TARGET;
    }
    block_sync();
}

#endif

/* Links new bricks, if there are any, and plans the step.  Returns 0 if the step can't be taken: b->stop says why. */
GBEES_NUM int link_and_choose_step(const gbees_setup *m, gbees_state *s, step_state *b)
{
    if (b->stop)
        return 0;
    if (b->fresh) {
        link_new(m, s, b->linked, b->count, b->current, look_time(b), sums_of(s, b->run.steps));
        grid_barrier(m, s);
    } else {
        block_sync(); /* all threads have read *b before it is written again */
    }
    if (is_block_leader()) {
        read_step_rates(s, sums_of(s, b->run.steps), &b->sums);
        b->linked = b->count;
#if GBEES_ABSORBS
        b->targets_move = load_32(&s->targets.seen);
#endif
        choose_step(m, b);
    }
    if (is_grid_leader()) {
        clear_sums(sums_of(s, b->run.steps + 1));
#if GBEES_ABSORBS
        clear_entering(s, b->run.steps + 1);
        s->targets.move = b->targets_move;
#endif
    }
    set_courant(m, b);
#if GBEES_ABSORBS
    if (!b->stop && targets_move(b))
        find_targets_before(m, s, b);
#endif
    return !b->stop;
}

/* ---- a step ---- */

/* Advects the density, then diffuses it; in every other step in reverse order. */
GBEES_NUM void take_step(const gbees_setup *m, gbees_state *s, step_state *b)
{
#if GBEES_DIFFUSION
#pragma unroll 1
    for (int part = 0; part < 2; part++) {
        if ((part ^ gbees_step_is_reversed(b->run.steps)) == 0)
            advect_density(m, s, b);
        else
            diffuse(m, s, b);
    }
#else
    advect_density(m, s, b);
#endif
}

/* ---- after a step ---- */

/* Enters a step that has been taken into the clock and the ledger, from its sums. entered: what targets have taken.
 */
GBEES_NUM void update_ledger(const gbees_setup *m, step_state *b, double entered)
{
    const double mass = gbees_fixed_value(b->sums.mass);
    gbees_mass_ledger *ledger = &b->run.ledger;

    if (GBEES_ABSORBS ? !(mass >= 0) : !(mass > 0)) {
        b->stop = STOP_MASS;
        return;
    }
    const double clipped = gbees_fixed_value(b->sums.clipped), outflow = gbees_fixed_value(b->sums.outflow);
    gbees_ledger_step(ledger, mass, clipped, GBEES_SPLIT ? outflow : gbees_ledger_missing(ledger, mass, clipped),
                      entered);
#if GBEES_ABSORBS
    if (b->entered[STATE_TARGETS] > 0) {
        b->stop = STOP_TARGET;
        return;
    }
#endif
    /* Of the linked bricks: growth may have made more for the next step already. */
    gbees_run_state_step(&b->run, b->linked, CELLS, m->prune_interval);
    b->turn = gbees_sweep_turn_after(DIM, b->turn, b->run.steps);
}

/* Enters a step into clock and ledger if one has been taken (`advected`), and sets goes_on: whether another one
 * follows in this launch. No prune follows if targets have taken all, as nothing is left to choose bricks by. */
GBEES_NUM void advance_clock(const gbees_setup *m, step_state *b, int advected, double entered)
{
    const int is_empty = GBEES_ABSORBS && b->sums.mass == 0;

    b->goes_on = 1;
    if (!advected)
        return;
    update_ledger(m, b, entered);
    b->stop = b->stop                              ? b->stop
              : b->plan.prune_follows && !is_empty ? STOP_PRUNE
              : b->count > m->brick_limit          ? STOP_CAPACITY
                                                   : STOP_DONE;
    b->goes_on = !b->stop && has_steps_left(b);
}

/* Reads the sums of the pass that marks and grows, and advances the clock; by a block's first thread. */
GBEES_NUM void finish_pass(const gbees_setup *m, gbees_state *s, step_state *b, int advected)
{
    double entered = 0;

#if GBEES_ABSORBS
    if (advected)
        entered = take_entered(b, s->targets.entering[b->run.steps % STATE_SUMS]);
#endif
    /* Without a step it reads the sums of the step before: other blocks may already be adding to those of the next
     * one. */
    read_step_sums(s, sums_of(s, b->run.steps + (advected ? 0 : STATE_SUMS - 1)), &b->sums);
    advance_clock(m, b, advected, entered);
    if (b->goes_on && (!advected || b->plan.grows))
        read_growth(b);
}

/* Marks the cells after a step, and grows the grid for the next one in the same pass, unless something has to happen
 * between. Before the first step of a launch it only grows the grid.  All bricks 1 .. linked are linked; growth adds
 * others behind. */
GBEES_NUM void mark_pass(const gbees_setup *m, gbees_state *s, step_state *b, int advected)
{
    mark_and_grow(m, s, b->linked, b->current, b->plan.threshold, advected, advected ? b->plan.grows : 1,
                  sums_of(s, b->run.steps), sums_of(s, b->run.steps + (uint64_t)advected));
}

/* Stops, so that another kernel advects the density by the planned step. */
GBEES_NUM void stop_for_advection(const gbees_setup *m, gbees_state *s, step_state *b)
{
    block_sync(); /* all threads have read b->stop before it is written */
    if (is_block_leader())
        b->stop = m->advect_apart && advect_passes(&b->plan) > ADVECT_PASSES ? STOP_REPEATED : STOP_ADVECT;
    if (is_grid_leader())
        for (int j = 0; j < DIM; j++)
            s->work_queue[j] = 0;
}

/* Takes steps until there is a reason to stop, b->stop.  Called by all threads of all blocks. */
GBEES_NUM void advance(const gbees_setup *m, gbees_state *s, step_state *b)
{
    int advected = b->advected;

    for (;;) {
#if GBEES_DRIFT_TIME_DEPENDENT && !GBEES_MOVING /* of a grid that moves gbees_frame() has done it */
        if (!advected) {
            inspect_all(m, s, 1, b->linked, look_time(b));
            grid_barrier(m, s);
        }
#endif
        if (!advected || !m->advect_apart) { /* else gbees_mark() has done it */
            mark_pass(m, s, b, advected);
            grid_barrier(m, s);
        }
        if (is_block_leader())
            finish_pass(m, s, b, advected);
        block_sync();
#if GBEES_ABSORBS
        if (advected && targets_move(b) && b->stop != STOP_MASS && b->stop != STOP_TARGET)
            find_targets_behind(m, s, b);
#endif
        if (!b->goes_on)
            return;
        if (advected && !b->plan.grows) { /* growth is a pass of its own */
            advected = 0;
            continue;
        }
        if (!link_and_choose_step(m, s, b))
            return;
#if GBEES_DIFFUSION
        if (!choose_noise_steps(m, s, b))
            return;
#endif
        if (GBEES_ADVECT_APART || m->advect_apart) {
            stop_for_advection(m, s, b);
            return;
        }
        take_step(m, s, b);
        advected = 1;
    }
}

#endif
