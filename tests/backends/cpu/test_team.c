/* test_team.c - parts of a loop that threads share (backends/cpu/team.h): each is taken once, by whoever comes. */
#include "cpu/team.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>

enum { THREADS = 8, MOST = 1000 };

static const uint32_t counts[] = {0, 1, 7, 8, 9, 257, MOST};

static void expect_once(const unsigned char *taken, uint32_t count)
{
    for (uint32_t at = 0; at < MOST; at++)
        ck_assert_msg(taken[at] == (at < count), "%u of %u was taken %d times", at, count, taken[at]);
}

START_TEST(threads_take_each_part_once)
{
    const uint32_t count = counts[_i];
    work_queue shares[THREADS];

    for (int threads = 1; threads <= THREADS; threads++) {
        unsigned char taken[MOST] = {0};

        work_queue_fill(shares, threads, count);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; t++)
            for (uint32_t at; (at = work_queue_take(shares, threads, t)) < count;)
                __atomic_add_fetch(&taken[at], 1, __ATOMIC_RELAXED);
        expect_once(taken, count);
    }
}
END_TEST

/* What is dealt to threads that never come is done by the one that does. */
START_TEST(one_takes_what_the_others_leave)
{
    const uint32_t count = counts[_i];
    work_queue shares[THREADS];

    for (int t = 0; t < THREADS; t++) {
        unsigned char taken[MOST] = {0};

        work_queue_fill(shares, THREADS, count);
        for (uint32_t at; (at = work_queue_take(shares, THREADS, t)) < count;)
            taken[at]++;
        expect_once(taken, count);
        ck_assert_uint_ge(work_queue_take(shares, THREADS, t), count);
    }
}
END_TEST

START_TEST(one_begins_with_its_own)
{
    work_queue shares[THREADS];

    work_queue_fill(shares, THREADS, MOST);
    for (int t = 0; t < THREADS; t++)
        ck_assert_uint_eq(work_queue_take(shares, THREADS, t), team_part(MOST, t, THREADS));
}
END_TEST

int main(void)
{
    const int cases = (int)(sizeof counts / sizeof *counts);
    Suite *suite = suite_create("team");
    TCase *parts = tcase_create("parts");

    tcase_add_loop_test(parts, threads_take_each_part_once, 0, cases);
    tcase_add_loop_test(parts, one_takes_what_the_others_leave, 0, cases);
    tcase_add_test(parts, one_begins_with_its_own);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
