/* test_table_datasets.c - tables in HDF5 files, as xarray and h5py write them: what a column is, what is missing, and
 * what is refused with file, dataset and row. */
#include "fixtures/suite.h"
#include "scenario/scenario.h"
#include "scenario/table.h"
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3 };

static const gbees_quantity height = {"height", "km", ""};
static const gbees_measurement_function functions[] = {{"height", "", 1, &height, NULL}};
static const gbees_model model = {.name = "seen", .measurement_count = 1, .measurements = functions};

static char path[] = "/tmp/gbees-test-XXXXXX";
static hid_t file;

static void setup(void)
{
    (void)strcpy(path + sizeof path - 7, "XXXXXX");
    const int made = mkstemp(path);

    ck_assert_int_ge(made, 0);
    ck_assert_int_eq(close(made), 0);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
}

static void teardown(void)
{
    ck_assert_int_eq(unlink(path), 0);
}

static void put(const char *name, hid_t type, hsize_t rows, const void *data)
{
    hid_t space = H5Screate_simple(1, &rows, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    ck_assert_int_ge(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    (void)H5Dclose(set);
    (void)H5Sclose(space);
}

static void put_numbers(const char *name, double a, double b, double c)
{
    put(name, H5T_NATIVE_DOUBLE, ROWS, (double[]){a, b, c});
}

static void attach(const char *name, const char *attribute, hid_t type, const void *data)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t made = H5Acreate_by_name(file, name, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    ck_assert_int_ge(H5Awrite(made, type, data), 0);
    (void)H5Aclose(made);
    (void)H5Sclose(space);
}

/* size 0: a string of variable length. */
static hid_t text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    (void)H5Tset_size(type, size > 0 ? size : H5T_VARIABLE);
    return type;
}

static void attach_text(const char *name, const char *attribute, const char *text)
{
    hid_t type = text_type(strlen(text) + 1);

    attach(name, attribute, type, text);
    (void)H5Tclose(type);
}

/* Closes the file, and reads it as a scenario's measurements. */
static int load(gbees_scenario **scenario, gbees_error *error)
{
    char yaml[128];

    ck_assert_int_ge(H5Fclose(file), 0);
    (void)snprintf(yaml, sizeof yaml, "measurements: {file: %s}\n", path);
    ck_assert_int_eq(gbees_scenario_create(yaml, "f.yaml", scenario, NULL), GBEES_OK);
    return gbees_scenario_load(*scenario, &model, error);
}

static void expect(const char *text)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_msg(load(&scenario, &error) == GBEES_OK, "%s", error.text);
    ck_assert_str_eq(gbees_scenario_text(scenario), text);
    gbees_scenario_destroy(scenario);
}

static void refuse(const char *text)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};
    char expected[512];

    ck_assert_int_ne(load(&scenario, &error), GBEES_OK);
    (void)snprintf(expected, sizeof expected, text, path);
    ck_assert_str_eq(error.text, expected);
    gbees_scenario_destroy(scenario);
}

static const char same[] = "end: 3\nmeasurements:\n"
                           "  - {time: 1, function: height, value: [2], covariance: [0.25]}\n"
                           "  - {time: 3, function: height, value: [4], covariance: [1]}\n";

START_TEST(reads_what_h5py_writes)
{
    put("time", H5T_NATIVE_INT, ROWS, (int[]){1, 2, 3});
    put("height", H5T_NATIVE_FLOAT, ROWS, (float[]){2, NAN, 4});
    put_numbers("sigma_height", 0.5, 0.5, 1);
    put("function", H5T_NATIVE_UCHAR, ROWS, (unsigned char[]){0, 0, 0});
    attach_text("height", "units", "km");
    expect(same);
}
END_TEST

/* Packed numbers, values that stand for none, an index of rows, and a dimension without values. */
START_TEST(reads_what_xarray_writes)
{
    hid_t type = text_type(0);

    put_numbers("time", 1, 2, 3);
    put("height", H5T_NATIVE_SHORT, ROWS, (short[]){4, -9, 8});
    attach("height", "_FillValue", H5T_NATIVE_SHORT, &(short){-9});
    attach("height", "scale_factor", H5T_NATIVE_DOUBLE, &(double){0.5});
    put_numbers("sigma_height", 0.5, 9.969209968386869e+36, 1);
    put("function", type, ROWS, (const char *[]){"height", "height", "height"});
    put("index", H5T_NATIVE_LLONG, ROWS, (long long[]){0, 1, 2});
    attach_text("index", "CLASS", "DIMENSION_SCALE");
    put("obs", H5T_NATIVE_FLOAT, 5, (float[5]){0});
    attach_text("obs", "CLASS", "DIMENSION_SCALE");
    attach_text("obs", "NAME", "This is a netCDF dimension but not a netCDF variable.         3");
    expect(same);
    (void)H5Tclose(type);
}
END_TEST

START_TEST(names_are_of_fixed_length_too)
{
    hid_t type = text_type(6);

    put_numbers("time", 1, 2, 3);
    put_numbers("height", 2, NAN, 4);
    put_numbers("sigma_height", 0.5, 1, 1);
    put("function", type, ROWS, "heightheightheight");
    expect(same);
    (void)H5Tclose(type);
}
END_TEST

/* ---- refusals: in a good file one thing is bad ------------------------------------------------------------------
 */

static void put_good(void)
{
    put_numbers("time", 1, 2, 3);
    put_numbers("sigma_height", 1, 1, 1);
}

START_TEST(refuses_a_unit)
{
    put_good();
    put_numbers("height", 1, 2, 3);
    attach_text("height", "units", "m");
    refuse("%s: dataset height: expected the unit 'km', found 'm'");
}
END_TEST

START_TEST(refuses_a_cell)
{
    put_good();
    put_numbers("height", 1, INFINITY, 3);
    refuse("%s: dataset height, row 1: expected a number, found 'inf'");
}
END_TEST

START_TEST(refuses_an_order)
{
    put_numbers("time", 1, 3, 2);
    put_numbers("height", 1, 2, 3);
    put_numbers("sigma_height", 1, 1, 1);
    refuse("%s: dataset time, row 2: expected a time not before that of row 1, 3, found 2");
}
END_TEST

START_TEST(refuses_other_lengths)
{
    put_good();
    put("height", H5T_NATIVE_DOUBLE, 2, (double[]){1, 2});
    refuse("can't read the file %s: dataset sigma_height: expected 2 rows, as dataset height has, found 3");
}
END_TEST

START_TEST(refuses_dates)
{
    put_good();
    put_numbers("height", 1, 2, 3);
    attach_text("time", "units", "days since 2000-01-01");
    refuse("%s: dataset time: expected the model's time, found dates, 'days since 2000-01-01': write numbers, or in "
           "Python open the file with xarray, and give an epoch");
}
END_TEST

START_TEST(refuses_values_elsewhere)
{
    const hsize_t rows = ROWS;
    hid_t made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &rows, NULL);

    put_good();
    (void)H5Pset_external(made, "/etc/passwd", 0, sizeof(double) * ROWS);
    (void)H5Dclose(H5Dcreate2(file, "height", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT));
    (void)H5Pclose(made);
    (void)H5Sclose(space);
    refuse("can't read the file %s: dataset height: its values are not in the file itself");
}
END_TEST

START_TEST(refuses_a_file_without_columns)
{
    (void)H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    refuse("can't read the file %s: expected datasets in its root group, time and what was measured, found none");
}
END_TEST

/* A file that is cut anywhere is an error, and no crash. */
START_TEST(refuses_a_part_of_a_file)
{
    static char bytes[1 << 16];
    gbees_table *table = NULL;

    put_good();
    ck_assert_int_ge(H5Fclose(file), 0);
    FILE *whole = fopen(path, "rb");
    const size_t length = fread(bytes, 1, sizeof bytes, whole);
    (void)fclose(whole);
    for (size_t cut = 8; cut < length; cut += length / 7) {
        gbees_error error = {0};
        FILE *part = fopen(path, "wb");

        ck_assert_uint_eq(fwrite(bytes, 1, cut, part), cut);
        (void)fclose(part);
        ck_assert_int_ne(gbees_table_read(path, &table, &error), GBEES_OK);
        ck_assert_ptr_nonnull(strstr(error.text, path));
    }
}
END_TEST

START_TEST(refuses_classic_netcdf)
{
    gbees_table *table = NULL;
    gbees_error error = {0};

    ck_assert_int_ge(H5Fclose(file), 0);
    FILE *classic = fopen(path, "wb");
    (void)fwrite("CDF\1\0\0\0\0", 1, 8, classic);
    (void)fclose(classic);
    ck_assert_int_eq(gbees_table_read(path, &table, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "netCDF of classic format: write it as netCDF-4"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table_datasets");
    TCase *cases = tcase_create("tables in HDF5 files");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, reads_what_h5py_writes);
    tcase_add_test(cases, reads_what_xarray_writes);
    tcase_add_test(cases, names_are_of_fixed_length_too);
    tcase_add_test(cases, refuses_a_unit);
    tcase_add_test(cases, refuses_a_cell);
    tcase_add_test(cases, refuses_an_order);
    tcase_add_test(cases, refuses_other_lengths);
    tcase_add_test(cases, refuses_dates);
    tcase_add_test(cases, refuses_values_elsewhere);
    tcase_add_test(cases, refuses_a_file_without_columns);
    tcase_add_test(cases, refuses_a_part_of_a_file);
    tcase_add_test(cases, refuses_classic_netcdf);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
