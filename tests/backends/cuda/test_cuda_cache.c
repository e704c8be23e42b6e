/* test_cuda_cache.c - the cache of kernels returns what was written or nothing, never an error. */
#include "cuda/compile/cache.h"
#include "cuda/compile/cache_folder.h"
#include "cuda_fixture.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>

static char key[CACHE_KEY];

static void start_test(void)
{
    const cache_part part = {"text", 4};

    setup();
    (void)setenv("XDG_CACHE_HOME", top, 1);
    (void)unsetenv("GBEES_CACHE");
    ck_assert_int_eq(cache_key(&part, 1, key, &error), GBEES_OK);
}

static char image[] = "an image\0with a NUL", report[] = "kernel: 1 registers\n";

static int put(void)
{
    return cache_write(key, &(cache_entry){image, sizeof image, report});
}

static void drop(cache_entry *entry)
{
    free(entry->image);
    free(entry->report);
    *entry = (cache_entry){0};
}

static void check_hit(void)
{
    cache_entry entry = {0};

    ck_assert_int_eq(cache_read(key, &entry), 1);
    ck_assert_uint_eq(entry.image_size, sizeof image);
    ck_assert_mem_eq(entry.image, image, sizeof image);
    ck_assert_str_eq(entry.report, report);
    drop(&entry);
}

static void check_miss(void)
{
    cache_entry entry = {0};

    ck_assert_int_eq(cache_read(key, &entry), 0);
    ck_assert_ptr_null(entry.image);
}

/* Changes the entry by a shell command: "$1" is its path. */
static void change(const char *command)
{
    char line[3 * LENGTH];

    print(line, sizeof line, "set -- '%s/gbees/%s.kernel'; %s", top, key, command);
    run(line);
}

static int count_files(void)
{
    char path[LENGTH];
    int count = 0;

    print(path, sizeof path, "%s/gbees", top);
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

START_TEST(what_was_written_is_read)
{
    char path[LENGTH];
    struct stat now;

    check_miss();
    ck_assert_int_eq(put(), 1);
    check_hit();
    ck_assert_int_eq(put(), 1);
    check_hit();
    ck_assert_int_eq(count_files(), 1);
    print(path, sizeof path, "%s/gbees", top);
    ck_assert_int_eq(stat(path, &now), 0);
    ck_assert_int_eq(now.st_mode & 0777, 0700);
}
END_TEST

START_TEST(in_the_home_if_nothing_is_said)
{
    char path[LENGTH];

    (void)unsetenv("XDG_CACHE_HOME");
    ck_assert_int_eq(put(), 1);
    check_hit();
    print(path, sizeof path, "%s/.cache/gbees", top);
    ck_assert_int_eq(access(path, F_OK), 0);
    (void)setenv("XDG_CACHE_HOME", "relative", 1); /* the XDG specification: to be ignored */
    check_hit();
    (void)unsetenv("HOME");
    check_miss();
    ck_assert_int_eq(put(), 0);
}
END_TEST

START_TEST(off)
{
    ck_assert_int_eq(put(), 1);
    (void)setenv("GBEES_CACHE", "off", 1);
    check_miss();
    ck_assert_int_eq(put(), 0);
    (void)setenv("GBEES_CACHE", "on", 1);
    check_hit();
}
END_TEST

START_TEST(every_byte_counts)
{
    char path[LENGTH];
    struct stat now;

    ck_assert_int_eq(put(), 1);
    print(path, sizeof path, "%s/gbees/%s.kernel", top, key);
    ck_assert_int_eq(stat(path, &now), 0);
    for (off_t i = 0; i < now.st_size; i++) {
        int file = open(path, O_RDWR);
        unsigned char byte;

        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(pread(file, &byte, 1, i), 1);
        byte ^= 0x10;
        ck_assert_int_eq(pwrite(file, &byte, 1, i), 1);
        check_miss();
        byte ^= 0x10;
        ck_assert_int_eq(pwrite(file, &byte, 1, i), 1);
        ck_assert_int_eq(close(file), 0);
    }
    check_hit();
}
END_TEST

START_TEST(every_length_counts)
{
    char path[LENGTH];
    struct stat now;

    ck_assert_int_eq(put(), 1);
    print(path, sizeof path, "%s/gbees/%s.kernel", top, key);
    ck_assert_int_eq(stat(path, &now), 0);
    for (off_t size = now.st_size - 1; size >= 0; size--) {
        ck_assert_int_eq(truncate(path, size), 0);
        check_miss();
    }
    ck_assert_int_eq(put(), 1); /* a bad entry is replaced */
    check_hit();
    ck_assert_int_eq(truncate(path, now.st_size + 1), 0);
    check_miss();
}
END_TEST

START_TEST(another_entry_under_this_name)
{
    char other[CACHE_KEY], path[LENGTH], line[3 * LENGTH];
    const cache_part part = {"other", 5};

    ck_assert_int_eq(cache_key(&part, 1, other, &error), GBEES_OK);
    ck_assert_int_eq(cache_write(other, &(cache_entry){image, sizeof image, report}), 1);
    print(path, sizeof path, "%s/gbees/%s.kernel", top, other);
    print(line, sizeof line, "cp '%s' \"$1\"", path);
    change(line);
    check_miss();
}
END_TEST

START_TEST(folders_that_are_none)
{
    ck_assert_int_eq(put(), 1);
    change("rm -r \"${1%/*}\" && echo > \"${1%/*}\"");
    check_miss();
    ck_assert_int_eq(put(), 0);
    change("rm \"${1%/*}\" && mkdir -p \"$1\""); /* a folder in place of the entry */
    check_miss();
    ck_assert_int_eq(put(), 0);
    change("rmdir \"$1\" && mkfifo \"$1\"");
    check_miss();
}
END_TEST

START_TEST(what_others_may_write_is_not_trusted)
{
    ck_assert_int_eq(put(), 1);
    change("chmod 0770 \"${1%/*}\"");
    check_miss();
    ck_assert_int_eq(put(), 0);
    change("chmod 0700 \"${1%/*}\"");
    check_hit();
    change("mv \"${1%/*}\" \"${1%/*}-away\" && ln -s gbees-away \"${1%/*}\"");
    check_miss();
}
END_TEST

START_TEST(a_folder_that_can_only_be_read)
{
    ck_assert_int_eq(put(), 1);
    change("chmod 0500 \"${1%/*}\"");
    check_hit();
    if (geteuid() != 0) { /* root writes everywhere */
        change("chmod 0700 \"${1%/*}\"; rm \"$1\"; chmod 0500 \"${1%/*}\"");
        ck_assert_int_eq(put(), 0);
        check_miss();
    }
    change("chmod 0700 \"${1%/*}\"");
}
END_TEST

/* On a full disk no part of the entry is left. */
START_TEST(a_file_that_can_not_be_finished)
{
    static char large[100000];
    char line[256];

    (void)fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        print(line, sizeof line, "prlimit --pid %d --fsize=4096", (int)getpid());
        (void)signal(SIGXFSZ, SIG_IGN);
        if (system(line) != 0)
            _exit(77);
        _exit(cache_write(key, &(cache_entry){large, sizeof large, report}) == 0 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        return; /* no prlimit here */
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(count_files(), 0);
    check_miss();
}
END_TEST

START_TEST(many_at_once)
{
    enum { WRITERS = 4, TIMES = 100 };

    (void)fflush(NULL);
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child)
            continue;
        for (int k = 0; k < TIMES; k++) {
            cache_entry entry = {0};

            /* A reader gets the whole entry, from the first write on. */
            if (!put() || !cache_read(key, &entry) || entry.image_size != sizeof image ||
                memcmp(entry.image, image, sizeof image) != 0)
                _exit(1);
            drop(&entry);
        }
        _exit(0);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(count_files(), 1);
    check_hit();
}
END_TEST

/* A file of so many megabytes, most of them holes, last used so many days ago. */
static void add_file(const char *name, int megabytes, int days)
{
    char path[LENGTH];
    struct utimbuf times;

    print(path, sizeof path, "%s/gbees/%s", top, name);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, (off_t)megabytes << 20), 0);
    ck_assert_int_eq(close(file), 0);
    times.actime = times.modtime = time(NULL) - days * 86400;
    ck_assert_int_eq(utime(path, &times), 0);
}

static int is_there(const char *name)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/gbees/%s", top, name);
    return access(path, F_OK) == 0;
}

START_TEST(the_oldest_go)
{
    ck_assert_int_eq(put(), 1);
    add_file("c.kernel", 100, 1);
    add_file("a.kernel", 100, 3);
    add_file("b.kernel", 100, 2);
    add_file("mine.txt", 300, 9); /* not of the cache */
    add_file("d.kernel.abcdef", 1, 4);
    add_file("e.kernel.abcdef", 1, 0); /* of a writer that may still be writing */
    ck_assert_int_eq(put(), 1);
    ck_assert(!is_there("a.kernel") && is_there("b.kernel") && is_there("c.kernel") && is_there("mine.txt"));
    ck_assert(!is_there("d.kernel.abcdef") && is_there("e.kernel.abcdef"));
    check_hit();
}
END_TEST

START_TEST(what_is_read_stays_young)
{
    char path[LENGTH];
    struct utimbuf times = {1000000000, 1000000000};

    ck_assert_int_eq(put(), 1);
    print(path, sizeof path, "%s/gbees/%s.kernel", top, key);
    ck_assert_int_eq(utime(path, &times), 0);
    check_hit();
    add_file("a.kernel", 100, 3);
    cache_folder_trim(50u << 20);
    ck_assert(!is_there("a.kernel"));
    check_hit();
}
END_TEST

/* ---- keys ---- */

START_TEST(order_and_borders_count)
{
    const cache_part ab_c[] = {{"ab", 2}, {"c", 1}}, a_bc[] = {{"a", 1}, {"bc", 2}}, c_ab[] = {{"c", 1}, {"ab", 2}},
                     none[] = {{"ab", 2}, {"c", 1}, {NULL, 0}};
    char keys[4][CACHE_KEY], again[CACHE_KEY];

    ck_assert_int_eq(cache_key(ab_c, 2, keys[0], &error), GBEES_OK);
    ck_assert_int_eq(cache_key(a_bc, 2, keys[1], &error), GBEES_OK);
    ck_assert_int_eq(cache_key(c_ab, 2, keys[2], &error), GBEES_OK);
    ck_assert_int_eq(cache_key(none, 3, keys[3], &error), GBEES_OK);
    ck_assert_int_eq(cache_key(ab_c, 2, again, &error), GBEES_OK);
    ck_assert_str_eq(again, keys[0]);
    ck_assert_uint_eq(strlen(again), 64);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(keys[i], keys[k]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_cache");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start_test, teardown);
    tcase_add_test(tests, what_was_written_is_read);
    tcase_add_test(tests, in_the_home_if_nothing_is_said);
    tcase_add_test(tests, off);
    tcase_add_test(tests, every_byte_counts);
    tcase_add_test(tests, every_length_counts);
    tcase_add_test(tests, another_entry_under_this_name);
    tcase_add_test(tests, folders_that_are_none);
    tcase_add_test(tests, what_others_may_write_is_not_trusted);
    tcase_add_test(tests, a_folder_that_can_only_be_read);
    tcase_add_test(tests, a_file_that_can_not_be_finished);
    tcase_add_test(tests, many_at_once);
    tcase_add_test(tests, the_oldest_go);
    tcase_add_test(tests, what_is_read_stays_young);
    tcase_add_test(tests, order_and_borders_count);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
