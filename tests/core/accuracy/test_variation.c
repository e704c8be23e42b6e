/* test_variation.c - the total variation between records, against sums over all bins of densities whose overlap with
 * each bin is found cell by cell. */
#include "accuracy/variation.h"
#include "fixtures/suite.h"
#include "record/cells.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { DIMENSIONS = 3, SIDE = 48, BINS = SIDE * SIDE * SIDE, CELLS = 3000 };

/* A density on a grid: cells of these widths, in bins; cell 0 begins at `low` bins. */
typedef struct density {
    double width[DIMENSIONS], low[DIMENSIONS];
    int count;
    int32_t index[DIMENSIONS][CELLS];
    double p[CELLS];
} density;

static double random_number(void)
{
    static uint32_t state = 12345;

    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

/* Adds the cell with this index. */
static void add_cell(density *d, int a, int b, int c)
{
    if (d->count == CELLS)
        return;
    d->index[0][d->count] = a;
    d->index[1][d->count] = b;
    d->index[2][d->count] = c;
    d->p[d->count++] = random_number();
}

/* Some of the cells in a box of 8 x 8 x 32 bins, with gaps: rows along the last axis have some cells, one or none. */
static void make_density(density *d, const double *width)
{
    int side[DIMENSIONS];

    d->count = 0;
    for (int j = 0; j < DIMENSIONS; j++) {
        d->width[j] = width[j];
        d->low[j] = 7 + random_number();
        side[j] = (int)((j == 2 ? 32 : 8) / width[j]);
    }
    const double share = fmin(0.6, 0.8 * CELLS / (side[0] * side[1] * side[2]));
    for (int a = 0; a < side[0]; a++)
        for (int b = 0; b < side[1]; b++)
            for (int c = 0; c < side[2]; c++)
                if (random_number() < share)
                    add_cell(d, a, b, c);
}

/* Bins are one unit wide: the problem has deviations of 1 and its mean at the corner of the bins. */
static const gbees_problem start = {.dimension = DIMENSIONS, .covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static gbees_histogram *histogram_of(const density *d)
{
    gbees_problem grid = start;
    gbees_cells *cells = gbees_cells_create(DIMENSIONS);
    const int32_t *index[DIMENSIONS];
    gbees_histogram *made = NULL;
    gbees_error error = {GBEES_OK, ""};

    for (int j = 0; j < DIMENSIONS; j++) {
        grid.width[j] = d->width[j];
        grid.mean[j] = d->low[j] + d->width[j] / 2;
        index[j] = d->index[j];
    }
    ck_assert_int_eq(gbees_cells_add(cells, (size_t)d->count, index, d->p), 0);
    ck_assert_msg(gbees_cells_finish(cells, 1, &error) == GBEES_OK, "%s", error.text);
    const gbees_record record = {.problem = &grid, .cells = cells};
    ck_assert_int_eq(gbees_histogram_create(&start, &record, &made, &error), GBEES_OK);
    ck_assert_ptr_nonnull(made);
    gbees_cells_destroy(cells);
    return made;
}

/* The part of a cell, from low to high, that lies in bin k. */
static double part_of(double low, double high, int k)
{
    return fmax(0, fmin(high, k + 1) - fmax(low, k)) / (high - low);
}

/* Adds a density of the sum 1, times `sign`, to the bins. */
static void add_to_bins(const density *d, double sign, double *bins)
{
    double sum = 0;

    for (int i = 0; i < d->count; i++)
        sum += d->p[i];
    for (int i = 0; i < d->count; i++) {
        double low[DIMENSIONS], high[DIMENSIONS];

        for (int j = 0; j < DIMENSIONS; j++) {
            low[j] = d->low[j] + d->width[j] * d->index[j][i];
            high[j] = low[j] + d->width[j];
        }
        for (int a = (int)low[0]; a < high[0]; a++)
            for (int b = (int)low[1]; b < high[1]; b++)
                for (int c = (int)low[2]; c < high[2]; c++)
                    bins[(a * SIDE + b) * SIDE + c] += sign * d->p[i] / sum * part_of(low[0], high[0], a) *
                                                       part_of(low[1], high[1], b) * part_of(low[2], high[2], c);
    }
}

START_TEST(it_is_the_sum_over_all_bins)
{
    static const double widths[][DIMENSIONS] = {
        {0.5, 0.5, 0.5}, {0.3, 0.7, 0.1}, {1, 1, 1}, {1.7, 0.4, 3.3}, {0.2, 2.5, 0.9}};
    static density a, b;

    for (size_t k = 0; k + 1 < sizeof widths / sizeof *widths; k++) {
        double *bins = calloc(BINS, sizeof *bins), expected = 0;

        ck_assert_ptr_nonnull(bins);
        make_density(&a, widths[k]);
        make_density(&b, widths[k + 1]);
        gbees_histogram *of_a = histogram_of(&a), *of_b = histogram_of(&b);
        add_to_bins(&a, 1, bins);
        add_to_bins(&b, -1, bins);
        for (int i = 0; i < BINS; i++)
            expected += fabs(bins[i]) / 2;
        ck_assert_double_gt(expected, 0.02);
        ck_assert_double_eq_tol(gbees_histogram_variation(of_a, of_b), expected, 1e-12);
        ck_assert_double_eq_tol(gbees_histogram_variation(of_b, of_a), expected, 1e-12);
        ck_assert_double_eq(gbees_histogram_variation(of_a, of_a), 0);
        gbees_histogram_destroy(of_a);
        gbees_histogram_destroy(of_b);
        free(bins);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("variation");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, it_is_the_sum_over_all_bins);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
