/* sweeps.h - the order of a step's parts: the axes of its sweeps, and drift and diffusion (doc/method.md, "The split
 * scheme").
 *
 * The sweeps go along the axes in ascending order, starting at axis `turn`, and in the next step in the reverse
 * order; every second step `turn` is the next axis.  A fixed order would bias the density; a pair of opposite orders
 * is of second order in time.  Drift and diffusion change places in the same way.
 */
#ifndef GBEES_NUMERICS_SWEEPS_H
#define GBEES_NUMERICS_SWEEPS_H

#include "qualifier.h"

/* Whether the step after `steps` steps takes its parts in reverse: sweeps, and diffusion before drift. */
GBEES_NUM int gbees_step_is_reversed(uint64_t steps)
{
    return (int)(steps % 2);
}

/* The rotation of the order of n axes in the step after `steps` steps. */
GBEES_NUM int gbees_sweep_turn(int n, uint64_t steps)
{
    return (int)(steps / 2 % (uint64_t)n);
}

/* The same, from the rotation in the step before: without a division. */
GBEES_NUM int gbees_sweep_turn_after(int n, int turn, uint64_t steps)
{
    const int next = turn + (steps % 2 == 0);

    return next < n ? next : 0;
}

/* The axis of a step's sweep number `sweep`, 0 .. n - 1. */
GBEES_NUM int gbees_sweep_axis(int n, int turn, int is_reversed, int sweep)
{
    const int axis = turn + (is_reversed ? n - 1 - sweep : sweep);

    return axis < n ? axis : axis - n;
}

#endif
