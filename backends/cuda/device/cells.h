/* cells.h - types of probabilities and positions, and the geometry of a brick's 64 cells. */
#ifndef GBEES_CUDA_CELLS_H
#define GBEES_CUDA_CELLS_H

#include "device/platform.h"
#include "numerics/fixed.h"

#ifndef GBEES_DIFFUSION
#define GBEES_DIFFUSION 0
#endif
#ifndef GBEES_PRESERVING
#define GBEES_PRESERVING 0
#endif
#ifndef GBEES_ORDER
#define GBEES_ORDER 5
#endif
#ifndef GBEES_MOVING
#define GBEES_MOVING 0
#endif
#ifndef GBEES_DRIFT_TIME_DEPENDENT
#define GBEES_DRIFT_TIME_DEPENDENT 0
#endif
#ifndef GBEES_ADVECT_APART
#define GBEES_ADVECT_APART 0
#endif
#ifndef GBEES_SHARED
#define GBEES_SHARED 0
#endif

enum { DIM = GBEES_N, DIRECTIONS = 2 * GBEES_N, CELLS = 64 };

#ifndef GBEES_CLOSED
#define GBEES_CLOSED 0 /* 1: an axis is a circle, or has a wall */
#endif
#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif

typedef GBEES_REAL number; /* the type of probabilities */

/* The name of a function of core/numerics in the precision of probabilities. */
#if GBEES_REAL_IS_DOUBLE
#define GBEES_REAL_FN(name) name##_d
#else
#define GBEES_REAL_FN(name) name##_f
#endif

/* The type of positions, and the name of a function in their precision: double where a float does not resolve the
 * cells. */
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

/* The shape of a brick, which gbees_shape_set() has, too, as constants of the compiler: an axis has edge 2^bits; the
 * bits of all axes add up to 6 (64 cells), and the first axes have one more if 6 is no multiple of DIM.  `shift`: the
 * lowest bit of a cell's number that is the axis's. */
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

/* A cell's coordinate in its brick, 0 .. edge - 1. */
GBEES_NUM int cell_local(int cell, int axis)
{
    return cell >> axis_shift(axis) & (axis_edge(axis) - 1);
}

/* The lowest cell of line number `line`, 0 .. 64 / edge - 1, along an axis: a line is the cells of a brick in a row.
 */
GBEES_NUM int line_cell(int axis, int line)
{
    int low = line & ((1 << axis_shift(axis)) - 1);

    return (line >> axis_shift(axis)) << (axis_shift(axis) + axis_bits(axis)) | low;
}

/* An array of the density's size, [slot][cell]. */
GBEES_NUM number *rows_of(const gbees_setup *m, int which)
{
    return (number *)m->grid.rows[which];
}

/* The least probability that a cell keeps. Smaller ones become 0 before they are denormal numbers, which are slow. */
GBEES_NUM number least_number(void)
{
    return sizeof(number) == 4 ? (number)1e-30f : (number)1e-200;
}

/* Marks a cell: adds its probability to the mass, as a multiple of 2^-60, unless it is too small to be kept. Returns
 * the probability that the cell keeps. */
GBEES_NUM number mark_cell(number value, int64_t *mass)
{
    if (value < least_number())
        value = 0;
    *mass += gbees_fixed((double)value);
    return value;
}

/* The least number that is not below a threshold. Rounded to nearest, the threshold could become smaller, so that
 * cells below it would count as active. */
GBEES_NUM number least_above(double threshold)
{
    const number near = (number)threshold;

#if GBEES_REAL_IS_DOUBLE
    return near;
#else
    return (double)near < threshold ? nextafterf(near, (float)HUGE_VAL) : near;
#endif
}

/* A double as two integers, whose sums are the same in any order. */
GBEES_NUM gbees_exact_sum exact_of(double value)
{
    double high = floor(value * 65536.0); /* 2^16 */
    gbees_exact_sum sum;

    sum.high = nearest(high);
    sum.low = nearest((value - high * (1 / 65536.0)) * 4503599627370496.0); /* 2^52 */
    return sum;
}

/* Adds a double to a sum. */
GBEES_NUM void exact_add(gbees_exact_sum *to, double value)
{
    gbees_exact_sum sum = exact_of(value);

    to->high += sum.high;
    to->low += sum.low;
}

/* Where an axis begins in the tables of offsets: the sum of the edges of the axes before it. */
GBEES_NUM int cells_before(int axis)
{
    const int longer = axis < 6 % DIM ? axis : 6 % DIM; /* axes before it whose edge is twice that of the last one */

    return (axis + longer) << (6 / DIM);
}

/* The distance along an axis from a brick's base to a cell's centre, local = 0 .. edge - 1, and to a face, face = -1
 * .. edge + 1.
 */
GBEES_NUM position cell_offset(const gbees_setup *m, int axis, int local)
{
    return m->GBEES_POSITION_FN(cell)[cells_before(axis) + local];
}

GBEES_NUM position face_offset(const gbees_setup *m, int axis, int face)
{
    return m->GBEES_POSITION_FN(face)[cells_before(axis) + 3 * axis + face + 1];
}

/* A brick's base, [DIM]: the centre of its lowest cell. */
GBEES_NUM const position *brick_base(const gbees_setup *m, uint32_t slot)
{
    return (const position *)m->grid.base + (size_t)slot * DIM;
}

/* The component along an axis of the base of a brick whose key there is `key`. */
GBEES_NUM position base_along(const gbees_setup *m, int axis, int32_t key)
{
    return (position)(m->origin[axis] + m->width[axis] * ((double)key * m->shape.edge[axis]));
}

/* Stores that component, which is computed once, when the brick is inserted or moved. */
GBEES_NUM void set_base_along(const gbees_setup *m, uint32_t slot, int axis, int32_t key)
{
    ((position *)m->grid.base)[(size_t)slot * DIM + (size_t)axis] = base_along(m, axis, key);
}

/* Stores the base of a brick that has its key. By a warp. */
GBEES_NUM void set_base(const gbees_setup *m, uint32_t slot)
{
    for (int k = warp_lane(); k < DIM; k += WARP_SIZE)
        set_base_along(m, slot, k, m->grid.key[(size_t)slot * DIM + (size_t)k]);
    warp_sync();
}

/* The model's parameters; on a rotated grid, or one that moves, the frame is behind them. */
GBEES_NUM const double *model_parameters(const gbees_setup *m)
{
    return GBEES_ROTATED ? m->framed_d : m->parameters_d;
}

/* The model's parameters, as model_parameters(), in the precision of positions. */
GBEES_NUM const position *drift_parameters(const gbees_setup *m)
{
    return GBEES_ROTATED ? m->GBEES_POSITION_FN(framed) : m->GBEES_POSITION_FN(parameters);
}

/* The drift's component along an axis at a point x[DIM]. The axis is a constant to the compiler, which leaves out
 * what this component does not need. With GBEES_LOW_REGISTERS the opaque condition keeps the compiler from evaluating
 * the drift at several faces at once. */
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
