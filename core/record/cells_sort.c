/* cells_sort.c - the order of a record's cells: most significant digit first, in place, for a second copy of a big
 * record is too much; on several threads. */
#include "base/workers.h"
#include "cells_private.h"
#include <string.h>

enum {
    SMALL = 40,
    DIGIT = GBEES_CELLS_DIGIT,
    BUCKETS = GBEES_CELLS_BUCKETS,
    PART = 1 << 16, /* entries that a thread packs at a time */
    ENTRY_NS = 50   /* time to sort an entry, about */
};

static void sort_small(gbees_cells_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        gbees_cells_entry moving = entries[i];
        size_t k = i;

        for (; k > 0 && gbees_cells_is_less(&moving, &entries[k - 1]); k--)
            entries[k] = entries[k - 1];
        entries[k] = moving;
    }
}

/* The digit behind the one that begins at bit `shift`: the last two overlap. -1: there is none. */
static int next_digit(int shift)
{
    return shift == 0 ? -1 : shift > DIGIT ? shift - DIGIT : 0;
}

/* Sorts by the digit that begins at bit `shift`, and those behind it. */
static void sort(gbees_cells_entry *entries, size_t count, int shift)
{
    size_t number[BUCKETS], end[BUCKETS];

    for (;; shift = next_digit(shift)) { /* from the most significant digit in which the entries differ */
        if (shift < 0)
            return;
        if (count <= SMALL) {
            sort_small(entries, count);
            return;
        }
        memset(number, 0, sizeof number);
        for (size_t i = 0; i < count; i++)
            number[gbees_cells_digit(&entries[i], shift)]++;
        if (number[gbees_cells_digit(&entries[0], shift)] < count)
            break;
    }
    gbees_cells_permute(entries, shift, number, end, 1);
    for (int b = 0; b < BUCKETS; b++)
        if (number[b] > 1)
            sort(entries + end[b] - number[b], number[b], next_digit(shift));
}

/* All entries, packed again and sorted by the first digit; the workers sort the buckets. */
typedef struct sorting {
    gbees_cells *cells;
    gbees_cells_layout tight;
    int shift; /* of the first digit */
    size_t number[BUCKETS], end[BUCKETS];
    size_t number_of_part[GBEES_WORKERS_PARTS][BUCKETS];
} sorting;

/* Packs part `item` of the cells again. */
static void repack_part(void *context, size_t item)
{
    const sorting *s = context;
    const gbees_cells_layout *from = &s->cells->layout, *as = &s->tight;
    const size_t last = (item + 1) * PART < s->cells->count ? (item + 1) * PART : s->cells->count;

    for (size_t first = item * PART; first < last; first += GBEES_CELLS_BLOCK) {
        gbees_cells_entry *const e = s->cells->entries + first;
        const size_t count = last - first < GBEES_CELLS_BLOCK ? last - first : GBEES_CELLS_BLOCK;
        gbees_cells_keys old, key = {{0}, {0}};
        uint64_t place[GBEES_CELLS_BLOCK];

        gbees_cells_take_keys(e, count, &old);
        for (int j = 0; j < s->cells->dimension; j++) {
            gbees_cells_take_axis(&old, count, from->shift[j], from->mask[j], place);
            for (size_t i = 0; i < count; i++)
                place[i] += (uint64_t)(from->offset[j] - as->offset[j]);
            gbees_cells_put_axis(&key, place, count, as->shift[j]);
        }
        for (size_t i = 0; i < count; i++)
            e[i] = (gbees_cells_entry){key.high[i], key.low[i], e[i].p};
    }
}

/* Packs as tight as the range of the cells allows, so that the sort has fewer digits. */
static void repack(sorting *s, int threads)
{
    const gbees_cells *cells = s->cells;

    for (int j = cells->dimension - 1; j >= 0; j--) {
        int bits = 0;

        while (((int64_t)cells->last[j] - cells->first[j]) >> bits)
            bits++;
        gbees_cells_set_axis(&s->tight, j, bits, cells->first[j]);
    }
    gbees_workers_run(threads, (cells->count + PART - 1) / PART, repack_part, s);
    s->cells->layout = s->tight;
}

static void sort_bucket(void *context, size_t b)
{
    const sorting *s = context;

    if (s->number[b] > 1)
        sort(s->cells->entries + s->end[b] - s->number[b], s->number[b], next_digit(s->shift));
}

/* Counts the entries of a part by their first digit. */
static void count_part(void *context, size_t part)
{
    sorting *s = context;
    size_t *number = s->number_of_part[part];
    const size_t last = gbees_workers_first(s->cells->count, part + 1);

    for (size_t i = gbees_workers_first(s->cells->count, part); i < last; i++)
        number[gbees_cells_digit(&s->cells->entries[i], s->shift)]++;
}

void gbees_cells_sort(gbees_cells *cells, int threads)
{
    sorting s = {.cells = cells};

    threads = gbees_workers_worth(threads, (double)cells->count * ENTRY_NS);
    repack(&s, threads);
    s.shift = cells->layout.bits > DIGIT ? cells->layout.bits - DIGIT : 0;
    gbees_workers_run(threads, GBEES_WORKERS_PARTS, count_part, &s);
    for (int part = 0; part < GBEES_WORKERS_PARTS; part++)
        for (int b = 0; b < BUCKETS; b++)
            s.number[b] += s.number_of_part[part][b];
    gbees_cells_permute(cells->entries, s.shift, s.number, s.end, threads);
    gbees_workers_run(threads, BUCKETS, sort_bucket, &s);
}
