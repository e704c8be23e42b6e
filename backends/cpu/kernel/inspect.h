/* inspect.h - flow masks and CFL rates of bricks; sums and marks of their cells. */
#ifndef GBEES_CPU_INSPECT_H
#define GBEES_CPU_INSPECT_H

#include "cells.h"
#include "centre_velocity.h"
#include "to_planes.h"
#include <math.h>
#include <string.h>

/* Sets down[cells] and up[cells] to the speeds out of each cell through its lower and its upper face, from the
 * velocities u at face planes 0 .. edge. */
INLINE void speeds_of_faces(const real *u, brick_axis a, real *down, real *up)
{
    memset(down, 0, (size_t)a.cells * sizeof *down);
    memset(up, 0, (size_t)a.cells * sizeof *up);
    add_from_planes(u, down, a);
    add_from_planes(u + cells_of_plane(a), up, a);
    for (int i = 0; i < a.cells; i++)
        down[i] = -down[i];
}

/* The speeds of a brick's cells along an axis, and what follows from them. */
typedef struct axis_flow {
    real down[64], up[64]; /* out of each cell through its lower and its upper face */
    real over_width;       /* 1 / the width of a cell */
    uint64_t *flow;        /* [2]: the flow masks, without negligible flow */
} axis_flow;

/* Sets the masks of an axis, and adds it to the cells' rates.  A velocity or a divergence that is not finite makes a
 * cell's rate not a number. */
INLINE void inspect_axis(const axis_flow *axis, int cells, const kernel_context *c, real *rate)
{
    const real *const down = axis->down, *const up = axis->up;

    axis->flow[0] = compare_cells(down, (real)c->flow.negligible, 1);
    axis->flow[1] = compare_cells(up, (real)c->flow.negligible, 1);
    for (int i = 0; i < cells; i++) {
        real spread = up[i] + down[i];
        real here = (up[i] < 0 ? -up[i] : up[i]) * axis->over_width;

        rate[i] = c->scheme.rate_is_sum ? rate[i] + here : here > rate[i] ? here : rate[i] + (here - here);
        rate[i] += spread - spread;
    }
}

/* The largest of rate[count], at least 0; not a number if one is not finite. */
INLINE real largest_rate(const real *rate, int count)
{
    vector high = {0}, odd = {0};
    real most = 0;
    int i = 0;

    for (; i + LANES <= count; i += LANES) {
        vector v = load(rate + i);

        high = gbees_highest_vector(v, high);
        odd += v - v;
    }
    for (int l = 0; l < LANES; l++) {
        most = high[l] > most ? high[l] : most;
        most += odd[l];
    }
    for (; i < count; i++)
        most = rate[i] <= most || isnan(most) ? most : rate[i];
    return most;
}

/* Sets the rates of cells outside the bound to 0, as P is 0 there; one that is not finite becomes not a number. */
NOINLINE void ignore_outside(real *rate, uint64_t inside, int cells)
{
    for (int i = 0; i < cells; i++)
        rate[i] = inside >> i & 1 ? rate[i] : rate[i] - rate[i];
}

/* Stores along which axes a brick is diverging or one-signed. */
INLINE void store_signs(const kernel_context *c, uint32_t slot, const uint64_t *flow)
{
    const uint64_t all = c->g->shape.all;
    unsigned diverging = 0, one_signed = 0;

    for (int j = 0; j < c->n; j++, flow += 2) {
        diverging |= (unsigned)((flow[0] & flow[1]) != 0) << j;
        one_signed |= (unsigned)(flow[1] == all && !flow[0]) << j | (unsigned)(flow[0] == all && !flow[1]) << (8 + j);
    }
    c->flow.diverging[slot] = (unsigned char)diverging;
    c->flow.one_signed[slot] = (uint16_t)one_signed;
}

/* Sets the speeds of a brick's cells along axis j. */
INLINE void take_speeds(const kernel_context *c, const brick_base *base, int j, axis_flow *axis)
{
    const gbees_shape *shape = &c->g->shape;
    real u[FACE_VALUES];

    velocities(c, j, base, 0, c->drift.axis[j].edge + 1, shape->cells / c->drift.axis[j].edge, u);
#define CALL(a) speeds_of_faces(u, a, axis->down, axis->up)
    FOR_AXIS(shape, j, CALL)
#undef CALL
}

/* The same from the velocities at the centres. */
INLINE void take_centre_speeds(const kernel_context *c, const centre_values *values, int j, axis_flow *axis)
{
#define CALL(a) speeds_of_centres(values + j, a, axis->down, axis->up)
    FOR_AXIS(&c->g->shape, j, CALL)
#undef CALL
}

/* inspect() of struct kernel. */
static void inspect(const kernel_context *c, const uint32_t *slots, uint32_t count)
{
    const gbees_shape *shape = &c->g->shape;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t slot = slots[k];
        brick_base base;
        centre_values centres[GBEES_MAX_DIM];
        real rate[64] = {0};
        uint64_t flow[2 * GBEES_MAX_DIM];

        base_of(c, slot, &base);
        if (c->frame.moves)
            centre_velocities(c, &base, centres);
        for (int j = 0; j < c->n; j++) {
            axis_flow axis = {.over_width = (real)(1 / c->drift.axis[j].width), .flow = flow + 2 * j};

            if (c->frame.moves)
                take_centre_speeds(c, centres, j, &axis);
            else
                take_speeds(c, &base, j, &axis);
            inspect_axis(&axis, shape->cells, c, rate);
        }
        store_signs(c, slot, flow);
        if (c->flow.leaving)
            memcpy(c->flow.leaving + (size_t)slot * (size_t)(2 * c->n), flow, (size_t)(2 * c->n) * sizeof *flow);
        if (c->rows.inside && c->rows.inside[slot] != shape->all)
            ignore_outside(rate, c->rows.inside[slot], shape->cells);
        c->flow.rate[slot] = (double)largest_rate(rate, shape->cells);
    }
}

/* find_flow() of struct kernel: along an axis that is one-signed the masks follow from that; along others the drift
 * is evaluated again. */
static void find_flow(const kernel_context *c, uint32_t slot, uint64_t *flow)
{
    const gbees_shape *shape = &c->g->shape;
    const unsigned one_signed = c->flow.one_signed[slot];
    brick_base base;
    axis_flow axis;

    base_of(c, slot, &base);
    for (int j = 0; j < c->n; j++, flow += 2) {
        flow[0] = one_signed >> (8 + j) & 1 ? shape->all : 0;
        flow[1] = one_signed >> j & 1 ? shape->all : 0;
        if (flow[0] | flow[1])
            continue;
        take_speeds(c, &base, j, &axis);
        flow[0] = compare_cells(axis.down, 0, 1);
        flow[1] = compare_cells(axis.up, 0, 1);
    }
}

static double sum_rows(const kernel_context *c, const void *rows, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    double sum = 0;

    for (uint32_t k = from; k < to; k++)
        sum += sum_cells((const real *)rows + c->g->used[k] * cells);
    return sum;
}

static uint64_t mark_rows(const kernel_context *c, const void *rows, double threshold, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    real least = (real)threshold;
    uint64_t above = 0;

    if ((double)least < threshold) /* it was rounded down: cells below the threshold would count as active */
        least = NEXT_AFTER(least, INFINITY);
    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];

        c->rows.active[slot] = compare_cells((const real *)rows + slot * cells, least, 0);
        above += (uint64_t)__builtin_popcountll(c->rows.active[slot]);
    }
    return above;
}

static void regroup(const grid *g, int axis, const void *cells, void *planes)
{
#define CALL(a) to_planes(cells, planes, a)
    FOR_AXIS(&g->shape, axis, CALL)
#undef CALL
}

#endif
