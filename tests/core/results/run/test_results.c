/* test_results.c - a results folder, written and read back.
 *
 * With an argument it is no test: it writes a small run into that folder, for test_export.sh. */
#include "base/sha256.h"
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_util.h"
#include <sys/stat.h>

/* ---- round trips -------------------------------------------------------------------------------------------------
 */

START_TEST(round_trip)
{
    gbees_problem problem = make_problem(_i);
    gbees_writer *writer = start(&problem);
    gbees_snapshot *snapshot;

    put(writer, &problem, 100, 3, 4);
    gbees_writer_destroy(writer);
    snapshot = get(0);
    ck_assert_int_eq(snapshot->leg, 3);
    ck_assert_int_eq(snapshot->number, 4);
    ck_assert_int_eq(snapshot->dimension, _i);
    ck_assert_double_eq(snapshot->time, 3.4);
    ck_assert_str_eq(snapshot->model, "handmade");
    for (int j = 0; j < _i * _i; j++) {
        ck_assert_double_eq(snapshot->mean[j / _i], j / _i + 4);
        ck_assert_double_eq(snapshot->covariance[j], j % (_i + 1) ? 0 : 1 + j / _i);
    }
    ck_assert_double_eq(snapshot->mass, .75);
    ck_assert_double_eq(snapshot->total.clipped, .1);
    ck_assert_double_eq(snapshot->total.outflow, .2);
    ck_assert_double_eq(snapshot->total.pruned, .3);
    ck_assert_double_eq(snapshot->total.normalised, .15);
    ck_assert_double_eq(snapshot->since.clipped, .01);
    ck_assert_double_eq(snapshot->since.outflow, .02);
    ck_assert_double_eq(snapshot->since.pruned, .03);
    ck_assert_double_eq(snapshot->since.normalised, .04);
    ck_assert_int_eq(snapshot->warning_count, 2);
    ck_assert_str_eq(
        snapshot->warning[0],
        "losses since the start add up to 50 % of the mass, 20 % through faces and 30 % by pruning: give a "
        "smaller 'threshold'");
    ck_assert_msg(strstr(snapshot->warning[1], "no threshold holds the mass budget"), "%s", snapshot->warning[1]);
    check_same(snapshot, &problem, 100, 1e-300);
    gbees_snapshot_destroy(snapshot);
    ck_assert_int_eq(exists("leg3_record4.xdmf"), _i == 2 || _i == 3);
    ck_assert_int_eq(count_files(".tmp"), 0);
}
END_TEST

/* More than one block and chunk, the last one not full; single precision; a small file. */
START_TEST(many_cells)
{
    enum { MANY = 2 * 65536 + 17 };
    gbees_problem problem = make_problem(3);
    gbees_snapshot *snapshot;
    gbees_writer *writer;
    struct stat facts;
    char *path = in_folder("leg0_record0.h5");

    problem.numerics.precision = GBEES_MIXED;
    writer = start(&problem);
    put(writer, &problem, MANY, 0, 0);
    gbees_writer_destroy(writer);
    snapshot = get(0);
    check_same(snapshot, &problem, MANY, 1e-9);
    gbees_snapshot_destroy(snapshot);
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_int_lt(facts.st_size, MANY * 20); /* 28 bytes a cell before compression */
    free(path);
}
END_TEST

START_TEST(no_cells)
{
    gbees_problem problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    gbees_snapshot *snapshot;

    put(writer, &problem, 0, 0, 0);
    gbees_writer_destroy(writer);
    snapshot = get(0);
    ck_assert_uint_eq(snapshot->count, 0);
    ck_assert_int_eq(snapshot->warning_count, 0);
    gbees_snapshot_destroy(snapshot);
}
END_TEST

/* A record of before there were warnings and such an entry of the ledger can still be read. */
START_TEST(older_records)
{
    gbees_problem problem = make_problem(1);
    gbees_writer *writer = start(&problem);
    char *path = in_folder("leg0_record4.h5");

    put(writer, &problem, 5, 0, 4);
    gbees_writer_destroy(writer);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert(H5Adelete(file, "warnings") >= 0 && H5Adelete(file, "mass_normalised") >= 0 &&
              H5Adelete(file, "covariance") >= 0);
    ck_assert_int_ge(H5Fclose(file), 0);
    free(path);
    gbees_snapshot *snapshot = get(0);
    ck_assert_int_eq(snapshot->warning_count, 0);
    ck_assert_double_nan(snapshot->total.normalised);
    ck_assert_double_nan(snapshot->mean[0]);
    ck_assert_double_eq(snapshot->total.pruned, .3);
    ck_assert_uint_eq(snapshot->count, 5);
    gbees_snapshot_destroy(snapshot);
}
END_TEST

static void fill_differences(gbees_difference *list, int n, double first)
{
    for (int j = 0; j < n; j++)
        list[j] = (gbees_difference){first + j, first + j + 0.25};
}

static void check_differences(const gbees_difference *list, const gbees_difference *wanted, int n)
{
    for (int j = 0; j < n; j++) {
        ck_assert_double_eq(list[j].value, wanted[j].value);
        ck_assert_double_eq(list[j].bound, wanted[j].bound);
    }
}

/* A record's certificate is read back as it was written; a record of a run without an audit has none. */
START_TEST(certificate)
{
    gbees_problem problem = make_problem(3);
    gbees_writer *writer = start(&problem);
    gbees_cells *cells = make_cells(3, 5);
    gbees_record record = make_record(&problem, cells, 0, 0);
    gbees_certificate written = {.samples = 5000000000, .effective = 1234.5, .density = {NAN, 0.5}};
    gbees_snapshot *snapshot;
    gbees_error error = {0};

    fill_differences(written.mean, 3, 1);
    fill_differences(written.std, 3, 10);
    fill_differences(written.marginal, 3, 20);
    fill_differences(written.kolmogorov, 3, 30);
    (void)snprintf(written.reason, sizeof written.reason, "not certifiable with 7 samples");
    written.estimate = 0.75;
    record.certificate = &written;
    const float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    const gbees_sample_list samples = {.count = 2, .x = {x[0], x[1], x[2]}};
    record.samples = &samples;
    ck_assert_msg(gbees_writer_record(writer, &record, &error) == 0, "%s", error.text);
    gbees_cells_destroy(cells);
    put(writer, &problem, 5, 0, 1);
    gbees_writer_destroy(writer);
    snapshot = get(0);
    ck_assert_int_eq(snapshot->certified, 1);
    check_differences(snapshot->certificate.mean, written.mean, 3);
    check_differences(snapshot->certificate.std, written.std, 3);
    check_differences(snapshot->certificate.marginal, written.marginal, 3);
    check_differences(snapshot->certificate.kolmogorov, written.kolmogorov, 3);
    ck_assert_double_nan(snapshot->certificate.density.value);
    ck_assert_double_eq(snapshot->certificate.density.bound, 0.5);
    ck_assert_uint_eq(snapshot->certificate.samples, 5000000000);
    ck_assert_double_eq(snapshot->certificate.effective, 1234.5);
    ck_assert_str_eq(snapshot->certificate.reason, written.reason);
    ck_assert_double_eq(snapshot->certificate.estimate, 0.75);
    ck_assert_uint_eq(snapshot->samples.count, 2);
    for (int j = 0; j < 3; j++)
        ck_assert_mem_eq(snapshot->samples.x[j], x[j], sizeof x[j]);
    gbees_snapshot_destroy(snapshot);
    snapshot = get(1);
    ck_assert_int_eq(snapshot->certified, 0);
    ck_assert_uint_eq(snapshot->samples.count, 0);
    gbees_snapshot_destroy(snapshot);
}
END_TEST

/* The line has the largest bound of each kind, says what is not known, and gives the reason where nothing is. */
START_TEST(certificate_as_text)
{
    gbees_certificate c = {.samples = 10000, .effective = 469.7, .density = {0.1, NAN}};
    char text[GBEES_REASON_TEXT], brief[8];

    c.mean[0].bound = 0.0123;
    c.mean[1].bound = 0.25;
    c.mean[2].bound = 7; /* beyond the dimension */
    c.std[0].bound = 1.5;
    gbees_certificate_text(&c, 2, 0, text, sizeof text);
    ck_assert_str_eq(text,
                     "mean 0.25 std, std 1.5, marginals 0 std, density (1 - cosine) not known (10000 samples, 470 "
                     "effective)");
    gbees_certificate_text(&c, 1, 1, text, sizeof text);
    ck_assert_ptr_eq(strstr(text, "mean 0.012 \u03c3, "), text);
    gbees_certificate_text(&c, 2, 0, brief, sizeof brief);
    ck_assert_str_eq(brief, "mean 0.");
    (void)snprintf(c.reason, sizeof c.reason, "no samples are left");
    gbees_certificate_text(&c, 2, 1, text, sizeof text);
    ck_assert_str_eq(text, c.reason);
}
END_TEST

START_TEST(order_of_records)
{
    static const int in[][2] = {{0, 2}, {10, 0}, {0, 10}, {2, 0}, {0, 1}},
                     out[][2] = {{0, 1}, {0, 2}, {0, 10}, {2, 0}, {10, 0}};
    gbees_problem problem = make_problem(1);
    gbees_writer *writer = start(&problem);
    gbees_results *results;
    gbees_snapshot *snapshot;
    gbees_error error;

    for (int i = 0; i < 5; i++)
        put(writer, &problem, 3, in[i][0], in[i][1]);
    gbees_writer_destroy(writer);
    spoil("leg0_record3.h5.tmp", "what a killed run leaves", 0);
    spoil("leg0_record03.h5", "not one of ours", 0);
    ck_assert_int_eq(gbees_results_open(folder, &results, &error), 0);
    ck_assert_uint_eq(gbees_results_count(results), 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(gbees_results_read(results, i, &snapshot, &error), 0);
        ck_assert_int_eq(snapshot->leg, out[i][0]);
        ck_assert_int_eq(snapshot->number, out[i][1]);
        gbees_snapshot_destroy(snapshot);
    }
    ck_assert_int_eq(gbees_results_read(results, 5, &snapshot, &error), GBEES_EUSAGE);
    gbees_results_destroy(results);
}
END_TEST

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

/* ---- run.json, moments.h5, marginals ----------------------------------------------------------------------------
 */

START_TEST(states_of_a_run)
{
    gbees_problem problem = make_problem(2);
    gbees_writer *writer = start(&problem);
    gbees_summary summary = {.totals = {.steps = 3, .cell_updates = 10, .threads = 2}, .wall_s = 2, .propagate_s = 1};
    json_t *run = load_run();
    char text[64] = "", *path = in_folder("scenario.yaml");
    FILE *scenario = fopen(path, "r");

    ck_assert_ptr_nonnull(scenario);
    ck_assert_uint_eq(fread(text, 1, sizeof text - 1, scenario), strlen(provenance.scenario));
    ck_assert_str_eq(text, provenance.scenario);
    (void)fclose(scenario);
    free(path);
    ck_assert_str_eq(text_of(run, "state"), "running");
    ck_assert_str_eq(text_of(run, "model_hash"),
                     "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(text_of(run, "command"), provenance.command);
    ck_assert_uint_eq(strlen(text_of(run, "started")), strlen("2000-01-01T00:00:00Z"));
    ck_assert_ptr_null(json_object_get(run, "summary"));
    ck_assert_double_eq(json_real_value(json_object_get(json_object_get(run, "parameters"), "rho")), .1);
    json_decref(run);
    ck_assert_int_eq(gbees_writer_finish(writer, "complete", &summary, NULL), 0);
    run = load_run();
    ck_assert_str_eq(text_of(run, "state"), "complete");
    ck_assert_str_ne(text_of(run, "ended"), "(none)");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(run, "summary"), "threads")), 2);
    json_decref(run);
    gbees_writer_destroy(writer);
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

START_TEST(sha256)
{
    char hex[GBEES_SHA256_HEX], block[200];

    gbees_sha256("", 0, hex);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    gbees_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex); /* FIPS 180-4's second */
    ck_assert_str_eq(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(block, 'a', sizeof block);
    gbees_sha256(block, 200, hex);
    ck_assert_str_eq(hex, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
    for (size_t step = 1; step < 140; step++) { /* pieces of all lengths, as one piece */
        gbees_sha256_sum sum;
        char in_pieces[GBEES_SHA256_HEX];

        gbees_sha256_start(&sum);
        for (size_t at = 0; at < sizeof block; at += step)
            gbees_sha256_add(&sum, block + at, sizeof block - at < step ? sizeof block - at : step);
        gbees_sha256_finish(&sum, in_pieces);
        ck_assert_str_eq(in_pieces, hex);
    }
}
END_TEST

/* ---- main --------------------------------------------------------------------------------------------------------
 */

static int write_sample(const char *path)
{
    gbees_problem problem = make_problem(3);
    gbees_summary summary = {.totals = {.steps = 12, .threads = 1}, .wall_s = 1, .propagate_s = 1};
    gbees_cells *cells = make_cells(3, 100);
    gbees_writer *writer;
    gbees_error error;
    int status = gbees_writer_create(path, &problem, &provenance, &writer, &error);

    for (int i = 0; i < 3 && !status; i++) {
        gbees_record record = make_record(&problem, cells, i / 2, i % 2);

        if (i == 2)
            status = gbees_writer_update(writer, 0, 1,
                                         &(gbees_evidence){.log_evidence = -3, .log_likelihood_max = -1}, &error);
        if (!status)
            status = gbees_writer_record(writer, &record, &error);
    }
    if (!status)
        status = gbees_writer_finish(writer, "complete", &summary, &error);
    if (status)
        (void)fprintf(stderr, "%s\n", error.text);
    else
        gbees_writer_destroy(writer);
    gbees_cells_destroy(cells);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}

static TCase *make_tests(void)
{
    TCase *tests = tcase_create("results");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, round_trip, 1, 9);
    tcase_add_test(tests, many_cells);
    tcase_add_test(tests, no_cells);
    tcase_add_test(tests, older_records);
    tcase_add_test(tests, certificate);
    tcase_add_test(tests, certificate_as_text);
    tcase_add_test(tests, few_objects_a_record);
    tcase_add_loop_test(tests, long_scenario, 0, 2);
    tcase_add_test(tests, order_of_records);
    tcase_add_test(tests, states_of_a_run);
    tcase_add_test(tests, marginals_sum_to_the_total);
    tcase_add_test(tests, marginals_of_the_backend);
    tcase_add_test(tests, sha256);
    return tests;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return write_sample(argv[1]);
    Suite *suite = suite_create("results");
    suite_add_tcase(suite, make_tests());
    return run_suite(suite);
}
