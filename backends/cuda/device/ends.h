/* ends.h - what is beyond the walls of an axis: the cells, velocities and noise that a line reads there, as
 * backends/cpu/kernel/ends.h has it. Around a circle links, and so lines, go on by themselves.
 */
#ifndef GBEES_CUDA_ENDS_H
#define GBEES_CUDA_ENDS_H

#include "device/cells.h"
#include "numerics/neighbour.h"

#if GBEES_CLOSED

enum { NO_WALL = 1 << 20 }; /* as a number of cells to it */

/* Where a line is on its axis: the cells between it and the walls, and what these are. */
typedef struct line_place {
    int to_wall[2], cells;
    int end[2];
} line_place;

/* Sets the place of a line of `cells` cells, of which the lowest is number `first` of its brick along the axis. */
GBEES_NUM line_place place_of_line(const gbees_setup *m, int axis, uint32_t slot, int first, int cells)
{
    const int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)axis];
    const int edge = axis_edge(axis);
    line_place place = {{NO_WALL, NO_WALL}, cells, {m->shape.end[2 * axis], m->shape.end[2 * axis + 1]}};

    if (place.end[0] >= GBEES_AT_REFLECTOR)
        place.to_wall[0] = (int)(key - m->shape.low[axis]) * edge + first;
    if (place.end[1] >= GBEES_AT_REFLECTOR)
        place.to_wall[1] = (int)(m->shape.high[axis] - 1 - key) * edge + edge - first - cells;
    return place;
}

/* Sets the cells beyond walls; q: the line with `beyond` cells on each side. noisy: noise reaches them. */
GBEES_NUM void close_cells(const line_place *at, int beyond, int noisy, number *q)
{
    for (int up = 0; up < 2; up++)
        for (int i = at->to_wall[up]; i < beyond; i++) {
            const int like = up ? at->cells + 2 * at->to_wall[1] - 1 - i : i - 2 * at->to_wall[0];

            if (at->end[up] == GBEES_AT_REFLECTOR || noisy)
                q[beyond + (up ? at->cells + i : -1 - i)] =
                    at->end[up] == GBEES_AT_REFLECTOR ? q[beyond + like] : -q[beyond + like];
        }
}

/* Sets the velocities at and beyond walls; v: from `lead` faces before the line's lowest one to as many behind its
 * highest one. */
GBEES_NUM void close_velocities(const line_place *at, int lead, number *v)
{
    for (int up = 0; up < 2; up++) {
        const int step = up ? -1 : 1, wall = lead + (up ? at->cells + at->to_wall[1] : -at->to_wall[0]);

        if (wall < 0 || wall > at->cells + 2 * lead)
            continue;
        if (at->end[up] == GBEES_AT_REFLECTOR)
            v[wall] = 0;
        for (int i = 1; wall - i * step >= 0 && wall - i * step <= at->cells + 2 * lead; i++)
            v[wall - i * step] = at->end[up] == GBEES_AT_REFLECTOR ? -v[wall + i * step]
                                                                   : v[wall] + (number)i * (v[wall] - v[wall + step]);
    }
}

/* Sets the noise at and beyond walls; w: as close_velocities() takes v. */
GBEES_NUM void close_noise(const line_place *at, int lead, number *w)
{
    for (int up = 0; up < 2; up++) {
        const int step = up ? -1 : 1, wall = lead + (up ? at->cells + at->to_wall[1] : -at->to_wall[0]);

        if (wall < 0 || wall > at->cells + 2 * lead)
            continue;
        w[wall] = w[wall + step] > (number)1e6 * w[wall] ? 0 : w[wall];
        for (int i = 1; wall - i * step >= 0 && wall - i * step <= at->cells + 2 * lead; i++)
            w[wall - i * step] = w[wall + i * step];
    }
}

#endif

#endif
