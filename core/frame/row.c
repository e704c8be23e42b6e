/* row.c - maps a row by differences of its integral, which a polynomial of fifth degree interpolates in each cell,
 * limited so that no cell becomes negative; diffusion is a number of explicit steps. */
#include "row.h"
#include "base/clones.h"
#include <stdlib.h>
#include <string.h>
#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"
/* The arithmetic, which needs what split.h defines. */
#include "numerics/row.h"

/* Makes the row hold a range of cells, all 0. Returns 1 if there is no memory. */
static int open_range(gbees_row *row, gbees_row_range range)
{
    const size_t length = (size_t)range.length;

    if (length > row->capacity) {
        double *larger = malloc(2 * length * sizeof *larger);

        if (!larger)
            return 1;
        free(row->p);
        row->p = larger;
        row->capacity = 2 * length;
    }
    row->first = range.first;
    row->length = length;
    memset(row->p, 0, length * sizeof *row->p);
    return 0;
}

int gbees_row_open(gbees_row *row, int64_t first, int64_t last)
{
    return open_range(row, gbees_row_around(first, last));
}

void gbees_row_close(gbees_row *row)
{
    free(row->p);
    *row = (gbees_row){.p = NULL};
}

static gbees_row_range range_of(const gbees_row *row)
{
    return (gbees_row_range){row->first, row->length};
}

GBEES_PROCESSOR_CLONES static void exchange(gbees_row *row, double fraction)
{
    gbees_row_exchange_along(row->p, 1, row->length, fraction);
}

void gbees_row_exchange(gbees_row *row, double fraction)
{
    exchange(row, fraction);
}

GBEES_PROCESSOR_CLONES static void map(const gbees_row *row, double scale, double shift, gbees_row *to)
{
    gbees_row_map_along(row->p, range_of(row), scale, shift, 1, range_of(to), to->p);
}

int gbees_row_map(const gbees_row *row, double scale, double shift, gbees_row *to)
{
    if (open_range(to, gbees_row_mapped(range_of(row), scale, shift)))
        return 1;
    map(row, scale, shift, to);
    return 0;
}

GBEES_PROCESSOR_CLONES static void spread(gbees_row *row, double variance)
{
    gbees_row_spread_along(row->p, 1, row->length, variance);
}

int gbees_row_spread(const gbees_row *row, double variance, gbees_row *to)
{
    const int steps = gbees_row_steps(variance);

    if (open_range(to, gbees_row_widened(range_of(row), steps)))
        return 1;
    memcpy(to->p + (row->first - to->first), row->p, row->length * sizeof *row->p);
    for (int k = 0; k < steps; k++)
        spread(to, variance / steps);
    return 0;
}
