/* circular.h - statistics of states on a circle. */
#ifndef GBEES_COMMON_CIRCULAR_H
#define GBEES_COMMON_CIRCULAR_H

#include <gbees/backend.h>
#include <math.h>

/* Adds the cells first .. first + count - 1 around a circle, of probabilities p[count], to turn[2], the sums of P cos
 * and P sin of the angle from cell 0. */
static inline void circular_add(const gbees_problem *problem, int axis, int first, int count, const double *p,
                                double *turn)
{
    const double step = 6.283185307179586 / (1.0 + problem->range[axis].last - problem->range[axis].first);

    for (int i = 0; i < count; i++) {
        turn[0] += p[i] * cos(step * (first + i));
        turn[1] += p[i] * sin(step * (first + i));
    }
}

/* Sets direction and resultant of an axis from these sums over all cells, whose P add up to `mass`; 0 unless it is a
 * circle. Averaging over cells shortens the resultant, which is undone. */
static inline void circular_set(const gbees_problem *problem, int axis, const double *turn, double mass,
                                gbees_statistics *out)
{
    const double half = 3.141592653589793 / (1.0 + problem->range[axis].last - problem->range[axis].first);
    const double shorter = problem->numerics.cell_values == GBEES_CELL_AVERAGES ? sin(half) / half : 1;

    if (!gbees_problem_is_circle(problem, axis))
        return;
    const double at = atan2(turn[1], turn[0]) / (2 * half); /* in cells */

    out->direction[axis] = gbees_problem_around(problem, axis, problem->mean[axis] + problem->width[axis] * at);
    out->resultant[axis] = hypot(turn[0], turn[1]) / mass / shorter;
}

#endif
