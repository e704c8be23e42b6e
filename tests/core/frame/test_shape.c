/* test_shape.c - cells that fit a density: Gaussians, mixtures, sheets, and what affine maps leave alone. */
#include "fixtures/suite.h"
#include "frame/shape.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double some_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* A matrix with a condition number of some tens. */
static void some_map(int n, uint64_t seed, double *map)
{
    for (int k = 0; k < n * n; k++)
        map[k] = 2 * (k % (n + 1) == 0) + some_number(&seed);
}

static void transpose(int n, const double *a, double *to)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            to[j * n + k] = a[k * n + j];
}

/* to = a m a^T. */
static void map_matrix(int n, const double *a, const double *m, double *to)
{
    double t[GBEES_MATRIX];

    transpose(n, a, t);
    gbees_matrix_multiply(n, a, m, to);
    gbees_matrix_multiply(n, to, t, to);
}

static void invert(int n, const double *a, double *to)
{
    memset(to, 0, (size_t)(n * n) * sizeof *to);
    for (int j = 0; j < n; j++)
        to[j * n + j] = 1;
    ck_assert_int_eq(gbees_matrix_solve(n, a, n, to), 0);
}

static gbees_frame_shape shape_of(int n, const double *c, const double *j, double cells, double most)
{
    const gbees_shape_rule rule = {.cells = cells, .most = most};
    gbees_frame_shape shape;
    gbees_error error = {0};

    ck_assert_msg(gbees_shape_find(n, c, j, &rule, &shape, &error) == GBEES_OK, "%s", error.text);
    return shape;
}

/* C = M M^T, J = C^-1: all lambda are 1, and in new cells the covariance is k^2. */
START_TEST(a_gaussian_gives_white_cells)
{
    const int n = _i;
    const double k = 2;
    double map[GBEES_MATRIX], c[GBEES_MATRIX] = {0}, j[GBEES_MATRIX], inverse[GBEES_MATRIX], white[GBEES_MATRIX];

    some_map(n, (uint64_t)n, map);
    for (int i = 0; i < n; i++)
        c[i * n + i] = 1;
    map_matrix(n, map, c, c);
    invert(n, c, j);
    const gbees_frame_shape shape = shape_of(n, c, j, k, 10);
    ck_assert_double_eq_tol(shape.bend, 1, 1e-9);
    ck_assert_int_eq(shape.limited, 0);
    invert(n, shape.edges, inverse);
    map_matrix(n, inverse, c, white);
    double volume = 1;
    for (int i = 0; i < n; i++) {
        ck_assert_double_eq_tol(shape.lambda[i], 1, 1e-9);
        ck_assert_double_eq_tol(shape.cells[i], k, 1e-9);
        volume *= k;
        for (int l = 0; l < n; l++) {
            ck_assert_double_eq_tol(white[i * n + l], i == l ? k * k : 0, 1e-9);
            ck_assert_double_eq(shape.edges[i * n + l], shape.edges[l * n + i]);
        }
    }
    double factor[GBEES_MATRIX], values[GBEES_MAX_DIM], root = 1; /* growth = k^n / sqrt(det C) */
    memcpy(factor, c, sizeof factor);
    ck_assert_int_eq(gbees_matrix_eigen(n, factor, values), 0);
    for (int i = 0; i < n; i++)
        root *= sqrt(values[i]);
    ck_assert_double_eq_tol(shape.growth, volume / root, 1e-9 * volume / root);
    ck_assert_double_eq_tol(shape.longest, k / sqrt(values[0]), 1e-9 * k / sqrt(values[0]));
}
END_TEST

/* Under y -> M y, C becomes M C M^T and J becomes M^-T J M^-1: lambda stays, and so does the number of cells. */
START_TEST(affine_maps_leave_lambda_alone)
{
    const int n = 2 + _i % 5;
    double map[GBEES_MATRIX], inverse[GBEES_MATRIX], c[GBEES_MATRIX] = {0}, j[GBEES_MATRIX] = {0},
                                                     moved_c[GBEES_MATRIX], moved_j[GBEES_MATRIX];

    for (int i = 0; i < n; i++) {
        c[i * n + i] = 4 + i;
        j[i * n + i] = (1 + 3 * i) / (4.0 + i);
    }
    const gbees_frame_shape shape = shape_of(n, c, j, 1.4, 4);
    some_map(n, 100 + (uint64_t)_i, map);
    invert(n, map, inverse);
    map_matrix(n, map, c, moved_c);
    double turned[GBEES_MATRIX];
    transpose(n, inverse, turned);
    map_matrix(n, turned, j, moved_j);
    const gbees_frame_shape moved = shape_of(n, moved_c, moved_j, 1.4, 4);
    ck_assert_double_eq_tol(moved.bend, shape.bend, 1e-8 * shape.bend);
    ck_assert_int_eq(moved.limited, shape.limited);
    for (int i = 0; i < n; i++) {
        ck_assert_double_eq_tol(shape.lambda[i], 1 + 3 * i, 1e-12 * (1 + 3 * i));
        ck_assert_double_eq_tol(moved.lambda[i], shape.lambda[i], 1e-8 * shape.lambda[i]);
        ck_assert_double_eq_tol(moved.cells[i], shape.cells[i], 1e-8);
    }
}
END_TEST

/* C and J with lambda = 1 ... 1 + 3 (n - 1), in some axes. */
static void some_density(int n, uint64_t seed, double *c, double *j)
{
    double map[GBEES_MATRIX] = {0}, inverse[GBEES_MATRIX], turned[GBEES_MATRIX];

    memset(c, 0, (size_t)(n * n) * sizeof *c);
    memset(j, 0, (size_t)(n * n) * sizeof *j);
    for (int i = 0; i < n; i++) {
        c[i * n + i] = 4 + i;
        j[i * n + i] = (1 + 3 * i) / (4.0 + i);
    }
    some_map(n, seed, map);
    invert(n, map, inverse);
    transpose(n, inverse, turned);
    map_matrix(n, map, c, c);
    map_matrix(n, turned, j, j);
}

/* Cells that have just been made fit, also where K has limited them: what the limit takes back is not asked for
 * again. */
START_TEST(new_cells_are_not_replaced)
{
    const int n = 2 + _i % 5;
    double c[GBEES_MATRIX], j[GBEES_MATRIX], inverse[GBEES_MATRIX], turned[GBEES_MATRIX];

    some_density(n, 200 + (uint64_t)_i, c, j);
    const gbees_frame_shape shape = shape_of(n, c, j, 1.4, 2);
    ck_assert_int_gt(shape.limited, 0);
    invert(n, shape.edges, inverse);
    transpose(n, shape.edges, turned);
    map_matrix(n, inverse, c, c);
    map_matrix(n, turned, j, j);
    const gbees_frame_shape again = shape_of(n, c, j, 1.4, 2);
    ck_assert_int_eq(again.limited, shape.limited);
    ck_assert_double_eq_tol(again.longest, 1, 1e-8);
    ck_assert_double_eq_tol(again.growth, 1, 1e-8);
    ck_assert_int_eq(gbees_shape_is_outgrown(&again), 0);
}
END_TEST

/* Turned edges have the same metric, T T^T = G^-1, and the covariance is diagonal in them. */
START_TEST(cells_are_turned_to_noise)
{
    const int n = 2 + _i % 5;
    double c[GBEES_MATRIX], j[GBEES_MATRIX], noise[GBEES_MATRIX] = {0}, map[GBEES_MATRIX] = {0},
                                             inverse[GBEES_MATRIX];
    double variance[GBEES_MAX_DIM], before[GBEES_MATRIX], after[GBEES_MATRIX], one[GBEES_MATRIX] = {0};

    some_density(n, 300 + (uint64_t)_i, c, j);
    gbees_frame_shape shape = shape_of(n, c, j, 1.4, 4);
    some_map(n, 400 + (uint64_t)_i, map);
    noise[0] = 1; /* of rank 1 */
    map_matrix(n, map, noise, noise);
    for (int i = 0; i < n; i++)
        one[i * n + i] = 1;
    map_matrix(n, shape.edges, one, before);
    ck_assert_int_eq(gbees_shape_turn(n, noise, &shape, variance), 0);
    map_matrix(n, shape.edges, one, after);
    invert(n, shape.edges, inverse);
    map_matrix(n, inverse, noise, noise);
    double trace = 0;
    for (int i = 0; i < n; i++)
        trace += noise[i * n + i];
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++) {
            ck_assert_double_eq_tol(after[i * n + l], before[i * n + l], 1e-9 * fabs(before[0] + before[n + 1]));
            ck_assert_double_eq_tol(noise[i * n + l], i == l ? variance[i] : 0, 1e-9 * trace);
        }
}
END_TEST

/* A covariance that is diagonal already turns nothing. */
START_TEST(cells_along_the_noise_stay)
{
    const int n = 3;
    double noise[GBEES_MATRIX] = {0.1, 0, 0, 0, 2, 0, 0, 0, 0}, variance[GBEES_MAX_DIM];
    gbees_frame_shape shape = {.limited = 0};

    gbees_shape_keep(n, &shape);
    ck_assert_int_eq(gbees_shape_turn(n, noise, &shape, variance), 0);
    ck_assert_int_eq(gbees_shape_is_kept(n, &shape), 1);
    for (int i = 0; i < n; i++)
        ck_assert_double_eq(variance[i], noise[i * n + i]);
}
END_TEST

/* A Gaussian that is spread by one: its information is the inverse of the sum of the covariances. */
START_TEST(information_of_a_spread_gaussian)
{
    const int n = 3;
    double c[GBEES_MATRIX], j[GBEES_MATRIX], noise[GBEES_MATRIX], unused[GBEES_MATRIX], sum[GBEES_MATRIX],
        exact[GBEES_MATRIX];

    some_density(n, 7, c, unused);
    some_density(n, 8, noise, unused);
    invert(n, c, j);
    for (int k = 0; k < n * n; k++)
        sum[k] = c[k] + noise[k];
    invert(n, sum, exact);
    gbees_shape_widen(n, noise, j);
    for (int k = 0; k < n * n; k++)
        ck_assert_double_eq_tol(j[k], exact[k], 1e-10);
}
END_TEST

/* Half the mass of a Gaussian of deviation s at each of -d and d: J by Simpson's rule. */
static double information_of_modes(double s, double d)
{
    enum { STEPS = 20000 };
    const double reach = d + 12 * s, h = 2 * reach / STEPS;
    double sum = 0;

    for (int i = 1; i < STEPS; i++) {
        const double x = -reach + i * h, a = exp(-0.5 * (x - d) * (x - d) / (s * s)),
                     b = exp(-0.5 * (x + d) * (x + d) / (s * s));
        const double slope = -((x - d) * a + (x + d) * b) / (s * s); /* p = (a + b) / (2 s sqrt(2 pi)) */

        sum += (i % 2 ? 4 : 2) * (a + b > 0 ? slope * slope / (a + b) : 0);
    }
    return sum * h / 3 / (2 * s * sqrt(2 * acos(-1)));
}

/* Two modes along an axis and a Gaussian along the other, turned by an angle. */
START_TEST(two_modes)
{
    static const double angles[] = {0, 0.4, 1.2};
    const double s = 3, d = 12, t = 5, k = 2, most = _i % 2 ? 6 : 100, a = angles[_i / 2];
    const double map[] = {cos(a), -sin(a), sin(a), cos(a)};
    double c[] = {s * s + d * d, 0, 0, t * t}, j[] = {information_of_modes(s, d), 0, 0, 1 / (t * t)};
    const double lambda = c[0] * j[0], cells = fmin(k * sqrt(lambda), most);
    double edges[] = {sqrt(c[0]) / cells, 0, 0, t / k};
    const double longest = fmax(1 / edges[0], 1 / edges[3]), growth = 1 / (edges[0] * edges[3]);

    map_matrix(2, map, c, c);
    map_matrix(2, map, j, j);
    map_matrix(2, map, edges, edges);
    const gbees_frame_shape shape = shape_of(2, c, j, k, most);
    ck_assert_double_gt(lambda, 10); /* far from a Gaussian */
    ck_assert_double_eq_tol(shape.lambda[0], 1, 1e-10);
    ck_assert_double_eq_tol(shape.lambda[1], lambda, 1e-10 * lambda);
    ck_assert_double_eq_tol(shape.cells[1], cells, 1e-10 * cells);
    ck_assert_int_eq(shape.limited, _i % 2);
    ck_assert_double_eq_tol(shape.bend, sqrt(lambda), 1e-10 * lambda);
    ck_assert_double_eq_tol(shape.longest, longest, 1e-10);
    ck_assert_double_eq_tol(shape.growth, growth, 1e-10);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(shape.edges[i], edges[i], 1e-10);
}
END_TEST

/* A bent sheet: x_2 = b x_1^2 + s z with standard normal x_1 and z. C = diag(1, 2 b^2 + s^2), J = diag(1 + 4 b^2 /
 * s^2, 1 / s^2), scaled to cells of 1/8. */
START_TEST(a_bent_sheet)
{
    static const double bends[] = {0, 0.1, 1, 5};
    const double b = bends[_i], s = 0.5, unit = 64;
    const double c[] = {unit, 0, 0, unit * (2 * b * b + s * s)};
    const double j[] = {(1 + 4 * b * b / (s * s)) / unit, 0, 0, 1 / (s * s * unit)};
    const gbees_frame_shape shape = shape_of(2, c, j, 2, 1e3);
    const double along = 1 + 4 * b * b / (s * s), across = 1 + 2 * b * b / (s * s);

    ck_assert_double_eq_tol(shape.lambda[0], across, 1e-12 * across);
    ck_assert_double_eq_tol(shape.lambda[1], along, 1e-12 * along);
    ck_assert_double_eq_tol(shape.bend, sqrt(along * across), 1e-12 * along);
    ck_assert_double_eq_tol(shape.edges[0], 8 / (2 * sqrt(along)),
                            1e-12); /* a deviation of the local Gaussian: 2 cells */
    ck_assert_double_eq_tol(shape.edges[3], 8 * s / 2, 1e-12);
}
END_TEST

/* Cells of a white Gaussian: whether they are replaced when they are `length` times as long as they should be along
 * one of two axes, and as they should be along the other. */
START_TEST(when_cells_are_replaced)
{
    static const struct {
        double length, other;
        int outgrown;
    } cases[] = {{1, 1, 0}, {1.24, 1, 0}, {1.26, 1, 1}, {0.51, 1, 0}, {0.49, 1, 1}, {0.7, 0.7, 1}, {1.2, 0.45, 0}};
    const double k = 2, wide = k / cases[_i].length, other = k / cases[_i].other;
    const double c[] = {wide * wide, 0, 0, other * other}, j[] = {1 / (wide * wide), 0, 0, 1 / (other * other)};
    const gbees_frame_shape shape = shape_of(2, c, j, k, 10);

    ck_assert_int_eq(gbees_shape_is_outgrown(&shape), cases[_i].outgrown);
}
END_TEST

/* A density in one cell along an axis, where C is rounding, has finite cells. */
START_TEST(one_cell_along_an_axis)
{
    const double c[] = {9, 0, 0, -1e-17}, j[] = {1.0 / 9, 0, 0, 8};
    const gbees_frame_shape shape = shape_of(2, c, j, 2, 10);

    ck_assert_double_eq_tol(shape.edges[0], 1.5, 1e-12);
    ck_assert_double_eq_tol(shape.edges[3], sqrt(1e-3) / 2, 1e-12);
    ck_assert_int_eq(gbees_shape_is_outgrown(&shape), 1);
}
END_TEST

START_TEST(bad_input_is_an_error)
{
    static const struct {
        double cells, most, c;
        gbees_status status;
        const char *text;
    } cases[] = {{2, 1, 1, GBEES_EINPUT, "at most 1"},          {0, 1, 1, GBEES_EINPUT, "above 0"},
                 {2, INFINITY, 1, GBEES_EINPUT, "at most inf"}, {NAN, 1, 1, GBEES_EINPUT, "above 0"},
                 {2, 8, NAN, GBEES_ENUMERIC, "not finite"},     {2, 8, INFINITY, GBEES_ENUMERIC, "not finite"}};
    const gbees_shape_rule rule = {.cells = cases[_i].cells, .most = cases[_i].most};
    gbees_frame_shape shape = {.limited = 7};
    gbees_error error = {0};

    ck_assert_int_eq(gbees_shape_find(1, &cases[_i].c, &(double){1}, &rule, &shape, &error), cases[_i].status);
    ck_assert_msg(strstr(error.text, cases[_i].text) != NULL, "%s", error.text);
    ck_assert_int_eq(shape.limited, 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *cells = tcase_create("cells");

    tcase_add_loop_test(cells, a_gaussian_gives_white_cells, 1, GBEES_MAX_DIM + 1);
    tcase_add_loop_test(cells, affine_maps_leave_lambda_alone, 0, 20);
    tcase_add_loop_test(cells, new_cells_are_not_replaced, 0, 10);
    tcase_add_loop_test(cells, cells_are_turned_to_noise, 0, 10);
    tcase_add_test(cells, cells_along_the_noise_stay);
    tcase_add_test(cells, information_of_a_spread_gaussian);
    tcase_add_loop_test(cells, two_modes, 0, 6);
    tcase_add_loop_test(cells, a_bent_sheet, 0, 4);
    tcase_add_loop_test(cells, when_cells_are_replaced, 0, 7);
    tcase_add_test(cells, one_cell_along_an_axis);
    tcase_add_loop_test(cells, bad_input_is_an_error, 0, 6);
    suite_add_tcase(suite, cells);
    return run_suite(suite);
}
