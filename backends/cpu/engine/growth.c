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

enum { SEARCHED = 64 }; /* bricks that are searched together */

/* Whether only cells that have risen over p* since a brick's growth was last seen to can ask for more: flows change
 * with a time-dependent drift only, and what an active cell needs survives a prune, but an edge neighbour beyond a
 * brick that a bound bars. */
static int is_settled(const gbees_engine *e)
{
    return !e->paper && !e->context.drift.time_dependent && !e->barred && e->problem->numerics.growth != GBEES_GROWTH_ALL;
}

/* Those cells, or all above p*. */
static uint64_t risen_cells(const gbees_engine *e, uint32_t slot, int settled)
{
    return e->active[slot] & ~(settled ? e->served[slot] : 0);
}

/* The directions f in which the bound leaves no cell to the neighbour in directions d and f: bits. */
static unsigned barred(const gbees_engine *e, uint32_t slot, int d)
{
    return e->barred ? e->barred[(size_t)slot * (size_t)(2 * e->g.shape.n) + (size_t)d] : 0;
}

/* The axis along which a brick would be too far away; -1: none. */
static int far_axis(const gbees_engine *e, const int32_t *key)
{
    for (int j = 0; j < e->g.shape.n; j++)
        if (abs(key[j]) >= GRID_KEY_LIMIT)
            return j;
    return -1;
}

static int add_wish(grid_wishes *list, grid_wish wish)
{
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 256;
        grid_wish *more = realloc(list->wish, capacity * sizeof *more);

        if (!more)
            return 1;
        list->wish = more;
        list->capacity = capacity;
    }
    list->wish[list->count++] = wish;
    return 0;
}

/* What some bricks need: where the link to each is that shows whether it is there. */
typedef struct search {
    struct need {
        const uint32_t *link; /* NULL: there is none to it */
        uint32_t slot;
        uint8_t d, f;
    } need[SEARCHED + 2 * GBEES_MAX_DIM * GBEES_MAX_DIM];
    uint32_t count;
} search;

static inline void add_need(search *s, const uint32_t *link, uint32_t slot, int d, int f)
{
    __builtin_prefetch(link);
    s->need[s->count++] = (struct need){link, slot, (uint8_t)d, (uint8_t)f};
}

/* What these cells of a brick need.  Where the face neighbour in a direction is barred there is no way through it to
 * the edge neighbours. */
static void find_needs(const gbees_engine *e, uint32_t slot, uint64_t cells, search *s)
{
    engine_outflow out;

    engine_leaving(e, slot, cells, e->near, &out);
    for (int i = 0; i < out.count; i++) {
        const int d = out.direction[i];
        unsigned out_of_bound = barred(e, slot, d);
        uint32_t neighbor = grid_neighbor(&e->g, slot, d);
        int no_way = !neighbor && out_of_bound >> d & 1;

        if (!neighbor && !no_way)
            add_need(s, &e->g.neighbor[d][slot], slot, d, d);
        for (int k = i + 1; k < out.count; k++) {
            const int f = out.direction[k];

            if (out.cells[i] & out.cells[k] && f != gbees_opposite(d) && !(out_of_bound >> f & 1))
                add_need(s, no_way ? NULL : &e->g.neighbor[f][neighbor], slot, d, f);
        }
    }
}

/* Wishes for what is absent; 1 if memory ran out. */
static int look_up(const gbees_engine *e, search *s, grid_wishes *list)
{
    int32_t key[GBEES_MAX_DIM];
    int failed = 0;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct need *need = &s->need[k];

        if (need->link && *need->link)
            continue;
        grid_wish wish = {.slot = need->slot, .d = need->d, .f = need->f};
        grid_wish_key(&e->g, &wish, key);
        wish.hash = grid_hash(&e->g, key);
        if (need->link || !grid_find_hashed(&e->g, key, wish.hash)) {
            failed |= add_wish(list, wish);
            list->far |= far_axis(e, key) >= 0;
        }
    }
    s->count = 0;
    return failed;
}

/* Of used bricks [from, to), a few: what the risen ones' search will read is asked for before the first. */
static int search_bricks(gbees_engine *e, uint32_t from, uint32_t to, grid_wishes *list)
{
    uint32_t risen[SEARCHED], count = 0;
    uint64_t cells[SEARCHED];
    search s;
    const int settled = is_settled(e);
    int failed = 0;

    s.count = 0;
    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = e->g.used[k];

        cells[count] = risen_cells(e, slot, settled);
        risen[count] = slot;
        count += cells[count] != 0;
    }
    for (uint32_t k = 0; k < count; k++) {
        __builtin_prefetch(&e->steady[risen[k]]);
        __builtin_prefetch(grid_key(&e->g, risen[k]));
        for (int d = 0; d < 2 * e->g.shape.n; d++)
            __builtin_prefetch(&e->g.neighbor[d][risen[k]]);
    }
    for (uint32_t k = 0; k < count; k++) {
        find_needs(e, risen[k], cells[k], &s);
        if (s.count >= SEARCHED)
            failed |= look_up(e, &s, list);
        e->served[risen[k]] |= e->active[risen[k]];
    }
    return look_up(e, &s, list) || failed;
}

/* Parts of so many bricks: no more than have something to search together, one for one thread. */
static int parts_of(const gbees_engine *e, uint32_t bricks)
{
    const uint32_t most = bricks / SEARCHED + 1;

    if (engine_threads(e, bricks) == 1)
        return 1;
    return most < GRID_PARTS ? (int)most : GRID_PARTS;
}

/* What all bricks need and is absent: each part's list goes on where the one before ends. */
static int search_all(gbees_engine *e, int parts, gbees_error *error)
{
    const uint32_t count = e->g.count;
    int failed = 0;

#pragma omp parallel for num_threads(engine_threads(e, count)) schedule(dynamic, 1) reduction(|| : failed)
    for (int part = 0; part < parts; part++) {
        const uint32_t end = team_part(count, part + 1, parts);
        grid_wishes list = e->growth[part]; /* on the stack: threads share no cache line */

        list.count = 0;
        list.far = 0;
        for (uint32_t k = team_part(count, part, parts); k < end; k += SEARCHED)
            failed = search_bricks(e, k, end - k < SEARCHED ? end : k + SEARCHED, &list) || failed;
        e->growth[part] = list;
    }
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "out of memory while the grid of %u bricks grew", count) : 0;
}

static int insert_brick(gbees_engine *e, const int32_t *key, uint64_t hash, uint64_t inside, gbees_error *error)
{
    const int axis = far_axis(e, key);
    int status = axis < 0 ? 0 : failure_far(e->problem, axis, GRID_KEY_LIMIT, error);

    if (!status)
        status = grid_reserve(&e->g, 1, error);
    if (!status)
        engine_set_inside(e, grid_add(&e->g, key, hash), inside);
    return status;
}

/* An absent neighbour.  Without a cell inside the bound it is not made, and barred from then on: J need not be
 * evaluated there again. */
static int insert_wish(gbees_engine *e, const grid_wish *wish, gbees_error *error)
{
    int32_t key[GBEES_MAX_DIM];

    grid_wish_key(&e->g, wish, key);
    if (grid_find_hashed(&e->g, key, wish->hash)) /* for another brick, just now */
        return 0;
    uint64_t inside = e->inside ? bound_cells(e->problem, &e->g.shape, key) : 1;
    if (inside)
        return insert_brick(e, key, wish->hash, inside, error);
    e->barred[(size_t)wish->slot * (size_t)(2 * e->g.shape.n) + wish->d] |= (uint16_t)(1u << wish->f);
    return 0;
}

static int insert_list(gbees_engine *e, const grid_wishes *list, gbees_error *error)
{
    enum { ENTRY = 24, KEY = 12 }; /* wishes ahead */
    int status = 0;

    for (size_t k = 0; k < list->count && !status; k++) {
        if (k + ENTRY < list->count) {
            __builtin_prefetch(grid_key(&e->g, list->wish[k + ENTRY].slot));
            grid_ask_entry(&e->g, list->wish[k + ENTRY].hash);
        }
        if (k + KEY < list->count)
            grid_ask_key(&e->g, list->wish[k + KEY].hash);
        status = insert_wish(e, &list->wish[k], error);
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
        uint64_t hash = grid_hash(&e->g, key), inside = 1;
        if (grid_find_hashed(&e->g, key, hash))
            inside = 0;
        else if (e->inside)
            inside = bound_cells(e->problem, &e->g.shape, key);
        status = inside ? insert_brick(e, key, hash, inside, error) : 0;
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

    e->context.time = e->inspected = time;
    e->context.flow.leaving = e->flow;
    e->context.flow.rate = e->rate;
    e->context.flow.diverging = e->diverging;
    e->context.flow.one_signed = e->steady;
    e->context.rows.inside = e->inside;
    if (e->paper) {
        paper_inspect(e, from, time);
    } else {
#pragma omp parallel for num_threads(engine_threads(e, count)) schedule(static)
        for (uint32_t at = 0; at < (count + chunk - 1) / chunk; at++) {
            uint32_t first = at * chunk, rest = count - first;

            e->kernel->inspect(&e->context, e->g.used + from + first, rest < chunk ? rest : chunk);
        }
    }
    if (e->context.noise.evaluate && engine_inspect_noise(e, from) && e->paper)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the modes 'paper' and 'legacy' have no diffusion, and %s has: remove 'mode'",
                               e->problem->model->name);
    for (uint32_t k = from; k < e->g.count; k++) {
        e->context.flow.diverging_axes |= e->paper ? 0 : e->diverging[e->g.used[k]];
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

/* Whether all threads add what was found: bounds and errors are seen to one by one. */
static int adds_together(const gbees_engine *e, int parts)
{
    enum { FEW = 1024 }; /* wishes: less than threads take to meet */
    size_t wishes = 0;
    int far = 0;

    for (int part = 0; part < parts; part++) {
        wishes += e->growth[part].count;
        far |= e->growth[part].far;
    }
    return parts > 1 && wishes >= FEW && !e->inside && !far;
}

static int insert_found(gbees_engine *e, gbees_error *error)
{
    const int parts = parts_of(e, e->g.count);
    int status = search_all(e, parts, error);

    if (!status && adds_together(e, parts))
        return grid_add_wishes(&e->g, e->growth, parts, error);
    for (int part = 0; part < parts && !status; part++)
        status = insert_list(e, &e->growth[part], error);
    return status;
}

/* Few bricks lack a neighbour.  Slots are the same for every number of threads. */
static int insert_bricks(gbees_engine *e, gbees_error *error)
{
    uint32_t before = e->g.count;
    int status = 0;

    e->context.time = e->inspected;
    if (e->problem->numerics.growth == GBEES_GROWTH_ALL) {
        for (uint32_t k = 0; k < before && !status; k++)
            if (risen_cells(e, e->g.used[k], 0))
                status = insert_all(e, e->g.used[k], error);
    } else {
        status = insert_found(e, error);
    }
    if (!status)
        grid_link(&e->g, before);
    return status;
}

int engine_grow(gbees_engine *e, double time, gbees_error *error)
{
    uint32_t before = e->g.count;
    int status = insert_bricks(e, error);

    if (status)
        return status;
        /* New rows are where memory is touched first, which takes the most of it. */
#pragma omp parallel for num_threads(engine_threads(e, e->g.count - before)) schedule(static)
    for (uint32_t k = before; k < e->g.count; k++)
        clear_brick(e, e->g.used[k]);
    return engine_inspect(e, before, time, error);
}
