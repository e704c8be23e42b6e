/* bound.h - the cells inside the model's bound (GBEES_BOUNDED): those whose J(x) is in the range of the initial
 * density's.
 *
 * A brick without a cell inside is never inserted.  In the others P is 0 in the cells outside. */
#ifndef GBEES_CUDA_BOUND_H
#define GBEES_CUDA_BOUND_H

#include "device/table.h"

#ifndef GBEES_BOUNDED
#define GBEES_BOUNDED 0
#endif

#if GBEES_BOUNDED

/* The cells of a brick inside the bound, as bound_cells() of the host finds them. By a warp. */
GBEES_NUM uint64_t cells_inside(const gbees_setup *m, near_key key)
{
    uint64_t inside = 0;

#pragma unroll 1
    for (int first = 0; first < CELLS; first += WARP_SIZE) {
        int cell = first + warp_lane();
        double x[DIM];

#pragma unroll
        for (int k = 0; k < DIM; k++)
            x[k] = m->origin[k] + m->width[k] * ((double)key_number(key, k) * axis_edge(k)) +
                   m->width[k] * cell_local(cell, k);
        double value = gbees_model_bound_d(m->bound_time, x, model_parameters(m));
        inside |= (uint64_t)warp_ballot(value >= m->bound_low && value <= m->bound_high) << first;
    }
    return inside;
}

/* Stores which cells of a new brick are inside the bound. By a warp. */
GBEES_NUM void find_inside(const gbees_setup *m, uint32_t slot)
{
    uint64_t inside = cells_inside(m, key_near(m, slot, -1, -1));

    if (warp_lane() == 0)
        m->grid.inside[slot] = inside;
    warp_sync();
}

/* Whether the neighbour in direction d (f == d), or in directions d and f, has no cell inside the bound. */
GBEES_NUM int is_blocked(const gbees_setup *m, uint32_t slot, int d, int f)
{
    return m->grid.blocked[(size_t)slot * DIRECTIONS + (size_t)d] >> f & 1;
}

/* Stores that the neighbour in these directions has no cell inside. By one lane at a time for each brick. */
GBEES_NUM void set_blocked(const gbees_setup *m, uint32_t slot, int d, int f)
{
    m->grid.blocked[(size_t)slot * DIRECTIONS + (size_t)d] |= (uint16_t)(1u << f);
}

/* Clears these bits for all neighbours of a brick. By a warp. */
GBEES_NUM void clear_blocked(const gbees_setup *m, uint32_t slot)
{
    for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
        m->grid.blocked[(size_t)slot * DIRECTIONS + (size_t)d] = 0;
}

#endif

/* Whether a cell is inside the bound; always, if there is none. */
GBEES_NUM int is_inside(const gbees_setup *m, uint32_t slot, int cell)
{
#if GBEES_BOUNDED
    return (int)(m->grid.inside[slot] >> cell & 1);
#else
    (void)m, (void)slot, (void)cell;
    return 1;
#endif
}

#endif
