/* cells_private.h - what a gbees_cells is: for cells*.c and slabs.c. */
#ifndef GBEES_RECORD_CELLS_PRIVATE_H
#define GBEES_RECORD_CELLS_PRIVATE_H

#include "cells.h"
#include <stdlib.h>

typedef struct gbees_cells_entry {
    uint64_t high, low; /* the packed index, axis 0 in the most significant bits */
    double p;
} gbees_cells_entry;

/* How indices are packed: index = offset + (key >> shift & mask). */
typedef struct gbees_cells_layout {
    int64_t offset[GBEES_MAX_DIM];
    uint64_t mask[GBEES_MAX_DIM];
    int shift[GBEES_MAX_DIM];
    int bits; /* of all axes */
} gbees_cells_layout;

typedef struct gbees_slabs gbees_slabs; /* slabs.h */

struct gbees_cells {
    int dimension, threads; /* that pack cells, at most; 0: one */
    gbees_cells_layout layout;
    size_t count, capacity;
    gbees_cells_entry *entries;
    int32_t first[GBEES_MAX_DIM], last[GBEES_MAX_DIM];
    gbees_error failure; /* of gbees_cells_add */
    gbees_slabs *slabs;  /* that have the entries; NULL: `entries` are all cells */
};

enum { GBEES_CELLS_BLOCK = 256 /* keys that are packed at a time */ };

/* The keys of a block. */
typedef struct gbees_cells_keys {
    uint64_t high[GBEES_CELLS_BLOCK], low[GBEES_CELLS_BLOCK];
} gbees_cells_keys;

/* Gives the next axis, the last first, so many bits. */
static inline void gbees_cells_set_axis(gbees_cells_layout *as, int axis, int bits, int64_t offset)
{
    as->offset[axis] = offset;
    as->mask[axis] = (UINT64_C(1) << bits) - 1;
    as->shift[axis] = bits ? as->bits : 0;
    as->bits += bits;
}

/* Adds a place along an axis to each key of a block. */
static inline void gbees_cells_put_axis(gbees_cells_keys *to, const uint64_t *place, size_t count, int shift)
{
    if (shift >= 64) {
        for (size_t i = 0; i < count; i++)
            to->high[i] |= place[i] << (shift - 64);
        return;
    }
    for (size_t i = 0; i < count; i++)
        to->low[i] |= place[i] << shift;
    for (size_t i = 0; i < count && shift > 0; i++)
        to->high[i] |= place[i] >> (64 - shift);
}

/* The keys of a block of entries. */
static inline void gbees_cells_take_keys(const gbees_cells_entry *e, size_t count, gbees_cells_keys *to)
{
    for (size_t i = 0; i < count; i++) {
        to->high[i] = e[i].high;
        to->low[i] = e[i].low;
    }
}

/* The places of a block of keys along an axis. */
static inline void gbees_cells_take_axis(const gbees_cells_keys *from, size_t count, int shift, uint64_t mask,
                                         uint64_t *place)
{
    if (shift >= 64)
        for (size_t i = 0; i < count; i++)
            place[i] = from->high[i] >> (shift - 64) & mask;
    else if (shift == 0)
        for (size_t i = 0; i < count; i++)
            place[i] = from->low[i] & mask;
    else
        for (size_t i = 0; i < count; i++)
            place[i] = (from->low[i] >> shift | from->high[i] << (64 - shift)) & mask;
}

/* The place of an entry along an axis. */
static inline uint64_t gbees_cells_place(const gbees_cells_entry *e, int shift, uint64_t mask)
{
    const uint64_t bits = shift >= 64  ? e->high >> (shift - 64)
                          : shift == 0 ? e->low
                                       : e->low >> shift | e->high << (64 - shift);

    return bits & mask;
}

/* Finds the range of the indices of cells first ... end - 1 along an axis. */
static inline void gbees_cells_find_range(const int32_t *index, size_t first, size_t end, int32_t *lowest,
                                          int32_t *highest)
{
    int32_t low = index[first], high = low;

    for (size_t i = first; i < end; i++) {
        low = index[i] < low ? index[i] : low;
        high = index[i] > high ? index[i] : high;
    }
    *lowest = low;
    *highest = high;
}

/* The index of entry i along an axis. */
static inline int32_t gbees_cells_index(const gbees_cells *cells, size_t i, int axis)
{
    const gbees_cells_layout *as = &cells->layout;

    return (int32_t)(as->offset[axis] +
                     (int64_t)gbees_cells_place(&cells->entries[i], as->shift[axis], as->mask[axis]));
}

/* Frees cells that are in no slabs. */
static inline void gbees_cells_free(gbees_cells *cells)
{
    if (cells)
        free(cells->entries);
    free(cells);
}

static inline int gbees_cells_is_less(const gbees_cells_entry *a, const gbees_cells_entry *b)
{
    return a->high != b->high ? a->high < b->high : a->low < b->low;
}

/* A digit of an entry, by which the sort puts it into a bucket. */
enum { GBEES_CELLS_DIGIT = 8 /* bits */, GBEES_CELLS_BUCKETS = 1 << GBEES_CELLS_DIGIT };

/* The digit that begins at bit `shift`. */
static inline unsigned gbees_cells_digit(const gbees_cells_entry *e, int shift)
{
    return (unsigned)gbees_cells_place(e, shift, GBEES_CELLS_BUCKETS - 1);
}

/* Sorts entries in place by one digit, on up to so many threads; those of one digit stay in no order. number[b] of
 * them have digit b; end[b] is set to where they end. */
void gbees_cells_permute(gbees_cells_entry *entries, int shift, const size_t *number, size_t *end, int threads);

/* Packs at least one cell as tight as their range allows, and sorts them by index; cells_sort.c. */
void gbees_cells_sort(gbees_cells *cells, int threads);

#endif
