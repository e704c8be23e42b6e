/* noise.h - the model's Q at the cells of a brick, and at their neighbours. */
#ifndef GBEES_CPU_NOISE_H
#define GBEES_CPU_NOISE_H

#include "kernel.h"
#include "numerics/diffusion.h"

/* A shift from cells to those one cell away along one axis, or along two axes; step: 1 up, -1 down. */
typedef struct noise_shift {
    int axis, step;
    int second, second_step; /* the other axis; -1: there is none */
} noise_shift;

/* Coordinates of a brick's cells, and of the cells one below and one above along each axis.  They are computed from
 * the cells' multi-indices alone, so that Q of a cell has the same bits for every brick that evaluates it. */
typedef struct noise_points {
    double x[3][GBEES_MAX_DIM][64]; /* [step + 1][axis][cell] */
} noise_points;

/* Sets x[step + 1], the coordinates of the cells `step` cells away along each axis. */
static inline void noise_set_step(const kernel_context *c, uint32_t slot, int step, noise_points *points)
{
    const gbees_shape *shape = &c->g->shape;

    for (int k = 0; k < c->n; k++) {
        const int32_t first = grid_key(c->g, slot)[k] * shape->edge[k] + step;

        for (int cell = 0; cell < shape->cells; cell++)
            points->x[step + 1][k][cell] =
                c->geometry.origin[k] + c->geometry.width[k] * (double)(first + gbees_shape_local(shape, cell, k));
    }
}

/* Sets all coordinates. */
static inline void noise_set_points(const kernel_context *c, uint32_t slot, noise_points *points)
{
    for (int step = -1; step <= 1; step++)
        noise_set_step(c, slot, step, points);
}

/* Sets q[n or n * n][64] to the entries of Q at a brick's cells, or at a shift from them (NULL: none). */
static inline void noise_evaluate(const kernel_context *c, const noise_points *points, const noise_shift *shift,
                                  double (*q)[64])
{
    const int entries = c->noise.full ? c->n * c->n : c->n;
    const double zero[GBEES_MAX_DIM] = {0}, *offset[GBEES_MAX_DIM] = {0};
    double *out[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    for (int k = 0; k < c->n; k++)
        offset[k] = points->x[1][k];
    if (shift)
        offset[shift->axis] = points->x[1 + shift->step][shift->axis];
    if (shift && shift->second >= 0)
        offset[shift->second] = points->x[1 + shift->second_step][shift->second];
    for (int k = 0; k < entries; k++)
        out[k] = q[k];
    c->noise.evaluate((size_t)c->g->shape.cells, c->time, zero, offset, c->drift.parameters_d, out);
}

/* Sets q[n][64] to Q at the lower faces across an axis of the cells of the brick with that key, which need not
 * exist. As positions follow from indices alone, a face has the same Q for every pencil that it belongs to. */
static inline void noise_at_faces(const kernel_context *c, const int32_t *key, int axis, double (*q)[64])
{
    const gbees_shape *shape = &c->g->shape;
    noise_points points;

    for (int k = 0; k < c->n; k++)
        for (int cell = 0; cell < shape->cells; cell++) {
            const double index = (double)(key[k] * shape->edge[k] + gbees_shape_local(shape, cell, k));

            points.x[1][k][cell] = c->geometry.origin[k] + c->geometry.width[k] * (index - (k == axis ? 0.5 : 0));
        }
    noise_evaluate(c, &points, NULL, q);
}

#endif
