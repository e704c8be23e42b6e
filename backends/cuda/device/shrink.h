/* shrink.h - a prune, pass by pass, and how many cells are needed. */
#ifndef GBEES_CUDA_SHRINK_H
#define GBEES_CUDA_SHRINK_H

#include "device/advance.h"
#include "device/prune.h"

GBEES_NUM void count_updates(gbees_state *s, uint64_t needed)
{
    if (!is_grid_leader())
        return;
    s->cell_updates += s->needed_steps * 0.5 * ((double)s->needed_count + (double)needed);
    s->needed_steps = 0;
    s->needed_count = needed;
    s->max_cells = needed > s->max_cells ? needed : s->max_cells;
}

/* Marks for the density as it is; the numbers are in the state after a barrier. */
GBEES_NUM void mark_needed(const gbees_setup *m, gbees_state *s, const step_state *b)
{
    if (is_grid_leader()) {
        s->marked_above = s->marked_needed = 0;
        s->marked_mass = 0;
    }
    mark_active_pass(m, b->count, b->current, m->threshold * b->mass);
    grid_barrier(m, s);
    mark_downwind_pass(m, s, b->count);
    grid_barrier(m, s);
    count_needed_pass(m, s, b->count);
}

/* Bricks without needed cells go; the others move together. */
GBEES_NUM void compact(const gbees_setup *m, gbees_state *s, step_state *b)
{
    const int spare = spare_of(b->current);

    if (b->count <= SCAN_FEW) {
        scan_few_pass(m, s, b->count);
    } else {
        scan_count_pass(m, b->count);
        grid_barrier(m, s);
        scan_offsets_pass(m, s);
        grid_barrier(m, s);
        scan_places_pass(m, b->count);
        grid_barrier(m, s);
        map_pass(m, b->count);
    }
    grid_barrier(m, s);
    gather_lists_pass(m, b->count, spare);
    clear_table_pass(m);
    if (is_block_leader())
        b->fresh = load_32(&s->scan); /* bricks kept */
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

GBEES_NUM void prune(const gbees_setup *m, gbees_state *s, step_state *b)
{
    mark_needed(m, s, b);
    compact(m, s, b);
    if (is_block_leader()) {
        double mass = gbees_fixed_value((int64_t)load_64((const uint64_t *)&s->marked_mass));

        if (is_grid_leader()) {
            s->pruned += b->mass - mass;
            s->count = s->linked = b->fresh;
            s->needed_steps = b->needed_steps;
            count_updates(s, load_64(&s->marked_needed));
            b->needed_steps = s->needed_steps;
        }
        b->count = b->linked = b->fresh;
        b->current = spare_of(b->current);
        b->mass = mass;
        b->stop = !(mass > 0)                                      ? STOP_EMPTY
                  : m->stop_at_prunes                              ? STOP_PRUNED
                  : b->count > m->brick_limit                      ? STOP_CAPACITY
                  : b->steps < b->target && b->elapsed < b->length ? STOP_AGAIN
                                                                   : STOP_DONE;
    }
}

#endif
