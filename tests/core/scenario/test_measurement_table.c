/* test_measurement_table.c - measurements from a table: what columns stand for, what is missing, what is refused. */
#include "fixtures/suite.h"
#include "scenario/scenario.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const gbees_quantity sight[] = {{"range", "km", ""}, {"range_rate", "km/s", ""}};
static const gbees_quantity height = {"height", "-", ""}, far = {"range", "km", ""};
static const gbees_measurement_function functions[] = {
    {"sight", "", 2, sight, NULL}, {"height", "", 1, &height, NULL}, {"pair", "", 2, NULL, NULL}};
static const gbees_measurement_function twins[] = {{"near", "", 1, &far, NULL}, {"far", "", 1, &far, NULL}};
static const gbees_model model = {.name = "seen", .measurement_count = 3, .measurements = functions},
                         twin_model = {.name = "twins", .measurement_count = 2, .measurements = twins};

static const char template[] = "/tmp/gbees-test-XXXXXX";
static char path[sizeof template];

/* Reads a table by a scenario that has `keys` beside the file's name. */
static int load(const gbees_model *of, const char *text, const char *keys, gbees_scenario **scenario,
                gbees_error *error)
{
    char yaml[256];

    memcpy(path, template, sizeof template);
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (long)strlen(text));
    ck_assert_int_eq(close(file), 0);
    (void)snprintf(yaml, sizeof yaml, "measurements: {file: %s%s}\n", path, keys);
    ck_assert_int_eq(gbees_scenario_create(yaml, "f.yaml", scenario, NULL), GBEES_OK);
    const int status = gbees_scenario_load(*scenario, of, error);
    ck_assert_int_eq(unlink(path), 0);
    return status;
}

static const struct {
    const char *text, *keys, *yaml; /* of the measurements, after the end */
} good[] = {
    {"time,height,sigma_height\n1,2,0.5\n3,4,0.25\n", "",
     "end: 3\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [0.25]}\n"
     "  - {time: 3, function: height, value: [4], covariance: [0.0625]}\n"},
    {"height,cov_height_height,time\n2,0.5,1\n", "",
     "end: 1\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [0.5]}\n"},
    /* units, and names with an underscore in them */
    {"time [s],range [km],range_rate [km/s],sigma_range [km],sigma_range_rate,cov_range_range_rate\n1,2,3,1,2,.5\n",
     "", "end: 1\nmeasurements:\n  - {time: 1, function: sight, value: [2, 3], covariance: [[1, 0.5], [0.5, 4]]}\n"},
    /* a component that is missing leaves the update, with its covariance */
    {"time,range,range_rate,sigma_range,sigma_range_rate,cov_range_rate_range\n1,2,,1,,.5\n2,nan,3,1,2,.5\n", "",
     "end: 2\nmeasurements:\n  - {time: 1, function: sight, value: [2, ~], covariance: [1, 1]}\n"
     "  - {time: 2, function: sight, value: [~, 3], covariance: [1, 4]}\n"},
    {"time,range,sigma_range\n1,2,.5\n2,,\n3,2,1\n", "",
     "end: 3\nmeasurements:\n  - {time: 1, function: sight, value: [2, ~], covariance: [0.25, 1]}\n"
     "  - {time: 3, function: sight, value: [2, ~], covariance: [1, 1]}\n"},
    /* several functions: by their columns, or by a column of their names */
    {"time,range,height,sigma_range,sigma_height\n1,2,,1,\n2,3,4,1,1\n", "",
     "end: 2\nmeasurements:\n  - {time: 1, function: sight, value: [2, ~], covariance: [1, 1]}\n"
     "  - {time: 2, function: sight, value: [3, ~], covariance: [1, 1]}\n"
     "  - {time: 2, function: height, value: [4], covariance: [1]}\n"},
    {"time,function,sight.range,height,sigma_sight.range,sigma_height\n1,height,,2,,1\n2,sight,3,,1,\n", "",
     "end: 2\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [1]}\n"
     "  - {time: 2, function: sight, value: [3, ~], covariance: [1, 1]}\n"},
    /* what holds for all rows */
    {"time,height\n1,2\n", ", covariance: [9], likelihood: student-t, degrees_of_freedom: 4",
     "end: 1\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [9], likelihood: student-t, "
     "degrees_of_freedom: 4}\n"},
    {"time,y1,y2\n1,2,3\n", ", function: pair, covariance: [[1, 0], [0, 2]]",
     "end: 1\nmeasurements:\n  - {time: 1, function: pair, value: [2, 3], covariance: [[1, 0], [0, 2]]}\n"},
    {"time,height\n1,2\n", ", likelihood: model",
     "end: 1\nmeasurements:\n  - {time: 1, function: height, value: [2], likelihood: model}\n"},
    /* other names of the time, lines as spreadsheets end them */
    {"Time [s],height,,\n1,2,,\n3,4,,\n,,,\n,\n", ", covariance: [1]",
     "end: 3\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [1]}\n"
     "  - {time: 3, function: height, value: [4], covariance: [1]}\n"},
    {"t,height\n1,2\n", ", covariance: [1]",
     "end: 1\nmeasurements:\n  - {time: 1, function: height, value: [2], covariance: [1]}\n"},
    /* dates, over a day that a leap year has */
    {"time,height\n2024-02-28,2\n2024-03-01T00:00:00.25,4\n", ", covariance: [1], epoch: 2024-02-27T12:00",
     "end: 216000.25\nmeasurements:\n  - {time: 43200, function: height, value: [2], covariance: [1]}\n"
     "  - {time: 216000.25, function: height, value: [4], covariance: [1]}\n"},
    {"time,height\n2026-01-01 01:30:00+01:00,2\n2026-01-01T01:00Z,4\n",
     ", covariance: [1], epoch: \"2026-01-01T00:00:00Z\", time_unit: 3600",
     "end: 1\nmeasurements:\n  - {time: 0.5, function: height, value: [2], covariance: [1]}\n"
     "  - {time: 1, function: height, value: [4], covariance: [1]}\n"},
};

START_TEST(reads_a_table)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_msg(load(&model, good[_i].text, good[_i].keys, &scenario, &error) == GBEES_OK, "%s", error.text);
    ck_assert_str_eq(gbees_scenario_text(scenario), good[_i].yaml);
    gbees_scenario_destroy(scenario);
}
END_TEST

static const struct {
    const gbees_model *model;
    const char *text, *keys, *error;
} bad[] = {
    {&model, "x,height\n1,2\n", "",
     ":1: column 1 (x): expected one of time, function, range, range_rate, height, y1, "
     "y2, or sigma_ or cov_ of these, for seen"},
    {&model, "time,hight\n1,2\n", "",
     ":1: column 2 (hight): seen measures nothing of this name: did you mean 'height'?"},
    {&model, "height,sigma_height\n1,2\n", "", ":1: expected a column 'time' (or 't'), found none"},
    {&model, "time,range [m]\n1,2\n", "", ":1: column 2 (range): expected the unit 'km', found 'm'"},
    {&model, "time,height [m]\n1,2\n", "", ":1: column 2 (height): expected the unit '-', found 'm'"},
    {&model, "time,height\n1,2\n", "",
     ":1: column 2 (height): its noise is not given: add a column sigma_height, or "
     "'covariance' in measurements: {file: ..., covariance: [...]}"},
    {&model, "time,range,range_rate,sigma_range\n1,2,3,4\n", "",
     ":1: column 3 (range_rate): its noise is not given: add a column sigma_range_rate, or 'covariance' in "
     "measurements: {file: ..., covariance: [...]}"},
    {&model, "time,height,sigma_height,height.height\n1,2,3,4\n", "",
     ":1: column 4 (height.height): column 2 (height) says the same"},
    {&model, "time,height,sigma_height,cov_height_height\n1,2,3,4\n", "",
     ":1: column 4 (cov_height_height): column 3 (sigma_height) says it already: give one of them"},
    {&model, "time,height,sigma_height\n1,2,1\n0.5,2,1\n", "",
     ":3: column 1 (time): expected a time not before that of line 2, 1, found 0.5"},
    {&model, "time,height,sigma_height\n,2,1\n", "", ":2: column 1 (time): expected a number, found nothing"},
    {&model, "time,height,sigma_height\n1,two,1\n", "", ":2: column 2 (height): expected a number, found 'two'"},
    {&model, "time,height,sigma_height\n1,inf,1\n", "", ":2: column 2 (height): expected a number, found 'inf'"},
    {&model, "time,height,sigma_height\n1,2,\n", "",
     ":2: column 3 (sigma_height): expected a number, as the component was measured, found nothing"},
    {&model, "time,height,sigma_height\n1,2,-1\n", "",
     ":2: column 3 (sigma_height): expected a number > 0, found -1"},
    {&model, "time,height,sigma_height\n1,,1\n", "", ": nothing was measured: all values are missing"},
    {&model, "time,function,height,sigma_height\n1,side,2,1\n", "",
     ":2: column 2 (function): seen has no function 'side'"},
    {&model, "time,function,height,range,sigma_height\n1,height,2,1,1\n", "",
     ":2: column 4 (range): expected nothing, as it is not of the row's function 'height'"},
    {&model, "time,height,Time\n1,2,3\n", "", ":1: column 3 (Time): column 1 (time) says the same"},
    {&model, "time,height,sigma_height\n2026-02-28T12:00,2,1\n", "",
     ":2: column 1 (time): expected a time of the model, a number, found a date, '2026-02-28T12:00': say which date "
     "is "
     "time 0, in measurements: {file: ..., epoch: 2026-02-28, time_unit: SECONDS}"},
    {&model, "time,height,sigma_height\n2026-02-29,2,1\n", ", epoch: 2026-01-01",
     ":2: column 1 (time): expected a date without a zone, as the epoch has, found '2026-02-29'"},
    {&model, "time,height,sigma_height\n46000.5,2,1\n", ", epoch: 2026-01-01T00:00Z",
     ":2: column 1 (time): expected a date with a zone, as the epoch has, found '46000.5'"},
    {&model, "time,height,sigma_height\n2026-02-01T25:00,2,1\n", "",
     ":2: column 1 (time): expected a number, found '2026-02-01T25:00'"},
    {&twin_model, "time,range,sigma_range\n1,2,3\n", "",
     ":1: column 2 (range): 2 functions have it: name the function in a column 'function', or the column "
     "FUNCTION.range"},
};

START_TEST(refuses_what_it_does_not_understand)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};
    char expected[512];

    ck_assert_int_eq(load(bad[_i].model, bad[_i].text, bad[_i].keys, &scenario, &error), GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s%s", path, bad[_i].error);
    ck_assert_str_eq(error.text, expected);
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(an_epoch_is_a_date)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(load(&model, "t,height\n1,2\n", ", epoch: yesterday", &scenario, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "measurements: epoch: expected a date as 2026-01-31 or "));
    gbees_scenario_destroy(scenario);
    ck_assert_int_eq(load(&model, "t,height\n1,2\n", ", time_unit: 60", &scenario, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "time_unit: it is of dates: give an epoch, too"));
    gbees_scenario_destroy(scenario);
}
END_TEST

/* An end of the scenario's own stays. */
START_TEST(the_last_row_is_the_end)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(
        load(&model, "time,height\n1,2\n", ", covariance: [1]}\nend: 7\nparameters: {a: 1", &scenario, &error), 0);
    ck_assert_str_eq(gbees_scenario_text(scenario),
                     "parameters: {a: 1}\nend: 7\nmeasurements:\n  - {time: 1, function: height, "
                     "value: [2], covariance: [1]}\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(a_file_stays_a_name_until_it_is_loaded)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};
    char text[256];

    ck_assert_int_eq(gbees_scenario_create("", "f.yaml", &scenario, &error), 0);
    ck_assert_int_eq(gbees_scenario_measurements(scenario, "/nowhere.csv", NULL, &error), GBEES_EIO);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere.csv: can't be read"));
    ck_assert_int_eq(gbees_scenario_measurements(scenario, "/dev/null", "height", &error), GBEES_OK);
    (void)snprintf(text, sizeof text, "%s", gbees_scenario_text(scenario));
    ck_assert_str_eq(text, "measurements: {file: \"/dev/null\", function: height}\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measurement_table");
    TCase *tests = tcase_create("measurement_table");

    tcase_add_loop_test(tests, reads_a_table, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(tests, refuses_what_it_does_not_understand, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tests, an_epoch_is_a_date);
    tcase_add_test(tests, the_last_row_is_the_end);
    tcase_add_test(tests, a_file_stays_a_name_until_it_is_loaded);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
