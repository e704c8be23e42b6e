/* kernel_sweep.h - sweeps of the split scheme, in place, one pencil at a time.  A template: see kernel.c.
 *
 * A pencil is a row of bricks along an axis, from one without a lower neighbour up to one without an upper neighbour.
 * It is copied into planes with three empty ones at each end, so that the fluxes through all its faces are one long
 * loop; then the planes are changed and put back.  Pencils of one axis share nothing: they go in any order, and the
 * density needs no second copy.
 */

/* Room for a pencil: planes of P, velocities and masses at faces. */
INLINE int GBEES_REAL_FN(reserve_pencil)(kernel_scratch *scratch, size_t bricks, int cells, int lanes)
{
    size_t planes = bricks * (size_t)cells + 8 * (size_t)lanes, size = (3 * planes + 64) * sizeof(GBEES_REAL);

    if (scratch->brick_capacity < bricks) {
        uint32_t *slots = realloc(scratch->slots, 2 * bricks * sizeof *slots);

        if (!slots)
            return 1;
        scratch->slots = slots;
        scratch->brick_capacity = 2 * bricks;
    }
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

/* The mass that crosses each face: one loop for each kind of flux. */
INLINE void GBEES_REAL_FN(cross_faces)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                       GBEES_REAL *restrict mass, GBEES_REAL lambda, int lanes, int count,
                                       int diverging, int preserving)
{
    for (int i = 0; i < count; i++)
        mass[i] = GBEES_REAL_FN(gbees_split5_mass)(p[i], p[i + lanes], p[i + 2 * lanes], p[i + 3 * lanes],
                                                   p[i + 4 * lanes], p[i + 5 * lanes], u[i], u[i + lanes],
                                                   u[i + 2 * lanes], lambda, diverging, preserving);
}

static __attribute__((noinline)) void GBEES_REAL_FN(cross_smooth)(const GBEES_REAL *restrict p,
                                                                  const GBEES_REAL *restrict u,
                                                                  GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                                                  int lanes, int count)
{
    GBEES_REAL_FN(cross_faces)(p, u, mass, lambda, lanes, count, 0, 0);
}

static __attribute__((noinline)) void GBEES_REAL_FN(cross_diverging)(const GBEES_REAL *restrict p,
                                                                     const GBEES_REAL *restrict u,
                                                                     GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                                                     int lanes, int count)
{
    GBEES_REAL_FN(cross_faces)(p, u, mass, lambda, lanes, count, 1, 0);
}

static __attribute__((noinline)) void GBEES_REAL_FN(cross_preserving)(const GBEES_REAL *restrict p,
                                                                      const GBEES_REAL *restrict u,
                                                                      GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                                                      int lanes, int count)
{
    GBEES_REAL_FN(cross_faces)(p, u, mass, lambda, lanes, count, 1, 1);
}

static __attribute__((noinline)) void
GBEES_REAL_FN(change_planes)(GBEES_REAL *restrict p, const GBEES_REAL *restrict mass, int lanes, int count)
{
    for (int i = 0; i < count; i++)
        p[i] += mass[i] - mass[i + lanes];
}

/* Velocities of a brick's upper faces (planes 1 .. edge), with planes -1 and 0 before them for the first brick and
 * plane edge + 1 behind them for the last. */
INLINE void GBEES_REAL_FN(pencil_velocities)(const kernel_context *c, int axis, uint32_t slot, int first, int last,
                                             int cells, int lanes, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];
    const void *const *offset = first ? a->offset : a->upper;
    int points = cells + (first ? 2 * lanes : 0) + (last ? lanes : 0);
    GBEES_REAL_FN(base) base;

    GBEES_REAL_FN(base_of)(c, slot, &base);
    if (sizeof(GBEES_REAL) == sizeof(float) && c->wide) {
        double wide[4 * 64];

        a->component_d((size_t)points, c->time, base.wide, (const double *const *)offset, c->parameters_d, wide);
        for (int i = 0; i < points; i++)
            out[i] = (GBEES_REAL)wide[i];
    } else {
        a->COMPONENT((size_t)points, (GBEES_REAL)c->time, base.narrow, (const GBEES_REAL *const *)offset,
                     c->PARAMETERS, out);
    }
}

/* What flows out through one end of a pencil. */
INLINE double GBEES_REAL_FN(sum_outflow)(const GBEES_REAL *mass, int lanes, int sign)
{
    double sum = 0;

    for (int l = 0; l < lanes; l++)
        sum += sign * (double)mass[l] > 0 ? sign * (double)mass[l] : 0;
    return sum;
}

INLINE void GBEES_REAL_FN(sweep_pencil)(const kernel_context *c, int axis, const kernel_scratch *scratch,
                                        uint32_t bricks, int diverging, int last_axis, kernel_sums *sums, int count,
                                        int shift, int log2_edge)
{
    const int lanes = count >> log2_edge, faces = ((int)bricks * count) + lanes;
    const GBEES_REAL lambda = (GBEES_REAL)(c->step / c->axis[axis].width);
    GBEES_REAL *p = scratch->data, *u = p + (size_t)bricks * (size_t)count + 6 * (size_t)lanes;
    GBEES_REAL *mass = u + (size_t)bricks * (size_t)count + 3 * (size_t)lanes, *rows = c->density;

    memset(p, 0, 3 * (size_t)lanes * sizeof *p);
    memset(p + 3 * lanes + (int)bricks * count, 0, 3 * (size_t)lanes * sizeof *p);
    for (int b = 0; b < (int)bricks; b++) {
        GBEES_REAL_FN(split)
        (rows + (size_t)scratch->slots[b] * (size_t)count, p + 3 * lanes + b * count, count, shift, log2_edge);
        GBEES_REAL_FN(pencil_velocities)
        (c, axis, scratch->slots[b], b == 0, b == (int)bricks - 1, count, lanes, u + (b ? b * count + 2 * lanes : 0));
    }
    if (c->preserving)
        GBEES_REAL_FN(cross_preserving)(p, u, mass, lambda, lanes, faces);
    else if (diverging)
        GBEES_REAL_FN(cross_diverging)(p, u, mass, lambda, lanes, faces);
    else
        GBEES_REAL_FN(cross_smooth)(p, u, mass, lambda, lanes, faces);
    sums->outflow +=
        GBEES_REAL_FN(sum_outflow)(mass, lanes, -1) + GBEES_REAL_FN(sum_outflow)(mass + faces - lanes, lanes, 1);
    GBEES_REAL_FN(change_planes)(p + 3 * lanes, mass, lanes, (int)bricks * count);
    for (int b = 0; b < (int)bricks; b++) {
        uint32_t slot = scratch->slots[b];
        GBEES_REAL *row = rows + (size_t)slot * (size_t)count;

        if (last_axis) {
            _Alignas(64) GBEES_REAL value[64];

            GBEES_REAL_FN(merge)(p + 3 * lanes + b * count, value, count, shift, log2_edge);
            c->active[slot] = GBEES_REAL_FN(settle)(value, row, count, (GBEES_REAL)c->threshold, sums);
        } else {
            GBEES_REAL_FN(merge)(p + 3 * lanes + b * count, row, count, shift, log2_edge);
        }
    }
}

/* The bricks of the pencil that starts at a slot; whether a cell on it flows out on both sides. */
INLINE uint32_t GBEES_REAL_FN(follow)(const kernel_context *c, int axis, uint32_t slot, kernel_scratch *scratch,
                                      int lanes, int *diverging)
{
    const size_t row = (size_t)c->g->shape.cells * sizeof(GBEES_REAL);
    uint32_t bricks = 0;

    *diverging = c->moving;
    for (; slot; slot = grid_neighbor(c->g, slot, 2 * axis + 1)) {
        if (GBEES_REAL_FN(reserve_pencil)(scratch, bricks + 1u, c->g->shape.cells, lanes))
            return 0;
        *diverging |= c->diverging[slot] >> axis & 1;
        scratch->slots[bricks++] = slot;
        /* In the order of the heap the next pencil lies behind this one. */
        __builtin_prefetch(grid_key(c->g, slot + 1u));
        for (size_t at = 0; at < row; at += 64)
            __builtin_prefetch((const char *)c->density + (slot + 1u) * row + at);
    }
    return bricks;
}

static int GBEES_REAL_FN(sweep)(const kernel_context *c, int axis, int last_axis, uint32_t from, uint32_t to,
                                kernel_scratch *scratch, kernel_sums *sums)
{
    const gbees_shape *shape = &c->g->shape;
    const int lanes = shape->cells / shape->edge[axis];

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        int diverging;

        if (grid_neighbor(c->g, slot, 2 * axis))
            continue;
        uint32_t bricks = GBEES_REAL_FN(follow)(c, axis, slot, scratch, lanes, &diverging);
        if (!bricks)
            return 1;
#define CALL(count, shift, log2_edge)                                                                                \
    GBEES_REAL_FN(sweep_pencil)(c, axis, scratch, bricks, diverging, last_axis, sums, count, shift, log2_edge)
        FOR_AXIS(shape->cells, shape->shift[axis], shape->log2_edge[axis], CALL)
#undef CALL
    }
    return 0;
}
