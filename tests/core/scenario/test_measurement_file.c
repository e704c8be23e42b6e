/* test_measurement_file.c - the existing codes' measurement files: read as they are, refused with file and line. */
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "scenario/measurement_file.h"
#include "scenario/scenario.h"
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char valid[] = "x (LU) y (LU)\n1 2e-3\n\nCovariance(x, y)\n1.0 0.5\n0.5 1.0\n\nT (TU)\n1.5";

static char folder[SCRATCH_FOLDER];
static char path[sizeof folder + 32];

static void write_file(const char *name, const char *text, size_t size)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_folder(void)
{
    scratch_folder_make(folder);
}

static void remove_folder(void)
{
    scratch_folder_remove(folder);
}

static gbees_scenario *read_data(const char *name, const char *function)
{
    const char *root = getenv("srcdir");
    char place[512];
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    (void)snprintf(place, sizeof place, "%s/tests/data/measurements/%s", root ? root : ".", name);
    ck_assert_int_eq(gbees_scenario_create("end: 9\nmean: [7]\n", "f.yaml", &scenario, NULL), GBEES_OK);
    ck_assert_msg(gbees_scenario_measurements(scenario, place, function, &error) == GBEES_OK, "%s", error.text);
    return scenario;
}

START_TEST(reads_lorenz63)
{
    gbees_scenario *scenario = read_data("lorenz63", "z");

    ck_assert_str_eq(gbees_scenario_text(scenario),
                     "mean: [-11.5, -10, 9.5]\ncovariance: [[1, 0.9, 0.9], [0.9, 1, 0.9], [0.9, 0.9, 1]]\n"
                     "start: 0\nend: 2\nmeasurements:\n  - {time: 1, function: z, value: [-8], covariance: [[1]]}\n");
    const gbees_node *mean = gbees_scenario_find(scenario, "mean");
    ck_assert_int_eq(mean->line, 2);
    ck_assert_ptr_nonnull(strstr(mean->source, "lorenz63/measurement0.txt"));
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(reads_sizes_that_differ)
{
    gbees_scenario *scenario = read_data("aizawa", NULL);

    ck_assert_str_eq(gbees_scenario_text(scenario),
                     "mean: [0.1, 0, 0]\ncovariance: [[0.0025, 0, 0], [0, 0.0025, 0], [0, 0, 0.0025]]\n"
                     "start: 0\nend: 8\nmeasurements:\n  - {time: 4, value: [1.578], covariance: [[0.0025]]}\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(reads_tabs_and_crlf)
{
    gbees_scenario *scenario = read_data("crlf", NULL);

    ck_assert_str_eq(gbees_scenario_text(scenario), "mean: [-1.5, 0.002]\ncovariance: [[4.4723e-05, 0], [0, 0.5]]\n"
                                                    "start: 0\nend: 1.25\nmeasurements: []\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

static const struct {
    const char *text, *error;
} malformed[] = {
    {"", ":1: the file ends where a line of labels should follow"},
    {"x y\n", ":1: the file ends where the line of values should follow"},
    {"1 2\n", ":1: expected a line of labels, found the number '1'"},
    {"x\n1 a\n", ":2: expected the line of values, found 'a'"},
    {"x\n1,\n", ":2: expected the line of values, found '1,'"},
    {"x\nnan\n", ":2: expected the line of values, found 'nan'"},
    {"x\n1 2 3 4 5 6 7 8 9\n", ":2: expected at most 8 numbers"},
    {"x y\n1 2\n\n1 0\n0 1\n", ":4: expected the label 'Covariance(...)', found the number '1'"},
    {"x y\n1 2\n\nC\n1 0\n0\n", ":6: expected row 2 of the covariance: 2 numbers, found 1"},
    {"x y\n1 2\n\nC\n1 0 0\n", ":5: expected row 1 of the covariance: 2 numbers, found 3"},
    {"x y\n1 2\n\nC\n1 0\n\nT\n1\n", ":7: expected row 2 of the covariance, found 'T'"},
    {"x\n1\n\nC\n1\n0\n\nT\n1\n", ":6: expected the label 'T (...)', found the number '0'"},
    {"x\n1\n\nC\n1\n\nT\n", ":7: the file ends where the length of the leg should follow"},
    {"x\n1\n\nC\n1\n\nT\n1 2\n", ":8: expected the length of the leg: 1 number, found 2"},
    {"x\n1\n\nC\n1\n\nT\n-1\n", ":8: expected the length of the leg, at least 0, found -1"},
    {"x\n1\n\nC\n1\n\nT\n1\n\n2\n", ":10: expected the end of the file after the leg's length"},
};

START_TEST(refuses_what_is_malformed)
{
    gbees_node *node = NULL;
    gbees_error error = {0};
    char expected[512];

    write_file("measurement0.txt", malformed[_i].text, strlen(malformed[_i].text));
    ck_assert_int_eq(gbees_measurement_file_read(path, &node, &error), GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s%s", path, malformed[_i].error);
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(node);
}
END_TEST

START_TEST(missing_values)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};
    static const char first[] = "x y\n1 2\n\nC\n1 0\n0 1\n\nT\n1\n", second[] = "x y\n~ 2\n\nC\n1 0\n0 1\n\nT\n1\n";

    ck_assert_int_eq(gbees_scenario_create("", "f.yaml", &scenario, &error), 0);
    write_file("measurement0.txt", first, strlen(first));
    write_file("measurement1.txt", second, strlen(second));
    ck_assert_msg(gbees_scenario_measurements(scenario, folder, NULL, &error) == 0, "%s", error.text);
    ck_assert_ptr_nonnull(
        strstr(gbees_scenario_text(scenario), "{time: 1, value: [~, 2], covariance: [[1, 0], [0, 1]]}"));
    write_file("measurement0.txt", second, strlen(second));
    ck_assert_int_eq(gbees_scenario_measurements(scenario, folder, NULL, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(
        strstr(error.text, "measurement0.txt:2: the initial mean: expected a number for each state, found ~"));
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(refuses_a_truncated_folder)
{
    const char *root = getenv("srcdir");
    char place[512], expected[700];
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    (void)snprintf(place, sizeof place, "%s/tests/data/measurements/truncated/", root ? root : ".");
    (void)snprintf(expected, sizeof expected,
                   "%smeasurement0.txt:6: expected row 2 of the covariance: 3 numbers, found 2", place);
    ck_assert_int_eq(gbees_scenario_create("mean: [1]", "f.yaml", &scenario, NULL), GBEES_OK);
    ck_assert_int_eq(gbees_scenario_measurements(scenario, place, NULL, &error), GBEES_EINPUT);
    ck_assert_str_eq(error.text, expected);
    ck_assert_str_eq(gbees_scenario_text(scenario), "mean: [1]\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

static void expect_folder(int status, const char *text)
{
    gbees_error error = {0};
    size_t count = 99;
    char expected[512];

    ck_assert_int_eq(gbees_measurement_folder_count(folder, &count, &error), status);
    (void)snprintf(expected, sizeof expected, "%s%s", folder, text);
    ck_assert_str_eq(error.text, expected);
    ck_assert_uint_eq(count, 99);
}

START_TEST(numbers_are_contiguous)
{
    size_t count = 0;

    write_file("measurements.txt", "", 0);
    expect_folder(GBEES_EINPUT, ": has no measurement0.txt, the initial Gaussian");
    write_file("measurement1.txt", valid, sizeof valid - 1);
    expect_folder(GBEES_EINPUT, ": has measurement1.txt, but no measurement0.txt");
    write_file("measurement0.txt", valid, sizeof valid - 1);
    ck_assert_int_eq(gbees_measurement_folder_count(folder, &count, NULL), GBEES_OK);
    ck_assert_uint_eq(count, 2);
    write_file("measurement3.txt", valid, sizeof valid - 1);
    expect_folder(GBEES_EINPUT, ": has measurement3.txt, but no measurement2.txt");
    write_file("measurement00.txt", valid, sizeof valid - 1);
    expect_folder(GBEES_EINPUT, "/measurement00.txt: rename it, its number has leading zeros");
}
END_TEST

START_TEST(times_are_sums)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    write_file("measurement0.txt", valid, sizeof valid - 1);
    write_file("measurement1.txt", valid, sizeof valid - 1);
    ck_assert_int_eq(gbees_scenario_create("start: 3\nfactor: 2", "f.yaml", &scenario, NULL), GBEES_OK);
    ck_assert_int_eq(gbees_scenario_measurements(scenario, folder, "a\nb", &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "measurement 1: function: expected a name, found 'a?b'"));
    ck_assert_int_eq(gbees_scenario_measurements(scenario, folder, "f", NULL), GBEES_OK);
    ck_assert(gbees_node_number(gbees_scenario_find(scenario, "start")) == 0);
    ck_assert(gbees_node_number(gbees_scenario_find(scenario, "end")) == 3);
    const gbees_node *list = gbees_scenario_find(scenario, "measurements");
    ck_assert_uint_eq(list->count, 1);
    ck_assert(gbees_node_number(gbees_node_find(list->items[0], "time")) == 1.5);
    ck_assert_ptr_nonnull(strstr(gbees_node_find(list->items[0], "value")->source, "measurement1.txt"));
    ck_assert_int_eq(gbees_scenario_set(scenario, "end=1", NULL), GBEES_OK);
    ck_assert(gbees_scenario_leaves_out(scenario, gbees_node_find(list->items[0], "time")));
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(folder_that_is_not_there)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_create("", "f.yaml", &scenario, NULL), GBEES_OK);
    ck_assert_int_eq(gbees_scenario_measurements(scenario, "/nowhere", NULL, &error), GBEES_EIO);
    ck_assert_str_eq(error.text, "/nowhere: can't be read: No such file or directory");
    gbees_scenario_destroy(scenario);
}
END_TEST

static void try_bytes(const char *text, size_t size)
{
    gbees_node *node = NULL;
    gbees_error error = {0};

    write_file("measurement0.txt", text, size);
    if (gbees_measurement_file_read(path, &node, &error)) {
        ck_assert_ptr_null(node);
        ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0 && !strchr(error.text, '\n'), "%s", error.text);
    }
    gbees_node_destroy(node);
}

/* Every truncation is refused, except of the last number's digits; no mutation does harm. */
START_TEST(survives_mutations)
{
    static const char bytes[] = "\0\n\t \r.-+eE0x,#\xff";
    char text[sizeof valid];
    uint32_t state = 2463534242u;

    for (size_t length = 0; length < sizeof valid - 1; length++) {
        gbees_node *node = NULL;

        write_file("measurement0.txt", valid, length);
        if (length < sizeof valid - 3)
            ck_assert_int_eq(gbees_measurement_file_read(path, &node, NULL), GBEES_EINPUT);
        else
            try_bytes(valid, length);
    }
    for (int i = 0; i < 3000; i++) {
        memcpy(text, valid, sizeof valid);
        for (int j = 0; j <= i % 3; j++) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            text[state % (sizeof valid - 1)] = bytes[(state >> 16) % (sizeof bytes - 1)];
        }
        try_bytes(text, sizeof valid - 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measurement_file");
    TCase *tcase = tcase_create("data"), *written = tcase_create("written");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, reads_lorenz63);
    tcase_add_test(tcase, reads_sizes_that_differ);
    tcase_add_test(tcase, reads_tabs_and_crlf);
    tcase_add_test(tcase, refuses_a_truncated_folder);
    tcase_add_test(tcase, folder_that_is_not_there);
    suite_add_tcase(suite, tcase);

    tcase_set_timeout(written, 60);
    tcase_add_checked_fixture(written, make_folder, remove_folder);
    tcase_add_loop_test(written, refuses_what_is_malformed, 0, (int)(sizeof malformed / sizeof *malformed));
    tcase_add_test(written, numbers_are_contiguous);
    tcase_add_test(written, missing_values);
    tcase_add_test(written, times_are_sums);
    tcase_add_test(written, survives_mutations);
    suite_add_tcase(suite, written);
    return run_suite(suite);
}
