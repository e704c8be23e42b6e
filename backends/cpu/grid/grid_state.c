/* grid_state.c - makes a grid as it was in another process: with the slots, lists and sizes on which results and the
 * peak of memory depend. */
#include "grid.h"
#include "grid_private.h"
#include <string.h>

grid_state grid_get_state(const grid *g)
{
    return (grid_state){.table_size = g->table_size,
                        .scratch_size = g->scratch_size,
                        .peak_bytes = g->peak_bytes,
                        .capacity = g->capacity,
                        .count = g->count,
                        .sorted = g->sorted};
}

int grid_set_state(grid *g, const grid_state *state, const int32_t *keys, gbees_error *error)
{
    int status = grid_grow(g, state->capacity, error);

    if (!status)
        status = grid_rehash(g, state->table_size / 2, error);
    if (!status && state->scratch_size && !grid_reserve_scratch(g, state->scratch_size))
        status = gbees_error_set(error, GBEES_ENOMEM, "out of memory for a grid of %u bricks", state->count);
    if (status)
        return status;
    for (uint32_t k = 0; k < state->count; k++) {
        const int32_t *key = keys + (size_t)k * (size_t)g->shape.n;

        (void)grid_add(g, key, grid_hash(g, key));
    }
    grid_link(g, 0);
    g->sorted = state->sorted;
    g->peak_bytes = state->peak_bytes > g->peak_bytes ? state->peak_bytes : g->peak_bytes;
    return 0;
}

size_t grid_field_size(const grid *g, void *const *data)
{
    for (int f = 0; f < g->field_count; f++)
        if (g->field[f].data == data)
            return g->field[f].size;
    return 0;
}
