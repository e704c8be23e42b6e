/* moments.c - moments of bricks, with the sums around circles that kernels leave to the engine. */
#include "common/circular.h"
#include "engine.h"

enum { BRICK = 64 /* cells of a brick, at most */ };

/* Adds used bricks from .. to - 1 to the sums around a circle. */
static void add_turns(const gbees_engine *e, int axis, uint32_t from, uint32_t to, kernel_moments *part)
{
    const gbees_shape *shape = &e->g.shape;

    for (uint32_t k = from; k < to; k++) {
        const size_t slot = e->g.used[k];
        double along[BRICK] = {0};

        for (int cell = 0; cell < shape->cells; cell++)
            along[gbees_shape_local(shape, cell, axis)] += engine_p(e, slot * (size_t)e->cells + (size_t)cell);
        circular_add(e->problem, axis, grid_key(&e->g, (uint32_t)slot)[axis] * shape->edge[axis], shape->edge[axis],
                     along, part->turn[axis]);
    }
}

void engine_moments(const gbees_engine *e, uint32_t from, uint32_t to, kernel_moments *part)
{
    e->kernel->moments(&e->context, e->rows.p, from, to, part);
    for (int j = 0; j < e->g.shape.n; j++)
        if (gbees_problem_is_circle(e->problem, j))
            add_turns(e, j, from, to, part);
}
