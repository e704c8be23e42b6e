/* test_regrid.c - what an engine on another grid is given, and what is kept of the one before; on a backend that
 * computes nothing. */
#include "fixtures/suite.h"
#include "base/initial_cells.h"
#include "solver/grid/regrid.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a backend --------------------------------------------------------------------------------------------- */

struct gbees_engine {
    gbees_initial_cells cells; /* a copy of the problem's, which last until the engine is made */
};

/* What it is to say, and what it was asked. */
static struct {
    int engines, made, fail_create, fail_cells;
    gbees_totals totals; /* of any engine */
    double fraction;
} stage;

static int fake_create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                       gbees_error *error)
{
    ck_assert_int_eq(options->threads, 3);
    ck_assert_int_eq(stage.engines, 0); /* two would need the memory of both */
    if (stage.fail_create)
        return gbees_error_set(error, GBEES_ENOMEM, "no room");
    *engine = malloc(sizeof **engine);
    ck_assert_ptr_nonnull(*engine);
    (*engine)->cells = (gbees_initial_cells){0};
    if (problem->cells) {
        const size_t count = problem->cells->count;

        ck_assert_int_eq(gbees_initial_cells_reserve(&(*engine)->cells, problem->dimension, count), 0);
        (*engine)->cells.count = count;
        for (int j = 0; j < problem->dimension; j++)
            memcpy((*engine)->cells.index[j], problem->cells->index[j], count * sizeof(int32_t));
        memcpy((*engine)->cells.p, problem->cells->p, count * sizeof(double));
    }
    stage.engines++;
    stage.made++;
    return GBEES_OK;
}

static void fake_destroy(gbees_engine *engine)
{
    stage.engines--;
    gbees_initial_cells_clear(&engine->cells);
    free(engine);
}

/* Two cells, out of order, which hold all but a fifth; or those that the engine was made of. */
static int fake_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error)
{
    const gbees_initial_cells *cells = &engine->cells;
    const int32_t x[] = {4, -3}, y[] = {1, 5};
    const double p[] = {0.25, 0.55};

    stage.fraction = fraction;
    if (stage.fail_cells)
        return gbees_error_set(error, GBEES_EBACKEND, "no cells today");
    return cells->count ? visitor(context, cells->count, (const int32_t *const *)cells->index, cells->p)
                        : visitor(context, 2, (const int32_t *const[]){x, y}, p);
}

static void fake_totals(const gbees_engine *engine, gbees_totals *totals)
{
    (void)engine;
    *totals = stage.totals;
}

static const gbees_backend fake = {
    .create = fake_create, .destroy = fake_destroy, .cells = fake_cells, .totals = fake_totals};

/* ---- set-up ------------------------------------------------------------------------------------------------ */

static gbees_problem problem;
static gbees_grid grid;
static const gbees_clock now = {.time = 2.5};
static gbees_error error;

static void set_up(void)
{
    memset(&stage, 0, sizeof stage);
    stage.totals = (gbees_totals){.steps = 7,
                                  .cell_updates = 100,
                                  .raw_cell_updates = 200,
                                  .max_cells = 30,
                                  .peak_bytes = 1000,
                                  .mass_clipped = 0.01,
                                  .mass_outflow = 0.03,
                                  .mass_pruned = 0.05,
                                  .mass_normalised = 0.02,
                                  .time_step = 0.125,
                                  .threshold = 1e-4,
                                  .warnings = GBEES_WARNING_BUDGET_MEMORY};
    problem = (gbees_problem){.dimension = 2,
                              .start = 2,
                              .end = 4,
                              .mean = {10, 20},
                              .width = {0.5, 0.25},
                              .extent = {6, 6},
                              .gaussian_count = 1,
                              .threshold = 1e-4,
                              .numerics = {.cell_values = GBEES_CELL_AVERAGES}};
    grid = (gbees_grid){.backend = &fake, .options = {.threads = 3}, .problem = &problem};
    ck_assert_int_eq(gbees_grid_open(&grid, &error), GBEES_OK);
}

static void tear_down(void)
{
    gbees_grid_close(&grid);
    ck_assert_int_eq(stage.engines, 0);
}

static void replace(int first, int second)
{
    ck_assert_msg(gbees_grid_replace(&grid, &now, (int[]){first, second}, &error) == GBEES_OK, "%s", error.text);
}

/* ---- the problem of another grid --------------------------------------------------------------------------- */

START_TEST(the_grid)
{
    static const int first[] = {-6, -5, 8, 9};

    ck_assert_ptr_eq(gbees_grid_problem(&grid), &problem);
    replace(1, -2);
    const gbees_problem *made = gbees_grid_problem(&grid);
    const gbees_initial_cells *cells = &grid.engine->cells;
    ck_assert_uint_eq(made->cells->count, 0); /* the list is gone */
    ck_assert_ptr_null(made->cells->p);
    ck_assert_double_eq(made->width[0], 0.25);
    ck_assert_double_eq(made->width[1], 1);
    /* The lower face of cell 0 stays where it is: 9.75, and 19.875. */
    ck_assert_double_eq(made->mean[0], 9.875);
    ck_assert_double_eq(made->mean[1], 20.375);
    ck_assert_double_eq(made->threshold, 2e-4);
    ck_assert_int_eq(made->gaussian_count, 0);
    ck_assert_int_eq(made->extent[0], 9);
    ck_assert_int_eq(made->extent[1], 1);
    ck_assert_uint_eq(cells->count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(cells->index[0][i], first[i]);
        ck_assert_int_eq(cells->index[1][i], i < 2);
        ck_assert_double_eq(cells->p[i], i < 2 ? 0.275 : 0.125);
    }
    ck_assert_double_gt(stage.fraction, 0); /* some below p* come along */
    ck_assert_double_lt(stage.fraction, 1);
}
END_TEST

/* A fifth of the mass 0.95 is left behind. */
START_TEST(the_run_so_far)
{
    replace(1, -2);
    const gbees_initial_cells *cells = gbees_grid_problem(&grid)->cells;
    ck_assert_double_eq_tol(cells->mass, 0.8 * 0.95, 1e-15);
    ck_assert_double_eq_tol(cells->lost, 0.03 + 0.05 + 0.2 * 0.95, 1e-15);
    ck_assert_double_eq(cells->time, 2.5);
    ck_assert_uint_eq(cells->steps, 7);
    ck_assert_double_eq(cells->threshold, 2e-4);

    const gbees_totals all = gbees_grid_totals(&grid);
    ck_assert_uint_eq(all.steps, 14);
    ck_assert_double_eq(all.cell_updates, 200);
    ck_assert_double_eq(all.raw_cell_updates, 400);
    ck_assert_uint_eq(all.max_cells, 30);
    ck_assert_uint_eq(all.peak_bytes, 1000 + 4 * 16); /* with a list of four cells beside an engine */
    ck_assert_double_eq_tol(all.mass_clipped, 0.02, 1e-15);
    ck_assert_double_eq_tol(all.mass_outflow, 0.06, 1e-15);
    ck_assert_double_eq_tol(all.mass_normalised, 0.04, 1e-15);
    ck_assert_double_eq_tol(all.mass_pruned, 0.1 + 0.2 * 0.95, 1e-15);
    stage.totals = (gbees_totals){.max_cells = 50, .peak_bytes = 10, .threshold = 3e-4};
    ck_assert_uint_eq(gbees_grid_totals(&grid).max_cells, 50);
    ck_assert_uint_eq(gbees_grid_totals(&grid).peak_bytes, 1000 + 4 * 16);
    stage.totals.peak_bytes = 2000;
    ck_assert_uint_eq(gbees_grid_totals(&grid).peak_bytes, 2000);
    ck_assert_double_eq(gbees_grid_totals(&grid).threshold, 3e-4);
    ck_assert_double_eq(gbees_grid_totals(&grid).time_step, 0.125); /* the last there was */
    ck_assert_uint_eq(gbees_grid_totals(&grid).warnings, GBEES_WARNING_BUDGET_MEMORY);
}
END_TEST

/* Levels are of the first grid; one grid after the other, the ledgers add up. */
START_TEST(there_and_back)
{
    replace(1, -2);
    replace(1, -2);
    ck_assert_int_eq(stage.made, 2); /* nothing to do */
    replace(0, 0);
    const gbees_problem *made = gbees_grid_problem(&grid);
    ck_assert_double_eq(made->width[0], 0.5);
    ck_assert_double_eq(made->width[1], 0.25);
    ck_assert_double_eq(made->mean[0], 10);
    ck_assert_double_eq(made->mean[1], 20);
    ck_assert_double_eq(made->threshold, 1e-4);
    ck_assert_uint_eq(grid.engine->cells.count, 8); /* each along axis 1 in four */
    ck_assert_uint_eq(made->cells->steps, 14);
    const gbees_totals all = gbees_grid_totals(&grid);
    ck_assert_uint_eq(all.steps, 21);
    const double mass = 1 + all.mass_clipped + all.mass_normalised - all.mass_outflow - all.mass_pruned;
    ck_assert_double_eq_tol(made->cells->mass, mass + 0.05, 1e-15); /* less what the third engine says */
}
END_TEST

/* A rotated grid is moved along its own axes; the model's functions have its centre behind their parameters. */
START_TEST(a_rotated_grid)
{
    const double c = 0.6, s = 0.8;

    problem.rotated = 1;
    problem.mean[0] = problem.mean[1] = 0;
    problem.centre[0] = 10;
    problem.centre[1] = 20;
    memcpy(problem.rotation, (double[]){c, -s, s, c}, 4 * sizeof(double));
    replace(1, 1);
    const gbees_problem *made = gbees_grid_problem(&grid);
    const double x[2] = {10 + c * -0.125 - s * -0.0625, 20 + s * -0.125 + c * -0.0625};
    for (int j = 0; j < 2; j++) {
        ck_assert_double_eq(made->mean[j], 0);
        ck_assert_double_eq_tol(made->centre[j], x[j], 1e-14);
        ck_assert_double_eq(made->parameters[GBEES_MAX_PARAMETERS + j], made->centre[j]);
    }
}
END_TEST

/* The steps before a run that goes on from a record count for the order of sweeps, and are not the run's. */
START_TEST(a_run_from_a_record)
{
    int32_t x = 1, y = 2;
    double p = 1;
    gbees_initial_cells cells = {.count = 1, .index = {&x, &y}, .p = &p, .mass = 1, .time = 2, .steps = 100};

    problem.cells = &cells;
    problem.steps_before = 100;
    problem.gaussian_count = 0;
    replace(1, 0);
    const gbees_problem *made = gbees_grid_problem(&grid);
    ck_assert_uint_eq(made->cells->steps, 107);
    ck_assert_uint_eq(made->steps_before, 100);
    replace(2, 0);
    ck_assert_uint_eq(gbees_grid_problem(&grid)->cells->steps, 114);
    ck_assert_uint_eq(gbees_grid_totals(&grid).steps, 21);
    ck_assert_uint_eq(cells.count, 1); /* the record's are left alone */
}
END_TEST

/* ---- failures ---------------------------------------------------------------------------------------------- */

START_TEST(no_other_engine)
{
    const int level[] = {1, 0};

    stage.fail_create = 1;
    ck_assert_int_eq(gbees_grid_replace(&grid, &now, level, &error), GBEES_ENOMEM);
    ck_assert_str_eq(error.text, "no room");
    ck_assert_ptr_null(grid.engine);
    ck_assert_uint_eq(gbees_grid_totals(&grid).steps, 7); /* of the one that is gone */
}
END_TEST

START_TEST(no_cells)
{
    int level[] = {1, 0};

    stage.fail_cells = 1;
    ck_assert_int_eq(gbees_grid_replace(&grid, &now, level, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "no cells today");
    stage.fail_cells = 0;
    level[0] = 29;
    ck_assert_int_eq(gbees_grid_replace(&grid, &now, level, &error), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(grid.engine);
    ck_assert_ptr_eq(gbees_grid_problem(&grid), &problem);
    ck_assert_uint_eq(gbees_grid_totals(&grid).steps, 7);
    level[0] = 1;
    ck_assert_int_eq(gbees_grid_replace(&grid, &now, level, &error), GBEES_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regrid");
    TCase *tests = tcase_create("regrid");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_grid);
    tcase_add_test(tests, the_run_so_far);
    tcase_add_test(tests, there_and_back);
    tcase_add_test(tests, a_rotated_grid);
    tcase_add_test(tests, a_run_from_a_record);
    tcase_add_test(tests, no_other_engine);
    tcase_add_test(tests, no_cells);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
