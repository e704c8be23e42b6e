/* test_memory.c - core/base/memory: the memory that is free, with the limits of control groups. */
#include "base/memory.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[SCRATCH_FOLDER];

/* Writes a file below the root, and makes its folders. */
static void put(const char *name, const char *text)
{
    char path[SCRATCH_FOLDER + 128];

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        (void)mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_root(void)
{
    scratch_folder_make(root);
    put("proc/meminfo", "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1000 kB\n");
}

static void remove_root(void)
{
    scratch_folder_remove(root);
}

START_TEST(without_groups_it_is_what_the_system_says)
{
    ck_assert_double_eq(gbees_memory_available_below(root), 1024000);
}
END_TEST

START_TEST(the_system_may_not_say)
{
    ck_assert(isinf(gbees_memory_available_below("/nonexistent")));
}
END_TEST

START_TEST(a_group_limits_it_and_unused_cache_counts_as_free)
{
    put("proc/self/cgroup", "0::/job/step\n");
    put("sys/fs/cgroup/job/step/memory.max", "max\n");
    put("sys/fs/cgroup/job/step/memory.current", "90000\n");
    ck_assert_double_eq(gbees_memory_available_below(root), 1024000);
    put("sys/fs/cgroup/job/memory.max", "500000\n");
    put("sys/fs/cgroup/job/memory.current", "200000\n");
    put("sys/fs/cgroup/job/memory.stat", "anon 150000\ninactive_file 40000\n");
    ck_assert_double_eq(gbees_memory_available_below(root), 340000);
    put("sys/fs/cgroup/job/memory.current", "600000\n");
    ck_assert_double_eq(gbees_memory_available_below(root), 0);
}
END_TEST

START_TEST(a_group_of_the_first_version_limits_it)
{
    put("proc/self/cgroup", "9:name=systemd:/\n4:memory:/box\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "300000\n");
    put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "100000\n");
    put("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
    ck_assert_double_eq(gbees_memory_available_below(root), 250000);
}
END_TEST

START_TEST(a_limit_of_the_address_space_counts)
{
    const struct rlimit limit = {1 << 30, 1 << 30};

    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    const double before = gbees_memory_available();
    ck_assert_double_gt(before, 0);
    ck_assert_double_le(before, (1 << 30) / 1.25);
    void *volatile taken = malloc(100 << 20); /* volatile: it is really taken */
    ck_assert_ptr_nonnull(taken);
    ck_assert_double_le(gbees_memory_available(), before - (100 << 20) / 1.25);
    free(taken);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("available");

    tcase_add_checked_fixture(tests, make_root, remove_root);
    tcase_add_test(tests, without_groups_it_is_what_the_system_says);
    tcase_add_test(tests, the_system_may_not_say);
    tcase_add_test(tests, a_group_limits_it_and_unused_cache_counts_as_free);
    tcase_add_test(tests, a_group_of_the_first_version_limits_it);
    if (!MEMORY_CHECKED) /* the checker takes terabytes of the address space */
        tcase_add_test(tests, a_limit_of_the_address_space_counts);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
