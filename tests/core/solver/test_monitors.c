/* test_monitors.c - what is wrong with a result is on record: runs whose exact answer is known. */
#include "fixtures/kept_run.h"

enum { LAST = MOST_RECORDS };

/* The warnings of record `number`, LAST: of the last one. */
static unsigned warnings_of(const kept_run *run, int number)
{
    return run->record[number < run->count ? number : run->count - 1].record.warnings;
}

/* dx/dt = -x contracts a Gaussian of .5 to .5 e^-30; cells are .42 wide. */
START_TEST(a_variance_of_0_is_told)
{
    a_case c = {.model = "linear",
                .settings = {"dimension=1", "parameters={diagonal: -1}", "factor=0.6", "end=30", "records=1",
                             "measurements=[]"}};
    kept_run *run = run_on(&c, "cpu");
    const gbees_record *last = &run->record[run->count - 1].record;

    ck_assert_double_eq(last->statistics.covariance[0], 0);
    ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_NARROW, GBEES_WARNING_NARROW);
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("monitors");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_variance_of_0_is_told);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
