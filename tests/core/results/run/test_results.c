/* test_results.c - a results folder, written and read back.
 *
 * With an argument it is no test: it writes a small run into that folder, for test_export.sh. */
#include "base/sha256.h"
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
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
        "more than 10 % of the mass has been lost since an update (25 % since the last one): give a smaller "
        "'threshold'");
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

/* ---- run.json ----------------------------------------------------------------------------
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
    tcase_add_test(tests, order_of_records);
    tcase_add_test(tests, states_of_a_run);
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
