/* frame.h - points and drifts of a turned grid: x = c + R y, and R^T f, as gbees/model_framed.h has them for the host.
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
