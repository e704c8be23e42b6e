/* test_results_errors.c - results that can't be written, full disks, damaged files. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_util.h"
#include "results/run/checkpoint_file.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- what goes wrong when writing -------------------------------------------------------------------------------
 */

static void check_refused(const char *path, const char *words)
{
    gbees_problem problem = make_problem(1);
    gbees_writer *writer = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_writer_create(path, &problem, &provenance, &writer, &error), GBEES_EIO);
    ck_assert_ptr_null(writer);
    ck_assert_msg(strstr(error.text, words) && strstr(error.text, base), "%s", error.text);
}

START_TEST(folder_is_not_empty)
{
    gbees_problem problem = make_problem(1);

    gbees_writer_destroy(start(&problem));
    check_refused(folder, "is not empty");
}
END_TEST

START_TEST(folder_is_a_file)
{
    char path[sizeof folder + 16];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/file", base);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fclose(file);
    check_refused(path, "is no folder");
    (void)snprintf(path, sizeof path, "%s/file/run", base);
    check_refused(path, "Not a directory");
}
END_TEST

START_TEST(folder_is_empty)
{
    gbees_problem problem = make_problem(1);

    ck_assert_int_eq(gbees_folder_make(folder, NULL), 0);
    gbees_writer_destroy(start(&problem));
    ck_assert(exists("run.json"));
}
END_TEST

/* A disk that fills up while the second record is written: `_i` bytes fit into a file. */
START_TEST(disk_is_full)
{
    gbees_problem problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    gbees_cells *cells = make_cells(3, 200000);
    gbees_record record = make_record(&problem, cells, 0, 1);
    struct rlimit old, small;
    gbees_error error = {0};
    gbees_snapshot *snapshot;
    json_t *run;

    put(writer, &problem, 1000, 0, 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){(rlim_t)_i, old.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = gbees_writer_record(writer, &record, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert_int_eq(status, GBEES_EIO);
    ck_assert_msg(strstr(error.text, "/deep/run/leg0_record1.h5") && strstr(error.text, strerror(EFBIG)), "%s",
                  error.text);
    ck_assert_int_eq(count_files(".tmp"), 0);
    ck_assert_int_eq(count_files(".h5"), 2); /* the first record, and the moments */
    snapshot = get(0);
    check_same(snapshot, &problem, 1000, 1e-300);
    gbees_snapshot_destroy(snapshot);
    /* There is room again: all goes on. */
    ck_assert_int_eq(gbees_writer_record(writer, &record, &error), 0);
    ck_assert_int_eq(gbees_writer_finish(writer, "failed", NULL, &error), 0);
    run = load_run();
    ck_assert_str_eq(text_of(run, "state"), "failed");
    json_decref(run);
    gbees_cells_destroy(cells);
    gbees_writer_destroy(writer);
}
END_TEST

/* HDF5 must be as it was, also after a failure. */
START_TEST(hdf5_prints_as_before)
{
    H5E_auto2_t before, after;
    void *context;

    (void)H5Eget_auto2(H5E_DEFAULT, &before, &context);
    ck_assert_int_eq(gbees_folder_make(folder, NULL), 0);
    spoil("leg0_record0.h5", "nonsense", 0);
    check_unreadable("leg0_record0.h5", "signature");
    (void)H5Eget_auto2(H5E_DEFAULT, &after, &context);
    ck_assert(before == after);
    ck_assert(before != NULL);
    ck_assert_int_eq((int)H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}
END_TEST

/* ---- what goes wrong when reading -------------------------------------------------------------------------------
 */

static void write_one(void)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);

    put(writer, &problem, 1000, 0, 0);
    gbees_writer_destroy(writer);
}

START_TEST(foreign_file)
{
    write_one();
    spoil("leg0_record0.h5", "0.000000\n1e-3 1 2\n", 0);
    check_unreadable("leg0_record0.h5", "signature");
    spoil("leg0_record0.h5", "", 0);
    check_unreadable("leg0_record0.h5", "signature");
}
END_TEST

START_TEST(truncated_file)
{
    write_one();
    spoil("leg0_record0.h5", NULL, 5000);
    check_unreadable("leg0_record0.h5", "truncated file");
}
END_TEST

/* Flips a byte of the compressed cells: the checksum tells. */
START_TEST(corrupted_file)
{
    gbees_problem problem = make_problem(1);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("leg0_record0.h5"), text[16];
    hid_t file, set;

    put(writer, &problem, 60000, 0, 0);
    gbees_writer_destroy(writer);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    set = H5Dopen2(file, "pdf/index", H5P_DEFAULT);
    hsize_t count = 0, where[2], bytes = 0;
    haddr_t address = 0;
    unsigned mask;
    hid_t space = H5Dget_space(set);
    ck_assert_int_ge(H5Dget_num_chunks(set, space, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_ge(H5Dget_chunk_info(set, space, 0, where, &mask, &address, &bytes), 0);
    (void)H5Sclose(space);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    int descriptor = open(path, O_RDWR);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq((int)pread(descriptor, text, 1, (off_t)(address + bytes / 2)), 1);
    text[0] = (char)(text[0] ^ 0x10);
    ck_assert_int_eq((int)pwrite(descriptor, text, 1, (off_t)(address + bytes / 2)), 1);
    (void)close(descriptor);
    check_unreadable("leg0_record0.h5", "can't read");
    free(path);
}
END_TEST

/* An HDF5 file of something else, one from the future, one with more than we know, one with less. */
static void write_other(const char *format, int version, int with_cells)
{
    hsize_t size[2] = {1, 2}, one = 1;
    gbees_store store = {folder, open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1};
    gbees_hdf5 file;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_hdf5_create(&store, "leg0_record0.h5", &file, &error), 0);
    if (format) {
        gbees_hdf5_attribute_text(&file, "/", "format", format);
        gbees_hdf5_attribute(&file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &version);
        gbees_hdf5_attribute_text(&file, "/", "model", "other");
        gbees_hdf5_attribute(&file, "/", "leg", H5T_NATIVE_INT, 0, NULL, &(int){7});
        gbees_hdf5_attribute(&file, "/", "record", H5T_NATIVE_INT, 0, NULL, &(int){0});
        gbees_hdf5_attribute(&file, "/", "time", H5T_NATIVE_DOUBLE, 0, NULL, &(double){1});
        gbees_hdf5_attribute_text(&file, "/", "colour", "blue");
    }
    gbees_hdf5_group(&file, "pdf");
    gbees_hdf5_group(&file, "grid");
    gbees_hdf5_dataset(&file, "grid/origin", H5T_NATIVE_DOUBLE, 1, &one, NULL, &(double){1});
    gbees_hdf5_dataset(&file, "grid/h", H5T_NATIVE_DOUBLE, 1, &one, NULL, &(double){2});
    gbees_hdf5_texts(&file, "grid/names", 1, &(const char *){"x"});
    gbees_hdf5_texts(&file, "grid/units", 1, &(const char *){NULL});
    gbees_hdf5_dataset(&file, "pdf/index", H5T_NATIVE_INT32, 2, size, NULL, (int32_t[]){-1, 4});
    if (with_cells) {
        size[0] = (hsize_t)with_cells;
        gbees_hdf5_dataset(&file, "pdf/p", H5T_NATIVE_DOUBLE, 1, size, NULL, (double[]){.25, .75, 0});
    }
    gbees_hdf5_dataset(&file, "pdf/more", H5T_NATIVE_INT32, 1, &one, NULL, &(int32_t){5});
    ck_assert_msg(gbees_hdf5_commit(&file, &error) == 0, "%s", error.text);
    (void)close(store.descriptor);
}

START_TEST(other_hdf5_files)
{
    gbees_snapshot *snapshot;

    ck_assert_int_eq(gbees_folder_make(folder, NULL), 0);
    write_other(NULL, 1, 2);
    check_unreadable("leg0_record0.h5", "format is missing");
    write_other("netcdf", 1, 2);
    check_unreadable("leg0_record0.h5", "no record of gbees");
    write_other("gbees-record", 3, 2);
    check_unreadable("leg0_record0.h5", "it is of a newer gbees");
    write_other("gbees-record", 2, 2);
    check_unreadable("leg0_record0.h5", "an older one whose density was on several grids");
    write_other("gbees-record", 1, 0);
    check_unreadable("leg0_record0.h5", "/pdf/p is missing");
    write_other("gbees-record", 1, 3);
    check_unreadable("leg0_record0.h5", "do not fit together");
    write_other("gbees-record", 1, 2); /* with fields that this version does not know */
    snapshot = get(0);
    ck_assert_int_eq(snapshot->leg, 7);
    ck_assert_str_eq(snapshot->unit[0], "");
    ck_assert_int_eq(snapshot->index[0][1], 4);
    ck_assert_double_eq(snapshot->p[1], .75);
    gbees_snapshot_destroy(snapshot);
}
END_TEST

/* A checkpoint holds the state of one version's engines: that of another version is refused. */
static void check_checkpoint(int format, const char *version, const char *words)
{
    gbees_store store = {folder, open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1};
    char path[sizeof folder + 32];
    gbees_checkpoint found = {0};
    uint64_t number = 0;
    gbees_hdf5 file;
    gbees_error error = {0};

    (void)snprintf(path, sizeof path, "%s/checkpoint-B.h5", folder);
    ck_assert_int_eq(gbees_hdf5_create(&store, "checkpoint-B.h5", &file, &error), 0);
    gbees_hdf5_attribute_text(&file, "/", "format", "gbees-checkpoint");
    gbees_hdf5_attribute(&file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &format);
    gbees_hdf5_attribute_text(&file, "/", "gbees_version", version);
    gbees_hdf5_attribute(&file, "/", "number", H5T_NATIVE_UINT64, 0, NULL, &(uint64_t){1});
    ck_assert_msg(gbees_hdf5_commit(&file, &error) == 0, "%s", error.text);
    (void)close(store.descriptor);
    ck_assert_int_eq(gbees_checkpoint_file_load(path, &found, &number, &error), GBEES_EINPUT);
    ck_assert_msg(strstr(error.text, words), "%s", error.text);
    ck_assert_ptr_null(found.part);
}

START_TEST(checkpoints_of_other_versions)
{
    char words[100];

    ck_assert_int_eq(gbees_folder_make(folder, NULL), 0);
    (void)snprintf(words, sizeof words, "it is of gbees %s, format 2, and this is gbees", gbees_version());
    check_checkpoint(2, gbees_version(), words);
    check_checkpoint(3, "0.0.1", "it is of gbees 0.0.1, format 3, and this is gbees");
    check_checkpoint(3, gbees_version(), "shapes"); /* of this version, but empty */
}
END_TEST

START_TEST(no_results)
{
    gbees_results *results = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_results_open(folder, &results, &error), GBEES_EIO);
    ck_assert_ptr_nonnull(strstr(error.text, folder));
    ck_assert_ptr_nonnull(strstr(error.text, strerror(ENOENT)));
    ck_assert_int_eq(gbees_results_open(base, &results, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "no records in"));
    ck_assert_ptr_null(results);
}
END_TEST

/* ---- main --------------------------------------------------------------------------------------------------------
 */

int main(void)
{
    Suite *suite = suite_create("results_errors");
    TCase *tests = tcase_create("results_errors");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, folder_is_not_empty);
    tcase_add_test(tests, folder_is_a_file);
    tcase_add_test(tests, folder_is_empty);
    for (int bytes = 0; bytes < 200000; bytes = bytes * 4 + 900)
        tcase_add_loop_test(tests, disk_is_full, bytes, bytes + 1);
    tcase_add_test(tests, hdf5_prints_as_before);
    tcase_add_test(tests, foreign_file);
    tcase_add_test(tests, truncated_file);
    tcase_add_test(tests, corrupted_file);
    tcase_add_test(tests, other_hdf5_files);
    tcase_add_test(tests, checkpoints_of_other_versions);
    tcase_add_test(tests, no_results);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
