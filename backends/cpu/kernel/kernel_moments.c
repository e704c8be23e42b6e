/* kernel_moments.c - moments of the density, for one instruction set; see kernel_moments.h.
 *
 * The number of a cell in its brick is its local coordinates, bit by bit.  So all moments about the brick's lowest
 * cell come from 22 sums, whatever the shape: over all cells, over those with a bit set, and over those with two.
 * Eight vectors of eight cells are added up by the upper three bits; lanes, which are the lower three, by the brick's
 * place. What the lanes hold is told apart at the end only.
 */
#include "kernel_moments.h"
#include "kernel_log.h"
#include <float.h>
#include <string.h>

enum { BITS = 6, LANE_BITS = 3, LANES = VECTOR_BYTES / 8 };

typedef double eight __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

/* By lane: what vectors hold together, and those whose number has a bit. */
typedef struct level {
    eight whole, with[BITS - LANE_BITS];
} level;

typedef struct lanes {
    level own, based[GBEES_MAX_DIM];                      /* sums; times the brick's place along an axis */
    eight pair[BITS - LANE_BITS], square[KERNEL_SECONDS]; /* of vectors with two bits; times two places */
    double log[8] __attribute__((aligned(64))), peak;     /* sum of p log p; the highest cell */
    uint32_t peak_slot;
    int peak_cell;
} lanes;

/* ---- each brick -------------------------------------------------------------------------------------------------
 */

/* Cells with nothing count for nothing, as do those too small to be normal numbers. */
INLINE void add_logarithms(lanes *s, const double *p, int count)
{
    for (int i = 0; i < count; i += LANES) {
        const kernel_doubles v = *(const kernel_doubles *)(p + i), least = DBL_MIN - (kernel_doubles){0},
                             one = 1 - (kernel_doubles){0};
        kernel_words some = (kernel_words)(v >= least);
        kernel_doubles x = (kernel_doubles)(((kernel_words)v & some) | ((kernel_words)one & ~some));

        *(kernel_doubles *)(s->log + i % 8) += v * kernel_log(x);
    }
}

/* The first of the highest. */
INLINE void find_peak(lanes *s, uint32_t slot, const double *p, int count)
{
    kernel_words above = {0};
    uint64_t any = 0;

    for (int i = 0; i < count; i += LANES)
        above |= (kernel_words)(*(const kernel_doubles *)(p + i) > s->peak - (kernel_doubles){0});
    for (int l = 0; l < LANES; l++)
        any |= above[l];
    for (int i = 0; i < count && any; i++)
        if (p[i] > s->peak) {
            s->peak = p[i];
            s->peak_slot = slot;
            s->peak_cell = i;
        }
}

/* v[i]: cells 8 i to 8 i + 7. */
INLINE void add_cells(lanes *s, const eight *v, level *sum)
{
    const eight odd = v[1] + v[3], high_odd = v[5] + v[7], second = v[2] + v[3], third = v[4] + v[5],
                both = v[6] + v[7];

    sum->whole = ((v[0] + v[1]) + second) + (third + both);
    sum->with[0] = odd + high_odd;
    sum->with[1] = second + both;
    sum->with[2] = third + both;
    s->own.whole += sum->whole;
    for (int b = 0; b < BITS - LANE_BITS; b++)
        s->own.with[b] += sum->with[b];
    s->pair[0] += v[3] + v[7];
    s->pair[1] += high_odd;
    s->pair[2] += both;
}

/* A brick's cells at its place: a few operations, not a cell's. */
INLINE void add_place(lanes *s, const level *sum, const double *base, int n)
{
    int at = 0;

    for (int j = 0; j < n; j++) {
        const eight whole = sum->whole * base[j];

        s->based[j].whole += whole;
        for (int b = 0; b < BITS - LANE_BITS; b++)
            s->based[j].with[b] += sum->with[b] * base[j];
        for (int k = j; k < n; k++)
            s->square[at++] += whole * base[k];
    }
}

INLINE void add_bricks(const kernel_context *c, const void *rows, int narrow, uint32_t from, uint32_t to, lanes *s)
{
    const gbees_shape *shape = &c->g->shape;
    eight v[8] = {{0}};
    double *p = (double *)v, base[GBEES_MAX_DIM];
    level sum;

    for (uint32_t k = from; k < to; k++) {
        const uint32_t slot = c->g->used[k];
        const int32_t *key = grid_key(c->g, slot);
        const float *single = (const float *)rows + (size_t)slot * (size_t)shape->cells;
        const double *twice = (const double *)rows + (size_t)slot * (size_t)shape->cells;

        if (shape->cells == 1)
            p[0] = narrow ? (double)single[0] : twice[0];
        for (int i = 0; i < 8 && shape->cells == 64; i++)
            if (narrow)
                v[i] = __builtin_convertvector(*(const eight_floats *)(single + 8 * i), eight);
            else
                memcpy(&v[i], twice + 8 * i, sizeof v[i]);
        for (int j = 0; j < c->n; j++)
            base[j] = (double)key[j] * shape->edge[j];
        add_logarithms(s, p, shape->cells == 1 ? LANES : 64);
        find_peak(s, slot, p, shape->cells == 1 ? LANES : 64);
        add_cells(s, v, &sum);
        add_place(s, &sum, base, c->n);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------
 */

/* Of the lanes whose number has these bits. */
static double lanes_with(const eight *v, int bits)
{
    double sum = 0;

    for (int l = 0; l < 8; l++)
        if ((l & bits) == bits)
            sum += (*v)[l];
    return sum;
}

/* Of the cells whose number has a bit. */
static double with_bit(const level *sum, int bit)
{
    return bit < LANE_BITS ? lanes_with(&sum->whole, 1 << bit) : lanes_with(&sum->with[bit - LANE_BITS], 0);
}

/* ... and of those that have another. */
static double with_bits(const lanes *s, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;

    if (low == high || high < LANE_BITS)
        return high < LANE_BITS ? lanes_with(&s->own.whole, 1 << low | 1 << high) : with_bit(&s->own, low);
    if (low < LANE_BITS)
        return lanes_with(&s->own.with[high - LANE_BITS], 1 << low);
    return lanes_with(&s->pair[low + high - 2 * LANE_BITS - 1], 0);
}

/* Of the local coordinate along an axis. */
static double first_of(const gbees_shape *shape, const level *sum, int axis)
{
    double first = 0;

    for (int b = 0; b < shape->log2_edge[axis]; b++)
        first += (1 << b) * with_bit(sum, shape->shift[axis] + b);
    return first;
}

static double second_of(const gbees_shape *shape, const lanes *s, int j, int k)
{
    double second = 0;

    for (int a = 0; a < shape->log2_edge[j]; a++)
        for (int b = 0; b < shape->log2_edge[k]; b++)
            second += (1 << (a + b)) * with_bits(s, shape->shift[j] + a, shape->shift[k] + b);
    return second;
}

static void tell(const gbees_shape *shape, const lanes *s, kernel_moments *out)
{
    const int n = shape->n;
    int at = 0;

    *out = (kernel_moments){.peak = s->peak, .peak_slot = s->peak_slot, .peak_cell = s->peak_cell};
    out->mass = lanes_with(&s->own.whole, 0);
    for (int l = 0; l < 8; l++)
        out->log += s->log[l];
    for (int j = 0; j < n; j++)
        out->first[j] = first_of(shape, &s->own, j) + lanes_with(&s->based[j].whole, 0);
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++, at++)
            out->second[at] = second_of(shape, s, j, k) + first_of(shape, &s->based[j], k) +
                              first_of(shape, &s->based[k], j) + lanes_with(&s->square[at], 0);
}

void PASTE(cpu_moments_f_, GBEES_ISA)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to,
                                      kernel_moments *moments)
{
    lanes s = {0};

    add_bricks(c, rows, 1, from, to, &s);
    tell(&c->g->shape, &s, moments);
}

void PASTE(cpu_moments_d_, GBEES_ISA)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to,
                                      kernel_moments *moments)
{
    lanes s = {0};

    add_bricks(c, rows, 0, from, to, &s);
    tell(&c->g->shape, &s, moments);
}
