/* growth.c - inserts the bricks that probability will flow into: directional growth (paper, section 3.3).
 *
 * A cell with P >= p* needs the face neighbour in each direction in which it flows out, and the edge neighbour in
 * each pair of such directions along different axes.  With bit masks one AND a direction finds this for a whole
 * brick.
 *
 * First all threads search all bricks for absent neighbours that are needed.  Then these are inserted, in the order
 * in which they were found, so that slots are the same for every number of threads.
 */
#include "base/array.h"
#include "common/bound.h"
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEARCHED = 64 }; /* bricks whose data are prefetched together */

/* Whether only cells that have risen above p* since they were last expanded can lack a neighbour.  That is so if
 * flows do not change, as they do with a time-dependent drift or a frame that moves, since prunes keep what active
 * cells need.  With a bound they may remove an edge neighbour that is reached through a blocked brick. */
static int is_limited_to_risen(const gbees_engine *e)
{
    return !e->context.drift.time_dependent && !e->problem->moving && !e->rows.blocked;
}

/* Appends a request. Returns 1 if there is no memory. */
static int add_request(grid_requests *list, grid_request request)
{
    if (gbees_array_grow(&list->request, list->count, &list->capacity, sizeof *list->request))
        return 1;
    list->request[list->count++] = request;
    return 0;
}

/* Neighbours need[count] that some bricks need, with the addresses of the links to them: a link of 0 means that the
 * neighbour is absent. */
typedef struct search {
    struct need {
        const uint32_t *link; /* NULL: no link leads there */
        uint32_t slot;
        uint8_t d, f;
    } need[SEARCHED + 2 * GBEES_MAX_DIM * GBEES_MAX_DIM];
    uint32_t count;
} search;

/* Appends the neighbour of a brick in directions d and f, and prefetches the link to it. */
static inline void add_need(search *s, const uint32_t *link, uint32_t slot, int d, int f)
{
    __builtin_prefetch(link);
    s->need[s->count++] = (struct need){link, slot, (uint8_t)d, (uint8_t)f};
}

/* Appends the neighbours that these cells of a brick need.  An edge neighbour whose face neighbour is blocked has no
 * link: it is looked up in the hash table. */
static void find_needs(const gbees_engine *e, uint32_t slot, uint64_t cells, search *s)
{
    const uint16_t *blocked = e->rows.blocked ? e->rows.blocked + (size_t)slot * (size_t)(2 * e->g.shape.n) : NULL;
    gbees_outflow out;

    engine_find_outflow(e, slot, cells, 1, &out);
    for (int i = 0; i < out.count; i++) {
        const int d = out.direction[i];
        const unsigned out_of_bound = blocked ? blocked[d] : 0;
        const uint32_t neighbor = grid_neighbor(&e->g, slot, d);
        const int no_way = !neighbor && out_of_bound >> d & 1;

        for (int k = i; k < out.count; k++) {
            const int f = out.direction[k];

            if (!gbees_outflow_pair(&out, i, k) || out_of_bound >> f & 1)
                continue;
            if (f != d)
                add_need(s, no_way ? NULL : &e->g.neighbor[f][neighbor], slot, d, f);
            else if (!neighbor)
                add_need(s, &e->g.neighbor[d][slot], slot, d, d);
        }
    }
}

/* Appends requests for those of the needed neighbours that are absent, and empties the search. Returns 1 if there is
 * no memory. */
static int request_absent(const gbees_engine *e, search *s, grid_requests *list)
{
    int32_t key[GBEES_MAX_DIM];
    int failed = 0;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct need *need = &s->need[k];

        if (need->link && *need->link)
            continue;
        grid_request request = {.slot = need->slot, .d = need->d, .f = need->f};
        grid_request_key(&e->g, &request, key);
        request.hash = grid_hash(&e->g, key);
        if (need->link || !grid_find_hashed(&e->g, key, request.hash)) {
            failed |= add_request(list, request);
            list->far |= engine_far_axis(e, key) >= 0;
        }
    }
    s->count = 0;
    return failed;
}

/* Appends requests for the absent neighbours of used bricks from .. to - 1, at most SEARCHED, whose data are
 * prefetched together first. Returns 1 if there is no memory. */
static int search_bricks(gbees_engine *e, uint32_t from, uint32_t to, grid_requests *list)
{
    uint32_t risen[SEARCHED], count = 0;
    uint64_t cells[SEARCHED];
    search s;
    const int only_risen = is_limited_to_risen(e);
    int failed = 0;

    s.count = 0;
    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = e->g.used[k];

        cells[count] = e->rows.active[slot] & ~(only_risen ? e->rows.expanded[slot] : 0);
        risen[count] = slot;
        count += cells[count] != 0;
    }
    for (uint32_t k = 0; k < count; k++) {
        __builtin_prefetch(&e->rows.one_signed[risen[k]]);
        __builtin_prefetch(grid_key(&e->g, risen[k]));
        for (int d = 0; d < 2 * e->g.shape.n; d++)
            __builtin_prefetch(&e->g.neighbor[d][risen[k]]);
    }
    for (uint32_t k = 0; k < count; k++) {
        find_needs(e, risen[k], cells[k], &s);
        if (s.count >= SEARCHED)
            failed |= request_absent(e, &s, list);
        e->rows.expanded[risen[k]] |= e->rows.active[risen[k]];
    }
    return request_absent(e, &s, list) || failed;
}

/* Lists requests for all absent bricks that are needed: a list for each part of the Used List, in its order. */
static int search_all(gbees_engine *e, int parts, gbees_error *error)
{
    const uint32_t count = e->g.count;
    int failed = 0;

#pragma omp parallel for num_threads(engine_threads(e, count)) schedule(dynamic, 1) reduction(|| : failed)
    for (int part = 0; part < parts; part++) {
        const uint32_t end = team_part(count, part + 1, parts);
        grid_requests list = e->workspace.requests[part]; /* on the stack: threads share no cache line */

        list.count = 0;
        list.far = 0;
        for (uint32_t k = team_part(count, part, parts); k < end; k += SEARCHED)
            failed = search_bricks(e, k, end - k < SEARCHED ? end : k + SEARCHED, &list) || failed;
        e->workspace.requests[part] = list;
    }
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "out of memory while the grid of %u bricks grew", count) : 0;
}

/* Inserts a requested brick, unless an earlier request has; among ranks requests it from its owner, if that is
 * another rank. If no cell of it is within the bound it is marked as blocked, so that J is not evaluated there again.
 */
static int insert_requested(gbees_engine *e, const grid_request *request, gbees_error *error)
{
    int32_t key[GBEES_MAX_DIM];

    grid_request_key(&e->g, request, key);
    if (grid_find_hashed(&e->g, key, request->hash))
        return 0;
    uint64_t inside = e->rows.inside ? bound_cells(e->problem, &e->g.shape, key) : 1;
    if (inside && !ranks_own(e->ranks, key))
        return ranks_request(e->ranks, key) ? gbees_error_set(error, GBEES_ENOMEM, "out of memory for new bricks")
                                            : 0;
    if (inside)
        return engine_insert_brick(e, key, request->hash, inside, error);
    e->rows.blocked[(size_t)request->slot * (size_t)(2 * e->g.shape.n) + request->d] |= (uint16_t)(1u << request->f);
    return 0;
}

/* Inserts the bricks of a list of requests. */
static int insert_list(gbees_engine *e, const grid_requests *list, gbees_error *error)
{
    enum { ENTRY = 24, KEY = 12 }; /* requests ahead of which entry and key are prefetched */
    int status = 0;

    for (size_t k = 0; k < list->count && !status; k++) {
        if (k + ENTRY < list->count) {
            __builtin_prefetch(grid_key(&e->g, list->request[k + ENTRY].slot));
            grid_prefetch_entry(&e->g, list->request[k + ENTRY].hash);
        }
        if (k + KEY < list->count)
            grid_prefetch_key(&e->g, list->request[k + KEY].hash);
        status = insert_requested(e, &list->request[k], error);
    }
    return status;
}

void engine_set_flow_rows(gbees_engine *e)
{
    e->context.flow.leaving = e->rows.flow;
    e->context.flow.rate = e->rows.rate;
    e->context.flow.diverging = e->rows.diverging;
    e->context.flow.one_signed = e->rows.one_signed;
    e->context.rows.inside = e->rows.inside;
}

int engine_inspect(gbees_engine *e, uint32_t from, double time, gbees_error *error)
{
    uint32_t count = e->g.count - from, chunk = engine_chunk(e);

    const int status = engine_find_targets(e, from, time, error);
    e->context.time = e->inspected = time;
    engine_set_flow_rows(e);
    if (status)
        return status;
#pragma omp parallel for num_threads(engine_threads(e, count)) schedule(static)
    for (uint32_t at = 0; at < (count + chunk - 1) / chunk; at++) {
        uint32_t first = at * chunk, rest = count - first;

        e->kernel->inspect(&e->context, e->g.used + from + first, rest < chunk ? rest : chunk);
    }
    if (e->context.noise.evaluate)
        engine_inspect_noise(e, from);
    for (uint32_t k = from; k < e->g.count; k++) {
        e->context.flow.diverging_axes |= e->rows.diverging[e->g.used[k]];
        if (!isfinite(e->rows.rate[e->g.used[k]]))
            return engine_drift_error(e, e->g.used[k], time, error);
    }
    return 0;
}

/* Searches all bricks, in parts of SEARCHED or more, for absent neighbours that they need, and inserts these by all
 * threads. With a bound, among ranks, or with a brick that is too far away, one thread inserts one after the other.
 */
static int insert_found(gbees_engine *e, gbees_error *error)
{
    enum { FEW = 1024 }; /* requests that take less time than the threads' barriers */
    const uint32_t most = engine_threads(e, e->g.count) == 1 ? 1 : e->g.count / SEARCHED + 1;
    const int parts = most < GRID_PARTS ? (int)most : GRID_PARTS;
    size_t requests = 0;
    int status = search_all(e, parts, error), far = 0;

    for (int part = 0; part < parts; part++) {
        requests += e->workspace.requests[part].count;
        far |= e->workspace.requests[part].far;
    }
    if (!status && parts > 1 && requests >= FEW && !e->rows.inside && !far && !e->rows.ghost)
        return grid_add_requests(&e->g, e->workspace.requests, parts, error);
    for (int part = 0; part < parts && !status; part++)
        status = insert_list(e, &e->workspace.requests[part], error);
    return status;
}

int engine_grow(gbees_engine *e, double time, gbees_error *error)
{
    const uint32_t before = e->g.count;

    e->context.time = e->inspected;
    int status = insert_found(e, error);
    status = ghosts_grow(e, before, status, error);
    if (status)
        return ranks_agree(e->ranks, status, error);
    grid_link(&e->g, before);
    /* By all threads: most of the time goes into touching new memory. */
#pragma omp parallel for num_threads(engine_threads(e, e->g.count - before)) schedule(static)
    for (uint32_t k = before; k < e->g.count; k++)
        engine_clear_brick(e, e->g.used[k]);
    status = engine_inspect(e, before, time, error);
    return ranks_agree(e->ranks, status, error);
}
