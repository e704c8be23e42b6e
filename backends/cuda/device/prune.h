/* prune.h - the passes of a prune, which drops the bricks without needed cells: mark, scan, compact, rehash (paper,
 * Algorithm 3).  shrink.h calls them, and has their order.
 */
#ifndef GBEES_CUDA_PRUNE_H
#define GBEES_CUDA_PRUNE_H

#include "device/grow.h"

/* Adds cells to the needed ones of a brick; slot 0 is none. */
GBEES_NUM void add_needed(const gbees_setup *m, uint32_t slot, uint64_t set)
{
#if GBEES_BOUNDED
    set &= m->grid.inside[slot];
#endif
    if (slot && (set & ~load_64(&m->grid.needed[slot])))
        atomic_or_64(&m->grid.needed[slot], set); /* the order of ORs does not matter */
}

/* A warp's brick, and the cells of its face neighbours that are downwind of its active cells, in shared memory. */
typedef struct warp_needs {
    staged_brick brick;
    uint64_t beside[DIRECTIONS];
} warp_needs;

/* Marks the cells downwind of a brick's active cells as needed: those one step along an axis, and those one step
 * along each of two axes, in the brick and in its face and edge neighbours.  Each lane has some pairs of directions.
 * Cells of the brick and of its face neighbours, to which many pairs lead, are collected first, and added to global
 * memory at the end. */
GBEES_NUM void mark_downwind(const gbees_setup *m, uint32_t slot, uint64_t active, warp_needs *needs)
{
    const staged_brick *brick = &needs->brick;
    uint64_t own = active, corner[SLICE_PAIRS];
    uint32_t edge[SLICE_PAIRS];

#pragma unroll
    for (int i = 0; i < SLICE_PAIRS; i++) {
        int d, f;

        corner[i] = 0;
        edge[i] = 0;
        if (!pair_directions(warp_lane() + i * WARP_SIZE, &d, &f))
            continue;
        const uint64_t from = gbees_downwind_from(brick->flow[d], brick->flow[f]);
        const gbees_downwind to = gbees_downwind_of(&m->shape, from, d, f);

        own |= to.own;
        block_or_64(&needs->beside[d], to.beside_d);
        block_or_64(&needs->beside[f], to.beside_f);
        corner[i] = to.beyond;
        if (corner[i] && brick->neighbor[d])
            edge[i] = m->grid.neighbor[f][brick->neighbor[d]];
    }
    own = warp_or(own);
    warp_sync();
    if (warp_lane() == 0)
        add_needed(m, slot, own);
    for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
        add_needed(m, brick->neighbor[d], needs->beside[d]);
#pragma unroll
    for (int i = 0; i < SLICE_PAIRS; i++)
        add_needed(m, edge[i], corner[i]);
}

/* Marks the cells with P >= threshold as active, and no cell as needed, of the bricks first .. last. */
GBEES_NUM void mark_active_pass(const gbees_setup *m, uint32_t first, uint32_t last, int current, double threshold)
{
    number *p = rows_of(m, current);
    const number enough = least_above(threshold);
    int64_t mass = 0;

    for (uint32_t slot = first + warp_index(); slot <= last; slot += warp_count()) {
        brick_view v;

        view_cells(p, slot, &v);
        uint64_t active = mark_brick(p, slot, &v, enough, &mass);
        if (warp_lane() == 0) {
            m->grid.active[slot] = active;
            m->grid.needed[slot] = 0;
        }
    }
}

/* Marks the needed cells of the bricks first .. last; returns the number of active cells of this warp's. */
GBEES_NUM int64_t mark_downwind_of(const gbees_setup *m, uint32_t first, uint32_t last)
{
    BLOCK_LOCAL warp_needs all[BLOCK_WARPS];
    warp_needs *needs = &all[block_warp()];
    int64_t above = 0;
    brick_view next;

    for (uint32_t slot = first + warp_index(), ahead = slot; slot <= last; slot = ahead) {
        brick_view v = next;

        if (slot == first + warp_index()) {
            view_marks(m, slot, &v);
            view_flow(m, slot, &v);
        }
        ahead = slot + warp_count();
        if (ahead <= last) {
            view_marks(m, ahead, &next);
            view_flow(m, ahead, &next);
        }
        above += count_bits(v.active);
        if (v.active) {
            warp_sync(); /* all lanes have read the brick before */
            for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
                needs->beside[d] = 0;
            stage_flow(m, &v, v.active, 0, &needs->brick);
            mark_downwind(m, slot, v.active, needs);
        }
    }
    return above;
}

/* Marks the needed cells of all bricks; adds the number of active cells to marked_above, without those of ghosts. */
GBEES_NUM void mark_downwind_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    const int64_t above = mark_downwind_of(m, 1, count);

    if (warp_lane() == 0 && above)
        atomic_add_64((int64_t *)&s->marked_above, above);
#if GBEES_SHARED
    if (s->ghosts) {
        block_sync(); /* the warps' shared memory is used again */
        (void)mark_downwind_of(m, m->first_ghost, m->first_ghost + s->ghosts - 1);
    }
#endif
}

/* Adds the number of needed cells to marked_needed. */
GBEES_NUM void count_needed_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    int64_t needed = 0;

    for (uint32_t slot = 1 + warp_index() * WARP_SIZE + (uint32_t)warp_lane(); slot <= count;
         slot += warp_count() * WARP_SIZE)
        needed += count_bits(m->grid.needed[slot]);
    needed = warp_add(needed);
    if (warp_lane() == 0 && needed)
        atomic_add_64((int64_t *)&s->marked_needed, needed);
}

/* ---- scan: the new slots of kept bricks, in the order of the old ones ----
 *
 * A prefix sum over the bricks that have needed cells.  Each warp has a chunk of bricks: it counts those that are
 * kept (scan_count_pass), the first warp adds up the counts (scan_offsets_pass), and each warp numbers its own ones
 * (scan_places_pass).
 */

/* Bricks of a warp's chunk: a multiple of the lanes. */
GBEES_NUM uint32_t scan_chunk(uint32_t count)
{
    uint32_t bricks = (count + warp_count() - 1) / warp_count();

    return (bricks + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
}

/* Counts the kept bricks of each warp's chunk, in map[warp].  (`map` has more entries than there are warps: see the
 * host's smallest capacity.) */
GBEES_NUM void scan_count_pass(const gbees_setup *m, uint32_t count)
{
    uint32_t chunk = scan_chunk(count), from = 1 + warp_index() * chunk, kept = 0;

    for (uint32_t slot = from; slot < from + chunk && slot <= count; slot += WARP_SIZE) {
        uint32_t own = slot + (uint32_t)warp_lane();

        kept += (uint32_t)count_bits(warp_ballot(own <= count && m->grid.needed[own <= count ? own : 0] != 0));
    }
    if (warp_lane() == 0)
        m->grid.map[warp_index()] = kept;
}

/* The first warp replaces each count by the sum of those before it; the sum of all is s->scan. */
GBEES_NUM void scan_offsets_pass(const gbees_setup *m, gbees_state *s)
{
    uint32_t total = 0;

    if (warp_index() != 0)
        return;
    for (uint32_t first = 0; first < warp_count(); first += WARP_SIZE) {
        uint32_t at = first + (uint32_t)warp_lane(), own = at < warp_count() ? m->grid.map[at] : 0, sum = own;

        for (uint32_t distance = 1; distance < WARP_SIZE; distance *= 2) {
            uint32_t other = warp_shuffle(sum, (uint32_t)warp_lane() - distance);

            sum += distance <= (uint32_t)warp_lane() ? other : 0;
        }
        if (at < warp_count())
            m->grid.map[at] = total + sum - own;
        total += warp_shuffle(sum, WARP_SIZE - 1);
    }
    if (warp_lane() == 0)
        s->scan = total;
}

/* What the grid's arrays but P have of a brick, in the spare rows while it moves; at most as large as a row of cells.
 */
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

/* Numbers the kept bricks of each warp's chunk.  Stores their new slots, 0 for bricks that are dropped, in `needed`,
 * since map[warp] is still read. */
GBEES_NUM void scan_places_pass(const gbees_setup *m, uint32_t count)
{
    uint32_t chunk = scan_chunk(count), from = 1 + warp_index() * chunk, place = m->grid.map[warp_index()];

    for (uint32_t slot = from; slot < from + chunk && slot <= count; slot += WARP_SIZE) {
        uint32_t own = slot + (uint32_t)warp_lane();
        int keep = own <= count && m->grid.needed[own <= count ? own : 0] != 0;
        uint32_t kept = warp_ballot(keep), before = kept & ((1u << warp_lane()) - 1);

        if (own <= count)
            m->grid.needed[own] = keep ? place + (uint32_t)count_bits(before) + 1 : 0;
        place += (uint32_t)count_bits(kept);
    }
}

/* Up to so many bricks the scan is one pass, in which each warp counts all kept bricks before its own. */
enum { SCAN_FEW = 2048 };

/* The scan in one pass: sets `map` and s->scan. */
GBEES_NUM void scan_few_pass(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    for (uint32_t first = warp_index() * WARP_SIZE; first <= count; first += warp_count() * WARP_SIZE) {
        const uint32_t own = first + (uint32_t)warp_lane();
        uint32_t before = 0, keep = 0;

#pragma unroll 4
        for (uint32_t slot = (uint32_t)warp_lane(); slot < first; slot += WARP_SIZE)
            before += m->grid.needed[slot] != 0; /* 0 for the null brick */
        keep = own <= count && m->grid.needed[own] != 0;
        const uint32_t kept = warp_ballot((int)keep), lower = kept & ((1u << warp_lane()) - 1);
        before = (uint32_t)warp_add((int64_t)before);
        if (own <= count)
            m->grid.map[own] = keep ? before + (uint32_t)count_bits(lower) + 1 : 0;
        if (first + WARP_SIZE > count && warp_lane() == 0)
            s->scan = before + (uint32_t)count_bits(kept);
    }
}

/* Copies the new slots from `needed` to `map`. */
GBEES_NUM void map_pass(const gbees_setup *m, uint32_t count)
{
    for (uint32_t slot = warp_index() * WARP_SIZE + (uint32_t)warp_lane(); slot <= count;
         slot += warp_count() * WARP_SIZE)
        m->grid.map[slot] = slot ? (uint32_t)m->grid.needed[slot] : 0;
}

/* Sets the new slots of all ghosts to 0: a prune drops them. */
GBEES_NUM void drop_ghosts_pass(const gbees_setup *m, uint32_t ghosts)
{
    for (uint32_t k = warp_index() * WARP_SIZE + (uint32_t)warp_lane(); k < ghosts; k += warp_count() * WARP_SIZE)
        m->grid.map[m->first_ghost + k] = 0;
}

/* ---- compaction ---- */

/* Stores what a warp has read of a kept brick in *moved; neighbor: the new slots of its neighbours in the lane's
 * directions. */
GBEES_NUM void store_moved(const gbees_setup *m, uint32_t slot, const brick_view *v, const int32_t *key,
                           const uint32_t *neighbor, moved_brick *moved)
{
#pragma unroll
    for (int i = 0; i < SLICE_AXES; i++)
        if (warp_lane() + i * WARP_SIZE < DIM)
            moved->key[warp_lane() + i * WARP_SIZE] = key[i];
#pragma unroll
    for (int i = 0; i < SLICE_DIRECTIONS; i++) {
        int d = warp_lane() + i * WARP_SIZE;

        if (d < DIRECTIONS) {
            moved->neighbor[d] = neighbor[i];
            moved->flow[d] = v->flow[i];
        }
    }
    if (warp_lane() == 0) {
        moved->active = v->active;
        moved->rate = v->rate;
#if GBEES_BOUNDED
        moved->inside = m->grid.inside[slot];
#else
        (void)m;
#endif
        moved->slot = slot;
    }
}

/* Copies what the grid's arrays but P have of kept bricks to the spare rows, at the new slots of the bricks and with
 * those of their neighbours. All of a brick is read before anything is written, and the next brick is prefetched. */
GBEES_NUM void gather_lists_pass(const gbees_setup *m, uint32_t count, int spare)
{
    uint32_t to = 0, to_ahead = 0;
    brick_view v, next;

    for (uint32_t slot = 1 + warp_index(), ahead = slot; slot <= count; slot = ahead) {
        int32_t key[SLICE_AXES];
        uint32_t neighbor[SLICE_DIRECTIONS];

        if (slot == 1 + warp_index()) {
            view_marks(m, slot, &next);
            view_flow(m, slot, &next);
            to_ahead = m->grid.map[slot];
        }
        v = next;
        to = to_ahead;
        view_key(m->grid.key + (size_t)slot * DIM, key);
#pragma unroll
        for (int i = 0; i < SLICE_DIRECTIONS; i++)
            neighbor[i] = m->grid.map[v.neighbor[i]];
        ahead = slot + warp_count();
        if (ahead <= count) {
            view_marks(m, ahead, &next);
            view_flow(m, ahead, &next);
            to_ahead = m->grid.map[ahead];
        }
#if GBEES_ABSORBS
        if (to && warp_lane() == 0) /* nobody needs these marks any more */
            m->grid.needed[to] = m->grid.outside[slot];
#endif
        if (to)
            store_moved(m, slot, &v, key, neighbor, (moved_brick *)(void *)(rows_of(m, spare) + (size_t)to * CELLS));
    }
}

/* Copies these from the spare rows to the grid's arrays, and sets `map` to the old slots of the bricks. */
GBEES_NUM void scatter_lists_pass(const gbees_setup *m, uint32_t kept, int spare)
{
    for (uint32_t slot = 1 + warp_index(); slot <= kept; slot += warp_count()) {
        const moved_brick *moved = (const moved_brick *)(const void *)(rows_of(m, spare) + (size_t)slot * CELLS);
        const uint64_t active = moved->active;
        const double rate = moved->rate;
        const uint32_t was = moved->slot;
#if GBEES_BOUNDED
        const uint64_t inside = moved->inside;
#endif
        int32_t key[SLICE_AXES];
        uint32_t neighbor[SLICE_DIRECTIONS];
        uint64_t flow[SLICE_DIRECTIONS];

        view_key(moved->key, key);
#pragma unroll
        for (int i = 0; i < SLICE_DIRECTIONS; i++) {
            int d = warp_lane() + i * WARP_SIZE;

            neighbor[i] = d < DIRECTIONS ? moved->neighbor[d] : 0;
            flow[i] = d < DIRECTIONS ? moved->flow[d] : 0;
        }
#pragma unroll
        for (int i = 0; i < SLICE_AXES; i++) {
            int k = warp_lane() + i * WARP_SIZE;

            if (k < DIM) {
                m->grid.key[(size_t)slot * DIM + (size_t)k] = key[i];
                set_base_along(m, slot, k, key[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < SLICE_DIRECTIONS; i++) {
            int d = warp_lane() + i * WARP_SIZE;

            if (d < DIRECTIONS) {
                m->grid.neighbor[d][slot] = neighbor[i];
                m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] = flow[i];
            }
        }
        if (warp_lane() == 0) {
            m->grid.active[slot] = active;
            m->grid.rate[slot] = rate;
#if GBEES_BOUNDED
            m->grid.inside[slot] = inside;
#endif
#if GBEES_ABSORBS
            m->grid.outside[slot] = m->grid.needed[slot];
#endif
            m->grid.map[slot] = was;
        }
#if GBEES_BOUNDED
        clear_blocked(m, slot);
#endif
    }
}

/* Empties the hash table. */
GBEES_NUM void clear_table_pass(const gbees_setup *m)
{
    for (uint64_t at = (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane(); at <= m->grid.table_mask;
         at += (uint64_t)warp_count() * WARP_SIZE)
        m->grid.table[at] = TABLE_EMPTY;
}

/* Sets row[SLICE_CELLS] to the lane's cells of a brick. */
GBEES_NUM void view_row(const number *p, uint32_t slot, number *row)
{
#pragma unroll
    for (int i = 0; i < SLICE_CELLS; i++)
        row[i] = p[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)];
}

/* Copies P of the kept bricks to their new slots in the spare rows; returns the sum of the lane's cells, in units of
 * 2^-60.  A row is prefetched while the one before it is written, and its old slot before that. */
GBEES_NUM int64_t gather_rows_pass(const gbees_setup *m, uint32_t kept, int current, int spare)
{
    const uint32_t first = 1 + warp_index(), stride = warp_count();
    const number *p = rows_of(m, current);
    number *to = rows_of(m, spare), next[SLICE_CELLS];
    uint32_t from = first + stride <= kept ? m->grid.map[first + stride] : 0;
    int64_t mass = 0;

    if (first <= kept)
        view_row(p, m->grid.map[first], next);
    for (uint32_t slot = first; slot <= kept; slot += stride) {
        const uint32_t beyond = slot + 2 * stride;
        number row[SLICE_CELLS];

#pragma unroll
        for (int i = 0; i < SLICE_CELLS; i++)
            row[i] = next[i];
        view_row(p, from, next); /* behind the last one the null row */
        from = beyond <= kept ? m->grid.map[beyond] : 0;
#pragma unroll
        for (int i = 0; i < SLICE_CELLS; i++) {
            to[(size_t)slot * CELLS + (size_t)(warp_lane() + i * WARP_SIZE)] = row[i];
            mass += gbees_fixed((double)row[i]);
        }
    }
    return mass;
}

/* Enters bricks 1 .. count into the hash table, which is empty: a lane a brick. */
GBEES_NUM void enter_pass(const gbees_setup *m, uint32_t count)
{
    for (uint64_t slot = 1 + (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane(); slot <= count;
         slot += (uint64_t)warp_count() * WARP_SIZE)
        table_enter(m, (uint32_t)slot, key_near(m, (uint32_t)slot, -1, -1));
    warp_sync(); /* reconverges the warp: otherwise the rest executes divergently */
}

/* Sets the null brick's cells in rows `which` to 0: a moved_brick may have overwritten them. */
GBEES_NUM void clear_null_row(const gbees_setup *m, int which)
{
    if (warp_index() == 0)
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            rows_of(m, which)[cell] = 0;
}

#endif
