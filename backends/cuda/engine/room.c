/* room.c - the heap grows by itself: arrays get longer where they are. */
#include "engine.h"
#include <math.h>

/* An array that goes with the slots. */
typedef struct slot_array {
    device_array *array;
    uint64_t *address; /* in the setup */
    size_t size;       /* bytes a slot */
} slot_array;

enum { SLOT_ARRAYS = 32 };

static int list_arrays(gbees_engine *e, slot_array *list)
{
    gbees_grid_arrays *g = &e->setup.grid;
    size_t n = (size_t)e->problem->dimension;
    int count = 0;

    for (int r = 0; r < e->row_arrays; r++)
        list[count++] = (slot_array){&e->rows[r], &g->rows[r], 64 * e->real_size};
    for (size_t d = 0; d < 2 * n; d++)
        list[count++] = (slot_array){&e->neighbor[d], &g->neighbor[d], sizeof(uint32_t)};
    list[count++] = (slot_array){&e->key, &g->key, n * sizeof(int32_t)};
    list[count++] = (slot_array){&e->base, &g->base, n * e->position_size};
    list[count++] = (slot_array){&e->flow, &g->flow, 2 * n * sizeof(uint64_t)};
    list[count++] = (slot_array){&e->active, &g->active, sizeof(uint64_t)};
    list[count++] = (slot_array){&e->needed, &g->needed, sizeof(uint64_t)};
    list[count++] = (slot_array){&e->rate, &g->rate, sizeof(double)};
    list[count++] = (slot_array){&e->map, &g->map, sizeof(uint32_t)};
    if (e->problem->bounded) {
        list[count++] = (slot_array){&e->inside, &g->inside, sizeof(uint64_t)};
        list[count++] = (slot_array){&e->blocked, &g->blocked, 2 * n * sizeof(uint16_t)};
    }
    return count;
}

static uint64_t table_entries(uint64_t capacity)
{
    uint64_t entries = 4;

    while (entries < 2 * capacity)
        entries *= 2;
    return entries;
}

/* Of all arrays, the hashtable's too, as they are taken. */
static double bytes_of(const gbees_engine *e, const slot_array *list, int count, uint64_t capacity)
{
    const double unit = e->memory.is_virtual ? (double)e->memory.granularity : 1;
    double bytes = 0;

    for (int i = 0; i <= count; i++) {
        const double size =
            i < count ? (double)list[i].size * (double)capacity : 4.0 * (double)table_entries(capacity);

        bytes += unit * ceil(size / unit);
    }
    return bytes;
}

static double bytes_now(const gbees_engine *e, const slot_array *list, int count)
{
    double bytes = (double)e->table.size;

    for (int i = 0; i < count; i++)
        bytes += (double)list[i].array->size;
    return bytes;
}

/* What more of the arrays takes. */
static double bytes_more(const gbees_engine *e, const slot_array *list, int count, uint64_t capacity)
{
    return bytes_of(e, list, count, capacity) - bytes_now(e, list, count);
}

/* The largest capacity from `least` to `wish` that the memory left has room for; `least` if there is none. */
static uint64_t affordable(gbees_engine *e, const slot_array *list, int count, uint64_t least, uint64_t wish)
{
    double left = 0.97 * (double)device_memory_left(&e->memory);

    if (bytes_more(e, list, count, wish) > left && engine_capture_release(e)) /* the grid needs it more */
        left = 0.97 * (double)device_memory_left(&e->memory);
    while (wish > least && bytes_more(e, list, count, wish) > left)
        wish -= (wish - least + 7) / 8;
    return wish;
}

/* A driver that maps no memory has arrays copied, one at a time. */
static int no_room(const gbees_engine *e, const slot_array *list, int count, uint64_t capacity, gbees_error *error)
{
    double others = (double)e->memory.used - bytes_now(e, list, count), copied = 0;

    for (int i = 0; i < count && !e->memory.is_virtual; i++)
        copied = (double)list[i].array->size > copied ? (double)list[i].array->size : copied;
    return gbees_error_set(
        error, GBEES_ENOMEM,
        "a grid of %.3g bricks needs %.4g GB of the GPU's memory in all, and %.4g GB of its %.4g GB "
        "can be had: raise 'threshold', make cells wider, or take a GPU with more memory",
        (double)capacity, 1e-9 * (bytes_of(e, list, count, capacity) + others + copied),
        1e-9 * (double)(e->memory.used + device_memory_left(&e->memory)), 1e-9 * (double)e->memory.total);
}

static double bytes_a_slot(const slot_array *list, int count)
{
    double bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += (double)list[i].size;
    return bytes;
}

static int grow_arrays(gbees_engine *e, slot_array *list, int count, uint64_t capacity, gbees_error *error)
{
    double all = bytes_a_slot(list, count) + 16;
    int status = 0;

    for (int i = 0; i < count && !status; i++) {
        int fresh = list[i].array->size == 0;
        size_t size = list[i].size;
        double most = (double)e->memory.total * (double)size / all;

        status = device_array_grow(&e->memory, list[i].array, capacity * size, (size_t)most, error);
        *list[i].address = list[i].array->at;
        if (!status && fresh) /* the null brick */
            status = cuda_check(e->api, e->api->cuMemsetD8Async(list[i].array->at, 0, 4 * size, e->stream),
                                "clearing the null brick", error);
    }
    if (!status)
        status = device_array_grow(&e->memory, &e->table, 4 * table_entries(capacity), e->memory.total / 8, error);
    e->setup.grid.table = e->table.at;
    return status;
}

int engine_make_room(gbees_engine *e, uint64_t bricks, int anew, gbees_error *error)
{
    slot_array list[SLOT_ARRAYS];
    gbees_grid_arrays *g = &e->setup.grid;
    int count = list_arrays(e, list), status = 0;
    uint64_t least = bricks + bricks / 8 + 2, wish = bricks + bricks / 2;

    if (least < ENGINE_LEAST_CAPACITY)
        least = ENGINE_LEAST_CAPACITY;
    wish = wish > least ? wish : least;
    if (wish > TABLE_DEAD - 1)
        wish = TABLE_DEAD - 1;
    if (least > wish)
        return gbees_error_set(error, GBEES_ENOMEM, "the grid needs %.3g bricks, more than a grid can have (%d)",
                               (double)least, TABLE_DEAD - 1);
    if (least > g->capacity) {
        uint64_t capacity = affordable(e, list, count, least, wish), before = g->capacity;

        status = grow_arrays(e, list, count, capacity, error);
        if (status)
            return status == GBEES_ENOMEM ? no_room(e, list, count, capacity, error) : status;
        g->capacity = (uint32_t)capacity;
        anew = anew || table_entries(before) != table_entries(capacity);
        g->table_mask = (uint32_t)(table_entries(capacity) - 1);
    }
    e->brick_limit = g->capacity - g->capacity / 10 - 1;
    return anew ? engine_launch(e, KERNEL_REHASH, NULL, 0, "filling the hashtable again", error) : 0;
}
