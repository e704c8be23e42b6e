/* kernel_diffusion.h - one explicit step of diffusion, gathered.  A template: see kernel.c.
 *
 * What a cell gives is computed from its own Q, by itself and again by each of those that get it: the same number
 * each time, so that nothing is lost between them.  What goes to absent cells is summed up as outflow.
 */

/* A brick's cells shifted: which cell of which brick each becomes. */
typedef struct GBEES_REAL_FN(beside) {
    uint32_t slot[4]; /* own, beyond the side of the first axis, of the second, of both; 0: absent */
    unsigned char which[64], cell[64];
} GBEES_REAL_FN(beside);

/* The neighbour in directions d and f, where the bound may have left no brick that leads there. */
static __attribute__((noinline)) uint32_t GBEES_REAL_FN(look_across)(const kernel_context *c, uint32_t slot, int d,
                                                                     int f)
{
    int32_t key[GBEES_MAX_DIM];

    memcpy(key, grid_key(c->g, slot), (size_t)c->n * sizeof *key);
    key[d >> 1] += d & 1 ? 1 : -1;
    key[f >> 1] += f & 1 ? 1 : -1;
    return grid_find(c->g, key);
}

INLINE void GBEES_REAL_FN(look_beside)(const kernel_context *c, uint32_t slot, const noise_shift *shift,
                                       GBEES_REAL_FN(beside) * b)
{
    const gbees_shape *shape = &c->g->shape;
    const int d = 2 * shift->axis + (shift->step > 0), f = 2 * shift->second + (shift->second_step > 0);

    b->slot[0] = slot;
    b->slot[1] = grid_neighbor(c->g, slot, d);
    b->slot[2] = b->slot[3] = 0;
    if (shift->second >= 0) {
        b->slot[2] = grid_neighbor(c->g, slot, f);
        b->slot[3] = grid_neighbor(c->g, b->slot[1], f);
        if (!b->slot[3])
            b->slot[3] = grid_neighbor(c->g, b->slot[2], d);
        if (!b->slot[3] && c->inside)
            b->slot[3] = GBEES_REAL_FN(look_across)(c, slot, d, f);
    }
    for (int i = 0; i < shape->cells; i++) {
        int over = (int)(gbees_shape_side(shape, d) >> i & 1), cell = c->beside[d][i];

        if (shift->second >= 0) {
            over |= (int)(gbees_shape_side(shape, f) >> i & 1) << 1;
            cell = c->beside[f][cell];
        }
        b->which[i] = (unsigned char)over;
        b->cell[i] = (unsigned char)cell;
    }
}

/* What a shift of a cell is given in a step, of the cell's own Q and P. */
INLINE void GBEES_REAL_FN(gifts)(const kernel_context *c, const noise_shift *shift, double (*q)[64],
                                 const GBEES_REAL *p, GBEES_REAL *gift)
{
    const int n = c->n, full = c->noise_full, sign = shift->step * shift->second_step;

    for (int i = 0; i < c->g->shape.cells; i++) {
        double rate;

        if (shift->second < 0) {
            rate = gbees_diffusion_axis(n, full, &q[0][i], 64, c->over_width, shift->axis);
        } else {
            rate = sign * gbees_diffusion_pair(n, &q[0][i], 64, c->over_width, shift->axis, shift->second);
            rate = rate > 0 ? rate : 0;
        }
        gift[i] = (GBEES_REAL)(c->noise_step * rate) * p[i];
    }
}

/* One of the shifts that cells give to: what comes back from there, what goes there, and what of it is lost. */
INLINE void GBEES_REAL_FN(exchange_gifts)(const kernel_context *c, uint32_t slot, const noise_points *points,
                                          const noise_shift *shift, double (*own)[64], GBEES_REAL *in,
                                          GBEES_REAL *out, double *lost)
{
    const int cells = c->g->shape.cells;
    const GBEES_REAL *rows = c->noise_from, *row = rows + (size_t)slot * (size_t)cells;
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    GBEES_REAL beside[64], gift[64];
    noise_shift back = *shift;
    GBEES_REAL_FN(beside) b;

    GBEES_REAL_FN(look_beside)(c, slot, shift, &b);
    for (int i = 0; i < cells; i++)
        beside[i] = rows[(size_t)b.slot[b.which[i]] * (size_t)cells + b.cell[i]];
    back.step = -shift->step;
    back.second_step = -shift->second_step;
    noise_evaluate(c, points, shift, q);
    GBEES_REAL_FN(gifts)(c, &back, q, beside, gift);
    for (int i = 0; i < cells; i++)
        in[i] += gift[i];
    GBEES_REAL_FN(gifts)(c, shift, own, row, gift);
    for (int i = 0; i < cells; i++)
        out[i] += gift[i];
    if (!b.slot[1] || (shift->second >= 0 && (!b.slot[2] || !b.slot[3])))
        for (int i = 0; i < cells; i++)
            *lost += b.slot[b.which[i]] ? 0 : (double)gift[i];
}

INLINE void GBEES_REAL_FN(diffuse_brick)(const kernel_context *c, uint32_t slot, GBEES_REAL *change, double *lost)
{
    const int cells = c->g->shape.cells;
    double own[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    GBEES_REAL in[64] = {0}, out[64] = {0};
    noise_points points;

    noise_set_points(c, slot, &points);
    noise_evaluate(c, &points, NULL, own);
    for (int j = 0; j < c->n; j++)
        for (int step = -1; step <= 1; step += 2) {
            const noise_shift shift = {j, step, -1, 0};

            GBEES_REAL_FN(exchange_gifts)(c, slot, &points, &shift, own, in, out, lost);
        }
    for (int j = 0; c->noise_full && j < c->n; j++)
        for (int k = j + 1; k < c->n; k++)
            for (int corner = 0; corner < 4; corner++) {
                const noise_shift shift = {j, corner & 1 ? 1 : -1, k, corner & 2 ? 1 : -1};

                GBEES_REAL_FN(exchange_gifts)(c, slot, &points, &shift, own, in, out, lost);
            }
    for (int i = 0; i < cells; i++)
        change[i] = in[i] - out[i];
}

/* The first half of Heun's step, E p, or the second, (p + E E p) / 2: the density is in `noise_to` then. */
static void GBEES_REAL_FN(diffuse)(const kernel_context *c, kernel_noise_half half, uint32_t from, uint32_t to,
                                   kernel_sums *sums)
{
    const size_t cells = (size_t)c->g->shape.cells;
    GBEES_REAL_FN(totals) totals = {0};

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = c->g->used[k];
        const GBEES_REAL *p = (const GBEES_REAL *)c->noise_from + slot * cells;
        GBEES_REAL *row = (GBEES_REAL *)c->noise_to + slot * cells;
        GBEES_REAL value[64];
        double lost = 0;

        GBEES_REAL_FN(diffuse_brick)(c, slot, value, &lost);
        for (size_t i = 0; i < cells; i++) {
            GBEES_REAL moved = p[i] + value[i];

            value[i] = half == KERNEL_NOISE_FIRST ? moved : (GBEES_REAL)0.5 * row[i] + (GBEES_REAL)0.5 * moved;
        }
        totals.dropped += 0.5 * lost;
        if (half == KERNEL_NOISE_LAST)
            c->active[slot] = GBEES_REAL_FN(settle)(c, slot, value, row, (int)cells, &totals);
        else
            GBEES_REAL_FN(copy)(row, value, (int)cells);
    }
    *sums = GBEES_REAL_FN(sums_of)(&totals);
}
