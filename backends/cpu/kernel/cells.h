/* cells.h - sums over the cells of a brick, and the end of a step in them: clamping, marks, sums. */
#ifndef GBEES_CPU_CELLS_H
#define GBEES_CPU_CELLS_H

#include "kernel.h"
#include "vector.h"
#include <string.h>

typedef double double8 __attribute__((vector_size(64)));
typedef real real8 __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* A mask of a brick's cells, bit i: a[i] >= b, or, if `strict`, a[i] > b.  Compilers don't make bit masks of
 * comparisons by themselves. */
INLINE uint64_t compare_cells(const real *a, real b, int strict)
{
    const vector level = b - (vector){0};
    uint64_t bits = 0;

#pragma GCC unroll 32
    for (int i = 0; i < 64; i += LANES) {
        vector v = load(a + i);

        bits |= (uint64_t)lane_bits(strict ? lanes_above(v, level) : lanes_at_least(v, level)) << i;
    }
    return bits;
}

/* A value in units of 2^-60, below 2^-7. */
INLINE double in_units(double value)
{
    const double unit = 1.5 / 256; /* the last digit of what is near it is 2^-60 */

    return (value + unit) - unit;
}

/* Adds value[i] to sum[i mod 8], in double; rounds: 1: in units of 2^-60, else 0. */
INLINE void add_lanes(const real *value, int count, int rounds, double8 *sum)
{
    const double8 unit = 1.5 / 256 - (double8){0};
    const int whole = count & ~7;
    double8 part = *sum;

    for (int i = 0; i < whole; i += 8) {
#if defined(__AVX512F__) && GBEES_REAL_BITS == 32 /* of the general form gcc 12 makes two instructions a pair */
        const double8 eight = (double8)_mm512_cvtps_pd(_mm256_loadu_ps(value + i));
#else
        const double8 eight = __builtin_convertvector(*(const real8 *)(value + i), double8);
#endif
        part += rounds ? (eight + unit) - unit : eight;
    }
    for (int l = 0; l < (count & 7); l++)
        part[l] += rounds ? in_units((double)value[whole + l]) : (double)value[whole + l];
    *sum = part;
}

/* Adds value[i] to sum[i mod 8], in double, so that the order of the additions is the same for every instruction set.
 */
INLINE void add_by_lane(const real *value, int count, double8 *sum)
{
    add_lanes(value, count, 0, sum);
}

/* add_by_lane() in units of 2^-60: sums below 2^-7 are then exact, and have the bits of any order, and of a GPU
 * (numerics/fixed.h). */
INLINE void add_in_units(const real *value, int count, double8 *sum)
{
    add_lanes(value, count, 1, sum);
}

/* The sum of the eight parts. */
INLINE double sum_lanes(const double8 *part)
{
    double sum = 0;

    for (int l = 0; l < 8; l++)
        sum += (*part)[l];
    return sum;
}

/* The sum of value[64]. */
INLINE double sum_cells(const real *value)
{
    double8 part = {0};

    add_by_lane(value, 64, &part);
    return sum_lanes(&part);
}

/* Sums over a range of bricks, in eight parts. */
typedef struct brick_totals {
    double8 mass, outflow;
    double clipped, dropped; /* kernel_sums.clipped; the part of its outflow that is counted brick by brick */
    double entered[GBEES_MAX_TARGETS + 1]; /* as kernel_sums has it */
} brick_totals;

/* Adds up the parts, at the end of the range. */
INLINE kernel_sums sums_of(const brick_totals *totals)
{
    kernel_sums sums = {.mass = sum_lanes(&totals->mass),
                        .clipped = totals->clipped,
                        .outflow = sum_lanes(&totals->outflow) + totals->dropped};

    memcpy(sums.entered, totals->entered, sizeof sums.entered);
    return sums;
}

/* Copies from[count] to to[count], with values below TINY, which are negative or nearly denormal, set to 0.  Returns
 * whether a value has changed. */
INLINE int keep_positive(const real *restrict from, real *restrict to, int count)
{
    const vector nothing = {0}, tiny = TINY - nothing;
    unsigned changed = 0;
    int i = 0;

#pragma GCC unroll 32
    for (; i + LANES <= count; i += LANES) {
        vector value = load(from + i);
        vector kept = choose(lanes_above(tiny, value), nothing, value);

        store(to + i, kept);
        changed |= lane_bits(lanes_unequal(kept, value));
    }
    for (; i < count; i++) {
        to[i] = from[i] < TINY ? 0 : from[i];
        changed |= to[i] != from[i];
    }
    return changed != 0;
}

/* The mass that keep_positive() has added. */
NOINLINE double sum_clipped(const real *from, const real *to, int count)
{
    real clipped[64];
    double8 part = {0};

    for (int i = 0; i < count; i++)
        clipped[i] = to[i] - from[i];
    add_in_units(clipped, count, &part);
    return sum_lanes(&part);
}

/* Sets P of cells outside the bound to 0; returns the mass that they had. */
NOINLINE double clear_outside(real *p, uint64_t inside)
{
    double lost = 0;

    for (int i = 0; i < 64; i++)
        if (!(inside >> i & 1)) {
            lost += (double)p[i];
            p[i] = 0;
        }
    return lost;
}

/* Ends a step in a brick: sets next[64] to value[64] with negative P and P outside the bound set to 0, and adds
 * the sums to the totals, or stores them as the brick's own (rows.ended).  Returns the brick's active cells. */
INLINE uint64_t clamp_and_mark(const kernel_context *c, uint32_t slot, const real *restrict value,
                               real *restrict next, brick_totals *totals)
{
    const double clipped = keep_positive(value, next, 64) ? sum_clipped(value, next, 64) : 0;

    totals->clipped += clipped;
    if (c->rows.inside && c->rows.inside[slot] != c->g->shape.all)
        totals->dropped += clear_outside(next, c->rows.inside[slot]);
    if (c->rows.ended)
        c->rows.ended[slot] = (kernel_ended){sum_cells(next), clipped};
    else
        add_by_lane(next, 64, &totals->mass);
    return compare_cells(next, (real)c->threshold, 0);
}

#endif
