/* listed_bricks.c - finds the bricks of a sorted list of cells. Those whose bricks have one key along the first axis,
 * a slab, follow each other: threads take slabs, each with a hash table of its own that stays in a processor's cache,
 * and the slabs' bricks follow each other, too. */
#include "listed_bricks.h"
#include "numerics/buzhash.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ENTRIES = 1 << 10, /* of a hash table */
};

/* The cells first .. end - 1 of the list, and their bricks. */
typedef struct slab {
    size_t first, end;
    int32_t (*key)[GBEES_MAX_DIM];
    uint64_t count;
} slab;

/* A hash table of a slab's bricks, at most half full. */
typedef struct slab_table {
    uint32_t *entry; /* [mask + 1]: numbers of bricks, plus 1; 0: none */
    uint64_t mask;
} slab_table;

int brick_keys_compare(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        if (left[j] != right[j])
            return left[j] < right[j] ? -1 : 1;
    return 0;
}

/* Where a brick is in the table, or where it has to be entered. */
static uint32_t *find_entry(const slab *s, int n, const int32_t *key, const slab_table *table)
{
    uint64_t at = gbees_buzhash(key, n) & table->mask;

    while (table->entry[at] && memcmp(s->key[table->entry[at] - 1], key, sizeof *s->key) != 0)
        at = (at + 1) & table->mask;
    return &table->entry[at];
}

/* Makes the table one of `size` entries, a power of 2, and memory for half as many bricks. Returns 1 if there is
 * none.
 */
static int resize(slab *s, int n, uint64_t size, slab_table *table)
{
    const slab_table larger = {.entry = calloc((size_t)size, sizeof *larger.entry), .mask = size - 1};
    int32_t(*key)[GBEES_MAX_DIM] = realloc(s->key, (size_t)(size / 2) * sizeof *key);

    s->key = key ? key : s->key;
    if (!key || !larger.entry) {
        free(larger.entry);
        return 1;
    }
    for (uint64_t k = 0; k < s->count; k++)
        *find_entry(s, n, s->key[k], &larger) = (uint32_t)(k + 1);
    free(table->entry);
    *table = larger;
    return 0;
}

/* Lists the bricks of a slab, sorted. Returns 1 if there is no memory. */
static int list_slab(const gbees_initial_cells *cells, const gbees_shape *shape, slab *s)
{
    const int n = shape->n;
    int32_t last[GBEES_MAX_DIM] = {0};
    slab_table table = {NULL, 0};
    int failed = resize(s, n, FIRST_ENTRIES, &table);

    for (size_t i = s->first; i < s->end && !failed; i++) {
        int32_t key[GBEES_MAX_DIM] = {0}, changed = i == s->first;

        for (int j = 0; j < n; j++) {
            key[j] = gbees_shape_key(shape, j, cells->index[j][i]);
            changed |= key[j] ^ last[j];
        }
        if (!changed)
            continue;
        memcpy(last, key, sizeof last);
        uint32_t *entry = find_entry(s, n, key, &table);
        if (*entry)
            continue;
        memcpy(s->key[s->count++], key, sizeof key);
        *entry = (uint32_t)s->count;
        if (2 * (s->count + 1) > table.mask)
            failed = resize(s, n, 4 * (table.mask + 1), &table);
    }
    free(table.entry);
    if (!failed)
        qsort(s->key, (size_t)s->count, sizeof *s->key, brick_keys_compare);
    return failed;
}

/* The first cell after `first` that is in another slab, by bisection. */
static size_t slab_end(const gbees_initial_cells *cells, const gbees_shape *shape, size_t first)
{
    const int32_t key = gbees_shape_key(shape, 0, cells->index[0][first]);
    size_t low = first + 1, high = cells->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (gbees_shape_key(shape, 0, cells->index[0][middle]) > key)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Divides the cells into slabs; returns their number. slabs: NULL to count them. */
static size_t divide(const gbees_initial_cells *cells, const gbees_shape *shape, slab *slabs)
{
    size_t count = 0;

    for (size_t first = 0, end; first < cells->count; first = end, count++) {
        end = slab_end(cells, shape, first);
        if (slabs)
            slabs[count] = (slab){.first = first, .end = end};
    }
    return count;
}

/* Copies the slabs' bricks, one after the other. Returns 1 if there is no memory. */
static int join(const slab *slabs, size_t slab_count, int32_t (**list)[GBEES_MAX_DIM], uint64_t *count)
{
    uint64_t all = 0;

    for (size_t k = 0; k < slab_count; k++)
        all += slabs[k].count;
    *list = malloc((size_t)(all + 1) * sizeof **list);
    *count = 0;
    for (size_t k = 0; k < slab_count && *list; k++) {
        memcpy(*list + *count, slabs[k].key, (size_t)slabs[k].count * sizeof **list);
        *count += slabs[k].count;
    }
    return !*list;
}

int listed_bricks_find(const gbees_initial_cells *cells, const gbees_shape *shape, int threads,
                       int32_t (**list)[GBEES_MAX_DIM], uint64_t *count)
{
    const size_t slab_count = divide(cells, shape, NULL);
    slab *slabs = calloc(slab_count + 1, sizeof *slabs);
    int failed = !slabs;

    *list = NULL;
    if (slabs)
        (void)divide(cells, shape, slabs);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(| : failed)
    for (size_t k = 0; k < (slabs ? slab_count : 0); k++)
        failed |= list_slab(cells, shape, &slabs[k]);
    failed = failed || join(slabs, slab_count, list, count);
    for (size_t k = 0; slabs && k < slab_count; k++)
        free(slabs[k].key);
    free(slabs);
    return failed;
}
