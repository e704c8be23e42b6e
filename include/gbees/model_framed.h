/* gbees/model_framed.h - transforms points, drifts and noise between the model's axes and a framed grid's: a rotated
 * grid (doc/method.md, "A rotated grid") or a moving one (doc/moving.md).
 *
 * A point y of the grid is x = c + A y of the model. The drift relative to the grid, along its axes, is
 * A^-1 f(x) - u - G y, where u + G y is the grid's own velocity there, 0 for a grid at rest. A diffusion Q is
 * A^-1 Q A^-T. A rotated grid has A = R and A^-1 = R^T. All functions read the frame from p (GBEES_FRAME_CENTRE, ...,
 * in gbees/model.h).
 *
 * This file has no include guard: gbees/model_equations.h includes it once for each precision, with `real`, GBEES_FN,
 * GBEES_INLINE, GBEES_UNROLL and GBEES_UNROLL_ALL defined.
 */

/* Sets x[n] to c + A y, for y[n]. */
GBEES_INLINE void GBEES_FN(gbees_frame_point)(int n, const real *p, const real *y, real *x)
{
    GBEES_UNROLL for (int k = 0; k < n; k++)
    {
        x[k] = p[GBEES_FRAME_CENTRE + k];
        GBEES_UNROLL for (int m = 0; m < n; m++) x[k] += p[GBEES_FRAME_AXES + k * n + m] * y[m];
    }
}

/* Returns component j of A^-1 f - u - G y, for y[n] and the drift f[n] there. */
GBEES_INLINE real GBEES_FN(gbees_frame_along)(int n, int j, const real *p, const real *y, const real *f)
{
    real sum = p[GBEES_FRAME_INVERSE + j * n] * f[0], own = p[GBEES_FRAME_VELOCITY + j];

    GBEES_UNROLL for (int k = 1; k < n; k++) sum += p[GBEES_FRAME_INVERSE + j * n + k] * f[k];
    GBEES_UNROLL for (int k = 0; k < n; k++) own += p[GBEES_FRAME_GRADIENT + j * n + k] * y[k];
    return sum - own;
}

/* Sets to[n][n] to A^-1 Q A^-T. q is the diagonal of Q, q[n], or, if `full`, Q itself, q[n][n], of which the upper
 * half is read. An entry below 1e-9 times the sum of its terms' absolute values is rounding and becomes 0, so that
 * noise along one axis of the grid does not appear along the others. */
GBEES_INLINE void GBEES_FN(gbees_frame_noise)(int n, int full, const real *p, const real *q, real *to)
{
    const real *v = p + GBEES_FRAME_INVERSE;

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
                    real term = v[j * n + l] * entry * v[k * n + m];

                    sum += term;
                    size += term < 0 ? -term : term;
                }
            }
            to[j * n + k] = sum <= (real)1e-9 * size && -sum <= (real)1e-9 * size ? 0 : sum;
        }
        /* Not in the loop above: GCC 12 loses one of two stores there (without -fno-ivopts). */
        GBEES_UNROLL_ALL for (int k = 0; k < j; k++) to[j * n + k] = to[k * n + j];
    }
}
