/* kernel_pencil.h - finds the pencils of a range of bricks along an axis.
 *
 * A pencil is a row of bricks from one without a lower neighbour up to one without an upper neighbour.  Followed one
 * after the other, each link would be waited for, and the end of each be a surprise to the processor; so all pencils
 * that start in a block of bricks are followed together, link by link, and without a branch.
 */

enum {
    PENCIL_BLOCK = 256, /* bricks whose pencils are found together */
    PENCIL_ROOM = 16,   /* bricks of a pencil that are found so */
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

/* The first PENCIL_ROOM bricks of the pencils that start at used bricks [from, to), at most PENCIL_BLOCK of them. */
INLINE void find_pencils(const kernel_context *c, int axis, uint32_t from, uint32_t to, pencil_list *list)
{
    const grid *g = c->g;
    const uint32_t *below = g->neighbor[2 * axis], *above = g->neighbor[2 * axis + 1];
    uint32_t growing[PENCIL_BLOCK], count = 0;

    for (uint32_t k = from; k < to; k++) {
        uint32_t slot = g->used[k];

        list->slot[count][0] = slot;
        list->steady[count] = ~(uint32_t)0;
        count += below[slot] == 0;
    }
    list->count = count;
    for (uint32_t i = 0; i < count; i++) {
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

/* All bricks of pencil i of a list: those of the list, or, if it is longer, in `whole`.  NULL if memory ran out. */
INLINE const uint32_t *pencil_slots(const grid *g, int axis, const pencil_list *list, uint32_t i,
                                    kernel_pencil *whole)
{
    const uint32_t *above = g->neighbor[2 * axis + 1];
    uint32_t count = list->bricks[i];

    whole->bricks = count;
    if (count < PENCIL_ROOM || !above[list->slot[i][count - 1]])
        return list->slot[i];
    count = 0;
    for (uint32_t slot = list->slot[i][0]; slot; slot = above[slot]) {
        if (count == whole->capacity) {
            uint32_t capacity = 2 * whole->capacity + 64, *slots = realloc(whole->slots, capacity * sizeof *slots);

            if (!slots)
                return NULL;
            whole->slots = slots;
            whole->capacity = capacity;
        }
        whole->slots[count++] = slot;
    }
    whole->bricks = count;
    return whole->slots;
}

/* The way of the flow through all faces of pencil i of a list: up (1), down (-1), or none that is known (0). */
INLINE int pencil_way(const kernel_context *c, int axis, const pencil_list *list, uint32_t i)
{
    const uint32_t steady = list->steady[i] >> axis;

    return c->moving || list->bricks[i] == PENCIL_ROOM ? 0 : (int)(steady & 1) - (int)(steady >> 8 & 1);
}

/* Whether a cell of these bricks flows out on both sides.  Mostly none does anywhere along the axis, and the bricks'
 * own bits needn't be waited for. */
INLINE int pencil_diverges(const kernel_context *c, int axis, const uint32_t *slots, uint32_t bricks)
{
    int found = c->moving;

    if (c->diverging_axes >> axis & 1)
        for (uint32_t b = 0; b < bricks; b++)
            found |= c->diverging[slots[b]] >> axis & 1;
    return found;
}
