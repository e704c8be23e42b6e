/* ends.h - what is beyond the ends of a pencil on a circle or between walls: the planes that a sweep reads there.
 *
 * Such a pencil is one segment. On a circle that has all of its bricks the planes of the other end follow. At a wall
 * that reflects, density and noise are continued evenly and velocities oddly, so that nothing crosses the wall; at
 * one that absorbs, the density is continued oddly, so that it is 0 at the wall, to those faces that noise reaches:
 * what the drift alone carries through the wall needs no density beyond it.
 */
#ifndef GBEES_CPU_ENDS_H
#define GBEES_CPU_ENDS_H

#include "pencil.h"
#include "segment.h"

/* Sets s->end: what is at the ends of a pencil of the axis, whose bricks slots[count] are in s. */
INLINE void find_ends(const kernel_context *c, int axis, const kernel_pencil *pencil, segment *s)
{
    const gbees_shape *shape = &c->g->shape;
    const uint32_t lowest = pencil->slots[0], highest = pencil->slots[pencil->bricks - 1];
    const int is_ring =
        shape->end[2 * axis] == GBEES_AT_OTHER_END && grid_neighbor(c->g, highest, 2 * axis + 1) == lowest;

    for (int up = 0; up < 2; up++) {
        const int d = 2 * axis + up;

        s->end[up] = is_ring                                                                   ? GBEES_AT_OTHER_END
                     : gbees_is_at_wall(shape, grid_key(c->g, up ? highest : lowest)[axis], d) ? shape->end[d]
                                                                                               : GBEES_AT_NOTHING;
    }
}

/* The plane of `planes` that is like the one `beyond` planes outside of an end, 0: the next one; -1: none is. */
INLINE int plane_like(const segment *s, int up, int beyond)
{
    if (beyond >= s->planes)
        return -1;
    return (s->end[up] == GBEES_AT_OTHER_END) == up ? beyond : s->planes - 1 - beyond;
}

/* Sets the planes of cells beyond closed ends. */
INLINE void close_cells(const segment *s)
{
    const int n = s->plane_cells, count = planes_beyond(s->scheme);

    for (int up = 0; up < 2; up++)
        for (int i = 0; i < count && s->end[up]; i++) {
            const int like = plane_like(s, up, i);
            const real sign = s->end[up] == GBEES_AT_ABSORBER ? -1 : 1;
            real *to = s->p + (up ? s->planes + i : -1 - i) * n;

            for (int l = 0; l < n; l++)
                to[l] = like < 0 ? 0 : sign * s->p[like * n + l];
        }
}

/* Sets the velocities at and beyond closed ends. */
INLINE void close_velocities(const segment *s)
{
    const int n = s->plane_cells, top = s->planes;
    real *u = s->u + n; /* of face 0 */

    for (int up = 0; up < 2; up++) {
        real *at = u + (up ? top * n : 0), *beyond = u + (up ? top + 1 : -1) * n;
        const real *within = u + (up ? top - 1 : 1) * n;

        for (int l = 0; l < n && s->end[up]; l++)
            if (s->end[up] == GBEES_AT_OTHER_END) {
                at[l] = u[top * n + l];
                beyond[l] = u[(up ? 1 : top - 1) * n + l];
            } else if (s->end[up] == GBEES_AT_REFLECTOR) {
                at[l] = 0;
                beyond[l] = -within[l];
            } else {
                beyond[l] = 2 * at[l] - within[l]; /* the model's need not be finite there */
            }
    }
}

/* Sets the noise w at faces beyond walls; w: as find_origins() takes it. A wall at which Q is 0 but for rounding has
 * none. */
INLINE void close_noise(const segment *s, real *w)
{
    const int n = s->plane_cells;

    for (int up = 0; up < 2; up++) {
        const int step = up ? -n : n;
        real *at = w + (up ? s->planes + 3 : 3) * n;

        for (int l = 0; l < n && s->end[up] >= GBEES_AT_REFLECTOR; l++) {
            at[l] = at[l + step] > (real)1e6 * at[l] ? 0 : at[l];
            for (int i = 1; i <= 3; i++)
                at[l - i * step] = i <= s->planes ? at[l + i * step] : 0;
        }
    }
}

/* Sets the masses through the faces at the upper end of a ring and beyond its ends, before they are bounded. */
INLINE void close_masses(const segment *s)
{
    const int n = s->plane_cells, top = s->planes * n;

    for (int l = 0; l < n && s->end[0] == GBEES_AT_OTHER_END; l++) {
        s->mass[l - n] = s->mass[top - n + l];
        s->mass[top + l] = s->mass[l];
        s->mass[top + n + l] = s->mass[n + l];
    }
}

/* Closes the ends of a pencil that is to be swept: velocities, and, without noise, cells. */
INLINE void close_ends(const kernel_context *c, int axis, const kernel_pencil *pencil, segment *s)
{
    find_ends(c, axis, pencil, s);
    close_velocities(s);
    if (s->end[0] == GBEES_AT_REFLECTOR || s->end[1] == GBEES_AT_REFLECTOR)
        s->direction = 0;
    if (s->variance > 0)
        return;
    for (int up = 0; up < 2; up++)
        s->end[up] = s->end[up] == GBEES_AT_ABSORBER ? GBEES_AT_NOTHING : s->end[up];
    s->below = s->end[0] != GBEES_AT_NOTHING;
    s->above = s->end[1] != GBEES_AT_NOTHING;
    for (int l = 0; l < s->plane_cells && s->below; l++)
        s->away[l] = 0; /* nothing flows out there, but it may at the other end */
    close_cells(s);
}

#endif
