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

const void *ranks_collect(gbees_engine *e, const void *rows, size_t row, void **owned)
{
    engine_ranks *ranks = e->ranks;

    if (!ranks)
        return (const char *)rows + row;
    const int own = ranks->parallel->rank, all = ranks->parallel->ranks;
    uint64_t *sent = calloc(2 * (size_t)all, sizeof *sent);
    if (!sent)
        ranks_abort(ranks, "out of memory for a checkpoint");
    uint64_t *each = sent + all;
    sent[0] = ranks->own;
    const uint64_t count = ranks_count_moves(ranks, sent, each);
    char *to = *owned = malloc((size_t)(own ? ranks->own : count) * row + 1), *at = to;
    const int failed = ranks_any(ranks, !to);
    if (!failed) {
        pack_own(e, rows, row, to);
        for (int r = 0; r < all; at += each[r++] * row)
            ranks->in[r] = (gbees_message){r, r ? (size_t)each[r] * row : 0, at};
        ranks_exchange(ranks, &(gbees_message){0, own ? (size_t)ranks->own * row : 0, to}, 1, ranks->in, all);
    }
    free(sent);
    return failed ? NULL : to;
}

grid_state ranks_grid_state(gbees_engine *e)
{
    const uint64_t count = e->ranks ? e->ranks->bricks : 0;
    uint64_t table = 2;

    if (!e->ranks)
        return grid_get_state(&e->g);
    if (count >= UINT32_MAX) /* too many for one process */
        return (grid_state){0};
    while (table < 2 * count + 2)
        table *= 2;
    return (grid_state){.table_size = table, .capacity = (uint32_t)count + 1, .count = (uint32_t)count};
}
