/* locate.c - reads the key of a slot from the GPU, from which the multi-index follows. */
#include "locate.h"
#include "engine.h"

int engine_locate_brick(const gbees_engine *e, size_t slot, int32_t *key, gbees_error *error)
{
    const size_t bytes = (size_t)e->setup.shape.n * sizeof *key;

    return device_fetch(&e->memory, key, e->key.at + slot * bytes, bytes, "fetching a cell", error);
}

int engine_locate_cell(const gbees_engine *e, size_t slot, int cell, int32_t *index, gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    int status = engine_locate_brick(e, slot, index, error);

    for (int j = 0; j < shape->n && !status; j++)
        index[j] = index[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
    return status;
}
