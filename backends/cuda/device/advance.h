/* advance.h - time steps, as many as asked for, without a word to the host (paper, Fig. 1).
 *
 * All threads hold the clock and the sums that they need in registers, and compute the same; one, the clerk, writes
 * them down.  Between passes all blocks meet: n + 2 times a step.
 */
#ifndef GBEES_CUDA_ADVANCE_H
#define GBEES_CUDA_ADVANCE_H

#include "ctu.h"
#include "prune.h"
#include "sweep.h"

/* The clock and the sums, the same in every thread. */
typedef struct book {
    double time, elapsed, length, mass, step;
    uint64_t leg_step, steps;
    uint32_t count, linked;
    int current, last, stop;
    uint32_t where;
} book;

GBEES_NUM book open_book(const gbees_state *s)
{
    book b = {s->time,   s->elapsed, s->length, s->mass,   s->step, s->leg_step, s->steps, s->count,
              s->linked, s->current, 0,         STOP_DONE, 0};

    return b;
}

GBEES_NUM void close_book(gbees_state *s, const book *b)
{
    if (!is_clerk())
        return;
    s->time = b->time;
    s->elapsed = b->elapsed;
    s->mass = b->mass;
    s->step = b->step;
    s->leg_step = b->leg_step;
    s->steps = b->steps;
    s->count = b->count;
    s->linked = b->linked;
    s->current = b->current;
    s->stop = b->stop;
    s->where = b->where;
}

GBEES_NUM void meet(gbees_state *s)
{
    grid_barrier(&s->barrier);
}

GBEES_NUM gbees_step_sums *sums_of(gbees_state *s, uint64_t step)
{
    return &s->sums[step % 3];
}

GBEES_NUM void clear_sums(gbees_step_sums *sums)
{
    sums->rate_most = sums->rate_busy = 0;
    sums->mass = sums->clipped = sums->outflow = 0;
}

/* The spare rows that a prune and a count of marks may use. */
GBEES_NUM int spare_of(int current)
{
    return current ? 0 : 1;
}

/* The step for this state of the density, and whether it reaches the end of the interval. */
GBEES_NUM void choose_step(const gbees_setup *m, const gbees_step_sums *sums, book *b)
{
    double rest = b->length - b->elapsed;
    double most = double_of(fresh_64(&sums->rate_most)), busy = double_of(fresh_64(&sums->rate_busy));
    double rate = busy < 0.8 * most ? 0.8 * most : busy;

    b->step = m->time_step > 0 ? m->time_step : m->courant / rate; /* no flow: infinite */
    b->last = !(b->step < rest);
    if (b->last)
        b->step = rest;
    if (!b->last && b->elapsed + b->step == b->elapsed)
        b->stop = STOP_STEP;
}

/* ---- the passes of a step ------------------------------------------------------------------------------------ */

/* Neighbours and velocities of bricks made since; 0: no room for them all, or the drift is not finite. */
GBEES_NUM int settle_growth(const gbees_setup *m, gbees_state *s, book *b)
{
    b->count = fresh_32(&s->count);
    if (fresh_32(&s->far_axis)) {
        b->stop = STOP_FAR;
        b->where = fresh_32(&s->far_axis) - 1;
        return 0;
    }
    if (fresh_32(&s->overflow)) {
        b->stop = STOP_ROOM;
        return 0;
    }
    if (b->count > b->linked) {
        link_new(m, s, b->linked, b->count, b->current, b->time, sums_of(s, b->steps));
        b->linked = b->count;
        meet(s);
    }
    if (fresh_32(&s->bad)) {
        b->stop = STOP_DRIFT;
        b->where = fresh_32(&s->bad) - 1;
        return 0;
    }
    return 1;
}

GBEES_NUM void sweep_axis(const gbees_setup *m, gbees_state *s, const book *b, int axis)
{
    const number *p = rows_of(m, b->current);
    number *next = rows_of(m, spare_of(b->current));
    int64_t outflow = 0;

    switch (axis) {
#define SWEEP(j)                                                                                                     \
    case j:                                                                                                          \
        outflow = sweep_along(m, p, next, j, b->count, b->step, b->time + b->step / 2);                              \
        break
        SWEEP(0);
#if GBEES_N > 1
        SWEEP(1);
#endif
#if GBEES_N > 2
        SWEEP(2);
#endif
#if GBEES_N > 3
        SWEEP(3);
#endif
#if GBEES_N > 4
        SWEEP(4);
#endif
#if GBEES_N > 5
        SWEEP(5);
#endif
#if GBEES_N > 6
        SWEEP(6);
#endif
#if GBEES_N > 7
        SWEEP(7);
#endif
#undef SWEEP
    }
    outflow = team_add(outflow);
    if (team_lane() == 0 && outflow)
        atomic_add_64(&sums_of(s, b->steps)->outflow, outflow);
}

#if GBEES_SPLIT

/* One sweep along each axis: the order is reversed every step and rotated every second. */
GBEES_NUM void move_density(const gbees_setup *m, gbees_state *s, book *b)
{
    int turn = (int)(b->steps / 2 % DIM);

    for (int sweep = 0; sweep < DIM; sweep++) {
        sweep_axis(m, s, b, (turn + (b->steps % 2 ? DIM - 1 - sweep : sweep)) % DIM);
        b->current = spare_of(b->current);
        meet(s);
    }
}

#else

GBEES_NUM void move_density(const gbees_setup *m, gbees_state *s, book *b)
{
    const number *p = rows_of(m, b->current);
    int next = spare_of(b->current);

    transverse_pass(m, p, rows_of(m, 2), b->count, b->step, b->time + b->step / 2);
    meet(s);
    int64_t clipped =
        team_add(flux_pass(m, p, rows_of(m, 2), rows_of(m, next), b->count, b->step, b->time + b->step / 2));
    if (team_lane() == 0 && clipped)
        atomic_add_64(&sums_of(s, b->steps)->clipped, clipped);
    b->current = next;
    meet(s);
}

#endif

/* ---- prune ---------------------------------------------------------------------------------------------------- */

GBEES_NUM void count_updates(gbees_state *s, uint64_t needed)
{
    if (!is_clerk())
        return;
    s->cell_updates += s->needed_steps * 0.5 * ((double)s->needed_count + (double)needed);
    s->needed_steps = 0;
    s->needed_count = needed;
    s->max_cells = needed > s->max_cells ? needed : s->max_cells;
}

/* Marks for the density as it is; the numbers are in the state after a barrier. */
GBEES_NUM void mark_needed(const gbees_setup *m, gbees_state *s, const book *b)
{
    if (is_clerk()) {
        s->marked_above = s->marked_needed = 0;
        s->marked_mass = 0;
    }
    meet(s);
    mark_active_pass(m, s, b->count, b->current, m->threshold * b->mass);
    meet(s);
    mark_downwind_pass(m, b->count);
    meet(s);
    count_needed_pass(m, s, b->count);
}

GBEES_NUM void compact(const gbees_setup *m, gbees_state *s, book *b)
{
    const int spare = spare_of(b->current);
    uint32_t kept;

    scan_count_pass(m, b->count);
    meet(s);
    scan_offsets_pass(m, s);
    meet(s);
    kept = fresh_32(&s->scan);
    scan_places_pass(m, b->count);
    meet(s);
    map_pass(m, b->count);
    meet(s);
    gather_lists_pass(m, b->count, spare);
    clear_table_pass(m);
    meet(s);
    scatter_lists_pass(m, kept, spare);
    clear_null_row(m, spare);
    meet(s);
    int64_t mass = team_add(gather_rows_pass(m, kept, b->current, spare));
    if (team_lane() == 0 && mass)
        atomic_add_64(&s->marked_mass, mass);
    meet(s);
    b->count = b->linked = kept;
    b->current = spare;
    if (is_clerk())
        s->count = s->linked = kept;
}

GBEES_NUM void prune(const gbees_setup *m, gbees_state *s, book *b)
{
    double before = b->mass;

    mark_needed(m, s, b);
    compact(m, s, b);
    count_updates(s, fresh_64(&s->marked_needed));
    b->mass = fixed_value((int64_t)fresh_64((const uint64_t *)&s->marked_mass));
    if (is_clerk())
        s->pruned += before - b->mass;
    if (!(b->mass > 0))
        b->stop = STOP_EMPTY;
    meet(s); /* before anyone marks again */
}

/* ---- steps ------------------------------------------------------------------------------------------------------
 */

/* The clock and the ledger after a step; 0 if the density is lost. */
GBEES_NUM int settle_step(const gbees_setup *m, gbees_state *s, book *b)
{
    const gbees_step_sums *sums = sums_of(s, b->steps);
    double mass = fixed_value((int64_t)fresh_64((const uint64_t *)&sums->mass));
    double clipped = fixed_value((int64_t)fresh_64((const uint64_t *)&sums->clipped));
    double outflow = fixed_value((int64_t)fresh_64((const uint64_t *)&sums->outflow));

    if (!(mass > 0)) {
        b->stop = STOP_MASS;
        return 0;
    }
    if (is_clerk()) {
        s->clipped += clipped;
        s->outflow += m->sweeps ? outflow : b->mass + clipped - mass;
        s->needed_steps++;
        s->raw_cell_updates += (double)b->count * CELLS;
        s->max_count = b->count > s->max_count ? b->count : s->max_count;
    }
    b->mass = mass;
    b->time += b->step;
    b->elapsed = b->last ? b->length : b->elapsed + b->step;
    b->leg_step++;
    b->steps++;
    return 1;
}

GBEES_NUM void start_growth(const gbees_setup *m, gbees_state *s, const book *b)
{
    if (m->moving) {
        inspect_all(m, s, b->linked, b->time);
        meet(s);
    }
    mark_and_grow(m, s, b->linked, b->current, 0, 0, 1, NULL, sums_of(s, b->steps));
    meet(s);
}

GBEES_NUM void advance(const gbees_setup *m, gbees_state *s, book *b, uint64_t max_steps)
{
    int grown = 0;

    for (uint64_t done = 0; done < max_steps && b->elapsed < b->length && !b->stop;) {
        if (!grown)
            start_growth(m, s, b);
        if (!settle_growth(m, s, b))
            return;
        choose_step(m, sums_of(s, b->steps), b);
        if (b->stop)
            return;
        double threshold = m->threshold * b->mass;
        if (is_clerk())
            clear_sums(sums_of(s, b->steps + 1));
        move_density(m, s, b);
        int due = (b->leg_step + 1) % m->prune_interval == 0, full = b->count > m->grid.room;
        grown = !due && !full && !m->moving && !b->last && done + 1 < max_steps;
        mark_and_grow(m, s, b->count, b->current, threshold, 1, grown, sums_of(s, b->steps),
                      sums_of(s, b->steps + 1));
        meet(s);
        if (!settle_step(m, s, b))
            return;
        done++;
        if (due) {
            prune(m, s, b);
            if (!b->stop && m->stop_at_prunes)
                b->stop = STOP_PRUNED;
        }
        if (!b->stop && b->count > m->grid.room)
            b->stop = STOP_ROOM;
    }
}

#endif
