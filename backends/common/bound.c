/* bound.c - evaluates the model's J(x) at the centres of a brick's cells, and sets a bit for each that lies within
 * the bound. */
#include "bound.h"

uint64_t bound_cells(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key)
{
    double origin[GBEES_MAX_DIM], local[GBEES_MAX_DIM][64], value[64];
    const double *offset[GBEES_MAX_DIM];
    uint64_t inside = 0;

    if (!problem->bounded)
        return shape->all;
    for (int k = 0; k < shape->n; k++) {
        origin[k] = problem->mean[k] + problem->width[k] * ((double)key[k] * shape->edge[k]);
        for (int cell = 0; cell < shape->cells; cell++)
            local[k][cell] = problem->width[k] * gbees_shape_local(shape, cell, k);
        offset[k] = local[k];
    }
    problem->functions->bound_d((size_t)shape->cells, problem->start, origin, offset, problem->parameters, value);
    for (int cell = 0; cell < shape->cells; cell++)
        inside |= (uint64_t)(value[cell] >= problem->bound_low && value[cell] <= problem->bound_high) << cell;
    return inside;
}
