/* targets.h - targets that absorb (GBEES_ABSORBS): which cells are in them, and what these have held.
 *
 * A cell is empty if its centre is in a target, or if a target's function is not a number there. The functions are
 * evaluated in double, at positions that follow from multi-indices alone.
 */
#ifndef GBEES_CUDA_TARGETS_H
#define GBEES_CUDA_TARGETS_H

#include "device/cells.h"

#if GBEES_ABSORBS

/* Begins a function of which each kernel has one copy, for all axes: inlined, they would take minutes to compile. */
#ifdef GBEES_DEVICE
#define CALLED_FUNCTION static __device__ __noinline__
#else
#define CALLED_FUNCTION static
#endif

/* The function of target k at the centre of a cell. */
GBEES_NUM double target_at(const gbees_setup *m, const gbees_targets *of, int k, uint32_t slot, int cell, double time)
{
    const int32_t *key = m->grid.key + (size_t)slot * DIM;
    double x[DIM];

#pragma unroll
    for (int j = 0; j < DIM; j++)
        x[j] = m->origin[j] + m->width[j] * ((double)key[j] * axis_edge(j)) + m->width[j] * cell_local(cell, j);
    return gbees_model_target_d(of->function[k], time, x, model_parameters(m));
}

/* The target that a cell is in; -1: none; STATE_TARGETS: a function is not a number there. */
GBEES_NUM int target_of(const gbees_setup *m, const gbees_targets *of, uint32_t slot, int cell, double time)
{
    int found = -1;

#pragma unroll 1
    for (int k = of->count - 1; k >= 0; k--) {
        const double g = target_at(m, of, k, slot, cell, time);

        if (g != g)
            return STATE_TARGETS;
        found = g < 0 ? k : found;
    }
    return found;
}

/* Whether a target's function has another value in a cell at a later time. */
GBEES_NUM int targets_differ(const gbees_setup *m, const gbees_targets *of, uint32_t slot, int cell, double time)
{
    const double later = time + 0.618034 * (of->end - time); /* as the CPU's engine */
    int differ = 0;

#pragma unroll 1
    for (int k = 0; k < of->count; k++)
        differ |=
            bits_of(target_at(m, of, k, slot, cell, time)) != bits_of(target_at(m, of, k, slot, cell, later)) ? 1 : 0;
    return differ;
}

/* Finds the cells of a brick that are outside of all targets, and whether a function depends on the time; empties the
 * others, and adds what they have held to held[STATE_TARGETS + 1]. p: NULL: they hold nothing. By a warp. */
CALLED_FUNCTION void find_targets(const gbees_setup *m, gbees_targets *of, uint32_t slot, number *p, double time,
                                  int64_t *held)
{
    uint64_t outside = 0;

#pragma unroll 1
    for (int first = 0; first < CELLS; first += WARP_SIZE) {
        const int cell = first + warp_lane(), in = target_of(m, of, slot, cell, time);
        number *own = p ? p + (size_t)slot * CELLS + (size_t)cell : NULL;

        outside |= (uint64_t)warp_ballot(in < 0) << first;
        if (!load_32(&of->seen) && targets_differ(m, of, slot, cell, time))
            store_32(&of->seen, 1);
        if (in >= 0 && own && *own != 0) {
            atomic_add_64(&held[in], gbees_fixed((double)*own));
            *own = 0;
        }
    }
    if (warp_lane() == 0)
        m->grid.outside[slot] = outside;
}

/* find_targets() for bricks 1 .. count. By all blocks. */
GBEES_NUM void find_targets_pass(const gbees_setup *m, gbees_targets *of, uint32_t count, int current, double time,
                                 int64_t *held)
{
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
        find_targets(m, of, slot, rows_of(m, current), time, held);
}

#endif

#endif
