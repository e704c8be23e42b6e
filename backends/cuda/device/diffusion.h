/* diffusion.h - process noise: explicit steps of diffusion, as a gather, a lane a cell.
 *
 * The mass that a cell gives to a neighbour is computed from the cell's own Q, once for the cell and once for the
 * neighbour: it has the same bits both times, so that mass is conserved.  Mass given to absent cells is outflow.
 */
#ifndef GBEES_CUDA_DIFFUSION_H
#define GBEES_CUDA_DIFFUSION_H

#include "device/inspect.h"
#include "device/step_state.h"

#if GBEES_DIFFUSION

/* Returns the slot of the brick in which a cell's neighbour `shift` is, 0 if it is absent, and sets *beside to the
 * cell in it. */
GBEES_NUM uint32_t noise_beside(const gbees_setup *m, uint32_t slot, int cell, const noise_shift *shift, int *beside)
{
    const int d = 2 * shift->axis + (shift->step > 0), f = 2 * shift->second + (shift->second_step > 0);
    const int over = cell_local(cell, shift->axis) == (shift->step > 0 ? axis_edge(shift->axis) - 1 : 0);
    uint32_t there = over ? m->grid.neighbor[d][slot] : slot;

    *beside = gbees_shape_beside(&m->shape, cell, d);
    if (shift->second < 0)
        return there;
    *beside = gbees_shape_beside(&m->shape, *beside, f);
    if (cell_local(cell, shift->second) != (shift->second_step > 0 ? axis_edge(shift->second) - 1 : 0))
        return there;
    there = m->grid.neighbor[f][there];
    if (!there && over)
        there = m->grid.neighbor[d][m->grid.neighbor[f][slot]];
#if GBEES_BOUNDED
    if (!there && over) /* the bound may block both bricks on the way */
        there = table_find(m, key_near(m, slot, d, f));
#endif
    return there;
}

/* The part of a cell's mass that goes to its neighbour `shift` in a step; q: Q of the cell. */
GBEES_NUM number noise_part(const gbees_setup *m, const double *q, const noise_shift *shift, double step)
{
    double rate;

    if (shift->second < 0) {
        rate = gbees_diffusion_axis(DIM, NOISE_FULL, q, 1, m->over_width, shift->axis);
    } else {
        rate = shift->step * shift->second_step *
               gbees_diffusion_pair(DIM, q, 1, m->over_width, shift->axis, shift->second);
        rate = rate > 0 ? rate : 0;
    }
    return (number)(step * rate);
}

/* The masses that a cell gets and gives, and the part of the latter that leaves the grid. */
typedef struct noise_sums {
    number in, out;
    double lost;
} noise_sums;

/* Adds the masses that a cell and its neighbour `shift` exchange in a step; own: Q of the cell. */
GBEES_NUM void exchange_mass(const gbees_setup *m, const number *rows, uint32_t slot, int cell,
                             const noise_shift *shift, const double *own, double step, double time, noise_sums *sums)
{
    const noise_shift back = {shift->axis, -shift->step, shift->second, -shift->second_step};
    double q[NOISE_ENTRIES];
    int beside;
    uint32_t there = noise_beside(m, slot, cell, shift, &beside);

    if (GBEES_LOW_REGISTERS)
        noise_at(m, slot, cell, NULL, time, q);
    number given =
        noise_part(m, GBEES_LOW_REGISTERS ? q : own, shift, step) * rows[(size_t)slot * CELLS + (size_t)cell];

    noise_at(m, slot, cell, shift, time, q);
    sums->in += noise_part(m, q, &back, step) * rows[(size_t)there * CELLS + (size_t)beside];
    sums->out += given;
    if (!there)
        sums->lost += (double)given;
}

/* Returns the change of a cell's mass in a step, and sets *lost to the mass that it gives to absent cells. */
GBEES_NUM number diffuse_cell(const gbees_setup *m, const number *rows, uint32_t slot, int cell, double step,
                              double time, double *lost)
{
    noise_sums sums = {0, 0, 0};
    double own[NOISE_ENTRIES];

    if (!GBEES_LOW_REGISTERS)
        noise_at(m, slot, cell, NULL, time, own);
#pragma unroll
    for (int j = 0; j < DIM; j++)
#pragma unroll 1
        for (int up = -1; up <= 1; up += 2) {
            const noise_shift shift = {j, up, -1, 0};

            exchange_mass(m, rows, slot, cell, &shift, own, step, time, &sums);
        }
#if GBEES_DIFFUSION == 2
#pragma unroll
    for (int j = 0; j < DIM; j++)
#pragma unroll
        for (int k = j + 1; k < DIM; k++)
#pragma unroll 1
            for (int corner = 0; corner < 4; corner++) {
                const noise_shift shift = {j, corner & 1 ? 1 : -1, k, corner & 2 ? 1 : -1};

                exchange_mass(m, rows, slot, cell, &shift, own, step, time, &sums);
            }
#endif
    *lost = sums.lost;
    return sums.in - sums.out;
}

/* Sets rows `to` to E p, which is p after an explicit step; with `second`, the second half of Heun's step, to the
 * mean of `to` and E p.  Returns half of the mass that the lane's cells lose to absent ones, in units of 2^-60. */
GBEES_NUM int64_t diffuse_pass(const gbees_setup *m, const number *p, number *to, int second, uint32_t count,
                               double step, double time)
{
    int64_t outflow = 0;

    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
#pragma unroll 1
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            double lost;
            number change = diffuse_cell(m, p, slot, cell, step, time, &lost), moved = p[at] + change;

            to[at] = second ? (number)0.5 * to[at] + (number)0.5 * moved : moved;
            if (lost > 0)
                outflow += gbees_fixed(0.5 * lost);
        }
    return outflow;
}

/* Updates sums->max_noise by the largest rate at which a cell gives mass, sums->widest and sums->narrowest, and sets
 * s->bad if Q is invalid in a brick. */
GBEES_NUM void noise_rates_pass(const gbees_setup *m, gbees_state *s, uint32_t count, double time,
                                gbees_step_sums *sums)
{
    double largest = 0, widest[DIM], narrowest[DIM];

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        widest[j] = 0;
        narrowest[j] = HUGE_VAL;
    }
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
#pragma unroll 1
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            double q[NOISE_ENTRIES], sum = 0;

#pragma unroll
            for (int j = 0; j < DIM; j++) {
                if (GBEES_LOW_REGISTERS || j == 0)
                    noise_at(m, slot, cell, NULL, time, q);
                if (gbees_diffusion_fault(DIM, NOISE_FULL, q, 1, m->over_width, j))
                    store_release_32(&s->bad, slot + 1);
                sum += 2 * gbees_diffusion_axis(DIM, NOISE_FULL, q, 1, m->over_width, j);
                const double spread = gbees_diffusion_spread(DIM, NOISE_FULL, q, 1, m->over_width, j);

                widest[j] = fmax(widest[j], spread);
                narrowest[j] = fmin(narrowest[j], spread);
            }
#pragma unroll
            for (int j = 0; NOISE_FULL && j < DIM; j++) {
                if (GBEES_LOW_REGISTERS)
                    noise_at(m, slot, cell, NULL, time, q);
#pragma unroll
                for (int k = j + 1; k < DIM; k++)
                    sum += 2 * fabs(gbees_diffusion_pair(DIM, q, 1, m->over_width, j, k));
            }
            largest = fmax(largest, sum);
        }
    largest = warp_max(largest);
    if (warp_lane() == 0 && largest > 0)
        atomic_max_64(&sums->max_noise, bits_of(largest));
#pragma unroll
    for (int j = 0; j < DIM && SPREADS; j++) {
        widest[j] = warp_max(widest[j]);
        narrowest[j] = -warp_max(-narrowest[j]);
        if (warp_lane() == 0) {
            atomic_max_64(&sums->widest[j], bits_of(widest[j]));
            atomic_max_64(&sums->narrowest[j], ~bits_of(narrowest[j]));
        }
    }
}

/* Plans how the step adds the noise: by its sweeps, if Q is diagonal, or by explicit steps of diffusion, whose number
 * it sets.  By a block's first thread. */
GBEES_NUM void plan_noise(gbees_step_sums *sums, step_state *b)
{
    const double step = b->run.step.size;

    b->plan.varies = 0;
    for (int j = 0; j < DIM && SPREADS; j++)
        b->plan.varies |= load_64(&sums->widest[j]) != ~load_64(&sums->narrowest[j]);
    for (int j = 0; j < DIM; j++) {
        const double widest = SPREADS ? double_of(load_64(&sums->widest[j])) : 0;

        b->plan.parts[j] = gbees_sweep_parts(step, widest, b->plan.varies);
        b->plan.variance[j] = step / b->plan.parts[j] * widest;
    }
    b->noise_steps = SPREADS ? 0 : gbees_diffusion_steps(step, double_of(load_64(&sums->max_noise)));
}

/* Plans how the step adds the noise.  Returns 0 if Q is invalid. */
GBEES_NUM int choose_noise_steps(const gbees_setup *m, gbees_state *s, step_state *b)
{
    gbees_step_sums *sums = sums_of(s, b->run.steps);

    noise_rates_pass(m, s, b->count, step_middle(b), sums);
    grid_barrier(m, s);
    if (is_block_leader()) {
        uint32_t bad = load_32(&s->bad);

        plan_noise(sums, b);
        if (bad) {
            b->stop = STOP_NOISE;
            b->where = bad - 1;
        }
    }
    block_sync();
    return !b->stop;
}

/* Diffuses the density over the step, by steps of Heun's method: the first half of each writes the spare rows, the
 * second half the density's.  There is a grid barrier behind each half. */
GBEES_NUM void diffuse(const gbees_setup *m, gbees_state *s, const step_state *b)
{
    const double step = b->run.step.size / b->noise_steps, time = step_middle(b);
    number *p = rows_of(m, b->current), *next = rows_of(m, spare_of(b->current));

    for (double k = 0; k < b->noise_steps; k++)
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            int64_t lost = warp_add(diffuse_pass(m, half ? next : p, half ? p : next, half, b->count, step, time));

            if (warp_lane() == 0 && lost)
                atomic_add_64(&sums_of(s, b->run.steps)->outflow, lost);
            grid_barrier(m, s);
        }
}

#endif

#endif
