/* cells_permute.c - moves a record's cells into the buckets of one digit, in place. Several threads do it in rounds
 * (the algorithm PARADIS of Cho et al., VLDB 2015): what is left of each bucket is divided among them, each moves
 * entries among its own stripes, and what finds its bucket's stripe full is left for the next round. */
#include "base/workers.h"
#include "cells_private.h"

enum {
    BUCKETS = GBEES_CELLS_BUCKETS,
    AHEAD = 8,    /* entries of a bucket that are on their way to the cache */
    PARTS = 16,   /* of the entries, at most */
    ENTRY_NS = 20 /* time to move an entry, about */
};

/* Places of a bucket whose entries may be of other digits. */
typedef struct stripe {
    size_t next, end;
} stripe;

typedef struct permutation {
    gbees_cells_entry *entries;
    int shift;
    size_t parts;
    stripe *left; /* of each bucket */
    stripe of_part[PARTS][BUCKETS];
} permutation;

/* Each entry moves to the next free place of its bucket, until all are in theirs. */
static void permute(gbees_cells_entry *entries, int shift, stripe *left)
{
    for (unsigned b = 0; b < BUCKETS; b++) {
        while (left[b].next < left[b].end) {
            gbees_cells_entry moving = entries[left[b].next];
            unsigned to = gbees_cells_digit(&moving, shift);

            while (to != b) {
                gbees_cells_entry displaced = entries[left[to].next];

                __builtin_prefetch(&entries[left[to].next + AHEAD], 1);
                entries[left[to].next++] = moving;
                moving = displaced;
                to = gbees_cells_digit(&moving, shift);
            }
            entries[left[b].next++] = moving;
        }
    }
}

/* Moves entries among the stripes of a part to their buckets, as permute() does, as far as the stripes have places.
 * Afterwards what is left of a stripe has entries of other digits alone. */
static void permute_part(void *context, size_t part)
{
    permutation *p = context;
    gbees_cells_entry *const entries = p->entries;
    stripe *const left = p->of_part[part];

    for (unsigned b = 0; b < BUCKETS; b++) {
        for (size_t i = left[b].next; i < left[b].end; i++) {
            gbees_cells_entry moving = entries[i];
            unsigned to = gbees_cells_digit(&moving, p->shift);

            while (to != b && left[to].next < left[to].end) {
                gbees_cells_entry displaced = entries[left[to].next];

                __builtin_prefetch(&entries[left[to].next + AHEAD], 1);
                entries[left[to].next++] = moving;
                moving = displaced;
                to = gbees_cells_digit(&moving, p->shift);
            }
            entries[i] = moving;
            if (to == b) {
                entries[i] = entries[left[b].next];
                entries[left[b].next++] = moving;
            }
        }
    }
}

/* Divides what is left of each bucket among the parts. */
static void divide(permutation *p)
{
    for (int b = 0; b < BUCKETS; b++) {
        const size_t first = p->left[b].next, count = p->left[b].end - first;

        for (size_t k = 0; k < p->parts; k++)
            p->of_part[k][b] = (stripe){first + count * k / p->parts, first + count * (k + 1) / p->parts};
    }
}

/* Moves the entries of a bucket that belong into others, left over in its stripes, to its end. */
static void gather_bucket(void *context, size_t b)
{
    permutation *p = context;
    size_t tail = p->left[b].end;

    for (size_t k = 0; k < p->parts; k++) {
        const stripe *other = &p->of_part[k][b];

        for (size_t i = other->next; i < other->end && i < tail; i++) {
            const gbees_cells_entry moving = p->entries[i];

            do
                tail--;
            while (tail > i && gbees_cells_digit(&p->entries[tail], p->shift) != b);
            p->entries[i] = p->entries[tail];
            p->entries[tail] = moving;
        }
    }
    p->left[b].next = tail;
}

static size_t count_left(const permutation *p)
{
    size_t count = 0;

    for (int b = 0; b < BUCKETS; b++)
        count += p->left[b].end - p->left[b].next;
    return count;
}

/* Rounds, as long as they are worth several threads and each leaves less than half of what was left. */
static void permute_in_rounds(gbees_cells_entry *entries, int shift, stripe *left, int threads)
{
    permutation p = {.entries = entries, .shift = shift, .left = left};
    size_t before = SIZE_MAX;

    for (size_t count = count_left(&p); count < before / 2; count = count_left(&p)) {
        const int worth = gbees_workers_worth(threads, (double)count * ENTRY_NS);

        if (worth == 1)
            return;
        before = count;
        p.parts = worth < PARTS ? (size_t)worth : PARTS;
        divide(&p);
        gbees_workers_run(worth, p.parts, permute_part, &p);
        gbees_workers_run(worth, BUCKETS, gather_bucket, &p);
    }
}

void gbees_cells_permute(gbees_cells_entry *entries, int shift, const size_t *number, size_t *end, int threads)
{
    stripe left[BUCKETS];
    size_t start = 0;

    for (int b = 0; b < BUCKETS; b++) {
        left[b].next = start;
        start += number[b];
        left[b].end = end[b] = start;
    }
    if (threads > 1)
        permute_in_rounds(entries, shift, left, threads);
    permute(entries, shift, left);
}
