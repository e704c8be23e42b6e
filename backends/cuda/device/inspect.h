/* inspect.h - velocities at the faces of bricks' cells: where probability flows to, and how fast. */
#ifndef GBEES_CUDA_INSPECT_H
#define GBEES_CUDA_INSPECT_H

#include "table.h"

/* The point in the middle of a face along `axis`, 0 .. edge or one beyond, across the cell. */
GBEES_NUM void face_point(const gbees_setup *m, const position *base, int cell, int axis, int face, position *x)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = base[k] + (k == axis ? face_offset(m, k, face) : cell_offset(m, k, cell_local(cell, k)));
}

GBEES_NUM void load_base(const gbees_setup *m, uint32_t slot, position *base)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        base[k] = brick_base(m, slot)[k];
}

/* Larger than all numbers, as one that is not a number is to be here. */
GBEES_NUM double visible_rate(double rate)
{
    return rate < 1e300 ? rate : HUGE_VAL;
}

/* Flow masks and the rate of a brick, by a team. */
GBEES_NUM void inspect_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, double time)
{
    uint64_t *flow = m->grid.flow + (size_t)slot * DIRECTIONS;
    uint64_t down[DIM], up[DIM];
    position base[DIM];
    double most = 0;

    load_base(m, slot, base);
#pragma unroll
    for (int j = 0; j < DIM; j++)
        down[j] = up[j] = 0;
    for (int first = 0; first < CELLS; first += TEAM) {
        int cell = first + team_lane();
        number rate = 0;

#pragma unroll
        for (int j = 0; j < DIM; j++) {
            position x[DIM];

            face_point(m, base, cell, j, cell_local(cell, j), x);
            number below = velocity(m, x, j, time);
            face_point(m, base, cell, j, cell_local(cell, j) + 1, x);
            number above = velocity(m, x, j, time);
            number here = (above < 0 ? -above : above) * (number)(1 / m->width[j]);

            /* A velocity that is not a number stays visible. */
            rate = !m->sweeps ? rate + here : here > rate ? here : rate + (here - here);
            down[j] |= (uint64_t)team_vote(below < 0) << first;
            up[j] |= (uint64_t)team_vote(above > 0) << first;
        }
        most = fmax(most, visible_rate((double)rate));
    }
    most = team_most(most);
    if (team_lane() == 0) {
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            flow[2 * j] = down[j];
            flow[2 * j + 1] = up[j];
        }
        m->grid.rate[slot] = most;
        if (!(most < 1e300))
            publish_32(&s->bad, slot + 1);
    }
}

/* The neighbours of a new brick, and it as theirs. */
GBEES_NUM void link_brick(const gbees_setup *m, uint32_t slot)
{
    const int32_t *stored = m->grid.key + (size_t)slot * DIM;

    for (int d = team_lane(); d < DIRECTIONS; d += TEAM) {
        int32_t key[DIM];

        for (int k = 0; k < DIM; k++)
            key[k] = stored[k] + (k == d >> 1 ? (d & 1 ? 1 : -1) : 0);
        uint32_t neighbor = table_find(m, key);
        m->grid.neighbor[d][slot] = neighbor;
        if (neighbor)
            m->grid.neighbor[d ^ 1][neighbor] = slot;
    }
}

/* Bricks (linked, count]: neighbours, velocities, and nothing in them. */
GBEES_NUM void link_new(const gbees_setup *m, gbees_state *s, uint32_t linked, uint32_t count, int current,
                        double time, gbees_step_sums *sums)
{
    number *p = rows_of(m, current);
    double most = 0;

    for (uint32_t slot = linked + 1 + team_index(); slot <= count; slot += team_count()) {
        set_base(m, slot);
        link_brick(m, slot);
        inspect_brick(m, s, slot, time);
        for (int cell = team_lane(); cell < CELLS; cell += TEAM)
            p[(size_t)slot * CELLS + (size_t)cell] = 0;
        team_sync();
        if (team_lane() == 0) {
            m->grid.active[slot] = 0;
            most = fmax(most, m->grid.rate[slot]);
        }
    }
    if (most > 0)
        atomic_most_64(&sums->rate_most, bits_of(most));
}

/* All bricks again, for a drift that depends on time. */
GBEES_NUM void inspect_all(const gbees_setup *m, gbees_state *s, uint32_t count, double time)
{
    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count())
        inspect_brick(m, s, slot, time);
}

#endif
