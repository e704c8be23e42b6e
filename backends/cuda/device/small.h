/* small.h - moves of a small grid (GBEES_SMALL), where a step is a chain of waits: for memory, for each other, and
 * for instructions that depend on the ones before them.
 *
 * A team has a brick, and a lane two of its cells with their three faces, in place of a line of four with five.  What
 * does not change while the density moves is at hand in the block's own memory.  The last sweep's bricks are marked
 * by the teams that have swept them: no meeting is between. For the split schemes in up to three dimensions, where
 * bricks are as wide along all axes; without noise or bound.
 */
#ifndef GBEES_CUDA_SMALL_H
#define GBEES_CUDA_SMALL_H

#include "grow.h"
#include "sweep.h"

enum { SMALL_BITS = 6 / DIM, SMALL_EDGE = 1 << SMALL_BITS, SMALL_CELLS = 2, SMALL_PARTS = CELLS / SMALL_CELLS };

/* A brick that a team has at hand: all but its P, and that, too, once the last sweep is done. */
typedef struct small_brick {
    uint32_t link[DIRECTIONS];              /* its neighbours; 0: absent */
    position base[DIM], beside[DIRECTIONS]; /* its base, and theirs along the axis that they are on */
    int32_t key[DIM];
    uint64_t flow[DIRECTIONS], active; /* of the cells at its sides; of all */
    double rate;
    uint32_t place[PAIRS]; /* where the table would have the absent ones of the bricks beside it: the lowest bits of
                              their hashes; HAS_PLACE: it has them */
    number row[CELLS];
} small_brick;

static const uint32_t HAS_PLACE = 0xffffffffu;

enum { SMALL_HELD = 2 }; /* bricks of a team; if it has more than these, the last of them changes */

typedef struct small_team {
    small_brick brick[SMALL_HELD];
} small_team;

/* How many of a team's bricks stay at hand. */
GBEES_NUM uint32_t held_of(team_way way)
{
    return way.from + SMALL_HELD * way.stride <= way.last ? SMALL_HELD - 1 : SMALL_HELD;
}

GBEES_NUM small_brick *brick_of(small_team *team, uint32_t which)
{
    return &team->brick[which < SMALL_HELD ? which : SMALL_HELD - 1];
}

/* The bricks beside it: what is read of them is waited for once. */
GBEES_NUM void hold_beside(const gbees_setup *m, small_brick *to)
{
    position beside[SHARE_DIRECTIONS];
    uint32_t place[SHARE_PAIRS];

#pragma unroll
    for (int i = 0; i < SHARE_DIRECTIONS; i++) {
        const int d = team_lane() + i * TEAM;

        beside[i] = d < DIRECTIONS ? brick_base(m, to->link[d])[d >> 1] : 0;
    }
#pragma unroll
    for (int i = 0; i < SHARE_PAIRS; i++) {
        int d, f;
        const int is_pair = split_pair(team_lane() + i * TEAM, &d, &f);
        const uint32_t next = is_pair ? to->link[d] : 1;
        const uint32_t edge = !is_pair || f == d ? next : m->grid.neighbor[f][next];
        const near_key key = {to->key, d, f == d ? -1 : f};
        const uint32_t hash = settled((uint32_t)key_hash(key)); /* while what is read is on its way */

        place[i] = next && edge ? HAS_PLACE : hash & m->grid.table_mask;
    }
#pragma unroll
    for (int i = 0; i < SHARE_DIRECTIONS; i++)
        if (team_lane() + i * TEAM < DIRECTIONS)
            to->beside[team_lane() + i * TEAM] = beside[i];
#pragma unroll
    for (int i = 0; i < SHARE_PAIRS; i++)
        if (team_lane() + i * TEAM < PAIRS)
            to->place[team_lane() + i * TEAM] = place[i];
}

GBEES_NUM void hold_brick(const gbees_setup *m, uint32_t slot, small_brick *to)
{
    brick_view v;
    position base[SHARE_AXES];

    view_flow(m, slot, &v);
    view_key(m->grid.key + (size_t)slot * DIM, v.key);
    view_marks(m, slot, &v);
#pragma unroll
    for (int i = 0; i < SHARE_AXES; i++)
        base[i] = team_lane() + i * TEAM < DIM ? brick_base(m, slot)[team_lane() + i * TEAM] : 0;
    hold_loads();
    team_sync(); /* the one before has been used */
#pragma unroll
    for (int i = 0; i < SHARE_DIRECTIONS; i++) {
        const int d = team_lane() + i * TEAM;

        if (d < DIRECTIONS) {
            to->link[d] = v.neighbor[i];
            to->flow[d] = v.flow[i] & gbees_shape_side(&m->shape, d);
        }
    }
#pragma unroll
    for (int i = 0; i < SHARE_AXES; i++) {
        const int k = team_lane() + i * TEAM;

        if (k < DIM) {
            to->key[k] = v.key[i];
            to->base[k] = base[i];
        }
    }
    if (team_lane() == 0) {
        to->active = v.active;
        to->rate = v.rate;
    }
    team_sync();
    hold_beside(m, to);
    team_sync();
}

/* Those that stay. */
GBEES_NUM void hold_bricks(const gbees_setup *m, team_way way, small_team *team)
{
    const uint32_t held = held_of(way);

    for (uint32_t slot = way.from, i = 0; slot <= way.last && i < held; slot += way.stride, i++)
        hold_brick(m, slot, brick_of(team, i));
}

/* The lowest cell of a lane's line, and where on it the lane's cells begin. */
typedef struct small_part {
    int axis, shift, cell, first;
} small_part;

GBEES_NUM small_part place_part(int axis, int which)
{
    const int shift = axis * SMALL_BITS, line = which / (SMALL_EDGE / SMALL_CELLS);
    const int low = line & ((1 << shift) - 1);
    small_part part = {axis, shift, (line >> shift) << (shift + SMALL_BITS) | low,
                       which % (SMALL_EDGE / SMALL_CELLS) * SMALL_CELLS};

    return part;
}

/* Velocities at the faces around a lane's cells, from one before the first on. */
GBEES_NUM void small_velocities(const gbees_setup *m, const small_brick *brick, small_part part, double time,
                                number *v)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    position x[DIM], at[SMALL_CELLS + 3];

#pragma unroll
    for (int i = 0; i < SMALL_CELLS + 3; i++) {
        const int face = part.first + i - 1;
        /* A face between two bricks is the lower one's: rounded once, the same for both. */
        const int lower = face <= 0 && below, upper = face > SMALL_EDGE && above;
        const position base = lower   ? brick->beside[2 * part.axis]
                              : upper ? brick->beside[2 * part.axis + 1]
                                      : brick->base[part.axis];

        at[i] = base + face_offset(m, part.axis, face + (lower - upper) * SMALL_EDGE);
    }
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = brick->base[k] + cell_offset(m, k, cell_local(part.cell, k));
#pragma unroll
    for (int k = 0; k < DIM; k++) {
        if (k != part.axis)
            continue;
#pragma unroll
        for (int i = 0; i < SMALL_CELLS + 3; i++) {
            x[k] = at[i];
            v[i] = velocity(m, x, k, time);
        }
    }
}

/* Two cells of a line, kept with the brick if they are the last sweep's; returns what flowed out where they are at an
 * end of the grid. */
GBEES_NUM number sweep_part(const gbees_setup *m, const number *p, number *next, small_brick *brick, uint32_t slot,
                            small_part part, number lambda, double time, int keep)
{
    const uint32_t below = brick->link[2 * part.axis], above = brick->link[2 * part.axis + 1];
    number q[SMALL_CELLS + 2 * BEYOND], v[SMALL_CELLS + 3] = {0}, mass[SMALL_CELLS + 1], outflow = 0;

#pragma unroll
    for (int i = 0; i < SMALL_CELLS + 2 * BEYOND; i++) {
        const int at = part.first + i - BEYOND;
        const uint32_t row = at < 0 ? below : at >= SMALL_EDGE ? above : slot;

        q[i] = p[row * CELLS + (uint32_t)(part.cell + ((at & (SMALL_EDGE - 1)) << part.shift))];
    }
    small_velocities(m, brick, part, time, v);
#pragma unroll
    for (int i = 0; i <= SMALL_CELLS; i++)
        mass[i] = face_mass(q + i, v + i, lambda);
#pragma unroll
    for (int i = 0; i < SMALL_CELLS; i++) {
        const int at = part.cell + ((part.first + i) << part.shift);

        q[BEYOND + i] += mass[i] - mass[i + 1];
        next[slot * CELLS + (uint32_t)at] = q[BEYOND + i];
        if (keep)
            brick->row[at] = q[BEYOND + i];
    }
    if (part.first == 0 && mass[0] < 0 && !below)
        outflow = -mass[0];
    if (part.first + SMALL_CELLS == SMALL_EDGE && mass[SMALL_CELLS] > 0 && !above)
        outflow += mass[SMALL_CELLS];
    return outflow;
}

/* All bricks of a team along an axis, those that stay at hand being there; returns what flowed out of a lane's
 * lines. */
GBEES_NUM int64_t sweep_small(const gbees_setup *m, const number *p, number *next, team_way way, small_team *team,
                              int axis, number lambda, double time, int is_last)
{
    const uint32_t held = held_of(way);
    int64_t outflow = 0;

    for (uint32_t slot = way.from, i = 0; slot <= way.last; slot += way.stride, i++) {
        small_brick *brick = brick_of(team, i);

        if (i >= held)
            hold_brick(m, slot, brick);
#pragma unroll 1
        for (int which = team_lane(); which < SMALL_PARTS; which += TEAM) {
            number out = sweep_part(m, p, next, brick, slot, place_part(axis, which), lambda, time, is_last);

            if (out > 0)
                outflow += gbees_fixed((double)out);
        }
    }
    return outflow;
}

/* What cells that have risen above p* need: grow_brick(). */
GBEES_NUM void grow_small(const gbees_setup *m, gbees_state *s, const small_brick *brick, uint64_t risen)
{
    for (int pair = team_lane(); pair < PAIRS; pair += TEAM) {
        const uint32_t place = brick->place[pair];
        int d, f;

        (void)split_pair(pair, &d, &f);
        if (place != HAS_PLACE && risen & brick->flow[d] & brick->flow[f]) {
            const near_key key = {brick->key, d, f == d ? -1 : f};

            table_insert_at(m, s, key, place);
        }
    }
    team_sync();
}

/* mark_and_grow() of a team's bricks, those that stay at hand being there if a step has been. */
GBEES_NUM void mark_small(const gbees_setup *m, gbees_state *s, team_way way, small_team *team, number *p,
                          double threshold, int mark, int grow, team_sums *sums)
{
    const uint32_t held = mark ? held_of(way) : 0;

    for (uint32_t slot = way.from, i = 0; slot <= way.last; slot += way.stride, i++) {
        small_brick *brick = brick_of(team, i);
        brick_view v;

        if (i >= held)
            hold_brick(m, slot, brick);
        view_cells(i < held ? brick->row : p, i < held ? 0 : slot, &v);
        const uint64_t was = brick->active;
        const uint64_t active = mark ? mark_brick(p, slot, &v, (number)threshold, &sums->mass) : was;
        if (mark && active != was && team_lane() == 0)
            m->grid.active[slot] = active;
        if (grow) {
            const uint64_t risen = mark ? active & ~was : active;

            sums->most = fmax(sums->most, brick->rate);
            if (active)
                sums->busy = fmax(sums->busy, brick->rate);
            if (risen)
                grow_small(m, s, brick, risen);
        }
    }
    sums->mass = mark ? team_add(sums->mass) : 0;
}

#endif
