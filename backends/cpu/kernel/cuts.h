/* cuts.h - where a target that absorbs cuts a pencil: what a sweep reads beyond, and what enters.
 *
 * A cell whose centre is in a target is empty. From the centre of the last cell before it the boundary is `reach`
 * away, 0 to 1 cells, where g is 0 on the line between the two centres. What crosses the face between them has
 * entered. Masses through faces near it read, beyond the face:
 *
 * - where noise decides, the image of the density about the boundary, which is odd but for a factor: a density that
 *   drifts with the velocity u and spreads with Q is 0 at the boundary with p(s) = -exp(2 u s / Q) p(-s);
 * - where the drift carries the density in (more than `carried` of its distance in cells), or alone, the continuation
 *   in a straight line; the last cell then is as long as the way to the boundary;
 * - where the drift alone leads out of the target, nothing.
 */
#ifndef GBEES_CPU_CUTS_H
#define GBEES_CPU_CUTS_H

#include "pencil.h"
#include "segment.h"
#include "to_planes.h"
#include <math.h>

enum {
    CUT_LIVE = 2 * (ORDER_MOST + 1) / 2 - 1, /* cells before the face that masses near it read, at most */
    CUT_LINE = CUT_LIVE + (ORDER_MOST + 1) / 2,
    CUT_REALS = 8 /* of memory that a cut takes */
};

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

    for (int k = 0; k < count; k++) {
        const real from = g[k * size + outside], to = g[k * size + within];
        const real reach = to < 0 ? from / (from - to) : to >= 0 ? 2 : 0; /* to: may be NaN */

        if (reach < found.reach) {
            found.reach = reach > (real)1e-3 ? reach : (real)1e-3;
            found.target = (int8_t)(isnan(to) ? GBEES_MAX_TARGETS : k);
        }
    }
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

/* Sets s->cuts to those of a whole pencil; memory: for g of each target at its cells, and CUT_REALS a cell. */
NOINLINE void find_cuts(const kernel_context *c, const kernel_pencil *pencil, segment *s, real *memory, brick_axis a)
{
    const int count = c->targets.count, n = s->plane_cells, size = s->planes * n;
    cut *cuts = (cut *)(void *)memory;
    real *g = memory + CUT_REALS * size;

    for (int b = 0; b < (int)pencil->bricks; b++)
        for (int k = 0; k < count; k++) {
            const double *from = c->targets.g[k] + (size_t)pencil->slots[b] * 64;
            _Alignas(64) real row[64];

            for (int i = 0; i < a.cells; i++)
                row[i] = (real)from[i];
            to_planes(row, g + k * size + b * a.cells, a);
        }
    s->cuts = cuts;
    s->cut_count = 0;
    for (int i = n; i < size; i++) {
        const int below = is_outside(g, count, size, i - n), above = is_outside(g, count, size, i);

        if (below == above)
            continue;
        cuts[s->cut_count] = find_cut(g, count, size, below ? i - n : i, below ? i : i - n);
        cuts[s->cut_count].face = i;
        cuts[s->cut_count++].up = (int8_t)below;
    }
}

/* The image of cells about the boundary: sets beyond[3] from the cells live[], the nearest one first. steep: 2 u / Q
 * towards the target, in cells. */
INLINE void mirror_cells(const real *live, real reach, real steep, real *beyond)
{
    const int skipped = reach < (real)0.5; /* a cell next to the boundary tells little of the slope there */
    const real d0 = reach + (real)skipped, *f = live + skipped;
    const real q0 = f[0] / d0, q1 = f[1] / (d0 + 1), q2 = f[2] / (d0 + 2);
    const real slope = q1 - q0, bend = (real)0.5 * (q2 - q1 - slope);

    for (int k = 0; k < 3; k++) { /* s times the parabola through q0, q1, q2 */
        const real away = (real)(k + 1) - reach, at = away - d0;

        beyond[k] = -(real)exp((double)(steep * away)) * away * (q0 + at * (slope + (at - 1) * bend));
    }
}

/* What is near a cut. */
typedef struct cut_line {
    real courant; /* at the face, towards the target */
    real last;    /* P of the last cell, which is so long: */
    real length;
    int by_noise;        /* whether noise decides about what crosses the face */
    real cell[CUT_LINE]; /* CUT_LIVE before the face, the others behind it, in the order of their places */
} cut_line;

INLINE void find_line(const segment *s, const cut *at, int beyond, cut_line *line)
{
    static const real carried = 4, steepest = (real)0.5;
    const int n = s->plane_cells, up = at->up, step = up ? -n : n, first = up ? at->face - n : at->face;
    const int bottom = -planes_beyond(s->scheme) * n, top = (s->planes + planes_beyond(s->scheme)) * n;
    const real courant = s->lambda * s->u[at->face + n] * (real)(up ? 1 : -1);
    const real root = s->origin ? spread_faces_of(s).root[at->face] : s->root;
    const real steep = 2 * courant / (root * root); /* without noise infinite, or not a number */
    const int by_noise = s->variance > 0 && root < NEAR_WALL && steep < carried;
    const real length = by_noise ? 1 : at->reach + (real)0.5;
    real live[CUT_LIVE], dead[(ORDER_MOST + 1) / 2];

    for (int k = 0; k < CUT_LIVE; k++) {
        const int cell = first + k * step;

        live[k] = cell >= bottom && cell < top ? s->p[cell] : 0;
    }
    *line = (cut_line){.courant = courant, .last = live[0], .length = length, .by_noise = by_noise};
    live[0] /= length;
    if (by_noise)
        mirror_cells(live, at->reach, steep < steepest ? steep : steepest, dead);
    for (int k = 0; k < beyond && !by_noise; k++) {
        const real straight = live[0] + (real)(k + 1) * (live[0] - live[1]) / ((real)0.5 * (1 + length));

        dead[k] = courant > 0 && straight > 0 ? straight : 0;
    }
    for (int k = 0; k < CUT_LIVE; k++)
        line->cell[up ? CUT_LIVE - 1 - k : beyond + k] = live[k];
    for (int k = 0; k < beyond; k++)
        line->cell[up ? CUT_LIVE + k : beyond - 1 - k] = dead[k];
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

/* What the drift carries through the boundary, of a density that is linear along the last two cells: of the last
 * cell, and of what enters that. */
INLINE real mass_carried(const cut_line *line, real before, real entering)
{
    const real c = line->courant, own = line->last / line->length;
    const real mass = c * (own + (own - before) * (line->length - c) / (line->length + 1));
    const real most = line->last + (entering > 0 ? entering : 0);

    return !(c > 0 && mass > 0) ? 0 : mass < most ? mass : most;
}

/* Sets the masses through the faces near cuts. */
NOINLINE void cross_cuts(const segment *s)
{
    const int n = s->plane_cells, beyond = s->variance > 0 ? 3 : (s->scheme->order + 1) / 2;

    for (int k = 0; k < s->cut_count; k++) {
        const cut *at = &s->cuts[k];
        const int up = at->up, step = up ? -n : n;
        const real sign = (real)(up ? 1 : -1);
        cut_line line;
        real entering = 0;

        find_line(s, at, beyond, &line);
        for (int m = 0; m < beyond; m++) {
            const int face = at->face + m * step;

            if (face < 0 || face > s->planes * n + n - 1)
                break;
            s->mass[face] = mass_near(s, line.cell + (up ? CUT_LIVE - beyond - m : m), face);
            if (m == 1 && !line.by_noise && sign * s->mass[face] < -line.last) /* all that the last cell has */
                s->mass[face] = -sign * line.last;
            entering = m == 1 ? sign * s->mass[face] : entering;
        }
        if (!line.by_noise)
            s->mass[at->face] = sign * mass_carried(&line, line.cell[up ? CUT_LIVE - 2 : beyond + 1], entering);
    }
}

/* Sets the bounded masses through cuts: a cell whose centre is close to the boundary holds next to nothing, and
 * passes on what enters it; it may not give more than both. */
NOINLINE void open_cuts(const segment *s)
{
    const int n = s->plane_cells;

    for (int k = 0; k < s->cut_count; k++) {
        const int face = s->cuts[k].face, up = s->cuts[k].up, other = up ? face - n : face + n;
        const real sign = (real)(up ? 1 : -1), mass = sign * s->mass[face];
        const real most = s->p[up ? face - n : face] + sign * s->bounded[other];

        s->bounded[face] = sign * (mass < most ? mass : most > 0 ? most : 0);
    }
}

/* After a pass: counts what has crossed cuts by masses[], and empties the cells there. */
NOINLINE void enter_targets(const segment *s, const real *masses, double *entered)
{
    for (int k = 0; k < s->cut_count; k++) {
        const cut *at = &s->cuts[k];

        entered[at->target] += in_units((double)(at->up ? masses[at->face] : -masses[at->face]));
        s->p[at->up ? at->face : at->face - s->plane_cells] = 0;
    }
}

#endif
