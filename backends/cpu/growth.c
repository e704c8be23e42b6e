/* growth.c - makes the bricks that probability will flow into: directional growth (paper, section 3.3).
 *
 * A cell with P >= p* needs the face neighbour in each direction in which it flows out, and the edge neighbour in
 * each pair of such directions along different axes.  With bit masks that is one AND a direction for a whole brick.
 */
#include "common/bound.h"
#include "common/failure.h"
#include "engine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By direction: the cells with P >= p* from which probability may leave the brick that way. */
static void leaving(const gbees_engine *e, uint32_t slot, uint64_t *out)
{
    const gbees_shape *shape = &e->g.shape;
    const uint64_t *flow = e->flow + (size_t)slot * (size_t)(2 * shape->n);

    for (int d = 0; d < 2 * shape->n; d++)
        out[d] = e->active[slot] & flow[d] & e->near[d];
}

/* Whether cells of the brick have risen over p* since its growth was last seen to.  Nothing else can ask for more:
 * flows change with a time-dependent drift only, and what an active cell needs survives a prune, but an edge
 * neighbour beyond a brick that a bound bars. */
static int has_risen(const gbees_engine *e, uint32_t slot)
{
    int settled = !e->paper && !e->context.moving && !e->barred && e->problem->numerics.growth != GBEES_GROWTH_ALL;

    return (e->active[slot] & ~(settled ? e->served[slot] : 0)) != 0;
}

/* The directions f in which the bound leaves no cell to the neighbour in directions d and f: bits. */
static unsigned barred(const gbees_engine *e, uint32_t slot, int d)
{
    return e->barred ? e->barred[(size_t)slot * (size_t)(2 * e->g.shape.n) + (size_t)d] : 0;
}

/* The edge neighbour in directions d and f.  Where the face neighbour in direction d is barred there is no way
 * through it. */
static uint32_t edge_neighbor(const gbees_engine *e, uint32_t slot, int d, int f)
{
    uint32_t neighbor = grid_neighbor(&e->g, slot, d);
    int32_t key[GBEES_MAX_DIM];

    if (neighbor || !barred(e, slot, d))
        return grid_neighbor(&e->g, neighbor, f);
    memcpy(key, grid_key(&e->g, slot), (size_t)e->g.shape.n * sizeof *key);
    key[d >> 1] += d & 1 ? 1 : -1;
    key[f >> 1] += f & 1 ? 1 : -1;
    return grid_find(&e->g, key);
}

/* Whether a brick that this one needs is absent. */
static int lacks_bricks(const gbees_engine *e, uint32_t slot)
{
    int directions = 2 * e->g.shape.n;
    uint64_t out[2 * GBEES_MAX_DIM];

    leaving(e, slot, out);
    for (int d = 0; d < directions; d++) {
        if (!out[d])
            continue;
        unsigned out_of_bound = barred(e, slot, d);
        if (!grid_neighbor(&e->g, slot, d) && !(out_of_bound >> d & 1))
            return 1;
        for (int f = (d | 1) + 1; f < directions; f++)
            if (out[d] & out[f] && !(out_of_bound >> f & 1) && !edge_neighbor(e, slot, d, f))
                return 1;
    }
    return 0;
}

static int far_away(const gbees_engine *e, const int32_t *key, gbees_error *error)
{
    for (int j = 0; j < e->g.shape.n; j++)
        if (abs(key[j]) >= GRID_KEY_LIMIT)
            return failure_far(e->problem, j, GRID_KEY_LIMIT, error);
    return 0;
}

static int insert_brick(gbees_engine *e, const int32_t *key, uint64_t inside, gbees_error *error)
{
    int status = far_away(e, key, error);

    if (!status)
        status = grid_reserve(&e->g, 1, error);
    if (!status)
        engine_set_inside(e, grid_insert(&e->g, key), inside);
    return status;
}

/* The absent neighbour in directions d and f.  Without a cell inside the bound it is not made, and barred from then
 * on: J need not be evaluated there again. */
static int insert_absent(gbees_engine *e, uint32_t slot, int d, int f, const int32_t *key, gbees_error *error)
{
    uint64_t inside = e->inside ? bound_cells(e->problem, &e->g.shape, key) : 1;

    if (inside)
        return insert_brick(e, key, inside, error);
    e->barred[(size_t)slot * (size_t)(2 * e->g.shape.n) + (size_t)d] |= (uint16_t)(1u << f);
    return 0;
}

static int insert_downwind(gbees_engine *e, uint32_t slot, gbees_error *error)
{
    int directions = 2 * e->g.shape.n, status = 0;
    uint64_t out[2 * GBEES_MAX_DIM];
    int32_t key[GBEES_MAX_DIM];

    leaving(e, slot, out);
    memcpy(key, grid_key(&e->g, slot), (size_t)e->g.shape.n * sizeof *key);
    for (int d = 0; d < directions && !status; d++) {
        if (!out[d])
            continue;
        key[d >> 1] += d & 1 ? 1 : -1;
        if (!grid_neighbor(&e->g, slot, d) && !(barred(e, slot, d) >> d & 1))
            status = insert_absent(e, slot, d, d, key, error);
        for (int f = (d | 1) + 1; f < directions && !status; f++) {
            if (!(out[d] & out[f]) || barred(e, slot, d) >> f & 1 || edge_neighbor(e, slot, d, f))
                continue;
            key[f >> 1] += f & 1 ? 1 : -1;
            status = insert_absent(e, slot, d, f, key, error);
            key[f >> 1] -= f & 1 ? 1 : -1;
        }
        key[d >> 1] -= d & 1 ? 1 : -1;
    }
    return status;
}

/* Legacy: all 3^n - 1 neighbours of a cell, whichever way it flows. */
static int insert_all(gbees_engine *e, uint32_t slot, gbees_error *error)
{
    int n = e->g.shape.n, status = 0;
    int32_t key[GBEES_MAX_DIM], centre[GBEES_MAX_DIM];
    uint32_t neighbors = 1;

    memcpy(centre, grid_key(&e->g, slot), (size_t)n * sizeof *key);
    for (int j = 0; j < n; j++)
        neighbors *= 3;
    for (uint32_t number = 0; number < neighbors && !status; number++) {
        uint32_t digits = number;

        for (int j = 0; j < n; j++, digits /= 3)
            key[j] = centre[j] + (int32_t)(digits % 3) - 1;
        uint64_t inside = grid_find(&e->g, key) ? 0 : e->inside ? bound_cells(e->problem, &e->g.shape, key) : 1;
        status = inside ? insert_brick(e, key, inside, error) : 0;
    }
    return status;
}

int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error)
{
    return failure_drift(e->problem, &e->g.shape, grid_key(&e->g, slot), time, error);
}

int engine_inspect(gbees_engine *e, uint32_t from, double time, gbees_error *error)
{
    uint32_t count = e->g.count - from, chunk = engine_chunk(e);

    e->context.time = time;
    e->context.flow = e->flow;
    e->context.rate = e->rate;
    e->context.diverging = e->diverging;
    e->context.inside = e->inside;
    if (e->paper) {
        paper_inspect(e, from, time);
    } else {
#pragma omp parallel for num_threads(engine_threads(e, count)) schedule(static)
        for (uint32_t at = 0; at < (count + chunk - 1) / chunk; at++) {
            uint32_t first = at * chunk, rest = count - first;

            e->kernel->inspect(&e->context, e->g.used + from + first, rest < chunk ? rest : chunk);
        }
    }
    if (e->context.noise && engine_inspect_noise(e, from) && e->paper)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the modes 'paper' and 'legacy' have no diffusion, and %s has: remove 'mode'",
                               e->problem->model->name);
    for (uint32_t k = from; k < e->g.count; k++) {
        e->context.diverging_axes |= e->paper ? 0 : e->diverging[e->g.used[k]];
        if (!isfinite(e->rate[e->g.used[k]]))
            return engine_drift_error(e, e->g.used[k], time, error);
    }
    return 0;
}

/* A new brick holds nothing. */
static void clear_brick(gbees_engine *e, uint32_t slot)
{
    size_t cells = (size_t)e->cells, at = slot * cells * e->real_size;

    memset((char *)e->p + at, 0, cells * e->real_size);
    if (e->s)
        memset((char *)e->s + at, 0, cells * e->real_size);
    e->active[slot] = e->needed[slot] = e->served[slot] = 0;
}

int engine_grow(gbees_engine *e, double time, gbees_error *error)
{
    uint32_t before = e->g.count, chunk = engine_chunk(e), chunks = engine_chunks(e);
    int all = e->problem->numerics.growth == GBEES_GROWTH_ALL, status = 0;

    if (e->keep_size < before) {
        unsigned char *flags = realloc(e->keep, before + (size_t)before / 2);

        if (!flags)
            return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the grid of %u bricks grew", before);
        e->keep = flags;
        e->keep_size = before + (size_t)before / 2;
    }
    /* Few bricks lack a neighbour: they are found by all threads, and served in order by one, so that the slots are
     * the same for every number of threads. */
#pragma omp parallel for num_threads(engine_threads(e, before)) schedule(static)
    for (uint32_t at = 0; at < chunks; at++)
        for (uint32_t k = at * chunk; k < engine_chunk_end(e, at); k++) {
            uint32_t slot = e->g.used[k];

            e->keep[k] = has_risen(e, slot) && (all || lacks_bricks(e, slot));
            e->served[slot] |= e->active[slot];
        }
    for (uint32_t k = 0; k < before && !status; k++)
        if (e->keep[k])
            status = all ? insert_all(e, e->g.used[k], error) : insert_downwind(e, e->g.used[k], error);
            /* New rows are where memory is touched first, which takes the most of it. */
#pragma omp parallel for num_threads(engine_threads(e, e->g.count - before)) schedule(static)
    for (uint32_t k = before; k < e->g.count; k++)
        clear_brick(e, e->g.used[k]);
    return status ? status : engine_inspect(e, before, time, error);
}
