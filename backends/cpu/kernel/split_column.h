/* split_column.h - advects a segment column by column: one or two vectors of each plane, from the lowest plane up.
 *
 * Without this way beside split_faces.h all problems would take 30 to 35 % longer.
 *
 * From one face to the next one plane of cells and one of velocities are read; the differences that both faces use
 * stay in registers, and cells change in place.  If all lanes at a face flow the same way, no lane chooses between
 * formulas.  The masses have the bits of gbees_split_mass_way() (core/numerics/split_mass.h).  `order` and `columns`
 * are constants of the compiler.
 */
#ifndef GBEES_CPU_SPLIT_COLUMN_H
#define GBEES_CPU_SPLIT_COLUMN_H

#include "segment.h"

/* A column at a face.  level[0] are cells, level[k] differences of order k: odd ones at faces, even ones at cells.
 * level[k][0] is the highest one that is known, level[k][i] is i planes below it. */
typedef struct column {
    vector level[ORDER_MOST][ORDER_MOST / 2 + 2];
    vector courant, courant_above;     /* at the face, and at the next one */
    vector spread_below, spread_above; /* time step times divergence of the cells on either side */
    vector mass;                       /* that crosses the face */
} column;

/* The number of differences of order k that are kept: down to the face, or to the cell below it. */
INLINE int column_kept(int k, int order)
{
    return order / 2 + 2 - (k + 1) / 2;
}

/* Goes up by one plane: `cell` is the highest one. */
INLINE void column_push(column *c, vector cell, int order)
{
#pragma GCC unroll 8
    for (int k = 0; k < order; k++)
#pragma GCC unroll 8
        for (int i = column_kept(k, order) - 1; i > 0; i--)
            c->level[k][i] = c->level[k][i - 1];
    c->level[0][0] = cell;
#pragma GCC unroll 8
    for (int k = 1; k < order; k++)
        c->level[k][0] = c->level[k - 1][0] - c->level[k - 1][1];
}

/* The lowest difference of order k that is kept; the one above it. */
INLINE vector column_lower(const column *c, int k, int order)
{
    return c->level[k][column_kept(k, order) - 1];
}

INLINE vector column_upper(const column *c, int k, int order)
{
    return c->level[k][column_kept(k, order) - 2];
}

/* The mass through a face at which the lanes `up` flow up and the others down. */
INLINE vector mass_either(const column *c, vector most, lane_mask up, int order)
{
    vector d[ORDER_MOST];

#pragma GCC unroll 8
    for (int k = 0; k < order; k += 2)
        d[k] = choose(up, column_lower(c, k, order), column_upper(c, k, order));
#pragma GCC unroll 8
    for (int k = 1; k < order; k += 2)
        d[k] = choose(up, column_lower(c, k, order), -column_lower(c, k, order));
    vector mass = mass_rising(d, choose(up, c->courant, -c->courant), choose(up, c->spread_below, c->spread_above),
                              most, order);
    return choose(up, mass, -mass);
}

/* Sets d[order] to the differences at the face; those of even order are of the cell above it (`above`) or below it.
 */
INLINE void column_differences(const column *c, int above, vector *d, int order)
{
#pragma GCC unroll 8
    for (int k = 0; k < order; k++)
        d[k] = above && k % 2 == 0 ? column_upper(c, k, order) : column_lower(c, k, order);
}

/* Sets the columns' masses through a face. */
INLINE void cross_face(column *c, vector most, int order, int columns)
{
    const vector still = {0};
    lane_mask up[2];
    unsigned all = 1, some = 0;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        up[w] = lanes_above(c[w].courant, still);
        all &= lane_bits(up[w]) == (1u << LANES) - 1;
        some |= lane_bits(up[w]);
    }
#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        vector d[ORDER_MOST];

        if (all) {
            column_differences(&c[w], 0, d, order);
            c[w].mass = mass_rising(d, c[w].courant, c[w].spread_below, most, order);
        } else if (!some) {
            column_differences(&c[w], 1, d, order);
            c[w].mass = mass_falling(d, c[w].courant, c[w].spread_above, most, order);
        } else {
            c[w].mass = mass_either(&c[w], most, up[w], order);
        }
    }
}

/* Whether all lanes flow up (`up`), or all down: at an end of a pencil, into it from empty cells. */
INLINE int all_flow(const column *c, int up, int columns)
{
    const vector still = {0};
    int all = 1;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        lane_mask lanes = up ? lanes_above(c[w].courant, still) : lanes_above(still, c[w].courant);

        all &= lane_bits(lanes) == (1u << LANES) - 1;
    }
    return all;
}

/* Goes up to the next face.  p: the cells above it; u: velocities at the face after it. */
INLINE void column_advance(column *c, const real *p, const real *u, const segment *s, int order, int columns)
{
#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        column_push(&c[w], load(p + order / 2 * s->plane_cells + w * LANES), order);
        c[w].courant = c[w].courant_above;
        c[w].courant_above = s->lambda * load(u + w * LANES);
        c[w].spread_below = c[w].spread_above;
        c[w].spread_above = c[w].courant_above - c[w].courant;
    }
}

/* Fills the columns with the cells below the lowest face, and with its velocities. */
INLINE void column_start(column *c, const real *p, const real *u, const segment *s, int order, int columns)
{
    const int stride = s->plane_cells;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        if (s->below)
#pragma GCC unroll 8
            for (int i = -1 - order / 2; i < 0; i++)
                column_push(&c[w], load(p + i * stride + w * LANES), order);
#pragma GCC unroll 4
        for (int i = 0; i < order / 2; i++)
            column_push(&c[w], load(p + i * stride + w * LANES), order);
        c[w].courant_above = s->lambda * load(u + stride + w * LANES);
        c[w].spread_above = c[w].courant_above - s->lambda * load(u + w * LANES);
        c[w].courant = c[w].courant_above;
    }
}

/* Advects the columns that begin at cell l of a plane.  At an end of the pencil the plane beyond it is set to the
 * mass that flows out, negative if it flows in; a face through which all lanes flow in is left out. */
INLINE void sweep_column(const segment *s, int l, int order, int columns)
{
    const segment own = *s; /* stores to p can't change it */
    const int stride = own.plane_cells, planes = own.planes, above = own.above;
    const vector most = 1 - (vector){0};
    real *restrict p = own.p + l;
    const real *restrict u = own.u + l;
    column c[2] = {0};
    int at = 0;

    column_start(c, p, u, &own, order, columns);
    u += 2 * stride;
    if (!own.below && all_flow(c, 1, columns)) {
        column_advance(c, p, u, &own, order, columns);
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            store(p - stride + w * LANES, c[w].mass);
        p += stride;
        u += stride;
        at++;
    }
    for (;; at++, p += stride, u += stride) {
        column_advance(c, p, u, &own, order, columns);
        vector before[2] = {c[0].mass, c[1].mass};
        if (at == planes && !above && all_flow(c, 0, columns))
            c[0].mass = c[1].mass = (vector){0};
        else
            cross_face(c, most, order, columns);
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            store(p - stride + w * LANES, column_lower(&c[w], 0, order) + (before[w] - c[w].mass));
        if (at == planes)
            break;
    }
    if (!above)
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            store(p + w * LANES, c[w].mass);
}

/* Advects all columns of a segment whose planes are whole vectors: two at once if there are enough registers. */
INLINE void sweep_columns(const segment *s, int order)
{
    int l = 0;

#if VECTOR_BYTES == 64
    for (; l + 2 * LANES <= s->plane_cells; l += 2 * LANES)
        sweep_column(s, l, order, 2);
#endif
    for (; l < s->plane_cells; l += LANES)
        sweep_column(s, l, order, 1);
}

NOINLINE void sweep_columns_5(const segment *s)
{
    sweep_columns(s, 5);
}

NOINLINE void sweep_columns_7(const segment *s)
{
    sweep_columns(s, 7);
}

#endif
