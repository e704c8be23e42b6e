/* prune.h - drops the bricks that no one needs: mark, scan, compact, rehash (paper, Algorithm 3). */
#ifndef GBEES_CUDA_PRUNE_H
#define GBEES_CUDA_PRUNE_H

#include "device/grow.h"

GBEES_NUM void add_needed(const gbees_setup *m, uint32_t slot, uint64_t set)
{
#if GBEES_BOUNDED
    set &= m->grid.inside[slot];
#endif
    if (slot && (set & ~fresh_64(&m->grid.needed[slot])))
        atomic_or_64(&m->grid.needed[slot], set); /* an OR: any order gives the same */
}

/* What a brick's active cells need of its face neighbours, by a team. */
typedef struct team_needs {
    team_brick brick;
    uint64_t beside[DIRECTIONS];
} team_needs;

/* The face and edge neighbours that a brick's active cells flow into.  What they need of the brick itself and of its
 * face neighbours, which many pairs of directions lead to, is put together first; then all of it goes to memory at
 * once. */
GBEES_NUM void mark_downwind(const gbees_setup *m, uint32_t slot, uint64_t active, team_needs *needs)
{
    const team_brick *brick = &needs->brick;
    uint64_t own = active, corner[SHARE_PAIRS];
    uint32_t edge[SHARE_PAIRS];

#pragma unroll
    for (int i = 0; i < SHARE_PAIRS; i++) {
        int d, f;

        corner[i] = 0;
        edge[i] = 0;
        if (!split_pair(team_lane() + i * TEAM, &d, &f))
            continue;
        const uint64_t both = brick->flow[d] & brick->flow[f];
        const uint64_t here = gbees_shape_inside(&m->shape, both, d), there = gbees_shape_across(&m->shape, both, d);

        if (f == d) {
            own |= here;
            block_or_64(&needs->beside[d], there);
            continue;
        }
        own |= gbees_shape_inside(&m->shape, here, f);
        block_or_64(&needs->beside[f], gbees_shape_across(&m->shape, here, f));
        block_or_64(&needs->beside[d], gbees_shape_inside(&m->shape, there, f));
        corner[i] = gbees_shape_across(&m->shape, there, f);
        if (corner[i] && brick->neighbor[d])
            edge[i] = m->grid.neighbor[f][brick->neighbor[d]];
    }
    own = team_or(own);
    team_sync();
    if (team_lane() == 0)
        add_needed(m, slot, own);
    for (int d = team_lane(); d < DIRECTIONS; d += TEAM)
        add_needed(m, brick->neighbor[d], needs->beside[d]);
#pragma unroll
    for (int i = 0; i < SHARE_PAIRS; i++)
        add_needed(m, edge[i], corner[i]);
}

/* Marks of the cells with P >= threshold. */
GBEES_NUM void mark_active_pass(const gbees_setup *m, uint32_t count, int current, double threshold)
{
    number *p = rows_of(m, current);
    const number enough = least_above(threshold);
    int64_t mass = 0;

    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        brick_view v;

        view_cells(p, slot, &v);
        uint64_t active = mark_brick(p, slot, &v, enough, &mass);
        if (team_lane() == 0) {
            m->grid.active[slot] = active;
            m->grid.needed[slot] = 0;
        }
    }
}

/* What they need, and how many they are. */
GBEES_NUM void mark_downwind_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    BLOCK_LOCAL team_needs all[BLOCK_TEAMS];
    team_needs *needs = &all[block_team()];
    int64_t above = 0;
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
        above += count_bits(v.active);
        if (v.active) {
            team_sync(); /* the one before has been read */
            for (int d = team_lane(); d < DIRECTIONS; d += TEAM)
                needs->beside[d] = 0;
            share_flow(m, &v, v.active, 0, &needs->brick);
            mark_downwind(m, slot, v.active, needs);
        }
    }
    if (team_lane() == 0 && above)
        atomic_add_64((int64_t *)&s->marked_above, above);
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

        for (uint32_t distance = 1; distance < TEAM; distance *= 2) {
            uint32_t other = team_get(sum, (uint32_t)team_lane() - distance);

            sum += distance <= (uint32_t)team_lane() ? other : 0;
        }
        if (at < team_count())
            m->grid.map[at] = total + sum - own;
        total += team_get(sum, TEAM - 1);
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

/* All of this in one pass, where there are few bricks: each team adds up what is before its own by itself. */
enum { SCAN_FEW = 2048 };

GBEES_NUM void scan_few_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    for (uint32_t first = team_index() * TEAM; first <= count; first += team_count() * TEAM) {
        const uint32_t own = first + (uint32_t)team_lane();
        uint32_t before = 0, keep = 0;

#pragma unroll 4
        for (uint32_t slot = (uint32_t)team_lane(); slot < first; slot += TEAM)
            before += m->grid.needed[slot] != 0; /* the null brick is not */
        keep = own <= count && m->grid.needed[own] != 0;
        const uint32_t kept = team_vote((int)keep), lower = kept & ((1u << team_lane()) - 1);
        before = (uint32_t)team_add((int64_t)before);
        if (own <= count)
            m->grid.map[own] = keep ? before + (uint32_t)count_bits(lower) + 1 : 0;
        if (first + TEAM > count && team_lane() == 0)
            s->scan = before + (uint32_t)count_bits(kept);
    }
}

GBEES_NUM void map_pass(const gbees_setup *m, uint32_t count)
{
    for (uint32_t slot = team_index() * TEAM + (uint32_t)team_lane(); slot <= count; slot += team_count() * TEAM)
        m->grid.map[slot] = slot ? (uint32_t)m->grid.needed[slot] : 0;
}

/* Lists to the spare rows, in their new places and with their new neighbours; the next brick's are read meanwhile,
 * and all that is read of a brick before anything is written, so that it is waited for once. */
GBEES_NUM void gather_lists_pass(const gbees_setup *m, uint32_t count, int spare)
{
    uint32_t to = 0, to_ahead = 0;
    brick_view v, next;

    for (uint32_t slot = 1 + team_index(), ahead = slot; slot <= count; slot = ahead) {
        int32_t key[SHARE_AXES];
        uint32_t neighbor[SHARE_DIRECTIONS];

        if (slot == 1 + team_index()) {
            view_marks(m, slot, &next);
            view_flow(m, slot, &next);
            to_ahead = m->grid.map[slot];
        }
        v = next;
        to = to_ahead;
        view_key(m->grid.key + (size_t)slot * DIM, key);
#pragma unroll
        for (int i = 0; i < SHARE_DIRECTIONS; i++)
            neighbor[i] = m->grid.map[v.neighbor[i]];
        ahead = slot + team_count();
        if (ahead <= count) {
            view_marks(m, ahead, &next);
            view_flow(m, ahead, &next);
            to_ahead = m->grid.map[ahead];
        }
        moved_brick *moved = (moved_brick *)(void *)(rows_of(m, spare) + (size_t)to * CELLS);
        if (!to)
            continue;
#pragma unroll
        for (int i = 0; i < SHARE_AXES; i++)
            if (team_lane() + i * TEAM < DIM)
                moved->key[team_lane() + i * TEAM] = key[i];
#pragma unroll
        for (int i = 0; i < SHARE_DIRECTIONS; i++) {
            int d = team_lane() + i * TEAM;

            if (d < DIRECTIONS) {
                moved->neighbor[d] = neighbor[i];
                moved->flow[d] = v.flow[i];
            }
        }
        if (team_lane() == 0) {
            moved->active = v.active;
            moved->rate = v.rate;
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
        const uint64_t active = moved->active;
        const double rate = moved->rate;
        const uint32_t was = moved->slot;
#if GBEES_BOUNDED
        const uint64_t inside = moved->inside;
#endif
        int32_t key[SHARE_AXES];
        uint32_t neighbor[SHARE_DIRECTIONS];
        uint64_t flow[SHARE_DIRECTIONS];

        view_key(moved->key, key);
#pragma unroll
        for (int i = 0; i < SHARE_DIRECTIONS; i++) {
            int d = team_lane() + i * TEAM;

            neighbor[i] = d < DIRECTIONS ? moved->neighbor[d] : 0;
            flow[i] = d < DIRECTIONS ? moved->flow[d] : 0;
        }
#pragma unroll
        for (int i = 0; i < SHARE_AXES; i++) {
            int k = team_lane() + i * TEAM;

            if (k < DIM) {
                m->grid.key[(size_t)slot * DIM + (size_t)k] = key[i];
                set_base_along(m, slot, k, key[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < SHARE_DIRECTIONS; i++) {
            int d = team_lane() + i * TEAM;

            if (d < DIRECTIONS) {
                m->grid.neighbor[d][slot] = neighbor[i];
                m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] = flow[i];
            }
        }
        if (team_lane() == 0) {
            m->grid.active[slot] = active;
            m->grid.rate[slot] = rate;
#if GBEES_BOUNDED
            m->grid.inside[slot] = inside;
#endif
            m->grid.map[slot] = was;
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

GBEES_NUM void view_row(const number *p, uint32_t slot, number *row)
{
#pragma unroll
    for (int i = 0; i < SHARE_CELLS; i++)
        row[i] = p[(size_t)slot * CELLS + (size_t)(team_lane() + i * TEAM)];
}

/* Rows to their places in the spare ones; counts the mass.  A row is read while the one before it is written, and
 * where it lies while that one is read. */
GBEES_NUM int64_t gather_rows_pass(const gbees_setup *m, uint32_t kept, int current, int spare)
{
    const uint32_t first = 1 + team_index(), stride = team_count();
    const number *p = rows_of(m, current);
    number *to = rows_of(m, spare), next[SHARE_CELLS];
    uint32_t from = first + stride <= kept ? m->grid.map[first + stride] : 0;
    int64_t mass = 0;

    if (first <= kept)
        view_row(p, m->grid.map[first], next);
    for (uint32_t slot = first; slot <= kept; slot += stride) {
        const uint32_t beyond = slot + 2 * stride;
        number row[SHARE_CELLS];

#pragma unroll
        for (int i = 0; i < SHARE_CELLS; i++)
            row[i] = next[i];
        view_row(p, from, next); /* the null row, behind the last one */
        from = beyond <= kept ? m->grid.map[beyond] : 0;
#pragma unroll
        for (int i = 0; i < SHARE_CELLS; i++) {
            to[(size_t)slot * CELLS + (size_t)(team_lane() + i * TEAM)] = row[i];
            mass += gbees_fixed((double)row[i]);
        }
    }
    return mass;
}

/* The table anew: one brick a lane. */
GBEES_NUM void enter_pass(const gbees_setup *m, uint32_t count)
{
    for (uint64_t slot = 1 + (uint64_t)team_index() * TEAM + (uint64_t)team_lane(); slot <= count;
         slot += (uint64_t)team_count() * TEAM)
        table_enter(m, (uint32_t)slot, key_near(m, (uint32_t)slot, -1, -1));
    team_sync(); /* lanes that were there first wait: apart, each would go through what comes next by itself */
}

/* The null row of the spare rows: what a moved_brick left there would be probability. */
GBEES_NUM void clear_null_row(const gbees_setup *m, int which)
{
    if (team_index() == 0)
        for (int cell = team_lane(); cell < CELLS; cell += TEAM)
            rows_of(m, which)[cell] = 0;
}

#endif
