/* ctu_planes.h - the passes of ctu along one axis in plain loops over planes.
 *
 * A brick's cells, and those of its neighbours that the axis needs, are regrouped into planes.  It is the only way
 * for planes that are not whole vectors, and for edges above 4.
 */
#ifndef GBEES_CPU_CTU_PLANES_H
#define GBEES_CPU_CTU_PLANES_H

#include "ctu_block.h"
#include "to_planes.h"

/* The rows of a brick and its neighbours along an axis. */
typedef struct row_line {
    const real *below2, *below, *own, *above, *above2; /* those of the second neighbours only if the edge is 1 */
} row_line;

/* Prefetches a row. */
INLINE void prefetch_cells(const real *row, brick_axis a)
{
    for (int i = 0; i < a.cells; i += 64 / (int)sizeof *row)
        __builtin_prefetch(row + i);
}

/* The brick that is prefetched while brick b is computed. */
INLINE uint32_t slot_ahead(const ctu_block *block, int b)
{
    return block->slots[b + CTU_AHEAD < block->bricks ? b + CTU_AHEAD : b];
}

/* Finds the rows along the block's axis for its brick b. */
INLINE row_line find_line(const ctu_block *block, const void *rows, int b, brick_axis a)
{
    const uint32_t *lower = block->c->g->neighbor[2 * block->axis],
                   *upper = block->c->g->neighbor[2 * block->axis + 1];
    const uint32_t slot = block->slots[b], below = lower[slot], above = upper[slot];

    return (row_line){.below2 = row_of(rows, a.log2_edge ? 0 : lower[below], a),
                      .below = row_of(rows, below, a),
                      .own = row_of(rows, slot, a),
                      .above = row_of(rows, above, a),
                      .above2 = row_of(rows, a.log2_edge ? 0 : upper[above], a)};
}

/* Sets q[] to planes -1 .. edge of a line. */
INLINE void gather_nearest(row_line line, brick_axis a, real *q)
{
    const int plane_cells = cells_of_plane(a), edge = edge_of(a);
    _Alignas(64) real side[64];

    to_planes(line.below, side, a);
    copy_cells(q, side + (edge - 1) * plane_cells, plane_cells);
    to_planes(line.own, q + plane_cells, a);
    to_planes(line.above, side, a);
    copy_cells(q + (edge + 1) * plane_cells, side, plane_cells);
}

/* Sets p[] to planes -2 .. edge + 1 of a line. */
INLINE void gather_planes(row_line line, brick_axis a, real *p)
{
    const int plane_cells = cells_of_plane(a), edge = edge_of(a);
    _Alignas(64) real side[64];

    if (edge == 1) {
        copy_cells(p, line.below2, plane_cells);
        copy_cells(p + plane_cells, line.below, plane_cells);
        copy_cells(p + 3 * plane_cells, line.above, plane_cells);
        copy_cells(p + 4 * plane_cells, line.above2, plane_cells);
    } else {
        to_planes(line.below, side, a);
        copy_cells(p, side + (edge - 2) * plane_cells, 2 * plane_cells);
        to_planes(line.above, side, a);
        copy_cells(p + (edge + 2) * plane_cells, side, 2 * plane_cells);
    }
    to_planes(line.own, p + 2 * plane_cells, a);
}

/* ---- arithmetic, in functions that are not inlined, so that all axes share one loop
 * ------------------------------------ */

/* Sets t[count] to the transverse terms of cells, from P in planes -1 .. edge and velocities at face planes 0 ..
 * edge. */
NOINLINE void transverse_loop(const real *restrict p, const real *restrict u, real *restrict t, real half_lambda,
                              int n, int count)
{
    for (int i = 0; i < count; i++)
        t[i] = gbees_ctu_transverse(p[i], p[i + n], p[i + 2 * n], u[i], u[i + n], half_lambda);
}

/* Planes of a brick along an axis, of n cells each, `count` cells in all.  p: from plane -2 on; s: from plane -1 on;
 * u: from face plane -1 on; lambda: time step / cell width. */
typedef struct flux_planes {
    _Alignas(64) real u[FACE_VALUES], p[5 * 64], s[3 * 64];
    real lambda;
    int n, count;
} flux_planes;

/* Sets flux[count + n] to the fluxes through face planes 0 .. edge. */
INLINE void face_fluxes(const flux_planes *f, real *restrict flux)
{
    const real *p = f->p, *s = f->s, *u = f->u, lambda = f->lambda;
    const int n = f->n, count = f->count;

    for (int i = 0; i < count + n; i++)
        flux[i] = gbees_ctu_flux(p[i], p[i + n], p[i + 2 * n], p[i + 3 * n], s[i], s[i + n], u[i], u[i + n],
                                 u[i + 2 * n], lambda);
}

/* Sets sum[count] to the changes by the fluxes. */
NOINLINE void sum_changes(const flux_planes *restrict f, real *restrict sum)
{
    const int n = f->n, count = f->count;
    _Alignas(64) real flux[2 * 64];

    face_fluxes(f, flux);
    for (int i = 0; i < count; i++)
        sum[i] = f->lambda * (flux[i] - flux[i + n]);
}

/* ---- the passes along an axis, added to the block's sums ------------------------------------------------------- */

INLINE void transverse_planes(ctu_block *block, real half_lambda, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a);
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) real u[FACE_VALUES], p[3 * 64], t[64];

    for (int b = 0; b < block->bricks; b++) {
        const uint32_t next = slot_ahead(block, b);

        prefetch_cells(row_of(c->rows.p, lower[next], a), a);
        prefetch_cells(row_of(c->rows.p, upper[next], a), a);
        velocities(c, axis, &block->base[b], 0, edge + 1, plane_cells, u);
        gather_nearest(find_line(block, c->rows.p, b, a), a, p);
        transverse_loop(p, u, t, half_lambda, plane_cells, a.cells);
        add_from_planes(t, block->sum[b], a);
    }
}

INLINE void flux_by_planes(ctu_block *block, real lambda, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a);
    _Alignas(64) real sum[64];
    flux_planes f;

    f.lambda = lambda;
    f.n = plane_cells;
    f.count = a.cells;
    for (int b = 0; b < block->bricks; b++) {
        const uint32_t next = slot_ahead(block, b);

        for (int d = 2 * axis; d < 2 * axis + 2; d++) {
            prefetch_cells(row_of(c->rows.p, c->g->neighbor[d][next], a), a);
            prefetch_cells(row_of(c->rows.s, c->g->neighbor[d][next], a), a);
        }
        velocities(c, axis, &block->base[b], -1, edge + 3, plane_cells, f.u);
        gather_planes(find_line(block, c->rows.p, b, a), a, f.p);
        gather_nearest(find_line(block, c->rows.s, b, a), a, f.s);
        sum_changes(&f, sum);
        add_from_planes(sum, block->sum[b], a);
    }
}

#endif
