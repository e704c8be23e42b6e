/* statistics.h - moments of the density, and its cells for a record. */
#ifndef GBEES_CUDA_STATISTICS_H
#define GBEES_CUDA_STATISTICS_H

#include "prune.h"

enum { MOMENTS = 2 + DIM + DIM * (DIM + 1) / 2 }; /* mass, first, second, sum of P log P */

/* One moment of the cells of a brick, in units of cells from a reference; j == k: the second along an axis. */
GBEES_NUM double brick_moment(const gbees_setup *m, uint32_t slot, const number *row, const double *reference, int j,
                              int k)
{
    double sum = 0, base_j = 0, base_k = 0;

    if (j >= 0)
        base_j = (double)m->grid.key[(size_t)slot * DIM + (size_t)j] * m->shape.edge[j] - reference[j];
    if (k >= 0)
        base_k = (double)m->grid.key[(size_t)slot * DIM + (size_t)k] * m->shape.edge[k] - reference[k];
    for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
        double p = (double)row[cell];

        if (j >= 0)
            p *= base_j + gbees_shape_local(&m->shape, cell, j);
        if (k >= 0)
            p *= base_k + gbees_shape_local(&m->shape, cell, k);
        sum += p;
    }
    return team_add_double(sum);
}

/* One moment of all bricks: a sum of integers, whatever the order of the bricks. */
GBEES_NUM void moment_pass(const gbees_setup *m, gbees_state *s, const double *reference, int j, int k,
                           gbees_wide_sum *to)
{
    const number *p = rows_of(m, s->current);
    gbees_wide_sum sum = {0, 0};

    for (uint32_t slot = 1 + team_index(); slot <= s->count; slot += team_count())
        wide_add(&sum, brick_moment(m, slot, p + (size_t)slot * CELLS, reference, j, k));
    if (team_lane() == 0) {
        atomic_add_64(&to->high, sum.high);
        atomic_add_64(&to->low, sum.low);
    }
}

/* The sum of P log P, and the largest P. */
GBEES_NUM void entropy_pass(const gbees_setup *m, gbees_state *s, gbees_wide_sum *to)
{
    const number *p = rows_of(m, s->current);
    gbees_wide_sum sum = {0, 0};
    double peak = 0;

    for (uint32_t slot = 1 + team_index(); slot <= s->count; slot += team_count()) {
        double part = 0;

        for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
            double value = (double)p[(size_t)slot * CELLS + (size_t)cell];

            peak = fmax(peak, value);
            part += value > 0 ? value * log(value) : 0;
        }
        wide_add(&sum, team_add_double(part));
    }
    peak = team_most(peak);
    if (team_lane() == 0) {
        atomic_add_64(&to->high, sum.high);
        atomic_add_64(&to->low, sum.low);
        atomic_most_64(&s->peak, bits_of(peak));
    }
}

/* Where the largest P is; of several such cells the one whose brick has the lowest hash. */
GBEES_NUM void peak_pass(const gbees_setup *m, gbees_state *s, int find)
{
    const number *p = rows_of(m, s->current);
    double peak = double_of(s->peak);

    for (uint32_t slot = 1 + team_index(); slot <= s->count; slot += team_count())
        for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
            if ((double)p[(size_t)slot * CELLS + (size_t)cell] != peak)
                continue;
            uint64_t name = (key_hash(key_near(m, slot, -1, -1)) & ~(uint64_t)63) | (uint64_t)cell;
            if (find && name == s->peak_brick)
                s->where = slot;
            if (!find)
                atomic_least_64(&s->peak_brick, name);
        }
}

/* The marks of the steps stay while a record's are counted: in the spare rows. */
GBEES_NUM void save_marks_pass(const gbees_setup *m, uint32_t count, int spare, int back)
{
    uint64_t *saved = (uint64_t *)(void *)rows_of(m, spare);

    for (uint32_t slot = 1 + team_index() * TEAM + (uint32_t)team_lane(); slot <= count;
         slot += team_count() * TEAM) {
        if (back)
            m->grid.active[slot] = saved[slot];
        else
            saved[slot] = m->grid.active[slot];
    }
}

/* Cells of bricks (from, to] with P >= threshold: their indices, axis by axis, and P. */
GBEES_NUM void pack_pass(const gbees_setup *m, gbees_state *s, uint32_t from, uint32_t to, double threshold,
                         int32_t *index, number *out)
{
    const number *p = rows_of(m, s->current);
    const uint32_t room = (to - from) * CELLS;

    for (uint32_t slot = from + 1 + team_index(); slot <= to; slot += team_count())
        for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
            number value = p[(size_t)slot * CELLS + (size_t)cell];

            if (!(value > 0 && value >= (number)threshold))
                continue;
            size_t at = atomic_add_32(&s->chunk_total, 1);
            for (int k = 0; k < DIM; k++)
                index[(size_t)k * room + at] = m->grid.key[(size_t)slot * DIM + (size_t)k] * m->shape.edge[k] +
                                               gbees_shape_local(&m->shape, cell, k);
            out[at] = value;
        }
}

#endif
