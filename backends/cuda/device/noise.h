/* noise.h - the model's diffusion matrix Q at cells. */
#ifndef GBEES_CUDA_NOISE_H
#define GBEES_CUDA_NOISE_H

#include "device/cells.h"
#include "numerics/diffusion.h"
#include "numerics/neighbour.h"

enum { NOISE_FULL = GBEES_DIFFUSION == 2, NOISE_ENTRIES = NOISE_FULL ? DIM * DIM : DIM };

/* Whether sweeps may add the noise. */
enum { SPREADS = GBEES_DIFFUSION == 1 && GBEES_SPLIT && !GBEES_PRESERVING && GBEES_ORDER >= 5 };

/* A neighbouring cell: one cell away along one axis, or along two axes; step: 1 up, -1 down. */
typedef struct noise_shift {
    int axis, step;
    int second, second_step; /* the other axis; -1: there is none */
} noise_shift;

#if GBEES_DIFFUSION

/* Sets q[NOISE_ENTRIES] to Q at a point.  Positions are computed from multi-indices alone, in double, so that Q has
 * the same bits for each cell or face that it belongs to. */
GBEES_NUM void noise_at_point(const gbees_setup *m, const double *x, double time, double *q)
{
    const double *parameters =
        GBEES_LOW_REGISTERS ? (const double *)opaque(model_parameters(m)) : model_parameters(m);

    if (GBEES_LOW_REGISTERS && !opaque_true()) {
        for (int k = 0; k < NOISE_ENTRIES; k++)
            q[k] = 0;
        return;
    }
    gbees_model_diffusion_d(time, x, parameters, q);
}

/* Sets q[NOISE_ENTRIES] to Q at a cell, or at its neighbour `shift` (NULL: the cell). */
GBEES_NUM void noise_at(const gbees_setup *m, uint32_t slot, int cell, const noise_shift *shift, double time,
                        double *q)
{
    const int32_t *key = m->grid.key + (size_t)slot * DIM;
    double x[DIM];

#pragma unroll
    for (int k = 0; k < DIM; k++) {
        int32_t index = key[k] * axis_edge(k) + cell_local(cell, k);

        if (shift)
            index += k == shift->axis ? shift->step : k == shift->second ? shift->second_step : 0;
        x[k] = m->origin[k] + m->width[k] * (double)index;
    }
    noise_at_point(m, x, time, q);
}

/* The number of a face along an axis; around a circle that of its own turn, so that both ends have the same bits. */
GBEES_NUM int32_t face_around(const gbees_setup *m, int axis, int32_t face)
{
    const int32_t key = face >> axis_bits(axis);

    return GBEES_CLOSED && m->shape.end[2 * axis] == GBEES_AT_OTHER_END
               ? face + (gbees_key_around(&m->shape, axis, key) - key) * axis_edge(axis)
               : face;
}

/* Sets w[count] to the variance, in squares of a cell, that noise adds along an axis in the time `part`, at faces of
 * the brick from number `first` on, or of bricks beyond it, in the row of a cell. */
GBEES_NUM void noise_at_faces(const gbees_setup *m, uint32_t slot, int cell, int axis, int first, int count,
                              double part, double time, number *w)
{
    const int32_t *key = m->grid.key + (size_t)slot * DIM;
    double x[DIM], q[NOISE_ENTRIES];

#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = m->origin[k] + m->width[k] * (double)(key[k] * axis_edge(k) + cell_local(cell, k));
#pragma unroll
    for (int i = 0; i < count; i++) {
        x[axis] = m->origin[axis] +
                  m->width[axis] * ((double)face_around(m, axis, key[axis] * axis_edge(axis) + first + i) - 0.5);
        noise_at_point(m, x, time, q);
        const double v = part * gbees_diffusion_spread(DIM, 0, q, 1, m->over_width, axis);

        w[i] = v > 0 ? (number)v : 0; /* also where Q is not a number, beyond the cells */
    }
}

#endif

#endif
