/* pencil.h - finds the bricks of pencils along an axis, and decides which rows of bricks are prefetched.
 *
 * A pencil is a row of bricks from one without a lower neighbour up to one without an upper neighbour, or all bricks
 * around a circle.  If pencils
 * were followed one after the other, each link would be waited for, and the end of each pencil mispredicted.  So a
 * block of pencils is followed together, link by link, without a branch.
 */
#ifndef GBEES_CPU_PENCIL_H
#define GBEES_CPU_PENCIL_H

#include "kernel.h"
#include "target.h"
#include <stdlib.h>
#include <string.h>

enum {
    PENCIL_BLOCK = 256, /* pencils that are followed together */
    PENCIL_BRICKS = 16, /* bricks of each that are, at most; the others are followed one by one */
    LINKS_A_LINE = 16,  /* links in a cache line */
    ROWS_AHEAD = 12 /* bricks from the one that is read to the one that is prefetched: for the latency of memory */
};

/* The first bricks of the pencils of a block. */
typedef struct pencil_list {
    uint32_t count;
    uint32_t bricks[PENCIL_BLOCK]; /* at most PENCIL_BRICKS */
    uint32_t
        one_signed[PENCIL_BLOCK + 1]; /* kernel_flow.one_signed of all these bricks, but the last of PENCIL_BRICKS */
    uint32_t slot[PENCIL_BLOCK + 1][PENCIL_BRICKS];
    uint32_t row_count;
    uint32_t row[(PENCIL_BLOCK + 1) * PENCIL_BRICKS]; /* all these bricks, in the order of the sweep */
} pencil_list;

/* Whether pencils along an axis may be rings. */
INLINE int goes_around(const kernel_context *c, int axis)
{
    return c->g->shape.end[2 * axis] == GBEES_AT_OTHER_END;
}

/* The brick above the last one of a pencil, whose first one is *first; 0: none, or the pencil is a ring, which only
 * one that `around` is set for can be. */
INLINE uint32_t brick_above(const uint32_t *above, uint32_t last, int around, const uint32_t *first)
{
    return around && above[last] == *first ? 0 : above[last];
}

/* Lists the pencils with first bricks first[count], at most PENCIL_BLOCK of them. */
INLINE void find_pencils(const kernel_context *c, int axis, const uint32_t *first, uint32_t count, pencil_list *list)
{
    const uint32_t *above = c->g->neighbor[2 * axis + 1];
    const int around = goes_around(c, axis);
    uint32_t growing[PENCIL_BLOCK];

    list->count = count;
    for (uint32_t i = 0; i < count; i++) {
        list->slot[i][0] = first[i];
        list->one_signed[i] = ~(uint32_t)0;
        list->bricks[i] = 1;
        growing[i] = i;
    }
    for (uint32_t b = 1, left = 0; count && b < PENCIL_BRICKS; b++, count = left, left = 0)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t pencil = growing[i], last = list->slot[pencil][b - 1];
            uint32_t slot = brick_above(above, last, around, list->slot[pencil]);

            __builtin_prefetch(above + slot); /* for the next b */
            __builtin_prefetch(c->flow.one_signed + slot);
            list->slot[pencil][b] = slot;
            list->one_signed[pencil] &= c->flow.one_signed[last];
            list->bricks[pencil] += slot != 0;
            growing[left] = pencil;
            left += slot != 0;
        }
    list->row_count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        memcpy(list->row + list->row_count, list->slot[i], sizeof list->slot[i]);
        list->row_count += list->bricks[i];
    }
}

/* Makes a pencil's storage large enough for `most` bricks; its bricks stay.  Returns 1 if there is no memory. */
INLINE int reserve_bricks(kernel_pencil *pencil, uint32_t most)
{
    if (pencil->capacity < most) {
        uint32_t *storage = realloc(pencil->storage, most * sizeof *storage);

        if (!storage)
            return 1;
        pencil->storage = storage;
        pencil->capacity = most;
    }
    pencil->slots = pencil->storage;
    return 0;
}

/* Sets `pencil` to the listed bricks of pencil i; if that has others, with storage for `more` of them.  Returns 1 if
 * there is no memory. */
INLINE int open_pencil(const kernel_context *c, int axis, const pencil_list *list, uint32_t i, uint32_t more,
                       kernel_pencil *pencil)
{
    const uint32_t bricks = list->bricks[i], last = list->slot[i][bricks - 1];

    pencil->slots = list->slot[i];
    pencil->bricks = bricks;
    pencil->one_signed = list->one_signed[i];
    pencil->next = 0;
    if (bricks < PENCIL_BRICKS)
        return 0;
    pencil->one_signed &= c->flow.one_signed[last];
    pencil->next = brick_above(c->g->neighbor[2 * axis + 1], last, goes_around(c, axis), list->slot[i]);
    if (!pencil->next)
        return 0;
    if (reserve_bricks(pencil, PENCIL_BRICKS + more))
        return 1;
    memcpy(pencil->storage, list->slot[i], sizeof list->slot[i]);
    return 0;
}

/* Adds the next brick to a pencil, which has one, and storage for it. */
INLINE void follow_pencil(const kernel_context *c, int axis, kernel_pencil *pencil)
{
    const uint32_t *above = c->g->neighbor[2 * axis + 1], slot = pencil->next;

    __builtin_prefetch(above + slot + LINKS_A_LINE); /* most often the links of the next pencils */
    pencil->storage[pencil->bricks++] = slot;
    pencil->one_signed &= c->flow.one_signed[slot];
    pencil->next = brick_above(above, slot, goes_around(c, axis), pencil->storage);
}

/* Adds all other bricks to a pencil.  Returns 1 if there is no memory. */
INLINE int finish_pencil(const kernel_context *c, int axis, kernel_pencil *pencil)
{
    while (pencil->next) {
        if (pencil->bricks == pencil->capacity && reserve_bricks(pencil, 2 * pencil->capacity))
            return 1;
        follow_pencil(c, axis, pencil);
    }
    return 0;
}

/* A pencil, and which rows are prefetched while it is swept: a few at a time, as many at once would wait for each
 * other.  If pencils are short, the row ROWS_AHEAD bricks ahead is prefetched for each brick that is read.  A long
 * pencil is read at once, when all of its rows should be in the cache: so while a long pencil is written, the next
 * one is followed, and its rows are prefetched. */
typedef struct pencil_rows {
    kernel_pencil *own, *next;
    const uint32_t *ahead;
    int ahead_count;   /* rows of ahead[] that are prefetched while the pencil is read */
    int long_one;      /* 1: while it is written, rows that are read later are prefetched */
    int prefetch_next; /* 1: those of the next pencil, too */
} pencil_rows;

/* Goes on from pencil i - 1 of a list to pencil i, and sets *rows.  at: the place in list->row of the brick
 * ROWS_AHEAD after the pencil's first one.  Returns 1 if there is no memory. */
INLINE int next_pencil(const kernel_context *c, int axis, const pencil_list *list, uint32_t i, uint32_t at,
                       kernel_pencil pencils[2], pencil_rows *rows)
{
    kernel_pencil *own = &pencils[i % 2], *next = &pencils[(i + 1) % 2];
    const int prefetched = rows->prefetch_next;

    if ((i == 0 && open_pencil(c, axis, list, 0, 0, own)) || finish_pencil(c, axis, own))
        return 1;
    *rows = (pencil_rows){own, next, list->row + at, (int)list->row_count - (int)at, 0, 0};
    if (own->bricks > PENCIL_BRICKS) { /* most of its rows are not on the list */
        rows->ahead = own->slots + ROWS_AHEAD;
        rows->ahead_count = prefetched ? 0 : (int)own->bricks - ROWS_AHEAD;
        rows->long_one = 1;
        rows->prefetch_next = i + 1 < list->count;
    }
    return i + 1 < list->count && open_pencil(c, axis, list, i + 1, own->bricks, next);
}

/* kernel_flow.one_signed of bricks from .. to - 1 of a pencil and of the two beside them, ANDed. */
INLINE uint32_t one_signed_between(const kernel_context *c, const kernel_pencil *pencil, int from, int to)
{
    const int bricks = (int)pencil->bricks, last = to < bricks ? to : bricks - 1;
    uint32_t one_signed = ~(uint32_t)0;

    for (int b = from ? from - 1 : 0; b <= last; b++)
        one_signed &= c->flow.one_signed[pencil->slots[b]];
    return one_signed;
}

/* The direction of the flow through all faces of bricks from .. to - 1 of a pencil: 1 up, -1 down, 0 neither or not
 * known. */
INLINE int pencil_direction(const kernel_context *c, int axis, const kernel_pencil *pencil, int from, int to)
{
    uint32_t one_signed = pencil->one_signed >> axis;

    if (c->drift.time_dependent || c->frame.moves)
        return 0;
    if (to - from < (int)pencil->bricks && !(one_signed & 0x101))
        one_signed = one_signed_between(c, pencil, from, to) >> axis;
    return (int)(one_signed & 1) - (int)(one_signed >> 8 & 1);
}

/* Whether a cell of these bricks, or of the two beside them, may flow out on both sides.  The bricks' bits are read
 * only if a brick of the grid is diverging along the axis, which is rare. */
INLINE int pencil_diverges(const kernel_context *c, int axis, const kernel_pencil *pencil, int from, int to)
{
    const int bricks = (int)pencil->bricks, last = to < bricks ? to : bricks - 1;
    int found = c->drift.time_dependent;

    if (c->flow.diverging_axes >> axis & 1)
        for (int b = from ? from - 1 : 0; b <= last; b++)
            found |= c->flow.diverging[pencil->slots[b]] >> axis & 1;
    return found;
}

#endif
