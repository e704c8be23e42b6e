/* kernel_sweep.h - sweeps of the split scheme, in place, one pencil at a time.  A template: see kernel.c.
 *
 * A pencil (kernel_pencil.h) is copied into planes with some empty ones at each end (planes_beyond()), the planes are
 * changed (kernel_planes.h), and put back.  A long one is by segments, which the first cache holds: some bricks
 * beyond a segment are copied with it, and the planes before it are kept as they were.  Pencils of one axis share
 * nothing: they go in any order, and the density needs no second copy.
 */

#ifndef GBEES_CPU_SWEEP
#define GBEES_CPU_SWEEP
enum { SEGMENT = 16 }; /* bricks */
#endif

/* Bricks whose planes a segment's faces depend on above it. */
INLINE int GBEES_REAL_FN(bricks_beyond)(const kernel_context *c, int log2_edge)
{
    return (GBEES_REAL_FN(planes_beyond)(c) + (1 << log2_edge) - 1) >> log2_edge;
}

/* Bricks of a pencil of so many whose planes are there at a time: all, or a segment and what lies beyond it.  Above
 * Courant number 1 what crosses a face depends on all of the pencil. */
INLINE int GBEES_REAL_FN(bricks_at_hand)(const kernel_context *c, int bricks, int log2_edge)
{
    const int part = SEGMENT + GBEES_REAL_FN(bricks_beyond)(c, log2_edge);

    return c->reach > 1 || bricks < part ? bricks : part;
}

/* Room for the planes of so many bricks: P, velocities and masses at faces. */
INLINE int GBEES_REAL_FN(reserve_planes)(const kernel_context *c, kernel_scratch *scratch, size_t bricks, int cells,
                                         int lanes)
{
    size_t planes = bricks * (size_t)cells + (2 + 2 * (size_t)GBEES_REAL_FN(planes_beyond)(c)) * (size_t)lanes,
           size = (3 * planes + 64) * sizeof(GBEES_REAL);

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

/* Asks memory for the row of one of the bricks of a pencil to come, that of the next one into the second cache. */
INLINE void GBEES_REAL_FN(prefetch_row)(const kernel_context *c, uint32_t slot, size_t row, int soon)
{
    for (size_t at = 0; at < row; at += 64)
        if (soon)
            __builtin_prefetch((const char *)c->density + slot * row + at, 1, 3);
        else
            __builtin_prefetch((const char *)c->density + slot * row + at, 1, 2);
}

/* Bricks [from, to) of a pencil into planes, the lowest of which are at `own`. */
INLINE void GBEES_REAL_FN(take_out)(const kernel_context *c, const pencil_rows *rows, int from, int to,
                                    GBEES_REAL *own, int count, int shift, int log2_edge)
{
    const GBEES_REAL *density = c->density;
    const uint32_t *slots = rows->own->slots, *to_come = rows->to_come;
    const int before = rows->before;
    const size_t size = (size_t)count * sizeof *own;

    for (int b = from; b < to; b++) {
        if (b < before)
            GBEES_REAL_FN(prefetch_row)(c, to_come[b], size, 1);
        GBEES_REAL_FN(split)
        (density + (size_t)slots[b] * (size_t)count, own + (b - from) * count, count, shift, log2_edge);
    }
}

/* Asks for the row that is read `ahead` bricks after brick b of a pencil, in this one or the next. */
INLINE void GBEES_REAL_FN(ask_ahead)(const kernel_context *c, int axis, const pencil_rows *rows, int b, int ahead,
                                     size_t size)
{
    const kernel_pencil *own = rows->own;
    const int64_t at = (int64_t)b + ahead, further = at - own->bricks;

    if (further < 0)
        GBEES_REAL_FN(prefetch_row)(c, own->slots[at], size, 0);
    else if (rows->after && further < rows->next->bricks)
        GBEES_REAL_FN(prefetch_row)(c, rows->next->slots[further], size, 0);
    if (rows->after && rows->next->next)
        follow_pencil(c, axis, rows->next);
}

/* Planes back into the rows of bricks [from, to) of a pencil: counted and marked at the end of a step. */
INLINE void GBEES_REAL_FN(put_back)(const kernel_context *c, int axis, const pencil_rows *rows, int from, int to,
                                    const GBEES_REAL *own, int at_hand, int last_axis, GBEES_REAL_FN(totals) * totals,
                                    int count, int shift, int log2_edge)
{
    GBEES_REAL *density = (GBEES_REAL *)c->density;
    const uint32_t *slots = rows->own->slots;
    const size_t size = (size_t)count * sizeof *own;
    const int long_one = rows->long_one;

    for (int b = from; b < to; b++) {
        const GBEES_REAL *planes = own + (b - from) * count;
        GBEES_REAL *row = density + (size_t)slots[b] * (size_t)count;

        if (long_one)
            GBEES_REAL_FN(ask_ahead)(c, axis, rows, b, at_hand, size);
        if (last_axis) {
            _Alignas(64) GBEES_REAL value[64];

            GBEES_REAL_FN(merge)(planes, value, count, shift, log2_edge);
            c->active[slots[b]] = GBEES_REAL_FN(settle)(c, slots[b], value, row, count, totals);
        } else {
            GBEES_REAL_FN(merge)(planes, row, count, shift, log2_edge);
        }
    }
}

/* Bricks [from, to) of a pencil; planes of bricks from `taken` on are copied up to `there`. */
INLINE void GBEES_REAL_FN(sweep_bricks)(const kernel_context *c, int axis, const pencil_rows *rows,
                                        GBEES_REAL_FN(segment) * s, int from, int to, int taken, int there,
                                        int at_hand, int last_axis, GBEES_REAL_FN(totals) * totals, int count,
                                        int shift, int log2_edge)
{
    const kernel_pencil *pencil = rows->own;
    const int bricks = (int)pencil->bricks, edge = 1 << log2_edge, lanes = count >> log2_edge;
    const int end = GBEES_REAL_FN(planes_beyond)(c) * lanes;
    const GBEES_REAL lambda = (GBEES_REAL)(c->step / c->axis[axis].width);
    GBEES_REAL before[4 * 64]; /* planes of 64 cells at most, as many as order 7 needs */

    GBEES_REAL_FN(pencil_velocities)
    (c, axis, pencil->slots[0], taken, there, there == bricks, edge, lanes, s->mass,
     s->u + (taken - from) * count + (taken ? 2 * lanes : 0));
    GBEES_REAL_FN(take_out)(c, rows, taken, there, s->own + (taken - from) * count, count, shift, log2_edge);
    s->planes = (to - from) * edge;
    s->way = pencil_way(c, axis, pencil, from, to);
    s->diverging = s->way ? 0 : pencil_diverges(c, axis, pencil, from, to);
    if (s->above)
        memcpy(before, s->own + ((to - from) * count - end), (size_t)end * sizeof *before);
    GBEES_REAL_FN(change_segment)(c, s, lambda, &totals->outflow);
    GBEES_REAL_FN(put_back)
    (c, axis, rows, from, to, s->own, at_hand, last_axis, totals, count, shift, log2_edge);
    if (s->above) { /* what comes next begins at the same place */
        const int done = (to - from) * count, rest = (there - to) * count;

        memcpy(s->own - end, before, (size_t)end * sizeof *before);
        memcpy(s->own, s->own + done, (size_t)rest * sizeof *s->own);
        memcpy(s->u, s->u + done, (size_t)(rest + 2 * lanes) * sizeof *s->u);
    }
}

INLINE void GBEES_REAL_FN(sweep_pencil)(const kernel_context *c, int axis, const pencil_rows *rows,
                                        GBEES_REAL *restrict p, int last_axis, GBEES_REAL_FN(totals) * totals,
                                        int count, int shift, int log2_edge)
{
    const int bricks = (int)rows->own->bricks, lanes = count >> log2_edge;
    const int end = GBEES_REAL_FN(planes_beyond)(c) * lanes, beyond = GBEES_REAL_FN(bricks_beyond)(c, log2_edge);
    const int at_hand = GBEES_REAL_FN(bricks_at_hand)(c, bricks, log2_edge);
    GBEES_REAL *own = p + end, *u = own + (at_hand * count + end), *mass = u + (at_hand * count + 3 * lanes);
    GBEES_REAL away[64];
    GBEES_REAL_FN(segment) s = {.own = own, .u = u, .mass = mass, .lanes = lanes, .away = away};

    if (at_hand == bricks) {
        GBEES_REAL_FN(sweep_bricks)
        (c, axis, rows, &s, 0, bricks, 0, bricks, at_hand, last_axis, totals, count, shift, log2_edge);
        return;
    }
    for (int from = 0, taken = 0; from < bricks;) {
        const int there = bricks - from > at_hand ? from + at_hand : bricks;
        const int to = there < bricks ? there - beyond : bricks;

        s.below = from > 0;
        s.above = to < bricks;
        GBEES_REAL_FN(sweep_bricks)
        (c, axis, rows, &s, from, to, taken, there, at_hand, last_axis, totals, count, shift, log2_edge);
        from = to;
        taken = there;
    }
}

/* The pencils that start at these bricks, at most PENCIL_BLOCK of them. */
INLINE int GBEES_REAL_FN(sweep_block)(const kernel_context *c, int axis, int last_axis, const uint32_t *first,
                                      uint32_t count, kernel_scratch *scratch, GBEES_REAL_FN(totals) * totals)
{
    const gbees_shape *shape = &c->g->shape;
    const int lanes = shape->cells / shape->edge[axis];
    pencil_rows rows = {0};
    pencil_list list;

    find_pencils(c, axis, first, count, &list);
    for (uint32_t i = 0, at = ROWS_AHEAD; i < list.count; at += list.bricks[i++]) {
        if (next_pencil(c, axis, &list, i, at, scratch->pencil, &rows) ||
            GBEES_REAL_FN(reserve_planes)(
                c, scratch, (size_t)GBEES_REAL_FN(bricks_at_hand)(c, (int)rows.own->bricks, shape->log2_edge[axis]),
                shape->cells, lanes))
            return 1;
        if (i + 2 < list.count)
            __builtin_prefetch(grid_key(c->g, list.slot[i + 2][0]));
#define CALL(count, shift, log2_edge)                                                                                \
    GBEES_REAL_FN(sweep_pencil)                                                                                      \
    (c, axis, &rows, scratch->data, last_axis, totals, count, shift, log2_edge)
        FOR_AXIS(shape->cells, shape->shift[axis], shape->log2_edge[axis], CALL)
#undef CALL
    }
    return 0;
}

/* Scratch and sums are on the stack meanwhile: in their arrays they share cache lines with other threads'. */
static int GBEES_REAL_FN(sweep)(const kernel_context *c, int axis, int last_axis, const uint32_t *first,
                                uint32_t count, kernel_scratch *scratch, kernel_sums *sums)
{
    kernel_scratch mine = *scratch;
    GBEES_REAL_FN(totals) totals = {0};
    int failed = 0;

    for (uint32_t k = 0; k < count && !failed; k += PENCIL_BLOCK)
        failed = GBEES_REAL_FN(sweep_block)(c, axis, last_axis, first + k,
                                            count - k < PENCIL_BLOCK ? count - k : PENCIL_BLOCK, &mine, &totals);
    *scratch = mine;
    *sums = GBEES_REAL_FN(sums_of)(&totals);
    return failed;
}
