/* marginals.h - a record's marginals: the sums of P over all axes but one or two, of the cells with P >= p*.
 *
 * The cells of a brick are added up in a fixed order, and the result is added to the sums as an integer: so the bits
 * do not depend on the order of the bricks.
 */
#ifndef GBEES_CUDA_MARGINALS_H
#define GBEES_CUDA_MARGINALS_H

#include "device/statistics.h"

/* Updates found->lowest and found->highest by the least and the largest index of these cells along each axis. */
GBEES_NUM void range_pass(const gbees_setup *m, gbees_findings *found, double threshold)
{
    const gbees_state *s = &found->state;
    const number enough = least_above(threshold), *p = rows_of(m, s->current);
    int64_t low[DIM], high[DIM];

    for (int k = 0; k < DIM; k++)
        low[k] = high[k] = 0;
    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        const uint64_t cells = cells_from(p + (size_t)slot * CELLS, enough);

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            if (!(cells >> cell & 1))
                continue;
#pragma unroll
            for (int k = 0; k < DIM; k++) {
                const int64_t at =
                    (int64_t)m->grid.key[(size_t)slot * DIM + (size_t)k] * axis_edge(k) + cell_local(cell, k);

                high[k] = at + RANGE_ZERO > high[k] ? at + RANGE_ZERO : high[k];
                low[k] = RANGE_ZERO - at > low[k] ? RANGE_ZERO - at : low[k];
            }
        }
    }
    for (int k = 0; k < DIM; k++) {
        const double most = warp_max((double)high[k]), least = warp_max((double)low[k]); /* exact: below 2^53 */

        if (warp_lane() == 0 && most > 0) {
            atomic_max_64(&found->highest[k], (uint64_t)most);
            atomic_max_64(&found->lowest[k], (uint64_t)least);
        }
    }
}

/* The sum over a brick's cells with coordinate i along axis a and k along axis b; a < b; b < 0: no second axis. */
GBEES_NUM double sum_part(const number *row, uint64_t cells, int a, int i, int b, int k)
{
    const int parts = axis_edge(a) * (b < 0 ? 1 : axis_edge(b));
    double sum = 0;

    for (int rest = 0; rest < CELLS / parts; rest++) {
        int cell = line_cell(a, rest);

        if (b >= 0)
            cell = line_cell(b, cell) + (k << axis_shift(b));
        cell += i << axis_shift(a);
        if (cells >> cell & 1)
            sum += (double)row[cell];
    }
    return sum;
}

/* Adds a brick's cells to one marginal. */
GBEES_NUM void add_brick(const gbees_setup *m, const gbees_histogram *h, uint32_t slot, const number *row,
                         uint64_t cells, int64_t *sums)
{
    const int32_t *key = m->grid.key + (size_t)slot * DIM;
    const int a = h->a, b = h->b;

    for (int i = 0; i < axis_edge(a); i++)
        for (int k = 0; k < (b < 0 ? 1 : axis_edge(b)); k++) {
            const double sum = sum_part(row, cells, a, i, b, k);

            if (!(sum > 0))
                continue;
            uint64_t at = (uint64_t)((int64_t)key[a] * axis_edge(a) + i - h->first_a);
            if (b >= 0)
                at = at * h->columns + (uint64_t)((int64_t)key[b] * axis_edge(b) + k - h->first_b);
            atomic_add_64(sums + h->at + at, gbees_fixed(sum));
        }
}

/* Adds all bricks to all marginals: a warp a brick, a lane a marginal. */
GBEES_NUM void marginals_pass(const gbees_setup *m, const gbees_state *s, const gbees_histograms *all,
                              double threshold, int64_t *sums)
{
    const number enough = least_above(threshold), *p = rows_of(m, s->current);

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        const number *row = p + (size_t)slot * CELLS;
        const uint64_t cells = cells_from(row, enough);

        for (int h = warp_lane(); cells && h < all->count; h += WARP_SIZE)
            add_brick(m, &all->list[h], slot, row, cells, sums);
    }
}

#endif
