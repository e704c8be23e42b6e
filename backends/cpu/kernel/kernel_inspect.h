/* kernel_inspect.h - velocity signs and rates of bricks; the order of the split.  A template: see kernel.c. */

/* The flow masks of one axis. u: face planes 0 .. edge, in the order of the split; what the cells have at their lower
 * faces, with the other sign, and at their upper ones. */
INLINE void GBEES_REAL_FN(flow_axis)(const GBEES_REAL *u, int count, int shift, int log2_edge, GBEES_REAL *down,
                                     GBEES_REAL *up, uint64_t *flow)
{
    memset(down, 0, (size_t)count * sizeof *down);
    memset(up, 0, (size_t)count * sizeof *up);
    GBEES_REAL_FN(merge_add)(u, down, count, shift, log2_edge);
    GBEES_REAL_FN(merge_add)(u + (count >> log2_edge), up, count, shift, log2_edge);
    for (int i = 0; i < count; i++)
        down[i] = -down[i];
    flow[0] = GBEES_REAL_FN(mask)(down, 0, count, 1);
    flow[1] = GBEES_REAL_FN(mask)(up, 0, count, 1);
}

/* ... and the axis's part of the rates. */
INLINE void GBEES_REAL_FN(inspect_axis)(const GBEES_REAL *u, GBEES_REAL over_width, int count, int shift,
                                        int log2_edge, const kernel_context *c, uint64_t *flow, GBEES_REAL *rate)
{
    GBEES_REAL down[64], up[64];

    GBEES_REAL_FN(flow_axis)(u, count, shift, log2_edge, down, up, flow);
    for (int i = 0; i < count; i++) {
        GBEES_REAL spread = up[i] + down[i];
        GBEES_REAL here = (up[i] < 0 ? -up[i] : up[i]) * over_width;

        /* A velocity that is not a number stays visible, and so does a divergence that is not. */
        rate[i] = c->rate_is_sum ? rate[i] + here : here > rate[i] ? here : rate[i] + (here - here);
        rate[i] += spread - spread;
    }
}

/* The largest rate, at least 0; not a number if one is not finite. */
INLINE GBEES_REAL GBEES_REAL_FN(largest)(const GBEES_REAL *rate, int count)
{
    GBEES_REAL_FN(vector) high = {0}, odd = {0};
    GBEES_REAL most = 0;
    int i = 0;

    for (; i + LANES <= count; i += LANES) {
        GBEES_REAL_FN(vector) v = GBEES_REAL_FN(load)(rate + i);

        high = GBEES_REAL_FN(highest)(v, high);
        odd += v - v;
    }
    for (int l = 0; l < LANES; l++) {
        most = high[l] > most ? high[l] : most;
        most += odd[l];
    }
    for (; i < count; i++)
        most = rate[i] <= most || isnan(most) ? most : rate[i];
    return most;
}

/* Cells out of bound hold nothing and set no step; what is not a number there would spoil their neighbours. */
static __attribute__((noinline)) void GBEES_REAL_FN(forget_outside)(GBEES_REAL *rate, uint64_t inside, int cells)
{
    for (int i = 0; i < cells; i++)
        rate[i] = inside >> i & 1 ? rate[i] : rate[i] - rate[i];
}

/* What the flow masks of a brick come to along each axis. */
INLINE void GBEES_REAL_FN(sum_up_flow)(const kernel_context *c, uint32_t slot, const uint64_t *flow)
{
    const uint64_t all = c->g->shape.all;
    unsigned diverging = 0, steady = 0;

    for (int j = 0; j < c->n; j++, flow += 2) {
        diverging |= (unsigned)((flow[0] & flow[1]) != 0) << j;
        steady |= (unsigned)(flow[1] == all && !flow[0]) << j | (unsigned)(flow[0] == all && !flow[1]) << (8 + j);
    }
    c->diverging[slot] = (unsigned char)diverging;
    c->steady[slot] = (uint16_t)steady;
}

static void GBEES_REAL_FN(inspect)(const kernel_context *c, const uint32_t *slots, uint32_t count)
{
    const gbees_shape *shape = &c->g->shape;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t slot = slots[k];
        GBEES_REAL_FN(base) base;
        GBEES_REAL u[GBEES_REAL_FN(PLANES)], rate[64] = {0};
        uint64_t flow[2 * GBEES_MAX_DIM];

        GBEES_REAL_FN(base_of)(c, slot, &base);
        for (int j = 0; j < c->n; j++) {
            GBEES_REAL over_width = (GBEES_REAL)(1 / c->axis[j].width);

            GBEES_REAL_FN(velocities)(c, j, &base, 0, c->axis[j].edge + 1, shape->cells / c->axis[j].edge, u);
#define CALL(count, shift, log2_edge)                                                                                \
    GBEES_REAL_FN(inspect_axis)(u, over_width, count, shift, log2_edge, c, flow + 2 * j, rate)
            FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
        }
        GBEES_REAL_FN(sum_up_flow)(c, slot, flow);
        if (c->flow)
            memcpy(c->flow + (size_t)slot * (size_t)(2 * c->n), flow, (size_t)(2 * c->n) * sizeof *flow);
        if (c->inside && c->inside[slot] != shape->all)
            GBEES_REAL_FN(forget_outside)(rate, c->inside[slot], shape->cells);
        c->rate[slot] = (double)GBEES_REAL_FN(largest)(rate, shape->cells);
    }
}

/* The flow masks of a brick that has been inspected: evaluated where they are not known. */
static void GBEES_REAL_FN(find_flow)(const kernel_context *c, uint32_t slot, uint64_t *flow)
{
    const gbees_shape *shape = &c->g->shape;
    const unsigned steady = c->steady[slot];
    GBEES_REAL_FN(base) base;
    GBEES_REAL u[GBEES_REAL_FN(PLANES)], down[64], up[64];

    GBEES_REAL_FN(base_of)(c, slot, &base);
    for (int j = 0; j < c->n; j++, flow += 2) {
        flow[0] = steady >> (8 + j) & 1 ? shape->all : 0;
        flow[1] = steady >> j & 1 ? shape->all : 0;
        if (flow[0] | flow[1])
            continue;
        GBEES_REAL_FN(velocities)(c, j, &base, 0, c->axis[j].edge + 1, shape->cells / c->axis[j].edge, u);
#define CALL(count, shift, log2_edge) GBEES_REAL_FN(flow_axis)(u, count, shift, log2_edge, down, up, flow)
        FOR_AXIS(shape->cells, shape->shift[j], shape->log2_edge[j], CALL)
#undef CALL
    }
}

static double GBEES_REAL_FN(sum_rows)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    double sum = 0;

    for (uint32_t k = from; k < to; k++)
        sum += GBEES_REAL_FN(sum)((const GBEES_REAL *)rows + c->g->used[k] * cells, (int)cells);
    return sum;
}

static uint64_t GBEES_REAL_FN(mark_rows)(const kernel_context *c, const void *rows, double threshold, uint32_t from,
                                         uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    GBEES_REAL least = (GBEES_REAL)threshold;
    uint64_t above = 0;

    if ((double)least < threshold) /* what is rounded down would let values through that are below */
        least = NEXT_AFTER(least, INFINITY);
    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];

        c->active[slot] = GBEES_REAL_FN(mask)((const GBEES_REAL *)rows + slot * cells, least, (int)cells, 0);
        above += (uint64_t)__builtin_popcountll(c->active[slot]);
    }
    return above;
}

static void GBEES_REAL_FN(split_index)(const grid *g, int axis, const void *cells, void *planes)
{
#define CALL(count, shift, log2_edge) GBEES_REAL_FN(split)(cells, planes, count, shift, log2_edge)
    FOR_AXIS(g->shape.cells, g->shape.shift[axis], g->shape.log2_edge[axis], CALL)
#undef CALL
}
