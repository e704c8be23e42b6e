/* split_sweep.c - sweeps of the split schemes: the density is advected along one axis, in place, pencil by pencil.
 *
 * A pencil (pencil.h) is copied into planes with some zeros at each end (planes_beyond()), the planes are advected
 * (advect_segment()) and stored.  A long pencil is swept by segments that fit into the first cache: some bricks
 * beyond a segment are loaded with it, and copies of the planes before it are kept.  Pencils of one axis have no
 * cells in common: so they can be swept in any order, and the density needs no second array.
 */
#include "split_sweep.h"
#include "brick_axis.h"
#include "cells.h"
#include "cuts.h"
#include "ends.h"
#include "noise.h"
#include "pencil.h"
#include "pencil_velocity.h"
#include "split_segment.h"
#include "to_planes.h"
#include <math.h>

enum { SEGMENT = 16 }; /* bricks that are advected together, at most */

/* A sweep of some pencils by one thread. */
typedef struct pencil_sweep {
    const kernel_context *c;
    const kernel_pencils *pencils;
    pencil_rows rows;
    kernel_scratch scratch;
    brick_totals totals;
    real lambda, variance, root; /* as segment has them */
    double part;                 /* of the step: a pass's */
    uint32_t dither, line[64];   /* with noise, of a pencil's lowest cell; segment.line */
    int lined;                   /* 1: line[] is set */
    int varies;                  /* 1: noise that is not the same in all cells */
    int closed; /* 1: pencils are not cut into segments: the axis is a circle or has a wall, or targets absorb */
} pencil_sweep;

/* Bricks from .. to - 1 of a pencil are advected together; bricks from .. loaded - 1 were loaded with the segment
 * before, and bricks loaded .. available - 1 have to be loaded. */
typedef struct segment_bricks {
    int from, to, loaded, available;
} segment_bricks;

/* ---- a pencil -------------------------------------------------------------------------------------------------- */

/* The number of bricks above a segment on whose planes the masses through its faces depend. */
INLINE int bricks_beyond(const kernel_context *c, brick_axis a)
{
    return (planes_beyond(&c->scheme) + edge_of(a) - 1) >> a.log2_edge;
}

/* The number of bricks of a pencil that are loaded together: all, or a segment and those beyond it. */
INLINE int bricks_loaded(const pencil_sweep *sweep, int bricks, brick_axis a)
{
    const int part = SEGMENT + bricks_beyond(sweep->c, a);

    return bricks < part || sweep->varies || sweep->closed || sweep->pencils->passes > 1 ? bricks : part;
}

/* Bricks whose lower faces are those from three planes below a pencil to three above it: below the pencil; and all.
 */
INLINE int noise_bricks_below(brick_axis a)
{
    return (2 + edge_of(a)) >> a.log2_edge;
}

INLINE int noise_bricks(int bricks, brick_axis a)
{
    return noise_bricks_below(a) + bricks + ((3 + edge_of(a)) >> a.log2_edge);
}

/* The size of the planes of so many bricks: P, velocities and masses, and what noise that varies needs at faces; a
 * multiple of 64. */
INLINE size_t plane_reals(const pencil_sweep *sweep, int bricks, brick_axis a)
{
    const size_t cells = (size_t)a.cells, plane_cells = (size_t)cells_of_plane(a);
    const size_t planes = (size_t)bricks * cells + (2 + 2 * (size_t)planes_beyond(&sweep->c->scheme)) * plane_cells;
    const size_t more = sweep->varies ? 4 * planes + (size_t)noise_bricks(bricks, a) * cells : 0;

    return (5 * planes + more + 127) / 64 * 64;
}

/* Makes scratch->data large enough for these planes, and for cuts behind them.  Returns 1 if there is no memory. */
INLINE int reserve_planes(const pencil_sweep *sweep, kernel_scratch *scratch, int bricks, brick_axis a)
{
    const int targets = sweep->c->targets.count;
    const size_t cuts = targets ? (size_t)bricks * (size_t)a.cells * (size_t)(CUT_REALS + targets) : 0;
    const size_t size = (plane_reals(sweep, bricks, a) + cuts) * sizeof(real);

    if (scratch->size < size) {
        void *data = aligned_alloc(64, (2 * size + 63) / 64 * 64);

        if (!data)
            return 1;
        free(scratch->data);
        scratch->data = data;
        scratch->size = 2 * size;
    }
    return 0;
}

/* Prefetches a brick's row into the first cache, or, if it is not needed soon, into the second one. */
INLINE void prefetch_row(const kernel_context *c, uint32_t slot, int soon, brick_axis a)
{
    const size_t size = (size_t)a.cells * sizeof(real); /* a constant of the compiler */
    const char *row = (const char *)c->rows.p + slot * size;

    for (size_t at = 0; at < size; at += 64)
        if (soon)
            __builtin_prefetch(row + at, 1, 3);
        else
            __builtin_prefetch(row + at, 1, 2);
}

/* Loads bricks from .. to - 1 of a pencil into planes. */
INLINE void load_planes(const pencil_sweep *sweep, int from, int to, real *planes, brick_axis a)
{
    const kernel_context *c = sweep->c;
    const real *density = c->rows.p;
    const uint32_t *slots = sweep->rows.own->slots, *ahead = sweep->rows.ahead;
    const int ahead_count = sweep->rows.ahead_count;

    for (int b = from; b < to; b++) {
        if (b < ahead_count)
            prefetch_row(c, ahead[b], 1, a);
        to_planes(density + (size_t)slots[b] * (size_t)a.cells, planes + (b - from) * a.cells, a);
    }
}

/* Prefetches the row that is read `distance` bricks after brick b of a pencil, in this pencil or in the next one. */
INLINE void prefetch_later_row(const pencil_sweep *sweep, int b, int distance, brick_axis a)
{
    const pencil_rows *rows = &sweep->rows;
    const kernel_pencil *own = rows->own;
    const int64_t at = (int64_t)b + distance, further = at - own->bricks;

    if (further < 0)
        prefetch_row(sweep->c, own->slots[at], 0, a);
    else if (rows->prefetch_next && further < rows->next->bricks)
        prefetch_row(sweep->c, rows->next->slots[further], 0, a);
    if (rows->prefetch_next && rows->next->next)
        follow_pencil(sweep->c, sweep->pencils->axis, rows->next);
}

/* Stores planes in the rows of bricks from .. to - 1 of a pencil; at the end of a step adds them up and marks their
 * active cells. distance: for a long pencil, how many bricks ahead rows are prefetched. */
INLINE void store_planes(pencil_sweep *sweep, int from, int to, const real *planes, int distance, brick_axis a)
{
    const kernel_context *c = sweep->c;
    const uint32_t *slots = sweep->rows.own->slots;
    const int long_one = sweep->rows.long_one, ends_step = sweep->pencils->ends_step;

    for (int b = from; b < to; b++) {
        const real *own = planes + (b - from) * a.cells;
        real *row = (real *)c->rows.p + (size_t)slots[b] * (size_t)a.cells;

        if (long_one)
            prefetch_later_row(sweep, b, distance, a);
        if (ends_step) {
            _Alignas(64) real value[64];

            from_planes(own, value, a);
            c->rows.active[slots[b]] = clamp_and_mark(c, slots[b], value, row, &sweep->totals);
        } else {
            from_planes(own, row, a);
        }
    }
}

#if defined(__SSE2__) && !defined(__AVX2__)
#define load_along load_planes
#define store_along store_planes
#else
/* Axes with bricks of the same edge differ in these two alone: so that the rest of a sweep is compiled for five
 * edges, not for thirteen axes, in a third of the time. */
#define PLANES_OF_AXIS(name, cells, shift, log2_edge)                                                                \
    NOINLINE void load_##cells##_##shift##_##log2_edge(const pencil_sweep *sweep, int from, int to, real *planes)    \
    {                                                                                                                \
        load_planes(sweep, from, to, planes, (brick_axis){cells, shift, log2_edge});                                 \
    }                                                                                                                \
    NOINLINE void store_##cells##_##shift##_##log2_edge(pencil_sweep *sweep, int from, int to, const real *planes,   \
                                                        int distance)                                                \
    {                                                                                                                \
        store_planes(sweep, from, to, planes, distance, (brick_axis){cells, shift, log2_edge});                      \
    }
EACH_AXIS(PLANES_OF_AXIS, planes)

INLINE void load_along(const pencil_sweep *sweep, int from, int to, real *planes, brick_axis a)
{
#define LOAD_CASE(name, cells, shift, log2_edge)                                                                     \
    case AXIS_NUMBER(shift, log2_edge):                                                                              \
        load_##cells##_##shift##_##log2_edge(sweep, from, to, planes);                                               \
        break;
    switch (AXIS_NUMBER(a.shift, a.log2_edge)) {
        EACH_AXIS(LOAD_CASE, planes)
    }
}

INLINE void store_along(pencil_sweep *sweep, int from, int to, const real *planes, int distance, brick_axis a)
{
#define STORE_CASE(name, cells, shift, log2_edge)                                                                    \
    case AXIS_NUMBER(shift, log2_edge):                                                                              \
        store_##cells##_##shift##_##log2_edge(sweep, from, to, planes, distance);                                    \
        break;
    switch (AXIS_NUMBER(a.shift, a.log2_edge)) {
        EACH_AXIS(STORE_CASE, planes)
    }
}
#endif

/* Sets s->origin for a whole pencil. */
INLINE void find_pencil_noise(const pencil_sweep *sweep, segment *s, brick_axis a)
{
    const kernel_context *c = sweep->c;
    const int axis = sweep->pencils->axis, below = noise_bricks_below(a), n = s->plane_cells;
    const int bricks = noise_bricks((int)sweep->rows.own->bricks, a);
    real *w = s->origin + 4 * (s->planes + 1) * n;
    int32_t key[GBEES_MAX_DIM];

    memcpy(key, grid_key(c->g, sweep->rows.own->slots[0]), (size_t)c->n * sizeof *key);
    const int32_t lowest = key[axis] - below;
    for (int b = 0; b < bricks; b++) {
        _Alignas(64) real row[64];
        double q[GBEES_MAX_DIM][64];

        key[axis] = gbees_key_around(&c->g->shape, axis, lowest + b);

        noise_at_faces(c, key, axis, q);
        for (int i = 0; i < a.cells; i++) {
            const double v = sweep->part * gbees_diffusion_spread(c->n, 0, &q[0][i], 64, c->noise.over_width, axis);

            row[i] = v > 0 ? (real)v : 0; /* also where Q is not a number, beyond the cells */
        }
        to_planes(row, w + b * a.cells, a);
    }
    w += (below * edge_of(a) - 3) * n;
    close_noise(s, w);
    find_origins(s, w);
}

/* Sets s->cuts for a whole pencil. Not inline: models without targets would have fewer registers. */
NOINLINE void find_pencil_cuts(const pencil_sweep *sweep, segment *s, brick_axis a)
{
    const kernel_pencil *pencil = sweep->rows.own;

    if (is_cut(sweep->c, pencil))
        find_cuts(sweep->c, pencil, s, (real *)sweep->scratch.data + plane_reals(sweep, (int)pencil->bricks, a), a);
}

/* Advects some bricks of a pencil.  distance: as store_planes() takes it. */
INLINE void sweep_bricks(pencil_sweep *sweep, segment *s, segment_bricks at, int distance, brick_axis a)
{
    const kernel_context *c = sweep->c;
    const kernel_pencil *pencil = sweep->rows.own;
    const int axis = sweep->pencils->axis, plane_cells = cells_of_plane(a), done = (at.to - at.from) * a.cells;
    const int end = planes_beyond(&c->scheme) * plane_cells, loaded = (at.loaded - at.from) * a.cells;
    const pencil_faces faces = {.axis = axis,
                                .slot = pencil->slots[0],
                                .from = at.loaded,
                                .to = at.available,
                                .last = at.available == (int)pencil->bricks,
                                .edge = edge_of(a),
                                .plane_cells = plane_cells};
    real before[4 * 64]; /* at most 4 planes of at most 64 cells */

    pencil_velocities(c, faces, s->mass, s->u + loaded + (at.loaded ? 2 * plane_cells : 0));
    load_along(sweep, at.loaded, at.available, s->p + loaded, a);
    s->planes = (at.to - at.from) * edge_of(a);
    s->direction = s->variance > 0 ? 0 : pencil_direction(c, axis, pencil, at.from, at.to);
    if (c->frame.moves)
        s->diverging = segment_diverges(s);
    else
        s->diverging = s->direction ? 0 : pencil_diverges(c, axis, pencil, at.from, at.to);
    if (sweep->closed)
        close_ends(c, axis, pencil, s);
    else if (s->above)
        memcpy(before, s->p + (done - end), (size_t)end * sizeof *before);
    if (s->origin)
        find_pencil_noise(sweep, s, a);
    if (c->targets.count)
        find_pencil_cuts(sweep, s, a);
    s->dither = sweep->dither + (uint32_t)(at.from * a.cells) * GBEES_DITHER_CELL;
    advect_segment(s, &sweep->totals);
    store_along(sweep, at.from, at.to, s->p, distance, a);
    if (s->above && !sweep->closed) { /* the next segment's planes begin where these did */
        const int rest = (at.available - at.to) * a.cells;

        memcpy(s->p - end, before, (size_t)end * sizeof *before);
        memcpy(s->p, s->p + done, (size_t)rest * sizeof *s->p);
        memcpy(s->u, s->u + done, (size_t)(rest + 2 * plane_cells) * sizeof *s->u);
    }
}

/* Advects a pencil, segment by segment. */
INLINE void sweep_pencil(pencil_sweep *sweep, brick_axis a)
{
    const kernel_context *c = sweep->c;
    const int bricks = (int)sweep->rows.own->bricks, plane_cells = cells_of_plane(a);
    const int end = planes_beyond(&c->scheme) * plane_cells, most = bricks_loaded(sweep, bricks, a);
    real away[64], carried[2 * 64], *p = (real *)sweep->scratch.data + end, *u = p + (most * a.cells + end);
    real *mass = u + (most * a.cells + 4 * plane_cells);
    segment s = {.scheme = &c->scheme,
                 .p = p,
                 .u = u,
                 .mass = mass,
                 .away = away,
                 .bounded = mass + (most * a.cells + 3 * plane_cells),
                 .carried = carried,
                 .passes = sweep->pencils->passes,
                 .clears = c->noise.parts[sweep->pencils->axis] > 1,
                 .lambda = sweep->lambda,
                 .variance = sweep->variance,
                 .root = sweep->root,
                 .lean = (real)c->lean,
                 .line = sweep->line,
                 .plane_cells = plane_cells};

    if (sizeof(real) == sizeof(float) && sweep->variance > 0) {
        if (!sweep->lined)
            find_lines(sweep->line, a);
        sweep->lined = 1;
        sweep->dither = find_dither(c, sweep->pencils, sweep->rows.own->slots[0]);
    }
    if (sweep->varies)
        s.origin = s.bounded + (most * a.cells + end);
    if (most == bricks) { /* most pencils: with constants a double-precision sweep is 4 % faster on AVX-512 */
        sweep_bricks(sweep, &s, (segment_bricks){.to = bricks, .available = bricks}, most, a);
        return;
    }
    for (segment_bricks at = {0}; at.from < bricks; at.from = at.to, at.loaded = at.available) {
        at.available = bricks - at.from > most ? at.from + most : bricks;
        at.to = at.available < bricks ? at.available - bricks_beyond(c, a) : bricks;
        s.below = at.from > 0;
        s.above = at.to < bricks;
        sweep_bricks(sweep, &s, at, most, a);
    }
}

/* Advects a pencil along an axis of its shape. */
#if defined(__SSE2__) && !defined(__AVX2__)
/* x86 processors without AVX2, of before 2013, have one copy of this code, which is large: their sweeps take 1.5 to
 * 1.8 times as long, and the library compiles in 24 s less of processor time. */
INLINE void sweep_along(pencil_sweep *sweep, const gbees_shape *shape, int axis)
{
    sweep_pencil(sweep, (brick_axis){shape->cells, shape->shift[axis], shape->log2_edge[axis]});
}
#else
/* A function for each edge: in one function for all, more is on the stack, and Lorenz '96 takes 3 % longer. */
#define SWEEP_OF_EDGE(log2_edge)                                                                                     \
    NOINLINE void sweep_pencil_##log2_edge(pencil_sweep *sweep, int shift)                                           \
    {                                                                                                                \
        sweep_pencil(sweep, (brick_axis){64, shift, log2_edge});                                                     \
    }
SWEEP_OF_EDGE(0)
SWEEP_OF_EDGE(1)
SWEEP_OF_EDGE(2)
SWEEP_OF_EDGE(3)
SWEEP_OF_EDGE(6)

INLINE void sweep_along(pencil_sweep *sweep, const gbees_shape *shape, int axis)
{
    const int shift = shape->shift[axis];

    switch (shape->log2_edge[axis]) {
    case 0:
        sweep_pencil_0(sweep, shift);
        break;
    case 1:
        sweep_pencil_1(sweep, shift);
        break;
    case 2:
        sweep_pencil_2(sweep, shift);
        break;
    case 3:
        sweep_pencil_3(sweep, shift);
        break;
    default:
        sweep_pencil_6(sweep, shift);
    }
}
#endif

/* ---- all pencils ----------------------------------------------------------------------------------------------- */

/* Sweeps the pencils with first bricks first[count], at most PENCIL_BLOCK of them.  Returns 1 if there is no memory.
 */
INLINE int sweep_block(pencil_sweep *sweep, const uint32_t *first, uint32_t count)
{
    const kernel_context *c = sweep->c;
    const gbees_shape *shape = &c->g->shape;
    const int axis = sweep->pencils->axis, log2_edge = shape->log2_edge[axis];
    pencil_list list;

    sweep->rows = (pencil_rows){0};
    find_pencils(c, axis, first, count, &list);
    for (uint32_t i = 0, at = ROWS_AHEAD; i < list.count; at += list.bricks[i++]) {
        if (next_pencil(c, axis, &list, i, at, sweep->scratch.pencil, &sweep->rows))
            return 1; /* NOLINT(clang-analyzer-core.StackAddressEscape): nobody looks there again */
        const brick_axis a = {shape->cells, shape->shift[axis], log2_edge};

        if (reserve_planes(sweep, &sweep->scratch, bricks_loaded(sweep, (int)sweep->rows.own->bricks, a), a))
            return 1; /* NOLINT(clang-analyzer-core.StackAddressEscape): nobody looks there again */
        if (i + 2 < list.count)
            __builtin_prefetch(grid_key(c->g, list.slot[i + 2][0]));
        sweep_along(sweep, shape, axis);
    }
    return 0;
}

/* Works on copies of scratch and sums on the stack: in their arrays they would share cache lines with those of other
 * threads. */
int SYMBOL(cpu_sweep)(const kernel_context *c, const kernel_pencils *pencils, kernel_scratch *scratch,
                      kernel_sums *sums)
{
    const double spread = c->noise.spread[pencils->axis];
    const double part = spread > 0 ? c->step / c->noise.parts[pencils->axis] : c->step, variance = part * spread;
    pencil_sweep own = {.c = c,
                        .pencils = pencils,
                        .scratch = *scratch,
                        .lambda = (real)(part / c->drift.axis[pencils->axis].width),
                        .variance = (real)variance,
                        .root = (real)sqrt(variance),
                        .part = part,
                        .varies = spread > 0 && !c->noise.uniform,
                        .closed = gbees_shape_is_closed(&c->g->shape, pencils->axis) || c->targets.count};
    int failed = 0;

    for (uint32_t k = 0; k < pencils->count && !failed; k += PENCIL_BLOCK) {
        const uint32_t rest = pencils->count - k;

        failed = sweep_block(&own, pencils->first + k, rest < PENCIL_BLOCK ? rest : PENCIL_BLOCK);
    }
    *scratch = own.scratch;
    *sums = sums_of(&own.totals);
    return failed;
}
