/* grid_compact.c - removes bricks from the grid: scan, compact, sort, rehash (paper, Algorithm 3).
 *
 * Bricks are moved to the front of the heap in lexicographic order of their keys: sweeping bricks in a random order
 * is three times slower.  Most bricks have been sorted by the last prune; those that were inserted since are sorted,
 * and merged with them.
 */
#include "grid.h"
#include "grid_private.h"
#include "pages.h"
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN = 64, /* bytes: a thread moves a multiple of them of each row */
    PARTS = 64   /* of the Used List, for every number of threads */
};

/* Compares two keys in lexicographic order: -1, 0 or 1. */
static int compare_keys(const int32_t *a, const int32_t *b, int n)
{
    for (int j = 0; j < n; j++)
        if (a[j] != b[j])
            return a[j] < b[j] ? -1 : 1;
    return 0;
}

/* For qsort_r(): compares the keys of two slots. */
static int compare_slots(const void *a, const void *b, void *context)
{
    const grid *g = context;

    return compare_keys(grid_key(g, *(const uint32_t *)a), grid_key(g, *(const uint32_t *)b), g->shape.n);
}

/* Merges the sorted lists a[na] and b[nb] to to[na + nb]. */
static void merge_slots(grid *g, const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb, uint32_t *to)
{
    while (na && nb)
        if (compare_slots(b, a, g) < 0) {
            *to++ = *b++;
            nb--;
        } else {
            *to++ = *a++;
            na--;
        }
    memcpy(to, a, na * sizeof *to);
    memcpy(to + na, b, nb * sizeof *to);
}

/* Sorts slots[count] by key: each thread sorts a part, then pairs of neighbouring parts are merged.  Returns the
 * array that has the result: slots, or spare[count]. */
static uint32_t *sort_slots(grid *g, uint32_t *slots, uint32_t count, uint32_t *spare)
{
    const int threads = grid_threads(g, count, GRID_WORDS);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const uint32_t from = team_part(count, t, threads), to = team_part(count, t + 1, threads);

        qsort_r(slots + from, to - from, sizeof *slots, compare_slots, g);
    }
    for (int width = 1; width < threads; width *= 2) {
        uint32_t *merged = spare;

#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; t += 2 * width) {
            const uint32_t from = team_part(count, t, threads), middle = team_part(count, t + width, threads),
                           to = team_part(count, t + 2 * width, threads);

            merge_slots(g, slots + from, middle - from, slots + middle, to - middle, merged + from);
        }
        spare = slots;
        slots = merged;
    }
    return slots;
}

/* The place of the first one of sorted[from .. count - 1] whose key does not come before that of `slot`; `count`:
 * there is none. By an exponential search, as the place is mostly near `from`. */
static uint64_t find_place(grid *g, const uint32_t *sorted, uint64_t from, uint64_t count, uint32_t slot)
{
    uint64_t step = 1, to;

    while (from + step <= count && compare_slots(&sorted[from + step - 1], &slot, g) < 0) {
        from += step;
        step *= 2;
    }
    to = from + step <= count ? from + step - 1 : count;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        if (compare_slots(&sorted[middle], &slot, g) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Slots that stay: those that the last prune has sorted, and those that were inserted since. */
typedef struct kept {
    uint32_t *old, *fresh;  /* each as long as the Used List */
    uint32_t olds, freshes; /* how many */
} kept;

/* Lists the slots that stay. Each part of the Used List is counted first, which gives the places of all parts' slots.
 */
static void pick_slots(const grid *g, const unsigned char *keep, kept *to)
{
    uint32_t olds[PARTS + 1] = {0}, freshes[PARTS + 1] = {0};

#pragma omp parallel for num_threads(grid_threads(g, g->count, GRID_WORDS)) schedule(static)
    for (int t = 0; t < PARTS; t++) {
        uint32_t old = 0, fresh = 0;

        for (uint32_t k = team_part(g->count, t, PARTS); k < team_part(g->count, t + 1, PARTS); k++)
            *(k < g->sorted ? &old : &fresh) += keep[k] != 0;
        olds[t + 1] = old;
        freshes[t + 1] = fresh;
    }
    for (int t = 0; t < PARTS; t++) {
        olds[t + 1] += olds[t];
        freshes[t + 1] += freshes[t];
    }
#pragma omp parallel for num_threads(grid_threads(g, g->count, GRID_WORDS)) schedule(static)
    for (int t = 0; t < PARTS; t++) {
        uint32_t *old = to->old + olds[t], *fresh = to->fresh + freshes[t];

        for (uint32_t k = team_part(g->count, t, PARTS); k < team_part(g->count, t + 1, PARTS); k++)
            if (keep[k])
                *(k < g->sorted ? old++ : fresh++) = g->used[k];
    }
    to->olds = olds[PARTS];
    to->freshes = freshes[PARTS];
}

/* Merges few sorted slots, fresh[freshes], with many, old[olds], which are copied in blocks, to order[olds +
 * freshes]. */
static void merge_fresh(grid *g, const uint32_t *old, uint32_t olds, const uint32_t *fresh, uint32_t freshes,
                        uint32_t *order)
{
    uint64_t merged = 0;

    for (uint32_t k = 0; k <= freshes; k++) {
        const uint64_t place = k < freshes ? find_place(g, old, merged, olds, fresh[k]) : olds;

        memcpy(order, old + merged, (place - merged) * sizeof *order);
        order += place - merged;
        merged = place;
        if (k < freshes)
            *order++ = fresh[k];
    }
}

/* Sets order[] to the slots that stay, sorted by key; returns their number.  spare[]: three times as long as the Used
 * List. */
static uint32_t order_slots(grid *g, const unsigned char *keep, uint32_t *order, uint32_t *spare)
{
    kept slots = {.old = spare, .fresh = spare + g->count};
    uint64_t first[PARTS + 1]; /* the first one of the fresh slots that is merged with each part of the old ones */

    pick_slots(g, keep, &slots);
    const uint32_t *fresh = sort_slots(g, slots.fresh, slots.freshes, spare + 2 * (size_t)g->count);
    first[0] = 0;
    first[PARTS] = slots.freshes;
    for (int t = 1; t < PARTS; t++) {
        const uint32_t begin = team_part(slots.olds, t, PARTS);

        first[t] =
            begin < slots.olds ? find_place(g, fresh, first[t - 1], slots.freshes, slots.old[begin]) : slots.freshes;
    }
#pragma omp parallel for num_threads(grid_threads(g, g->count, GRID_WORDS)) schedule(static)
    for (int t = 0; t < PARTS; t++) {
        const uint32_t from = team_part(slots.olds, t, PARTS), to = team_part(slots.olds, t + 1, PARTS);

        merge_fresh(g, slots.old + from, to - from, fresh + first[t], (uint32_t)(first[t + 1] - first[t]),
                    order + from + first[t]);
    }
    return slots.olds + slots.freshes;
}

/* Sets new_slot[capacity] to the slots that bricks are moved to, 0 for those that are removed, and the links to
 * these. */
static void renumber_neighbors(grid *g, const uint32_t *order, uint32_t count, uint32_t *new_slot)
{
#pragma omp parallel num_threads(grid_threads(g, count, GRID_WORDS))
    {
#pragma omp for schedule(static)
        for (uint32_t k = 0; k < g->capacity; k++)
            new_slot[k] = 0;
#pragma omp for schedule(static)
        for (uint32_t k = 0; k < count; k++)
            new_slot[order[k]] = k + 1;
        for (int d = 0; d < 2 * g->shape.n; d++)
#pragma omp for schedule(static) nowait
            for (uint32_t k = 0; k < count; k++)
                g->neighbor[d][order[k]] = new_slot[g->neighbor[d][order[k]]];
    }
}

/* A move of row `from` to row `to`.  Rows are permuted in place: each is moved to a row that is free. Row 0, the null
 * brick's, is zero before and after a prune, and holds a row during it. */
typedef struct move {
    uint32_t to, from;
} move;

/* Lists the moves that follow from one to `row`, which is free or held in row 0: each frees the row for the next one.
 * Sets entries of order[] that are done to 0; returns the number of moves. */
static uint32_t follow(uint32_t *order, uint32_t count, uint32_t row, move *moves)
{
    uint32_t made = 0, first = row;

    while (row <= count && order[row - 1]) {
        uint32_t from = order[row - 1];

        order[row - 1] = 0;
        moves[made++] = (move){row, from == first ? 0 : from};
        row = from;
    }
    return made;
}

/* Lists the moves that bring the rows into order; new_slot[]: the row to which each is moved, 0 if it is removed.
 * Sets all of order[] to 0; returns the number of moves. */
static uint32_t make_moves(uint32_t *order, uint32_t count, const uint32_t *new_slot, move *moves)
{
    uint32_t made = 0;

    for (uint32_t row = 1; row <= count; row++)
        if (!new_slot[row])
            made += follow(order, count, row, moves + made);
    for (uint32_t row = 1; row <= count; row++) {
        if (order[row - 1] == row)
            order[row - 1] = 0;
        if (!order[row - 1])
            continue;
        moves[made++] = (move){0, row}; /* begins a cycle of rows */
        made += follow(order, count, row, moves + made);
    }
    return made;
}

/* Makes the moves for the first `bytes` bytes from `data` on of each row, which has `row` bytes. */
static inline void move_bytes(char *data, size_t row, size_t bytes, const move *moves, uint32_t count)
{
    enum { AHEAD = 16 };

    for (uint32_t k = 0; k < count; k++) {
        if (k + AHEAD < count)
            for (size_t at = 0; at < bytes; at += 64) {
                __builtin_prefetch(data + moves[k + AHEAD].from * row + at);
                __builtin_prefetch(data + moves[k + AHEAD].to * row + at, 1);
            }
        memcpy(data + moves[k].to * row, data + moves[k].from * row, bytes);
    }
}

/* Calls move_bytes() with the most frequent sizes as constants, for which the compiler makes faster copies. */
static void move_column(char *data, size_t row, size_t bytes, const move *moves, uint32_t count)
{
    if (bytes == 4)
        move_bytes(data, row, 4, moves, count);
    else if (bytes == 8)
        move_bytes(data, row, 8, moves, count);
    else if (bytes == COLUMN)
        move_bytes(data, row, COLUMN, moves, count);
    else if (bytes == 2 * COLUMN)
        move_bytes(data, row, 2 * COLUMN, moves, count);
    else if (bytes == 4 * COLUMN)
        move_bytes(data, row, 4 * COLUMN, moves, count);
    else
        move_bytes(data, row, bytes, moves, count);
}

/* Makes the moves for all fields. Each depends on the one before: so threads don't share the moves, but the columns
 * of the rows.
 */
static void move_rows(grid *g, const move *moves, uint32_t count)
{
    struct column {
        char *data;
        size_t row, bytes;
    } columns[GRID_FIELDS * (GRID_ROW / COLUMN)];
    const int threads =
        grid_threads(g, count, g->slot_bytes / 4); /* moving a brick takes as long as sweeping its cells */
    uint32_t number = 0;

    for (int f = 0; f < g->field_count; f++) {
        const size_t row = g->field[f].size, even = row / (size_t)threads;
        const size_t most = even < COLUMN ? COLUMN : (even + COLUMN - 1) / COLUMN * COLUMN;

        for (size_t at = 0; at < row && !g->field[f].transient; at += most)
            columns[number++] =
                (struct column){(char *)*g->field[f].data + at, row, row - at < most ? row - at : most};
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (uint32_t k = 0; k < number; k++)
        move_column(columns[k].data, columns[k].row, columns[k].bytes, moves, count);
}

/* Sets the lists for a heap whose slots 1 .. count have the sorted bricks, and the null brick's rows to 0. */
static void rebuild_lists(grid *g, uint32_t count)
{
    for (int f = 0; f < g->field_count; f++)
        memset(*g->field[f].data, 0, g->field[f].size);
    g->count = g->sorted = count;
    g->free_count = g->capacity - 1 - count;
#pragma omp parallel num_threads(grid_threads(g, count, GRID_WORDS))
    {
#pragma omp for schedule(static) nowait
        for (uint32_t k = 0; k < count; k++)
            g->used[k] = k + 1;
#pragma omp for schedule(static) nowait
        for (uint32_t k = 0; k < g->free_count; k++)
            g->free[k] = g->capacity - 1 - k;
    }
}

void *grid_reserve_scratch(grid *g, size_t size)
{
    if (size > g->scratch_size) {
        void *scratch = pages_resize(g->scratch, g->scratch_size, size);

        if (!scratch)
            return NULL;
        g->scratch = scratch;
        g->scratch_size = size;
    }
    grid_note_peak(g, 0);
    return g->scratch;
}

int grid_compact(grid *g, const unsigned char *keep, gbees_error *error)
{
    if (!g->count)
        return 0;
    const size_t most = (size_t)g->count + g->count / 2 + 1; /* moves: a cycle of two takes three */
    move *moves = grid_reserve_scratch(g, most * sizeof *moves + g->capacity * sizeof(uint32_t));
    if (!moves)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", g->count);
    /* The Free List is rebuilt below: its array holds the new order meanwhile. */
    uint32_t *order = g->free, *new_slot = (uint32_t *)(moves + most);
    uint32_t count = order_slots(g, keep, order, (uint32_t *)moves); /* three words a brick and more */
    renumber_neighbors(g, order, count, new_slot);
    const uint32_t made = make_moves(order, count, new_slot, moves);
    if (made)
        move_rows(g, moves, made);
    rebuild_lists(g, count);
    return grid_rehash(g, g->count + g->count / 4, error);
}
