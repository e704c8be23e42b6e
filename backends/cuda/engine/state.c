/* state.c - saves an engine's state to a sink, and loads it from a source (gbees/backend.h).  It consists of the
 * heap's arrays and the hash table, byte for byte as the GPU's memory holds them, and of what the host keeps of the
 * run; and a state of the CPU's, of what both have in common. */
#include "base/gaps.h"
#include "base/no_memory.h"
#include "common/portable.h"
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "numerics/fixed.h"
#include "stop_error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of the state but arrays, as plain data. */
typedef struct saved_state {
    gbees_state state;
    mass_budget budget; /* its problem is NULL */
    double parameters[GBEES_TABLES_AT];
    double longest_step, negligible, mean_step;
    uint64_t peak;
    uint32_t capacity;
} saved_state;

/* ---- saving ---- */

/* Passes `size` bytes of the GPU's memory to the sink, as items of `item` bytes. */
static int save_array(gbees_engine *e, CUdeviceptr at, const char *name, size_t item, size_t size,
                      gbees_state_sink *sink, void *context, gbees_error *error)
{
    void *copy = malloc(size);

    if (!copy)
        return gbees_no_memory(error, "for the state of the CUDA engine");
    int status = device_fetch(&e->memory, copy, at, size, "saving the grid", error);
    if (!status && sink(context, name, item, size / item, copy))
        status = gbees_no_memory(error, "for the state of the CUDA engine");
    free(copy);
    return status;
}

/* Whether an array is part of the state: all are but `map`, which a prune writes before it reads it. */
static int is_kept(const gbees_engine *e, const slot_array *one)
{
    return one->array != &e->map;
}

/* Bytes of an array's items, as a sink takes them. */
static size_t item_of(const gbees_engine *e, const slot_array *one)
{
    if (one->array >= e->rows && one->array < e->rows + STATE_ROWS)
        return e->real_size;
    return one->array == &e->base ? e->position_size : one->size % 8 == 0 ? 8 : one->size % 4 == 0 ? 4 : 2;
}

/* The name of array `number`. */
static const char *name_of(int number, char text[16])
{
    (void)snprintf(text, 16, "array%d", number);
    return text;
}

/* Sets all of the state but arrays. */
static void get_state(const gbees_engine *e, saved_state *saved)
{
    memset(saved, 0, sizeof *saved);
    saved->state = *e->state;
    saved->budget = e->budget;
    saved->budget.problem = NULL;
    memcpy(saved->parameters, e->frame.parameters_d, sizeof saved->parameters);
    saved->longest_step = e->setup.longest_step;
    saved->negligible = e->setup.negligible;
    saved->mean_step = e->mean_step;
    saved->peak = e->memory.peak;
    saved->capacity = e->setup.grid.capacity;
}

/* The list of bricks that an array of the heap is. */
static portable_list list_of(const gbees_engine *e, const slot_arrays *all, const device_array *array)
{
    portable_list list = {.item = 0};

    for (int i = 0; i < all->count; i++)
        if (all->list[i].array == array) {
            (void)name_of(i, list.name);
            list.item = item_of(e, &all->list[i]);
        }
    return list;
}

static int save_portable(const gbees_engine *e, const slot_arrays *all, const saved_state *saved,
                         gbees_state_sink *sink, void *context)
{
    portable_state state;

    memset(&state, 0, sizeof state);
    state.run = saved->state.run;
    state.budget = saved->budget;
    memcpy(state.parameters, saved->parameters, sizeof state.parameters);
    for (int k = 0; k < STATE_TARGETS; k++)
        state.entered[k] = gbees_fixed_value(saved->state.targets.entered[k]);
    state.dimension = e->problem->dimension;
    state.real_size = (int32_t)e->real_size;
    state.deterministic = e->deterministic;
    state.bricks = saved->state.count;
    state.skipped = 1; /* the null brick */
    state.key = list_of(e, all, &e->key);
    state.p = list_of(e, all, &e->rows[saved->state.current]);
    state.active = list_of(e, all, &e->active);
    return portable_save(&state, sink, context);
}

int cuda_engine_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error)
{
    const slot_arrays all = engine_heap_arrays(e);
    saved_state saved;
    char name[16];
    int status = engine_collect(e, error); /* the bricks of all ranks */

    if (status || !sink)
        return status;
    status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "saving the grid", error);
    if (!status)
        status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "saving the grid", error);
    if (status)
        return status;
    get_state(e, &saved);
    GBEES_CLEAR_GAPS(&saved);
    if (sink(context, "cuda", 1, sizeof saved, &saved) || save_portable(e, &all, &saved, sink, context))
        return gbees_no_memory(error, "for the state of the CUDA engine");
    for (int i = 0; i < all.count && !status; i++)
        if (is_kept(e, &all.list[i]))
            status = save_array(e, all.list[i].array->at, name_of(i, name), item_of(e, &all.list[i]),
                                all.list[i].size * ((size_t)saved.state.count + 1), sink, context, error);
    return status ? status
                  : save_array(e, e->table.at, "table", sizeof(uint32_t),
                               ((size_t)e->setup.grid.table_mask + 1) * sizeof(uint32_t), sink, context, error);
}

/* ---- loading ---- */

/* Sets the error for a state whose part of that name is not this engine's. */
static int misfit(const char *part, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EINPUT,
                           "the state is not one of a CUDA engine with this problem: its part '%s' is missing or has "
                           "another size",
                           part);
}

/* Copies a part of the source to the GPU; it must have `size` bytes, in items of `item` bytes. */
static int load_array(gbees_engine *e, CUdeviceptr at, const char *name, size_t item, size_t size,
                      const engine_source *source, gbees_error *error)
{
    uint64_t count = 0;
    const void *data = source->find(source->context, name, item, &count);

    if (!data || count * item != size)
        return misfit(name, error);
    return cuda_check(e->api, e->api->cuMemcpyHtoDAsync(at, data, size, e->stream), "sending the grid", error);
}

/* Checks P of the bricks, the part of that name; slot 0 is no brick's. */
static int check_density(const gbees_engine *e, const engine_source *source, const char *name, size_t item,
                         gbees_error *error)
{
    const char *p = source->find(source->context, name, item, &(uint64_t){0});

    return portable_check_density(p + 64 * e->real_size, e->real_size, 64 * (uint64_t)e->state->count, error);
}

/* Copies all arrays and the hash table to the GPU. */
static int load_arrays(gbees_engine *e, const engine_source *source, gbees_error *error)
{
    const slot_arrays all = engine_heap_arrays(e);
    char name[16];
    int status = 0;

    for (int i = 0; i < all.count && !status; i++) {
        if (!is_kept(e, &all.list[i]))
            continue;
        status = load_array(e, all.list[i].array->at, name_of(i, name), item_of(e, &all.list[i]),
                            all.list[i].size * ((size_t)e->state->count + 1), source, error);
        if (!status && all.list[i].array == &e->rows[e->state->current])
            status = check_density(e, source, name, item_of(e, &all.list[i]), error);
    }
    if (!status)
        status = load_array(e, e->table.at, "table", sizeof(uint32_t),
                            ((size_t)e->setup.grid.table_mask + 1) * sizeof(uint32_t), source, error);
    return status ? status : cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "sending the grid", error);
}

static int load_own(gbees_engine *e, const engine_source *source, gbees_error *error)
{
    saved_state saved;
    uint64_t count = 0;
    const void *data = source->find(source->context, "cuda", 1, &count);

    if (!data || count != sizeof saved)
        return misfit("cuda", error);
    memcpy(&saved, data, sizeof saved);
    if (saved.state.count == 0 || saved.state.count >= saved.capacity)
        return misfit("cuda", error);
    *e->state = saved.state;
    engine_set_targets(e);
    e->budget = saved.budget;
    e->budget.problem = e->problem;
    e->setup.longest_step = saved.longest_step;
    e->setup.negligible = saved.negligible;
    e->mean_step = saved.mean_step;
    memcpy(e->frame.parameters_d, saved.parameters, sizeof saved.parameters);
    int status = engine_send_frame(e, error);
    if (!status)
        status = engine_heap_set(e, saved.capacity, error);
    if (!status)
        status = load_arrays(e, source, error);
    e->memory.peak = saved.peak > e->memory.peak ? saved.peak : e->memory.peak;
    return status;
}

/* ---- loading the CPU's state ---- */

/* Sends a list of bricks to the slots from 1 on. */
static int send_list(gbees_engine *e, const device_array *to, const void *list, size_t size, uint64_t bricks,
                     gbees_error *error)
{
    return device_send(&e->memory, to->at + size, list, size * bricks, "sending the grid", error);
}

/* Makes the grid of bricks that an engine of the CPU has saved, which may have no cell with P > 0. */
static int load_portable(gbees_engine *e, const engine_source *source, gbees_error *error)
{
    const size_t n = (size_t)e->problem->dimension;
    portable_bricks found;
    int status = portable_find(e->problem, e->real_size, source->find, source->context, &found, error);

    if (!status)
        status = engine_heap_reserve(e, found.state.bricks, 1, error);
    if (!status)
        status = send_list(e, &e->key, found.key, n * sizeof *found.key, found.state.bricks, error);
    if (!status)
        status = send_list(e, &e->rows[0], found.p, 64 * e->real_size, found.state.bricks, error);
    if (status)
        return status;
    memcpy(e->frame.parameters_d, found.state.parameters, sizeof found.state.parameters);
    e->budget = found.state.budget;
    e->budget.problem = e->problem;
    e->state->count = (uint32_t)found.state.bricks;
    e->state->run = found.state.run;
    e->state->run.ledger.mass = 0; /* all mass is in the bricks */
    status = engine_send_frame(e, error);
    if (!status)
        status = engine_launch(e, KERNEL_START, NULL, 0, error);
    if (!status)
        status = engine_stop_error(e, error);
    if (!status)
        status = send_list(e, &e->active, found.active, sizeof *found.active, found.state.bricks, error);
    e->state->run = found.state.run;
    for (int k = 0; k < STATE_TARGETS; k++)
        e->state->targets.entered[k] = gbees_fixed(found.state.entered[k]);
    return status;
}

/* ---- both ---- */

/* Whether the state is one of an engine of this kind. */
static int is_own(const engine_source *source)
{
    uint64_t count = 0;

    return source->find(source->context, "cuda", 1, &count) != NULL;
}

int engine_load_state(gbees_engine *e, const engine_source *source, gbees_error *error)
{
    return is_own(source) ? load_own(e, source, error) : load_portable(e, source, error);
}
