/* test_refine_accuracy.c - lists of cells on finer and coarser grids, against exact averages. */
#include "fixtures/refine_fixture.h"
#include "fixtures/suite.h"
#include <math.h>

/* Integral of the standard Gaussian from `low` to `high`, without cancellation in the tails. */
static double integral(double low, double high)
{
    if (low > 0)
        return 0.5 * (erfc(low / sqrt(2)) - erfc(high / sqrt(2)));
    return 0.5 * (erfc(-high / sqrt(2)) - erfc(-low / sqrt(2)));
}

/* What a cell of `width` holds of a Gaussian whose mean is in cell 0, a tenth of the deviation from its lower face;
 * along the axes j its deviation is 1 + j / 4. */
static double exact(int n, const int32_t *index, const double *width)
{
    double p = 1;

    for (int j = 0; j < n; j++) {
        const double deviation = 1 + 0.25 * j, low = width[j] * index[j] - 0.1;

        p *= integral(low / deviation, (low + width[j]) / deviation);
    }
    return p;
}

/* The largest error of the density, of averages that are refined by 2 along the axes of `change`. */
static double error_of(int n, double width, const int *change)
{
    int side[GBEES_MAX_DIM];
    int32_t first[GBEES_MAX_DIM];
    double h[GBEES_MAX_DIM], volume = 1, worst = 0;
    size_t all = 1;

    for (int j = 0; j < n; j++) {
        h[j] = width;
        first[j] = -(int32_t)ceil(8 / width);
        side[j] = -2 * first[j];
        all *= (size_t)side[j];
    }
    gbees_initial_cells cells = list_of(n, all);
    for (size_t i = 0; i < all; i++) {
        int32_t index[GBEES_MAX_DIM];

        list_place(n, side, first, i, index);
        for (int j = 0; j < n; j++)
            cells.index[j][i] = index[j];
        cells.p[i] = exact(n, index, h);
    }
    refine(&cells, n, change);
    for (int j = 0; j < n; j++) {
        h[j] = ldexp(h[j], -change[j]);
        volume *= h[j];
    }
    for (size_t i = 0; i < cells.count; i++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            index[j] = cells.index[j][i];
        worst = fmax(worst, fabs(cells.p[i] - exact(n, index, h)) / volume);
    }
    gbees_initial_cells_clear(&cells);
    return worst;
}

static const struct {
    int n, change[3];
    double width, most;
} smooth[] = {
    {1, {1}, 0.5, 1e-3},    {1, {1}, 0.25, 3e-5},    {1, {2}, 0.5, 1e-3},       {2, {1, 1}, 0.5, 1e-3},
    {2, {0, 1}, 0.5, 1e-3}, {2, {1, 0}, 0.25, 3e-5}, {3, {1, 1, 1}, 0.6, 1e-3},
};

START_TEST(fifth_order)
{
    const double coarse = error_of(smooth[_i].n, smooth[_i].width, smooth[_i].change);
    const double fine = error_of(smooth[_i].n, smooth[_i].width / 2, smooth[_i].change);
    const double order = log2(coarse / fine);

    ck_assert_msg(coarse < smooth[_i].most && order >= 4.5, "errors %g and %g: order %g", coarse, fine, order);
}
END_TEST

/* Sums over values at centres are the integrals: the variance stays that of the Gaussian. Of averages it is larger by
 * width^2 / 12, on each grid. */
START_TEST(the_variance_stays)
{
    const int points = _i % 2, change = (const int[]){1, 2, -1, 0}[_i / 2];
    const double width = 0.25, after = ldexp(width, -change);
    enum { SIDE = 64 };
    gbees_initial_cells cells = list_of(1, SIDE);
    double mean = 0, square = 0;

    for (int i = 0; i < SIDE; i++) {
        const double x = width * (i - 32 + 0.3);

        cells.index[0][i] = i - 32;
        cells.p[i] = points ? width * exp(-0.5 * x * x) / sqrt(2 * acos(-1)) : integral(x - width / 2, x + width / 2);
    }
    refine_values(&cells, 1, &change, points ? GBEES_CELL_POINTS : GBEES_CELL_AVERAGES);
    for (size_t i = 0; i < cells.count; i++) {
        const double x = width * (0.3 - 0.5) + after * (cells.index[0][i] + 0.5);

        mean += cells.p[i] * x;
        square += cells.p[i] * x * x;
    }
    ck_assert_double_eq_tol(mean, 0, 1e-6);
    ck_assert_double_eq_tol(square - mean * mean, 1 + (points ? 0 : after * after / 12), 1e-5);
    gbees_initial_cells_clear(&cells);
}
END_TEST

/* The halves are those of the polynomial through the averages: exact for fourth degree. */
START_TEST(exact_for_a_quartic)
{
    enum { SIDE = 40 };
    gbees_initial_cells cells = list_of(1, SIDE);
    const int change = 1;

    /* Integral of 10^8 + x^4 / 5 + x^3 / 4 - x, which is positive everywhere. */
#define PRIMITIVE(x) (1e8 * (x) + pow(x, 5) / 25 + pow(x, 4) / 16 - (x) * (x) / 2)
    for (int i = 0; i < SIDE; i++) {
        cells.index[0][i] = i - 20;
        cells.p[i] = PRIMITIVE(i - 19.0) - PRIMITIVE(i - 20.0);
    }
    refine(&cells, 1, &change);
    ck_assert_uint_eq(cells.count, 2 * SIDE);
    for (int i = 4; i < 2 * SIDE - 4; i++) { /* the others have an absent cell beside them */
        const double low = cells.index[0][i] / 2.0, p = PRIMITIVE(low + 0.5) - PRIMITIVE(low);

        ck_assert_double_eq_tol(cells.p[i], p, 1e-14 * p);
    }
#undef PRIMITIVE
    gbees_initial_cells_clear(&cells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refine_accuracy");
    TCase *accuracy = tcase_create("accuracy");

    tcase_set_timeout(accuracy, 60);
    tcase_add_loop_test(accuracy, fifth_order, 0, (int)(sizeof smooth / sizeof *smooth));
    tcase_add_loop_test(accuracy, the_variance_stays, 0, 8);
    tcase_add_test(accuracy, exact_for_a_quartic);
    suite_add_tcase(suite, accuracy);
    return run_suite(suite);
}
