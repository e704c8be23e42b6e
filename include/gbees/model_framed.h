/* gbees/model_framed.h - points, drifts and noise on a rotated grid (doc/method.md, "A rotated grid").
 *
 * A point of the grid's axes is y, of the model's x = c + R y; a drift along the grid's axes is R^T f(x), a diffusion
 * R^T Q R. The frame stands behind the parameters: c from p[GBEES_MAX_PARAMETERS] on, R (n x n, row-major) from
 * p[GBEES_FRAME_ROTATION] on.
 *
 * A template for gbees/model_equations.h, which defines `real`, GBEES_FN, GBEES_INLINE, GBEES_UNROLL and
 * GBEES_UNROLL_ALL; it has no include guard.
 */

/* x[n] = c + R y. */
GBEES_INLINE void GBEES_FN(gbees_frame_point)(int n, const real *p, const real *y, real *x)
{
    GBEES_UNROLL for (int k = 0; k < n; k++)
    {
        x[k] = p[GBEES_MAX_PARAMETERS + k];
        GBEES_UNROLL for (int m = 0; m < n; m++) x[k] += p[GBEES_FRAME_ROTATION + k * n + m] * y[m];
    }
}

/* Component j of R^T f. */
GBEES_INLINE real GBEES_FN(gbees_frame_along)(int n, int j, const real *p, const real *f)
{
    real sum = p[GBEES_FRAME_ROTATION + j] * f[0];

    GBEES_UNROLL for (int k = 1; k < n; k++) sum += p[GBEES_FRAME_ROTATION + k * n + j] * f[k];
    return sum;
}

/* to[n * n] = R^T Q R. q: the diagonal of Q, or (full) the upper half of n * n. A sum below 1e-9 of the sizes of its
 * terms is rounding, and becomes 0: noise along one axis of the grid must not leak into the others. */
GBEES_INLINE void GBEES_FN(gbees_frame_noise)(int n, int full, const real *p, const real *q, real *to)
{
    GBEES_UNROLL_ALL for (int j = 0; j < n; j++)
    {
        GBEES_UNROLL_ALL for (int k = j; k < n; k++)
        {
            real sum = 0, size = 0;

            GBEES_UNROLL_ALL for (int l = 0; l < n; l++)
            {
                GBEES_UNROLL_ALL for (int m = full ? 0 : l; m < (full ? n : l + 1); m++)
                {
                    real entry = q[!full ? l : l < m ? l * n + m : m * n + l];
                    real term = p[GBEES_FRAME_ROTATION + l * n + j] * entry * p[GBEES_FRAME_ROTATION + m * n + k];

                    sum += term;
                    size += term < 0 ? -term : term;
                }
            }
            to[j * n + k] = to[k * n + j] = sum <= (real)1e-9 * size && -sum <= (real)1e-9 * size ? 0 : sum;
        }
    }
}
