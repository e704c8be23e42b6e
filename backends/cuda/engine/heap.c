/* heap.c - lists the arrays of the heap, and makes them all as long as the grid needs and the free memory allows.
 * The hash table has at least twice as many entries as the heap has slots. */
#include "heap.h"
#include "engine.h"
#include "launch.h"
#include "ranks.h"
#include <math.h>

/* Appends an array to a list. */
static void add(slot_arrays *all, device_array *array, uint64_t *address, size_t size)
{
    all->list[all->count++] = (slot_array){array, address, size};
}

slot_arrays engine_heap_arrays(gbees_engine *e)
{
    gbees_grid_arrays *g = &e->setup.grid;
    const size_t n = (size_t)e->problem->dimension;
    slot_arrays all = {.count = 0};

    for (int r = 0; r < e->row_arrays; r++)
        add(&all, &e->rows[r], &g->rows[r], 64 * e->real_size);
    for (size_t d = 0; d < 2 * n; d++)
        add(&all, &e->neighbor[d], &g->neighbor[d], sizeof(uint32_t));
    add(&all, &e->key, &g->key, n * sizeof(int32_t));
    add(&all, &e->base, &g->base, n * e->position_size);
    add(&all, &e->flow, &g->flow, 2 * n * sizeof(uint64_t));
    add(&all, &e->active, &g->active, sizeof(uint64_t));
    add(&all, &e->needed, &g->needed, sizeof(uint64_t));
    add(&all, &e->rate, &g->rate, sizeof(double));
    add(&all, &e->map, &g->map, sizeof(uint32_t));
    if (e->problem->bounded) {
        add(&all, &e->inside, &g->inside, sizeof(uint64_t));
        add(&all, &e->blocked, &g->blocked, 2 * n * sizeof(uint16_t));
    }
    if (gbees_problem_absorbs(e->problem))
        add(&all, &e->outside, &g->outside, sizeof(uint64_t));
    return all;
}

/* The entries of the hash table for a capacity: a power of two, at least twice as many, so that it is at most half
 * full. */
static uint64_t table_entries(uint64_t capacity)
{
    uint64_t entries = 4;

    while (entries < 2 * capacity)
        entries *= 2;
    return entries;
}

/* ---- bytes ---- */

/* Bytes of a slot in all arrays and the hash table. */
static double slot_bytes(const slot_arrays *all)
{
    double bytes = 16;

    for (int i = 0; i < all->count; i++)
        bytes += (double)all->list[i].size;
    return bytes;
}

/* Bytes of all arrays and the hash table with `capacity` slots, each rounded up to what the driver maps at once. */
static double bytes_of(const gbees_engine *e, const slot_arrays *all, uint64_t capacity)
{
    const double unit = e->memory.is_virtual ? (double)e->memory.granularity : 1;
    double bytes = unit * ceil(4.0 * (double)table_entries(capacity) / unit);

    for (int i = 0; i < all->count; i++)
        bytes += unit * ceil((double)all->list[i].size * (double)capacity / unit);
    return bytes;
}

double engine_heap_bytes(gbees_engine *e, uint64_t capacity)
{
    const slot_arrays all = engine_heap_arrays(e);

    return bytes_of(e, &all, capacity);
}

/* Bytes that they have. */
static double bytes_held(const gbees_engine *e, const slot_arrays *all)
{
    double bytes = (double)e->table.size;

    for (int i = 0; i < all->count; i++)
        bytes += (double)all->list[i].array->size;
    return bytes;
}

/* Bytes that they lack for `capacity` slots. */
static double bytes_more(const gbees_engine *e, const slot_arrays *all, uint64_t capacity)
{
    return bytes_of(e, all, capacity) - bytes_held(e, all);
}

/* Bytes that the heap may take of those that are free: the driver needs some itself. */
static double bytes_left(const gbees_engine *e)
{
    return 0.97 * (double)device_memory_left(&e->memory);
}

/* Returns a capacity from `least` to `most` for which the free memory is enough, or `least` if it is enough for none.
 * A capture's memory is freed first if the grid needs it. */
static uint64_t affordable(gbees_engine *e, const slot_arrays *all, uint64_t least, uint64_t most)
{
    double left = bytes_left(e);

    if (bytes_more(e, all, most) > left && capture_memory_release(&e->captured, &e->memory))
        left = bytes_left(e);
    while (most > least && bytes_more(e, all, most) > left)
        most -= (most - least + 7) / 8;
    return most;
}

/* Bytes that growth takes for the copy of the largest array: where memory can't be mapped, an array is copied to a
 * larger one. */
static double bytes_copied(const gbees_engine *e, const slot_arrays *all)
{
    double most = 0;

    for (int i = 0; i < all->count && !e->memory.is_virtual; i++)
        most = fmax(most, (double)all->list[i].array->size);
    return most;
}

int engine_heap_fits(gbees_engine *e, uint64_t bricks, double beside)
{
    const slot_arrays all = engine_heap_arrays(e);
    const uint64_t least = bricks + bricks / 8 + 2;

    return least < TABLE_DEAD && bytes_more(e, &all, least) + bytes_copied(e, &all) + beside < bytes_left(e);
}

/* Sets the error for a heap of so many slots that the GPU has no memory for. */
static int fail_memory(const gbees_engine *e, const slot_arrays *all, uint64_t capacity, gbees_error *error)
{
    const double others = (double)e->memory.used - bytes_held(e, all);

    return gbees_error_set(
        error, GBEES_ENOMEM,
        "a grid of %.3g bricks needs %.4g GB of the GPU's memory in all, and %.4g GB of its %.4g GB "
        "can be had: raise 'threshold', make cells wider, or take a GPU with more memory",
        (double)capacity, 1e-9 * (bytes_of(e, all, capacity) + others + bytes_copied(e, all)),
        1e-9 * (double)(e->memory.used + device_memory_left(&e->memory)), 1e-9 * (double)e->memory.total);
}

/* ---- growth ---- */

/* Sets an array's entries of the slots 0 .. 3 to 0: slot 0 is the null brick's. */
static int clear_null(gbees_engine *e, const slot_array *one, gbees_error *error)
{
    return cuda_check(e->api, e->api->cuMemsetD8Async(one->array->at, 0, 4 * one->size, e->stream),
                      "clearing the null brick", error);
}

int engine_heap_clear_null(gbees_engine *e, gbees_error *error)
{
    const slot_arrays all = engine_heap_arrays(e);
    int status = 0;

    for (int i = 0; i < all.count && !status; i++)
        status = clear_null(e, &all.list[i], error);
    return status;
}

/* Makes all arrays `capacity` slots long, and the hash table large enough.  An array that is new reserves addresses
 * for as much as it can ever get: the device's whole memory, divided in proportion to the arrays' bytes a slot; the
 * hash table, an eighth. */
static int grow_arrays(gbees_engine *e, const slot_arrays *all, uint64_t capacity, gbees_error *error)
{
    const size_t total = e->memory.total;
    const double all_bytes = slot_bytes(all);
    int status = 0;

    for (int i = 0; i < all->count && !status; i++) {
        const slot_array *one = &all->list[i];
        const int is_new = one->array->size == 0;
        const double most = (double)total * (double)one->size / all_bytes;

        status = device_array_grow(&e->memory, one->array, capacity * one->size, (size_t)most, error);
        *one->address = one->array->at;
        if (!status && is_new)
            status = clear_null(e, one, error);
    }
    if (!status)
        status = device_array_grow(&e->memory, &e->table, 4 * table_entries(capacity), total / 8, error);
    e->setup.grid.table = e->table.at;
    return status;
}

/* Makes the heap at least `least` slots large, and up to `most` if there is memory. Sets *rehash if the hash table
 * has grown.
 */
static int grow(gbees_engine *e, uint64_t least, uint64_t most, int *rehash, gbees_error *error)
{
    gbees_grid_arrays *g = &e->setup.grid;
    const slot_arrays all = engine_heap_arrays(e);
    const uint64_t capacity = affordable(e, &all, least, most), before = g->capacity;
    int status = grow_arrays(e, &all, capacity, error);

    if (status)
        return status == GBEES_ENOMEM ? fail_memory(e, &all, capacity, error) : status;
    g->capacity = (uint32_t)capacity;
    g->table_mask = (uint32_t)(table_entries(capacity) - 1);
    *rehash = *rehash || table_entries(before) != table_entries(capacity);
    return 0;
}

/* The capacity for a grid of so many bricks that grows: half as many slots again, and ENGINE_LEAST_BYTES of memory,
 * as growth by half takes as long for few slots as for many: each of some 25 arrays is mapped.  Not that much where
 * the memory is limited to less than eight times as much. */
static uint64_t ample_capacity(gbees_engine *e, uint64_t bricks)
{
    const slot_arrays all = engine_heap_arrays(e);
    const double limit = e->memory_limit > 0 ? e->memory_limit : (double)e->memory.total;
    const double bytes = fmin(ENGINE_LEAST_BYTES, limit / 8);
    const uint64_t slots = (uint64_t)(bytes / slot_bytes(&all)), half_again = bricks + bricks / 2;

    return half_again > ENGINE_LEAST_CAPACITY && slots > half_again ? slots : half_again;
}

int engine_heap_reserve(gbees_engine *e, uint64_t bricks, int rehash, gbees_error *error)
{
    const gbees_grid_arrays *g = &e->setup.grid;
    /* What ranks that share a grid ask for has capacity for growth; the rest of the memory is for their messages. */
    uint64_t least = bricks + bricks / 8 + 2, most = engine_is_split(e) ? least : ample_capacity(e, bricks);
    int status = 0;

    if (least < ENGINE_LEAST_CAPACITY)
        least = ENGINE_LEAST_CAPACITY;
    most = most > least ? most : least;
    if (most > TABLE_DEAD - 1)
        most = TABLE_DEAD - 1;
    if (least > most)
        return gbees_error_set(error, GBEES_ENOMEM,
                               "the grid needs %.3g bricks, and can't have more than %d: raise 'threshold', or make "
                               "cells wider",
                               (double)least, TABLE_DEAD - 1);
    if (least > g->capacity)
        status = grow(e, least, most, &rehash, error);
    if (status)
        return status;
    e->brick_limit = g->capacity - g->capacity / 10 - 1;
    return rehash ? engine_launch(e, KERNEL_REHASH, NULL, 0, error) : 0;
}

int engine_heap_set(gbees_engine *e, uint32_t capacity, gbees_error *error)
{
    int rehash = 0, status = grow(e, capacity, capacity, &rehash, error);

    e->brick_limit = capacity - capacity / 10 - 1;
    return status;
}
