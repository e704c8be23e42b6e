/* ctu.h - the two passes of the corner-transport-upwind scheme (paper, Algorithm 1, gathered): one cell a lane. */
#ifndef GBEES_CUDA_CTU_H
#define GBEES_CUDA_CTU_H

#include "inspect.h"
#include "numerics/ctu.h"

/* The five cells around a cell along an axis, as places in rows: the brick's own, its neighbours', and, where bricks
 * are one cell wide, theirs. */
GBEES_NUM size_t cell_beside(const gbees_setup *m, uint32_t slot, int cell, int axis, int distance)
{
    const int edge = axis_edge(axis), local = cell_local(cell, axis) + distance;
    int from = cell + (distance << axis_shift(axis));

    if (local < 0) {
        slot = m->grid.neighbor[2 * axis][slot];
        from += edge << axis_shift(axis);
        if (local < -edge) {
            slot = m->grid.neighbor[2 * axis][slot];
            from += edge << axis_shift(axis);
        }
    } else if (local >= edge) {
        slot = m->grid.neighbor[2 * axis + 1][slot];
        from -= edge << axis_shift(axis);
        if (local >= 2 * edge) {
            slot = m->grid.neighbor[2 * axis + 1][slot];
            from -= edge << axis_shift(axis);
        }
    }
    return (size_t)slot * CELLS + (size_t)from;
}

GBEES_NUM number cell_face_velocity(const gbees_setup *m, const position *base, int cell, int axis, int face,
                                    double time)
{
    position x[DIM];

    face_point(m, base, cell, axis, face, x);
    return velocity(m, x, axis, time);
}

/* S of all cells. */
GBEES_NUM void transverse_pass(const gbees_setup *m, const number *p, number *s, uint32_t count, double step,
                               double time)
{
    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        position base[DIM];

        brick_bases(m, slot, base);
        for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
            number sum = 0, here = p[(size_t)slot * CELLS + (size_t)cell];

#pragma unroll
            for (int j = 0; j < DIM; j++) {
                const int local = cell_local(cell, j);
                const number half_lambda = (number)(0.5 * step / m->width[j]);

                sum += GBEES_REAL_FN(gbees_ctu_transverse)(p[cell_beside(m, slot, cell, j, -1)], here,
                                                    p[cell_beside(m, slot, cell, j, 1)],
                                                    cell_face_velocity(m, base, cell, j, local, time),
                                                    cell_face_velocity(m, base, cell, j, local + 1, time),
                                                    half_lambda);
            }
            s[(size_t)slot * CELLS + (size_t)cell] = sum;
        }
    }
}

/* What the fluxes along an axis change in a cell. */
GBEES_NUM number flux_change(const gbees_setup *m, const number *p, const number *s, uint32_t slot, int cell,
                             int axis, const position *base, number lambda, double time)
{
    const int local = cell_local(cell, axis);
    number q[5], t[3], u[4];

#pragma unroll
    for (int i = 0; i < 5; i++)
        q[i] = p[cell_beside(m, slot, cell, axis, i - 2)];
#pragma unroll
    for (int i = 0; i < 3; i++)
        t[i] = s[cell_beside(m, slot, cell, axis, i - 1)];
#pragma unroll
    for (int i = 0; i < 4; i++)
        u[i] = cell_face_velocity(m, base, cell, axis, local + i - 1, time);
    number lower = GBEES_REAL_FN(gbees_ctu_flux)(q[0], q[1], q[2], q[3], t[0], t[1], u[0], u[1], u[2], lambda);
    number upper = GBEES_REAL_FN(gbees_ctu_flux)(q[1], q[2], q[3], q[4], t[1], t[2], u[1], u[2], u[3], lambda);
    return lambda * (lower - upper);
}

/* The new density; returns what was clipped. */
GBEES_NUM int64_t flux_pass(const gbees_setup *m, const number *p, const number *s, number *next, uint32_t count,
                            double step, double time)
{
    int64_t clipped = 0;

    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        position base[DIM];

        brick_bases(m, slot, base);
        for (int cell = team_lane(); cell < CELLS; cell += TEAM) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            number change = 0;

#pragma unroll
            for (int j = 0; j < DIM; j++)
                change += flux_change(m, p, s, slot, cell, j, base, (number)(step / m->width[j]), time);
            change += p[at];
            number kept = change < least_number() ? 0 : change;
            next[at] = kept;
            clipped += fixed_of((double)(kept - change));
        }
    }
    return clipped;
}

#endif
