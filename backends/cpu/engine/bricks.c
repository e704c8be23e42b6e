/* bricks.c - inserts and clears a brick. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

int engine_far_axis(const gbees_engine *e, const int32_t *key)
{
    for (int j = 0; j < e->g.shape.n; j++)
        if (abs(key[j]) >= GRID_KEY_LIMIT)
            return j;
    return -1;
}

int engine_insert_brick(gbees_engine *e, const int32_t *key, uint64_t hash, uint64_t inside, gbees_error *error)
{
    const int axis = engine_far_axis(e, key);
    int status = axis < 0 ? 0 : failure_far(e->problem, axis, GRID_KEY_LIMIT, error);

    if (!status)
        status = grid_reserve(&e->g, 1, error);
    if (status)
        return status;
    const uint32_t slot = grid_add(&e->g, key, hash);
    engine_set_inside(e, slot, inside);
    if (e->rows.ghost)
        e->rows.ghost[slot] = 0;
    return 0;
}

void engine_clear_brick(gbees_engine *e, uint32_t slot)
{
    size_t cells = (size_t)e->cells, at = slot * cells * e->method.real_size;

    memset((char *)e->rows.p + at, 0, cells * e->method.real_size);
    if (e->rows.s)
        memset((char *)e->rows.s + at, 0, cells * e->method.real_size);
    e->rows.active[slot] = e->rows.needed[slot] = e->rows.expanded[slot] = 0;
}
