/* advance.h - time steps, as many as asked for, without a word to the host (paper, Fig. 1).
 *
 * Moving the density is most of the work. On a large grid it is done by a kernel that does nothing else,
 * gbees_move(): that needs fewer registers, so that more of its threads are there at once and wait for memory side by
 * side.  Prunes are a kernel of their own, too: they come every few steps, and are compiled beside these.
 *
 * Each block holds the clock and the sums that its passes need in its own memory; its first thread computes what is
 * one number for all, the same in every block, and one of these, the clerk, writes the books.  Between passes all
 * blocks meet: n + 2 times a step.
 */
#ifndef GBEES_CUDA_ADVANCE_H
#define GBEES_CUDA_ADVANCE_H

#include "ctu_lines.h"
#include "diffusion.h"
#include "grow.h"
#include "pencil.h"

/* What all blocks have written, read at once where they have just met: one after the other costs as many waits. By a
 * block's first thread, for itself. */
typedef struct glance {
    uint64_t most, busy; /* rates */
    int64_t mass, clipped, outflow;
    uint32_t count, far_axis, overflow, bad;
} glance;

/* The clock and the sums, the same in every block. Written by a block's first thread, between block_sync()s. */
typedef struct book {
    double time, elapsed, length, mass, step, threshold;
    number lambda[DIM]; /* step / width */
    uint64_t leg_step, steps, target;
    uint32_t count, linked, fresh;
    uint32_t phase; /* steps since one after which a prune was due */
    int current, last, stop, due, grown;
    int moved; /* the density has been, by gbees_move() */
    uint32_t where;
    glance seen;
    double clipped, outflow, needed_steps, last_step,
        raw_cell_updates; /* the clerk's: the state's, until it closes */
#if GBEES_DIFFUSION
    double noise_steps; /* explicit ones in this step */
#endif
} book;

/* By all of a block: an axis a lane, as a division takes long. */
GBEES_NUM void set_courant(const gbees_setup *m, book *b)
{
    if (block_team() == 0)
        for (int j = team_lane(); j < DIM; j += TEAM)
            b->lambda[j] = (number)(b->step / m->width[j]);
    block_sync();
}

/* The spare rows that a prune and a count of marks may use. */
GBEES_NUM int spare_of(int current)
{
    return current ? 0 : 1;
}

/* Passes that move the density: a sweep along each axis, or what crosses corners and then the fluxes; ctu-positive
 * has one between these. */
enum { MOVES = GBEES_SPLIT ? DIM : 2 + GBEES_SHARED };

/* Which rows hold the density after so many of them: each sweep is from one array to the other. */
GBEES_NUM int rows_after(int current, int passes)
{
    int changes = GBEES_SPLIT ? passes : passes / MOVES;

    return changes % 2 ? spare_of(current) : current;
}

GBEES_NUM void open_book(book *b, const gbees_state *s, uint64_t target)
{
    if (leads_block()) {
        b->time = s->time;
        b->elapsed = s->elapsed;
        b->length = s->length;
        b->mass = s->mass;
        b->step = s->step;
        b->leg_step = s->leg_step;
        b->phase = s->phase;
        b->steps = s->steps;
        b->target = target;
        b->moved = s->stop == STOP_MOVE;
        b->count = s->count;
        b->linked = s->linked;
        b->current = b->moved ? rows_after(s->current, MOVES) : s->current;
        b->threshold = s->step_threshold;
        b->last = s->step_is_last;
        b->due = s->step_is_due;
        b->grown = b->moved && s->step_is_grown;
        b->stop = STOP_DONE;
        b->where = 0;
        b->clipped = s->clipped;
        b->outflow = s->outflow;
        b->needed_steps = s->needed_steps;
        b->last_step = s->last_step;
        b->raw_cell_updates = s->raw_cell_updates;
    }
    block_sync();
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
    s->phase = b->phase;
    s->steps = b->steps;
    s->count = b->count;
    s->linked = b->linked;
    s->current = b->current;
    s->step_threshold = b->threshold;
    s->step_is_last = b->last;
    s->step_is_due = b->due;
    s->step_is_grown = b->grown;
    s->stop = b->stop;
    s->where = b->where;
    s->clipped = b->clipped;
    s->outflow = b->outflow;
    s->needed_steps = b->needed_steps;
    s->last_step = b->last_step;
    s->raw_cell_updates = b->raw_cell_updates;
}

/* All blocks. */
GBEES_NUM void meet(const gbees_setup *m, gbees_state *s)
{
    if (m->clustered)
        cluster_barrier();
    else
        grid_barrier(&s->barrier[m->barrier]);
}

GBEES_NUM gbees_step_sums *sums_of(gbees_state *s, uint64_t step)
{
    return &s->sums[step % 3];
}

GBEES_NUM void clear_sums(gbees_step_sums *sums)
{
    sums->rate_most = sums->rate_busy = sums->noise_most = 0;
    sums->mass = sums->clipped = sums->outflow = 0;
}

/* ---- the passes of a step ------------------------------------------------------------------------------------ */

/* The rates for the next step, which new bricks change. */
GBEES_NUM void look_at_rates(const gbees_state *s, const gbees_step_sums *rates, glance *seen)
{
    uint64_t most = fresh_64(&rates->rate_most), busy = fresh_64(&rates->rate_busy);
    uint32_t bad = fresh_32(&s->bad);

    seen->most = most;
    seen->busy = busy;
    seen->bad = bad;
}

/* `moved`: a step has been, whose sums are there. */
GBEES_NUM void look_around(gbees_state *s, book *b, int moved)
{
    const gbees_step_sums *sums = sums_of(s, b->steps), *rates = sums_of(s, b->steps + (uint64_t)moved);
    uint64_t most = fresh_64(&rates->rate_most), busy = fresh_64(&rates->rate_busy);
    uint64_t mass = fresh_64((const uint64_t *)&sums->mass), clipped = fresh_64((const uint64_t *)&sums->clipped);
    uint64_t outflow = fresh_64((const uint64_t *)&sums->outflow);
    uint32_t count = fresh_32(&s->count), far_axis = fresh_32(&s->far_axis), overflow = fresh_32(&s->overflow);
    uint32_t bad = fresh_32(&s->bad);

    b->seen.most = most;
    b->seen.busy = busy;
    b->seen.mass = (int64_t)mass;
    b->seen.clipped = (int64_t)clipped;
    b->seen.outflow = (int64_t)outflow;
    b->seen.count = count;
    b->seen.far_axis = far_axis;
    b->seen.overflow = overflow;
    b->seen.bad = bad;
}

/* What the growth has made, or could not make. */
GBEES_NUM void read_growth(book *b)
{
    b->count = b->seen.count;
    b->fresh = b->count - b->linked;
    if (b->seen.far_axis) {
        b->stop = STOP_FAR;
        b->where = b->seen.far_axis - 1;
    } else if (b->seen.overflow) {
        b->stop = STOP_ROOM;
    }
}

/* The step for this state of the density, and whether it reaches the end of the interval. */
GBEES_NUM void choose_step(const gbees_setup *m, book *b)
{
    double most = double_of(b->seen.most), busy = double_of(b->seen.busy), rest = b->length - b->elapsed;
    double rate = busy < 0.8 * most ? 0.8 * most : busy;

    b->step = m->time_step > 0 ? m->time_step : m->courant / rate; /* no flow: infinite */
    b->last = !(b->step < rest);
    if (b->last)
        b->step = rest;
    if (b->seen.bad) {
        b->stop = STOP_DRIFT;
        b->where = b->seen.bad - 1;
    } else if (!b->last && b->elapsed + b->step == b->elapsed) {
        b->stop = STOP_STEP;
    }
    b->threshold = m->threshold * b->mass;
    b->due = b->phase + 1 == m->prune_interval;
    b->grown = !b->due && b->count <= m->room && !GBEES_MOVING && !b->last && b->steps + 1 < b->target;
}

/* Neighbours and velocities of bricks made since, and the step; 0: it can't be taken. */
GBEES_NUM int settle_growth(const gbees_setup *m, gbees_state *s, book *b)
{
    if (leads_block())
        read_growth(b);
    block_sync();
    if (b->stop)
        return 0;
    if (b->fresh) {
        link_new(m, s, b->linked, b->count, b->current, b->time, sums_of(s, b->steps));
        meet(m, s);
    } else {
        block_sync(); /* all have read the book before it is written again */
    }
    if (leads_block()) {
        if (b->fresh)
            look_at_rates(s, sums_of(s, b->steps), &b->seen);
        b->linked = b->count;
        choose_step(m, b);
    }
    if (is_clerk())
        clear_sums(sums_of(s, b->steps + 1));
    block_sync();
    set_courant(m, b);
    return !b->stop;
}

GBEES_NUM void sweep_axis(const gbees_setup *m, gbees_state *s, const book *b, int axis, uint32_t *taken)
{
    const number *p = rows_of(m, b->current);
    number *next = rows_of(m, spare_of(b->current));
    BLOCK_LOCAL int64_t outflows[BLOCK_TEAMS][TEAM];
    int64_t *outflow = &outflows[block_team()][team_lane()];

    *outflow = 0;
    switch (axis) {
#define SWEEP(j)                                                                                                     \
    case j:                                                                                                          \
        if (HAS_PENCILS && (GBEES_PART || m->apart))                                                                 \
            sweep_pencils(m, p, next, j, b->count, b->lambda[j], b->time + b->step / 2, taken, outflow);             \
        else                                                                                                         \
            sweep_along(m, p, next, j, b->count, b->lambda[j], b->time + b->step / 2, outflow);                      \
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
    if (!team_vote(*outflow != 0)) /* most often */
        return;
    int64_t sum = team_add(*outflow);
    if (team_lane() == 0)
        atomic_add_64(&sums_of(s, b->steps)->outflow, sum);
}

#if GBEES_SPLIT

/* One sweep along each axis: the order is reversed every step and rotated every second. */
GBEES_NUM void move_pass(const gbees_setup *m, gbees_state *s, const book *b, int pass)
{
    int turn = (int)(b->steps / 2 % DIM);

    sweep_axis(m, s, b, (turn + (b->steps % 2 ? DIM - 1 - pass : pass)) % DIM, &s->taken[pass]);
}

#else

GBEES_NUM void move_pass(const gbees_setup *m, gbees_state *s, const book *b, int pass)
{
    const double middle = b->time + b->step / 2;

    if (pass == 0) {
        make_transverse(m, rows_of(m, b->current), rows_of(m, 2), b->count, b->lambda, middle);
        return;
    }
#if GBEES_SHARED
    if (pass == 1) {
        share_pass(m, rows_of(m, b->current), rows_of(m, 2), rows_of(m, 3), b->count, b->lambda, middle);
        return;
    }
#endif
    int64_t clipped = team_add(move_fluxes(m, rows_of(m, b->current), rows_of(m, 2), rows_of(m, 3),
                                           rows_of(m, spare_of(b->current)), b->count, b->lambda, middle));
    if (team_lane() == 0 && clipped)
        atomic_add_64(&sums_of(s, b->steps)->clipped, clipped);
}

#endif

GBEES_NUM void move_density(const gbees_setup *m, gbees_state *s, book *b)
{
#if !GBEES_SPLIT
#pragma unroll
#endif
    for (int pass = 0; pass < MOVES; pass++) {
        move_pass(m, s, b, pass);
        meet(m, s);
        if (GBEES_SPLIT || pass == MOVES - 1) {
            if (leads_block())
                b->current = spare_of(b->current);
            block_sync();
        }
    }
}

#if GBEES_DIFFUSION

/* Into how many explicit steps this one is cut; 0: Q can't be. */
GBEES_NUM int choose_noise_steps(const gbees_setup *m, gbees_state *s, book *b)
{
    noise_rates_pass(m, s, b->count, b->time + b->step / 2, sums_of(s, b->steps));
    meet(m, s);
    if (leads_block()) {
        uint64_t most = fresh_64(&sums_of(s, b->steps)->noise_most);
        uint32_t bad = fresh_32(&s->bad);

        b->noise_steps = gbees_diffusion_steps(b->step, double_of(most));
        if (bad) {
            b->stop = STOP_NOISE;
            b->where = bad - 1;
        }
    }
    block_sync();
    return !b->stop;
}

/* Heun's steps: to the spare rows, and from there into the density's own. */
GBEES_NUM void diffuse(const gbees_setup *m, gbees_state *s, const book *b)
{
    const double step = b->step / b->noise_steps, time = b->time + b->step / 2;
    number *p = rows_of(m, b->current), *next = rows_of(m, spare_of(b->current));

    for (double k = 0; k < b->noise_steps; k++)
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            int64_t lost = team_add(diffuse_pass(m, half ? next : p, half ? p : next, half, b->count, step, time));

            if (team_lane() == 0 && lost)
                atomic_add_64(&sums_of(s, b->steps)->outflow, lost);
            meet(m, s);
        }
}

/* Drift, then diffusion; in the next step the other way round. */
GBEES_NUM int take_step(const gbees_setup *m, gbees_state *s, book *b)
{
    if (!choose_noise_steps(m, s, b))
        return 0;
#pragma unroll 1
    for (int part = 0; part < 2; part++) {
        if ((part ^ (int)(b->steps % 2)) == 0)
            move_density(m, s, b);
        else
            diffuse(m, s, b);
    }
    return 1;
}

#else

GBEES_NUM int take_step(const gbees_setup *m, gbees_state *s, book *b)
{
    move_density(m, s, b);
    return 1;
}

#endif

/* ---- steps ------------------------------------------------------------------------------------------------------
 */

/* The clock and the ledger after a step. */
GBEES_NUM void settle_step(const gbees_setup *m, book *b)
{
    double mass = gbees_fixed_value(b->seen.mass);

    if (!(mass > 0)) {
        b->stop = STOP_MASS;
        return;
    }
    if (is_clerk()) {
        double clipped = gbees_fixed_value(b->seen.clipped), outflow = gbees_fixed_value(b->seen.outflow);

        b->clipped += clipped;
        b->outflow += m->sweeps ? outflow : b->mass + clipped - mass;
        b->needed_steps++;
        b->last_step = b->step;
        b->raw_cell_updates += (double)b->linked * CELLS; /* gbees_mark() may have made more for the next step */
    }
    b->mass = mass;
    b->time += b->step;
    b->elapsed = b->last ? b->length : b->elapsed + b->step;
    b->leg_step++;
    b->phase = b->due ? 0 : b->phase + 1;
    b->steps++;
}

/* After a step; 0: it was the last for now. */
GBEES_NUM int finish_step(const gbees_setup *m, book *b)
{
    if (leads_block())
        settle_step(m, b);
    block_sync();
    /* All threads come to the same; the book is written when all have read it. */
    int stop = b->stop ? b->stop : b->due ? STOP_PRUNE : b->count > m->room ? STOP_ROOM : STOP_DONE;
    int go_on = !stop && b->steps < b->target && b->elapsed < b->length;
    block_sync();
    if (leads_block())
        b->stop = stop;
    return go_on;
}

/* What comes first after a step, or before it.  Bricks in use are all linked then; their count grows meanwhile. */
GBEES_NUM void mark_pass(const gbees_setup *m, gbees_state *s, const book *b, int moved)
{
    mark_and_grow(m, s, b->linked, b->current, b->threshold, moved, moved ? b->grown : 1, sums_of(s, b->steps),
                  sums_of(s, b->steps + (uint64_t)moved));
}

/* Where nothing comes between, marking the cells after a step and growing the grid for the next are one pass. */
GBEES_NUM void advance(const gbees_setup *m, gbees_state *s, book *b)
{
    int moved = b->moved;

    for (;;) {
#if GBEES_MOVING
        if (!moved) { /* as it is at a step's beginning */
            inspect_all(m, s, b->linked, b->time);
            meet(m, s);
        }
#endif
        if (!moved || !m->apart) {
            mark_pass(m, s, b, moved);
            meet(m, s);
        }
        if (leads_block())
            look_around(s, b, moved);
        if (moved) {
            if (!finish_step(m, b))
                return;
            moved = b->grown;
            if (!moved)
                continue;
        }
        if (!settle_growth(m, s, b))
            return;
        if (GBEES_APART || m->apart) {
            block_sync(); /* all have seen that nothing stops it */
            if (leads_block())
                b->stop = STOP_MOVE;
            if (is_clerk())
                for (int pass = 0; pass < DIM; pass++)
                    s->taken[pass] = 0;
            return;
        }
        if (!take_step(m, s, b))
            return;
        moved = 1;
    }
}

#endif
