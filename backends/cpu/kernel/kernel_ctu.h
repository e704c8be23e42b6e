/* kernel_ctu.h - the two passes of ctu over the bricks, and the one that ctu-positive has between them.  A template:
 * see kernel.c.
 *
 * Where planes are whole vectors kernel_ctu_whole.h does it.  Else, and for ctu-positive, a brick's cells and those
 * of its neighbours that an axis asks for are regrouped into planes, and what these make of them is computed in plain
 * loops.
 */

/* A brick's row. */
INLINE void GBEES_REAL_FN(prefetch)(const void *rows, uint32_t slot, int cells)
{
    const size_t row = (size_t)cells * sizeof(GBEES_REAL);

    for (size_t at = 0; at < row; at += 64)
        __builtin_prefetch((const char *)rows + slot * row + at);
}

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

INLINE void GBEES_REAL_FN(transverse_axis)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block, int count,
                                           int shift, int log2_edge)
{
    enum { MOST = 3 * 64 };
    const int edge = 1 << log2_edge, lanes = count >> log2_edge;
    const GBEES_REAL half_lambda = (GBEES_REAL)(0.5 * c->step / c->axis[axis].width), *rows = c->p;
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)], p[MOST], t[64];

    if (takes_columns(lanes, LANES, edge)) {
        GBEES_REAL_FN(transverse_whole)(c, axis, block, half_lambda, shift, log2_edge);
        return;
    }
    for (int b = 0; b < block->bricks; b++) {
        const uint32_t slot = block->slots[b], next = block->slots[b + CTU_AHEAD < block->bricks ? b + CTU_AHEAD : b];

        GBEES_REAL_FN(prefetch)(rows, lower[next], count);
        GBEES_REAL_FN(prefetch)(rows, upper[next], count);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], 0, edge + 1, lanes, u);
        GBEES_REAL_FN(gather_nearest)
        (rows + (size_t)lower[slot] * (size_t)count, rows + (size_t)slot * (size_t)count,
         rows + (size_t)upper[slot] * (size_t)count, count, shift, log2_edge, p);
        if (c->divergence)
            GBEES_REAL_FN(predictor_planes)(p, u, t, half_lambda, lanes, count);
        else
            GBEES_REAL_FN(transverse_planes)(p, u, t, half_lambda, lanes, count);
        GBEES_REAL_FN(merge_add)(t, block->sum[b], count, shift, log2_edge);
    }
}

/* ---- pass 2: fluxes ------------------------------------------------------------------------------------------ */

/* What an axis needs of a brick and its neighbours; the second neighbours count where the edge is 1. */
typedef struct GBEES_REAL_FN(line) {
    const GBEES_REAL *p_below2, *p_below, *p_own, *p_above, *p_above2;
    const GBEES_REAL *s_below, *s_own, *s_above;
    const GBEES_REAL *share_below, *share_own, *share_above; /* KERNEL_SHARED */
} GBEES_REAL_FN(line);

/* Planes -2 .. edge + 1. */
INLINE void GBEES_REAL_FN(gather_planes)(const GBEES_REAL_FN(line) * a, int count, int shift, int log2_edge,
                                         GBEES_REAL *p)
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

INLINE GBEES_REAL_FN(line)
    GBEES_REAL_FN(line_of)(const kernel_context *c, uint32_t slot, int axis, int count, int log2_edge)
{
    const size_t row = (size_t)count;
    const GBEES_REAL *p = c->p, *s = c->s, *share = c->share;
    uint32_t below = grid_neighbor(c->g, slot, 2 * axis), above = grid_neighbor(c->g, slot, 2 * axis + 1);
    uint32_t below2 = 0, above2 = 0;

    if (log2_edge == 0) { /* longer edges hold the second cells themselves */
        below2 = grid_neighbor(c->g, below, 2 * axis);
        above2 = grid_neighbor(c->g, above, 2 * axis + 1);
    }
    GBEES_REAL_FN(line) line = {.p_below2 = p + below2 * row, .p_above2 = p + above2 * row};

    line.p_below = p + below * row;
    line.p_own = p + slot * row;
    line.p_above = p + above * row;
    line.s_below = s + below * row;
    line.s_own = s + slot * row;
    line.s_above = s + above * row;
    if (share) {
        line.share_below = share + below * row;
        line.share_own = share + slot * row;
        line.share_above = share + above * row;
    }
    return line;
}

/* The next brick's neighbours. */
INLINE void GBEES_REAL_FN(prefetch_line)(const kernel_context *c, uint32_t slot, int axis, int count)
{
    for (int d = 2 * axis; d < 2 * axis + 2; d++) {
        GBEES_REAL_FN(prefetch)(c->p, grid_neighbor(c->g, slot, d), count);
        GBEES_REAL_FN(prefetch)(c->s, grid_neighbor(c->g, slot, d), count);
    }
}

/* Of the bricks of a block, added to their sums. */
INLINE void GBEES_REAL_FN(flux_axis)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                     kernel_fluxes what, int count, int shift, int log2_edge)
{
    enum { MOST = 5 * 64 };
    const int edge = 1 << log2_edge, lanes = count >> log2_edge;
    const GBEES_REAL lambda = (GBEES_REAL)(c->step / c->axis[axis].width);
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)], p[MOST], q[MOST], share[MOST], d[64];

    if (takes_columns(lanes, LANES, edge) && what == KERNEL_CHANGE) {
        GBEES_REAL_FN(flux_whole)(c, axis, block, lambda, shift, log2_edge);
        return;
    }
    for (int b = 0; b < block->bricks; b++) {
        const uint32_t slot = block->slots[b], next = block->slots[b + CTU_AHEAD < block->bricks ? b + CTU_AHEAD : b];
        const GBEES_REAL_FN(line) line = GBEES_REAL_FN(line_of)(c, slot, axis, count, log2_edge);

        GBEES_REAL_FN(prefetch_line)(c, next, axis, count);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], -1, edge + 3, lanes, u);
        GBEES_REAL_FN(gather_planes)(&line, count, shift, log2_edge, p);
        GBEES_REAL_FN(gather_nearest)(line.s_below, line.s_own, line.s_above, count, shift, log2_edge, q);
        if (what == KERNEL_OUTGOING) {
            GBEES_REAL_FN(outgoing_planes)(p, q, u, d, lambda, lanes, count);
        } else if (what == KERNEL_SHARED) {
            GBEES_REAL_FN(gather_nearest)
            (line.share_below, line.share_own, line.share_above, count, shift, log2_edge, share);
            GBEES_REAL_FN(shared_planes)(p, q, share, u, d, lambda, lanes, count);
        } else {
            GBEES_REAL_FN(flux_planes)(p, q, u, d, lambda, lanes, count);
        }
        GBEES_REAL_FN(merge_add)(d, block->sum[b], count, shift, log2_edge);
    }
}

/* ---- loops over bricks ---------------------------------------------------------------------------------------- */

/* A row that some bricks further on in the block will be written: it comes from memory first. */
INLINE void GBEES_REAL_FN(ask_to_write)(const GBEES_REAL_FN(block) * block, int b, const void *rows, int cells)
{
    const int later = b + CTU_AHEAD < block->bricks ? b + CTU_AHEAD : b;
    const GBEES_REAL *row = (const GBEES_REAL *)rows + (size_t)block->slots[later] * (size_t)cells;

    for (int i = 0; i < cells; i += 64 / (int)sizeof *row)
        __builtin_prefetch(row + i, 1);
}

static void GBEES_REAL_FN(transverse)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const gbees_shape *shape = &c->g->shape;
    GBEES_REAL_FN(block) block;

    for (; from < to; from += (uint32_t)block.bricks) {
        GBEES_REAL_FN(open_block)(c, from, to, &block);
        for (int j = 0; j < c->n; j++) {
#define CALL(count, shift, log2_edge) GBEES_REAL_FN(transverse_axis)(c, j, &block, count, shift, log2_edge)
            FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
        }
        for (int b = 0; b < block.bricks; b++) {
            GBEES_REAL_FN(ask_to_write)(&block, b, c->s, shape->cells);
            GBEES_REAL_FN(copy)
            ((GBEES_REAL *)c->s + (size_t)block.slots[b] * (size_t)shape->cells, block.sum[b], shape->cells);
        }
    }
}

/* Opens a block, and sums over the axes what flux_axis makes of it. */
INLINE void GBEES_REAL_FN(block_fluxes)(const kernel_context *c, uint32_t from, uint32_t to, kernel_fluxes what,
                                        GBEES_REAL_FN(block) * block)
{
    const gbees_shape *shape = &c->g->shape;

    GBEES_REAL_FN(open_block)(c, from, to, block);
    for (int j = 0; j < c->n; j++) {
#define CALL(count, shift, log2_edge) GBEES_REAL_FN(flux_axis)(c, j, block, what, count, shift, log2_edge)
        FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
    }
}

static void GBEES_REAL_FN(share)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    GBEES_REAL_FN(block) block;

    for (; from < to; from += (uint32_t)block.bricks) {
        GBEES_REAL_FN(block_fluxes)(c, from, to, KERNEL_OUTGOING, &block);
        for (int b = 0; b < block.bricks; b++) {
            const GBEES_REAL *p = (const GBEES_REAL *)c->p + block.slots[b] * cells;
            GBEES_REAL *share = (GBEES_REAL *)c->share + block.slots[b] * cells;

            for (size_t i = 0; i < cells; i++)
                share[i] = GBEES_REAL_FN(gbees_ctu_share)(p[i], block.sum[b][i]);
        }
    }
}

INLINE void GBEES_REAL_FN(settle_block)(const kernel_context *c, GBEES_REAL_FN(block) * block, int cells,
                                        GBEES_REAL_FN(totals) * totals)
{
    for (int b = 0; b < block->bricks; b++) {
        const uint32_t slot = block->slots[b];
        const size_t at = (size_t)slot * (size_t)cells;
        const GBEES_REAL *old = (const GBEES_REAL *)c->p + at;
        GBEES_REAL *change = block->sum[b];

        GBEES_REAL_FN(ask_to_write)(block, b, c->next, cells);
        for (int i = 0; i < cells; i++)
            change[i] += old[i];
        c->active[slot] = GBEES_REAL_FN(settle)(c, slot, change, (GBEES_REAL *)c->next + at, cells, totals);
    }
}

INLINE void GBEES_REAL_FN(update_bricks)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums,
                                         kernel_fluxes what)
{
    GBEES_REAL_FN(block) block;
    GBEES_REAL_FN(totals) totals = {0};

    for (; from < to; from += (uint32_t)block.bricks) {
        GBEES_REAL_FN(block_fluxes)(c, from, to, what, &block);
        if (c->g->shape.cells == 64)
            GBEES_REAL_FN(settle_block)(c, &block, 64, &totals);
        else
            GBEES_REAL_FN(settle_block)(c, &block, 1, &totals);
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
