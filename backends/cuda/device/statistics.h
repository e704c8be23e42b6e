/* statistics.h - moments of the density, and its cells for a record.  Sums over bricks are sums of integers. */
#ifndef GBEES_CUDA_STATISTICS_H
#define GBEES_CUDA_STATISTICS_H

#include "device/prune.h"

enum { MOMENTS = 2 + DIM + DIM * (DIM + 1) / 2 }; /* mass, first and second moments, sum of P log P */

/* The sum over a brick's cells of P, times the index along axis j, times that along axis k; below 0: no factor. */
GBEES_NUM double brick_moment(const gbees_setup *m, uint32_t slot, const number *row, int j, int k)
{
    double sum = 0, base_j = 0, base_k = 0;

    if (j >= 0)
        base_j = (double)m->grid.key[(size_t)slot * DIM + (size_t)j] * m->shape.edge[j];
    if (k >= 0)
        base_k = (double)m->grid.key[(size_t)slot * DIM + (size_t)k] * m->shape.edge[k];
    for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
        double p = (double)row[cell];

        if (j >= 0)
            p *= base_j + gbees_shape_local(&m->shape, cell, j);
        if (k >= 0)
            p *= base_k + gbees_shape_local(&m->shape, cell, k);
        sum += p;
    }
    return warp_add_double(sum);
}

/* Adds the same over all bricks to *to. */
GBEES_NUM void moment_pass(const gbees_setup *m, const gbees_state *s, int j, int k, gbees_exact_sum *to)
{
    const number *p = rows_of(m, s->current);
    gbees_exact_sum sum = {0, 0};

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count())
        exact_add(&sum, brick_moment(m, slot, p + (size_t)slot * CELLS, j, k));
    if (warp_lane() == 0) {
        atomic_add_64(&to->high, sum.high);
        atomic_add_64(&to->low, sum.low);
    }
}

/* Adds the sum of P log P to *to, and updates found->peak by the largest P. */
GBEES_NUM void entropy_pass(const gbees_setup *m, gbees_findings *found, gbees_exact_sum *to)
{
    const gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    gbees_exact_sum sum = {0, 0};
    double peak = 0;

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        double part = 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            double value = (double)p[(size_t)slot * CELLS + (size_t)cell];

            peak = fmax(peak, value);
            part += value > 0 ? value * log(value) : 0;
        }
        exact_add(&sum, warp_add_double(part));
    }
    peak = warp_max(peak);
    if (warp_lane() == 0) {
        atomic_add_64(&to->high, sum.high);
        atomic_add_64(&to->low, sum.low);
        atomic_max_64(&found->peak, bits_of(peak));
    }
}

/* Finds the cell with the largest P; of several the one in the brick with the lowest hash.  The first pass sets
 * found->peak_brick to hash and cell, the second one (`find`) s->where to the brick's slot. */
GBEES_NUM void peak_pass(const gbees_setup *m, gbees_findings *found, int find)
{
    gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    double peak = double_of(found->peak);

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count())
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            if ((double)p[(size_t)slot * CELLS + (size_t)cell] != peak)
                continue;
            uint64_t name = (key_hash(key_near(m, slot, -1, -1)) & ~(uint64_t)63) | (uint64_t)cell;
            if (find && name == found->peak_brick)
                s->where = slot;
            if (!find)
                atomic_min_64(&found->peak_brick, name);
        }
}

/* Copies the active cells to the spare rows, or with `back` from there: a record's count marks cells anew. */
GBEES_NUM void save_marks_pass(const gbees_setup *m, uint32_t count, int spare, int back)
{
    uint64_t *saved = (uint64_t *)(void *)rows_of(m, spare);

    for (uint32_t slot = 1 + warp_index() * WARP_SIZE + (uint32_t)warp_lane(); slot <= count;
         slot += warp_count() * WARP_SIZE) {
        if (back)
            m->grid.active[slot] = saved[slot];
        else
            saved[slot] = m->grid.active[slot];
    }
}

/* The cells of a brick with P >= threshold and P > 0. By a warp. */
GBEES_NUM uint64_t cells_from(const number *row, number threshold)
{
    uint64_t mask = 0;

    for (int first = 0; first < CELLS; first += WARP_SIZE) {
        const number value = row[first + warp_lane()];

        mask |= (uint64_t)warp_ballot(value > 0 && value >= threshold) << first;
    }
    return mask;
}

/* Packs the bricks from + 1 .. to that have a cell with P >= threshold: a mask of these cells, the key, and P of the
 * cells.  The place of each is taken from found->packed, one word for bricks and cells, so that cells are in the
 * order of their bricks.  Without `out` it only counts them. */
GBEES_NUM void pack_pass(const gbees_setup *m, gbees_findings *found, uint32_t from, uint32_t to, double threshold,
                         uint64_t *mask, int32_t *key, number *out)
{
    const number enough = least_above(threshold), *p = rows_of(m, found->state.current);
    uint64_t counted = 0;

    for (uint32_t slot = from + 1 + warp_index(); slot <= to; slot += warp_count()) {
        const number *row = p + (size_t)slot * CELLS;
        const uint64_t cells = cells_from(row, enough);
        const uint64_t size = ((uint64_t)1 << PACKED_CELL_BITS) + (uint64_t)count_bits(cells);

        if (!cells)
            continue;
        if (!out) {
            counted += size;
            continue;
        }
        const uint64_t own = warp_lane() == 0 ? atomic_fetch_add_64(&found->packed, size) : 0;
        const uint64_t place =
            (uint64_t)warp_shuffle((uint32_t)(own >> 32), 0) << 32 | warp_shuffle((uint32_t)own, 0);
        const uint64_t brick = place >> PACKED_CELL_BITS, first = place & (((uint64_t)1 << PACKED_CELL_BITS) - 1);

        if (warp_lane() == 0)
            mask[brick] = cells;
        for (int k = warp_lane(); k < DIM; k += WARP_SIZE)
            key[brick * DIM + (uint64_t)k] = m->grid.key[(size_t)slot * DIM + (size_t)k];
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            if (cells >> cell & 1)
                out[first + (uint64_t)count_bits(cells & (((uint64_t)1 << cell) - 1))] = row[cell];
    }
    if (warp_lane() == 0 && counted)
        (void)atomic_fetch_add_64(&found->packed, counted);
}

#endif
