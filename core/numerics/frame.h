/* frame.h - points, drifts and noise of a rotated grid: x = c + R y, R^T f and R^T Q R (doc/method.md, "A rotated
 * grid"), as gbees/model_framed.h has them for the host.
 *
 * A template: define GBEES_REAL (float or double) and GBEES_REAL_FN(name) before including it; no include guard.  A
 * model's parameters are followed by the frame: c from GBEES_FRAME on (8 numbers), then R (n x n, row-major).
 */
#include "qualifier.h"

#ifndef GBEES_FRAME
#define GBEES_FRAME 32
#define GBEES_FRAME_AXES 40
#endif

GBEES_NUM void GBEES_REAL_FN(gbees_frame_point)(int n, const GBEES_REAL *p, const GBEES_REAL *y, GBEES_REAL *x)
{
#pragma unroll
    for (int k = 0; k < n; k++) {
        x[k] = p[GBEES_FRAME + k];
#pragma unroll
        for (int m = 0; m < n; m++)
            x[k] += p[GBEES_FRAME_AXES + k * n + m] * y[m];
    }
}

GBEES_NUM void GBEES_REAL_FN(gbees_frame_drift)(int n, const GBEES_REAL *p, const GBEES_REAL *f, GBEES_REAL *dydt)
{
#pragma unroll
    for (int j = 0; j < n; j++) {
        dydt[j] = p[GBEES_FRAME_AXES + j] * f[0];
#pragma unroll
        for (int k = 1; k < n; k++)
            dydt[j] += p[GBEES_FRAME_AXES + k * n + j] * f[k];
    }
}

/* q: the diagonal, or the upper half of the matrix.  A sum below 1e-9 of its terms' sizes is set to 0, so that noise
 * along an axis of the grid has no rounding along the others. */
GBEES_NUM void GBEES_REAL_FN(gbees_frame_noise)(int n, int full, const GBEES_REAL *p, const GBEES_REAL *q,
                                                GBEES_REAL *to)
{
#pragma unroll
    for (int j = 0; j < n; j++)
#pragma unroll
        for (int k = j; k < n; k++) {
            GBEES_REAL sum = 0, size = 0;

#pragma unroll
            for (int l = 0; l < n; l++)
#pragma unroll
                for (int m = full ? 0 : l; m < (full ? n : l + 1); m++) {
                    GBEES_REAL entry = q[!full ? l : l < m ? l * n + m : m * n + l];
                    GBEES_REAL term = p[GBEES_FRAME_AXES + l * n + j] * entry * p[GBEES_FRAME_AXES + m * n + k];

                    sum += term;
                    size += term < 0 ? -term : term;
                }
            to[j * n + k] = to[k * n + j] =
                sum <= (GBEES_REAL)1e-9 * size && -sum <= (GBEES_REAL)1e-9 * size ? 0 : sum;
        }
}
