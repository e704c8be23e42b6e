/* frame.h - a grid whose frame moves: the largest rate of the drift relative to it, the sums by which the frame
 * follows the drift, and the Fisher information of the density.  As backends/cpu/engine/frame.c; sums over bricks are
 * sums of integers. */
#ifndef GBEES_CUDA_FRAME_H
#define GBEES_CUDA_FRAME_H

#include "device/inspect.h"

#if GBEES_MOVING

/* The number of sums of a pass. All lanes of a warp have the same sums. */
enum { FRAME_SUMS = 1 + 2 * DIM + DIM * (DIM + 1) / 2 + DIM * DIM };

/* Adds the sum over the lanes' parts to **to, and advances *to to the next sum. The sum of each brick is rounded by
 * itself, so that results do not depend on which warp has which bricks. */
GBEES_NUM void add_to_next(double part, gbees_exact_sum **to)
{
    exact_add(*to, warp_add_double(part));
    ++*to;
}

/* Sets a warp's sums to 0. */
GBEES_NUM void clear_exact(gbees_exact_sum *own)
{
    for (int k = 0; k < FRAME_SUMS; k++)
        own[k].high = own[k].low = 0;
}

/* Adds a warp's sums to found->moment. */
GBEES_NUM void join_exact(const gbees_exact_sum *own, gbees_findings *found)
{
    for (int k = warp_lane(); k < FRAME_SUMS; k += WARP_SIZE) {
        atomic_add_64(&found->moment[k].high, own[k].high);
        atomic_add_64(&found->moment[k].low, own[k].low);
    }
}

/* Inspects all bricks; updates found->peak by the largest rate, and found->peak_brick by that of bricks with an
 * active cell. */
GBEES_NUM void frame_rate_pass(const gbees_setup *m, gbees_findings *found, double time)
{
    gbees_state *s = &found->state;
    double most = 0, active = 0;

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        const double rate = inspect_brick(m, s, slot, time);

        most = fmax(most, rate);
        active = m->grid.active[slot] ? fmax(active, rate) : active;
    }
    if (warp_lane() == 0) {
        atomic_max_64(&found->peak, bits_of(most));
        atomic_max_64(&found->peak_brick, bits_of(active));
    }
}

/* Sets f[DIM] to the drift relative to the frame at a cell, along its axes, and y[DIM] to the cell's centre. */
GBEES_NUM void frame_drift(const gbees_setup *m, uint32_t slot, int cell, double time, double *y, double *f)
{
    position x[DIM], dxdt[DIM];

#pragma unroll
    for (int k = 0; k < DIM; k++) {
        const int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)k];

        x[k] = brick_base(m, slot)[k] + cell_offset(m, k, cell_local(cell, k));
        y[k] = m->width[k] * (key * axis_edge(k) + cell_local(cell, k));
    }
    GBEES_POSITION_FN(gbees_model_drift)((position)time, x, drift_parameters(m), dxdt);
#pragma unroll
    for (int k = 0; k < DIM; k++)
        f[k] = (double)dxdt[k];
}

/* Adds the sums of gbees_affine_sums to found->moment: mass, y, f, the upper half of yy, fy. */
GBEES_NUM void frame_fit_pass(const gbees_setup *m, gbees_findings *found, double time)
{
    const gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    gbees_exact_sum own[FRAME_SUMS];

    clear_exact(own);
    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        double y[CELLS / WARP_SIZE][DIM], f[CELLS / WARP_SIZE][DIM], weight[CELLS / WARP_SIZE], mass = 0;
        gbees_exact_sum *to = own;

#pragma unroll
        for (int i = 0; i < CELLS / WARP_SIZE; i++) {
            const int cell = i * WARP_SIZE + warp_lane();

            weight[i] = (double)p[(size_t)slot * CELLS + (size_t)cell];
            mass += weight[i];
            frame_drift(m, slot, cell, time, y[i], f[i]);
            for (int k = 0; k < DIM; k++)
                f[i][k] = weight[i] > 0 ? f[i][k] : 0;
        }
        if (!warp_any(mass > 0))
            continue;
        add_to_next(mass, &to);
        for (int part = 0; part < 2; part++)
            for (int j = 0; j < DIM; j++) {
                double sum = 0;

                for (int i = 0; i < CELLS / WARP_SIZE; i++)
                    sum += weight[i] * (part ? f[i][j] : y[i][j]);
                add_to_next(sum, &to);
            }
        for (int part = 0; part < 2; part++)
            for (int j = 0; j < DIM; j++)
                for (int k = part ? 0 : j; k < DIM; k++) {
                    double sum = 0;

                    for (int i = 0; i < CELLS / WARP_SIZE; i++)
                        sum += weight[i] * (part ? f[i][j] : y[i][j]) * y[i][k];
                    add_to_next(sum, &to);
                }
    }
    join_exact(own, found);
}

/* The square root of P of the cell beside a cell; 0 if that is absent. */
GBEES_NUM double root_beside(const gbees_setup *m, const number *p, uint32_t slot, int cell, int direction)
{
    const int axis = direction / 2, side = direction & 1 ? axis_edge(axis) - 1 : 0;
    const uint32_t there = cell_local(cell, axis) == side ? m->grid.neighbor[direction][slot] : slot;
    const int beside = gbees_shape_beside(&m->shape, cell, direction);

    return there ? sqrt((double)p[(size_t)there * CELLS + (size_t)beside]) : 0;
}

/* Adds the sums of products of differences of the square roots of P to found->moment, the upper half: the Fisher
 * information before it is divided by mass and widths (add_information() of backends/cpu/engine/frame.c). */
GBEES_NUM void frame_information_pass(const gbees_setup *m, gbees_findings *found)
{
    const gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    gbees_exact_sum own[FRAME_SUMS];

    clear_exact(own);
    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        double sums[DIM * DIM];
        gbees_exact_sum *to = own;

        for (int k = 0; k < DIM * DIM; k++)
            sums[k] = 0;
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const double root = sqrt((double)p[(size_t)slot * CELLS + (size_t)cell]);
            double slope[DIM];

#pragma unroll
            for (int j = 0; j < DIM; j++) {
                const double below = root_beside(m, p, slot, cell, 2 * j),
                             above = root_beside(m, p, slot, cell, 2 * j + 1);

                slope[j] = above - below;
                sums[j * DIM + j] += 2 * ((above - root) * (above - root) + (below - root) * (below - root));
            }
#pragma unroll
            for (int j = 0; j < DIM; j++)
#pragma unroll
                for (int k = j + 1; k < DIM; k++)
                    sums[j * DIM + k] += slope[j] * slope[k];
        }
#pragma unroll
        for (int j = 0; j < DIM; j++)
#pragma unroll
            for (int k = j; k < DIM; k++)
                add_to_next(sums[j * DIM + k], &to);
    }
    join_exact(own, found);
}

#endif

#endif
