/* row.c - maps a row by differences of its integral, which a polynomial of fifth degree interpolates in each cell,
 * limited so that no cell becomes negative; diffusion is a number of explicit steps. */
#include "row.h"
#include "base/clones.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"

int gbees_row_open(gbees_row *row, int64_t first, int64_t last)
{
    const size_t length = (size_t)(last - first) + 1 + 2 * GBEES_ROW_MARGIN;

    if (length > row->capacity) {
        double *larger = malloc(2 * length * sizeof *larger);

        if (!larger)
            return 1;
        free(row->p);
        row->p = larger;
        row->capacity = 2 * length;
    }
    row->first = first - GBEES_ROW_MARGIN;
    row->length = length;
    memset(row->p, 0, length * sizeof *row->p);
    return 0;
}

void gbees_row_close(gbees_row *row)
{
    free(row->p);
    *row = (gbees_row){.p = NULL};
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* The exchange along p[0 ... length - 1]. */
GBEES_PROCESSOR_CLONES static void exchange(double *restrict p, size_t length, double fraction)
{
    double here = p[0]; /* what cell i held before */

    for (size_t i = 0; i + 1 < length; i++) {
        const double next = p[i + 1];
        const double limit = 0.25 * least(here, next), moved = fraction * (next - here); /* from i + 1 to i */
        const double flux = fraction < 0 ? most(-limit, least(moved, limit)) : moved;

        p[i] += flux;
        p[i + 1] -= flux;
        here = next;
    }
}

void gbees_row_exchange(gbees_row *row, double fraction)
{
    exchange(row->p, row->length, fraction);
}

/* The mass in the lower fraction c of cell i, between 0 and what it holds. */
static inline double mass_below(const double *p, size_t i, double c)
{
    const double d = p[i] - p[i - 1], below = d - (p[i - 1] - p[i - 2]), second = p[i + 1] - p[i] - d;
    const double third = second - below, above = p[i + 2] - p[i + 1] - (p[i + 1] - p[i]);
    const double mass = -gbees_quartic_falling_d(p[i], d, second, third, above - second - third, -c);

    return most(0, least(mass, p[i]));
}

/* Fills `to`, whose cells lie in the image of the row's. */
GBEES_PROCESSOR_CLONES static void map(const gbees_row *row, double scale, double shift, gbees_row *to)
{
    double taken = 0; /* of cell i */
    size_t i = 2;

    for (size_t k = 0; k < to->length; k++) {
        const double face = ((double)to->first + (double)k + 0.5 - shift) / scale; /* the upper one */
        const double cells = face + 0.5 - (double)row->first;                      /* from the row's lower end */
        double sum = 0;

        for (; i < row->length - 2 && (double)(i + 1) <= cells; i++) {
            sum += row->p[i] - taken;
            taken = 0;
        }
        if (i < row->length - 2 && cells > (double)i) {
            const double mass = most(taken, mass_below(row->p, i, cells - (double)i));

            sum += mass - taken;
            taken = mass;
        }
        to->p[k] = sum;
    }
}

int gbees_row_map(const gbees_row *row, double scale, double shift, gbees_row *to)
{
    const int64_t end = row->first + (int64_t)row->length;
    const double low = scale * ((double)row->first + 1.5) + shift, high = scale * ((double)end - 2.5) + shift;

    if (gbees_row_open(to, (int64_t)floor(low), (int64_t)ceil(high)))
        return 1;
    map(row, scale, shift, to);
    return 0;
}

/* One explicit step of diffusion along p[0 ... length - 1], whose cells at both ends hold 0: its variance is
 * `variance`, at most 1/2, and its fourth cumulant 0. A cell gives at most half of itself to either side. */
GBEES_PROCESSOR_CLONES static void spread_once(double *restrict p, size_t length, double variance)
{
    const double fourth = (3 * variance - 1) * variance / 24;
    double entered = 0, before = 0; /* what cell i gets from i - 1; what i - 1 held */

    for (size_t i = 0; i + 2 < length; i++) {
        const double here = p[i], next = p[i + 1], slope = next - here;
        const double bend = p[i + 2] - next - slope - (slope - (here - before)); /* third difference */
        const double given = most(-0.5 * next, least(-0.5 * variance * slope - fourth * bend, 0.5 * here));

        p[i] = here + entered - given;
        entered = given;
        before = here;
    }
    p[length - 2] += entered;
}

int gbees_row_spread(const gbees_row *row, double variance, gbees_row *to)
{
    const int steps = variance > 0 ? (int)ceil(2 * variance) : 0;
    const int64_t end = row->first + (int64_t)row->length;

    if (gbees_row_open(to, row->first - 2 * (int64_t)steps, end - 1 + 2 * (int64_t)steps))
        return 1;
    memcpy(to->p + (row->first - to->first), row->p, row->length * sizeof *row->p);
    for (int k = 0; k < steps; k++)
        spread_once(to->p, to->length, variance / steps);
    return 0;
}
