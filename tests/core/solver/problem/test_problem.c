/* test_problem.c - core/solver/problem: what a model and a scenario become. */
#include "fixtures/problem_fixture.h"
#include "fixtures/suite.h"

static gbees_problem *solve(const gbees_model *model, const gbees_scenario *scenario)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_problem_create(model, scenario, &problem, &error) == GBEES_OK, "%s", error.text);
    ck_assert_ptr_nonnull(problem);
    return problem;
}

static gbees_problem *problem_of(const gbees_model *model, const char *text, const char *defaults)
{
    gbees_scenario *scenario = make(text, defaults);
    gbees_problem *problem = solve(model, scenario);

    gbees_scenario_destroy(scenario);
    return problem;
}

START_TEST(default_of_lorenz63)
{
    gbees_problem *problem = problem_of(&lorenz63, "", text63);

    ck_assert_ptr_eq(problem->model, &lorenz63);
    ck_assert_ptr_eq(problem->functions, &table63[0]);
    ck_assert_int_eq(problem->dimension, 3);
    ck_assert(problem->parameters[0] == 4 && problem->parameters[1] == 1 && problem->parameters[2] == 48);
    ck_assert(problem->start == 0 && problem->end == 2 && problem->threshold == 5e-6);
    ck_assert_int_eq(problem->records, 4);
    ck_assert(problem->mean[0] == -11.5 && problem->mean[1] == -10 && problem->mean[2] == 9.5);
    for (int i = 0; i < 9; i++)
        ck_assert(problem->covariance[i] == (i % 4 == 0));
    for (int j = 0; j < 3; j++) {
        ck_assert(problem->width[j] == 0.5);
        ck_assert_int_eq(problem->extent[j], 6);
    }
    ck_assert_int_eq(problem->measurement_count, 1);
    ck_assert(problem->measurements[0].time == 1 && problem->measurements[0].value[0] == -8);
    ck_assert(problem->measurements[0].covariance[0] == 1);
    ck_assert_int_eq(problem->measurements[0].function, 0);
    ck_assert_int_eq(problem->measurements[0].size, 1);
    const gbees_numerics *numerics = &problem->numerics;
    ck_assert_int_eq(numerics->mode, GBEES_MODE_DEFAULT);
    ck_assert_int_eq(numerics->precision, GBEES_MIXED);
    ck_assert_int_eq(numerics->scheme, GBEES_SCHEME_SPLIT5);
    ck_assert_int_eq(numerics->prune_interval, 5);
    ck_assert(numerics->courant == 1 && numerics->time_step == 0);
    gbees_problem_destroy(problem);
}
END_TEST

/* What has no value in the scenario: one record, and the usual accuracy unless a key says how fine the run is. */
START_TEST(least_scenario)
{
    static const struct {
        const char *text;
        double accuracy, budget;
    } rows[] = {{"", 0.05, 0.005}, {"accuracy: 0", 0, 0.005}, {"accuracy: 0.2", 0.2, 0.02}, {"factor: 2", 0, 0.005}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        gbees_problem *problem =
            problem_of(&lorenz63, rows[k].text, "mean: [1, 1, 1]\ncovariance: [1, 1, 1]\nend: 2\n");

        ck_assert_int_eq(problem->records, 1);
        ck_assert(problem->accuracy == rows[k].accuracy && problem->threshold == 0);
        ck_assert_double_eq_tol(problem->mass_budget, rows[k].budget / 2, 1e-15);
        gbees_problem_destroy(problem);
    }
}
END_TEST

START_TEST(schemes)
{
    static const struct {
        const char *text;
        gbees_scheme scheme;
        int prune_interval;
    } cases[] = {{"scheme: split5", GBEES_SCHEME_SPLIT5, 5},
                 {"scheme: split5-mp", GBEES_SCHEME_SPLIT5_MP, 5},
                 {"scheme: split7", GBEES_SCHEME_SPLIT7, 5},
                 {"scheme: split7-mp", GBEES_SCHEME_SPLIT7_MP, 5},
                 {"scheme: upwind", GBEES_SCHEME_UPWIND, 5},
                 {"scheme: split5\nprune_interval: 3", GBEES_SCHEME_SPLIT5, 3},
                 {"scheme: ctu", GBEES_SCHEME_CTU, 20},
                 {"mode: default\nscheme: ctu", GBEES_SCHEME_CTU, 20},
                 {"mode: paper", GBEES_SCHEME_CTU, 20},
                 {"mode: paper\nscheme: ctu\nprune_interval: 2", GBEES_SCHEME_CTU, 2},
                 {"mode: legacy\ntime_step: 0.01", GBEES_SCHEME_CTU, 20}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gbees_problem *problem = problem_of(&lorenz63, cases[k].text, text63);

        ck_assert_msg(problem->numerics.scheme == cases[k].scheme, "%s", cases[k].text);
        ck_assert_msg(problem->numerics.prune_interval == cases[k].prune_interval, "%s", cases[k].text);
        gbees_problem_destroy(problem);
    }
}
END_TEST

START_TEST(default_of_lorenz96)
{
    gbees_problem *problem = problem_of(&lorenz96, "dimension: 8", text96);

    ck_assert_int_eq(problem->dimension, 8);
    ck_assert_int_eq(problem->functions->n, 8);
    ck_assert(problem->mean[0] == 4.5 && problem->mean[1] == 4 && problem->mean[7] == 4);
    ck_assert(problem->covariance[63] == 0.04 && problem->covariance[62] == 0);
    ck_assert(problem->width[7] == sqrt(0.04) / 2);
    ck_assert_int_eq(problem->extent[7], 6);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz96, "", text96);
    ck_assert_int_eq(problem->dimension, 6);
    ck_assert_int_eq(problem->measurement_count, 0);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(initial_cells)
{
    static const struct {
        const char *text;
        double cells;
        int is_small;
    } cases[] = {{"factor: 1\nextent: 3.5\n", 15 * 15 * 15, 1}, /* 3375 */
                 {"factor: 1\nextent: 4\n", 17 * 17 * 17, 0},   /* 4913 */
                 {"factor: 1\nextent: [6, 6, 1.5]\n", 25 * 25 * 7, 0}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gbees_problem *problem = problem_of(&lorenz63, cases[k].text, text63);

        ck_assert_double_eq(gbees_problem_initial_cells(problem), cases[k].cells);
        ck_assert_int_eq(gbees_problem_is_small(problem), cases[k].is_small);
        problem->own_backend = gbees_solver_points(); /* its points are no cells */
        ck_assert_int_eq(gbees_problem_is_small(problem), 0);
        gbees_problem_destroy(problem);
    }
}
END_TEST

START_TEST(widths_and_extents)
{
    gbees_problem *problem = problem_of(&lorenz63, "covariance: [0.01, 4, 0.3]\nfactor: [4, 2.5, 0.1]\n", text63);

    ck_assert(problem->width[0] == 0.1 / 8 && problem->width[1] == 2.0 / 5 && problem->width[2] == sqrt(0.3) / 0.2);
    ck_assert_int_eq(problem->extent[0], 24);
    ck_assert_int_eq(problem->extent[1], 15);
    ck_assert_int_eq(problem->extent[2], 1);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "width: [0.5, 0.3, 4]\nextent: 2\n", text63);
    ck_assert(problem->width[1] == 0.3);
    ck_assert_int_eq(problem->extent[0], 4);
    ck_assert_int_eq(problem->extent[1], 7);
    ck_assert_int_eq(problem->extent[2], 1);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(parameters_by_name)
{
    gbees_problem *problem = problem_of(&lorenz63, "parameters: {r: 28, b: 10}", text63);

    ck_assert(problem->parameters[0] == 4 && problem->parameters[1] == 10 && problem->parameters[2] == 28);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(full_covariance)
{
    gbees_problem *problem =
        problem_of(&lorenz63, "covariance: [[1, 0.9, 0.9], [0.9, 1, 0.9], [0.90000000000000002, 0.9, 1]]", text63);

    ck_assert(problem->covariance[1] == 0.9 && problem->covariance[6] == 0.9);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz63, "covariance: [[1, 0.1, 0], [0.10000000000001, 1, 0], [0, 0, 1]]", text63);
    ck_assert(problem->covariance[1] == problem->covariance[3]);
    gbees_problem_destroy(problem);
}
END_TEST

/* A hundredth of what the cell at the peak of the initial Gaussian has, times the part; in place of a p* that is
 * given. */
START_TEST(a_tail_is_a_threshold)
{
    gbees_problem *problem = problem_of(&lorenz63, "tail: 1e-10\ncovariance: [1, 4, 9]\nfactor: 1\n", text63);
    const double peak = pow(0.5 / sqrt(2 * acos(-1)), 3); /* cells of half a deviation */

    ck_assert_double_eq_tol(problem->threshold, 1e-12 * peak, 1e-18);
    ck_assert_double_eq(problem->mass_budget, 0);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz63, "tail: 1e-10\nframe: lagrangian\n", text63);
    ck_assert_double_eq_tol(problem->tail, log(1e10), 1e-12);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(measurements_in_order)
{
    gbees_problem *problem =
        problem_of(&lorenz96,
                   "measurements:\n"
                   " - {time: 1.3, function: site1, value: [1], covariance: [1]}\n"
                   " - {time: 0.5, function: range, value: [2, 3], covariance: [[2, 1], [1, 2]]}\n"
                   " - {time: 1.3, function: range, value: [4, ...], covariance: [1, ...]}\n"
                   " - {time: 0.1, function: site1, value: [5], covariance: [1]}\n",
                   text96);
    const gbees_measurement *list = problem->measurements;

    ck_assert_int_eq(problem->measurement_count, 4);
    ck_assert(list[0].value[0] == 5 && list[1].value[0] == 2 && list[2].value[0] == 1 && list[3].value[1] == 4);
    ck_assert_int_eq(list[1].size, 2);
    ck_assert_int_eq(list[1].function, 1);
    ck_assert(list[1].covariance[0] == 2 && list[1].covariance[1] == 1 && list[3].covariance[3] == 1);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(the_only_function_needs_no_name)
{
    gbees_problem *problem = problem_of(&lorenz63, "measurements: [{time: 2, value: [1], covariance: [1]}]", text63);

    ck_assert_int_eq(problem->measurements[0].function, 0);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz63, "measurements: []", text63);
    ck_assert_int_eq(problem->measurement_count, 0);
    gbees_problem_destroy(problem);
}
END_TEST

/* In order of time, as powers of two. */
START_TEST(regrids_in_order)
{
    gbees_problem *problem = problem_of(&lorenz63,
                                        "regrid:\n"
                                        " - {time: 1.5, factor: [1, 0.5, 1024]}\n"
                                        " - {time: 0, factor: 2}\n"
                                        " - {time: 3, factor: [0.0009765625, 4, ...]}\n",
                                        text63);
    static const double time[] = {0, 1.5, 3};
    static const int level[][3] = {{1, 1, 1}, {0, -1, 10}, {-10, 2, 2}};

    ck_assert_int_eq(problem->regrid_count, 3);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq(problem->regrids[k].time, time[k]);
        ck_assert_mem_eq(problem->regrids[k].level, level[k], sizeof level[k]);
    }
    ck_assert(problem->width[0] == 0.5);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz63, "regrid: []\nmode: paper", text63);
    ck_assert_int_eq(problem->regrid_count, 0);
    ck_assert_int_eq(problem->regrid_auto, 0);
    gbees_problem_destroy(problem);
    problem = problem_of(&lorenz63, "regrid: auto", text63);
    ck_assert_int_eq(problem->regrid_count, 0);
    ck_assert_int_eq(problem->regrid_auto, 1);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(until_drops_later_measurements)
{
    gbees_scenario *scenario = make("", text63);
    ck_assert_int_eq(gbees_scenario_set(scenario, "end=0.5", NULL), GBEES_OK);
    gbees_problem *problem = solve(&lorenz63, scenario), *again = NULL;

    ck_assert(problem->end == 0.5);
    ck_assert_int_eq(problem->measurement_count, 0);
    /* What was run can be run again from its text alone. */
    gbees_scenario *copy = make(gbees_scenario_text(scenario), text63);
    again = solve(&lorenz63, copy);
    ck_assert(again->end == 0.5);
    ck_assert_int_eq(again->measurement_count, 0);
    gbees_scenario_destroy(copy);
    gbees_scenario_destroy(scenario);
    gbees_problem_destroy(problem);
    gbees_problem_destroy(again);
}
END_TEST

START_TEST(modes)
{
    gbees_problem *problem = problem_of(&lorenz63, "mode: paper\nprecision: double", text63);

    ck_assert_int_eq(problem->numerics.mode, GBEES_MODE_PAPER);
    ck_assert_int_eq(problem->numerics.precision, GBEES_DOUBLE);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "mode: legacy\ntime_step: 1e-3", text63);
    ck_assert_int_eq(problem->numerics.mode, GBEES_MODE_LEGACY);
    ck_assert(problem->numerics.time_step == 1e-3);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "mode: default\nprecision: double\ncourant: 0.5\nprune_interval: 7", text63);
    ck_assert_int_eq(problem->numerics.precision, GBEES_DOUBLE);
    ck_assert_int_eq(problem->numerics.prune_interval, 7);
    ck_assert(problem->numerics.courant == 0.5);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_AVERAGES);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu", text63);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: split5", text63);
    ck_assert_int_eq(problem->numerics.scheme, GBEES_SCHEME_SPLIT5);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_AVERAGES);
    ck_assert_int_eq(problem->numerics.prune_interval, 5);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: split5-mp\ncell_values: points", text63);
    ck_assert_int_eq(problem->numerics.scheme, GBEES_SCHEME_SPLIT5_MP);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu", text63);
    ck_assert_int_eq(problem->numerics.scheme, GBEES_SCHEME_CTU);
    ck_assert_int_eq(problem->numerics.prune_interval, 20);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu\ncell_values: points", text63);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *tcase = tcase_create("problem");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, default_of_lorenz63);
    tcase_add_test(tcase, least_scenario);
    tcase_add_test(tcase, schemes);
    tcase_add_test(tcase, default_of_lorenz96);
    tcase_add_test(tcase, initial_cells);
    tcase_add_test(tcase, widths_and_extents);
    tcase_add_test(tcase, parameters_by_name);
    tcase_add_test(tcase, full_covariance);
    tcase_add_test(tcase, a_tail_is_a_threshold);
    tcase_add_test(tcase, measurements_in_order);
    tcase_add_test(tcase, the_only_function_needs_no_name);
    tcase_add_test(tcase, regrids_in_order);
    tcase_add_test(tcase, until_drops_later_measurements);
    tcase_add_test(tcase, modes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
