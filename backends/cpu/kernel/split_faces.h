/* split_faces.h - advects a segment in two loops: the masses through all of its faces, then its cells.
 *
 * It is the only way for `upwind`, for planes that are not whole vectors, for cells that flow out on both sides, and
 * for monotonicity-preserving bounds where the flow has both directions.
 */
#ifndef GBEES_CPU_SPLIT_FACES_H
#define GBEES_CPU_SPLIT_FACES_H

#include "segment.h"

/* Sets the masses through all faces.  direction: that of the flow, if it is the same at all faces, or 0.  The last
 * four arguments are constants of the compiler: without a choice for each lane, and without a division by the speeds
 * at both faces of a cell, bounded masses take a quarter less time. */
INLINE void cross_faces(const segment *s, int order, int direction, int diverging, int preserving)
{
    const int n = s->plane_cells, count = (s->planes + 1) * n;
    const real lambda = s->lambda, most = 1;
    const real *restrict u = s->u, *restrict p = s->p - (order + 1) / 2 * n;
    real *restrict mass = s->mass;

    /* `simd`: the masses overlap none of the other arrays, which the compiler can't see, and for order 7 does not
     * test, as it would have too many pairs of addresses to compare. */
#pragma omp simd
    for (int i = 0; i < count; i++)
        mass[i] = gbees_split_mass_way(p + i, n, u[i], u[i + n], u[i + 2 * n], lambda, most,
                                       direction ? direction > 0 : u[i + n] > 0, diverging, preserving, order);
}

/* The masses through all faces, within monotonicity-preserving bounds. */
INLINE void cross_preserving(const segment *s, int order)
{
    if (s->diverging)
        cross_faces(s, order, 0, 1, 1);
    else if (s->direction > 0)
        cross_faces(s, order, 1, 0, 1);
    else if (s->direction < 0)
        cross_faces(s, order, -1, 0, 1);
    else
        cross_faces(s, order, 0, 0, 1);
}

/* The masses through all faces, for an order. */
INLINE void cross_all(const segment *s, int order)
{
    if (s->scheme->preserving)
        cross_preserving(s, order);
    else if (s->diverging)
        cross_faces(s, order, 0, 1, 0);
    else
        cross_faces(s, order, 0, 0, 0);
}

NOINLINE void cross_all_1(const segment *s)
{
    cross_all(s, 1);
}

NOINLINE void cross_all_5(const segment *s)
{
    cross_all(s, 5);
}

NOINLINE void cross_all_7(const segment *s)
{
    cross_all(s, 7);
}

/* The masses through all faces, for the segment's order. */
INLINE void cross_by_order(const segment *s)
{
    if (s->scheme->order == 1)
        cross_all_1(s);
    else if (s->scheme->order == 5)
        cross_all_5(s);
    else
        cross_all_7(s);
}

/* Adds to each cell the masses through its faces, mass[planes + 1][plane_cells]. */
NOINLINE void apply_masses(const segment *s, const real *restrict mass)
{
    const int n = s->plane_cells, count = s->planes * n;
    real *restrict p = s->p;

    for (int i = 0; i < count; i++)
        p[i] += mass[i] - mass[i + n];
}

#endif
