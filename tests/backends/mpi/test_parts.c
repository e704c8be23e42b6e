/* test_parts.c - messages of more elements than an int counts go in parts that follow each other without gaps. */
#include "fixtures/suite.h"
#include "mpi/parts.h"
#include <limits.h>

static const size_t counts[] = {0,
                                1,
                                PART_MOST - 1,
                                PART_MOST,
                                (size_t)PART_MOST + 1,
                                INT_MAX,
                                (size_t)INT_MAX + 1,
                                (size_t)5 * PART_MOST + 7,
                                ((size_t)1 << 40) + 3};

START_TEST(parts_cover_all)
{
    const size_t count = counts[_i];
    size_t at = 0, parts = 0;

    while (at < count) {
        const int length = part_length(count, at);

        ck_assert_msg(length > 0 && length <= PART_MOST && (size_t)length <= count - at, "%zu at %zu: %d", count, at,
                      length);
        at += (size_t)length;
        parts++;
    }
    ck_assert_msg(at == count && parts == parts_count(count), "%zu: %zu in %zu parts", count, at, parts);
}
END_TEST

START_TEST(numbers)
{
    ck_assert_uint_eq(parts_count(0), 0);
    ck_assert_uint_eq(parts_count((size_t)INT_MAX + 1), 2);
    ck_assert_int_eq(part_length((size_t)PART_MOST + 3, PART_MOST), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts");
    TCase *tests = tcase_create("parts");

    tcase_add_loop_test(tests, parts_cover_all, 0, sizeof counts / sizeof *counts);
    tcase_add_test(tests, numbers);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
