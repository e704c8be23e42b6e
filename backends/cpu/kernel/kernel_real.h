/* kernel_real.h - the loops over bricks, in one precision.  A template: see kernel.c. */

#include "numerics/ctu.h"
#include "numerics/split.h"

#include "numerics/split7.h"

/* The edges and strides that occur (gbees_shape_set): each becomes a loop of its own with constants. */
#undef FOR_AXIS
#define FOR_AXIS(count, shift, log2_edge, CALL)                                                                      \
    switch ((count) == 1 ? 63 : (shift)*8 + (log2_edge)) {                                                           \
    case 63:                                                                                                         \
        CALL(1, 0, 0);                                                                                               \
        break;                                                                                                       \
    case 6:                                                                                                          \
        CALL(64, 0, 6);                                                                                              \
        break;                                                                                                       \
    case 3:                                                                                                          \
        CALL(64, 0, 3);                                                                                              \
        break;                                                                                                       \
    case 3 * 8 + 3:                                                                                                  \
        CALL(64, 3, 3);                                                                                              \
        break;                                                                                                       \
    case 2:                                                                                                          \
        CALL(64, 0, 2);                                                                                              \
        break;                                                                                                       \
    case 2 * 8 + 2:                                                                                                  \
        CALL(64, 2, 2);                                                                                              \
        break;                                                                                                       \
    case 4 * 8 + 2:                                                                                                  \
        CALL(64, 4, 2);                                                                                              \
        break;                                                                                                       \
    case 1:                                                                                                          \
        CALL(64, 0, 1);                                                                                              \
        break;                                                                                                       \
    case 1 * 8 + 1:                                                                                                  \
        CALL(64, 1, 1);                                                                                              \
        break;                                                                                                       \
    case 2 * 8 + 1:                                                                                                  \
        CALL(64, 2, 1);                                                                                              \
        break;                                                                                                       \
    case 3 * 8 + 1:                                                                                                  \
        CALL(64, 3, 1);                                                                                              \
        break;                                                                                                       \
    case 4 * 8 + 1:                                                                                                  \
        CALL(64, 4, 1);                                                                                              \
        break;                                                                                                       \
    case 5 * 8 + 1:                                                                                                  \
        CALL(64, 5, 1);                                                                                              \
        break;                                                                                                       \
    default:                                                                                                         \
        CALL(64, 6, 0);                                                                                              \
        break;                                                                                                       \
    }

/* Eight values at a time, summed in double: the order is the same for every instruction set. */
typedef GBEES_REAL GBEES_REAL_FN(eight)
    __attribute__((vector_size(8 * sizeof(GBEES_REAL)), aligned(sizeof(GBEES_REAL)), may_alias));

/* Value i is added to number i mod 8. */
INLINE void GBEES_REAL_FN(add_eights)(const GBEES_REAL *value, int count, eight_doubles *sum)
{
    const int whole = count & ~7;
    eight_doubles part = *sum;

    for (int i = 0; i < whole; i += 8)
#if defined(__AVX512F__) && LANES == 16 /* of the general form gcc 12 makes two instructions a pair */
        part += (eight_doubles)_mm512_cvtps_pd(_mm256_loadu_ps(value + i));
#else
        part += __builtin_convertvector(*(const GBEES_REAL_FN(eight) *)(value + i), eight_doubles);
#endif
    for (int l = 0; l < (count & 7); l++)
        part[l] += (double)value[whole + l];
    *sum = part;
}

INLINE double GBEES_REAL_FN(sum_eight)(const eight_doubles *part)
{
    double sum = 0;

    for (int l = 0; l < 8; l++)
        sum += (*part)[l];
    return sum;
}

INLINE double GBEES_REAL_FN(sum)(const GBEES_REAL *value, int count)
{
    eight_doubles part = {0};

    GBEES_REAL_FN(add_eights)(value, count, &part);
    return GBEES_REAL_FN(sum_eight)(&part);
}

/* What a range of bricks adds up to, eight numbers of each until its end. */
typedef struct GBEES_REAL_FN(totals) {
    eight_doubles mass, outflow;
    double clipped, dropped;
} GBEES_REAL_FN(totals);

INLINE kernel_sums GBEES_REAL_FN(sums_of)(const GBEES_REAL_FN(totals) * totals)
{
    return (kernel_sums){.mass = GBEES_REAL_FN(sum_eight)(&totals->mass),
                         .clipped = totals->clipped,
                         .outflow = GBEES_REAL_FN(sum_eight)(&totals->outflow) + totals->dropped};
}

/* to = what of from is not negative; with denormals, which are slow and worth nothing, at 0.  Returns whether that
 * changed anything. */
INLINE int GBEES_REAL_FN(keep_positive)(const GBEES_REAL *restrict from, GBEES_REAL *restrict to, int count)
{
    const GBEES_REAL_FN(vector) nothing = {0}, tiny = TINY - nothing;
    unsigned changed = 0;
    int i = 0;

#pragma GCC unroll 32
    for (; i + LANES <= count; i += LANES) {
        GBEES_REAL_FN(vector) value = GBEES_REAL_FN(load)(from + i);
        GBEES_REAL_FN(vector) kept = GBEES_REAL_FN(choose)(GBEES_REAL_FN(lanes_above)(tiny, value), nothing, value);

        GBEES_REAL_FN(store)(to + i, kept);
        changed |= GBEES_REAL_FN(lane_bits)(GBEES_REAL_FN(lanes_apart)(kept, value));
    }
    for (; i < count; i++) {
        to[i] = from[i] < TINY ? 0 : from[i];
        changed |= to[i] != from[i];
    }
    return changed != 0;
}

/* What keep_positive() has added. */
static __attribute__((noinline)) double GBEES_REAL_FN(sum_clipped)(const GBEES_REAL *from, const GBEES_REAL *to,
                                                                   int count)
{
    GBEES_REAL clipped[64];

    for (int i = 0; i < count; i++)
        clipped[i] = to[i] - from[i];
    return GBEES_REAL_FN(sum)(clipped, count);
}

/* What has come to cells that are out of bound goes. */
static __attribute__((noinline)) double GBEES_REAL_FN(drop_outside)(GBEES_REAL *p, uint64_t inside, int cells)
{
    double lost = 0;

    for (int i = 0; i < cells; i++)
        if (!(inside >> i & 1)) {
            lost += (double)p[i];
            p[i] = 0;
        }
    return lost;
}

/* The new probabilities of a brick: positive, counted, marked. */
INLINE uint64_t GBEES_REAL_FN(settle)(const kernel_context *c, uint32_t slot, const GBEES_REAL *restrict value,
                                      GBEES_REAL *restrict next, int cells, GBEES_REAL_FN(totals) * totals)
{
    int changed = GBEES_REAL_FN(keep_positive)(value, next, cells);

    if (changed)
        totals->clipped += GBEES_REAL_FN(sum_clipped)(value, next, cells);
    if (c->inside && c->inside[slot] != c->g->shape.all)
        totals->dropped += GBEES_REAL_FN(drop_outside)(next, c->inside[slot], cells);
    GBEES_REAL_FN(add_eights)(next, cells, &totals->mass);
    return GBEES_REAL_FN(mask)(next, (GBEES_REAL)c->threshold, cells, 0);
}
