/* gbees/model_drift.h - the loops over points of gbees/model_build.h that evaluate the drift, and the points of all
 * its loops. */
#ifndef GBEES_MODEL_DRIFT_H
#define GBEES_MODEL_DRIFT_H

/* The coordinates x[N] of point i. */

/* `column` is a copy of `offset`, which the compiler can keep in registers. */
#define GBEES_COLUMNS(R, N)                                                                                          \
    const R *column[N];                                                                                              \
    GBEES_UNROLL for (int k = 0; k < N; k++) column[k] = offset[k]

#define GBEES_POINT_own(R, S, N)                                                                                     \
    R x[N];                                                                                                          \
    GBEES_UNROLL for (int k = 0; k < N; k++) x[k] = origin[k] + column[k][i]

#define GBEES_POINT_framed(R, S, N)                                                                                  \
    R on_grid[N], x[N];                                                                                              \
    GBEES_UNROLL for (int k = 0; k < N; k++) on_grid[k] = origin[k] + column[k][i];                                  \
    gbees_frame_point##S(N, p, on_grid, x)

/* ---- the drift ---- */

#define GBEES_COMPONENT_own(R, S, N, J)                                                                              \
    GBEES_CLONES static void gbees_own_loop_##N##_##J##S(size_t count, R t, const R *__restrict origin,              \
                                                         const R *const *offset, const R *__restrict p,              \
                                                         R *__restrict out)                                          \
    {                                                                                                                \
        GBEES_COLUMNS(R, N);                                                                                         \
        GBEES_SIMD for (size_t i = 0; i < count; i++)                                                                \
        {                                                                                                            \
            GBEES_POINT_own(R, S, N);                                                                                \
            R dxdt[N];                                                                                               \
            gbees_equation_drift##S(N, t, x, p, dxdt);                                                               \
            out[i] = dxdt[J];                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    GBEES_GROUPED(R, S, gbees_own_##N##_##J##S, gbees_own_loop_##N##_##J##S, N, component, R *out)

/* A component along a framed grid's axis depends on the whole drift, so that all components share one function. */
#define GBEES_COMPONENT_framed(R, S, N, J)                                                                           \
    static void gbees_framed_loop_##N##_##J##S(size_t count, R t, const R *origin, const R *const *offset,           \
                                               const R *p, R *out)                                                   \
    {                                                                                                                \
        gbees_framed_drift_##N##S(J, count, t, origin, offset, p, out);                                              \
    }                                                                                                                \
    GBEES_GROUPED(R, S, gbees_framed_##N##_##J##S, gbees_framed_loop_##N##_##J##S, N, component, R *out)

/* The inner loop has constant length, one or a few vectors, so that the compiler keeps terms that are the same in all
 * planes in registers. */
#define GBEES_PLANES(R, S, N, J)                                                                                     \
    GBEES_CLONES static void gbees_planes_##N##_##J##S(size_t planes, size_t lanes, R t, const R *__restrict origin, \
                                                       const R *const *offset, const R *along,                       \
                                                       const R *__restrict p, R *__restrict out)                     \
    {                                                                                                                \
        GBEES_COLUMNS(R, N);                                                                                         \
        for (size_t first = 0; first < lanes; first += GBEES_LANES)                                                  \
            for (size_t q = 0; q < planes; q++)                                                                      \
                GBEES_SIMD for (size_t l = 0; l < GBEES_LANES; l++)                                                  \
                {                                                                                                    \
                    R x[N], dxdt[N];                                                                                 \
                    GBEES_UNROLL for (int k = 0; k < N; k++) x[k] =                                                  \
                        k == J ? along[q] : origin[k] + column[k][first + l];                                        \
                    gbees_equation_drift##S(N, t, x, p, dxdt);                                                       \
                    out[q * lanes + first + l] = dxdt[J];                                                            \
                }                                                                                                    \
    }

/* Trajectories spend their time in the whole drift, in double: all that it calls is in its loop, which is else not
 * vectorised (clang has no such attribute for clones). In float it is there to be checked. */
#define GBEES_CLONES_f
#define GBEES_CLONES_d GBEES_CLONES
#define GBEES_FLAT_f
#ifdef __clang__
#define GBEES_FLAT_d GBEES_CLONES
#else
#define GBEES_FLAT_d GBEES_CLONES __attribute__((flatten))
#endif

/* The loop of a whole drift at the time TIME, whose component j is ALONG. Components that the drift does not write
 * stay NaN, which the solver and gbees-plugin report. */
#define GBEES_VECTORS(AXES, R, S, N, TIME, ALONG)                                                                    \
    GBEES_COLUMNS(R, N);                                                                                             \
    R *to[N];                                                                                                        \
    GBEES_UNROLL for (int j = 0; j < N; j++) to[j] = out[j];                                                         \
    GBEES_SIMD for (size_t i = 0; i < count; i++)                                                                    \
    {                                                                                                                \
        GBEES_POINT_##AXES(R, S, N);                                                                                 \
        R dxdt[N];                                                                                                   \
        GBEES_UNROLL for (int k = 0; k < N; k++) dxdt[k] = (R)NAN;                                                   \
        gbees_equation_drift##S(N, TIME, x, p, dxdt);                                                                \
        GBEES_UNROLL for (int j = 0; j < N; j++) to[j][i] = ALONG;                                                   \
    }

#define GBEES_DRIFT_own(R, S, N)                                                                                     \
    GBEES_FLAT##S static void gbees_own_loop_##N##S(size_t count, R t, const R *__restrict origin,                   \
                                                    const R *const *offset, const R *__restrict p, R *const *out)    \
    {                                                                                                                \
        GBEES_VECTORS(own, R, S, N, t, dxdt[j]);                                                                     \
    }                                                                                                                \
    GBEES_GROUPED(R, S, gbees_own_vector_##N##S, gbees_own_loop_##N##S, N, vector, R *const *out)

#define GBEES_DRIFT_times(N)                                                                                         \
    GBEES_FLAT_d static void gbees_own_times_##N(size_t count, const double *t, const double *origin,                \
                                                 const double *const *offset, const double *__restrict p,            \
                                                 double *const *out)                                                 \
    {                                                                                                                \
        GBEES_VECTORS(own, double, _d, N, t[i], dxdt[j]);                                                            \
    }

#define GBEES_DRIFT_framed(R, S, N)                                                                                  \
    GBEES_CLONES static void gbees_framed_drift_##N##S(int j, size_t count, R t, const R *__restrict origin,         \
                                                       const R *const *offset, const R *__restrict p, R *out)        \
    {                                                                                                                \
        GBEES_COLUMNS(R, N);                                                                                         \
        GBEES_SIMD for (size_t i = 0; i < count; i++)                                                                \
        {                                                                                                            \
            GBEES_POINT_framed(R, S, N);                                                                             \
            R dxdt[N];                                                                                               \
            gbees_equation_drift##S(N, t, x, p, dxdt);                                                               \
            out[i] = gbees_frame_along##S(N, j, p, on_grid, dxdt);                                                   \
        }                                                                                                            \
    }                                                                                                                \
    GBEES_CLONES##S static void gbees_framed_loop_##N##S(                                                            \
        size_t count, R t, const R *__restrict origin, const R *const *offset, const R *__restrict p, R *const *out) \
    {                                                                                                                \
        GBEES_VECTORS(framed, R, S, N, t, gbees_frame_along##S(N, j, p, on_grid, dxdt));                             \
    }                                                                                                                \
    GBEES_GROUPED(R, S, gbees_framed_vector_##N##S, gbees_framed_loop_##N##S, N, vector, R *const *out)

#endif
