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
/* The arithmetic, which needs what split.h defines. */
#include "numerics/row.h"

/* Of a Gaussian, in deviations. */
#define REACH 7

enum { BLOCK = 8 /* cells that are computed together, in vectors; so many after a row's end hold 0, too */ };

/* Makes the row hold a range of cells, all 0. Returns 1 if there is no memory. */
static int open_range(gbees_row *row, gbees_row_range range)
{
    const size_t length = (size_t)range.length, all = length + BLOCK;

    if (all > row->capacity) {
        double *larger = malloc(2 * all * sizeof *larger);

        if (!larger)
            return 1;
        free(row->p);
        row->p = larger;
        row->capacity = 2 * all;
    }
    row->first = range.first;
    row->length = length;
    memset(row->p, 0, all * sizeof *row->p);
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

/* gbees_row_exchange_along() to another array, in whole blocks. The first and the last cell hold 0. */
GBEES_PROCESSOR_CLONES static void exchange(const double *restrict p, size_t length, double fraction,
                                            double *restrict to)
{
    const size_t blocks = (length + BLOCK - 2) / BLOCK;

    for (size_t i = 1; i < blocks * BLOCK + 1; i++)
        to[i] = p[i] - gbees_row_flux(p[i - 1], p[i], fraction) + gbees_row_flux(p[i], p[i + 1], fraction);
}

int gbees_row_exchange(const gbees_row *row, double fraction, gbees_row *to)
{
    if (open_range(to, range_of(row)))
        return 1;
    exchange(row->p, row->length, fraction, to->p);
    return 0;
}

/* Nothing of a row has been given; cells of 0 at both ends, which have nothing to give, are passed over. */
static inline gbees_row_given begin(const gbees_row *row)
{
    gbees_row_given given = gbees_row_whole(row->length);

    while (given.i < given.last && row->p[given.i] == 0)
        given.i++;
    while (given.last > given.i && row->p[given.last - 1] == 0)
        given.last--;
    return given;
}

/* gbees_row_map_along(), with a block's faces first, as divisions in vectors take much less time. */
GBEES_PROCESSOR_CLONES static void map(const gbees_row *row, double scale, double shift, gbees_row *to)
{
    gbees_row_given given = begin(row);

    for (size_t k = 0; k < to->length; k += BLOCK) {
        const size_t count = to->length - k < BLOCK ? to->length - k : BLOCK;
        const double first = (double)to->first + (double)k;
        double face[BLOCK];

        for (int j = 0; j < BLOCK; j++)
            face[j] = gbees_row_face(first + j, range_of(row), scale, shift);
        for (size_t j = 0; j < count; j++)
            to->p[k + j] = gbees_row_give(row->p, 1, face[j], &given);
    }
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

/* to[i + 0 ... 2 reach] += p[i] weight[0 ... 2 reach] */
GBEES_PROCESSOR_CLONES static void convolve(const double *restrict p, size_t length, const double *restrict weight,
                                            size_t count, double *restrict to)
{
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < count; k++)
            to[i + k] += p[i] * weight[k];
}

int gbees_row_convolve(const gbees_row *row, double variance, gbees_row *to)
{
    const int reach = (int)ceil(REACH * sqrt(variance));
    const size_t count = 2 * (size_t)reach + 1;
    double *weight = malloc(count * sizeof *weight), sum = 0;
    const int failed = !weight || open_range(to, gbees_row_around(row->first - reach,
                                                                  row->first + (int64_t)row->length - 1 + reach));

    for (size_t k = 0; k < count && !failed; k++) {
        const double off = fabs((double)k - reach), scale = 1 / sqrt(2 * (variance - 1. / 12));

        weight[k] = erfc((off - 0.5) * scale) - erfc((off + 0.5) * scale);
        sum += weight[k];
    }
    for (size_t k = 0; k < count && !failed; k++)
        weight[k] /= sum;
    if (!failed)
        convolve(row->p, row->length, weight, count, to->p + GBEES_ROW_MARGIN);
    free(weight);
    return failed;
}
