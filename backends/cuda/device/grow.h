/* grow.h - makes the bricks that probability will flow into (paper, section 3.3), and marks the cells. */
#ifndef GBEES_CUDA_GROW_H
#define GBEES_CUDA_GROW_H

#include "inspect.h"

/* What a team gathers: the largest rates, and the mass. */
typedef struct team_sums {
    double most, busy;
    int64_t mass;
} team_sums;

/* Cells with P >= threshold; counts the mass, drops denormals. */
GBEES_NUM uint64_t mark_brick(const gbees_setup *m, uint32_t slot, number *row, number threshold, int64_t *mass)
{
    uint64_t active = 0;

    for (int first = 0; first < CELLS; first += TEAM) {
        int cell = first + team_lane();
        number p = row[cell];

        if (p < least_number() && p != 0)
            row[cell] = p = 0;
        *mass += fixed_of((double)p);
        active |= (uint64_t)team_vote(p >= threshold) << first;
    }
    if (team_lane() == 0)
        m->grid.active[slot] = active;
    return active;
}

/* Direction d's cells with P >= p* from which probability leaves the brick that way, for all d. */
GBEES_NUM void find_leaving(const gbees_setup *m, uint32_t slot, uint64_t active, uint64_t *out)
{
    const uint64_t *flow = m->grid.flow + (size_t)slot * DIRECTIONS;

    team_sync();
    for (int d = team_lane(); d < DIRECTIONS; d += TEAM)
        out[d] = active & flow[d] & gbees_shape_side(&m->shape, d);
    team_sync();
}

/* The neighbour in direction d, or the one beyond it in direction f (f == d: none beyond), if it is absent. */
GBEES_NUM void insert_absent(const gbees_setup *m, gbees_state *s, uint32_t slot, int d, int f)
{
    uint32_t neighbor = fresh_32(&m->grid.neighbor[d][slot]);
    const int32_t *stored = m->grid.key + (size_t)slot * DIM;
    int32_t key[DIM];

    if (neighbor && (f == d || fresh_32(&m->grid.neighbor[f][neighbor])))
        return;
    for (int k = 0; k < DIM; k++)
        key[k] = stored[k] + (k == d >> 1 ? (d & 1 ? 1 : -1) : 0) + (f != d && k == f >> 1 ? (f & 1 ? 1 : -1) : 0);
    table_insert(m, s, key);
}

/* Faces, and edges of two directions along different axes: each lane looks after some. */
GBEES_NUM void grow_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, uint64_t active, uint64_t *out)
{
    find_leaving(m, slot, active, out);
    for (int pair = team_lane(); pair < DIRECTIONS * DIRECTIONS; pair += TEAM) {
        int d = pair / DIRECTIONS, f = pair % DIRECTIONS;

        if ((f == d || f >> 1 > d >> 1) && (out[d] & out[f]))
            insert_absent(m, s, slot, d, f);
    }
    team_sync();
}

/* One pass over the bricks: marks cells, if asked to, and makes what they need, if asked to. */
GBEES_NUM void mark_and_grow(const gbees_setup *m, gbees_state *s, uint32_t count, int current, double threshold,
                             int mark, int grow, gbees_step_sums *marked, gbees_step_sums *rates)
{
    BLOCK_LOCAL uint64_t out[BLOCK_TEAMS][DIRECTIONS];
    number *p = rows_of(m, current);
    team_sums sums = {0, 0, 0};

    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        number *row = p + (size_t)slot * CELLS;
        uint64_t active = mark ? mark_brick(m, slot, row, (number)threshold, &sums.mass) : m->grid.active[slot];

        if (grow) {
            double rate = m->grid.rate[slot];

            sums.most = fmax(sums.most, rate);
            if (active) {
                sums.busy = fmax(sums.busy, rate);
                grow_brick(m, s, slot, active, out[block_team()]);
            }
        }
    }
    if (mark) {
        int64_t mass = team_add(sums.mass);

        if (team_lane() == 0 && mass)
            atomic_add_64(&marked->mass, mass);
    }
    if (grow && team_lane() == 0 && sums.most > 0) {
        atomic_most_64(&rates->rate_most, bits_of(sums.most));
        atomic_most_64(&rates->rate_busy, bits_of(sums.busy));
    }
}

#endif
