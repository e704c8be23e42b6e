/* prune.h - drops the bricks that no one needs: mark, scan, compact, rehash (paper, Algorithm 3). */
#ifndef GBEES_CUDA_PRUNE_H
#define GBEES_CUDA_PRUNE_H

#include "grow.h"

GBEES_NUM void add_needed(const gbees_setup *m, uint32_t slot, uint64_t set)
{
#if GBEES_BOUNDED
    set &= m->grid.inside[slot];
#endif
    if (slot && (set & ~fresh_64(&m->grid.needed[slot])))
        atomic_or_64(&m->grid.needed[slot], set); /* an OR: any order gives the same */
}

/* A set of cells that flows in direction d: one cell further, here and in the neighbour. */
GBEES_NUM void add_shifted(const gbees_setup *m, uint32_t slot, uint64_t set, int d)
{
    uint64_t across = gbees_shape_across(&m->shape, set, d);

    add_needed(m, slot, gbees_shape_inside(&m->shape, set, d));
    if (across)
        add_needed(m, m->grid.neighbor[d][slot], across);
}

/* The face and edge neighbours that a brick's active cells flow into. */
GBEES_NUM void mark_downwind(const gbees_setup *m, uint32_t slot, uint64_t active, const team_brick *brick)
{
    if (team_lane() == 0)
        add_needed(m, slot, active);
    for (int pair = team_lane(); pair < PAIRS; pair += TEAM) {
        int d, f;

        if (!split_pair(pair, &d, &f))
            continue;
        uint64_t both = brick->flow[d] & brick->flow[f];
        if (!both)
            continue;
        if (f == d) {
            add_shifted(m, slot, both, d);
            continue;
        }
        uint64_t across = gbees_shape_across(&m->shape, both, d);
        add_shifted(m, slot, gbees_shape_inside(&m->shape, both, d), f);
        if (across && brick->neighbor[d])
            add_shifted(m, brick->neighbor[d], across, f);
    }
}

/* Marks of the cells with P >= threshold. */
GBEES_NUM void mark_active_pass(const gbees_setup *m, gbees_state *s, uint32_t count, int current, double threshold)
{
    number *p = rows_of(m, current);
    const number enough = least_above(threshold);
    int64_t mass = 0, above = 0;

    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        brick_view v;

        view_cells(p, slot, &v);
        uint64_t active = mark_brick(p, slot, &v, enough, &mass);
        if (team_lane() == 0) {
            m->grid.active[slot] = active;
            m->grid.needed[slot] = 0;
            above += count_bits(active);
        }
    }
    above = team_add(above);
    if (team_lane() == 0 && above)
        atomic_add_64((int64_t *)&s->marked_above, above);
}

GBEES_NUM void mark_downwind_pass(const gbees_setup *m, uint32_t count)
{
    BLOCK_LOCAL team_brick bricks[BLOCK_TEAMS];
    team_brick *brick = &bricks[block_team()];
    brick_view next;

    for (uint32_t slot = 1 + team_index(), ahead = slot; slot <= count; slot = ahead) {
        brick_view v = next;

        if (slot == 1 + team_index()) {
            view_marks(m, slot, &v);
            view_flow(m, slot, &v);
        }
        ahead = slot + team_count();
        if (ahead <= count) {
            view_marks(m, ahead, &next);
            view_flow(m, ahead, &next);
        }
        if (v.active) {
            share_flow(m, &v, v.active, 0, brick);
            mark_downwind(m, slot, v.active, brick);
        }
    }
}

/* Bricks with a needed cell, and the cells; the bricks in chunks of as many as the team has lanes: map[chunk's first]
 * .. get the number of kept ones before, in the chunk. */
GBEES_NUM void count_needed_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    int64_t needed = 0;

    for (uint32_t slot = 1 + team_index() * TEAM + (uint32_t)team_lane(); slot <= count; slot += team_count() * TEAM)
        needed += count_bits(m->grid.needed[slot]);
    needed = team_add(needed);
    if (team_lane() == 0 && needed)
        atomic_add_64((int64_t *)&s->marked_needed, needed);
}

/* ---- scan: where a kept brick goes, in the order that there is ---------------------------------------------- */

/* Bricks of a block's share. */
GBEES_NUM uint32_t scan_share(uint32_t count)
{
    uint32_t share = (count + team_count() - 1) / team_count();

    return (share + TEAM - 1) / TEAM * TEAM;
}

/* How many of each team's share are kept: in map, at the team's number (there are more slots than teams: see the
 * host's smallest capacity). */
GBEES_NUM void scan_count_pass(const gbees_setup *m, uint32_t count)
{
    uint32_t share = scan_share(count), from = 1 + team_index() * share, kept = 0;

    for (uint32_t slot = from; slot < from + share && slot <= count; slot += TEAM) {
        uint32_t own = slot + (uint32_t)team_lane();

        kept += (uint32_t)count_bits(team_vote(own <= count && m->grid.needed[own <= count ? own : 0] != 0));
    }
    if (team_lane() == 0)
        m->grid.map[team_index()] = kept;
}

/* The first team adds them up. */
GBEES_NUM void scan_offsets_pass(const gbees_setup *m, gbees_state *s)
{
    uint32_t total = 0;

    if (team_index() != 0)
        return;
    for (uint32_t first = 0; first < team_count(); first += TEAM) {
        uint32_t at = first + (uint32_t)team_lane(), own = at < team_count() ? m->grid.map[at] : 0, sum = own;

        for (uint32_t l = 0; l < TEAM; l++) {
            uint32_t other = team_get(own, l);

            sum += l < (uint32_t)team_lane() ? other : 0;
        }
        sum -= own;
        if (at < team_count())
            m->grid.map[at] = total + sum;
        total += team_get(sum + own, TEAM - 1);
    }
    if (team_lane() == 0)
        s->scan = total;
}

/* A kept brick's row and lists, where they are on their way to their place. */
typedef struct moved_brick {
    int32_t key[DIM];
    uint32_t neighbor[DIRECTIONS];
    uint32_t slot;
    uint64_t flow[DIRECTIONS], active;
    double rate;
#if GBEES_BOUNDED
    uint64_t inside;
#endif
} moved_brick;

/* Into the spare rows: room for a moved_brick in each. The map of the offsets is read before it is written over, by
 * the same team or behind a barrier: places are in `needed`, one a brick, until then. */
GBEES_NUM void scan_places_pass(const gbees_setup *m, uint32_t count)
{
    uint32_t share = scan_share(count), from = 1 + team_index() * share, place = m->grid.map[team_index()];

    for (uint32_t slot = from; slot < from + share && slot <= count; slot += TEAM) {
        uint32_t own = slot + (uint32_t)team_lane();
        int keep = own <= count && m->grid.needed[own <= count ? own : 0] != 0;
        uint32_t kept = team_vote(keep), before = kept & ((1u << team_lane()) - 1);

        if (own <= count)
            m->grid.needed[own] = keep ? place + (uint32_t)count_bits(before) + 1 : 0;
        place += (uint32_t)count_bits(kept);
    }
}

GBEES_NUM void map_pass(const gbees_setup *m, uint32_t count)
{
    for (uint32_t slot = team_index() * TEAM + (uint32_t)team_lane(); slot <= count; slot += team_count() * TEAM)
        m->grid.map[slot] = slot ? (uint32_t)m->grid.needed[slot] : 0;
}

/* Lists to the spare rows, in their new places and with their new neighbours; the next brick's are read meanwhile. */
GBEES_NUM void gather_lists_pass(const gbees_setup *m, uint32_t count, int spare)
{
    uint32_t to = 0, to_ahead = 0;
    brick_view v, next;

    for (uint32_t slot = 1 + team_index(), ahead = slot; slot <= count; slot = ahead) {
        if (slot == 1 + team_index()) {
            view_marks(m, slot, &next);
            view_flow(m, slot, &next);
            to_ahead = m->grid.map[slot];
        }
        v = next;
        to = to_ahead;
        ahead = slot + team_count();
        if (ahead <= count) {
            view_marks(m, ahead, &next);
            view_flow(m, ahead, &next);
            to_ahead = m->grid.map[ahead];
        }
        moved_brick *moved = (moved_brick *)(void *)(rows_of(m, spare) + (size_t)to * CELLS);
        if (!to)
            continue;
        for (int k = team_lane(); k < DIM; k += TEAM)
            moved->key[k] = m->grid.key[(size_t)slot * DIM + (size_t)k];
#pragma unroll
        for (int i = 0; i < SHARE_DIRECTIONS; i++) {
            int d = team_lane() + i * TEAM;

            if (d < DIRECTIONS) {
                moved->neighbor[d] = m->grid.map[v.neighbor[i]];
                moved->flow[d] = v.flow[i];
            }
        }
        if (team_lane() == 0) {
            moved->active = v.active;
            moved->rate = m->grid.rate[slot];
#if GBEES_BOUNDED
            moved->inside = m->grid.inside[slot];
#endif
            moved->slot = slot;
        }
    }
}

/* ... and back; `map` then tells where a brick was. */
GBEES_NUM void scatter_lists_pass(const gbees_setup *m, uint32_t kept, int spare)
{
    for (uint32_t slot = 1 + team_index(); slot <= kept; slot += team_count()) {
        const moved_brick *moved = (const moved_brick *)(const void *)(rows_of(m, spare) + (size_t)slot * CELLS);

        for (int k = team_lane(); k < DIM; k += TEAM) {
            m->grid.key[(size_t)slot * DIM + (size_t)k] = moved->key[k];
            set_base_along(m, slot, k, moved->key[k]);
        }
        for (int d = team_lane(); d < DIRECTIONS; d += TEAM) {
            m->grid.neighbor[d][slot] = moved->neighbor[d];
            m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] = moved->flow[d];
        }
        if (team_lane() == 0) {
            m->grid.active[slot] = moved->active;
            m->grid.rate[slot] = moved->rate;
#if GBEES_BOUNDED
            m->grid.inside[slot] = moved->inside;
#endif
            m->grid.map[slot] = moved->slot;
        }
#if GBEES_BOUNDED
        unbar(m, slot);
#endif
    }
}

GBEES_NUM void clear_table_pass(const gbees_setup *m)
{
    for (uint64_t at = (uint64_t)team_index() * TEAM + (uint64_t)team_lane(); at <= m->grid.table_mask;
         at += (uint64_t)team_count() * TEAM)
        m->grid.table[at] = TABLE_EMPTY;
}

/* Rows to their places in the spare ones; counts the mass. */
GBEES_NUM int64_t gather_rows_pass(const gbees_setup *m, uint32_t kept, int current, int spare)
{
    const number *p = rows_of(m, current);
    number *to = rows_of(m, spare);
    int64_t mass = 0;
    uint32_t from = 0, beyond = 1 + team_index();

    for (uint32_t slot = beyond; slot <= kept; slot = beyond) {
        if (slot == 1 + team_index())
            from = m->grid.map[slot];
        beyond = slot + team_count();
        uint32_t ahead = beyond <= kept ? m->grid.map[beyond] : 0;

#pragma unroll
        for (int i = 0; i < SHARE_CELLS; i++) {
            const size_t cell = (size_t)(team_lane() + i * TEAM);
            number value = p[(size_t)from * CELLS + cell];

            to[(size_t)slot * CELLS + cell] = value;
            mass += gbees_fixed((double)value);
        }
        from = ahead;
    }
    return mass;
}

/* The table anew: one brick a lane. */
GBEES_NUM void enter_pass(const gbees_setup *m, uint32_t count)
{
    for (uint64_t slot = 1 + (uint64_t)team_index() * TEAM + (uint64_t)team_lane(); slot <= count;
         slot += (uint64_t)team_count() * TEAM)
        table_enter(m, (uint32_t)slot);
}

/* The null row of the spare rows: what a moved_brick left there would be probability. */
GBEES_NUM void clear_null_row(const gbees_setup *m, int which)
{
    if (team_index() == 0)
        for (int cell = team_lane(); cell < CELLS; cell += TEAM)
            rows_of(m, which)[cell] = 0;
}

#endif
