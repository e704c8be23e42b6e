/* frame_velocity.h - velocities relative to a frame that moves, at the faces of bricks and at the centres of their
 * cells.
 *
 * The model's own drift f is evaluated at points in the model's axes, a brick's centre plus those of a table, and
 * taken to the frame's axes: A^-1 f less the frame's own velocity, which is a table, too.
 */
#ifndef GBEES_CPU_FRAME_VELOCITY_H
#define GBEES_CPU_FRAME_VELOCITY_H

#include "face_velocity.h"
#include <string.h>

/* A brick's lowest cell: its centre in the model's axes, and the frame's own velocity there, [n] and zeros. */
typedef struct frame_base {
    _Alignas(64) double x[8], own[8];
    _Alignas(64) real rounded[8]; /* x */
} frame_base;

/* Some components of the drift at some points, in the precision that it is evaluated in. */
typedef struct drift_values {
    _Alignas(64) real f[GBEES_MAX_DIM][FACE_VALUES];
} drift_values;

typedef struct drift_values_f64 {
    _Alignas(64) double f[GBEES_MAX_DIM][FACE_VALUES];
} drift_values_f64;

/* Sets *to for a brick. */
INLINE void frame_base_of(const kernel_context *c, const brick_base *base, frame_base *to)
{
    const kernel_frame *frame = &c->frame;
    double8 x = *(const double8_unaligned *)frame->centre, own = *(const double8_unaligned *)frame->velocity;

    for (int m = 0; m < c->n; m++) {
        x += *(const double8_unaligned *)frame->axes[m] * base->f64[m];
        own += *(const double8_unaligned *)frame->gradient[m] * base->f64[m];
    }
    *(double8_unaligned *)to->x = x;
    *(double8_unaligned *)to->own = own;
    for (int k = 0; k < 8; k++)
        to->rounded[k] = (real)x[k];
}

/* Some points at which a component of A^-1 f is found, less the frame's own velocity, own + offset[count]. */
typedef struct frame_row {
    const double *inverse_f64; /* [n]: a row of A^-1 */
    const real *inverse;       /* the same, rounded */
    double own;
    const void *offset;
    int count;
} frame_row;

/* Sets out[count] to the component, for a constant n. */
INLINE void find_relative(const frame_row *row, const drift_values *values, int n, real *restrict out)
{
    const real *const inverse = row->inverse, *const offset = row->offset, own = (real)row->own;

    for (int i = 0; i < row->count; i++) {
        real sum = inverse[0] * values->f[0][i];

#pragma GCC unroll 8
        for (int k = 1; k < n; k++)
            sum += inverse[k] * values->f[k][i];
        out[i] = sum - (own + offset[i]);
    }
}

/* The same for a drift in double. */
INLINE void find_relative_f64(const frame_row *row, const drift_values_f64 *values, int n, real *restrict out)
{
    const double *const inverse = row->inverse_f64, *const offset = row->offset, own = row->own;

    for (int i = 0; i < row->count; i++) {
        double sum = inverse[0] * values->f[0][i];

#pragma GCC unroll 8
        for (int k = 1; k < n; k++)
            sum += inverse[k] * values->f[k][i];
        out[i] = (real)(sum - (own + offset[i]));
    }
}

/* Calls CALL(n) with a constant n. */
#define FOR_DIMENSION(n, CALL)                                                                                       \
    switch (n) {                                                                                                     \
    case 1:                                                                                                          \
        CALL(1);                                                                                                     \
        break;                                                                                                       \
    case 2:                                                                                                          \
        CALL(2);                                                                                                     \
        break;                                                                                                       \
    case 3:                                                                                                          \
        CALL(3);                                                                                                     \
        break;                                                                                                       \
    case 4:                                                                                                          \
        CALL(4);                                                                                                     \
        break;                                                                                                       \
    case 5:                                                                                                          \
        CALL(5);                                                                                                     \
        break;                                                                                                       \
    case 6:                                                                                                          \
        CALL(6);                                                                                                     \
        break;                                                                                                       \
    case 7:                                                                                                          \
        CALL(7);                                                                                                     \
        break;                                                                                                       \
    default:                                                                                                         \
        CALL(8);                                                                                                     \
    }

/* find_relative() for c->n. */
NOINLINE void relative_to_frame(const kernel_context *c, const frame_row *row, const drift_values *values, real *out){
#define CALL(n) find_relative(row, values, n, out)
    FOR_DIMENSION(c->n, CALL)
#undef CALL
}

NOINLINE void relative_to_frame_f64(const kernel_context *c, const frame_row *row, const drift_values_f64 *values,
                                    real *out){
#define CALL(n) find_relative_f64(row, values, n, out)
    FOR_DIMENSION(c->n, CALL)
#undef CALL
}

/* The row for component j, at points `first` .. first + count - 1 of a table. */
INLINE frame_row
    row_of(const kernel_context *c, const kernel_points *points, int j, const frame_base *base, int first, int count)
{
    const size_t at = (size_t)(GBEES_FRAME_INVERSE + j * c->n);

    return (frame_row){.inverse_f64 = c->drift.parameters_d + at,
                       .inverse = c->drift.PARAMETERS + at,
                       .own = base->own[j],
                       .offset = drift_is_f64(c) ? (const void *)((const double *)points->own[j] + first)
                                                 : (const void *)((const real *)points->own[j] + first),
                       .count = count};
}

/* Sets out[count] to the velocities across axis j at some face points of a brick, from number `first` of the table
 * on.
 */
INLINE void frame_face_velocities(const kernel_context *c, int j, const brick_base *brick, int first, int count,
                                  real *out)
{
    const kernel_points *points = &c->frame.faces[j];
    frame_base base;

    frame_base_of(c, brick, &base);
    const frame_row row = row_of(c, points, j, &base, first, count);
    if (drift_is_f64(c)) {
        drift_values_f64 values;
        const double *x[GBEES_MAX_DIM];
        double *to[GBEES_MAX_DIM];

        for (int k = 0; k < c->n; k++) {
            x[k] = (const double *)points->x[k] + first;
            to[k] = values.f[k];
        }
        c->frame.vector_d((size_t)count, c->time, base.x, x, c->drift.parameters_d, to);
        relative_to_frame_f64(c, &row, &values, out);
    } else {
        drift_values values;
        const real *x[GBEES_MAX_DIM];
        real *to[GBEES_MAX_DIM];

        for (int k = 0; k < c->n; k++) {
            x[k] = (const real *)points->x[k] + first;
            to[k] = values.f[k];
        }
        c->frame.VECTOR((size_t)count, (real)c->time, base.rounded, x, c->drift.PARAMETERS, to);
        relative_to_frame(c, &row, &values, out);
    }
}

/* Sets out[j], [cells], to the velocities along each axis j at the centres of a brick's cells. */
INLINE void frame_cell_velocities(const kernel_context *c, const brick_base *brick, real *const *out)
{
    const kernel_points *points = &c->frame.cells;
    const int cells = c->g->shape.cells;
    frame_base base;

    frame_base_of(c, brick, &base);
    if (drift_is_f64(c)) {
        drift_values_f64 values;
        double *to[GBEES_MAX_DIM];

        for (int k = 0; k < c->n; k++)
            to[k] = values.f[k];
        c->frame.vector_d((size_t)cells, c->time, base.x, (const double *const *)points->x, c->drift.parameters_d,
                          to);
        for (int j = 0; j < c->n; j++) {
            const frame_row row = row_of(c, points, j, &base, 0, cells);

            relative_to_frame_f64(c, &row, &values, out[j]);
        }
    } else {
        drift_values values;
        real *to[GBEES_MAX_DIM];

        for (int k = 0; k < c->n; k++)
            to[k] = values.f[k];
        c->frame.VECTOR((size_t)cells, (real)c->time, base.rounded, (const real *const *)points->x,
                        c->drift.PARAMETERS, to);
        for (int j = 0; j < c->n; j++) {
            const frame_row row = row_of(c, points, j, &base, 0, cells);

            relative_to_frame(c, &row, &values, out[j]);
        }
    }
}

#endif
