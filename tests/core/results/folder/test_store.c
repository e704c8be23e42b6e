/* test_store.c - the folder of results: whose it may be, who may write to it, what a killed run leaves. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/folder/store.h"
#include <fcntl.h>
#include <sys/stat.h>

static gbees_store store;
static gbees_error error;

static void must_open(void)
{
    ck_assert_msg(gbees_store_open(folder, &store, &error) == 0, "%s", error.text);
}

static void must_refuse(const char *words)
{
    gbees_store other = {0};

    ck_assert_int_eq(gbees_store_open(folder, &other, &error), GBEES_EIO);
    ck_assert_ptr_null(other.path);
    ck_assert_msg(strstr(error.text, words) && strstr(error.text, base), "%s", error.text);
}

static void make_folder(mode_t mode)
{
    ck_assert_int_eq(gbees_folder_make_all(folder, &error), 0);
    ck_assert_int_eq(chmod(folder, mode), 0);
}

static void make_file(const char *name, const char *text)
{
    char *path = in_folder(name);
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    free(path);
}

static int count_all(void)
{
    return count_files("") - 2; /* "." and ".." */
}

/* A link that somebody has planted where a temporary file will be must lead no write elsewhere. */
START_TEST(planted_links)
{
    char victim[sizeof base + 16], text[16] = "";

    must_open();
    (void)snprintf(victim, sizeof victim, "%s/victim", base);
    FILE *file = fopen(victim, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("precious", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    char *planted = in_folder("run.json.tmp");
    ck_assert_int_eq(symlink(victim, planted), 0);
    ck_assert_int_eq(gbees_store_write(&store, "run.json", "{}", 2, &error), GBEES_EIO);
    ck_assert_msg(strstr(error.text, "run.json.tmp: it is there already"), "%s", error.text);
    file = fopen(victim, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
    (void)fclose(file);
    ck_assert_str_eq(text, "precious");
    gbees_store_close(&store);
    must_refuse("is not empty"); /* nor is the link taken for a leftover */
    ck_assert(exists("run.json.tmp"));
    ck_assert_int_eq(unlink(planted), 0);
    char *lock = in_folder(".gbees.lock");
    ck_assert_int_eq(symlink(victim, lock), 0);
    must_refuse(".gbees.lock");
    free(lock);
    free(planted);
}
END_TEST

START_TEST(folders_of_others)
{
    make_folder(0777);
    must_refuse("others may write to the folder");
    ck_assert_int_eq(chmod(folder, 01777), 0);
    must_refuse("(mode 1777)");
    ck_assert_int_eq(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(folder, 12345, 12345), 0);
        must_refuse("belongs to another user (number 12345)");
        make_file(".gbees.lock", "");
        char *lock = in_folder(".gbees.lock");
        ck_assert_int_eq(chown(lock, 12345, 12345), 0);
        must_refuse("belongs to another user (number 12345)"); /* whoever has made the lock */
        free(lock);
        ck_assert_int_eq(chown(folder, 0, 12345), 0);
        ck_assert_int_eq(chmod(folder, 0775), 0);
        must_refuse("(mode 0775)");
        ck_assert_int_eq(chown(folder, 0, 0), 0); /* a group of the user's own */
    }
    must_open();
    gbees_store_close(&store);
}
END_TEST

START_TEST(one_run_a_folder)
{
    char words[64];

    must_open();
    must_refuse("another run is writing to the folder");
    (void)snprintf(words, sizeof words, ": process %ld on ", (long)getpid());
    must_refuse(words);
    ck_assert_int_eq(gbees_store_check(folder, &error), GBEES_EIO);
    ck_assert_msg(strstr(error.text, words), "%s", error.text);
    ck_assert_int_eq(gbees_store_write(&store, "run.json", "{}", 2, &error), 0);
    gbees_store_close(&store);
    ck_assert(!exists(".gbees.lock"));
    ck_assert_int_eq(gbees_store_check(folder, &error), 0);
    must_refuse("is not empty");
    ck_assert(!exists(".gbees.lock"));
}
END_TEST

/* What a run that was killed leaves half-written is removed; all else stays. */
START_TEST(leftovers)
{
    static const char *const left[] = {".gbees.lock",           "run.json.tmp",   "leg0_record12.h5.tmp",
                                       "leg3_record0.xdmf.tmp", "moments.h5.tmp", "scenario.yaml.tmp"};
    static const char *const others[] = {"notes.tmp", "leg0_record1.h5", "xleg0_record1.h5.tmp", "run.json"};

    make_folder(0755);
    for (size_t k = 0; k < sizeof left / sizeof *left; k++)
        make_file(left[k], "half");
    must_open();
    ck_assert_int_eq(count_all(), 1); /* the lock */
    gbees_store_close(&store);
    ck_assert_int_eq(count_all(), 0);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        make_file(others[k], "whole");
        make_file(left[1], "half");
        must_refuse("is not empty");
        ck_assert(exists(others[k]) && !exists(left[1]));
        char *path = in_folder(others[k]);
        ck_assert_int_eq(unlink(path), 0);
        free(path);
    }
    must_open();
    gbees_store_close(&store);
}
END_TEST

/* The folder's path may go, and another folder may take its place: files go where the run began. */
START_TEST(renamed_folder)
{
    char moved[sizeof base + 16];

    must_open();
    (void)snprintf(moved, sizeof moved, "%s/moved", base);
    ck_assert_int_eq(rename(folder, moved), 0);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(gbees_store_write(&store, "run.json", "{}", 2, &error), 0);
    ck_assert(!exists("run.json"));
    gbees_store_close(&store);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(rename(moved, folder), 0);
    ck_assert(exists("run.json"));
    ck_assert_int_eq(count_all(), 1);
}
END_TEST

START_TEST(removed_folder)
{
    must_open();
    char *lock = in_folder(".gbees.lock");
    ck_assert_int_eq(unlink(lock), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(gbees_store_write(&store, "run.json", "{}", 2, &error), GBEES_EIO);
    ck_assert_msg(strstr(error.text, "run.json") && strstr(error.text, "No such file"), "%s", error.text);
    gbees_store_close(&store);
    free(lock);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *tests = tcase_create("store");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, planted_links);
    tcase_add_test(tests, folders_of_others);
    tcase_add_test(tests, one_run_a_folder);
    tcase_add_test(tests, leftovers);
    tcase_add_test(tests, renamed_folder);
    tcase_add_test(tests, removed_folder);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
