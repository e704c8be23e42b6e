/* diffusion.h - an explicit step of diffusion (Heun's), as a gather.
 *
 * A transfer from one cell to another is computed from the donor's Q and P, once for the donor and once for the
 * receiver: it has the same bits both times, so that mass is conserved.  Transfers to absent cells are summed up as
 * outflow.
 */
#ifndef GBEES_CPU_DIFFUSION_H
#define GBEES_CPU_DIFFUSION_H

#include "brick_axis.h"
#include "cells.h"
#include "noise.h"
#include <string.h>

/* The cells at a shift from those of a brick: that of cell i is cell[i] of the brick in slot[which[i]]. */
typedef struct shifted_cells {
    uint32_t slot[4]; /* the brick; those across its side of the first axis, of the second, of both; 0: absent */
    unsigned char which[64], cell[64];
} shifted_cells;

/* The neighbour in both directions d and f, for a brick that has no neighbour in either of them, as only a bound can
 * cause. */
NOINLINE uint32_t find_across(const kernel_context *c, uint32_t slot, int d, int f)
{
    int32_t key[GBEES_MAX_DIM];

    gbees_key_move(&c->g->shape, grid_key(c->g, slot), d, f, key);
    return grid_find(c->g, key);
}

/* Finds the cells at a shift. */
INLINE void find_shifted(const kernel_context *c, uint32_t slot, const noise_shift *shift, shifted_cells *b)
{
    const gbees_shape *shape = &c->g->shape;
    const int d = 2 * shift->axis + (shift->step > 0), f = 2 * shift->second + (shift->second_step > 0);

    b->slot[0] = slot;
    b->slot[1] = grid_neighbor(c->g, slot, d);
    b->slot[2] = b->slot[3] = 0;
    if (shift->second >= 0) {
        b->slot[2] = grid_neighbor(c->g, slot, f);
        b->slot[3] = grid_neighbor(c->g, b->slot[1], f);
        if (!b->slot[3])
            b->slot[3] = grid_neighbor(c->g, b->slot[2], d);
        if (!b->slot[3] && c->rows.inside)
            b->slot[3] = find_across(c, slot, d, f);
    }
    for (int i = 0; i < shape->cells; i++) {
        int over = (int)(gbees_shape_side(shape, d) >> i & 1), cell = c->noise.beside[d][i];

        if (shift->second >= 0) {
            over |= (int)(gbees_shape_side(shape, f) >> i & 1) << 1;
            cell = c->noise.beside[f][cell];
        }
        b->which[i] = (unsigned char)over;
        b->cell[i] = (unsigned char)cell;
    }
}

/* The rate at which mass goes from a cell with Q q[entries * stride] to the cell at a shift from it. */
INLINE double find_rate(const kernel_context *c, const noise_shift *shift, const double *q, int stride)
{
    const double *over = c->noise.over_width;

    if (shift->second < 0)
        return gbees_diffusion_axis(c->n, c->noise.full, q, stride, over, shift->axis);
    const double rate =
        shift->step * shift->second_step * gbees_diffusion_pair(c->n, q, stride, over, shift->axis, shift->second);
    return rate > 0 ? rate : 0;
}

/* Sets transfer[cells] to the masses that go from cells with P p[cells] and Q q to the cells at a shift from them. */
INLINE void find_transfers(const kernel_context *c, const noise_shift *shift, double (*q)[64], const real *p,
                           real *transfer)
{
    for (int i = 0; i < c->g->shape.cells; i++)
        transfer[i] = (real)(c->noise.step * find_rate(c, shift, &q[0][i], 64)) * p[i];
}

/* Adds the transfers between a brick's cells and those at a shift: those from there to in[cells], those to there to
 * out[cells], and the part of the latter that goes to absent cells to *lost. own: Q of the brick's cells. */
INLINE void exchange_with(const kernel_context *c, uint32_t slot, const noise_points *points,
                          const noise_shift *shift, double (*own)[64], real *in, real *out, double *lost)
{
    const int cells = c->g->shape.cells;
    const real *rows = c->noise.from, *row = rows + (size_t)slot * (size_t)cells;
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    real beside[64], transfer[64];
    noise_shift back = *shift;
    shifted_cells b;

    find_shifted(c, slot, shift, &b);
    for (int i = 0; i < cells; i++)
        beside[i] = rows[(size_t)b.slot[b.which[i]] * (size_t)cells + b.cell[i]];
    back.step = -shift->step;
    back.second_step = -shift->second_step;
    noise_evaluate(c, points, shift, q);
    find_transfers(c, &back, q, beside, transfer);
    for (int i = 0; i < cells; i++)
        in[i] += transfer[i];
    find_transfers(c, shift, own, row, transfer);
    for (int i = 0; i < cells; i++)
        out[i] += transfer[i];
    if (!b.slot[1] || (shift->second >= 0 && (!b.slot[2] || !b.slot[3])))
        for (int i = 0; i < cells; i++)
            *lost += b.slot[b.which[i]] ? 0 : (double)transfer[i];
}

/* ---- Q that is the same in all cells: the same sums of the same terms, without Q of each cell ---- */

/* The part of a cell's mass that goes to the cell at a shift from it, or comes from there. */
INLINE real uniform_part(const kernel_context *c, const noise_shift *shift)
{
    return (real)(c->noise.step * find_rate(c, shift, c->noise.q, 1));
}

/* Sets beside[cells] to the values of the cells above those of a brick along an axis, or of those below; other: the
 * row of the brick's neighbour there. */
INLINE void find_beside(brick_axis a, int above, const real *row, const real *other, real *beside)
{
    const int stride = 1 << a.shift, rest = stride * (edge_of(a) - 1), block = rest + stride;

    for (int from = 0; from < a.cells; from += block) {
        const real *own = row + from + (above ? stride : 0), *across = other + from + (above ? 0 : rest);
        real *to = beside + from + (above ? 0 : stride), *end = beside + from + (above ? rest : 0);

        for (int i = 0; i < rest; i++)
            to[i] = own[i];
        for (int i = 0; i < stride; i++)
            end[i] = across[i];
    }
}

/* exchange_with() along one axis. */
INLINE void exchange_along(const kernel_context *c, uint32_t slot, const noise_shift *shift, real *restrict in,
                           real *restrict out, double *lost)
{
    const gbees_shape *shape = &c->g->shape;
    const size_t cells = (size_t)shape->cells;
    const int d = 2 * shift->axis + (shift->step > 0);
    const uint32_t neighbor = grid_neighbor(c->g, slot, d);
    const real *rows = c->noise.from, *row = rows + slot * cells, part = uniform_part(c, shift);
    real beside[64];

#define CALL(a) find_beside(a, d & 1, row, rows + neighbor * cells, beside)
    FOR_AXIS(shape, shift->axis, CALL)
#undef CALL
    for (size_t i = 0; i < cells; i++) {
        in[i] += part * beside[i];
        out[i] += part * row[i];
    }
    for (size_t i = 0; i < cells && !neighbor; i++)
        *lost += gbees_shape_side(shape, d) >> i & 1 ? (double)(part * row[i]) : 0;
}

/* exchange_with() along two axes. */
INLINE void exchange_across(const kernel_context *c, uint32_t slot, const noise_shift *shift, real *restrict in,
                            real *restrict out, double *lost)
{
    const size_t cells = (size_t)c->g->shape.cells;
    const real *rows = c->noise.from, *row = rows + slot * cells, part = uniform_part(c, shift);
    shifted_cells b;

    if (!(part > 0)) /* Q_jk has the other sign, or is 0 */
        return;
    find_shifted(c, slot, shift, &b);
    for (size_t i = 0; i < cells; i++) {
        in[i] += part * rows[(size_t)b.slot[b.which[i]] * cells + b.cell[i]];
        out[i] += part * row[i];
        *lost += b.slot[b.which[i]] ? 0 : (double)(part * row[i]);
    }
}

/* ---- a brick ---- */

/* Adds a shift's transfers, as exchange_with() says; own, points: not set where Q is uniform. */
INLINE void exchange(const kernel_context *c, uint32_t slot, const noise_points *points, const noise_shift *shift,
                     double (*own)[64], real *in, real *out, double *lost)
{
    if (!c->noise.uniform)
        exchange_with(c, slot, points, shift, own, in, out, lost);
    else if (shift->second < 0)
        exchange_along(c, slot, shift, in, out, lost);
    else
        exchange_across(c, slot, shift, in, out, lost);
}

/* Sets change[cells] to E p - p of a brick, where E p is p after an explicit step; adds the mass that is lost to
 * *lost. */
INLINE void diffuse_brick(const kernel_context *c, uint32_t slot, real *change, double *lost)
{
    const int cells = c->g->shape.cells;
    double own[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    real in[64] = {0}, out[64] = {0};
    noise_points points;

    if (!c->noise.uniform) {
        noise_set_points(c, slot, &points);
        noise_evaluate(c, &points, NULL, own);
    }
    for (int j = 0; j < c->n; j++)
        for (int step = -1; step <= 1; step += 2) {
            const noise_shift shift = {j, step, -1, 0};

            exchange(c, slot, &points, &shift, own, in, out, lost);
        }
    for (int j = 0; c->noise.full && j < c->n; j++)
        for (int k = j + 1; k < c->n; k++)
            for (int corner = 0; corner < 4; corner++) {
                const noise_shift shift = {j, corner & 1 ? 1 : -1, k, corner & 2 ? 1 : -1};

                exchange(c, slot, &points, &shift, own, in, out, lost);
            }
    for (int i = 0; i < cells; i++)
        change[i] = in[i] - out[i];
}

/* diffuse() of struct kernel: the first half of Heun's step sets noise.to to E p; the second half, whose noise.from
 * is that, sets noise.to, which is p, to (p + E E p) / 2. */
static void diffuse(const kernel_context *c, kernel_noise_half half, uint32_t from, uint32_t to, kernel_sums *sums)
{
    const size_t cells = (size_t)c->g->shape.cells;
    brick_totals totals = {0};

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        const real *p = (const real *)c->noise.from + slot * cells;
        real *row = (real *)c->noise.to + slot * cells;
        real value[64];
        double lost = 0;

        diffuse_brick(c, slot, value, &lost);
        for (size_t i = 0; i < cells; i++) {
            real advanced = p[i] + value[i];

            value[i] = half == KERNEL_NOISE_FIRST ? advanced : (real)0.5 * row[i] + (real)0.5 * advanced;
        }
        totals.dropped += 0.5 * lost;
        if (half == KERNEL_NOISE_LAST)
            c->rows.active[slot] = clamp_and_mark(c, slot, value, row, &totals);
        else
            copy_cells(row, value, (int)cells);
    }
    *sums = sums_of(&totals);
}

#endif
