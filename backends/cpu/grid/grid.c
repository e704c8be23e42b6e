/* grid.c - heap, lists and hash table; see grid.h. */
#include "grid.h"
#include "grid_private.h"
#include "numerics/buzhash.h"
#include "pages.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 16, /* entries of the table that are prefetched together */
    LINKS = 8   /* bricks whose links are found together */
};

int grid_create(grid *g, int n, int cells, gbees_error *error)
{
    *g = (grid){.threads = 1};
    gbees_shape_set(&g->shape, n, cells);
    int status = grid_register(g, (void **)&g->used, sizeof *g->used, 1, error);
    if (!status)
        status = grid_register(g, (void **)&g->free, sizeof *g->free, 1, error);
    if (!status)
        status = grid_register(g, (void **)&g->key, (size_t)n * sizeof *g->key, 0, error);
    for (int d = 0; d < 2 * n && !status; d++)
        status = grid_register(g, (void **)&g->neighbor[d], sizeof *g->neighbor[d], 0, error);
    return status;
}

void grid_destroy(grid *g)
{
    for (int f = 0; f < g->field_count; f++) {
        pages_free(*g->field[f].data, g->field_capacity[f] * g->field[f].size);
        *g->field[f].data = NULL;
    }
    pages_free(g->table, g->table_size * sizeof *g->table);
    pages_free(g->scratch, g->scratch_size);
    *g = (grid){0};
}

int grid_register(grid *g, void **data, size_t size, int transient, gbees_error *error)
{
    if (g->field_count == GRID_FIELDS || g->capacity || size > GRID_ROW)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "grid: a field is registered too late, has rows that are too long, or is one too many");
    *data = NULL;
    g->field[g->field_count++] = (grid_field){data, size, transient};
    g->slot_bytes += size;
    return 0;
}

uint64_t grid_bytes(const grid *g)
{
    return g->slot_bytes * g->capacity + g->table_size * sizeof *g->table;
}

void grid_note_peak(grid *g, uint64_t more)
{
    uint64_t bytes = g->slot_bytes * (g->count + 1u) + g->table_size * sizeof *g->table + g->scratch_size + more;

    if (bytes > g->peak_bytes)
        g->peak_bytes = bytes;
}

/* Sets the error for a heap of so many slots. */
static int no_memory(const grid *g, uint64_t slots, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM,
                           "out of memory: the grid needs %.1f MB for %llu bricks of %d cells (%u in use): raise "
                           "`threshold` or the cell widths, or use a machine with more memory",
                           (double)(g->slot_bytes * slots) / 1e6, (unsigned long long)slots, g->shape.cells,
                           g->count);
}

/* The null brick's part of all arrays is set to 0 when the heap is made; that of other slots is undefined until they
 * are used.
 */
int grid_grow(grid *g, uint64_t slots, gbees_error *error)
{
    if (slots > UINT32_MAX)
        return no_memory(g, slots, error);
    for (int f = 0; f < g->field_count; f++) {
        void *data =
            pages_resize(*g->field[f].data, g->field_capacity[f] * g->field[f].size, slots * g->field[f].size);

        if (!data)
            return no_memory(g, slots, error);
        *g->field[f].data = data;
        g->field_capacity[f] = slots;
        if (!g->capacity)
            memset(data, 0, g->field[f].size);
    }
    uint32_t first = g->capacity ? g->capacity : 1, added = (uint32_t)slots - first;
    /* The stack gives the lowest slots first: new slots are put below those that were free. */
    memmove(g->free + added, g->free, g->free_count * sizeof *g->free);
    for (uint32_t k = 0; k < added; k++)
        g->free[k] = (uint32_t)slots - 1 - k;
    g->free_count += added;
    g->capacity = (uint32_t)slots;
    return 0;
}

/* The number of a registered array. */
static int find_field(const grid *g, void *const *data)
{
    int f = 0;

    while (g->field[f].data != data)
        f++;
    return f;
}

void *grid_rows_create(grid *g, void *const *data, gbees_error *error)
{
    int f = find_field(g, data);
    const size_t size = g->field[f].size;
    void *rows = pages_resize(NULL, 0, g->field_capacity[f] * size);

    if (!rows) {
        (void)no_memory(g, g->capacity, error);
        return NULL;
    }
    memset(rows, 0, size);
    grid_note_peak(g, size * (g->count + 1u));
    return rows;
}

void grid_rows_replace(grid *g, void **data, void *rows)
{
    int f = find_field(g, data);

    pages_free(*data, g->field_capacity[f] * g->field[f].size);
    *data = rows;
}

/* Enters a slot into the first empty entry of the table from `at` on. Several threads may call it: which of the empty
 * entries each takes does not matter. */
static void put_at(grid *g, uint64_t at, uint32_t slot)
{
    uint64_t mask = g->table_size - 1;

    for (;; at = (at + 1) & mask) {
        uint32_t empty = 0;

        if (!__atomic_load_n(&g->table[at], __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&g->table[at], &empty, slot, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
}

/* Enters slots[count], at most BATCH, whose entries are prefetched together. */
static void put_batch(grid *g, const uint32_t *slots, uint32_t count)
{
    uint64_t at[BATCH];

    for (uint32_t k = 0; k < count; k++) {
        at[k] = gbees_buzhash(grid_key(g, slots[k]), g->shape.n) & (g->table_size - 1);
        __builtin_prefetch(&g->table[at[k]], 1);
    }
    for (uint32_t k = 0; k < count; k++)
        put_at(g, at[k], slots[k]);
}

int grid_rehash(grid *g, uint64_t bricks, gbees_error *error)
{
    uint64_t size = 1024;

    while (size < 2 * bricks)
        size *= 2;
    if (size != g->table_size) {
        uint32_t *table = pages_resize(g->table, g->table_size * sizeof *table, size * sizeof *table);

        if (!table)
            return no_memory(g, g->capacity, error);
        g->table = table;
        g->table_size = size;
    }
#pragma omp parallel num_threads(grid_threads(g, g->count, GRID_ENTRY))
    {
#pragma omp for schedule(static)
        for (uint64_t at = 0; at < size; at++)
            g->table[at] = 0;
#pragma omp for schedule(static)
        for (uint32_t k = 0; k < g->count; k += BATCH)
            put_batch(g, g->used + k, g->count - k < BATCH ? g->count - k : BATCH);
    }
    return 0;
}

/* The slot with a key, searched from entry `at` of the table on; 0: the brick is absent. */
static uint32_t find_from(const grid *g, const int32_t *key, uint64_t at)
{
    for (uint64_t mask = g->table_size - 1; g->table[at]; at = (at + 1) & mask)
        if (grid_same_key(g, grid_key(g, g->table[at]), key))
            return g->table[at];
    return 0;
}

uint64_t grid_hash(const grid *g, const int32_t *key)
{
    return gbees_buzhash(key, g->shape.n);
}

uint32_t grid_find_hashed(const grid *g, const int32_t *key, uint64_t hash)
{
    return g->table_size ? find_from(g, key, hash & (g->table_size - 1)) : 0;
}

uint32_t grid_find(const grid *g, const int32_t *key)
{
    return grid_find_hashed(g, key, grid_hash(g, key));
}

void grid_prefetch_entry(const grid *g, uint64_t hash)
{
    __builtin_prefetch(&g->table[hash & (g->table_size - 1)]);
}

void grid_prefetch_key(const grid *g, uint64_t hash)
{
    __builtin_prefetch(grid_key(g, g->table[hash & (g->table_size - 1)]));
}

int grid_reserve(grid *g, uint64_t bricks, gbees_error *error)
{
    uint64_t total = g->count + bricks;

    if (bricks > g->free_count) {
        uint64_t slots = total + total / 4 + 64;
        int status = grid_grow(g, slots, error);

        if (status)
            return status;
    }
    if (2 * total > g->table_size)
        return grid_rehash(g, total + total / 2, error);
    return 0;
}

/* Sets at[2n], by direction, to the entries of the table at which the searches for a brick's neighbours begin. A
 * neighbour's key differs in one component, and its hash in one term. */
static void place_neighbors(const grid *g, uint32_t slot, uint64_t *at)
{
    const int n = g->shape.n;
    const int32_t *key = grid_key(g, slot);
    const uint64_t hash = grid_hash(g, key);

    for (int d = 0; d < 2 * n; d++) {
        const int axis = d >> 1, turn = n - 1 - axis;
        const uint64_t change = gbees_buzhash_symbol(key[axis]) ^
                                gbees_buzhash_symbol(gbees_key_beside(&g->shape, key[axis], axis, d, d));

        at[d] = (hash ^ (change << turn | change >> (64 - turn) % 64)) & (g->table_size - 1);
    }
}

/* Stores the links between a brick and its neighbours, in both directions. Several threads may call it: for two new
 * bricks that are neighbours both store the same links. */
static void link_neighbors(grid *g, uint32_t slot, const uint64_t *at)
{
    int32_t key[8];

    memcpy(key, grid_key(g, slot), (size_t)g->shape.n * sizeof *key);
    for (int d = 0; d < 2 * g->shape.n; d++) {
        const int32_t own = key[d >> 1];

        key[d >> 1] = gbees_key_beside(&g->shape, own, d >> 1, d, d);
        const uint32_t other = gbees_is_at_wall(&g->shape, own, d) ? 0 : find_from(g, key, at[d]);
        key[d >> 1] = own;
        __atomic_store_n(&g->neighbor[d][slot], other, __ATOMIC_RELAXED);
        if (other)
            __atomic_store_n(&g->neighbor[gbees_opposite(d)][other], slot, __ATOMIC_RELAXED);
    }
}

/* Links slots[count], at most LINKS. Entries and keys lie all over memory: those of all searches are prefetched
 * together. */
static void link_batch(grid *g, const uint32_t *slots, uint32_t count)
{
    const int directions = 2 * g->shape.n;
    uint64_t at[LINKS][2 * 8];

    for (uint32_t k = 0; k < count; k++) {
        place_neighbors(g, slots[k], at[k]);
        for (int d = 0; d < directions; d++)
            __builtin_prefetch(&g->table[at[k][d]]);
    }
    for (uint32_t k = 0; k < count; k++)
        for (int d = 0; d < directions; d++)
            __builtin_prefetch(grid_key(g, g->table[at[k][d]]));
    for (uint32_t k = 0; k < count; k++)
        link_neighbors(g, slots[k], at[k]);
}

uint32_t grid_add(grid *g, const int32_t *key, uint64_t hash)
{
    uint32_t slot = g->free[--g->free_count];

    g->used[g->count++] = slot;
    memcpy(grid_own_key(g, slot), key, (size_t)g->shape.n * sizeof *key);
    put_at(g, hash & (g->table_size - 1), slot);
    grid_note_peak(g, 0);
    return slot;
}

void grid_link(grid *g, uint32_t from)
{
    /* 2n searches a brick take as long as n: while one waits for memory, others go on. */
#pragma omp parallel for num_threads(grid_threads(g, g->count - from, (uint64_t)g->shape.n * GRID_ENTRY))            \
    schedule(static)
    for (uint32_t k = from; k < g->count; k += LINKS)
        link_batch(g, g->used + k, g->count - k < LINKS ? g->count - k : LINKS);
}

uint32_t grid_insert(grid *g, const int32_t *key)
{
    uint32_t slot = grid_add(g, key, grid_hash(g, key));

    link_batch(g, &slot, 1);
    return slot;
}

/* ---- for tests -------------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int
report(char *text, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return 1;
}

/* Checks a used slot: its key and its links. seen[capacity]: slots that were listed. */
static int check_slot(const grid *g, uint32_t slot, unsigned char *seen, char *text, size_t size)
{
    int32_t key[8];

    if (!slot || slot >= g->capacity || seen[slot])
        return report(text, size, "slot %u is out of range or listed twice", slot);
    seen[slot] = 1;
    if (grid_find(g, grid_key(g, slot)) != slot)
        return report(text, size, "slot %u is not found under its key", slot);
    for (int d = 0; d < 2 * g->shape.n; d++) {
        const int wall = gbees_is_at_wall(&g->shape, grid_key(g, slot)[d >> 1], d);

        gbees_key_move(&g->shape, grid_key(g, slot), d, d, key);
        if (grid_neighbor(g, slot, d) != (wall ? 0 : grid_find(g, key)))
            return report(text, size, "slot %u has a wrong neighbour in direction %d", slot, d);
    }
    return 0;
}

/* Checks the Used List and the Free List. */
static int check_lists(const grid *g, unsigned char *seen, char *text, size_t size)
{
    for (uint32_t k = 0; k < g->count; k++)
        if (check_slot(g, g->used[k], seen, text, size))
            return 1;
    for (uint32_t k = 0; k < g->free_count; k++) {
        if (!g->free[k] || g->free[k] >= g->capacity || seen[g->free[k]])
            return report(text, size, "free slot %u is out of range or listed twice", g->free[k]);
        seen[g->free[k]] = 1;
    }
    return 0;
}

int grid_check(const grid *g, char *text, size_t size)
{
    uint64_t entries = 0;
    unsigned char *seen = calloc(g->capacity ? g->capacity : 1, 1);

    if (!seen)
        return report(text, size, "out of memory");
    int bad = check_lists(g, seen, text, size);
    free(seen);
    if (bad)
        return bad;
    for (uint64_t at = 0; at < g->table_size; at++)
        entries += g->table[at] != 0;
    if (g->capacity && g->count + g->free_count + 1u != g->capacity)
        return report(text, size, "used %u + free %u + null is not capacity %u", g->count, g->free_count,
                      g->capacity);
    if (entries != g->count || 2 * entries > g->table_size)
        return report(text, size, "the table has %llu entries for %u bricks, size %llu", (unsigned long long)entries,
                      g->count, (unsigned long long)g->table_size);
    return 0;
}
