/* row.h - the arithmetic of a row of cells in a remap (doc/moving.md): exchanges between neighbours,
 * a one-dimensional affine map, diffusion. Both the host and kernels call it.
 *
 * A row's P is an array by index along the row: entry k stands at p[k * stride]. A unit includes split.h in double
 * precision before it.
 */
#ifndef GBEES_NUMERICS_ROW_H
#define GBEES_NUMERICS_ROW_H

#include "qualifier.h"
#include <math.h>

/* Cells of a row at each end that hold 0. */
enum { GBEES_ROW_MARGIN = 4 };

/* The cells of a row: `length` of them from index `first` on, its margins included. */
typedef struct gbees_row_range {
    int64_t first;
    uint64_t length;
} gbees_row_range;

/* The range of the cells from `low` to `high` with margins. */
GBEES_NUM gbees_row_range gbees_row_around(int64_t low, int64_t high)
{
    gbees_row_range range;

    range.first = low - GBEES_ROW_MARGIN;
    range.length = (uint64_t)(high - low) + 1 + 2 * GBEES_ROW_MARGIN;
    return range;
}

/* The range that a row has under z -> scale z + shift, scale > 0. */
GBEES_NUM gbees_row_range gbees_row_mapped(gbees_row_range from, double scale, double shift)
{
    const int64_t end = from.first + (int64_t)from.length;
    const double low = scale * ((double)from.first + 1.5) + shift, high = scale * ((double)end - 2.5) + shift;

    return gbees_row_around((int64_t)floor(low), (int64_t)ceil(high));
}

/* The explicit steps of diffusion that add a variance, in cells squared. */
GBEES_NUM int gbees_row_steps(double variance)
{
    return variance > 0 ? (int)ceil(2 * variance) : 0;
}

/* The range that a row has after so many steps. */
GBEES_NUM gbees_row_range gbees_row_widened(gbees_row_range from, int steps)
{
    const int64_t end = from.first + (int64_t)from.length;

    return gbees_row_around(from.first - 2 * (int64_t)steps, end - 1 + 2 * (int64_t)steps);
}

GBEES_NUM double gbees_row_least(double a, double b)
{
    return a < b ? a : b;
}

GBEES_NUM double gbees_row_most(double a, double b)
{
    return a > b ? a : b;
}

/* What a cell gets from the next one in an exchange (gbees_row_exchange_along()). */
GBEES_NUM double gbees_row_flux(double here, double next, double fraction)
{
    const double limit = 0.25 * gbees_row_least(here, next);
    const double moved = fraction * (next - here);

    return fraction < 0 ? gbees_row_most(-limit, gbees_row_least(moved, limit)) : moved;
}

/* Moves `fraction` of the difference between each two of `length` neighbours to the one that holds less. A negative
 * fraction moves mass from that cell, at most a quarter of what it holds to each side. A fraction of 1/24 makes
 * averages over cells of values at centres, -1/24 the reverse. */
GBEES_NUM void gbees_row_exchange_along(double *p, uint64_t stride, uint64_t length, double fraction)
{
    double here = p[0]; /* what cell i held before */

    for (uint64_t i = 0; i + 1 < length; i++) {
        const double next = p[(i + 1) * stride], flux = gbees_row_flux(here, next, fraction);

        p[i * stride] += flux;
        p[(i + 1) * stride] -= flux;
        here = next;
    }
}

/* The mass in the lower fraction c of cell i, between 0 and what it holds. */
GBEES_NUM double gbees_row_mass_below(const double *p, uint64_t stride, uint64_t i, double c)
{
    const double here = p[i * stride], lower = p[(i - 1) * stride], upper = p[(i + 1) * stride];
    const double d = here - lower, below = d - (lower - p[(i - 2) * stride]), second = upper - here - d;
    const double third = second - below, above = p[(i + 2) * stride] - upper - (upper - here);
    const double mass = -gbees_quartic_falling_d(here, d, second, third, above - second - third, -c);

    return gbees_row_most(0, gbees_row_least(mass, here));
}

/* The upper face of the new cell with this index, in cells from the lower end of the row that is mapped. */
GBEES_NUM double gbees_row_face(double index, gbees_row_range from, double scale, double shift)
{
    const double face = (index + 0.5 - shift) / scale;

    return face + 0.5 - (double)from.first;
}

/* How much of a row has been given to new cells: all before cell i, and `taken` of it. Cells from `last` on are 0. */
typedef struct gbees_row_given {
    uint64_t i, last;
    double taken;
} gbees_row_given;

/* Nothing of a row has been given. */
GBEES_NUM gbees_row_given gbees_row_whole(uint64_t length)
{
    gbees_row_given given;

    given.i = 2;
    given.last = length - 2;
    given.taken = 0;
    return given;
}

/* Gives what lies up to a face, gbees_row_face(), to the next new cell. */
GBEES_NUM double gbees_row_give(const double *p, uint64_t stride, double face, gbees_row_given *given)
{
    uint64_t i = given->i;
    double sum = 0, taken = given->taken;

    for (; i < given->last && (double)(i + 1) <= face; i++) {
        sum += p[i * stride] - taken;
        taken = 0;
    }
    if (i < given->last && face > (double)i) {
        const double mass = gbees_row_most(taken, gbees_row_mass_below(p, stride, i, face - (double)i));

        sum += mass - taken;
        taken = mass;
    }
    given->i = i;
    given->taken = taken;
    return sum;
}

/* Sets the cells out[k * stride] of the range `to`, gbees_row_mapped() of `from`, to the row p under z -> scale z +
 * shift: each gets the integral of the quartic of split5 over what it covers, bounded so that no part of a cell holds
 * less than 0 and all parts hold what it holds. */
GBEES_NUM void gbees_row_map_along(const double *p, gbees_row_range from, double scale, double shift, uint64_t stride,
                                   gbees_row_range to, double *out)
{
    gbees_row_given given = gbees_row_whole(from.length);

    for (uint64_t k = 0; k < to.length; k++) {
        const double face = gbees_row_face((double)to.first + (double)k, from, scale, shift);

        out[k * stride] = gbees_row_give(p, stride, face, &given);
    }
}

/* One explicit step of diffusion along `length` cells, of which those at both ends hold 0: its variance is
 * `variance`, at most 1/2, and its fourth cumulant 0. A cell gives at most half of itself to either side. */
GBEES_NUM void gbees_row_spread_along(double *p, uint64_t stride, uint64_t length, double variance)
{
    const double fourth = (3 * variance - 1) * variance / 24;
    double entered = 0, before = 0; /* what cell i gets from i - 1; what i - 1 held */

    for (uint64_t i = 0; i + 2 < length; i++) {
        const double here = p[i * stride], next = p[(i + 1) * stride], slope = next - here;
        const double bend = p[(i + 2) * stride] - next - slope - (slope - (here - before)); /* third difference */
        const double flux = gbees_row_least(-0.5 * variance * slope - fourth * bend, 0.5 * here);
        const double given = gbees_row_most(-0.5 * next, flux);

        p[i * stride] = here + entered - given;
        entered = given;
        before = here;
    }
    p[(length - 2) * stride] += entered;
}

#endif
