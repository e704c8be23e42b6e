/* initial_bricks.c - lists the bricks of the initial density: by counting through the box of one Gaussian; for a
 * mixture or a record's cells as a list, which is sorted and has each brick once. */
#include "initial_bricks.h"
#include "failure.h"
#include "listed_bricks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FARTHEST = 1 << 25, /* bricks from the origin, at most: the engines' limit, too */
    BLOCK = 256         /* cells whose bricks are compared at a time, by vectors */
};

/* ---- a box ---- */

/* Sets first[n] and last[n] to the least and the largest key of the bricks that the cells lo .. hi are in; returns
 * the number of these bricks. */
static double box_keys(const gbees_shape *shape, const int *lo, const int *hi, int32_t *first, int32_t *last)
{
    double bricks = 1;

    for (int j = 0; j < shape->n; j++) {
        first[j] = gbees_shape_key(shape, j, lo[j]);
        last[j] = gbees_shape_key(shape, j, hi[j]);
        bricks *= last[j] - first[j] + 1.0;
    }
    return bricks;
}

/* Advances key[n] to the next of the box in lexicographic order; after the last one comes the first. */
static void box_next(const int32_t *lo, const int32_t *hi, int n, int32_t *key)
{
    for (int j = n - 1; j >= 0; j--) {
        if (++key[j] <= hi[j])
            return;
        key[j] = lo[j];
    }
}

/* Sets lo[n] and hi[n] as box_keys() does, for the box of a problem's initial density; returns its number of bricks.
 */
static double whole_box(const gbees_problem *problem, const gbees_shape *shape, int32_t *lo, int32_t *hi)
{
    int low[GBEES_MAX_DIM];

    for (int j = 0; j < shape->n; j++)
        low[j] = -problem->extent[j];
    return box_keys(shape, low, problem->extent, lo, hi);
}

/* ---- a list ---- */

/* Sorts the list and removes duplicates. */
static void sort(initial_bricks *bricks)
{
    uint64_t kept = 0;

    qsort(bricks->list, (size_t)bricks->count, sizeof *bricks->list, brick_keys_compare);
    for (uint64_t k = 0; k < bricks->count; k++)
        if (kept == 0 || brick_keys_compare(bricks->list[kept - 1], bricks->list[k]) != 0)
            memmove(bricks->list[kept++], bricks->list[k], sizeof *bricks->list);
    bricks->count = kept;
}

/* Lists the bricks of the boxes of a mixture's Gaussians; a brick in several boxes comes several times. */
static void list_boxes(initial_bricks *bricks, const gbees_problem *problem, const gbees_shape *shape)
{
    for (int g = 0; g < problem->gaussian_count; g++) {
        int32_t lo[GBEES_MAX_DIM] = {0}, hi[GBEES_MAX_DIM] = {0}, key[GBEES_MAX_DIM];
        double count = box_keys(shape, problem->gaussians[g].lo, problem->gaussians[g].hi, lo, hi);

        memcpy(key, lo, sizeof key);
        for (uint64_t k = 0; k < (uint64_t)count; k++) {
            memcpy(bricks->list[bricks->count++], key, sizeof key);
            box_next(lo, hi, shape->n, key);
        }
    }
}

/* Sets changed[i] to 0 if cell first + i of the list is in the same brick as the one before it, else to 1. first: >
 * 0; count: at most BLOCK. Whole blocks have loops of a constant length, which compilers turn into vectors. */
static void mark_changes(const gbees_initial_cells *cells, const gbees_shape *shape, size_t first, size_t count,
                         int32_t *restrict changed)
{
    memset(changed, 0, BLOCK * sizeof *changed);
    for (int j = 0; j < shape->n; j++) {
        const int32_t *here = cells->index[j] + first, *before = here - 1;
        const int shift = shape->log2_edge[j];

        if (count == BLOCK)
            for (int i = 0; i < BLOCK; i++)
                changed[i] |= (here[i] ^ before[i]) >> shift;
        else
            for (size_t i = 0; i < count; i++)
                changed[i] |= (here[i] ^ before[i]) >> shift;
    }
    for (int i = 0; i < BLOCK; i++)
        changed[i] = changed[i] != 0;
}

/* An upper bound of the number of bricks of a record's cells: one is counted again if cells of others come between
 * its own. */
static uint64_t count_cells_bricks(const gbees_initial_cells *cells, const gbees_shape *shape)
{
    int32_t changed[BLOCK];
    uint64_t bricks = cells->count > 0;

    for (size_t first = 1; first < cells->count; first += BLOCK) {
        const size_t count = cells->count - first < BLOCK ? cells->count - first : BLOCK;
        int32_t here = 0;

        mark_changes(cells, shape, first, count, changed);
        for (int i = 0; i < BLOCK; i++) /* 0 from `count` on */
            here += changed[i];
        bricks += (uint64_t)here;
    }
    return bricks;
}

/* ---- a box or a list ---- */

double initial_bricks_most(const gbees_problem *problem, const gbees_shape *shape)
{
    double bricks = 1, some = 0;

    for (int j = 0; j < shape->n; j++)
        bricks *= ceil((2.0 * problem->extent[j] + 1) / shape->edge[j]) + 1;
    if (problem->cells)
        return fmin(bricks, (double)count_cells_bricks(problem->cells, shape));
    for (int g = 0; g < problem->gaussian_count; g++) {
        double box = 1;

        for (int j = 0; j < shape->n; j++)
            box *= ceil(((double)problem->gaussians[g].hi[j] - problem->gaussians[g].lo[j] + 1) / shape->edge[j]) + 1;
        some += box;
    }
    return problem->gaussian_count > 0 ? fmin(bricks, some) : bricks;
}

/* An upper bound of the length of a problem's list; 0: it has none, but a box. */
static double list_length(const gbees_problem *problem, const gbees_shape *shape)
{
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM];
    double length = problem->cells ? (double)count_cells_bricks(problem->cells, shape) : 0;

    for (int g = 0; g < problem->gaussian_count; g++)
        length += box_keys(shape, problem->gaussians[g].lo, problem->gaussians[g].hi, lo, hi);
    return length;
}

double initial_bricks_bytes(const gbees_problem *problem, const gbees_shape *shape)
{
    double cells = problem->cells ? (double)problem->cells->count : 0;

    return list_length(problem, shape) * sizeof(int32_t[GBEES_MAX_DIM]) + cells * (4.0 * shape->n + 8);
}

/* Makes the list of a problem that has one, of `length` bricks at most. */
static int make_list(initial_bricks *bricks, const gbees_problem *problem, const gbees_shape *shape, double length,
                     int threads, gbees_error *error)
{
    int failed;

    if (problem->cells) {
        failed = listed_bricks_find(problem->cells, shape, threads, &bricks->list, &bricks->count);
    } else {
        bricks->list = malloc((size_t)length * sizeof *bricks->list);
        failed = !bricks->list;
        if (!failed) {
            list_boxes(bricks, problem, shape);
            sort(bricks);
        }
    }
    return failed
               ? gbees_error_set(error, GBEES_ENOMEM, "out of memory for %.3g bricks of the initial density", length)
               : 0;
}

int initial_bricks_create(initial_bricks *bricks, const gbees_problem *problem, const gbees_shape *shape, double most,
                          int threads, gbees_error *error)
{
    int status = 0;

    *bricks = (initial_bricks){.n = shape->n};
    double count = whole_box(problem, shape, bricks->lo, bricks->hi), length = list_length(problem, shape);

    for (int j = 0; j < shape->n && length > 0; j++)
        if (bricks->lo[j] <= -FARTHEST || bricks->hi[j] >= FARTHEST)
            return failure_far(problem, j, FARTHEST, error);
    if ((length > 0 ? length : count) > most)
        return gbees_error_set(error, GBEES_ENOMEM, "the initial box needs %.3g bricks", length > 0 ? length : count);
    if (length > 0)
        status = make_list(bricks, problem, shape, length, threads, error);
    else
        bricks->count = (uint64_t)count;
    initial_bricks_rewind(bricks);
    return status;
}

void initial_bricks_destroy(initial_bricks *bricks)
{
    free(bricks->list);
    bricks->list = NULL;
}

void initial_bricks_rewind(initial_bricks *bricks)
{
    bricks->next = 0;
    memcpy(bricks->key, bricks->lo, sizeof bricks->key);
}

void initial_bricks_take(initial_bricks *bricks, int32_t *key)
{
    const size_t bytes = (size_t)bricks->n * sizeof *key;

    if (bricks->list) {
        memcpy(key, bricks->list[bricks->next++], bytes);
        return;
    }
    memcpy(key, bricks->key, bytes);
    box_next(bricks->lo, bricks->hi, bricks->n, bricks->key);
}

uint64_t initial_bricks_find(const initial_bricks *bricks, const int32_t *key)
{
    uint64_t place = 0;

    if (bricks->list) {
        const int32_t *found =
            bsearch(key, bricks->list, (size_t)bricks->count, sizeof *bricks->list, brick_keys_compare);

        return found ? (uint64_t)(found - bricks->list[0]) / GBEES_MAX_DIM : UINT64_MAX;
    }
    for (int j = 0; j < bricks->n; j++) {
        if (key[j] < bricks->lo[j] || key[j] > bricks->hi[j])
            return UINT64_MAX;
        place = place * (uint64_t)(bricks->hi[j] - bricks->lo[j] + 1) + (uint64_t)(key[j] - bricks->lo[j]);
    }
    return place;
}

int initial_bricks_keep(initial_bricks *bricks, const unsigned char *keep, gbees_error *error)
{
    uint64_t kept = 0;

    for (uint64_t k = 0; k < bricks->count; k++)
        kept += keep[k];
    int32_t(*list)[GBEES_MAX_DIM] = calloc((size_t)kept + 1, sizeof *list);
    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for %llu bricks of the initial density",
                               (unsigned long long)kept);
    initial_bricks_rewind(bricks);
    for (uint64_t k = 0, at = 0; k < bricks->count; k++) {
        initial_bricks_take(bricks, list[at]);
        at += keep[k];
    }
    free(bricks->list);
    bricks->list = list;
    bricks->count = kept;
    initial_bricks_rewind(bricks);
    return 0;
}
