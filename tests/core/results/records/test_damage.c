/* test_damage.c - records that are damaged, or made to do harm: each is an error, and no number is silently another.
 */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

enum { CELLS = 400, FLIPS = 300 };

static gbees_problem problem;
static const char *file_name;
static char *path;
static unsigned char *bytes;
static size_t size;

/* Reads the record's file into `bytes`. */
static void load_bytes(void)
{
    struct stat file;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(fstat(descriptor, &file), 0);
    size = (size_t)file.st_size;
    free(bytes);
    bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq((int)read(descriptor, bytes, size), (int)size);
    (void)close(descriptor);
}

/* Writes a record, in a file of its own or in run.h5. */
static void write_record(int together)
{
    set_up();
    problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    if (together)
        ck_assert_int_eq(gbees_writer_one_file(writer, NULL), 0);
    put(writer, &problem, CELLS, 0, 0);
    gbees_writer_destroy(writer);
    file_name = together ? "run.h5" : "leg0_record0.h5";
    path = in_folder(file_name);
    load_bytes();
}

static void set_up_record(void)
{
    write_record(0);
}

static void set_up_run_file(void)
{
    write_record(1);
}

static void tear_down_record(void)
{
    free(bytes);
    bytes = NULL;
    free(path);
    tear_down();
}

static void write_byte(size_t at, unsigned char value)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);

    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq((int)pwrite(descriptor, &value, 1, (off_t)at), 1);
    (void)close(descriptor);
}

static int read_record(gbees_snapshot **snapshot, gbees_error *error)
{
    gbees_results *results = NULL;

    int status = gbees_results_open(folder, &results, error); /* reads the list of records in run.h5 */
    if (!status)
        status = gbees_results_read(results, 0, snapshot, error);
    gbees_results_destroy(results);
    return status;
}

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static void check_equal(const gbees_snapshot *a, const gbees_snapshot *b, size_t at)
{
    ck_assert_msg(a->leg == b->leg && a->number == b->number && a->step == b->step && a->count == b->count &&
                      a->dimension == b->dimension && a->warning_count == b->warning_count,
                  "byte %zu: other numbers", at);
    ck_assert_msg(
        memcmp(&a->time, &b->time, sizeof a->time) == 0 && memcmp(a->width, b->width, sizeof a->width) == 0 &&
            memcmp(a->origin, b->origin, sizeof a->origin) == 0 &&
            memcmp(a->rotation, b->rotation, sizeof a->rotation) == 0 &&
            memcmp(&a->mass, &b->mass, sizeof a->mass) == 0 && memcmp(&a->total, &b->total, sizeof a->total) == 0 &&
            memcmp(&a->since, &b->since, sizeof a->since) == 0,
        "byte %zu: other numbers", at);
    ck_assert_msg(strcmp(a->model, b->model) == 0 && memcmp(a->name, b->name, sizeof a->name) == 0 &&
                      memcmp(a->unit, b->unit, sizeof a->unit) == 0,
                  "byte %zu: other names", at);
    ck_assert_msg(memcmp(a->p, b->p, a->count * sizeof *a->p) == 0, "byte %zu: other P", at);
    for (int j = 0; j < a->dimension; j++)
        ck_assert_msg(memcmp(a->index[j], b->index[j], a->count * sizeof *a->index[j]) == 0,
                      "byte %zu: other indices", at);
}

/* Bytes all over the file, most of them where HDF5 has its own: each is an error or does not matter. */
START_TEST(flipped_bytes)
{
    gbees_snapshot *whole = get(0);
    uint64_t number = (uint64_t)_i + 1;
    int refused = 0;

    for (int k = 0; k < FLIPS; k++) {
        gbees_snapshot *snapshot = NULL;
        gbees_error error = {0};

        number = number * 6364136223846793005U + 1442695040888963407U;
        size_t at = (size_t)(number >> 33) % (k % 4 ? size / 2 : size);
        write_byte(at, bytes[at] ^ (unsigned char)(k % 2 ? 0x80 : 1U << (number >> 60) % 8));
        if (read_record(&snapshot, &error) == 0) {
            check_equal(snapshot, whole, at);
        } else {
            refused++;
            ck_assert_msg(strstr(error.text, file_name) && !strchr(error.text, '\n'), "byte %zu: %s", at, error.text);
        }
        gbees_snapshot_destroy(snapshot);
        write_byte(at, bytes[at]);
    }
    ck_assert_int_gt(refused, FLIPS / 20);
    gbees_snapshot_destroy(whole);
}
END_TEST

static const char format[] = "gbees-record";

/* Makes "format" a string of variable length, as other programs write strings: in a heap of HDF5's. */
static void make_format_variable(void)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);

    ck_assert_int_ge(H5Tset_size(type, H5T_VARIABLE), 0);
    ck_assert_int_ge(H5Adelete(file, "format"), 0);
    hid_t attribute = H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(attribute, type, &(const char *){format}), 0);
    (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Fclose(file);
    load_bytes();
}

/* Where HDF5 has its heap of strings in the record: that of the axes of datasets is another one. */
static size_t heap_of_strings(void)
{
    size_t at = 0;

    while (at + 48 < size &&
           (memcmp(bytes + at, "GCOL", 4) != 0 || memcmp(bytes + at + 32, format, sizeof format - 1) != 0))
        at++;
    ck_assert_uint_lt(at + 48, size);
    return at;
}

/* Whether the record with another byte is refused with this text. */
static int is_refused(size_t at, const char *text)
{
    gbees_snapshot *snapshot = NULL;
    gbees_error error = {0};

    write_byte(at, bytes[at] ^ 0x80);
    const int refused = read_record(&snapshot, &error) != 0 && strstr(error.text, text);
    gbees_snapshot_destroy(snapshot);
    write_byte(at, bytes[at]);
    return refused;
}

/* The index of a string in a heap of HDF5's set to more than the heap has: HDF5 1.10 reads beyond it, and crashes. */
START_TEST(crashes_are_errors)
{
    int crashed = 0;

    make_format_variable();
    for (size_t k = 48; k-- > 25 && !crashed;) /* numbers and lengths of the heap's first strings */
        crashed = is_refused(heap_of_strings() + k, "it crashed");
    ck_assert_msg(crashed || H5_VERS_MINOR > 10, "no byte that crashes HDF5 was found: the child is not tested");
}
END_TEST

/* A string's length with which HDF5 1.10 does not come to an end: until the child's limit, a minute. */
START_TEST(what_does_not_end_is_an_error)
{
    make_format_variable();
    ck_assert(is_refused(heap_of_strings() + 24, "it took more than") || H5_VERS_MINOR > 10);
}
END_TEST

/* ---- values: another program has changed them, and the file is a sound HDF5 file ----------------------------------
 */

static void change_attribute(const char *object, const char *name, double value)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);

    ck_assert_int_ge(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), 0);
    (void)H5Aclose(attribute);
    (void)H5Fclose(file);
}

static void change_dataset(const char *name, hid_t type, const void *values)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, name, H5P_DEFAULT);

    ck_assert_int_ge(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
}

typedef struct finding {
    int files, summed, damaged;
    char text[1024];
} finding;

static void note(void *context, const char *file, int summed, const gbees_error *error)
{
    finding *f = context;

    ck_assert_ptr_nonnull(file);
    f->files++;
    f->summed += summed;
    f->damaged += error != NULL;
    if (error)
        (void)snprintf(f->text, sizeof f->text, "%s", error->text);
}

static finding verify(void)
{
    finding found = {0};

    ck_assert_int_eq(gbees_results_verify(folder, note, &found, NULL), 0);
    return found;
}

/* A byte of values, in the object's header or in a chunk: HDF5's checksum tells, also where nobody reads them as a
 * rule. */
START_TEST(checksums)
{
    finding found = verify();
    const double last = 1e-3; /* of a marginal, which is written behind the cells */
    size_t at = size - sizeof last;

    ck_assert_msg(found.files == 2 && found.summed == 2 && found.damaged == 0, "%s", found.text);
    while (at > 0 && memcmp(bytes + at, &last, sizeof last) != 0)
        at--;
    ck_assert_uint_gt(at, size / 2);
    write_byte(at, bytes[at] ^ 1);
    found = verify();
    ck_assert_msg(found.damaged == 1 && strstr(found.text, "checksum"), "%s", found.text);
}
END_TEST

/* A dataset of 2^37 strings of 2^27 bytes, none of which is stored. */
START_TEST(strings_without_end)
{
    const hsize_t extent[] = {1, (hsize_t)1 << 21, 1 << 16}, chunk[] = {1, 1, 1};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), layout = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(3, extent, NULL), type = H5Tcopy(H5T_C_S1);

    ck_assert_int_ge(H5Tset_size(type, (size_t)1 << 27), 0);
    ck_assert_int_ge(H5Pset_chunk(layout, 3, chunk), 0);
    hid_t set = H5Dcreate2(file, "a", type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    (void)H5Dclose(set);
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    (void)H5Pclose(layout);
    (void)H5Fclose(file);
    const finding found = verify();
    ck_assert_msg(found.damaged == 0, "%s", found.text);
}
END_TEST

/* Cells in another order than that of their indices are no record's: chunks that are exchanged, or missing. */
START_TEST(cells_out_of_order)
{
    int32_t index[3][CELLS];

    memset(index, 0, sizeof index);
    change_dataset("/pdf/index", H5T_NATIVE_INT32, index);
    check_unreadable("leg0_record0.h5", "cell 1 is not behind the one before it");
}
END_TEST

START_TEST(values)
{
    double p[CELLS] = {-2e30}, wide[] = {1, 0, 1};
    finding found;

    change_attribute("/", "mass", .5);
    found = verify();
    ck_assert_msg(found.damaged == 1 && strstr(found.text, "its ledger adds up to 0.75"), "%s", found.text);
    change_attribute("/", "mass", .75);
    change_dataset("/pdf/p", H5T_NATIVE_DOUBLE, p);
    check_unreadable("leg0_record0.h5", "P = -2e+30, which no cell can have");
    p[0] = 1;
    p[CELLS - 1] = (double)INFINITY;
    change_dataset("/pdf/p", H5T_NATIVE_DOUBLE, p);
    check_unreadable("cell 399", "P = inf");
    p[CELLS - 1] = 0;
    change_dataset("/pdf/p", H5T_NATIVE_DOUBLE, p);
    gbees_snapshot_destroy(get(0));
    found = verify();
    ck_assert_msg(found.damaged == 1 && strstr(found.text, "and its cells to 1"), "%s", found.text);
    change_dataset("/grid/h", H5T_NATIVE_DOUBLE, wide);
    check_unreadable("leg0_record0.h5", "its grid is no number");
}
END_TEST

/* A dataset whose values are another file's: reading it would show that file. */
START_TEST(values_of_other_files)
{
    hsize_t count = CELLS;

    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), made = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, &count, NULL);
    ck_assert_int_ge(H5Ldelete(file, "/pdf/p", H5P_DEFAULT), 0);
    ck_assert_int_ge(H5Pset_external(made, "/etc/passwd", 0, CELLS * sizeof(double)), 0);
    hid_t set = H5Dcreate2(file, "/pdf/p", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    (void)H5Dclose(set);
    (void)H5Sclose(space);
    (void)H5Pclose(made);
    (void)H5Fclose(file);
    check_unreadable("leg0_record0.h5", "/pdf/p is not in the file itself");
}
END_TEST

/* Of a run that has ended the records are counted. */
START_TEST(missing_and_extra_records)
{
    const gbees_summary summary = {.totals = {.steps = 3, .threads = 1}};

    (void)snprintf(folder, sizeof folder, "%s/ended", base);
    gbees_writer *writer = start(&problem);
    for (int k = 0; k < 3; k++)
        put(writer, &problem, CELLS, 0, k);
    ck_assert_int_eq(gbees_writer_finish(writer, "complete", &summary, NULL), 0);
    gbees_writer_destroy(writer);
    ck_assert_int_eq(verify().damaged, 0);
    char *one = in_folder("leg0_record1.h5"), *other = in_folder("leg0_record3.h5");
    ck_assert_int_eq(link(one, other), 0);
    finding found = verify();
    ck_assert_msg(found.damaged == 1 && strstr(found.text, "has 4 records, and its run has written 3"), "%s",
                  found.text);
    ck_assert_int_eq(unlink(one), 0);
    ck_assert_int_eq(unlink(other), 0);
    found = verify();
    ck_assert_msg(found.damaged == 1 && strstr(found.text, "has 2 records, and its run has written 3"), "%s",
                  found.text);
    free(one);
    free(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damage");
    TCase *tests = tcase_create("damage");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up_record, tear_down_record);
    tcase_add_loop_test(tests, flipped_bytes, 0, 1);
    tcase_add_test(tests, crashes_are_errors);
    tcase_add_test(tests, checksums);
    tcase_add_test(tests, strings_without_end);
    tcase_add_test(tests, cells_out_of_order);
    tcase_add_test(tests, values);
    tcase_add_test(tests, values_of_other_files);
    tcase_add_test(tests, missing_and_extra_records);
    suite_add_tcase(suite, tests);
    tests = tcase_create("damage of run.h5");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up_run_file, tear_down_record);
    tcase_add_loop_test(tests, flipped_bytes, 0, 1);
    suite_add_tcase(suite, tests);
    tests = add_long_case(suite, "endless", 120);
    tcase_add_checked_fixture(tests, set_up_record, tear_down_record);
    tcase_add_test(tests, what_does_not_end_is_an_error);
    /* Bytes that other random numbers choose. */
    tcase_add_loop_test(tests, flipped_bytes, 1, 2);
    tests = add_long_case(suite, "more damage of run.h5", 60);
    tcase_add_checked_fixture(tests, set_up_run_file, tear_down_record);
    tcase_add_loop_test(tests, flipped_bytes, 1, 2);
    return run_suite(suite);
}
