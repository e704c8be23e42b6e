/* centre_velocity.h - velocities at the centres of a brick's cells, and at its faces by interpolation.
 *
 * On a grid that moves, velocities change in each step.  To inspect it, the model is asked for all components
 * at each cell once, which are a sixth to a ninth of the points that its faces are: a step's rate and the directions
 * in which it grows need no more.  Sweeps evaluate the velocities at the faces themselves.
 */
#ifndef GBEES_CPU_CENTRE_VELOCITY_H
#define GBEES_CPU_CENTRE_VELOCITY_H

#include "frame_velocity.h"
#include <string.h>

enum { CENTRE_MARGIN = 32 }; /* cells from one to the next along an axis, at most */

/* Velocities along an axis at the centres of a brick's cells, from at[CENTRE_MARGIN] on; around them zeros, which are
 * read and do not count. */
typedef struct centre_values {
    _Alignas(64) real at[CENTRE_MARGIN + 64 + CENTRE_MARGIN];
} centre_values;

/* Sets values[n] to the velocities at the centres of a brick's cells. */
INLINE void centre_velocities(const kernel_context *c, const brick_base *base, centre_values *values)
{
    real *out[GBEES_MAX_DIM];

    memset(values, 0, (size_t)c->n * sizeof *values);
    for (int j = 0; j < c->n; j++)
        out[j] = values[j].at + CENTRE_MARGIN;
    frame_cell_velocities(c, base, out);
}

/* Sets down[cells] and up[cells] to the speeds out of each cell through its lower and its upper face across an axis:
 * between two cells of the brick the velocity is the mean of both, at the brick's sides it is on the straight line
 * through the two cells beside, which differs from the mean of a cell and the one beyond the side by `bend`. */
INLINE void speeds_of_centres(const centre_values *values, brick_axis a, real *restrict down, real *restrict up)
{
    const int last = edge_of(a) - 1, next = last > 0 ? 1 << a.shift : 0;
    const real *const cell = values->at + CENTRE_MARGIN, *const below = cell - next, *const above = cell + next;

#pragma omp simd
    for (int i = 0; i < a.cells; i++) {
        const int at = i >> a.shift & last;
        const real bend = cell[i] - (real)0.5 * (above[i] + below[i]);

        down[i] = (real)-0.5 * (cell[i] + below[i]) - (real)(at == 0) * bend;
        up[i] = (real)0.5 * (cell[i] + above[i]) + (real)(at == last) * bend;
    }
}

#endif
