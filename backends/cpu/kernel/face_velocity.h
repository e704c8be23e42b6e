/* face_velocity.h - velocities at the faces of bricks.
 *
 * The model evaluates one component of its drift at all points of some face planes across that component's axis.  A
 * model that takes whole planes (gbees_planes_f) computes once what their points have in common; others take a list
 * of points. Both give the same bits.
 */
#ifndef GBEES_CPU_FACE_VELOCITY_H
#define GBEES_CPU_FACE_VELOCITY_H

#include "cells.h"

enum {
    FACE_VALUES = 4 * 64, /* velocities of a brick, at most: edge + 3 planes of 64 / edge cells, for an edge of 1 */
    PLANES_AT_ONCE = 8,   /* planes of a brick, at most: the edge is 4 at most if a model takes planes */
    F64_AT_ONCE = 1024    /* points of a pencil that are evaluated in double before they are rounded to float */
};

typedef int32_t int32x8 __attribute__((vector_size(32)));
typedef double double8_unaligned __attribute__((vector_size(64), aligned(8), may_alias));

/* The centre of a brick's lowest cell, [n] and zeros, in double and rounded to the density's precision. */
typedef struct brick_base {
    _Alignas(64) double f64[8];
    _Alignas(64) real rounded[8];
} brick_base;

/* Sets *to to from[n] and zeros. */
INLINE void load_integers(const int32_t *from, int n, int32x8 *to)
{
#if defined(__AVX512VL__)
    *to = (int32x8)_mm256_maskz_loadu_epi32((__mmask8)((1u << n) - 1), from);
#else
    *to = (int32x8){0};
    for (int k = 0; k < n; k++)
        (*to)[k] = from[k];
#endif
}

/* Sets *base for a brick.  Key times brick width has the bits of cell index times cell width, as edges are powers
 * of 2. */
INLINE void base_of(const kernel_context *c, uint32_t slot, brick_base *base)
{
    int32x8 key;

    load_integers(grid_key(c->g, slot), c->n, &key);
    const double8 centre =
        *(const double8_unaligned *)c->geometry.origin +
        *(const double8_unaligned *)c->geometry.brick_width * __builtin_convertvector(key, double8);

    *(double8_unaligned *)base->f64 = centre;
    for (int k = 0; k < 8; k++)
        base->rounded[k] = (real)centre[k];
}

/* Whether the density is float and the drift is evaluated in double. */
INLINE int drift_is_f64(const kernel_context *c)
{
    return GBEES_REAL_BITS == 32 && c->drift.f64;
}

/* Sets out[points] to the velocities at face points of a brick, as a list of points; offset: their coordinates
 * (kernel_axis). */
INLINE void point_velocities(const kernel_context *c, int axis, const brick_base *base, const void *const *offset,
                             int points, real *out)
{
    const kernel_axis *a = &c->drift.axis[axis];

    if (drift_is_f64(c)) {
        double u[FACE_VALUES];

        a->component_d((size_t)points, c->time, base->f64, (const double *const *)offset, c->drift.parameters_d, u);
        for (int i = 0; i < points; i++)
            out[i] = (real)u[i];
    } else {
        a->COMPONENT((size_t)points, (real)c->time, base->rounded, (const real *const *)offset, c->drift.PARAMETERS,
                     out);
    }
}

/* Whether the model takes planes across an axis. */
INLINE int has_planes(const kernel_context *c, int axis)
{ /* NOLINTNEXTLINE(bugprone-branch-clone): PLANES is planes_d, or planes_f */
    return drift_is_f64(c) ? c->drift.axis[axis].planes_d != NULL : c->drift.axis[axis].PLANES != NULL;
}

/* Sets out[planes][plane_cells] to the velocities at face planes of a brick, from plane `from` on, for a model that
 * takes planes. The positions of all planes along the axis are computed, as their number is a constant. */
INLINE void plane_velocities(const kernel_context *c, int axis, const brick_base *base, int from, int planes,
                             int plane_cells, real *out)
{
    const kernel_axis *a = &c->drift.axis[axis];
    const int all = 64 / plane_cells + 3;

    if (drift_is_f64(c)) {
        double at[PLANES_AT_ONCE], u[PLANES_AT_ONCE * 64];

#pragma GCC unroll 8
        for (int q = 0; q < all; q++)
            at[q] = base->f64[axis] + ((const double *)a->along)[q];
        a->planes_d((size_t)planes, (size_t)plane_cells, c->time, base->f64, (const double *const *)a->offset,
                    at + from + 1, c->drift.parameters_d, u);
        for (int i = 0; i < planes * plane_cells; i++)
            out[i] = (real)u[i];
    } else {
        real at[PLANES_AT_ONCE];

#pragma GCC unroll 8
        for (int q = 0; q < all; q++)
            at[q] = base->rounded[axis] + ((const real *)a->along)[q];
        a->PLANES((size_t)planes, (size_t)plane_cells, (real)c->time, base->rounded, (const real *const *)a->offset,
                  at + from + 1, c->drift.PARAMETERS, out);
    }
}

/* Sets out[planes][plane_cells] to the velocities at face planes of a brick, from plane `from` on: -1, 0 or 1. */
INLINE void velocities(const kernel_context *c, int axis, const brick_base *base, int from, int planes,
                       int plane_cells, real *out)
{
    const kernel_axis *a = &c->drift.axis[axis];

    if (plane_cells % GBEES_LANES == 0 && has_planes(c, axis)) {
        plane_velocities(c, axis, base, from, planes, plane_cells, out);
    } else {
        const void *const *offset = from < 0 ? a->offset : from ? a->upper : a->inner;

        point_velocities(c, axis, base, offset, planes * plane_cells, out);
    }
}

#endif
