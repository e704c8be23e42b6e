/* kernel_real.h - the loops over bricks, in one precision.  A template: see kernel.c. */

#include "numerics/ctu.h"
#include "numerics/split.h"

#include "numerics/split7.h"

enum { GBEES_REAL_FN(PLANES) = 4 * 64 }; /* edge + 3 planes of 64 / edge cells: most for an edge of 1 */

/* The centre of a brick's lowest cell. */
typedef struct GBEES_REAL_FN(base) {
    double wide[GBEES_MAX_DIM];
    GBEES_REAL narrow[GBEES_MAX_DIM];
} GBEES_REAL_FN(base);

INLINE void GBEES_REAL_FN(base_of)(const kernel_context *c, uint32_t slot, GBEES_REAL_FN(base) * base)
{
    const int32_t *key = grid_key(c->g, slot);

    for (int k = 0; k < c->n; k++) {
        base->wide[k] = c->origin[k] + c->width[k] * ((double)key[k] * c->axis[k].edge);
        base->narrow[k] = (GBEES_REAL)base->wide[k];
    }
}

/* The drift's component along an axis at some of its face points, those of a table from `offset` on. */
INLINE void GBEES_REAL_FN(face_velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base,
                                           const void *const *offset, int points, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];

    if (sizeof(GBEES_REAL) == sizeof(float) && c->wide) {
        double wide[4 * 64];

        a->component_d((size_t)points, c->time, base->wide, (const double *const *)offset, c->parameters_d, wide);
        for (int i = 0; i < points; i++)
            out[i] = (GBEES_REAL)wide[i];
    } else {
        a->COMPONENT((size_t)points, (GBEES_REAL)c->time, base->narrow, (const GBEES_REAL *const *)offset,
                     c->PARAMETERS, out);
    }
}

/* At a brick's face planes -1 .. edge + 1, or, given `inner`, 0 .. edge. */
INLINE void GBEES_REAL_FN(velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base, int inner,
                                      int count, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];
    int points = (a->edge + (inner ? 1 : 3)) * (count / a->edge);

    GBEES_REAL_FN(face_velocities)(c, axis, base, inner ? a->inner : a->offset, points, out);
}

/* ---- pass 1: S = sum over axes of T ------------------------------------------------------------------------- */

/* The arithmetic is kept apart from the regrouping, in functions of their own: one loop for all axes. */
static __attribute__((noinline)) void GBEES_REAL_FN(transverse_planes)(const GBEES_REAL *restrict p,
                                                                       const GBEES_REAL *restrict u,
                                                                       GBEES_REAL *restrict t, GBEES_REAL half_lambda,
                                                                       int lanes, int count)
{
    for (int i = 0; i < count; i++)
        t[i] = GBEES_REAL_FN(gbees_ctu_transverse)(p[i], p[i + lanes], p[i + 2 * lanes], u[i], u[i + lanes],
                                                   half_lambda);
}

/* With the divergence term. */
static __attribute__((noinline)) void GBEES_REAL_FN(predictor_planes)(const GBEES_REAL *restrict p,
                                                                      const GBEES_REAL *restrict u,
                                                                      GBEES_REAL *restrict t, GBEES_REAL half_lambda,
                                                                      int lanes, int count)
{
    for (int i = 0; i < count; i++)
        t[i] = GBEES_REAL_FN(gbees_ctu_transverse)(p[i], p[i + lanes], p[i + 2 * lanes], u[i], u[i + lanes],
                                                   half_lambda) +
               GBEES_REAL_FN(gbees_ctu_spread)(p[i + lanes], u[i], u[i + lanes], half_lambda);
}

INLINE void GBEES_REAL_FN(transverse_axis)(const GBEES_REAL *below, const GBEES_REAL *own, const GBEES_REAL *above,
                                           const GBEES_REAL *u, GBEES_REAL half_lambda, int divergence, int count,
                                           int shift, int log2_edge, GBEES_REAL *s)
{
    enum { MOST = 3 * 64 };
    const int lanes = count >> log2_edge, edge = 1 << log2_edge;
    _Alignas(64) GBEES_REAL p[MOST], t[64], side[64];

    GBEES_REAL_FN(split)(below, side, count, shift, log2_edge);
    GBEES_REAL_FN(copy)(p, side + (edge - 1) * lanes, lanes);
    GBEES_REAL_FN(split)(own, p + lanes, count, shift, log2_edge);
    GBEES_REAL_FN(split)(above, side, count, shift, log2_edge);
    GBEES_REAL_FN(copy)(p + lanes + count, side, lanes);
    if (divergence)
        GBEES_REAL_FN(predictor_planes)(p, u, t, half_lambda, lanes, count);
    else
        GBEES_REAL_FN(transverse_planes)(p, u, t, half_lambda, lanes, count);
    GBEES_REAL_FN(merge_add)(t, s, count, shift, log2_edge);
}

/* ---- pass 2: fluxes ------------------------------------------------------------------------------------------ */

/* What an axis needs of a brick and its neighbours; the second neighbours count where the edge is 1. */
typedef struct GBEES_REAL_FN(line) {
    const GBEES_REAL *p_below2, *p_below, *p_own, *p_above, *p_above2;
    const GBEES_REAL *s_below, *s_own, *s_above;
    const GBEES_REAL *share_below, *share_own, *share_above; /* KERNEL_SHARED */
} GBEES_REAL_FN(line);

/* Planes -1 .. edge. */
INLINE void GBEES_REAL_FN(gather_nearest)(const GBEES_REAL *below, const GBEES_REAL *own, const GBEES_REAL *above,
                                          int count, int shift, int log2_edge, GBEES_REAL *q)
{
    const int lanes = count >> log2_edge, edge = 1 << log2_edge;
    _Alignas(64) GBEES_REAL side[64];

    GBEES_REAL_FN(split)(below, side, count, shift, log2_edge);
    GBEES_REAL_FN(copy)(q, side + (edge - 1) * lanes, lanes);
    GBEES_REAL_FN(split)(own, q + lanes, count, shift, log2_edge);
    GBEES_REAL_FN(split)(above, side, count, shift, log2_edge);
    GBEES_REAL_FN(copy)(q + (edge + 1) * lanes, side, lanes);
}

INLINE void GBEES_REAL_FN(gather_planes)(const GBEES_REAL_FN(line) * a, int count, int shift, int log2_edge,
                                         GBEES_REAL *p, GBEES_REAL *q)
{
    const int lanes = count >> log2_edge, edge = 1 << log2_edge;
    _Alignas(64) GBEES_REAL side[64];

    if (edge == 1) {
        GBEES_REAL_FN(copy)(p, a->p_below2, lanes);
        GBEES_REAL_FN(copy)(p + lanes, a->p_below, lanes);
        GBEES_REAL_FN(copy)(p + 3 * lanes, a->p_above, lanes);
        GBEES_REAL_FN(copy)(p + 4 * lanes, a->p_above2, lanes);
    } else {
        GBEES_REAL_FN(split)(a->p_below, side, count, shift, log2_edge);
        GBEES_REAL_FN(copy)(p, side + (edge - 2) * lanes, 2 * lanes);
        GBEES_REAL_FN(split)(a->p_above, side, count, shift, log2_edge);
        GBEES_REAL_FN(copy)(p + (edge + 2) * lanes, side, 2 * lanes);
    }
    GBEES_REAL_FN(split)(a->p_own, p + 2 * lanes, count, shift, log2_edge);
    GBEES_REAL_FN(gather_nearest)(a->s_below, a->s_own, a->s_above, count, shift, log2_edge, q);
}

INLINE void GBEES_REAL_FN(face_fluxes)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict q,
                                       const GBEES_REAL *restrict u, GBEES_REAL *restrict flux, GBEES_REAL lambda,
                                       int lanes, int count)
{
    for (int i = 0; i < count + lanes; i++)
        flux[i] = GBEES_REAL_FN(gbees_ctu_flux)(p[i], p[i + lanes], p[i + 2 * lanes], p[i + 3 * lanes], q[i],
                                                q[i + lanes], u[i], u[i + lanes], u[i + 2 * lanes], lambda);
}

/* d = what the fluxes along an axis change in the planes of a brick. */
static __attribute__((noinline)) void GBEES_REAL_FN(flux_planes)(const GBEES_REAL *restrict p,
                                                                 const GBEES_REAL *restrict q,
                                                                 const GBEES_REAL *restrict u, GBEES_REAL *restrict d,
                                                                 GBEES_REAL lambda, int lanes, int count)
{
    _Alignas(64) GBEES_REAL flux[2 * 64];

    GBEES_REAL_FN(face_fluxes)(p, q, u, flux, lambda, lanes, count);
    for (int i = 0; i < count; i++)
        d[i] = lambda * (flux[i] - flux[i + lanes]);
}

/* d = what flows out of the cells of a brick along an axis, on both sides. */
static __attribute__((noinline)) void GBEES_REAL_FN(outgoing_planes)(const GBEES_REAL *restrict p,
                                                                     const GBEES_REAL *restrict q,
                                                                     const GBEES_REAL *restrict u,
                                                                     GBEES_REAL *restrict d, GBEES_REAL lambda,
                                                                     int lanes, int count)
{
    _Alignas(64) GBEES_REAL flux[2 * 64];

    GBEES_REAL_FN(face_fluxes)(p, q, u, flux, lambda, lanes, count);
    for (int i = 0; i < count; i++)
        d[i] = lambda * (GBEES_REAL_FN(gbees_most)(flux[i + lanes], 0) - GBEES_REAL_FN(gbees_least)(flux[i], 0));
}

/* flux_planes, each flux no more than the cell that it leaves can serve. */
static __attribute__((noinline)) void
GBEES_REAL_FN(shared_planes)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict q,
                             const GBEES_REAL *restrict share, const GBEES_REAL *restrict u, GBEES_REAL *restrict d,
                             GBEES_REAL lambda, int lanes, int count)
{
    _Alignas(64) GBEES_REAL flux[2 * 64];

    GBEES_REAL_FN(face_fluxes)(p, q, u, flux, lambda, lanes, count);
    for (int i = 0; i < count + lanes; i++)
        flux[i] *= flux[i] > 0 ? share[i] : share[i + lanes];
    for (int i = 0; i < count; i++)
        d[i] = lambda * (flux[i] - flux[i + lanes]);
}

INLINE void GBEES_REAL_FN(flux_axis)(const GBEES_REAL_FN(line) * a, const GBEES_REAL *u, GBEES_REAL lambda,
                                     kernel_fluxes what, int count, int shift, int log2_edge, GBEES_REAL *out)
{
    enum { MOST = 5 * 64 };
    const int lanes = count >> log2_edge;
    _Alignas(64) GBEES_REAL p[MOST], q[MOST], share[MOST], d[64];

    GBEES_REAL_FN(gather_planes)(a, count, shift, log2_edge, p, q);
    if (what == KERNEL_OUTGOING) {
        GBEES_REAL_FN(outgoing_planes)(p, q, u, d, lambda, lanes, count);
    } else if (what == KERNEL_SHARED) {
        GBEES_REAL_FN(gather_nearest)(a->share_below, a->share_own, a->share_above, count, shift, log2_edge, share);
        GBEES_REAL_FN(shared_planes)(p, q, share, u, d, lambda, lanes, count);
    } else {
        GBEES_REAL_FN(flux_planes)(p, q, u, d, lambda, lanes, count);
    }
    GBEES_REAL_FN(merge_add)(d, out, count, shift, log2_edge);
}

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

/* The rows of a brick's neighbours, for the brick after this one: their slots are all over the heap. */
INLINE void GBEES_REAL_FN(prefetch)(const kernel_context *c, uint32_t k, uint32_t to, int sums)
{
    const size_t row = (size_t)c->g->shape.cells * sizeof(GBEES_REAL);

    if (k >= to)
        return;
    const uint32_t slot = c->g->used[k];
    for (int d = 0; d < 2 * c->n; d++)
        for (size_t at = 0; at < row; at += 64) {
            __builtin_prefetch((const char *)c->p + grid_neighbor(c->g, slot, d) * row + at);
            if (sums)
                __builtin_prefetch((const char *)c->s + grid_neighbor(c->g, slot, d) * row + at);
        }
}

/* ---- loops over bricks ---------------------------------------------------------------------------------------- */

static void GBEES_REAL_FN(transverse)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const gbees_shape *shape = &c->g->shape;
    const size_t cells = (size_t)shape->cells;
    const GBEES_REAL *p = c->p;

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        GBEES_REAL_FN(base) base;
        _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)], s[64] = {0};

        GBEES_REAL_FN(prefetch)(c, k + 1, to, 0);
        GBEES_REAL_FN(base_of)(c, slot, &base);
        for (int j = 0; j < c->n; j++) {
            GBEES_REAL half_lambda = (GBEES_REAL)(0.5 * c->step / c->axis[j].width);

            GBEES_REAL_FN(velocities)(c, j, &base, 1, shape->cells, u);
            const GBEES_REAL *below = p + grid_neighbor(c->g, slot, 2 * j) * cells;
            const GBEES_REAL *above = p + grid_neighbor(c->g, slot, 2 * j + 1) * cells;
#define CALL(count, shift, log2_edge)                                                                                \
    GBEES_REAL_FN(transverse_axis)                                                                                   \
    (below, p + slot * cells, above, u, half_lambda, c->divergence, count, shift, log2_edge, s)
            FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
        }
        GBEES_REAL_FN(copy)((GBEES_REAL *)c->s + slot * cells, s, (int)cells);
    }
}

INLINE GBEES_REAL_FN(line) GBEES_REAL_FN(line_of)(const kernel_context *c, uint32_t slot, int axis)
{
    const size_t cells = (size_t)c->g->shape.cells;
    const GBEES_REAL *p = c->p, *s = c->s, *share = c->share;
    uint32_t below = grid_neighbor(c->g, slot, 2 * axis), above = grid_neighbor(c->g, slot, 2 * axis + 1);
    uint32_t below2 = 0, above2 = 0;

    if (c->axis[axis].edge == 1) { /* longer edges hold the second cells themselves */
        below2 = grid_neighbor(c->g, below, 2 * axis);
        above2 = grid_neighbor(c->g, above, 2 * axis + 1);
    }
    GBEES_REAL_FN(line) line = {.p_below2 = p + below2 * cells, .p_above2 = p + above2 * cells};

    line.p_below = p + below * cells;
    line.p_own = p + slot * cells;
    line.p_above = p + above * cells;
    line.s_below = s + below * cells;
    line.s_own = s + slot * cells;
    line.s_above = s + above * cells;
    if (share) {
        line.share_below = share + below * cells;
        line.share_own = share + slot * cells;
        line.share_above = share + above * cells;
    }
    return line;
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

/* Sums over the axes of what flux_axis makes of one brick. */
INLINE void GBEES_REAL_FN(brick_fluxes)(const kernel_context *c, uint32_t slot, kernel_fluxes what, GBEES_REAL *out)
{
    const gbees_shape *shape = &c->g->shape;
    GBEES_REAL_FN(base) base;
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    GBEES_REAL_FN(base_of)(c, slot, &base);
    for (int j = 0; j < c->n; j++) {
        GBEES_REAL lambda = (GBEES_REAL)(c->step / c->axis[j].width);
        GBEES_REAL_FN(line) line = GBEES_REAL_FN(line_of)(c, slot, j);

        GBEES_REAL_FN(velocities)(c, j, &base, 0, shape->cells, u);
#define CALL(count, shift, log2_edge) GBEES_REAL_FN(flux_axis)(&line, u, lambda, what, count, shift, log2_edge, out)
        FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
    }
}

static void GBEES_REAL_FN(share)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        _Alignas(64) GBEES_REAL outgoing[64] = {0};
        const GBEES_REAL *p = (const GBEES_REAL *)c->p + slot * cells;
        GBEES_REAL *share = (GBEES_REAL *)c->share + slot * cells;

        GBEES_REAL_FN(prefetch)(c, k + 1, to, 1);
        GBEES_REAL_FN(brick_fluxes)(c, slot, KERNEL_OUTGOING, outgoing);
        for (size_t i = 0; i < cells; i++)
            share[i] = GBEES_REAL_FN(gbees_ctu_share)(p[i], outgoing[i]);
    }
}

INLINE void GBEES_REAL_FN(update_bricks)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums,
                                         kernel_fluxes what)
{
    const gbees_shape *shape = &c->g->shape;
    const size_t cells = (size_t)shape->cells;
    GBEES_REAL_FN(totals) totals = {0};

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        _Alignas(64) GBEES_REAL change[64] = {0};

        GBEES_REAL_FN(prefetch)(c, k + 1, to, 1);
        GBEES_REAL_FN(brick_fluxes)(c, slot, what, change);
        const GBEES_REAL *old = (const GBEES_REAL *)c->p + slot * cells;
        for (size_t i = 0; i < cells; i++)
            change[i] += old[i];
        c->active[slot] =
            GBEES_REAL_FN(settle)(c, slot, change, (GBEES_REAL *)c->next + slot * cells, shape->cells, &totals);
    }
    *sums = GBEES_REAL_FN(sums_of)(&totals);
}

static void GBEES_REAL_FN(update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums)
{
    GBEES_REAL_FN(update_bricks)(c, from, to, sums, KERNEL_CHANGE);
}

static void GBEES_REAL_FN(update_shared)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums)
{
    GBEES_REAL_FN(update_bricks)(c, from, to, sums, KERNEL_SHARED);
}
