/* test_record_parts.c - the objects that a record is made of in its file: how many there are, what stands once a run,
 * and marginals. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_util.h"
#include <sys/stat.h>

/* A scenario with a long table stands once among the results, however many records there are: in run.h5, and in no
 * record; where records are files of their own, in scenario.yaml alone. */
START_TEST(long_scenario)
{
    enum { LENGTH = 100000, RECORDS = 20 };
    gbees_problem problem = make_problem(2);
    gbees_provenance with = provenance;
    char *text = malloc(LENGTH + 1), *read = malloc(LENGTH + 1);
    char *path = in_folder(_i ? "run.h5" : "leg0_record0.h5"), *facts = in_folder("run.h5/run");
    struct stat written;
    gbees_hdf5 file;

    for (unsigned k = 0, state = 1; k < LENGTH; k++) {
        state = state * 1664525u + 1013904223u;
        text[k] = (char)('0' + (state >> 16) % 64);
    }
    text[LENGTH] = '\0';
    with.scenario = text;
    gbees_writer *writer = start_with(&problem, &with);
    if (_i)
        ck_assert_int_eq(gbees_writer_one_file(writer, NULL), 0);
    for (int k = 0; k < RECORDS; k++)
        put(writer, &problem, 10, 0, k);
    gbees_writer_destroy(writer);
    gbees_snapshot_destroy(get(0));
    ck_assert_int_eq(stat(path, &written), 0);
    ck_assert_int_lt(written.st_size, _i ? LENGTH + RECORDS * 20000 : 20000);
    if (_i) {
        ck_assert_int_eq(gbees_hdf5_open(facts, &file, NULL), 0);
        gbees_hdf5_read_texts(&file, "scenario", 1, read, LENGTH + 1);
        ck_assert_int_eq(gbees_hdf5_close(&file, NULL), 0);
        ck_assert_str_eq(read, text);
    }
    free(facts);
    free(path);
    free(read);
    free(text);
}
END_TEST

/* What a record is made of. */
typedef struct parts {
    int objects, attributes;
} parts;

static herr_t count_part(hid_t record, const char *name, const H5O_info_t *info, void *context)
{
    parts *p = context;

    (void)record;
    (void)name;
    p->objects++;
    p->attributes += (int)info->num_attrs;
    return 0;
}

static H5O_info_t about(hid_t file, const char *name)
{
    H5O_info_t info;

    ck_assert_int_ge(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT), 0);
    return info;
}

/* A record's cost is its objects', some 20 microseconds each, and its attributes', of which each is some 3: the grid
 * and the scales of its axes stand once in run.h5. */
START_TEST(few_objects_a_record)
{
    enum { RECORDS = 200 };
    gbees_problem problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("run.h5");
    parts made = {0};
    struct stat first, last;
    haddr_t grid = 0;
    int grids = 0;

    ck_assert_int_eq(gbees_writer_one_file(writer, NULL), 0);
    put(writer, &problem, 10, 0, 0);
    ck_assert_int_eq(stat(path, &first), 0);
    for (int k = 1; k <= RECORDS; k++)
        put(writer, &problem, 10, 0, k);
    gbees_writer_destroy(writer);
    ck_assert_int_eq(stat(path, &last), 0);
    ck_assert_int_lt(last.st_size - first.st_size, RECORDS * 10000);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
                record = H5Gopen2(file, "leg0/record1", H5P_DEFAULT);
    ck_assert_int_ge(H5Ovisit(record, H5_INDEX_NAME, H5_ITER_NATIVE, count_part, &made), 0);
    ck_assert_int_le(made.objects - 6, 15); /* 6: the grid's */
    ck_assert_int_le(made.attributes, 55);
    for (int k = 1; k <= RECORDS; k++) {
        char name[64];

        (void)snprintf(name, sizeof name, "leg0/record%d/grid", k);
        grids += about(file, name).addr != grid;
        grid = about(file, name).addr;
    }
    ck_assert_int_le(grids, RECORDS / 2); /* a commit waits twenty times as long as it takes */
    ck_assert(about(file, "leg0/record1/origin").addr == about(file, "leg0/record1/grid/origin").addr);
    ck_assert_int_ge(H5Gclose(record), 0);
    ck_assert_int_ge(H5Fclose(file), 0);
    free(path);
}
END_TEST

START_TEST(marginals_sum_to_the_total)
{
    gbees_problem problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("leg0_record0.h5");
    hsize_t size[2], first[2] = {0, 0};
    double p[200 * 200], total = 0, sum = 0, plane = 0;
    gbees_hdf5 file;
    gbees_error error;

    put(writer, &problem, 150, 0, 0);
    gbees_writer_destroy(writer);
    for (int i = 0; i < 150; i++)
        total += (1 + i % 7) * 1e-3;
    ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
    gbees_hdf5_size(&file, "marginals/1d/0", 1, size);
    ck_assert_uint_eq(size[0], 150);
    gbees_hdf5_read(&file, "marginals/1d/0", H5T_NATIVE_DOUBLE, 1, first, size, p);
    for (int i = 0; i < 150; i++)
        sum += p[i];
    gbees_hdf5_size(&file, "marginals/2d/1_2", 2, size);
    ck_assert_uint_eq(size[1], 75);
    gbees_hdf5_read(&file, "marginals/2d/1_2", H5T_NATIVE_DOUBLE, 2, first, size, p);
    for (hsize_t i = 0; i < size[0] * size[1]; i++)
        plane += p[i];
    ck_assert_int_eq(gbees_hdf5_close(&file, &error), 0);
    ck_assert_double_eq_tol(sum, total, 1e-12);
    ck_assert_double_eq_tol(plane, total, 1e-12);
    free(path);
}
END_TEST

/* Those that come with a record are written as they are, one that was left out is not there. */
START_TEST(marginals_of_the_backend)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    gbees_cells *cells = make_cells(2, 3);
    gbees_record record = make_record(&problem, cells, 0, 0);
    const double line0[] = {1, 2}, line1[] = {3, 4, 5}, plane[] = {6, 7, 8, 9, 10, 11};
    gbees_marginals marginals = {.first = {-7, 8}, .length = {2, 3}, .line = {line0, line1}, .plane = {{0, plane}}};
    hsize_t size[2], first[2] = {0, 0};
    double p[6];

    record.marginals = &marginals;
    for (int k = 0; k < 2; k++) {
        char *path = in_folder(k ? "leg0_record1.h5" : "leg0_record0.h5");
        gbees_hdf5 file;
        gbees_error error;

        record.number = k;
        marginals.plane[0][1] = k ? NULL : plane;
        ck_assert_int_eq(gbees_writer_record(writer, &record, &error), 0);
        ck_assert_int_eq(gbees_hdf5_open(path, &file, &error), 0);
        gbees_hdf5_size(&file, "marginals/1d/1", 1, size);
        ck_assert_uint_eq(size[0], 3);
        gbees_hdf5_read(&file, "marginals/1d/1", H5T_NATIVE_DOUBLE, 1, first, size, p);
        ck_assert_mem_eq(p, line1, sizeof line1);
        gbees_hdf5_size(&file, "marginals/2d/0_1", 2, size);
        if (k == 0) {
            ck_assert(size[0] == 2 && size[1] == 3);
            gbees_hdf5_read(&file, "marginals/2d/0_1", H5T_NATIVE_DOUBLE, 2, first, size, p);
            ck_assert_mem_eq(p, plane, sizeof plane);
        }
        ck_assert_int_eq(gbees_hdf5_close(&file, &error) != 0, k);
        free(path);
    }
    gbees_cells_destroy(cells);
    gbees_writer_destroy(writer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_parts");
    TCase *tests = tcase_create("record_parts");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, few_objects_a_record);
    tcase_add_loop_test(tests, long_scenario, 0, 2);
    tcase_add_test(tests, marginals_sum_to_the_total);
    tcase_add_test(tests, marginals_of_the_backend);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
