/* sweeps.h - the order in which a step takes its sweeps, and drift and diffusion (doc/method.md, "The split scheme").
 *
 * A step sweeps along the axes in ascending order, beginning with axis `turn`; the next step takes the same sweeps in
 * reverse order. After these two steps `turn` advances by one axis. A fixed order would bias the density; two steps
 * in opposite orders are of second order in time. Diffusion comes after drift in the first of the two steps, and
 * before it in the second.
 */
#ifndef GBEES_NUMERICS_SWEEPS_H
#define GBEES_NUMERICS_SWEEPS_H

#include "qualifier.h"

/* Whether the step that follows `steps` completed ones is in reverse order. */
GBEES_NUM int gbees_step_is_reversed(uint64_t steps)
{
    return (int)(steps % 2);
}

/* `turn` of the step that follows `steps` completed ones, for n axes. */
GBEES_NUM int gbees_sweep_turn(int n, uint64_t steps)
{
    return (int)(steps / 2 % (uint64_t)n);
}

/* gbees_sweep_turn() without a division, from `turn` of the step before. */
GBEES_NUM int gbees_sweep_turn_after(int n, int turn, uint64_t steps)
{
    const int next = turn + (steps % 2 == 0);

    return next < n ? next : 0;
}

/* The axis of a step's sweep number `sweep`, 0 ... n - 1. */
GBEES_NUM int gbees_sweep_axis(int n, int turn, int is_reversed, int sweep)
{
    const int axis = turn + (is_reversed ? n - 1 - sweep : sweep);

    return axis < n ? axis : axis - n;
}

/* The passes of a step over all axes; parts[n]: those of the sweep along each axis, NULL: one each. */
GBEES_NUM int gbees_sweep_passes(int n, const int *parts)
{
    int sum = 0;

    for (int j = 0; j < n; j++)
        sum += parts ? parts[j] : 1;
    return sum;
}

/* The axis of a step's pass number `pass`. */
GBEES_NUM int gbees_pass_axis(int n, int turn, int is_reversed, const int *parts, int pass)
{
    int sweep = 0;

    for (; parts && sweep < n - 1 && pass >= parts[gbees_sweep_axis(n, turn, is_reversed, sweep)]; sweep++)
        pass -= parts[gbees_sweep_axis(n, turn, is_reversed, sweep)];
    return gbees_sweep_axis(n, turn, is_reversed, parts ? sweep : pass);
}

#endif
