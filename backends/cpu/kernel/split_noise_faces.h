/* split_noise_faces.h - advects and diffuses a segment: the masses through its faces, their bounds, then the cells.
 *
 * The masses through the lowest face of a segment that continues a pencil are those of the highest face of the
 * segment before, which segment.carried keeps: before they are bounded, and after.
 */
#ifndef GBEES_CPU_SPLIT_NOISE_FACES_H
#define GBEES_CPU_SPLIT_NOISE_FACES_H

#include "cells.h"
#include "cuts.h"
#include "ends.h"
#include "split_faces.h"
#include "to_planes.h"

/* Sets what faces near a wall have in place of the distance and the variance: gbees_spread_wall(). */
NOINLINE void find_walls(const segment *s, const real *w)
{
    const int n = s->plane_cells, end = (s->planes + 1) * n;
    const real lambda = s->lambda, *u = s->u;
    const spread_faces at = spread_faces_of(s);

    for (int i = 0; i < end; i++)
        if (gbees_spread_wall(lambda * u[i], lambda * u[i + n], lambda * u[i + 2 * n], w + i, n, &at.distance[i],
                              &at.variance[i]))
            at.root[i] = NEAR_WALL;
}

/* Sets s->origin; w: time step of a pass times Q / width^2 at the faces of the pencil, from three planes below its
 * lowest one to three above its highest one. */
NOINLINE void find_origins(const segment *s, const real *restrict w)
{
    const int n = s->plane_cells, end = (s->planes + 1) * n;
    const real lambda = s->lambda, inside = (real)s->scheme->inside, most = 1, *restrict u = s->u;
    const spread_faces at = spread_faces_of(s);
    int walls = 0;

#pragma omp simd reduction(| : walls)
    for (int i = 0; i < end + 6 * n; i++)
        walls |= !(w[i] > 0);
#pragma omp simd
    for (int i = 0; i < end; i++) {
        at.distance[i] = gbees_spread_origin_varying(lambda * u[i], lambda * u[i + n], lambda * u[i + 2 * n],
                                                     w + i + n, n, inside, most, &at.variance[i], &at.third[i]);
        at.root[i] = ROOT(w[i + 3 * n]);
    }
    if (walls)
        find_walls(s, w);
}

/* Sets s->mass to the masses through faces from .. to - 1, before they are bounded. */
NOINLINE void spread_masses(const segment *s, int from, int to)
{
    const int n = s->plane_cells, first = from * n, end = to * n;
    const real lambda = s->lambda, variance = s->variance, inside = (real)s->scheme->inside, most = 1;
    const real *restrict u = s->u, *restrict p = s->p - 3 * n;
    real *restrict mass = s->mass;

#pragma omp simd
    for (int i = first; i < end; i++) {
        real v = variance;
        const real c = gbees_spread_origin(lambda * u[i], lambda * u[i + n], lambda * u[i + 2 * n], inside, most, &v);

        mass[i] = gbees_spread_mass(p + i, n, c, v, 0, 0);
    }
}

/* The same for noise that varies, through all faces of a pencil. */
NOINLINE void spread_masses_varying(const segment *s)
{
    const int n = s->plane_cells, end = (s->planes + 1) * n;
    const spread_faces at = spread_faces_of(s);
    const real *restrict p = s->p - 3 * n;
    real *restrict mass = s->mass;

#pragma omp simd
    for (int i = 0; i < end; i++)
        mass[i] = at.root[i] >= NEAR_WALL
                      ? at.distance[i] * p[i + 2 * n] - at.variance[i] * p[i + 3 * n]
                      : gbees_spread_mass(p + i, n, at.distance[i], at.variance[i], at.third[i], 1);
}

/* Sets s->bounded to the bounded masses through faces from .. planes. Of masses through the faces beyond those of the
 * segment the one above is known if the pencil goes on there; the others leave cells that are empty. */
NOINLINE void bound_masses(const segment *s, int from)
{
    const int n = s->plane_cells, end = (s->planes + 1) * n;
    const real root = s->root, *restrict mass = s->mass, *restrict p = s->p, *restrict u = s->u + n;
    const real *restrict roots = s->origin ? spread_faces_of(s).root : NULL;
    real *restrict bounded = s->bounded;

    if (roots) {
#pragma omp simd
        for (int i = from * n; i < end; i++)
            bounded[i] = gbees_spread_bounded(mass[i - n], mass[i], mass[i + n], p[i - n], p[i], u[i], roots[i]);
        return;
    }
#pragma omp simd
    for (int i = from * n; i < end; i++)
        bounded[i] = gbees_spread_bounded(mass[i - n], mass[i], mass[i + n], p[i - n], p[i], u[i], root);
}

/* Sets line[] of the cells of a plane, by their order in planes, to what their dithers have more than the plane's: a
 * cell's number is that of its line across the axis, plus the number of lines times its index along the axis. */
NOINLINE void find_lines(uint32_t *line, brick_axis a)
{
    const int n = cells_of_plane(a), low = (1 << a.shift) - 1;
    _Alignas(64) real number[64], planes[64];

    for (int i = 0; i < a.cells; i++)
        number[i] = (real)(i >> (a.shift + a.log2_edge) << a.shift | (i & low));
    to_planes(number, planes, a);
    for (int l = 0; l < n; l++)
        line[l] = (uint32_t)planes[l] * GBEES_DITHER_CELL;
}

/* The dither of the lowest cell of a pencil that begins with the brick `slot`. */
INLINE uint32_t find_dither(const kernel_context *c, const kernel_pencils *pencils, uint32_t slot)
{
    const int32_t *key = grid_key(c->g, slot);
    const uint32_t number = (uint32_t)key[pencils->axis] * (uint32_t)c->g->shape.cells;

    return pencils->dither + gbees_dither_of_pencil(key, c->n, pencils->axis) + number * GBEES_DITHER_CELL;
}

/* Adds to each cell the bounded masses through its faces, rounded by a dither: that of the segment's lowest cell. */
NOINLINE void apply_dithered(const segment *s, uint32_t dither)
{
    const int n = s->plane_cells;
    const real lean = s->lean, *restrict mass = s->bounded;
    const uint32_t *restrict line = s->line;
    real *restrict p = s->p;

    for (int plane = 0; plane < s->planes; plane++, p += n, mass += n, dither += (uint32_t)n * GBEES_DITHER_CELL)
#pragma omp simd
        for (int l = 0; l < n; l++)
            p[l] = gbees_spread_sum(p[l], mass[l] - mass[l + n], dither + line[l], lean);
}

/* Sets P below TINY to 0 between passes: repeated, they spread numbers that are nearly denormal. */
INLINE void clear_tiny(const segment *s, brick_totals *totals)
{
    const int count = s->planes * s->plane_cells;
    real kept[64];

    for (int i = 0; i < count; i += 64) {
        const int some = count - i < 64 ? count - i : 64;

        if (keep_positive(s->p + i, kept, some)) {
            totals->clipped += sum_clipped(s->p + i, kept, some);
            memcpy(s->p + i, kept, (size_t)some * sizeof *kept);
        }
    }
}

/* Advects and diffuses a segment; adds the mass that flows out of the pencil's ends, which it does at both, and what
 * enters targets. dither: as apply_dithered() takes it. */
INLINE void spread_segment(const segment *s, uint32_t dither, brick_totals *totals)
{
    const int n = s->plane_cells, top = s->planes * n, from = s->below ? 1 : 0;
    const size_t plane = (size_t)n * sizeof(real);

    memset(s->mass - n, 0, plane);
    memset(s->mass + top + n, 0, plane);
    if (s->below) {
        memcpy(s->mass, s->carried, plane);
        memcpy(s->bounded, s->carried + n, plane);
    }
    if (s->origin)
        spread_masses_varying(s);
    else
        spread_masses(s, from, s->planes + (s->above ? 2 : 1));
    if (s->cut_count)
        cross_cuts(s);
    close_masses(s);
    bound_masses(s, from);
    if (s->cut_count)
        open_cuts(s);
    if (s->above) {
        memcpy(s->carried, s->mass + top, plane);
        memcpy(s->carried + n, s->bounded + top, plane);
    }
    if (sizeof(real) == sizeof(float))
        apply_dithered(s, dither);
    else
        apply_masses(s, s->bounded);
    if (s->cut_count)
        enter_targets(s, s->bounded, totals->entered);
    for (int l = 0; l < n && !s->below; l++)
        s->away[l] = -s->bounded[l];
    if (!s->below && s->end[0] != GBEES_AT_OTHER_END)
        add_in_units(s->away, n, &totals->outflow);
    if (!s->above && s->end[1] != GBEES_AT_OTHER_END)
        add_in_units(s->bounded + top, n, &totals->outflow);
}

/* All passes over a segment. */
INLINE void advect_with_noise(const segment *s, brick_totals *totals)
{
    for (int pass = 0; pass < s->passes; pass++) {
        close_cells(s);
        spread_segment(s, s->dither + (uint32_t)pass * GBEES_DITHER_PASS, totals);
        if (s->clears)
            clear_tiny(s, totals);
    }
}

#endif
