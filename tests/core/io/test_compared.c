/* test_compared.c - compare.h5: what other filters have found beside a run, written, read, bounded, damaged. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include <math.h>

enum { N = 2, RECORDS = 3 };

/* Two filters at three records: a Gaussian one, which has failed, and one of samples. */
static gbees_compared *make(void)
{
    static const int samples[] = {0, 1};
    gbees_compared *c = NULL;
    gbees_error error;

    ck_assert_int_eq(gbees_compared_create(N, RECORDS, 2, samples, &c, &error), 0);
    for (size_t i = 0; i < RECORDS; i++) {
        c->leg[i] = i > 1;
        c->record[i] = (int64_t)i % 2;
        c->time[i] = 0.5 * (double)i;
    }
    (void)snprintf(c->filter[0].name, sizeof c->filter[0].name, "ekf");
    (void)snprintf(c->filter[1].name, sizeof c->filter[1].name, "pf_2");
    (void)snprintf(c->filter[0].failure, sizeof c->filter[0].failure, "no root at t = 1");
    c->filter[0].log_evidence = c->filter[0].log_evidence_error = NAN;
    c->filter[0].mean[3] = 7;
    c->filter[0].covariance[(1 * N + 1) * N + 0] = -2;
    c->filter[1].samples = 500;
    c->filter[1].seconds = 0.25;
    c->filter[1].log_evidence = -1.5;
    c->filter[1].error[3][2] = 0.75;
    c->filter[1].effective[0] = 125;
    c->filter[1].first[2 * N + 1] = -3;
    c->filter[1].width[2 * N + 1] = 0.125;
    c->filter[1].p[(2 * N + 1) * GBEES_COMPARED_BINS + 9] = 0.5f;
    return c;
}

static void write_file(const gbees_problem *problem)
{
    gbees_writer *writer = start(problem);
    gbees_compared *c = make();
    const gbees_summary summary = {.problem = problem};
    gbees_error error;

    put(writer, problem, 5, 0, 0);
    ck_assert_int_eq(gbees_writer_finish(writer, "complete", &summary, &error), 0);
    ck_assert_int_eq(gbees_writer_comparison(writer, c, &error), 0);
    gbees_writer_destroy(writer);
    gbees_compared_destroy(c);
}

START_TEST(what_is_written_is_read)
{
    gbees_problem problem = make_problem(N);
    gbees_compared *c = NULL;
    gbees_error error;

    write_file(&problem);
    ck_assert_int_eq(gbees_compared_read(folder, N, &c, &error), 0);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(c->count, RECORDS);
    ck_assert_uint_eq(c->binned, RECORDS);
    ck_assert_int_eq(c->filters, 2);
    ck_assert_int_eq((int)c->leg[2], 1);
    ck_assert_double_eq(c->time[1], 0.5);
    ck_assert_str_eq(c->filter[0].name, "ekf");
    ck_assert_str_eq(c->filter[0].failure, "no root at t = 1");
    ck_assert_str_eq(c->filter[1].name, "pf_2");
    ck_assert_str_eq(c->filter[1].failure, "");
    ck_assert(isnan(c->filter[0].log_evidence) && isnan(c->filter[0].mean[0]));
    ck_assert_double_eq(c->filter[0].mean[3], 7);
    ck_assert_double_eq(c->filter[0].covariance[(1 * N + 1) * N + 0], -2);
    ck_assert_ptr_null(c->filter[0].p);
    ck_assert_double_eq(c->filter[1].samples, 500);
    ck_assert_double_eq(c->filter[1].log_evidence, -1.5);
    ck_assert_double_eq(c->filter[1].error[3][2], 0.75);
    ck_assert_double_eq(c->filter[1].effective[0], 125);
    ck_assert_double_eq(c->filter[1].first[2 * N + 1], -3);
    ck_assert_double_eq(c->filter[1].width[2 * N + 1], 0.125);
    ck_assert_float_eq(c->filter[1].p[(2 * N + 1) * GBEES_COMPARED_BINS + 9], 0.5f);
    gbees_compared_destroy(c);
}
END_TEST

/* Marginals of the last record are kept, of others as many as the bound lets. */
START_TEST(marginals_are_bounded)
{
    static const int samples[] = {1, 1, 0};
    gbees_compared *c = NULL;
    size_t row = 0, kept = 0;
    gbees_error error;

    ck_assert_int_eq(gbees_compared_create(8, 20000, 3, samples, &c, &error), 0);
    ck_assert_uint_gt(c->every, 1);
    ck_assert_uint_le(c->binned * 8 * 2 * GBEES_COMPARED_BINS, 1 << 23);
    ck_assert_uint_gt((c->binned + c->binned / 2) * 8 * 2 * GBEES_COMPARED_BINS, 1 << 22);
    ck_assert_int_eq(gbees_compared_row(c, 19999, &row), 1);
    ck_assert_uint_eq(row, c->binned - 1);
    ck_assert_int_eq(gbees_compared_row(c, 19998, &row), 0);
    for (size_t i = 0; i < c->count; i++)
        if (gbees_compared_row(c, i, &row))
            ck_assert_uint_eq(row, kept++);
    ck_assert_uint_eq(kept, c->binned);
    gbees_compared_destroy(c);
}
END_TEST

START_TEST(a_folder_without_it)
{
    gbees_compared *c = (gbees_compared *)1;
    gbees_error error;

    ck_assert_int_eq(gbees_compared_read(folder, N, &c, &error), 0);
    ck_assert_ptr_null(c);
}
END_TEST

START_TEST(a_damaged_file)
{
    gbees_problem problem = make_problem(N);
    char *path = in_folder("compare.h5");
    gbees_compared *c = NULL;
    gbees_error error;

    write_file(&problem);
    ck_assert_int_ne(gbees_compared_read(folder, N + 1, &c, &error), GBEES_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "as many states"));
    ck_assert_int_eq(truncate(path, 900), 0);
    ck_assert_int_ne(gbees_compared_read(folder, N, &c, &error), GBEES_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "compare.h5"));
    ck_assert_ptr_null(c);
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compared");
    TCase *tests = tcase_create("compared");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_is_written_is_read);
    tcase_add_test(tests, marginals_are_bounded);
    tcase_add_test(tests, a_folder_without_it);
    tcase_add_test(tests, a_damaged_file);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
