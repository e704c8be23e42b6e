/* kernel_sweep.h - sweeps of the split scheme, in place, one pencil at a time.  A template: see kernel.c.
 *
 * A pencil (kernel_pencil.h) is copied into planes with some empty ones at each end (planes_beyond()), the planes are
 * changed, and put back.  They are changed column by column: mostly all flows one way (kernel_stream.h), else it may
 * flow either way (kernel_column.h); where a plane is no whole number of vectors, where cells flow out on both sides
 * and with further bounds the masses through all faces come first, in one long loop (kernel_faces.h).  Pencils of one
 * axis share nothing: they go in any order, and the density needs no second copy.
 */

/* Empty planes beyond each end of a pencil: what a face's mass depends on. */
INLINE int GBEES_REAL_FN(planes_beyond)(const kernel_context *c)
{
    return c->reach + (c->order - 1) / 2;
}

/* Room for the planes of a pencil: P, velocities and masses at faces. */
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

static __attribute__((noinline)) void
GBEES_REAL_FN(change_planes)(GBEES_REAL *restrict p, const GBEES_REAL *restrict mass, int lanes, int count)
{
    for (int i = 0; i < count; i++)
        p[i] += mass[i] - mass[i + lanes];
}

/* The fluxes through all faces of a pencil, and the cells after them: all masses first, in one long loop.  own: its
 * lowest plane; mass: room for all faces. */
INLINE void GBEES_REAL_FN(change_long)(const kernel_context *c, int diverging, GBEES_REAL *restrict own,
                                       const GBEES_REAL *restrict u, GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                       int lanes, int faces)
{
    const GBEES_REAL whole = (GBEES_REAL)c->reach; /* 1, and not a literal */
    const int count = faces - lanes, end = GBEES_REAL_FN(planes_beyond)(c) * lanes;

    memset(own - end, 0, (size_t)end * sizeof *own);
    if (c->reach > 1) {
        GBEES_REAL_FN(cross_far)(own, u, mass, lambda, lanes, faces, c->reach, c->preserving);
        GBEES_REAL_FN(bound_masses)(own, mass, lanes, count);
        GBEES_REAL_FN(move_planes)(own, mass, lanes, count);
    } else {
        if (c->order == 7)
            GBEES_REAL_FN(cross_all7)(own - end, u, mass, lambda, whole, lanes, faces, diverging, c->preserving);
        else
            GBEES_REAL_FN(cross_all)(own - end, u, mass, lambda, whole, lanes, faces, diverging, c->preserving);
        GBEES_REAL_FN(change_planes)(own, mass, lanes, count);
    }
    for (int l = 0; l < lanes; l++) {
        own[l - lanes] = -mass[l];
        own[l + count] = mass[l + count];
    }
}

/* Adds what flows out through the two ends of a pencil. */
INLINE void GBEES_REAL_FN(add_outflow)(const GBEES_REAL *below, const GBEES_REAL *above, int lanes,
                                       eight_doubles *sum)
{
    _Alignas(64) GBEES_REAL away[64];

    for (int l = 0; l < lanes; l++)
        away[l] = (below[l] > 0 ? below[l] : 0) + (above[l] > 0 ? above[l] : 0);
    GBEES_REAL_FN(add_eights)(away, lanes, sum);
}

/* The same, in place, where nothing is asked for that hinders; adds what flows out.  way: pencil_way(). */
INLINE void GBEES_REAL_FN(change_pencil)(const kernel_context *c, int diverging, int way, GBEES_REAL *restrict own,
                                         const GBEES_REAL *restrict u, GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                         int lanes, int faces, eight_doubles *outflow)
{
    const GBEES_REAL whole = (GBEES_REAL)c->reach; /* 1, and not a literal */
    const int seven = c->order == 7, count = faces - lanes, planes = count / lanes;
    const int simple = !(lanes % LANES || c->reach > 1 || c->preserving || diverging);

    if (simple && way) {
        const GBEES_REAL *out = seven ? GBEES_REAL_FN(stream_columns7)(own, u, lambda, whole, lanes, planes, way > 0)
                                      : GBEES_REAL_FN(stream_columns)(own, u, lambda, whole, lanes, planes, way > 0);

        GBEES_REAL_FN(add_eights)(out, lanes, outflow);
        return;
    }
    memset(own + count, 0, (size_t)(GBEES_REAL_FN(planes_beyond)(c) * lanes) * sizeof *own);
    if (!simple)
        GBEES_REAL_FN(change_long)(c, diverging, own, u, mass, lambda, lanes, faces);
    else if (seven)
        GBEES_REAL_FN(sweep_columns7)(own, u, lambda, whole, lanes, planes);
    else
        GBEES_REAL_FN(sweep_columns)(own, u, lambda, whole, lanes, planes);
    GBEES_REAL_FN(add_outflow)(own - lanes, own + count, lanes, outflow);
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

/* The planes of a pencil back into its bricks' rows: counted and marked at the end of a step. */
INLINE void GBEES_REAL_FN(put_back)(const kernel_context *c, int axis, const pencil_rows *rows, const GBEES_REAL *own,
                                    int last_axis, GBEES_REAL_FN(totals) * totals, int count, int shift,
                                    int log2_edge)
{
    const uint32_t *slots = rows->own->slots;
    const int bricks = (int)rows->own->bricks;
    const size_t size = (size_t)count * sizeof *own;

    for (int b = 0; b < bricks; b++) {
        GBEES_REAL *row = (GBEES_REAL *)c->density + (size_t)slots[b] * (size_t)count;

        if (rows->after && b < (int)rows->next->bricks)
            GBEES_REAL_FN(prefetch_row)(c, rows->next->slots[b], size, 0);
        if (rows->after && rows->next->next)
            follow_pencil(c, axis, rows->next);
        if (last_axis) {
            _Alignas(64) GBEES_REAL value[64];

            GBEES_REAL_FN(merge)(own + b * count, value, count, shift, log2_edge);
            c->active[slots[b]] = GBEES_REAL_FN(settle)(c, slots[b], value, row, count, totals);
        } else {
            GBEES_REAL_FN(merge)(own + b * count, row, count, shift, log2_edge);
        }
    }
}

INLINE void GBEES_REAL_FN(sweep_pencil)(const kernel_context *c, int axis, const pencil_rows *rows, int way,
                                        GBEES_REAL *restrict p, int last_axis, GBEES_REAL_FN(totals) * totals,
                                        int count, int shift, int log2_edge)
{
    const uint32_t *slots = rows->own->slots;
    const int bricks = (int)rows->own->bricks, lanes = count >> log2_edge, faces = bricks * count + lanes;
    const int end = GBEES_REAL_FN(planes_beyond)(c) * lanes; /* of the empty planes */
    const GBEES_REAL lambda = (GBEES_REAL)(c->step / c->axis[axis].width);
    const size_t row = (size_t)count * sizeof *p;
    GBEES_REAL *u = p + (size_t)(bricks * count + 2 * end), *mass = u + (size_t)(bricks * count + 3 * lanes);
    GBEES_REAL *own = p + end;

    GBEES_REAL_FN(pencil_velocities)(c, axis, slots[0], bricks, 1 << log2_edge, lanes, mass, u);
    for (int b = 0; b < bricks; b++) {
        if (b < rows->before)
            GBEES_REAL_FN(prefetch_row)(c, rows->to_come[b], row, 1);
        GBEES_REAL_FN(split)
        ((const GBEES_REAL *)c->density + (size_t)slots[b] * (size_t)count, own + b * count, count, shift, log2_edge);
    }
    GBEES_REAL_FN(change_pencil)
    (c, way ? 0 : pencil_diverges(c, axis, slots, (uint32_t)bricks), way, own, u, mass, lambda, lanes, faces,
     &totals->outflow);
    GBEES_REAL_FN(put_back)(c, axis, rows, own, last_axis, totals, count, shift, log2_edge);
}

/* The pencils that start at used bricks [from, to), at most PENCIL_BLOCK of them. */
INLINE int GBEES_REAL_FN(sweep_block)(const kernel_context *c, int axis, int last_axis, uint32_t from, uint32_t to,
                                      kernel_scratch *scratch, GBEES_REAL_FN(totals) * totals)
{
    const gbees_shape *shape = &c->g->shape;
    const int lanes = shape->cells / shape->edge[axis];
    pencil_rows rows = {0};
    pencil_list list;

    find_pencils(c, axis, from, to, &list);
    for (uint32_t i = 0, at = ROWS_AHEAD; i < list.count; at += list.bricks[i++]) {
        if (next_pencil(c, axis, &list, i, at, scratch->pencil, &rows) ||
            GBEES_REAL_FN(reserve_planes)(c, scratch, (size_t)rows.own->bricks, shape->cells, lanes))
            return 1;
        const int way = pencil_way(c, axis, rows.own);

        if (i + 2 < list.count)
            __builtin_prefetch(grid_key(c->g, list.slot[i + 2][0]));
#define CALL(count, shift, log2_edge)                                                                                \
    GBEES_REAL_FN(sweep_pencil)                                                                                      \
    (c, axis, &rows, way, scratch->data, last_axis, totals, count, shift, log2_edge)
        FOR_AXIS(shape->cells, shape->shift[axis], shape->log2_edge[axis], CALL)
#undef CALL
    }
    return 0;
}

/* Scratch and sums are on the stack meanwhile: in their arrays they share cache lines with other threads'. */
static int GBEES_REAL_FN(sweep)(const kernel_context *c, int axis, int last_axis, uint32_t from, uint32_t to,
                                kernel_scratch *scratch, kernel_sums *sums)
{
    kernel_scratch mine = *scratch;
    GBEES_REAL_FN(totals) totals = {0};
    int failed = 0;

    for (uint32_t k = from; k < to && !failed; k += PENCIL_BLOCK)
        failed = GBEES_REAL_FN(sweep_block)(c, axis, last_axis, k, to - k < PENCIL_BLOCK ? to : k + PENCIL_BLOCK,
                                            &mine, &totals);
    *scratch = mine;
    *sums = GBEES_REAL_FN(sums_of)(&totals);
    return failed;
}
