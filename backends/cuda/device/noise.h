/* noise.h - the model's diffusion matrix Q at cells. */
#ifndef GBEES_CUDA_NOISE_H
#define GBEES_CUDA_NOISE_H

#include "device/cells.h"
#include "numerics/diffusion.h"

enum { NOISE_FULL = GBEES_DIFFUSION == 2, NOISE_ENTRIES = NOISE_FULL ? DIM * DIM : DIM };

/* Whether sweeps may add the noise. */
enum { SPREADS = GBEES_DIFFUSION == 1 && GBEES_SPLIT && !GBEES_PRESERVING && GBEES_ORDER >= 5 };

/* A neighbouring cell: one cell away along one axis, or along two axes; step: 1 up, -1 down. */
typedef struct noise_shift {
    int axis, step;
    int second, second_step; /* the other axis; -1: there is none */
} noise_shift;

#if GBEES_DIFFUSION

/* Sets q[NOISE_ENTRIES] to Q at a cell, or at its neighbour `shift` (NULL: the cell).  The position is computed from
 * the multi-index alone, in double, so that Q of a cell has the same bits for each of its neighbours. */
GBEES_NUM void noise_at(const gbees_setup *m, uint32_t slot, int cell, const noise_shift *shift, double time,
                        double *q)
{
    const int32_t *key = m->grid.key + (size_t)slot * DIM;
    const double *parameters =
        GBEES_LOW_REGISTERS ? (const double *)opaque(model_parameters(m)) : model_parameters(m);
    double x[DIM];

    if (GBEES_LOW_REGISTERS && !opaque_true()) {
        for (int k = 0; k < NOISE_ENTRIES; k++)
            q[k] = 0;
        return;
    }
#pragma unroll
    for (int k = 0; k < DIM; k++) {
        int32_t index = key[k] * axis_edge(k) + cell_local(cell, k);

        if (shift)
            index += k == shift->axis ? shift->step : k == shift->second ? shift->second_step : 0;
        x[k] = m->origin[k] + m->width[k] * (double)index;
    }
    gbees_model_diffusion_d(time, x, parameters, q);
}

#endif

#endif
