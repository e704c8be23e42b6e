/* test_moments.c - the time series of a results folder: records, updates, measurements and truth, and when it is
 * written.
 */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_scale.h"
#include "results/records/verify.h"
#include "results/run/moments.h"
#include <math.h>

START_TEST(moments)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("moments.h5");
    hsize_t size[3], first[3] = {1, 0, 0}, count[3] = {1, 2, 2}, one = 1, zero = 0;
    double mean[2], covariance[4], evidence, sampled, sampled_error;
    const gbees_evidence of_update = {
        .log_evidence = -2.5, .log_likelihood_max = -1, .sampled = -2.375, .sampled_error = NAN};
    gbees_hdf5 file;
    gbees_error error;

    put(writer, &problem, 5, 0, 0);
    ck_assert_int_eq(gbees_writer_update(writer, 0, 1, &of_update, &error), 0);
    for (int i = 1; i < 40; i++)
        put(writer, &problem, 5, 0, i);
    gbees_writer_destroy(writer);
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "covariance", 3, size);
    gbees_hdf5_read(&file, "mean", H5T_NATIVE_DOUBLE, 2, first, count, mean);
    gbees_hdf5_read(&file, "covariance", H5T_NATIVE_DOUBLE, 3, first, count, covariance);
    gbees_hdf5_read(&file, "updates/log_evidence", H5T_NATIVE_DOUBLE, 1, &zero, &one, &evidence);
    gbees_hdf5_read(&file, "updates/log_evidence_sampled", H5T_NATIVE_DOUBLE, 1, &zero, &one, &sampled);
    gbees_hdf5_read(&file, "updates/log_evidence_error", H5T_NATIVE_DOUBLE, 1, &zero, &one, &sampled_error);
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert_uint_eq(size[0], 40);
    ck_assert_uint_eq(size[2], 2);
    ck_assert_double_eq(mean[1], 2);
    ck_assert_double_eq(covariance[3], 2);
    ck_assert_double_eq(evidence, -2.5);
    ck_assert_double_eq(sampled, -2.375);
    ck_assert(isnan(sampled_error));
    free(path);
}
END_TEST

/* A run that is killed leaves whole files: each record at once, the time series within a second. */
START_TEST(files_before_the_end)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("moments.h5");
    gbees_results *results = NULL;
    hsize_t size = 0;
    gbees_hdf5 file;
    gbees_error error;

    for (int i = 0; i < 20; i++)
        put(writer, &problem, 5, 0, i);
    ck_assert_int_eq(gbees_results_open(folder, &results, &error), 0);
    ck_assert_uint_eq(gbees_results_count(results), 20);
    gbees_results_destroy(results);
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "time", 1, &size);
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert_uint_ge(size, 1);
    sleep(1); /* longer than the time series may be behind */
    ck_assert_int_eq(gbees_writer_sync(writer, &error), 0);
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "time", 1, &size);
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert_uint_eq(size, 20);
    gbees_writer_destroy(writer);
    free(path);
}
END_TEST

/* A first record that can't be written leaves a time series without rows: a file like any other. */
START_TEST(no_record)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("moments.h5");
    gbees_moments *series = gbees_moments_create(&problem);
    gbees_store store;
    hsize_t size = 1;
    gbees_hdf5 file;
    gbees_error error = {GBEES_OK, {0}};

    gbees_writer_destroy(writer);
    ck_assert_ptr_nonnull(series);
    ck_assert_int_eq(gbees_store_reopen(folder, &store, &error), 0);
    ck_assert_msg(gbees_moments_write(series, &store, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "time", 1, &size);
    gbees_verify_read(&file);
    ck_assert_msg(gbees_hdf5_close(&file, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(size, 0);
    gbees_store_close(&store);
    gbees_moments_destroy(series);
    free(path);
}
END_TEST

static const struct {
    gbees_densities densities;
    int every;
    size_t files; /* of seven records, two of them at the end */
} choices[] = {{GBEES_DENSITIES_ALL, 0, 7},
               {GBEES_DENSITIES_ALL, 3, 3},
               {GBEES_DENSITIES_LAST, 0, 2},
               {GBEES_DENSITIES_NONE, 0, 0},
               {GBEES_DENSITIES_AT_TIMES, 0, 3}}; /* the first one after a time, and both at the other */

START_TEST(densities_of_some_records)
{
    gbees_problem problem = make_problem(2);
    problem.end = 1;
    double times[] = {0.55, 1};
    const gbees_output output = {choices[_i].densities, choices[_i].every, 2, times, 0, 0};
    gbees_writer *writer = start(&problem);
    char *path = in_folder("moments.h5");
    gbees_results *results = NULL;
    hsize_t rows = 0;
    gbees_hdf5 file;
    gbees_error error;

    gbees_writer_output(writer, &output);
    for (int i = 5; i < 11; i++)
        put(writer, &problem, 5, 0, i); /* at t = 0.5 ... 1 */
    put(writer, &problem, 5, 1, 0);
    gbees_writer_destroy(writer);
    const int status = gbees_results_open(folder, &results, &error);
    ck_assert_uint_eq(status ? 0 : gbees_results_count(results), choices[_i].files);
    gbees_results_destroy(results);
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "time", 1, &rows);
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert_uint_eq(rows, 7);
    free(path);
}
END_TEST

START_TEST(what_was_measured_and_true)
{
    static const gbees_quantity seen[] = {{"x", "m", ""}, {"w", "", ""}};
    static const gbees_measurement_function functions[] = {{"one", "", 1, NULL, NULL}, {"two", "", 2, seen, NULL}};
    const gbees_measurement measurements[] = {
        {.time = 0.5, .function = 1, .size = 2, .value = {3, 4}, .covariance = {9, 0, 0, 16}, .missing = 1},
        {.time = 1, .size = 1, .value = {5}, .covariance = {4}},
        {.time = 2, .size = 1, .value = {6}, .covariance = {4}}};
    gbees_model measured = model;
    gbees_problem problem = make_problem(2);
    const hsize_t zero[2] = {0}, count[2] = {2, 2};
    double value[4], std[4], rank[4], nees[2];
    char names[4][16], *path = in_folder("moments.h5");
    gbees_hdf5 file;
    gbees_error error;

    measured.measurement_count = 2;
    measured.measurements = functions;
    problem.model = &measured;
    problem.measurement_count = 3;
    problem.measurements = measurements;
    problem.end = 1; /* before the last of them */
    gbees_writer *writer = start(&problem);
    gbees_cells *cells = make_cells(2, 5);
    gbees_record record = make_record(&problem, cells, 0, 0);
    const gbees_score score = {.state = {1, 2}, .rmse = 0.5, .nees = 3, .rank = {0.25, 0.75}};
    record.score = &score;
    ck_assert_int_eq(gbees_writer_record(writer, &record, &error), 0);
    put(writer, &problem, 5, 0, 1);
    gbees_writer_destroy(writer);
    gbees_cells_destroy(cells);

    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_read(&file, "measured/value", H5T_NATIVE_DOUBLE, 2, zero, count, value);
    gbees_hdf5_read(&file, "measured/std", H5T_NATIVE_DOUBLE, 2, zero, count, std);
    gbees_hdf5_read_characters(&file, "measured/component_name", 4, strlen("one"), names[0], sizeof names[0]);
    gbees_hdf5_read(&file, "truth/rank", H5T_NATIVE_DOUBLE, 2, zero, count, rank);
    gbees_hdf5_read(&file, "truth/nees", H5T_NATIVE_DOUBLE, 1, zero, count, nees);
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert(isnan(value[0]) && value[1] == 4 && value[2] == 5 && isnan(value[3]));
    ck_assert(isnan(std[0]) && std[1] == 4 && std[2] == 2 && isnan(std[3]));
    ck_assert_str_eq(names[0], "one");
    ck_assert_str_eq(names[1], "");
    ck_assert_str_eq(names[2], "x");
    ck_assert_str_eq(names[3], "w");
    ck_assert(rank[0] == 0.25 && rank[1] == 0.75 && isnan(rank[2]) && nees[0] == 3 && isnan(nees[1]));
    free(path);

    /* The same as points of states that have these names. */
    static const char state[2][64] = {"w", "one"};
    gbees_series *series = NULL;
    ck_assert_msg(!gbees_series_read(folder, 2, state, &series, &error), "%s", error.text);
    ck_assert_uint_eq(series->measurements, 2);
    for (int j = 0; j < 2; j++)
        ck_assert(series->measured[j].count == 1 && series->truth[j].count == 1);
    ck_assert(series->measured[0].time[0] == 0.5 && series->measured[0].value[0] == 4);
    ck_assert(series->measured[1].value[0] == 5 && series->measured[1].std[0] == 2);
    ck_assert(series->truth[1].time[0] == 0 && series->truth[1].value[0] == 2);
    gbees_series_destroy(series);
}
END_TEST

START_TEST(a_damaged_time_series)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    static const char state[2][64] = {"x", "y"};
    gbees_series *series = NULL;
    char *path = in_folder("moments.h5");
    gbees_error error = {0};

    ck_assert_int_eq(gbees_series_read(folder, 2, state, &series, &error), GBEES_OK); /* there is none yet */
    ck_assert(series->measurements == 0 && series->measured[0].count == 0);
    gbees_series_destroy(series);
    put(writer, &problem, 5, 0, 0);
    gbees_writer_destroy(writer);
    ck_assert_int_eq(truncate(path, 700), 0);
    series = NULL;
    ck_assert_int_ne(gbees_series_read(folder, 2, state, &series, &error), GBEES_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "moments.h5"));
    ck_assert_ptr_null(series);
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moments");
    TCase *tests = tcase_create("moments");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, moments);
    tcase_add_test(tests, files_before_the_end);
    tcase_add_test(tests, no_record);
    tcase_add_loop_test(tests, densities_of_some_records, 0, sizeof choices / sizeof *choices);
    tcase_add_test(tests, what_was_measured_and_true);
    tcase_add_test(tests, a_damaged_time_series);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
