/* test_initial_grid.c - the bricks that a grid starts with (backends/common/initial_grid.h), against a search through
 * all bricks of the initial density, cell by cell. */
#include "common/bound.h"
#include "common/initial_grid.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All bricks of a problem's initial density. */
typedef struct every_brick {
    initial_bricks bricks;
    double (*p)[64];
    uint64_t *active;      /* [bricks.count]: the cells with P >= p* */
    unsigned char *needed; /* [bricks.count]: 1: an active cell is in the brick, or a step away from it */
    uint64_t active_bricks;
} every_brick;

static void compute_all(every_brick *all, const gbees_problem *problem, const gbees_shape *shape,
                        const initial_grid *grid)
{
    gbees_error error = {GBEES_OK, ""};
    initial_cursor cursor = {{0}};

    ck_assert_msg(!initial_bricks_create(&all->bricks, problem, shape, 1e9, 2, &error), "%s", error.text);
    all->p = malloc((size_t)all->bricks.count * sizeof *all->p);
    all->active = calloc((size_t)all->bricks.count, sizeof *all->active);
    all->needed = calloc((size_t)all->bricks.count, 1);
    all->active_bricks = 0;
    ck_assert(all->p && all->active && all->needed);
    for (uint64_t k = 0; k < all->bricks.count; k++) {
        int32_t key[GBEES_MAX_DIM];

        initial_bricks_take(&all->bricks, key);
        initial_density_brick(&grid->density, &cursor, shape, key, all->p[k]);
        for (int cell = 0; cell < shape->cells; cell++)
            all->active[k] |= (uint64_t)(all->p[k][cell] * grid->factor >= grid->budget.threshold) << cell;
        all->active_bricks += all->active[k] != 0;
    }
}

static void free_all(every_brick *all)
{
    initial_bricks_destroy(&all->bricks);
    free(all->p);
    free(all->active);
    free(all->needed);
}

/* Marks the brick of the cell at index[n] as needed, if it is one of the initial density. */
static void need(every_brick *all, const gbees_shape *shape, const int32_t *index)
{
    int32_t key[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < shape->n; j++)
        key[j] = gbees_shape_key(shape, j, index[j]);
    const uint64_t place = initial_bricks_find(&all->bricks, key);
    if (place < all->bricks.count)
        all->needed[place] = 1;
}

/* Marks the bricks to which a cell may flow, in one direction or in two, by a cell in each. */
static void need_around(every_brick *all, const gbees_shape *shape, const int32_t *index)
{
    int32_t moved[GBEES_MAX_DIM];

    memcpy(moved, index, sizeof moved);
    for (int j = 0; j < shape->n; j++)
        for (int k = j; k < shape->n; k++)
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++) {
                    moved[j] = index[j] + a;
                    moved[k] = index[k] + (k == j ? a : b);
                    need(all, shape, moved);
                    moved[j] = index[j];
                    moved[k] = index[k];
                }
}

static void find_needed(every_brick *all, const gbees_shape *shape)
{
    initial_bricks_rewind(&all->bricks);
    for (uint64_t k = 0; k < all->bricks.count; k++) {
        int32_t key[GBEES_MAX_DIM], index[GBEES_MAX_DIM] = {0};

        initial_bricks_take(&all->bricks, key);
        for (int cell = 0; cell < shape->cells; cell++) {
            for (int j = 0; j < shape->n; j++)
                index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
            if (all->active[k] >> cell & 1)
                need_around(all, shape, index);
        }
    }
}

static const struct {
    const char *model;
    setting_list set;
} cases[] = {
    {"lorenz63", {"factor=1"}},
    {"lorenz63", {"covariance=[[1, 0.8, 0], [0.8, 1, 0.3], [0, 0.3, 1]]", "rotate=no"}},
    {"lorenz63", {"mass_budget=1e-3"}},
    {"lorenz63", {"precision=double", "cell_values=points"}},
    {"lorenz63",
     {"initial=[{weight: 0.3, mean: [0, 0, 20], covariance: [1, 1, 1]}, "
      "{weight: 0.7, mean: [5, 5, 25], covariance: [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0.3]]}]"}},
    {"lorenz96", {"dimension=4"}},
    {"pcr3bp", {"frame=fixed", "bound=on"}},
};

/* The factor makes the sum 1; the bricks are those that are needed, in the same order; what is left out is the rest.
 */
START_TEST(what_is_needed_is_selected)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_shape shape;
    initial_grid grid;
    every_brick all;
    double sum = 0, left_out = 0;
    uint64_t kept = 0;
    world w;

    world_create(&w, cases[_i].model, cases[_i].set);
    gbees_shape_set(&shape, w.problem->dimension, 64);
    ck_assert_msg(!initial_grid_create(&grid, w.problem, &shape, 2, &error), "%s", error.text);
    compute_all(&all, w.problem, &shape, &grid);
    find_needed(&all, &shape);
    initial_bricks_rewind(&all.bricks);
    for (uint64_t k = 0; k < all.bricks.count; k++) {
        int32_t key[GBEES_MAX_DIM] = {0}, selected[GBEES_MAX_DIM] = {0};

        initial_bricks_take(&all.bricks, key);
        for (int cell = 0; cell < 64; cell++)
            *(all.needed[k] ? &sum : &left_out) += all.p[k][cell] * grid.factor;
        if (!all.needed[k])
            continue;
        ck_assert_uint_lt(kept++, grid.bricks.count);
        initial_bricks_take(&grid.bricks, selected);
        ck_assert_mem_eq(key, selected, sizeof key);
    }
    ck_assert_uint_eq(kept, grid.bricks.count);
    ck_assert_double_eq_tol(sum + left_out, 1, 1e-12);
    ck_assert_double_eq_tol(grid.left_out, left_out, 1e-15);
    ck_assert_double_lt(grid.left_out, 0.02);
    free_all(&all);
    initial_grid_destroy(&grid);
    world_close(&w);
}
END_TEST

/* By how much of the number of bricks with an active cell the estimate may be wrong: a correlated Gaussian has fewer
 * than one without correlation, and Gaussians of a mixture may overlap. */
static const struct {
    const char *model;
    setting_list set;
    double least, most;
} estimates[] = {
    {"lorenz63", {NULL}, 0.9, 1.3},
    {"lorenz63", {"factor=1"}, 0.9, 1.3},
    {"lorenz63", {"mass_budget=1e-3"}, 1, 2},
    {"lorenz63",
     {"initial=[{weight: 0.3, mean: [0, 0, 20], covariance: [1, 1, 1]}, "
      "{weight: 0.7, mean: [5, 5, 25], covariance: [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0.3]]}]"},
     0.9,
     1.6},
    {"lorenz96", {"dimension=4"}, 0.9, 1.2},
    {"lorenz96", {"dimension=5"}, 0.9, 1.2},
    {"lorenz96", {"dimension=6"}, 0.9, 1.2},
};

START_TEST(the_estimate_is_near)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_shape shape;
    initial_grid grid;
    every_brick all;
    world w;

    world_create(&w, estimates[_i].model, estimates[_i].set);
    gbees_shape_set(&shape, w.problem->dimension, 64);
    ck_assert_msg(!initial_grid_create(&grid, w.problem, &shape, 2, &error), "%s", error.text);
    compute_all(&all, w.problem, &shape, &grid);
    const double ratio = initial_grid_estimate(w.problem, &shape) / (double)all.active_bricks;
    ck_assert_double_ge(ratio, estimates[_i].least);
    ck_assert_double_le(ratio, estimates[_i].most);
    free_all(&all);
    initial_grid_destroy(&grid);
    world_close(&w);
}
END_TEST

/* In the reference modes the first prune comes later: all bricks are there until then. */
START_TEST(a_reference_has_all_bricks)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_shape shape;
    initial_grid grid;
    initial_bricks all;
    world w;

    world_create(&w, "lorenz63", (setting_list){"mode=paper"});
    gbees_shape_set(&shape, 3, 1);
    ck_assert_msg(!initial_grid_create(&grid, w.problem, &shape, 2, &error), "%s", error.text);
    ck_assert_msg(!initial_bricks_create(&all, w.problem, &shape, 1e9, 2, &error), "%s", error.text);
    ck_assert_int_eq(initial_grid_selects(w.problem), 0);
    ck_assert_uint_eq(grid.bricks.count, all.count);
    for (uint64_t k = 0; k < all.count; k++) {
        int32_t key[GBEES_MAX_DIM] = {0}, selected[GBEES_MAX_DIM] = {0};

        initial_bricks_take(&all, key);
        initial_bricks_take(&grid.bricks, selected);
        ck_assert_mem_eq(key, selected, sizeof key);
    }
    ck_assert_double_eq(grid.left_out, 0);
    initial_bricks_destroy(&all);
    initial_grid_destroy(&grid);
    world_close(&w);
}
END_TEST

START_TEST(nothing_above_the_threshold_is_an_error)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_shape shape;
    initial_grid grid;
    world w;

    world_create(&w, "lorenz63", (setting_list){"threshold=0.5"});
    gbees_shape_set(&shape, 3, 64);
    ck_assert_int_eq(initial_grid_create(&grid, w.problem, &shape, 1, &error), GBEES_ENUMERIC);
    ck_assert_msg(strstr(error.text, "no cell holds as much as the threshold 0.5") != NULL, "%s", error.text);
    world_close(&w);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    gbees_error error = {GBEES_OK, ""};
    gbees_shape shape;
    initial_grid one, three;
    world w;

    world_create(&w, "lorenz96", (setting_list){"dimension=5"});
    gbees_shape_set(&shape, 5, 64);
    ck_assert_msg(!initial_grid_create(&one, w.problem, &shape, 1, &error), "%s", error.text);
    ck_assert_msg(!initial_grid_create(&three, w.problem, &shape, 3, &error), "%s", error.text);
    ck_assert_double_eq(one.factor, three.factor);
    ck_assert_double_eq(one.left_out, three.left_out);
    ck_assert_uint_eq(one.bricks.count, three.bricks.count);
    ck_assert_mem_eq(one.bricks.list, three.bricks.list, one.bricks.count * sizeof *one.bricks.list);
    initial_grid_destroy(&one);
    initial_grid_destroy(&three);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("initial grid");
    TCase *tcase = tcase_create("initial grid");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, what_is_needed_is_selected, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tcase, the_estimate_is_near, 0, (int)(sizeof estimates / sizeof *estimates));
    tcase_add_test(tcase, a_reference_has_all_bricks);
    tcase_add_test(tcase, nothing_above_the_threshold_is_an_error);
    tcase_add_test(tcase, threads_change_no_bit);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
