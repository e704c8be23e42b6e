/* gbees/model_framed.h - a plugin's batched functions for a turned grid; included by gbees/model_build.h.
 *
 * Points are those of the grid's axes, x = c + R y, and drifts are along them, R^T f(x); a diffusion is R^T Q R.  The
 * frame stands behind the parameters: c from p[GBEES_MAX_PARAMETERS] on, R (n x n, row-major) from
 * p[GBEES_FRAME_ROTATION] on.  A component takes the whole drift, so one function an n and a precision serves all
 * components.
 */
#ifndef GBEES_MODEL_FRAMED_H
#define GBEES_MODEL_FRAMED_H

#define GBEES_FRAMED_POINT(R, N)                                                                                     \
    R x[N];                                                                                                          \
    _Pragma("GCC unroll 8") for (int k = 0; k < N; k++)                                                              \
    {                                                                                                                \
        x[k] = p[GBEES_MAX_PARAMETERS + k];                                                                          \
        _Pragma("GCC unroll 8") for (int m = 0; m < N; m++) x[k] +=                                                  \
            p[GBEES_FRAME_ROTATION + k * N + m] * (origin[m] + column[m][i]);                                        \
    }

/* Component j of R^T f. */
#define GBEES_FRAMED_DOT(N, j, to)                                                                                   \
    to = p[GBEES_FRAME_ROTATION + j] * dxdt[0];                                                                      \
    _Pragma("GCC unroll 8") for (int k = 1; k < N; k++) to += p[GBEES_FRAME_ROTATION + k * N + j] * dxdt[k];

#define GBEES_FRAMED_DRIFT(R, S, N)                                                                                  \
    GBEES_CLONES static void gbees_framed_##N##S(int j, size_t count, R t, const R *origin, const R *const *offset,  \
                                                 const R *p, R *out)                                                 \
    {                                                                                                                \
        GBEES_COLUMNS(R, N)                                                                                          \
        GBEES_SIMD for (size_t i = 0; i < count; i++)                                                                \
        {                                                                                                            \
            GBEES_FRAMED_POINT(R, N)                                                                                 \
            R dxdt[N], along;                                                                                        \
            gbees_equation_drift##S(N, t, x, p, dxdt);                                                               \
            GBEES_FRAMED_DOT(N, j, along)                                                                            \
            out[i] = along;                                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    static void gbees_framed_vector_##N##S(size_t count, R t, const R *origin, const R *const *offset, const R *p,   \
                                           R *const *out)                                                            \
    {                                                                                                                \
        for (int j = 0; j < N; j++)                                                                                  \
            gbees_framed_##N##S(j, count, t, origin, offset, p, out[j]);                                             \
    }

#define GBEES_FRAMED_COMPONENT(R, S, N, J)                                                                           \
    static void gbees_framed_##N##_##J##S(size_t count, R t, const R *origin, const R *const *offset, const R *p,    \
                                          R *out)                                                                    \
    {                                                                                                                \
        gbees_framed_##N##S(J, count, t, origin, offset, p, out);                                                    \
    }

#ifdef GBEES_HAS_MEASURE
#define GBEES_FRAMED_MEASURE(N)                                                                                      \
    static void gbees_framed_measure_##N(int which, size_t count, double t, const double *origin,                    \
                                         const double *const *offset, const double *p, double *const *out)           \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_FRAMED_POINT(double, N)                                                                            \
            double y[GBEES_MAX_DIM] = {0};                                                                           \
            gbees_equation_measure_d(which, N, t, x, p, y);                                                          \
            for (int j = 0; j < GBEES_MAX_DIM && out[j]; j++)                                                        \
                out[j][i] = y[j];                                                                                    \
        }                                                                                                            \
    }
#define GBEES_FRAMED_MEASURE_NAME(N) gbees_framed_measure_##N
#else
#define GBEES_FRAMED_MEASURE(N)
#define GBEES_FRAMED_MEASURE_NAME(N) NULL
#endif

#ifdef GBEES_HAS_BOUND
#define GBEES_FRAMED_BOUND(N)                                                                                        \
    static void gbees_framed_bound_##N(size_t count, double t, const double *origin, const double *const *offset,    \
                                       const double *p, double *out)                                                 \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_FRAMED_POINT(double, N)                                                                            \
            out[i] = gbees_equation_bound_d(N, t, x, p);                                                             \
        }                                                                                                            \
    }
#define GBEES_FRAMED_BOUND_NAME(N) gbees_framed_bound_##N
#else
#define GBEES_FRAMED_BOUND(N)
#define GBEES_FRAMED_BOUND_NAME(N) NULL
#endif

#ifdef GBEES_HAS_LOG_LIKELIHOOD
#define GBEES_FRAMED_LOG_LIKELIHOOD(N)                                                                               \
    static void gbees_framed_log_likelihood_##N(int which, size_t count, double t, const double *origin,             \
                                                const double *const *offset, const double *p, const double *y,       \
                                                double *out)                                                         \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_FRAMED_POINT(double, N)                                                                            \
            out[i] = gbees_equation_log_likelihood_d(which, N, t, x, p, y);                                          \
        }                                                                                                            \
    }
#define GBEES_FRAMED_LOG_LIKELIHOOD_NAME(N) gbees_framed_log_likelihood_##N
#else
#define GBEES_FRAMED_LOG_LIKELIHOOD(N)
#define GBEES_FRAMED_LOG_LIKELIHOOD_NAME(N) NULL
#endif

#ifdef GBEES_HAS_DIFFUSION
/* R^T Q R; q: the diagonal, or the upper half of all of it.  Of what it is the sum of, 1e-9 is 0: noise along one of
 * the grid's axes has no rounding beside it. */
static inline void gbees_framed_noise(int n, int full, const double *rotation, const double *q, double *to)
{
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double sum = 0, size = 0;

            for (int l = 0; l < n; l++)
                for (int m = full ? 0 : l; m < (full ? n : l + 1); m++) {
                    double entry = q[!full ? l : l < m ? l * n + m : m * n + l];
                    double term = rotation[l * n + j] * entry * rotation[m * n + k];

                    sum += term;
                    size += term < 0 ? -term : term;
                }
            to[j * n + k] = to[k * n + j] = sum <= 1e-9 * size && -sum <= 1e-9 * size ? 0 : sum;
        }
}

#define GBEES_FRAMED_NOISE(N)                                                                                        \
    GBEES_CLONES static void gbees_framed_diffusion_##N(size_t count, double t, const double *origin,                \
                                                        const double *const *offset, const double *p,                \
                                                        double *const *out)                                          \
    {                                                                                                                \
        enum { FULL = GBEES_HAS_DIFFUSION == GBEES_FULL };                                                           \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_FRAMED_POINT(double, N)                                                                            \
            double Q[FULL ? N * N : N] = {0}, along[N * N];                                                          \
            gbees_equation_diffusion_d(N, t, x, p, Q);                                                               \
            gbees_framed_noise(N, FULL, p + GBEES_FRAME_ROTATION, Q, along);                                         \
            for (int k = 0; k < N * N; k++)                                                                          \
                out[k][i] = along[k];                                                                                \
        }                                                                                                            \
    }
#define GBEES_FRAMED_NOISE_NAME(N) gbees_framed_diffusion_##N
#else
#define GBEES_FRAMED_NOISE(N)
#define GBEES_FRAMED_NOISE_NAME(N) NULL
#endif

/* ---- all of it, for one dimension ---- */

#define GBEES_FRAMED_LIST_1(S) gbees_framed_1_0##S
#define GBEES_FRAMED_LIST_2(S) gbees_framed_2_0##S, gbees_framed_2_1##S
#define GBEES_FRAMED_LIST_3(S) gbees_framed_3_0##S, gbees_framed_3_1##S, gbees_framed_3_2##S
#define GBEES_FRAMED_LIST_4(S) gbees_framed_4_0##S, gbees_framed_4_1##S, gbees_framed_4_2##S, gbees_framed_4_3##S
#define GBEES_FRAMED_LIST_5(S)                                                                                       \
    gbees_framed_5_0##S, gbees_framed_5_1##S, gbees_framed_5_2##S, gbees_framed_5_3##S, gbees_framed_5_4##S
#define GBEES_FRAMED_LIST_6(S)                                                                                       \
    gbees_framed_6_0##S, gbees_framed_6_1##S, gbees_framed_6_2##S, gbees_framed_6_3##S, gbees_framed_6_4##S,         \
        gbees_framed_6_5##S
#define GBEES_FRAMED_LIST_7(S)                                                                                       \
    gbees_framed_7_0##S, gbees_framed_7_1##S, gbees_framed_7_2##S, gbees_framed_7_3##S, gbees_framed_7_4##S,         \
        gbees_framed_7_5##S, gbees_framed_7_6##S
#define GBEES_FRAMED_LIST_8(S)                                                                                       \
    gbees_framed_8_0##S, gbees_framed_8_1##S, gbees_framed_8_2##S, gbees_framed_8_3##S, gbees_framed_8_4##S,         \
        gbees_framed_8_5##S, gbees_framed_8_6##S, gbees_framed_8_7##S

/* The row of a model's functions that a turned grid takes; the components are made one by one (GBEES_FRAMED_BOTH). */
#define GBEES_FRAMED_ROW(N)                                                                                          \
    GBEES_FRAMED_MEASURE(N)                                                                                          \
    GBEES_FRAMED_BOUND(N)                                                                                            \
    GBEES_FRAMED_LOG_LIKELIHOOD(N)                                                                                   \
    GBEES_FRAMED_NOISE(N)                                                                                            \
    static const gbees_functions gbees_functions_framed_##N = {N,                                                    \
                                                               {GBEES_FRAMED_LIST_##N(_f)},                          \
                                                               {GBEES_FRAMED_LIST_##N(_d)},                          \
                                                               {NULL},                                               \
                                                               {NULL},                                               \
                                                               gbees_framed_vector_##N##_f,                          \
                                                               gbees_framed_vector_##N##_d,                          \
                                                               GBEES_FRAMED_MEASURE_NAME(N),                         \
                                                               GBEES_FRAMED_BOUND_NAME(N),                           \
                                                               GBEES_FRAMED_LOG_LIKELIHOOD_NAME(N),                  \
                                                               GBEES_FRAMED_NOISE_NAME(N),                           \
                                                               NULL};

#define GBEES_FRAMED_BOTH(N, J) GBEES_FRAMED_COMPONENT(float, _f, N, J) GBEES_FRAMED_COMPONENT(double, _d, N, J)
#define GBEES_FRAMED_DRIFTS(N) GBEES_FRAMED_DRIFT(float, _f, N) GBEES_FRAMED_DRIFT(double, _d, N)

#endif
