/* step.h - the clock of an interval between two records, the choice of the time step, and the schedule of prunes
 * (doc/method.md, "Step size"; paper, Fig. 1). */
#ifndef GBEES_NUMERICS_STEP_H
#define GBEES_NUMERICS_STEP_H

#include "qualifier.h"
#include <math.h>

/* The time of a run, as gbees_clock (gbees/backend.h). */
typedef struct gbees_step_clock {
    double time;            /* model time */
    double elapsed, length; /* model time since the start of the interval, and of the whole of it: equal at its end */
    uint64_t leg_step;      /* steps completed in this leg */
    uint32_t phase;         /* leg_step modulo the number of steps between prunes */
} gbees_step_clock;

typedef struct gbees_time_step {
    double size;    /* model time */
    double longest; /* what it would be if it did not end the interval; 0: no step */
    int is_last;    /* whether it ends the interval */
} gbees_time_step;

/* The CFL rate that limits the step. largest: the largest rate of all bricks; active: of those with a cell above p*.
 * The other bricks surround these and hold little mass, which may move with a Courant number of up to 1.25; to limit
 * the step by them, too, would cost a tenth more steps. */
GBEES_NUM double gbees_cfl_rate(double largest, double active)
{
    return active < 0.8 * largest ? 0.8 * largest : active;
}

/* The longest step for a Courant number; infinite if the rate is 0. */
GBEES_NUM double gbees_cfl_step(double courant, double rate)
{
    return courant / rate;
}

/* The time at which velocities are looked at before a step, for its size and for growth, if the drift depends on
 * time: the middle of a step as long as the one before it, at which they are evaluated. A drift that vanishes
 * everywhere for a moment says nothing of a moment later. */
GBEES_NUM double gbees_step_look(const gbees_step_clock *clock, const gbees_time_step *before)
{
    return clock->time + fmin(before->longest, clock->length - clock->elapsed) / 2;
}

/* Whether the length of the step before limits a step: if the drift depends on time and the step is not fixed; of a
 * grid that moves, whose frame limits the first one, if there is one. */
GBEES_NUM int gbees_step_follows(int is_time_dependent, double fixed, int moves, const gbees_time_step *before)
{
    return is_time_dependent && !(fixed > 0) && (!moves || before->longest > 0);
}

/* Returns a step of size `longest`, or what is left of the interval if that is less. before: the step before it if
 * it limits this one (gbees_step_follows()), NULL otherwise: then a step is at most twice as long as the
 * one before it, and the first one at most a thousandth of its interval. */
GBEES_NUM gbees_time_step gbees_step_choose(const gbees_step_clock *clock, double longest,
                                            const gbees_time_step *before)
{
    const double rest = clock->length - clock->elapsed;
    gbees_time_step step;

    if (before)
        longest = fmin(longest, before->longest > 0 ? 2 * before->longest : clock->length / 1000);
    step.is_last = !(longest < rest);
    step.size = step.is_last ? rest : longest;
    step.longest = longest;
    return step;
}

/* Whether a step is so small that adding it does not change clock->elapsed. */
GBEES_NUM int gbees_step_vanishes(const gbees_step_clock *clock, const gbees_time_step *step)
{
    return !step->is_last && clock->elapsed + step->size == clock->elapsed;
}

/* Whether a fixed step exceeds the largest Courant number that a backend takes: size * rate > most; never if most is
 * 0. The tolerance is for the rounding of the rate, which may be a float. */
GBEES_NUM int gbees_step_exceeds(double size, double rate, double most)
{
    return most > 0 && size * rate > most * (1 + 1e-6);
}

/* The model time in the middle of a step, at which a time-dependent drift is evaluated. */
GBEES_NUM double gbees_step_middle(const gbees_step_clock *clock, const gbees_time_step *step)
{
    return clock->time + step->size / 2;
}

/* Whether a prune follows the next step; interval: the number of steps between prunes. */
GBEES_NUM int gbees_prune_follows(const gbees_step_clock *clock, uint32_t interval)
{
    return clock->phase + 1 == interval;
}

/* Advances the clock by a completed step. */
GBEES_NUM void gbees_clock_advance(gbees_step_clock *clock, const gbees_time_step *step, uint32_t interval)
{
    clock->phase = gbees_prune_follows(clock, interval) ? 0 : clock->phase + 1;
    clock->time += step->size;
    clock->elapsed = step->is_last ? clock->length : clock->elapsed + step->size;
    clock->leg_step++;
}

#endif
