/* sparse_list.c - packs multi-indices and P into records relative to the least index, and unpacks them, on threads.
 * */
#include "sparse_list.h"
#include "base/array.h"
#include <gbees/gbees.h>
#include <string.h>

/* ---- packing ---- */

typedef struct packing {
    const gbees_initial_cells *list;
    const int *axis;
    gbees_sparse *cells;
    int32_t low[GBEES_SPARSE_PARTS][GBEES_MAX_DIM], high[GBEES_SPARSE_PARTS][GBEES_MAX_DIM];
} packing;

static void pack_part(void *context, size_t part)
{
    packing *t = context;
    const size_t first = gbees_sparse_first(t->cells, part), end = gbees_sparse_first(t->cells, part + 1);
    gbees_sparse_cell *cell = t->cells->cell;

    for (size_t i = first; i < end; i++)
        cell[i] = (gbees_sparse_cell){.p = t->list->p[i]};
    for (int k = 0; k < t->cells->n; k++) {
        const int32_t *index = t->list->index[t->axis[k]];
        int32_t low = INT32_MAX, high = INT32_MIN;

        for (size_t i = first; i < end; i++) {
            cell[i].at[k] = index[i];
            low = index[i] < low ? index[i] : low;
            high = index[i] > high ? index[i] : high;
        }
        t->low[part][k] = low;
        t->high[part][k] = high;
    }
}

/* Sets the range of indices along axis k to that of all parts. */
static void join_ranges(const packing *t, int k)
{
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (size_t part = 0; part < gbees_sparse_parts(t->cells); part++) {
        low = t->low[part][k] < low ? t->low[part][k] : low;
        high = t->high[part][k] > high ? t->high[part][k] : high;
    }
    t->cells->low[k] = low;
    t->cells->high[k] = high;
}

int gbees_sparse_from_list(const gbees_initial_cells *list, const int *axis, gbees_sparse *cells)
{
    packing t = {.list = list, .axis = axis, .cells = cells};

    cells->cell = gbees_array_create(list->count, sizeof *cells->cell);
    if (!cells->cell)
        return 1;
    cells->count = cells->capacity = list->count;
    gbees_sparse_for_parts(cells, pack_part, &t);
    for (int k = 0; k < cells->n; k++)
        join_ranges(&t, k);
    return 0;
}

/* ---- unpacking ---- */

typedef struct unpacking {
    const gbees_sparse *cells;
    const int *axis;
    double least;
    gbees_initial_cells *list;
    size_t first[GBEES_SPARSE_PARTS]; /* how many cells of a part are kept, then where they go */
    double dropped[GBEES_SPARSE_PARTS];
} unpacking;

static void count_part(void *context, size_t part)
{
    unpacking *g = context;
    const size_t end = gbees_sparse_first(g->cells, part + 1);
    size_t kept = 0;
    double dropped = 0;

    for (size_t i = gbees_sparse_first(g->cells, part); i < end; i++) {
        const double p = g->cells->cell[i].p;

        kept += p >= g->least;
        dropped += p >= g->least ? 0 : p;
    }
    g->first[part] = kept;
    g->dropped[part] = dropped;
}

static void unpack_part(void *context, size_t part)
{
    unpacking *g = context;
    const size_t end = gbees_sparse_first(g->cells, part + 1);
    size_t to = g->first[part];

    for (size_t i = gbees_sparse_first(g->cells, part); i < end; i++) {
        const gbees_sparse_cell *cell = &g->cells->cell[i];

        if (!(cell->p >= g->least))
            continue;
        for (int k = 0; k < g->cells->n; k++)
            g->list->index[g->axis[k]][to] = cell->at[k];
        g->list->p[to++] = cell->p;
    }
}

/* Sets the place of each part's cells in the list; returns their number. */
static size_t set_places(unpacking *g, double *dropped)
{
    size_t count = 0;

    for (size_t part = 0; part < gbees_sparse_parts(g->cells); part++) {
        const size_t kept = g->first[part];

        g->first[part] = count;
        count += kept;
        *dropped += g->dropped[part];
    }
    return count;
}

/* Makes an empty list with memory for `count` cells. */
static int make_list(int n, size_t count, gbees_initial_cells *made)
{
    int whole = (made->p = gbees_array_create(count, sizeof *made->p)) != NULL;

    memset(made->index, 0, sizeof made->index);
    for (int j = 0; j < n; j++)
        whole = whole && (made->index[j] = gbees_array_create(count, sizeof *made->index[j])) != NULL;
    if (!whole)
        gbees_initial_cells_clear(made);
    return !whole;
}

int gbees_sparse_to_list(const gbees_sparse *cells, const int *axis, double least, gbees_initial_cells *list,
                         double *dropped)
{
    gbees_initial_cells made = *list;
    unpacking g = {.cells = cells, .axis = axis, .least = least, .list = &made};
    double lost = 0;

    gbees_sparse_for_parts(cells, count_part, &g);
    const size_t count = set_places(&g, &lost);
    if (make_list(cells->n, count, &made))
        return 1;
    made.count = count;
    gbees_sparse_for_parts(cells, unpack_part, &g);
    gbees_initial_cells_clear(list);
    *list = made;
    *dropped += lost;
    return 0;
}
