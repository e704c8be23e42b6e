/* cells.h - types of the density and of positions, and the cells of a brick. */
#ifndef GBEES_CUDA_CELLS_H
#define GBEES_CUDA_CELLS_H

#include "device/platform.h"
#include "numerics/fixed.h"

#ifndef GBEES_DIFFUSION
#define GBEES_DIFFUSION 0
#endif
#ifndef GBEES_DRIFT_TIME_DEPENDENT
#define GBEES_DRIFT_TIME_DEPENDENT 0
#endif
#ifndef GBEES_ADVECT_APART
#define GBEES_ADVECT_APART 0
#endif
#ifndef GBEES_LIMITED
#define GBEES_LIMITED 0
#endif
#ifndef GBEES_SMALL
#define GBEES_SMALL 0
#endif

enum { DIM = GBEES_N, DIRECTIONS = 2 * GBEES_N, CELLS = 64 };

#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif

typedef GBEES_REAL number; /* a probability */

/* For the numerics' templates. */
#if GBEES_REAL_IS_DOUBLE
#define GBEES_REAL_FN(name) name##_d
#else
#define GBEES_REAL_FN(name) name##_f
#endif

/* Positions and velocities: in double where a float does not resolve the cells. */
#if GBEES_DRIFT_F64
typedef double position;
#else
typedef GBEES_REAL position;
#endif
#if GBEES_DRIFT_F64 || GBEES_REAL_IS_DOUBLE
#define GBEES_POSITION_FN(name) name##_d
#else
#define GBEES_POSITION_FN(name) name##_f
#endif

/* Six halvings, dealt to the axes in turn, as in gbees_shape_set(): here as constants of the compiler. */
GBEES_NUM int axis_bits(int axis)
{
    return 6 / DIM + (axis < 6 % DIM);
}

GBEES_NUM int axis_shift(int axis)
{
    return axis * (6 / DIM) + (axis < 6 % DIM ? axis : 6 % DIM);
}

GBEES_NUM int axis_edge(int axis)
{
    return 1 << axis_bits(axis);
}

GBEES_NUM int cell_local(int cell, int axis)
{
    return cell >> axis_shift(axis) & (axis_edge(axis) - 1);
}

/* The lowest cell of line `line` across an axis. */
GBEES_NUM int line_cell(int axis, int line)
{
    int low = line & ((1 << axis_shift(axis)) - 1);

    return (line >> axis_shift(axis)) << (axis_shift(axis) + axis_bits(axis)) | low;
}

GBEES_NUM number *rows_of(const gbees_setup *m, int which)
{
    return (number *)m->grid.rows[which];
}

/* Denormals are slow and worth nothing. */
GBEES_NUM number least_number(void)
{
    return sizeof(number) == 4 ? (number)1e-30f : (number)1e-200;
}

/* The least number that is no smaller than a threshold: what is rounded down would let values through that are below
 * it. */
GBEES_NUM number least_above(double threshold)
{
    const number near = (number)threshold;

#if GBEES_REAL_IS_DOUBLE
    return near;
#else
    return (double)near < threshold ? nextafterf(near, (float)HUGE_VAL) : near;
#endif
}

GBEES_NUM gbees_exact_sum exact_of(double value)
{
    double high = floor(value * 65536.0); /* 2^16 */
    gbees_exact_sum sum;

    sum.high = nearest(high);
    sum.low = nearest((value - high * (1 / 65536.0)) * 4503599627370496.0); /* 2^52 */
    return sum;
}

GBEES_NUM void exact_add(gbees_exact_sum *to, double value)
{
    gbees_exact_sum sum = exact_of(value);

    to->high += sum.high;
    to->low += sum.low;
}

/* Where an axis's part of the tables of offsets begins: the edges of the axes before it, added up. */
GBEES_NUM int cells_before(int axis)
{
    const int longer = axis < 6 % DIM ? axis : 6 % DIM; /* axes with an edge twice that of the last */

    return (axis + longer) << (6 / DIM);
}

/* From a brick's base: a cell's centre, and a face, -1 .. edge + 1. */
GBEES_NUM position cell_offset(const gbees_setup *m, int axis, int local)
{
    return m->GBEES_POSITION_FN(cell)[cells_before(axis) + local];
}

GBEES_NUM position face_offset(const gbees_setup *m, int axis, int face)
{
    return m->GBEES_POSITION_FN(face)[cells_before(axis) + 3 * axis + face + 1];
}

/* The centre of the brick's lowest cell. */
GBEES_NUM const position *brick_base(const gbees_setup *m, uint32_t slot)
{
    return (const position *)m->grid.base + (size_t)slot * DIM;
}

/* Of a brick with this key. */
GBEES_NUM position base_along(const gbees_setup *m, int axis, int32_t key)
{
    return (position)(m->origin[axis] + m->width[axis] * ((double)key * m->shape.edge[axis]));
}

/* Computed once, when a brick has its key. */
GBEES_NUM void set_base_along(const gbees_setup *m, uint32_t slot, int axis, int32_t key)
{
    ((position *)m->grid.base)[(size_t)slot * DIM + (size_t)axis] = base_along(m, axis, key);
}

/* By a warp. */
GBEES_NUM void set_base(const gbees_setup *m, uint32_t slot)
{
    for (int k = warp_lane(); k < DIM; k += WARP_SIZE)
        set_base_along(m, slot, k, m->grid.key[(size_t)slot * DIM + (size_t)k]);
    warp_sync();
}

/* With the frame of a turned grid. */
GBEES_NUM const position *drift_parameters(const gbees_setup *m)
{
#if GBEES_ROTATED && !GBEES_DRIFT_F64 && !GBEES_REAL_IS_DOUBLE
    return m->frame_f;
#else
    return m->GBEES_POSITION_FN(parameters);
#endif
}

/* The drift's component along an axis, which is a constant: what it does not need is not computed.  In a lean kernel
 * the velocities at several faces are not computed side by side, where each takes many registers. */
GBEES_NUM number velocity(const gbees_setup *m, const position *x, int axis, double time)
{
    const position *parameters = drift_parameters(m);
    position dxdt[DIM];

    if (GBEES_LOW_REGISTERS && (GBEES_ROTATED || sizeof(position) == sizeof(double)) && !opaque_true())
        return 0;
    if (GBEES_LOW_REGISTERS && GBEES_ROTATED && sizeof(position) == sizeof(float))
        parameters = (const position *)opaque(parameters);
    GBEES_POSITION_FN(gbees_model_drift)((position)time, x, parameters, dxdt);
    return (number)dxdt[axis];
}

#endif
