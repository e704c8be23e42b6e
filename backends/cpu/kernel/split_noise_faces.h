/* split_noise_faces.h - advects and diffuses a segment: the masses through its faces, their bounds, then the cells.
 *
 * The masses through the lowest face of a segment that continues a pencil are those of the highest face of the
 * segment before, which segment.carried keeps: before they are bounded, and after.
 */
#ifndef GBEES_CPU_SPLIT_NOISE_FACES_H
#define GBEES_CPU_SPLIT_NOISE_FACES_H

#include "cells.h"
#include "split_faces.h"

/* Sets s->mass to the masses through faces from .. to - 1, before they are bounded. */
NOINLINE void spread_masses(const segment *s, int from, int to)
{
    const int n = s->plane_cells, first = from * n, end = to * n;
    const real lambda = s->lambda, variance = s->variance, most = 1;
    const real *restrict u = s->u, *restrict p = s->p - 3 * n;
    real *restrict mass = s->mass;

#pragma omp simd
    for (int i = first; i < end; i++) {
        real v = variance;
        const real c = gbees_spread_origin(lambda * u[i], lambda * u[i + n], lambda * u[i + 2 * n], most, &v);

        mass[i] = gbees_spread_mass(p + i, n, c, v);
    }
}

/* Sets s->bounded to the bounded masses through faces from .. planes. Of masses through the faces beyond those of the
 * segment the one above is known if the pencil goes on there; the others leave cells that are empty. */
NOINLINE void bound_masses(const segment *s, int from)
{
    const int n = s->plane_cells, end = (s->planes + 1) * n;
    const real root = s->root, *restrict mass = s->mass, *restrict p = s->p, *restrict u = s->u + n;
    real *restrict bounded = s->bounded;

#pragma omp simd
    for (int i = from * n; i < end; i++)
        bounded[i] = gbees_spread_bounded(mass[i - n], mass[i], mass[i + n], p[i - n], p[i], u[i], root);
}

/* Advects and diffuses a segment; adds the mass that flows out of the pencil's ends, which it does at both. */
INLINE void advect_with_noise(const segment *s, double8 *outflow)
{
    const int n = s->plane_cells, top = s->planes * n, from = s->below ? 1 : 0;
    const size_t plane = (size_t)n * sizeof(real);

    memset(s->mass - n, 0, plane);
    memset(s->mass + top + n, 0, plane);
    if (s->below) {
        memcpy(s->mass, s->carried, plane);
        memcpy(s->bounded, s->carried + n, plane);
    }
    spread_masses(s, from, s->planes + (s->above ? 2 : 1));
    bound_masses(s, from);
    if (s->above) {
        memcpy(s->carried, s->mass + top, plane);
        memcpy(s->carried + n, s->bounded + top, plane);
    }
    apply_masses(s, s->bounded);
    for (int l = 0; l < n && !s->below; l++)
        s->away[l] = -s->bounded[l];
    if (!s->below)
        add_by_lane(s->away, n, outflow);
    if (!s->above)
        add_by_lane(s->bounded + top, n, outflow);
}

#endif
