/* shrink.h - a prune, pass by pass, and the count of needed cells (paper, Algorithm 3). */
#ifndef GBEES_CUDA_SHRINK_H
#define GBEES_CUDA_SHRINK_H

#include "device/prune.h"
#include "device/step_state.h"

/* Marks the active and the needed cells.  Behind the next grid barrier the state has their numbers, marked_above and
 * marked_needed. */
GBEES_NUM void mark_needed(const gbees_setup *m, gbees_state *s, const step_state *b)
{
    if (is_grid_leader()) {
        s->marked_above = s->marked_needed = 0;
        s->marked_mass = 0;
    }
    mark_active_pass(m, 1, b->count, b->current, m->threshold * b->run.ledger.mass);
#if GBEES_SHARED
    if (b->ghosts)
        mark_active_pass(m, m->first_ghost, m->first_ghost + b->ghosts - 1, b->current,
                         m->threshold * b->run.ledger.mass);
#endif
    grid_barrier(m, s);
    mark_downwind_pass(m, s, b->count);
    grid_barrier(m, s);
    count_needed_pass(m, s, b->count);
}

/* Sets `map` to the new slots of the bricks that have needed cells, and to 0 for all others; s->scan to the number of
 * the former.
 */
GBEES_NUM void scan(const gbees_setup *m, gbees_state *s, uint32_t count)
{
    if (count <= SCAN_FEW) {
        scan_few_pass(m, s, count);
    } else {
        scan_count_pass(m, count);
        grid_barrier(m, s);
        scan_offsets_pass(m, s);
        grid_barrier(m, s);
        scan_places_pass(m, count);
        grid_barrier(m, s);
        map_pass(m, count);
    }
#if GBEES_SHARED
    drop_ghosts_pass(m, s->ghosts);
#endif
    grid_barrier(m, s);
}

/* Drops the bricks without needed cells and moves the others to slots 1 .. b->fresh. */
GBEES_NUM void compact(const gbees_setup *m, gbees_state *s, step_state *b)
{
    const int spare = spare_of(b->current);

    scan(m, s, b->count);
    gather_lists_pass(m, b->count, spare);
    clear_table_pass(m);
    if (is_block_leader())
        b->fresh = load_32(&s->scan);
    grid_barrier(m, s);
    scatter_lists_pass(m, b->fresh, spare);
    clear_null_row(m, spare);
    grid_barrier(m, s);
    enter_pass(m, b->fresh);
    int64_t mass = warp_add(gather_rows_pass(m, b->fresh, b->current, spare));
    if (warp_lane() == 0 && mass)
        atomic_add_64(&s->marked_mass, mass);
    grid_barrier(m, s);
}

/* Enters a prune into the ledger and the count of needed cells, and chooses the reason to stop. By a block's first
 * thread. */
GBEES_NUM void finish_prune(const gbees_setup *m, gbees_state *s, step_state *b)
{
    const double mass = gbees_fixed_value((int64_t)load_64((const uint64_t *)&s->marked_mass));

    gbees_ledger_prune(&b->run.ledger, mass);
    gbees_work_count(&b->run.work, load_64(&s->marked_needed));
    b->count = b->linked = b->fresh;
    b->current = spare_of(b->current);
    b->stop = !(mass > 0)                 ? STOP_EMPTY
              : m->stop_at_prunes         ? STOP_PRUNED
              : b->count > m->brick_limit ? STOP_CAPACITY
              : has_steps_left(b)         ? STOP_AGAIN
                                          : STOP_DONE;
}

/* A prune of all bricks. Called by all threads of all blocks. */
GBEES_NUM void prune(const gbees_setup *m, gbees_state *s, step_state *b)
{
    mark_needed(m, s, b);
    compact(m, s, b);
    if (is_block_leader())
        finish_prune(m, s, b);
}

#endif
