/* test_problem.c - core/solver/problem: a model and a scenario become a problem, or an error with file and line. */
#include "io/scenario.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- two models, made by hand ------------------------------------------------------------------------------ */

static void measure(int which, size_t count, double t, const double *origin, const double *const *offset,
                    const double *p, double *const *out)
{
    (void)which, (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static const gbees_parameter parameters[] = {
    {"sigma", "-", "", 4, 0, 0}, {"b", "-", "", 1, 0.5, 10}, {"r", "-", "", 48, 0, 0}};
static const gbees_measurement_function functions63[] = {{"z", "", 1, NULL, NULL}};
static const gbees_measurement_function functions96[] = {{"site1", "", 1, NULL, NULL}, {"range", "", 2, NULL, NULL}};
static const gbees_functions table63[] = {{.n = 3, .measure_d = measure}};
static const gbees_functions table96[] = {
    {.n = 4, .measure_d = measure}, {.n = 5}, {.n = 6, .measure_d = measure}, {.n = 8, .measure_d = measure}};

static const gbees_model lorenz63 = {.name = "lorenz63",
                                     .dim_min = 3,
                                     .dim_max = 3,
                                     .dim_default = 3,
                                     .parameter_count = 3,
                                     .parameters = parameters,
                                     .measurement_count = 1,
                                     .measurements = functions63,
                                     .functions = table63,
                                     .function_count = 1};
static const gbees_model lorenz96 = {.name = "lorenz96",
                                     .dim_min = 4,
                                     .dim_max = 8,
                                     .dim_default = 6,
                                     .measurement_count = 2,
                                     .measurements = functions96,
                                     .functions = table96,
                                     .function_count = 4};

static const char text63[] = "mean: [-11.5, -10.0, 9.5]\n"
                             "covariance: [1, 1, 1]\n"
                             "threshold: 5.0e-6\n"
                             "end: 2.0\n"
                             "records: 4\n"
                             "measurements:\n"
                             "  - {time: 1.0, function: z, value: [-8], covariance: [1]}\n";
static const char text96[] = "mean: [4.5, 4, ...]\n"
                             "covariance: [0.04, ...]\n"
                             "threshold: 8.0e-9\n"
                             "end: 1.3\n"
                             "records: 4\n";

static gbees_scenario *make(const char *text, const char *defaults)
{
    gbees_scenario *scenario = NULL, *other = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_scenario_create(text, "f.yaml", &scenario, &error) == GBEES_OK, "%s", error.text);
    ck_assert_int_eq(gbees_scenario_create(defaults, "defaults", &other, NULL), GBEES_OK);
    ck_assert_int_eq(gbees_scenario_merge(scenario, other, NULL), GBEES_OK);
    gbees_scenario_destroy(other);
    return scenario;
}

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

/* ---- what comes out ---------------------------------------------------------------------------------------- */

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
    ck_assert_int_eq(numerics->faces, GBEES_FACES_OPEN);
    ck_assert_int_eq(numerics->growth, GBEES_GROWTH_DOWNWIND);
    ck_assert_int_eq(numerics->cells_per_brick, 64);
    ck_assert_int_eq(numerics->scheme, GBEES_SCHEME_SPLIT5);
    ck_assert_int_eq(numerics->prune_interval, 5);
    ck_assert(numerics->courant == 1 && numerics->time_step == 0);
    gbees_problem_destroy(problem);
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
    gbees_problem *problem = problem_of(&lorenz63, "mode: paper\nprecision: double\nbrick: auto", text63);

    ck_assert_int_eq(problem->numerics.mode, GBEES_MODE_PAPER);
    ck_assert_int_eq(problem->numerics.precision, GBEES_DOUBLE);
    ck_assert_int_eq(problem->numerics.cells_per_brick, 1);
    ck_assert_int_eq(problem->numerics.faces, GBEES_FACES_REFERENCE);
    ck_assert_int_eq(problem->numerics.growth, GBEES_GROWTH_DOWNWIND);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "mode: legacy\ntime_step: 1e-3", text63);
    ck_assert_int_eq(problem->numerics.mode, GBEES_MODE_LEGACY);
    ck_assert_int_eq(problem->numerics.growth, GBEES_GROWTH_ALL);
    ck_assert_int_eq(problem->numerics.cells_per_brick, 1);
    ck_assert(problem->numerics.time_step == 1e-3);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63,
                         "mode: default\nbrick: 1\ngrowth: all\nprecision: double\ncourant: 0.5\nprune_interval: 7",
                         text63);
    ck_assert_int_eq(problem->numerics.cells_per_brick, 1);
    ck_assert_int_eq(problem->numerics.growth, GBEES_GROWTH_ALL);
    ck_assert_int_eq(problem->numerics.precision, GBEES_DOUBLE);
    ck_assert_int_eq(problem->numerics.faces, GBEES_FACES_OPEN);
    ck_assert_int_eq(problem->numerics.prune_interval, 7);
    ck_assert(problem->numerics.courant == 0.5);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_AVERAGES);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu", text63);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: split5\ncourant: 4", text63);
    ck_assert(problem->numerics.courant == 4);
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

    problem = problem_of(&lorenz63, "scheme: ctu-divergence", text63);
    ck_assert_int_eq(problem->numerics.scheme, GBEES_SCHEME_CTU_DIVERGENCE);
    ck_assert_int_eq(problem->numerics.prune_interval, 20);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu-positive", text63);
    ck_assert_int_eq(problem->numerics.scheme, GBEES_SCHEME_CTU_POSITIVE);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);

    problem = problem_of(&lorenz63, "scheme: ctu\ncell_values: points", text63);
    ck_assert_int_eq(problem->numerics.cell_values, GBEES_CELL_POINTS);
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------- */

#define M "measurements:\n  - "
static const struct {
    const gbees_model *model;
    const char *text, *error;
} refused[] = {
    {&lorenz63, "model: lorenz96", "f.yaml:1: model: the scenario is for 'lorenz96', the plugin is 'lorenz63'"},
    {&lorenz96, "\ndimension: 3", "f.yaml:2: dimension: lorenz96 has 4 to 8 dimensions, found 3"},
    {&lorenz63, "dimension: 4", "f.yaml:1: dimension: lorenz63 has 3 dimensions, found 4"},
    {&lorenz96, "dimension: 7", "lorenz96: the plugin has no functions for dimension 7"},
    {&lorenz63, "parameters:\n  sgma: 3",
     "f.yaml:2: parameters: lorenz63 has no parameter 'sgma': did you mean 'sigma'?"},
    {&lorenz96, "parameters: {F: 3}", "f.yaml:1: parameters: lorenz96 has no parameter 'F'"},
    {&lorenz63, "parameters: {b: 11}", "f.yaml:1: parameters.b: expected a number from 0.5 to 10, found '11'"},
    {&lorenz63, "mean: [1, 2]", "f.yaml:1: mean: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "mean: [1, 2, 3, 4, ...]", "f.yaml:1: mean: expected 3 numbers (dimension 3), found 4 and '...'"},
    {&lorenz63, "covariance: [1]", "f.yaml:1: covariance: expected 3 numbers (dimension 3), found 1"},
    {&lorenz63, "covariance:\n  - [1, 0, 0]\n  - [0, 1]\n  - [0, 0, 1]",
     "f.yaml:3: covariance: row 2: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "covariance: [[1, 0, 0]]", "f.yaml:1: covariance: expected 3 rows (dimension 3), found 1"},
    {&lorenz63, "covariance: [[1, 0, 0], [0.5, 1, 0], [0, 0, 1]]",
     "f.yaml:1: covariance: not symmetric: row 2 has 0.5 in column 1, row 1 has 0 in column 2"},
    {&lorenz63, "covariance: [1, 1, 0]",
     "f.yaml:1: covariance: not positive definite: its leading 3 x 3 part is not"},
    {&lorenz63, "covariance: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]",
     "f.yaml:1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "covariance: [-1, 1, 1]", "f.yaml:1: covariance: not positive definite: the first variance is -1"},
    {&lorenz63, "covariance: [[1, 1e200, 0], [1e200, 1, 0], [0, 0, 1]]",
     "f.yaml:1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "factor: [1, 2]", "f.yaml:1: factor: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "factor: 1000",
     "f.yaml:1: factor: the initial box has 1.73e+12 cells, more than 1e+10: give a smaller 'factor' or a smaller "
     "'extent'"},
    {&lorenz63, "width: 1e-300",
     "f.yaml:1: width: the initial box has inf cells, more than 1e+10: give a larger 'width' or a smaller 'extent'"},
    {&lorenz63, "extent: 1000",
     "f.yaml:1: extent: the initial box has 6.4e+10 cells, more than 1e+10: give a smaller 'factor' or a smaller "
     "'extent'"},
    {&lorenz63, "factor: 1e308\nextent: 1e-308",
     "defaults:2: covariance: the cell width along axis 1 is 0: change the covariance or the factor"},
    {&lorenz63, "end: 1\nextent: [3, 0.2, 3]",
     "f.yaml:2: extent: the initial box has a single cell along axis 2: give a larger 'extent' or a larger 'factor'"},
    {&lorenz63, "factor: [1, 1, 0.05]",
     "f.yaml:1: factor: the initial box has a single cell along axis 3: give a larger 'extent' or a larger 'factor'"},
    {&lorenz63, "width: 7",
     "f.yaml:1: width: the initial box has a single cell along axis 1: give a larger 'extent' or a smaller 'width'"},
    {&lorenz63, "end: 0", "f.yaml:1: end: expected a time after the start (0), found '0'"},
    {&lorenz63, "start: -1.5e308\nend: 1.5e308",
     "f.yaml:2: end: expected a time after the start (-1.5e+308), found '1.5e308'"},
    {&lorenz63, "start: 1",
     "defaults:7: measurement 1: time: expected a time after the start (1) and not after the "
     "end (2), found '1.0'"},
    {&lorenz63, "end: 2\n" M "{time: 3, value: [1], covariance: [1]}",
     "f.yaml:3: measurement 1: time: expected a time after the start (0) and not after the end (2), found '3'"},
    {&lorenz63, M "{time: 1, function: Z, value: [1], covariance: [1]}",
     "f.yaml:2: measurement 1: function: lorenz63 has no function 'Z': did you mean 'z'?"},
    {&lorenz96, M "{time: 1, function: rnage, value: [1], covariance: [1]}",
     "f.yaml:2: measurement 1: function: lorenz96 has no function 'rnage': did you mean 'range'?"},
    {&lorenz96, M "{time: 1, function: elevation, value: [1], covariance: [1]}",
     "f.yaml:2: measurement 1: function: lorenz96 has no function 'elevation': it has site1, range"},
    {&lorenz96, M "{time: 1, value: [1], covariance: [1]}",
     "f.yaml:2: measurement 1: 'function' is missing, and lorenz96 has several: site1, range"},
    {&lorenz96, "dimension: 5\n" M "{time: 1, function: site1, value: [1], covariance: [1]}",
     "lorenz96: the plugin names the function 'site1' but can't compute it (it needs GBEES_HAS_MEASURE and a size "
     "from 1 to 8)"},
    {&lorenz96, M "{time: 1, function: range, value: [1], covariance: [1, 1]}",
     "f.yaml:2: measurement 1: value: expected 2 numbers (function range), found 1"},
    {&lorenz96, M "{time: 1, function: range, value: [1, ~, 3], covariance: [1, 1]}",
     "f.yaml:2: measurement 1: value: expected 2 numbers (function range), found 3"},
    {&lorenz96, M "{time: 1, function: range, value: [~, ...], covariance: [1, 1]}",
     "f.yaml:2: measurement 1: value: no component was measured: leave the measurement out"},
    {&lorenz96, M "{time: 1, function: range, value: [1, ~], covariance: [1, -1]}",
     "f.yaml:2: measurement 1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1],\n     likelihood: model}",
     "f.yaml:3: measurement 1: likelihood: lorenz96 has none of its own (no log_likelihood()): give 'gaussian' or "
     "'student-t', and a covariance"},
    {&lorenz63, "initial: [{mean: [1, 2, 3], covariance: [1, 1]}]",
     "f.yaml:1: initial 1: covariance: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "initial:\n - {mean: [1, 2, 3], covariance: [1, 1, 1]}\n - {mean: [1, 2, 3], covariance: [1, -1, 1]}",
     "f.yaml:3: initial 2: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "initial: {file: /nowhere/at/all}",
     "f.yaml:1: initial: file: can't read the file /nowhere/at/all: No such file or directory"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1], covariance: [[1]]}",
     "f.yaml:2: measurement 1: covariance: expected 2 rows (function range), found 1"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1],\n     covariance: [1, -1]}",
     "f.yaml:3: measurement 1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: 2}\n  - {time: 2, factor: 3}",
     "f.yaml:3: regrid 2: factor: expected a power of two (0.5, 2, 4 ...), found 3"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: [2, 0.75, 1]}",
     "f.yaml:2: regrid 1: factor: expected a power of two (0.5, 2, 4 ...), found 0.75"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: [2, 1]}",
     "f.yaml:2: regrid 1: factor: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "end: 2\nregrid:\n  - {time: 1, factor: 2}\n  - {time: 0.5, factor: 4}\n  - {time: 1.0, factor: 1}",
     "f.yaml:3: regrid: the time 1 is given twice"},
    {&lorenz63, "mode: paper\nregrid: [{time: 1, factor: 2}]",
     "f.yaml:2: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: paper\nregrid: auto", "f.yaml:2: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: legacy\ntime_step: 1\nregrid: [{time: 1, factor: 2}]",
     "f.yaml:3: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: paper\nprecision: mixed",
     "f.yaml:2: precision: mode paper has precision 'double', found 'mixed': remove one of the two"},
    {&lorenz63, "mode: paper\ncell_values: averages",
     "f.yaml:2: cell_values: mode paper has cell_values 'points', found 'averages': remove one of the two"},
    {&lorenz63, "scheme: ctu\ncell_values: averages",
     "f.yaml:2: cell_values: scheme ctu has 'points', found 'averages': remove it, or choose 'scheme: split5'"},
    {&lorenz63, "scheme: ctu-positive\ncell_values: averages",
     "f.yaml:2: cell_values: scheme ctu-positive has 'points', found 'averages': remove it, or choose 'scheme: "
     "split5'"},
    {&lorenz63, "mode: paper\nscheme: ctu-divergence",
     "f.yaml:2: scheme: mode paper has scheme 'ctu', found 'ctu-divergence': remove one of the two"},
    {&lorenz63, "scheme: ctu\ncourant: 1.5",
     "f.yaml:2: courant: expected a number > 0, at most 1 (scheme ctu), found '1.5'"},
    {&lorenz63, "scheme: split7\ncourant: 1.5",
     "f.yaml:2: courant: expected a number > 0, at most 1 (scheme split7; split5 has more), found '1.5'"},
    {&lorenz63, "mode: paper\ncourant: 1.01",
     "f.yaml:2: courant: expected a number > 0, at most 1 (scheme ctu), found '1.01'"},
    {&lorenz63, "scheme: split5\ncourant: 4.1",
     "f.yaml:2: courant: expected a number > 0, at most 4 (scheme split5: the shortest edge of a brick), found "
     "'4.1'"},
    {&lorenz63, "scheme: split5-mp\nbrick: 1\ncourant: 2",
     "f.yaml:3: courant: expected a number > 0, at most 1 (scheme split5-mp: the shortest edge of a brick), found "
     "'2'"},
    {&lorenz63, "mode: paper\ngrowth: all",
     "f.yaml:2: growth: mode paper has growth 'downwind', found 'all': remove one of the two"},
    {&lorenz63, "mode: legacy\ntime_step: 1\ngrowth: downwind",
     "f.yaml:3: growth: mode legacy has growth 'all', found 'downwind': remove one of the two"},
    {&lorenz63, "mode: legacy", "f.yaml:1: mode: legacy has a fixed step: give 'time_step'"},
    {&lorenz63, "growth: all",
     "f.yaml:1: growth: 'all' needs bricks of one cell: add 'brick: 1', or leave it at 'downwind'"},
};

START_TEST(refuses)
{
    gbees_scenario *scenario = make(refused[_i].text, refused[_i].model == &lorenz63 ? text63 : text96);
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    int status = gbees_problem_create(refused[_i].model, scenario, &problem, &error);

    ck_assert_str_eq(error.text, refused[_i].error);
    ck_assert_int_eq(status, strncmp(error.text, "lorenz96: the plugin", 20) == 0 ? GBEES_EMODEL : GBEES_EINPUT);
    ck_assert_ptr_null(problem);
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(says_what_is_missing)
{
    static const char *const keys[] = {"mean", "covariance", "threshold", "end", "records"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[sizeof text63], expected[256];
        gbees_problem *problem = NULL;
        gbees_error error = {0};

        memcpy(text, text63, sizeof text);
        char *line = strstr(text, keys[i]);
        ck_assert_ptr_nonnull(line);
        *line = '#';
        gbees_scenario *scenario = make(text, "");
        ck_assert_int_eq(gbees_problem_create(&lorenz63, scenario, &problem, &error), GBEES_EINPUT);
        (void)snprintf(expected, sizeof expected,
                       "'%s' is missing: give it in the scenario or by --set %s=..., lorenz63 has no default for it",
                       keys[i], keys[i]);
        ck_assert_str_eq(error.text, expected);
        gbees_scenario_destroy(scenario);
    }
    gbees_problem_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *tcase = tcase_create("problem");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, default_of_lorenz63);
    tcase_add_test(tcase, schemes);
    tcase_add_test(tcase, default_of_lorenz96);
    tcase_add_test(tcase, widths_and_extents);
    tcase_add_test(tcase, parameters_by_name);
    tcase_add_test(tcase, full_covariance);
    tcase_add_test(tcase, measurements_in_order);
    tcase_add_test(tcase, the_only_function_needs_no_name);
    tcase_add_test(tcase, regrids_in_order);
    tcase_add_test(tcase, until_drops_later_measurements);
    tcase_add_test(tcase, modes);
    tcase_add_loop_test(tcase, refuses, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tcase, says_what_is_missing);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
