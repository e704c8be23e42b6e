/* test_refine.c - lists of cells on finer and coarser grids: mass, order, positivity, indices. */
#include "fixtures/refine_fixture.h"
#include "fixtures/suite.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of cells ---------------------------------------------------------------------------------------- */

/* P of some cell, by its index and a seed: over many orders of magnitude, so that neighbours are steep steps. */
static double some_value(int n, const int32_t *index, uint64_t seed)
{
    uint64_t bits = seed + 88172645463325252u;

    for (int j = 0; j < n; j++) {
        bits = (bits ^ (uint64_t)(index[j] + 1000000)) * 6364136223846793005u;
        bits ^= bits >> 29;
    }
    return exp(-30 * (double)(bits >> 11) * 0x1p-53);
}

/* A box of cells with a tenth of them left out. */
static gbees_initial_cells box(int n, const int *side, const int32_t *first)
{
    size_t all = 1;

    for (int j = 0; j < n; j++)
        all *= (size_t)side[j];
    gbees_initial_cells cells = list_empty(n, all);
    for (size_t i = 0; i < all; i++) {
        int32_t index[GBEES_MAX_DIM];

        list_place(n, side, first, i, index);
        if (some_value(n, index, 7) < exp(-27))
            continue;
        for (int j = 0; j < n; j++)
            cells.index[j][cells.count] = index[j];
        cells.p[cells.count++] = some_value(n, index, 1);
    }
    return cells;
}

static gbees_initial_cells lone(int n, const int32_t *index, double p)
{
    gbees_initial_cells cells = list_of(n, 1);

    for (int j = 0; j < n; j++)
        cells.index[j][0] = index[j];
    cells.p[0] = p;
    return cells;
}

/* -1, 0 or 1, as cell a comes before cell b, is the same, or comes after it. */
static int order_of(const gbees_initial_cells *cells, int n, size_t a, size_t b)
{
    for (int j = 0; j < n; j++)
        if (cells->index[j][a] != cells->index[j][b])
            return cells->index[j][a] < cells->index[j][b] ? -1 : 1;
    return 0;
}

static void check_order(const gbees_initial_cells *cells, int n)
{
    for (size_t i = 1; i < cells->count; i++)
        ck_assert_msg(order_of(cells, n, i - 1, i) < 0, "cell %zu of %zu is out of order", i, cells->count);
}

static void check_positive(const gbees_initial_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        ck_assert_msg(cells->p[i] > 0 && isfinite(cells->p[i]), "cell %zu: %g", i, cells->p[i]);
}

static void check_same_indices(const gbees_initial_cells *a, const gbees_initial_cells *b, int n)
{
    ck_assert_uint_eq(a->count, b->count);
    for (int j = 0; j < n; j++)
        ck_assert_mem_eq(a->index[j], b->index[j], a->count * sizeof(int32_t));
}

static void check_same(const gbees_initial_cells *a, const gbees_initial_cells *b, int n)
{
    check_same_indices(a, b, n);
    ck_assert_mem_eq(a->p, b->p, a->count * sizeof(double));
}

/* ---- all changes ------------------------------------------------------------------------------------------- */

static const struct {
    int n, side[6], change[6];
} changes[] = {
    {1, {64}, {0}},
    {1, {64}, {1}},
    {1, {64}, {3}},
    {1, {64}, {-1}},
    {1, {64}, {-4}},
    {2, {20, 17}, {0, 0}},
    {2, {20, 17}, {1, 1}},
    {2, {20, 17}, {2, 0}},
    {2, {20, 17}, {0, 1}},
    {2, {20, 17}, {1, -1}},
    {2, {20, 17}, {-2, 3}},
    {2, {20, 17}, {-1, -2}},
    {3, {9, 7, 8}, {0, 0, 0}},
    {3, {9, 7, 8}, {1, 1, 1}},
    {3, {9, 7, 8}, {0, 2, 0}},
    {3, {9, 7, 8}, {2, -1, 0}},
    {3, {9, 7, 8}, {-1, 1, 2}},
    {3, {9, 7, 8}, {-2, -1, -1}},
    {6, {4, 3, 4, 3, 2, 4}, {0, 0, 0, 0, 0, 0}},
    {6, {4, 3, 4, 3, 2, 4}, {1, 1, 1, 1, 1, 1}},
    {6, {4, 3, 4, 3, 2, 4}, {0, 0, 2, 0, 0, 0}},
    {6, {4, 3, 4, 3, 2, 4}, {1, -1, 0, 2, -1, 0}},
    {6, {4, 3, 4, 3, 2, 4}, {-1, -1, -1, -1, -1, -1}},
    {6, {4, 3, 4, 3, 2, 4}, {-2, 0, 1, 0, 0, 1}},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Boxes around the origin: most have indices of both signs. */
static const int32_t corner[6] = {-7, -11, -3, -2, -1, 5};

/* Of averages, and of values at centres. */
START_TEST(mass_order_and_sign)
{
    const int k = _i / 2, n = changes[k].n;
    gbees_initial_cells before = box(n, changes[k].side, corner), after = list_copy(&before, n);
    int nothing = 1;

    refine_values(&after, n, changes[k].change, _i % 2 ? GBEES_CELL_POINTS : GBEES_CELL_AVERAGES);
    ck_assert_double_eq_tol(list_sum(&after), list_sum(&before), 1e-14 * list_sum(&before));
    check_order(&after, n);
    check_positive(&after);
    for (int j = 0; j < n; j++)
        nothing = nothing && changes[k].change[j] == 0;
    if (nothing)
        check_same(&after, &before, n);
    gbees_initial_cells_clear(&before);
    gbees_initial_cells_clear(&after);
}
END_TEST

/* Each cell keeps what it holds: merging its parts again gives the list back. */
START_TEST(coarser_after_finer)
{
    const int n = changes[_i].n;
    gbees_initial_cells before = box(n, changes[_i].side, corner), after = list_copy(&before, n);
    int finer[6], back[6];

    for (int j = 0; j < n; j++) {
        finer[j] = abs(changes[_i].change[j]);
        back[j] = -finer[j];
    }
    refine(&after, n, finer);
    refine(&after, n, back);
    check_same_indices(&after, &before, n);
    for (size_t i = 0; i < after.count; i++)
        ck_assert_double_eq_tol(after.p[i], before.p[i], 1e-14 * before.p[i]);
    gbees_initial_cells_clear(&before);
    gbees_initial_cells_clear(&after);
}
END_TEST

/* Lists apart by two cells along one axis, or by far along several, do not see each other. */
START_TEST(cells_apart_do_not_matter)
{
    static const int32_t shifts[][3] = {{11, 0, 0}, {0, 9, 0}, {0, 0, 10}, {-500000, 123456, 7}, {9, 7, 8}};
    const int side[3] = {9, 7, 8};
    const int change[3] = {1, 2, _i % 2 ? -1 : 1};
    const int32_t there[3] = {corner[0] + shifts[_i][0], corner[1] + shifts[_i][1], corner[2] + shifts[_i][2]};
    gbees_initial_cells here = box(3, side, corner), other = box(3, side, there);
    gbees_initial_cells both = list_empty(3, here.count + other.count);
    size_t a = 0, b = 0;

    while (a < here.count || b < other.count) { /* in order */
        int from_other = a == here.count;

        for (int j = 0; j < 3 && a < here.count && b < other.count; j++)
            if (here.index[j][a] != other.index[j][b]) {
                from_other = other.index[j][b] < here.index[j][a];
                break;
            }
        const gbees_initial_cells *from = from_other ? &other : &here;
        const size_t i = from_other ? b++ : a++;
        for (int j = 0; j < 3; j++)
            both.index[j][both.count] = from->index[j][i];
        both.p[both.count++] = from->p[i];
    }
    check_order(&both, 3);
    refine(&here, 3, change);
    refine(&other, 3, change);
    refine(&both, 3, change);
    ck_assert_uint_eq(both.count, here.count + other.count);
    a = b = 0;
    for (size_t i = 0; i < both.count; i++) {
        const int is_here = a < here.count && both.index[0][i] == here.index[0][a] &&
                            both.index[1][i] == here.index[1][a] && both.index[2][i] == here.index[2][a];
        const double p = is_here ? here.p[a++] : other.p[b++];

        ck_assert_double_eq(both.p[i], p);
    }
    gbees_initial_cells_clear(&here);
    gbees_initial_cells_clear(&other);
    gbees_initial_cells_clear(&both);
}
END_TEST

/* ---- single cells and steps -------------------------------------------------------------------------------- */

START_TEST(a_lone_cell_is_divided_evenly)
{
    const int n = _i, change[GBEES_MAX_DIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t index[GBEES_MAX_DIM] = {-1, 0, 3, -4, 100, -100, 1, 2};
    gbees_initial_cells cells = lone(n, index, 0.7);

    refine(&cells, n, change);
    ck_assert_uint_eq(cells.count, 1u << n);
    check_order(&cells, n);
    for (size_t i = 0; i < cells.count; i++) {
        ck_assert_double_eq(cells.p[i], ldexp(0.7, -n));
        for (int j = 0; j < n; j++)
            ck_assert(cells.index[j][i] == 2 * index[j] || cells.index[j][i] == 2 * index[j] + 1);
    }
    gbees_initial_cells_clear(&cells);
}
END_TEST

/* The parts of cell i are the cells i 2^change ... (i + 1) 2^change - 1, on either side of 0. */
START_TEST(indices_on_either_side)
{
    static const int32_t indices[] = {-1025, -3, -2, -1, 0, 1, 2, 1024};

    for (size_t k = 0; k < sizeof indices / sizeof *indices; k++)
        for (int change = -GBEES_REFINE_MOST; change <= GBEES_REFINE_MOST / 2; change++) {
            gbees_initial_cells cells = lone(1, &indices[k], 1);
            const double first = floor(ldexp(indices[k], change));

            refine(&cells, 1, &change);
            ck_assert_uint_eq(cells.count, change > 0 ? 1u << change : 1);
            for (size_t i = 0; i < cells.count; i++)
                ck_assert_double_eq(cells.index[0][i], first + (double)i);
            ck_assert_double_eq_tol(list_sum(&cells), 1, 1e-14);
            gbees_initial_cells_clear(&cells);
        }
}
END_TEST

/* A polynomial would go below 0 beside the step; what it lacks there stays in the cell. */
START_TEST(a_steep_step_does_not_become_negative)
{
    static const double low[] = {1e-300, 1e-20, 1e-8, 1e-3, 0.04};
    enum { SIDE = 24 };

    for (size_t k = 0; k < sizeof low / sizeof *low; k++)
        for (int change = 1; change <= 3; change++) {
            gbees_initial_cells cells = list_of(1, SIDE);

            for (int i = 0; i < SIDE; i++) {
                cells.index[0][i] = i - 12;
                cells.p[i] = i / 4 % 2 ? 1 : low[k];
            }
            refine(&cells, 1, &change);
            check_positive(&cells);
            check_order(&cells, 1);
            refine(&cells, 1, &(int){-change});
            ck_assert_uint_eq(cells.count, SIDE);
            for (int i = 0; i < SIDE; i++)
                ck_assert_double_eq_tol(cells.p[i], i / 4 % 2 ? 1 : low[k], 1e-14 * cells.p[i]);
            gbees_initial_cells_clear(&cells);
        }
}
END_TEST

START_TEST(an_empty_list_stays_empty)
{
    gbees_initial_cells cells = list_empty(3, 0);

    refine(&cells, 3, (int[]){1, -1, 2});
    ck_assert_uint_eq(cells.count, 0);
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&cells); /* nothing is freed twice */
}
END_TEST

/* ---- indices that do not fit ------------------------------------------------------------------------------- */

/* In `n` dimensions a record holds 128 / n bits of an index, at most 32. */
static const struct {
    int n, axis, change;
    int32_t index;
    int fits;
} reaches[] = {
    {1, 0, 1, 1 << 28, 0},     {1, 0, 1, -(1 << 29), 0}, {1, 0, 10, 1 << 18, 1},   {1, 0, 10, 1 << 20, 0},
    {2, 1, 10, -(1 << 20), 0}, {2, 0, 1, 1 << 27, 1},    {3, 2, 2, 1 << 27, 0},    {6, 3, 4, 1 << 16, 0},
    {6, 3, 3, 1 << 16, 1},     {8, 0, 1, 16384, 0},      {8, 0, 1, -16000, 1},     {8, 7, 1, 16384, 0},
    {8, 5, 3, -5000, 0},       {1, 0, -1, 1 << 30, 1},   {1, 0, -1, INT32_MAX, 1}, {1, 0, -10, INT32_MIN, 1},
    {2, 0, -1, INT32_MIN, 1},  {8, 3, -1, -32768, 1},
};

START_TEST(an_index_that_does_not_fit_is_an_error)
{
    const int n = reaches[_i].n, axis = reaches[_i].axis;
    int32_t index[GBEES_MAX_DIM] = {0};
    int change[GBEES_MAX_DIM] = {0};
    gbees_error error = {0};
    char named[32];

    index[axis] = reaches[_i].index;
    change[axis] = reaches[_i].change;
    gbees_initial_cells cells = lone(n, index, 1);
    const int status = gbees_refine(&cells, n, change, GBEES_CELL_AVERAGES, 2, &error);
    if (reaches[_i].fits) {
        ck_assert_msg(status == GBEES_OK, "%s", error.text);
        ck_assert_double_eq(cells.index[axis][0], floor(ldexp(index[axis], change[axis])));
    } else {
        ck_assert_int_eq(status, GBEES_ENUMERIC);
        ck_assert_int_eq(error.status, GBEES_ENUMERIC);
        (void)snprintf(named, sizeof named, "along axis %d ", axis);
        ck_assert_msg(strstr(error.text, named) && strstr(error.text, "too many cells"), "%s", error.text);
    }
    gbees_initial_cells_clear(&cells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refine");
    TCase *lists = tcase_create("lists"), *single = tcase_create("single");

    tcase_set_timeout(lists, 60);
    tcase_set_timeout(single, 60);
    tcase_add_loop_test(lists, mass_order_and_sign, 0, 2 * CHANGES);
    tcase_add_loop_test(lists, coarser_after_finer, 0, CHANGES);
    tcase_add_loop_test(lists, cells_apart_do_not_matter, 0, 5);
    tcase_add_loop_test(single, a_lone_cell_is_divided_evenly, 1, GBEES_MAX_DIM + 1);
    tcase_add_test(single, indices_on_either_side);
    tcase_add_test(single, a_steep_step_does_not_become_negative);
    tcase_add_test(single, an_empty_list_stays_empty);
    tcase_add_loop_test(single, an_index_that_does_not_fit_is_an_error, 0, (int)(sizeof reaches / sizeof *reaches));
    suite_add_tcase(suite, lists);
    suite_add_tcase(suite, single);
    return run_suite(suite);
}
