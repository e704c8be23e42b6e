/* cuts.h - finds where targets that absorb cut a pencil, and sets what crosses the faces near these cuts by the rules
 * of numerics/split_cuts.h.
 */
#ifndef GBEES_CPU_CUTS_H
#define GBEES_CPU_CUTS_H

#include "pencil.h"
#include "segment.h"
#include "to_planes.h"
#include <math.h>

enum { CUT_REALS = 8 /* of memory that a cut takes */ };

_Static_assert((int)GBEES_CUT_TARGETS == (int)GBEES_MAX_TARGETS, "cuts may be those of all targets");

/* A face between a cell and one whose centre is in a target. */
typedef struct cut {
    real reach; /* from the cell's centre to the boundary, in cells */
    int face;   /* its mass is s->mass[face]; it is between the cells s->p[face - plane_cells] and s->p[face] */
    int8_t up;  /* 1: the target is above it */
    int8_t target;
} cut;

/* Whether a cell is outside of all targets: g[target][size]. */
INLINE int is_outside(const real *g, int count, int size, int cell)
{
    int outside = 1;

    for (int k = 0; k < count; k++)
        outside &= g[k * size + cell] >= 0;
    return outside;
}

/* The cut between a cell that is outside and one that is not. */
INLINE cut find_cut(const real *g, int count, int size, int outside, int within)
{
    cut found = {.reach = 2};
    int target = 0;

    for (int k = 0; k < count; k++)
        gbees_cut_find(g[k * size + outside], g[k * size + within], k, &found.reach, &target);
    found.target = (int8_t)target;
    return found;
}

/* Whether a target has cells of a pencil. */
INLINE int is_cut(const kernel_context *c, const kernel_pencil *pencil)
{
    uint64_t outside = ~(uint64_t)0;

    for (uint32_t b = 0; b < pencil->bricks; b++)
        outside &= c->targets.outside[pencil->slots[b]];
    return outside != c->g->shape.all;
}

/* The cell, or the face below it, with that number: on a ring, which it may have left by less than a turn, the one in
 * its place. */
INLINE int around(const segment *s, int i)
{
    const int size = s->planes * s->plane_cells;

    return s->end[0] != GBEES_AT_OTHER_END ? i : i < 0 ? i + size : i >= size ? i - size : i;
}

/* Adds the cuts of faces from .. to - 1 to s->cuts; g: as is_outside() takes it. */
INLINE void add_cuts(const real *g, int count, int from, int to, segment *s)
{
    const int n = s->plane_cells, size = s->planes * n;

    for (int i = from; i < to; i++) {
        const int below = around(s, i - n), is_up = is_outside(g, count, size, below);

        if (is_up == is_outside(g, count, size, i))
            continue;
        s->cuts[s->cut_count] = find_cut(g, count, size, is_up ? below : i, is_up ? i : below);
        s->cuts[s->cut_count].face = i;
        s->cuts[s->cut_count++].up = (int8_t)is_up;
    }
}

/* Sets s->cuts to those of a whole pencil, last those where a ring begins anew; memory: for g of each target at its
 * cells, and CUT_REALS a cell. */
NOINLINE void find_cuts(const kernel_context *c, const kernel_pencil *pencil, segment *s, real *memory, brick_axis a)
{
    const int count = c->targets.count, n = s->plane_cells, size = s->planes * n;
    real *g = memory + CUT_REALS * size;

    for (int b = 0; b < (int)pencil->bricks; b++)
        for (int k = 0; k < count; k++) {
            const double *from = c->targets.g[k] + (size_t)pencil->slots[b] * 64;
            _Alignas(64) real row[64];

            for (int i = 0; i < a.cells; i++)
                row[i] = (real)from[i];
            to_planes(row, g + k * size + b * a.cells, a);
        }
    s->cuts = (cut *)(void *)memory;
    s->cut_count = 0;
    add_cuts(g, count, n, size, s);
    if (s->end[0] == GBEES_AT_OTHER_END)
        add_cuts(g, count, 0, n, s);
}

/* Sets what is near a cut. beyond: as gbees_cut_set() takes it. */
INLINE void find_line(const segment *s, const cut *at, int beyond, gbees_cut_line *line)
{
    const int n = s->plane_cells, up = at->up, step = up ? -n : n, first = up ? at->face - n : at->face;
    const int bottom = -planes_beyond(s->scheme) * n, top = (s->planes + planes_beyond(s->scheme)) * n;
    const real courant = s->lambda * s->u[at->face + n] * (real)(up ? 1 : -1);
    const real root = s->origin ? spread_faces_of(s).root[at->face] : s->root;
    real live[GBEES_CUT_LIVE];

    for (int k = 0; k < GBEES_CUT_LIVE; k++) {
        const int cell = around(s, first + k * step);

        live[k] = cell >= bottom && cell < top ? s->p[cell] : 0;
    }
    gbees_cut_set(live, at->reach, courant, root, s->variance > 0 && root < NEAR_WALL, up, beyond, line);
}

/* The mass through face i, whose cells begin at p, before it is bounded, as the sweep finds it. */
INLINE real mass_near(const segment *s, const real *p, int i)
{
    const int n = s->plane_cells;
    const real lambda = s->lambda, most = 1, *u = s->u + i;

    if (s->origin) {
        const spread_faces at = spread_faces_of(s);

        return at.root[i] >= NEAR_WALL ? at.distance[i] * p[2] - at.variance[i] * p[3]
                                       : gbees_spread_mass(p, 1, at.distance[i], at.variance[i], at.third[i], 1);
    }
    if (s->variance > 0) {
        const real inside = (real)s->scheme->inside;
        real v = s->variance;
        const real c = gbees_spread_origin(lambda * u[0], lambda * u[n], lambda * u[2 * n], inside, most, &v);

        return gbees_spread_mass(p, 1, c, v, 0, 0);
    }
    return gbees_split_mass_way(p, 1, u[0], u[n], u[2 * n], lambda, most, u[n] > 0, s->diverging,
                                s->scheme->preserving, s->scheme->order);
}

/* Sets the masses through the faces near cuts. */
NOINLINE void cross_cuts(const segment *s)
{
    const int n = s->plane_cells, beyond = s->variance > 0 ? 3 : (s->scheme->order + 1) / 2;

    for (int k = 0; k < s->cut_count; k++) {
        const cut *at = &s->cuts[k];
        const int up = at->up, step = up ? -n : n, to_end = up ? at->face / n : s->planes - at->face / n;
        const int faces = beyond < to_end + 1 || s->end[0] == GBEES_AT_OTHER_END ? beyond : to_end + 1;
        real mass[GBEES_CUT_BEYOND] = {0};
        gbees_cut_line line;

        find_line(s, at, beyond, &line);
        for (int m = 0; m < faces; m++)
            mass[m] = mass_near(s, gbees_cut_cells(&line, up, beyond, m), around(s, at->face + m * step));
        gbees_cut_carry(&line, up, beyond, mass);
        for (int m = 0; m < faces; m++)
            s->mass[around(s, at->face + m * step)] = mass[m];
    }
}

/* Sets the bounded masses through cuts; those of the face below a ring are also those of the face above it. */
NOINLINE void open_cuts(const segment *s)
{
    const int n = s->plane_cells;

    for (int k = 0; k < s->cut_count; k++) {
        const int face = s->cuts[k].face, up = s->cuts[k].up, below = around(s, face - n);
        const real sign = (real)(up ? 1 : -1);

        s->bounded[face] = sign * gbees_cut_opened(sign * s->mass[face], s->p[up ? below : face],
                                                   sign * s->bounded[up ? below : face + n]);
        if (below > face)
            s->bounded[below + n] = s->bounded[face];
    }
}

/* After a pass: counts what has crossed cuts by masses[], and empties the cells there. */
NOINLINE void enter_targets(const segment *s, const real *masses, double *entered)
{
    for (int k = 0; k < s->cut_count; k++) {
        const cut *at = &s->cuts[k];

        entered[at->target] += in_units((double)(at->up ? masses[at->face] : -masses[at->face]));
        s->p[at->up ? at->face : around(s, at->face - s->plane_cells)] = 0;
    }
}

#endif
