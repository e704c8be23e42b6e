/* kernel_pencil.h - follows pencils along an axis.
 *
 * A pencil is a row of bricks from one without a lower neighbour up to one without an upper neighbour.  Followed one
 * after the other, each link would be waited for, and the end of each be a surprise to the processor; so a block of
 * pencils is followed together, link by link, and without a branch.
 */

enum {
    PENCIL_BLOCK = 256, /* pencils that are followed together */
    PENCIL_ROOM = 16,   /* bricks of a pencil that are found so */
    LINKS_A_LINE = 16,  /* of memory */
    ROWS_AHEAD = 12     /* how many bricks ahead a brick's row is asked for: memory takes as long as some bricks do */
};

typedef struct pencil_list {
    uint32_t count;
    uint32_t bricks[PENCIL_BLOCK];     /* at most PENCIL_ROOM */
    uint32_t steady[PENCIL_BLOCK + 1]; /* what holds for all these bricks, as kernel_context has it */
    uint32_t slot[PENCIL_BLOCK + 1][PENCIL_ROOM];
    uint32_t row_count; /* all these bricks, in the order of the sweep */
    uint32_t row[(PENCIL_BLOCK + 1) * PENCIL_ROOM];
} pencil_list;

/* The first PENCIL_ROOM bricks of the pencils that start at these, at most PENCIL_BLOCK of them. */
INLINE void find_pencils(const kernel_context *c, int axis, const uint32_t *first, uint32_t count, pencil_list *list)
{
    const uint32_t *above = c->g->neighbor[2 * axis + 1];
    uint32_t growing[PENCIL_BLOCK];

    list->count = count;
    for (uint32_t i = 0; i < count; i++) {
        list->slot[i][0] = first[i];
        list->steady[i] = ~(uint32_t)0;
        list->bricks[i] = 1;
        growing[i] = i;
    }
    for (uint32_t b = 1, left = 0; count && b < PENCIL_ROOM; b++, count = left, left = 0)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t pencil = growing[i], last = list->slot[pencil][b - 1], slot = above[last];

            __builtin_prefetch(above + slot); /* for the next round */
            __builtin_prefetch(c->steady + slot);
            list->slot[pencil][b] = slot;
            list->steady[pencil] &= c->steady[last];
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

/* Room for so many bricks of a pencil; those that are there stay.  1 if memory ran out. */
INLINE int reserve_bricks(kernel_pencil *pencil, uint32_t most)
{
    if (pencil->capacity < most) {
        uint32_t *room = realloc(pencil->room, most * sizeof *room);

        if (!room)
            return 1;
        pencil->room = room;
        pencil->capacity = most;
    }
    pencil->slots = pencil->room;
    return 0;
}

/* Pencil i of a list, as far as it is there, with room for so many bricks more.  1 if memory ran out. */
INLINE int open_pencil(const kernel_context *c, int axis, const pencil_list *list, uint32_t i, uint32_t more,
                       kernel_pencil *pencil)
{
    const uint32_t bricks = list->bricks[i], last = list->slot[i][bricks - 1];

    pencil->slots = list->slot[i];
    pencil->bricks = bricks;
    pencil->steady = list->steady[i];
    pencil->next = 0;
    if (bricks < PENCIL_ROOM)
        return 0;
    pencil->steady &= c->steady[last];
    pencil->next = c->g->neighbor[2 * axis + 1][last];
    if (!pencil->next)
        return 0;
    if (reserve_bricks(pencil, PENCIL_ROOM + more))
        return 1;
    memcpy(pencil->room, list->slot[i], sizeof list->slot[i]);
    return 0;
}

/* One brick further; there is one, and room for it. */
INLINE void follow_pencil(const kernel_context *c, int axis, kernel_pencil *pencil)
{
    const uint32_t *above = c->g->neighbor[2 * axis + 1], slot = pencil->next;

    __builtin_prefetch(above + slot + LINKS_A_LINE); /* the next pencils have theirs there, mostly */
    pencil->room[pencil->bricks++] = slot;
    pencil->steady &= c->steady[slot];
    pencil->next = above[slot];
}

/* To its end.  1 if memory ran out. */
INLINE int finish_pencil(const kernel_context *c, int axis, kernel_pencil *pencil)
{
    while (pencil->next) {
        if (pencil->bricks == pencil->capacity && reserve_bricks(pencil, 2 * pencil->capacity))
            return 1;
        follow_pencil(c, axis, pencil);
    }
    return 0;
}

/* A pencil, and which rows are asked for meanwhile: many at once would wait for each other.  Where pencils are short
 * it is those some bricks ahead, one for each brick that is read.  A long one is read in one go, and by then all of
 * its rows are to be there: while a long one is written the next one is followed, and its rows are asked for. */
typedef struct pencil_rows {
    kernel_pencil *own, *next;
    const uint32_t *to_come;
    int before;   /* so many of to_come[] are asked for while the pencil is read */
    int long_one; /* 1: what is read further on while it is written, */
    int after;    /* and if this is 1 the next one's, too */
} pencil_rows;

/* From pencil i - 1 of a list to pencil i.  at: of what is ROWS_AHEAD in row[].  1 if memory ran out. */
INLINE int next_pencil(const kernel_context *c, int axis, const pencil_list *list, uint32_t i, uint32_t at,
                       kernel_pencil pencils[2], pencil_rows *rows)
{
    kernel_pencil *own = &pencils[i % 2], *next = &pencils[(i + 1) % 2];
    const int asked = rows->after;

    if ((i == 0 && open_pencil(c, axis, list, 0, 0, own)) || finish_pencil(c, axis, own))
        return 1;
    *rows = (pencil_rows){own, next, list->row + at, (int)list->row_count - (int)at, 0, 0};
    if (own->bricks > PENCIL_ROOM) { /* most of its rows are not on the list */
        rows->to_come = own->slots + ROWS_AHEAD;
        rows->before = asked ? 0 : (int)own->bricks - ROWS_AHEAD;
        rows->long_one = 1;
        rows->after = i + 1 < list->count;
    }
    return i + 1 < list->count && open_pencil(c, axis, list, i + 1, own->bricks, next);
}

/* What holds for bricks [from, to) of a pencil and for those beside them, as kernel_context's `steady` has it. */
INLINE uint32_t steady_between(const kernel_context *c, const kernel_pencil *pencil, int from, int to)
{
    const int bricks = (int)pencil->bricks, last = to < bricks ? to : bricks - 1;
    uint32_t steady = ~(uint32_t)0;

    for (int b = from ? from - 1 : 0; b <= last; b++)
        steady &= c->steady[pencil->slots[b]];
    return steady;
}

/* The way of the flow through all faces of bricks [from, to) of a pencil: up (1), down (-1), or none that is known
 * (0). */
INLINE int pencil_way(const kernel_context *c, int axis, const kernel_pencil *pencil, int from, int to)
{
    uint32_t steady = pencil->steady >> axis;

    if (c->moving)
        return 0;
    if (to - from < (int)pencil->bricks && !(steady & 0x101))
        steady = steady_between(c, pencil, from, to) >> axis;
    return (int)(steady & 1) - (int)(steady >> 8 & 1);
}

/* Whether a cell of these bricks, or of those beside them, flows out on both sides.  Mostly none does anywhere along
 * the axis, and the bricks' own bits needn't be waited for. */
INLINE int pencil_diverges(const kernel_context *c, int axis, const kernel_pencil *pencil, int from, int to)
{
    const int bricks = (int)pencil->bricks, last = to < bricks ? to : bricks - 1;
    int found = c->moving;

    if (c->diverging_axes >> axis & 1)
        for (int b = from ? from - 1 : 0; b <= last; b++)
            found |= c->diverging[pencil->slots[b]] >> axis & 1;
    return found;
}
