/* diffusion.c - process noise: what it adds to flow masks and CFL rates, and a time step of diffusion (doc/method.md,
 * "Diffusion"). */
#include "cpu/kernel/noise.h"
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the noise of a brick's cells amounts to. */
typedef struct noise_rates {
    double widest; /* the largest Q_jj in cells, of cells within the bound */
    /* Of all cells, infinite if Q is invalid: the largest Q_jj in cells for each axis; if Q is full, [0] is the
     * largest rate at which a cell loses mass. */
    double most[GBEES_MAX_DIM];
    uint64_t spreads[GBEES_MAX_DIM]; /* by axis, the cells with Q_jj > 0 */
    int equals_reference;            /* 1: Q of all cells is context.noise.q */
} noise_rates;

/* Whether Q, q[entries][cells], is the same in all cells of a brick, as it mostly is. */
static int is_uniform(double (*q)[64], int entries, int cells)
{
    for (int k = 0; k < entries; k++)
        if (memcmp(&q[k][0], &q[k][1], (size_t)(cells - 1) * sizeof q[k][0]) != 0) /* each equals the next */
            return 0;
    return 1;
}

/* Evaluates Q in a brick's cells at context.time, and sets *rates. */
static void find_rates(const kernel_context *c, uint32_t slot, noise_rates *rates)
{
    const int n = c->n, full = c->noise.full;
    const uint64_t all = c->g->shape.all;
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    uint64_t inside = c->rows.inside ? c->rows.inside[slot] : all;
    noise_points points;

    *rates = (noise_rates){0};
    noise_set_step(c, slot, 0, &points);
    noise_evaluate(c, &points, NULL, q);
    const int uniform = is_uniform(q, full ? n * n : n, c->g->shape.cells);
    inside = uniform ? inside != 0 : inside;
    rates->equals_reference = uniform;
    for (int k = 0; k < (full ? n * n : n); k++)
        rates->equals_reference = rates->equals_reference && q[k][0] == c->noise.q[k];
    for (int i = 0; i < (uniform ? 1 : c->g->shape.cells); i++) {
        for (int j = 0; j < n; j++) {
            double spread = gbees_diffusion_spread(n, full, &q[0][i], 64, c->noise.over_width, j);

            if (gbees_diffusion_fault(n, full, &q[0][i], 64, c->noise.over_width, j))
                rates->most[0] = INFINITY;
            rates->spreads[j] |= spread > 0 ? uniform ? all : 1ull << i : 0;
            rates->most[j] = !full && spread > rates->most[j] ? spread : rates->most[j];
            if (inside >> i & 1)
                rates->widest = spread > rates->widest ? spread : rates->widest;
        }
        if (full)
            rates->most[0] = fmax(rates->most[0], gbees_diffusion_total(n, full, &q[0][i], 64, c->noise.over_width));
    }
}

/* noise_rates.most of a brick. */
static double *noise_of(const gbees_engine *e, uint32_t slot)
{
    return e->rows.noise + (size_t)slot * (size_t)e->context.n;
}

/* Sets context.noise.q, with which Q of all bricks is compared. */
static void set_reference(gbees_engine *e)
{
    kernel_context *c = &e->context;
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][64];
    noise_points points;

    noise_set_step(c, e->g.used[0], 0, &points);
    noise_evaluate(c, &points, NULL, q);
    for (int k = 0; k < (c->noise.full ? c->n * c->n : c->n); k++)
        c->noise.q[k] = q[k][0];
}

void engine_inspect_noise(gbees_engine *e, uint32_t from)
{
    const int n = e->context.n;
    const gbees_numerics *numerics = &e->problem->numerics;
    const double most = e->targets.changes /* targets that move are still during a step */
                            ? 1
                            : gbees_step_variance(n, e->context.scheme.spreads, numerics->time_step > 0);
    int uniform = from == 0 || e->context.noise.uniform;

    if (from == 0 && e->g.count > 0)
        set_reference(e);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count - from)) schedule(static) reduction(&& : uniform)
    for (uint32_t k = from; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        uint64_t *flow = e->rows.flow + (size_t)slot * (size_t)(2 * n);
        noise_rates rates;

        find_rates(&e->context, slot, &rates);
        for (int d = 0; d < 2 * n; d++)
            flow[d] |= rates.spreads[d / 2];
        double rate = isfinite(rates.most[0]) ? numerics->courant * rates.widest / most : INFINITY;

        if (rate > e->rows.rate[slot]) /* a rate that is not a number stays */
            e->rows.rate[slot] = rate;
        memcpy(noise_of(e, slot), rates.most, (size_t)n * sizeof *rates.most);
        uniform = uniform && rates.equals_reference;
    }
    e->context.noise.uniform = uniform;
}

/* Sets noise.spread, noise.parts and noise.uniform for the sweeps of this step, if they add the noise, as they do
 * where Q is diagonal; else sets noise.spread to 0, and returns the number of explicit steps. most: noise_rates.most
 * of all bricks. */
static double plan_noise(gbees_engine *e, const double *most)
{
    kernel_context *c = &e->context;
    const int n = c->n;
    double all[1 + 3 * GBEES_MAX_DIM] = {!c->noise.uniform};
    double *widest = all + 1, *narrowest = widest + n, *rates = narrowest + n; /* `narrowest`: less than 0 */

    for (int j = 0; j < n; j++) {
        const double spread = gbees_diffusion_spread(n, c->noise.full, c->noise.q, 1, c->noise.over_width, j);

        widest[j] = e->g.count ? spread : -INFINITY;
        narrowest[j] = e->g.count ? -spread : -INFINITY;
        rates[j] = most[j];
    }
    ranks_most(e->ranks, all, 1 + 3 * (size_t)n);
    c->noise.uniform = all[0] == 0;
    double total = 0;
    for (int j = 0; j < n; j++) {
        c->noise.uniform = c->noise.uniform && widest[j] == -narrowest[j];
        total += rates[j];
    }
    for (int j = 0; j < n; j++) {
        c->noise.spread[j] = c->scheme.spreads ? rates[j] : 0;
        c->noise.parts[j] = gbees_sweep_parts(c->step, c->noise.spread[j], !c->noise.uniform);
    }
    return c->scheme.spreads ? 0 : gbees_diffusion_steps(c->step, total);
}

int engine_noise_steps(gbees_engine *e, double *steps, gbees_error *error)
{
    const int changes = e->context.drift.time_dependent, n = e->context.n;
    int uniform = changes || e->context.noise.uniform;
    double most[GBEES_MAX_DIM] = {0};

    if (changes && e->g.count > 0)
        set_reference(e);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)                                \
    reduction(max : most[:GBEES_MAX_DIM]) reduction(&& : uniform)
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double *own = noise_of(e, slot);

        if (changes) {
            noise_rates rates;

            find_rates(&e->context, slot, &rates);
            memcpy(own, rates.most, (size_t)n * sizeof *own);
            uniform = uniform && rates.equals_reference;
        }
        for (int j = 0; j < n; j++)
            most[j] = own[j] > most[j] ? own[j] : most[j];
    }
    e->context.noise.uniform = uniform; /* of ghosts, too, which are inspected as all bricks are */
    int status = 0;
    for (uint32_t k = 0; k < e->g.count && !isfinite(most[0]) && !status; k++)
        if (!isfinite(*noise_of(e, e->g.used[k])))
            status = engine_drift_error(e, e->g.used[k], e->context.time, error);
    *steps = plan_noise(e, most);
    return ranks_agree(e->ranks, status, error);
}

/* Takes one half of an explicit step: the first from rows.p to rows.next, the second from rows.next to rows.p. */
static void half_step(gbees_engine *e, kernel_noise_half half, kernel_sums *sums)
{
    uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);
    int first = half == KERNEL_NOISE_FIRST;

    ghosts_refresh(e, first ? e->rows.p : e->rows.next, -1);
    e->context.noise.from = first ? e->rows.p : e->rows.next;
    e->context.noise.to = first ? e->rows.next : e->rows.p;
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(dynamic, 1)
    for (uint32_t at = 0; at < chunks; at++)
        e->kernel->diffuse(&e->context, half, at * chunk, engine_chunk_end(e, at), &sums[at]);
}

int engine_diffuse(gbees_engine *e, double steps, int ends_step, kernel_sums *total, gbees_error *error)
{
    uint32_t chunks = engine_chunks(e);
    kernel_sums *sums = malloc((chunks + 1u) * sizeof *sums);

    int status =
        sums ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory for the diffusion over %u bricks", e->g.count);
    status = ranks_agree(e->ranks, status, error);
    if (status) {
        free(sums);
        return status;
    }
    e->context.noise.step = e->context.step / steps;
    e->context.rows.inside = e->rows.inside;
    for (double step = 0; step < steps; step++)
        for (int half = 0; half < 2; half++) {
            half_step(e,
                      half == 0                        ? KERNEL_NOISE_FIRST
                      : ends_step && step + 1 == steps ? KERNEL_NOISE_LAST
                                                       : KERNEL_NOISE_SECOND,
                      sums);
            engine_add_sums(e, sums, chunks, total);
        }
    free(sums);
    if (ends_step)
        (void)ranks_end_step(e, 0, total);
    return 0;
}
