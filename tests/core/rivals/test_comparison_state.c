/* test_comparison_state.c - core/rivals/comparison_state: the records of a comparison in a checkpoint, and back. */
#include "base/checkpoint.h"
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"
#include "solver/cells.h"
#include <gbees/rivals.h>
#include <math.h>
#include <string.h>

enum { SIDE = 12 }; /* cells on each side of the mean */

static gbees_problem *problem;
static gbees_cells *cells;
static gbees_error error;

static void set_up(void)
{
    registry_open();
    problem = problem_of_text("linear", "mean: [2, -1]\ncovariance: [0.25, 0.16]\nfactor: 0.25\nthreshold: 1.0e-6\n"
                                        "end: 1\nrecords: 1\nmeasurements: []\n");
    cells = gbees_cells_create(problem->dimension);
    for (int32_t i = -SIDE; i <= SIDE; i++)
        for (int32_t j = -SIDE; j <= SIDE; j++) {
            const int32_t *const index[] = {&i, &j};
            const double p = exp(-(i * i + j * j) / 32.0);

            ck_assert_int_eq(gbees_cells_add(cells, 1, index, &p), 0);
        }
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), 0);
}

static void tear_down(void)
{
    gbees_cells_destroy(cells);
    gbees_problem_destroy(problem);
    registry_close();
}

static gbees_comparison *start(void)
{
    gbees_comparison_options options = {.threads = 1};
    gbees_comparison *c = NULL;

    ck_assert_int_eq(gbees_rivals_parse("ekf,mc:500", &options.rivals, &error), 0);
    ck_assert_int_eq(gbees_comparison_create(problem, &options, &c, &error), 0);
    return c;
}

/* Adds the record of a Gaussian, with marginals and the joint density of its cells. */
static void add_record(gbees_comparison *c, int number)
{
    gbees_record record = {.problem = problem, .number = number, .time = 0.1 * number, .cells = cells};

    memcpy(record.statistics.mean, problem->mean, sizeof record.statistics.mean);
    memcpy(record.statistics.covariance, problem->covariance, sizeof record.statistics.covariance);
    ck_assert_msg(!gbees_comparison_record(c, &record, &error), "%s", error.text);
}

/* What has been saved and loaded is compared with the same results; records are added to it. */
START_TEST(loaded_records_are_those_that_were_saved)
{
    gbees_comparison *whole = start(), *before = start(), *after = start();
    gbees_checkpoint checkpoint = {0};

    for (int number = 0; number < 3; number++)
        add_record(whole, number);
    add_record(before, 0);
    add_record(before, 1);
    ck_assert_int_eq(gbees_comparison_save(before, &checkpoint, &error), 0);
    ck_assert_msg(!gbees_comparison_load(after, &checkpoint, &error), "%s", error.text);
    add_record(after, 2);
    ck_assert_uint_eq(gbees_comparison_records(after), 3);
    ck_assert_int_eq(gbees_comparison_run(whole, 1, &error), 0);
    ck_assert_int_eq(gbees_comparison_run(after, 1, &error), 0);
    for (int k = 0; k < 2; k++) {
        const gbees_rival_result *one = gbees_comparison_result(whole, k), *other = gbees_comparison_result(after, k);

        ck_assert_uint_eq(other->count, 3);
        ck_assert(!isnan(one->worst.kolmogorov) && !isnan(one->worst.bc));
        ck_assert_mem_eq(one->records, other->records, 3 * sizeof *one->records);
    }
    gbees_checkpoint_clear(&checkpoint);
    gbees_comparison_destroy(whole);
    gbees_comparison_destroy(before);
    gbees_comparison_destroy(after);
}
END_TEST

/* Every part of the data that is cut short is refused, and so is a checkpoint without any. */
START_TEST(what_is_cut_short_is_refused)
{
    gbees_comparison *before = start();
    gbees_checkpoint checkpoint = {0}, none = {0};

    add_record(before, 0);
    ck_assert_int_eq(gbees_comparison_save(before, &checkpoint, &error), 0);
    ck_assert_uint_eq(checkpoint.count, 1);
    const uint64_t size = checkpoint.part[0].count;
    for (uint64_t cut = 1; cut < size; cut += 1 + size / 200) {
        gbees_comparison *after = start();

        checkpoint.part[0].count = cut;
        ck_assert_int_eq(gbees_comparison_load(after, &checkpoint, &error), GBEES_EINPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "its part 'comparison' is missing or damaged"));
        gbees_comparison_destroy(after);
    }
    gbees_comparison *after = start();
    ck_assert_int_eq(gbees_comparison_load(after, &none, &error), GBEES_EINPUT);
    gbees_comparison_destroy(after);
    gbees_checkpoint_clear(&checkpoint);
    gbees_comparison_destroy(before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comparison_state");
    TCase *tests = tcase_create("comparison_state");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, loaded_records_are_those_that_were_saved);
    tcase_add_test(tests, what_is_cut_short_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
