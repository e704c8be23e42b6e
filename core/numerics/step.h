/* step.h - the clock of an interval between two records, the choice of the time step, and the schedule of prunes
 * (doc/method.md, "Step size"; paper, Fig. 1). */
#ifndef GBEES_NUMERICS_STEP_H
#define GBEES_NUMERICS_STEP_H

#include "qualifier.h"
#include <math.h>

/* Where a run stands. `elapsed` counts from 0 to exactly `length`, the interval's. */
typedef struct gbees_step_clock {
    double time;
    double elapsed, length;
    uint64_t leg_step; /* steps done in this leg */
    uint32_t phase;    /* leg_step modulo the number of steps from one prune to the next */
} gbees_step_clock;

typedef struct gbees_time_step {
    double size;
    int is_last; /* it ends the interval */
} gbees_time_step;

/* The CFL rate that limits the step. largest: of all bricks; active: of those with a cell above p*.  Bricks without
 * such a cell surround the others and would cost a tenth more steps; the little mass that they hold may move with a
 * Courant number of up to 1.25. */
GBEES_NUM double gbees_cfl_rate(double largest, double active)
{
    return active < 0.8 * largest ? 0.8 * largest : active;
}

/* The longest step for a Courant number; infinite without flow (rate 0). */
GBEES_NUM double gbees_cfl_step(double courant, double rate)
{
    return courant / rate;
}

/* The same where Courant numbers above 1 are allowed: the coupling of the axes, by which sweeps disturb each other,
 * limits the step to 0.1 / coupling, but never below Courant number 1. */
GBEES_NUM double gbees_coupled_step(double courant, double rate, double coupling)
{
    return courant > 1 ? fmin(courant / rate, fmax(1 / rate, 0.1 / coupling)) : courant / rate;
}

/* A step of at most `longest`, cut off where the interval ends. */
GBEES_NUM gbees_time_step gbees_step_choose(const gbees_step_clock *clock, double longest)
{
    const double rest = clock->length - clock->elapsed;
    gbees_time_step step;

    step.is_last = !(longest < rest);
    step.size = step.is_last ? rest : longest;
    return step;
}

/* Whether a step is too small to advance the clock. */
GBEES_NUM int gbees_step_vanishes(const gbees_step_clock *clock, const gbees_time_step *step)
{
    return !step->is_last && clock->elapsed + step->size == clock->elapsed;
}

/* Whether a step of this size is beyond a limit that a backend has set for fixed steps: size * rate is the step's
 * Courant number, `most` the largest one that is taken, 0 for any. A step that is as long as the limit allows is
 * taken whatever the rounding of its rate, which may be that of floats. */
GBEES_NUM int gbees_step_exceeds(double size, double rate, double most)
{
    return most > 0 && size * rate > most * (1 + 1e-6);
}

/* The middle of a step, at which a time-dependent drift is evaluated. */
GBEES_NUM double gbees_step_middle(const gbees_step_clock *clock, const gbees_time_step *step)
{
    return clock->time + step->size / 2;
}

/* Whether a prune is due after the next step, with prunes every `interval` steps of a leg. */
GBEES_NUM int gbees_prune_follows(const gbees_step_clock *clock, uint32_t interval)
{
    return clock->phase + 1 == interval;
}

/* Advances the clock by a step that has been done. */
GBEES_NUM void gbees_clock_advance(gbees_step_clock *clock, const gbees_time_step *step, uint32_t interval)
{
    clock->phase = gbees_prune_follows(clock, interval) ? 0 : clock->phase + 1;
    clock->time += step->size;
    clock->elapsed = step->is_last ? clock->length : clock->elapsed + step->size;
    clock->leg_step++;
}

#endif
