/* collect.c - collects the rows of the bricks of all ranks on rank 0, for a checkpoint; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* Copies the rows of own bricks, of `row` bytes each, in the order of the Used List. */
static void pack_own(const gbees_engine *e, const char *rows, size_t row, char *to)
{
    for (uint32_t k = 0; k < e->g.count; k++) {
        const uint32_t slot = e->g.used[k];

        if (e->rows.ghost[slot])
            continue;
        memcpy(to, rows + slot * row, row);
        to += row;
    }
}

/* All ranks: returns the numbers of bricks of all ranks, [ranks], which the caller frees; NULL on all if one has no
 * memory. */
static uint64_t *count_own(gbees_engine *e)
{
    const gbees_parallel *p = e->ranks->parallel;
    uint64_t own = 0, *each = malloc((size_t)p->ranks * sizeof *each);

    for (uint32_t k = 0; k < e->g.count; k++)
        own += !e->rows.ghost[e->g.used[k]];
    if (ranks_any(e->ranks, !each)) {
        free(each);
        return NULL;
    }
    p->gather(p->context, &own, sizeof own, each);
    return each;
}

const void *ranks_collect(gbees_engine *e, const void *rows, size_t row, void **owned)
{
    if (!e->ranks)
        return (const char *)rows + row;
    const gbees_parallel *p = e->ranks->parallel;
    uint64_t *each = count_own(e), all = 0;

    for (int r = 0; each && r < p->ranks; r++)
        all += each[r];
    char *to = each ? malloc((size_t)(p->rank == 0 ? all : each[p->rank]) * row + 1) : NULL;
    if (!each || ranks_any(e->ranks, !to)) {
        free(each);
        free(to);
        return NULL;
    }
    pack_own(e, rows, row, to);
    if (p->rank > 0) {
        ranks_exchange(e->ranks, &(gbees_message){0, (size_t)each[p->rank] * row, to}, 1, NULL, 0);
    } else {
        char *at = to + (size_t)each[0] * row;

        for (int r = 1; r < p->ranks; r++) {
            e->ranks->in[r - 1] = (gbees_message){r, (size_t)each[r] * row, at};
            at += (size_t)each[r] * row;
        }
        ranks_exchange(e->ranks, NULL, 0, e->ranks->in, p->ranks - 1);
    }
    free(each);
    *owned = to;
    return to;
}

grid_state ranks_grid_state(gbees_engine *e)
{
    int64_t count = 0;
    uint64_t table = 2;

    if (!e->ranks)
        return grid_get_state(&e->g);
    for (uint32_t k = 0; k < e->g.count; k++)
        count += !e->rows.ghost[e->g.used[k]];
    ranks_sum(e->ranks, &count, 1);
    if (count >= UINT32_MAX) /* too many for one process */
        return (grid_state){0};
    while (table < 2 * (uint64_t)count + 2)
        table *= 2;
    return (grid_state){.table_size = table, .capacity = (uint32_t)count + 1, .count = (uint32_t)count};
}
