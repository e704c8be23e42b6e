/* test_refinement_variation.c - a plan of runs estimates the total variation of densities to the true one. */
#include "accuracy/variation.h"
#include "fixtures/plan_fixture.h"
#include "fixtures/suite.h"
#include <math.h>

/* The even density on 8 x 1 bins of `problem`, `shift` bins along axis 0, in cells of 1 / `finer` of a bin. */
static gbees_record even_record(const gbees_problem *problem, gbees_problem *grid, double shift, int finer,
                                gbees_cells **cells)
{
    int32_t at[64][N];
    double p[64];

    *grid = *problem;
    grid->width[0] = 1.0 / finer;
    grid->width[1] = 2;
    grid->mean[0] = problem->mean[0] + shift + grid->width[0] / 2;
    grid->mean[1] = problem->mean[1] + 1;
    for (int i = 0; i < 8 * finer; i++) {
        at[i][0] = i;
        at[i][1] = 0;
        p[i] = 1;
    }
    *cells = cells_of((size_t)(8 * finer), (const int32_t(*)[N])at, p);
    return (gbees_record){.problem = grid, .cells = *cells};
}

static gbees_histogram *even_histogram(const gbees_problem *problem, double shift, int finer)
{
    gbees_problem grid;
    gbees_cells *cells;
    gbees_histogram *made = NULL;
    gbees_error error;
    const gbees_record record = even_record(problem, &grid, shift, finer, &cells);

    ck_assert_int_eq(gbees_histogram_create(problem, &record, &made, &error), GBEES_OK);
    ck_assert_ptr_nonnull(made);
    gbees_cells_destroy(cells);
    return made;
}

/* A shift by s <= 8 bins of what is even on 8 is s / 8 off, wherever the cells' edges are. */
START_TEST(a_shift_has_its_variation)
{
    static const double shifts[] = {0, 0.3, 1, 2.75, 8, 20};
    const gbees_problem problem = problem_of(0.1);

    for (int finer = 1; finer <= 8; finer++)
        for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
            gbees_histogram *a = even_histogram(&problem, 0, finer), *b = even_histogram(&problem, shifts[k], 3);

            ck_assert_double_eq_tol(gbees_histogram_variation(a, b), fmin(1, shifts[k] / 8), 1e-12);
            ck_assert_double_eq_tol(gbees_histogram_variation(b, a), fmin(1, shifts[k] / 8), 1e-12);
            gbees_histogram_destroy(a);
            gbees_histogram_destroy(b);
        }
}
END_TEST

/* A density whose shift is in proportion to the cells' width: the estimate by two runs is the true distance, or more
 * where the second is more than twice as fine, which it is along axis 1, where the density is rougher. The first run
 * has none, nor has a grid that moves. */
START_TEST(variation_is_estimated_by_two_runs)
{
    gbees_problem problem = problem_of(0.02), grid;
    gbees_refinement *plan = NULL;
    gbees_refinement_step step;
    gbees_error error;
    double before = 0;

    problem.moving = _i;
    ck_assert_int_eq(gbees_refinement_create(&problem, &plan, &error), GBEES_OK);
    for (int k = 0; k < 3; k++) {
        gbees_scenario *scenario = NULL;
        gbees_certificate certificate;
        gbees_cells *cells;
        double factor, variation = 7;

        ck_assert_int_eq(gbees_scenario_create("", "test", &scenario, &error), GBEES_OK);
        ck_assert_int_eq(gbees_refinement_scenario(plan, scenario, &error), GBEES_OK);
        factor = number_after(gbees_scenario_text(scenario), _i ? "factor: " : "factor: [", _i ? 0 : 1);
        const double shift = 0.5 / factor, finer = k ? factor / before : 1;
        gbees_record record = even_record(&problem, &grid, shift, 2, &cells);
        fill_certificate(&certificate, 0.2 / factor, 0.001, 10000, 1);
        record.certificate = &certificate;
        record.number = 1;
        record.totals.cell_updates = 1e6;
        ck_assert_int_eq(gbees_refinement_variation(plan, &record, &variation, &error), GBEES_OK);
        if (k == 0 || _i)
            ck_assert_double_eq(variation, 0);
        else
            ck_assert_double_eq_tol(variation, shift / 8 * (finer > 2 ? finer - 1 : 1), 1e-9);
        ck_assert_int_eq(gbees_refinement_record(plan, &record, &error), GBEES_OK);
        const gbees_summary summary = {.problem = &problem, .totals.cell_updates = 1e6};
        ck_assert_int_eq(gbees_refinement_finish(plan, &summary, &step, &error), GBEES_OK);
        before = factor;
        gbees_cells_destroy(cells);
        gbees_scenario_destroy(scenario);
    }
    gbees_refinement_destroy(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refinement_variation");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, a_shift_has_its_variation);
    tcase_add_loop_test(tests, variation_is_estimated_by_two_runs, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
