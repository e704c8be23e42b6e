/* test_problem_refusals.c - core/solver/problem: scenarios that are no problem of their model, and the file and line
 * that the error names. */
#include "fixtures/problem_fixture.h"
#include "fixtures/suite.h"

#define M "measurements:\n  - "
static const struct {
    const gbees_model *model;
    const char *text, *error;
} refused[] = {
    {&lorenz63, "model: lorenz96", "f.yaml:1:8: model: the scenario is for 'lorenz96', the plugin is 'lorenz63'"},
    {&lorenz96, "\ndimension: 3", "f.yaml:2:12: dimension: lorenz96 has 4 to 8 dimensions, found 3"},
    {&lorenz63, "dimension: 4", "f.yaml:1:12: dimension: lorenz63 has 3 dimensions, found 4"},
    {&lorenz96, "dimension: 7", "lorenz96: the plugin has no functions for dimension 7"},
    {&lorenz63, "parameters:\n  sgma: 3",
     "f.yaml:2:9: parameters: lorenz63 has no parameter 'sgma': did you mean 'sigma'?"},
    {&lorenz96, "parameters: {F: 3}", "f.yaml:1:17: parameters: lorenz96 has no parameter 'F'"},
    {&lorenz63, "parameters: {b: 11}", "f.yaml:1:17: parameters.b: expected a number from 0.5 to 10, found '11'"},
    {&lorenz63, "mean: [1, 2]", "f.yaml:1:7: mean: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "mean: [1, 2, 3, 4, ...]", "f.yaml:1:7: mean: expected 3 numbers (dimension 3), found 4 and '...'"},
    {&lorenz63, "covariance: [1]", "f.yaml:1:13: covariance: expected 3 numbers (dimension 3), found 1"},
    {&lorenz63, "covariance:\n  - [1, 0, 0]\n  - [0, 1]\n  - [0, 0, 1]",
     "f.yaml:3:5: covariance: row 2: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "covariance: [[1, 0, 0]]", "f.yaml:1:13: covariance: expected 3 rows (dimension 3), found 1"},
    {&lorenz63, "covariance: [[1, 0, 0], [0.5, 1, 0], [0, 0, 1]]",
     "f.yaml:1:13: covariance: not symmetric: row 2 has 0.5 in column 1, row 1 has 0 in column 2"},
    {&lorenz63, "covariance: [1, 1, 0]",
     "f.yaml:1:13: covariance: not positive definite: its leading 3 x 3 part is not"},
    {&lorenz63, "covariance: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]",
     "f.yaml:1:13: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "covariance: [-1, 1, 1]", "f.yaml:1:13: covariance: not positive definite: the first variance is -1"},
    {&lorenz63, "covariance: [[1, 1e200, 0], [1e200, 1, 0], [0, 0, 1]]",
     "f.yaml:1:13: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "factor: [1, 2]", "f.yaml:1:9: factor: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "factor: 1000",
     "f.yaml:1:9: factor: the initial box has 1.73e+12 cells, more than 1e+10: give a smaller 'factor' or a smaller "
     "'extent'"},
    {&lorenz63, "width: 1e-300",
     "f.yaml:1:8: width: the initial box has inf cells, more than 1e+10: give a larger 'width' or a smaller "
     "'extent'"},
    {&lorenz63, "extent: 1000",
     "f.yaml:1:9: extent: the initial box has 6.4e+10 cells, more than 1e+10: give a smaller 'factor' or a smaller "
     "'extent'"},
    {&lorenz63, "factor: 1e308\nextent: 1e-308",
     "defaults:2:13: covariance: the cell width along axis 1 is 0: change the covariance or the factor"},
    {&lorenz63, "covariance: [1, 1e-300, 1]",
     "f.yaml:1:13: covariance: cells of 5e-151 along axis 2 are below the rounding of the mean, -10: measure that "
     "state "
     "from nearer by, or give a larger covariance"},
    {&lorenz63, "end: 1\nextent: [3, 0.2, 3]",
     "f.yaml:2:9: extent: the initial box has a single cell along axis 2: give a larger 'extent' or a larger "
     "'factor'"},
    {&lorenz63, "factor: [1, 1, 0.05]",
     "f.yaml:1:9: factor: the initial box has a single cell along axis 3: give a larger 'extent' or a larger "
     "'factor'"},
    {&lorenz63, "width: 7",
     "f.yaml:1:8: width: the initial box has a single cell along axis 1: give a larger 'extent' or a smaller "
     "'width'"},
    {&lorenz63, "end: 0", "f.yaml:1:6: end: expected a time after the start (0), found '0'"},
    {&lorenz63, "start: -1.5e308\nend: 1.5e308",
     "f.yaml:2:6: end: expected a time after the start (-1.5e+308), found '1.5e308'"},
    {&lorenz63, "start: 1.5",
     "defaults:7:12: measurement 1: time: expected a time from the start (1.5) to the end (2), found '1.0'"},
    {&lorenz63, "end: 2\n" M "{time: 3, value: [1], covariance: [1]}",
     "f.yaml:3:12: measurement 1: time: expected a time from the start (0) to the end (2), found '3'"},
    {&lorenz63, M "{time: 1, function: Z, value: [1], covariance: [1]}",
     "f.yaml:2:25: measurement 1: function: lorenz63 has no function 'Z': did you mean 'z'?"},
    {&lorenz96, M "{time: 1, function: rnage, value: [1], covariance: [1]}",
     "f.yaml:2:25: measurement 1: function: lorenz96 has no function 'rnage': did you mean 'range'?"},
    {&lorenz96, M "{time: 1, function: elevation, value: [1], covariance: [1]}",
     "f.yaml:2:25: measurement 1: function: lorenz96 has no function 'elevation': it has site1, range"},
    {&lorenz96, M "{time: 1, value: [1], covariance: [1]}",
     "f.yaml:2:5: measurement 1: 'function' is missing, and lorenz96 has several: site1, range"},
    {&lorenz96, "dimension: 5\n" M "{time: 1, function: site1, value: [1], covariance: [1]}",
     "lorenz96: the plugin names the function 'site1' but can't compute it (it needs GBEES_HAS_MEASURE and a size "
     "from 1 to 8)"},
    {&lorenz96, M "{time: 1, function: range, value: [1], covariance: [1, 1]}",
     "f.yaml:2:39: measurement 1: value: expected 2 numbers (function range), found 1"},
    {&lorenz96, M "{time: 1, function: range, value: [1, ~, 3], covariance: [1, 1]}",
     "f.yaml:2:39: measurement 1: value: expected 2 numbers (function range), found 3"},
    {&lorenz96, M "{time: 1, function: range, value: [~, ...], covariance: [1, 1]}",
     "f.yaml:2:39: measurement 1: value: no component was measured: leave the measurement out"},
    {&lorenz96, M "{time: 1, function: range, value: [1, ~], covariance: [1, -1]}",
     "f.yaml:2:59: measurement 1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1],\n     likelihood: model}",
     "f.yaml:3:18: measurement 1: likelihood: lorenz96 has none of its own (no log_likelihood()): give 'gaussian' or "
     "'student-t', and a covariance"},
    {&lorenz63, "initial: [{mean: [1, 2, 3], covariance: [1, 1]}]",
     "f.yaml:1:41: initial 1: covariance: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "initial:\n - {mean: [1, 2, 3], covariance: [1, 1, 1]}\n - {mean: [1, 2, 3], covariance: [1, -1, 1]}",
     "f.yaml:3:34: initial 2: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "initial: {file: /nowhere/at/all}",
     "f.yaml:1:17: initial: file: can't read the file /nowhere/at/all: No such file or directory"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1], covariance: [[1]]}",
     "f.yaml:2:59: measurement 1: covariance: expected 2 rows (function range), found 1"},
    {&lorenz96, M "{time: 1, function: range, value: [1, 1],\n     covariance: [1, -1]}",
     "f.yaml:3:18: measurement 1: covariance: not positive definite: its leading 2 x 2 part is not"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: 2}\n  - {time: 2, factor: 3}",
     "f.yaml:3:23: regrid 2: factor: expected a power of two (0.5, 2, 4 ...), found 3"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: [2, 0.75, 1]}",
     "f.yaml:2:23: regrid 1: factor: expected a power of two (0.5, 2, 4 ...), found 0.75"},
    {&lorenz63, "regrid:\n  - {time: 1, factor: [2, 1]}",
     "f.yaml:2:23: regrid 1: factor: expected 3 numbers (dimension 3), found 2"},
    {&lorenz63, "end: 2\nregrid:\n  - {time: 1, factor: 2}\n  - {time: 0.5, factor: 4}\n  - {time: 1.0, factor: 1}",
     "f.yaml:3:3: regrid: the time 1 is given twice"},
    {&lorenz63, "mode: paper\nregrid: [{time: 1, factor: 2}]",
     "f.yaml:2:9: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: paper\nregrid: auto", "f.yaml:2:9: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: legacy\ntime_step: 1\nregrid: [{time: 1, factor: 2}]",
     "f.yaml:3:9: regrid: paper and legacy mode have one grid: leave it out"},
    {&lorenz63, "mode: paper\nprecision: mixed",
     "f.yaml:2:12: precision: mode paper has precision 'double', found 'mixed': remove one of the two"},
    {&lorenz63, "mode: paper\ncell_values: averages",
     "f.yaml:2:14: cell_values: mode paper has cell_values 'points', found 'averages': remove one of the two"},
    {&lorenz63, "scheme: ctu\ncell_values: averages",
     "f.yaml:2:14: cell_values: scheme ctu has 'points', found 'averages': remove it, or choose 'scheme: split5'"},
    {&lorenz63, "mode: paper\nscheme: upwind",
     "f.yaml:2:9: scheme: mode paper has scheme 'ctu', found 'upwind': remove one of the two"},
    {&lorenz63, "mode: legacy", "f.yaml:1:7: mode: legacy has a fixed step: give 'time_step'"},
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
    static const char *const keys[] = {"mean", "covariance", "threshold", "end"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[sizeof text63], expected[256];
        gbees_problem *problem = NULL;
        gbees_error error = {0};

        memcpy(text, text63, sizeof text);
        char *line = strstr(text, keys[i]);
        ck_assert_ptr_nonnull(line);
        *line = '#';
        gbees_scenario *scenario = make(text, "mode: paper"); /* which needs a threshold */
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

/* A measurement of an angle by Student's t of so many degrees of freedom, and the percents that lie beyond half a
 * turn: of one degree 2 / pi arctan(1 / x), of three from tables. 0: they are few. */
static const struct {
    double degrees, variance;
    int percent;
} wide[] = {{1, 0.09, 6}, {3, 4, 21}, {1, 0.01, 0}, {3, 0.25, 0}, {100, 2, 0}, {100, 4, 12}, {3, 1e20, 96}};

START_TEST(wide_tails_of_an_angle_are_refused)
{
    static const double turn[] = {6.283185307179586};
    const gbees_measurement_function angle = {"angle", "", 1, NULL, turn};
    gbees_model model = lorenz63;
    char text[256], expected[64];
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    model.measurements = &angle;
    (void)snprintf(text, sizeof text,
                   "measurements: [{time: 1, value: [1], covariance: [%g], likelihood: student-t, "
                   "degrees_of_freedom: %g}]\n",
                   wide[_i].variance, wide[_i].degrees);
    gbees_scenario *scenario = make(text, text63);
    const int status = gbees_problem_create(&model, scenario, &problem, &error);
    (void)snprintf(expected, sizeof expected, "half a period, and %d %% of it lie beyond", wide[_i].percent);
    ck_assert_int_eq(status, wide[_i].percent ? GBEES_EINPUT : GBEES_OK);
    ck_assert_msg(!wide[_i].percent || strstr(error.text, expected), "%s", error.text);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_refusals");
    TCase *tcase = tcase_create("refusals");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, refuses, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tcase, says_what_is_missing);
    tcase_add_loop_test(tcase, wide_tails_of_an_angle_are_refused, 0, (int)(sizeof wide / sizeof *wide));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
