/* test_pool.c - threads that stay for one loop after another: each item is taken once, and results of a loop are
 * there when the call returns. */
#include "base/pool.h"
#include "base/workers.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>

enum { ITEMS = 97, LOOPS = 3000 };

typedef struct tally {
    int taken[ITEMS];
    long sum[ITEMS];
    const long *before; /* what the loop before left */
} tally;

static void take(void *context, size_t item)
{
    tally *t = context;

    t->taken[item]++;
    t->sum[item] = (t->before ? t->before[ITEMS - 1 - item] : 0) + (long)item;
}

START_TEST(each_item_once_a_loop)
{
    gbees_pool *pool = gbees_pool_open(_i);
    long *before = calloc(ITEMS, sizeof *before);

    for (int loop = 0; loop < LOOPS; loop++) {
        const size_t count = (size_t)(loop % (ITEMS + 1));
        tally t = {.before = before};

        gbees_pool_run(pool, count, take, &t);
        for (size_t item = 0; item < ITEMS; item++)
            ck_assert_int_eq(t.taken[item], item < count);
        for (size_t item = 0; item < count; item++)
            ck_assert_int_eq(t.sum[item], before[ITEMS - 1 - item] + (long)item);
        for (size_t item = 0; item < count; item++)
            before[item] = t.sum[item] % 1000;
    }
    free(before);
    gbees_pool_close(pool);
}
END_TEST

START_TEST(one_thread_is_no_team)
{
    ck_assert_ptr_null(gbees_pool_open(1));
    gbees_pool_close(NULL);
}
END_TEST

START_TEST(a_team_may_have_nothing_to_do)
{
    gbees_pool_close(gbees_pool_open(8));
}
END_TEST

/* As many as OMP_NUM_THREADS says, if it begins with a number, and as many as there are processors otherwise. */
START_TEST(threads_that_the_environment_asks_for)
{
    static const char *const numbers[] = {"3", " 5,2", "256", "300"}, *const others[] = {"", "many", "0", "-2", "4x"};
    static const int means[] = {3, 5, 256, 256};

    (void)unsetenv("OMP_NUM_THREADS");
    const int all = gbees_workers_threads(0);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        (void)setenv("OMP_NUM_THREADS", numbers[k], 1);
        ck_assert_int_eq(gbees_workers_threads(0), means[k]);
        ck_assert_int_eq(gbees_workers_threads(2), 2);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        (void)setenv("OMP_NUM_THREADS", others[k], 1);
        ck_assert_int_eq(gbees_workers_threads(0), all);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("pool");

    tcase_add_loop_test(tests, each_item_once_a_loop, 1, 9);
    tcase_add_test(tests, one_thread_is_no_team);
    tcase_add_test(tests, a_team_may_have_nothing_to_do);
    tcase_add_test(tests, threads_that_the_environment_asks_for);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
