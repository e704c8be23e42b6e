/* moments.h - moments of the density.
 *
 * The bits of a cell's number in its brick are its local coordinates.  So all moments about the brick's lowest cell
 * follow from 22 sums, for every shape: over all cells, over those with one of the 6 bits set, and over those with
 * two set.  A brick is eight vectors of eight cells: the upper three bits are the vector's number, the lower three
 * the lane's.  Sums over vectors are formed for each brick; lanes are added up at the end only.
 */
#ifndef GBEES_CPU_MOMENTS_H
#define GBEES_CPU_MOMENTS_H

#include "cells.h"
#include "logarithm.h"
#include <float.h>

enum { BITS = 6, LANE_BITS = 3, DOUBLES = VECTOR_BYTES / 8 };

/* Sums by lane: over all vectors, and over those whose number has a bit set. */
typedef struct bit_sums {
    double8 all, with[BITS - LANE_BITS];
} bit_sums;

/* All sums over a range of bricks. A brick's place is the multi-index of its lowest cell. */
typedef struct moment_sums {
    bit_sums own;                               /* of P */
    bit_sums placed[GBEES_MAX_DIM];             /* of P times the brick's place along an axis */
    double8 pair[BITS - LANE_BITS];             /* of P of the vectors whose number has two bits */
    double8 square[KERNEL_SECONDS];             /* of P times two places */
    double log[8] __attribute__((aligned(64))); /* of P log P */
    double peak;                                /* the largest P */
    uint32_t peak_slot;
    int peak_cell;
} moment_sums;

/* ---- each brick ------------------------------------------------------------------------------------------------ */

/* Adds P log P of a brick's cells p[64]; P below the smallest normal number count as 0. */
INLINE void add_logarithms(moment_sums *s, const double *p)
{
    for (int i = 0; i < 64; i += DOUBLES) {
        const double_vector v = *(const double_vector *)(p + i), least = DBL_MIN - (double_vector){0},
                            one = 1 - (double_vector){0};
        word_vector some = (word_vector)(v >= least);
        double_vector x = (double_vector)(((word_vector)v & some) | ((word_vector)one & ~some));

        *(double_vector *)(s->log + i % 8) += v * vector_log(x);
    }
}

/* Updates the largest P, and the first cell that has it. */
INLINE void find_peak(moment_sums *s, uint32_t slot, const double *p)
{
    word_vector above = {0};
    uint64_t any = 0;

    for (int i = 0; i < 64; i += DOUBLES)
        above |= (word_vector)(*(const double_vector *)(p + i) > s->peak - (double_vector){0});
    for (int l = 0; l < DOUBLES; l++)
        any |= above[l];
    for (int i = 0; i < 64 && any; i++)
        if (p[i] > s->peak) {
            s->peak = p[i];
            s->peak_slot = slot;
            s->peak_cell = i;
        }
}

/* Adds a brick's cells, v[i] being cells 8 i .. 8 i + 7, and sets *sum to the sums of this brick alone. */
INLINE void add_cells(moment_sums *s, const double8 *v, bit_sums *sum)
{
    const double8 odd = v[1] + v[3], high_odd = v[5] + v[7], second = v[2] + v[3], third = v[4] + v[5],
                  both = v[6] + v[7];

    sum->all = ((v[0] + v[1]) + second) + (third + both);
    sum->with[0] = odd + high_odd;
    sum->with[1] = second + both;
    sum->with[2] = third + both;
    s->own.all += sum->all;
    for (int b = 0; b < BITS - LANE_BITS; b++)
        s->own.with[b] += sum->with[b];
    s->pair[0] += v[3] + v[7];
    s->pair[1] += high_odd;
    s->pair[2] += both;
}

/* Adds a brick's sums times its place, base[n]. */
INLINE void add_place(moment_sums *s, const bit_sums *sum, const double *base, int n)
{
    int at = 0;

    for (int j = 0; j < n; j++) {
        const double8 all = sum->all * base[j];

        s->placed[j].all += all;
        for (int b = 0; b < BITS - LANE_BITS; b++)
            s->placed[j].with[b] += sum->with[b] * base[j];
        for (int k = j; k < n; k++)
            s->square[at++] += all * base[k];
    }
}

/* Adds used bricks from .. to - 1. */
INLINE void add_bricks(const kernel_context *c, const void *rows, uint32_t from, uint32_t to, moment_sums *s)
{
    const gbees_shape *shape = &c->g->shape;
    double8 v[8] = {{0}};
    double *p = (double *)v, base[GBEES_MAX_DIM];
    bit_sums sum;

    for (uint32_t k = from; k < to; k++) {
        const uint32_t slot = c->g->used[k];
        const int32_t *key = grid_key(c->g, slot);
        const real *row = (const real *)rows + (size_t)slot * (size_t)shape->cells;

        for (int i = 0; i < 8; i++)
            v[i] = __builtin_convertvector(*(const real8 *)(row + 8 * i), double8);
        for (int j = 0; j < c->n; j++)
            base[j] = (double)key[j] * shape->edge[j];
        add_logarithms(s, p);
        find_peak(s, slot, p);
        add_cells(s, v, &sum);
        add_place(s, &sum, base, c->n);
    }
}

/* ---- moments from the sums
 * ----------------------------------------------------------------------------------------------- */

/* The sum of the lanes whose number has all of these bits. */
static double lanes_with(const double8 *v, int bits)
{
    double sum = 0;

    for (int l = 0; l < 8; l++)
        if ((l & bits) == bits)
            sum += (*v)[l];
    return sum;
}

/* The sum over the cells whose number has a bit. */
static double with_bit(const bit_sums *sum, int bit)
{
    return bit < LANE_BITS ? lanes_with(&sum->all, 1 << bit) : lanes_with(&sum->with[bit - LANE_BITS], 0);
}

/* The sum of P over the cells whose number has bits a and b. */
static double with_bits(const moment_sums *s, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;

    if (low == high || high < LANE_BITS)
        return high < LANE_BITS ? lanes_with(&s->own.all, 1 << low | 1 << high) : with_bit(&s->own, low);
    if (low < LANE_BITS)
        return lanes_with(&s->own.with[high - LANE_BITS], 1 << low);
    return lanes_with(&s->pair[low + high - 2 * LANE_BITS - 1], 0);
}

/* The first moment of the local coordinate along an axis. */
static double first_of(const gbees_shape *shape, const bit_sums *sum, int axis)
{
    double first = 0;

    for (int b = 0; b < shape->log2_edge[axis]; b++)
        first += (1 << b) * with_bit(sum, shape->shift[axis] + b);
    return first;
}

/* The second moment of the local coordinates along two axes. */
static double second_of(const gbees_shape *shape, const moment_sums *s, int j, int k)
{
    double second = 0;

    for (int a = 0; a < shape->log2_edge[j]; a++)
        for (int b = 0; b < shape->log2_edge[k]; b++)
            second += (1 << (a + b)) * with_bits(s, shape->shift[j] + a, shape->shift[k] + b);
    return second;
}

/* Sets the moments from the sums. */
static void store_moments(const gbees_shape *shape, const moment_sums *s, kernel_moments *out)
{
    const int n = shape->n;
    int at = 0;

    *out = (kernel_moments){.peak = s->peak, .peak_slot = s->peak_slot, .peak_cell = s->peak_cell};
    out->mass = lanes_with(&s->own.all, 0);
    for (int l = 0; l < 8; l++)
        out->log += s->log[l];
    for (int j = 0; j < n; j++)
        out->first[j] = first_of(shape, &s->own, j) + lanes_with(&s->placed[j].all, 0);
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++, at++)
            out->second[at] = second_of(shape, s, j, k) + first_of(shape, &s->placed[j], k) +
                              first_of(shape, &s->placed[k], j) + lanes_with(&s->square[at], 0);
}

static void moments(const kernel_context *c, const void *rows, uint32_t from, uint32_t to, kernel_moments *moments)
{
    moment_sums s = {0};

    add_bricks(c, rows, from, to, &s);
    store_moments(&c->g->shape, &s, moments);
}

#endif
