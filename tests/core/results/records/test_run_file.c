/* test_run_file.c - run.h5: HDF5 reads what is written into it, whenever its writer is killed. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_util.h"
#include "results/records/results_list.h"
#include "results/records/run_file.h"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

static gbees_store store;
static gbees_error error;

static gbees_run_file *begin(void)
{
    gbees_run_file *file = NULL;

    ck_assert_msg(gbees_store_open(folder, &store, &error) == 0, "%s", error.text);
    ck_assert_msg(gbees_run_file_create(&store, &file, &error) == 0, "%s", error.text);
    return file;
}

static void end(gbees_run_file *file)
{
    gbees_run_file_destroy(file);
    gbees_store_close(&store);
}

/* A group with the number in a dataset and in an attribute; 0, or a status. */
static int add(gbees_run_file *file, const char *name, int32_t number)
{
    gbees_hdf5 group;
    int32_t values[100];
    const hsize_t size = 100;
    const int status = gbees_run_file_append(file, name, &group, &error);

    if (status)
        return status;
    for (int k = 0; k < 100; k++)
        values[k] = number;
    gbees_hdf5_attribute(&group, "/", "number", H5T_NATIVE_INT32, 0, NULL, &number);
    gbees_hdf5_group(&group, "pdf");
    gbees_hdf5_dataset(&group, "pdf/values", H5T_NATIVE_INT32, 1, &size, NULL, values);
    return gbees_hdf5_commit(&group, &error);
}

static int add_record(gbees_run_file *file, int leg, int number)
{
    char name[GBEES_RECORD_NAME];

    (void)snprintf(name, sizeof name, "leg%d/record%d", leg, number);
    return add(file, name, 1000 * leg + number);
}

/* Reads a group by HDF5's own driver. */
static void must_have(hid_t file, const char *name, int32_t number)
{
    int32_t attribute = -1, values[100] = {0};
    char path[128];

    (void)snprintf(path, sizeof path, "%s/pdf/values", name);
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    ck_assert_msg(set >= 0, "%s", name);
    ck_assert_int_ge(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    ck_assert_int_ge(H5Dclose(set), 0);
    const hid_t held = H5Aopen_by_name(file, name, "number", H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Aread(held, H5T_NATIVE_INT32, &attribute), 0);
    ck_assert_int_ge(H5Aclose(held), 0);
    ck_assert_int_eq(attribute, number);
    ck_assert_int_eq(values[0], number);
    ck_assert_int_eq(values[99], number);
}

static hid_t open_with_hdf5(void)
{
    char *path = in_folder(GBEES_RUN_FILE);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);

    free(path);
    ck_assert_int_ge(file, 0);
    return file;
}

START_TEST(hdf5_reads_it)
{
    gbees_run_file *run = begin();
    H5G_info_t about;

    for (int leg = 0; leg < 20; leg++)
        for (int number = 0; number < 3; number++) {
            ck_assert_msg(add_record(run, leg, number) == 0, "%s", error.text);
            ck_assert_int_eq(gbees_run_file_commit(run, 0, &error), 0);
        }
    ck_assert_int_eq(add_record(run, 7, 1), 0); /* again: in place of the first */
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    end(run);

    const hid_t file = open_with_hdf5();
    ck_assert_int_ge(H5Gget_info(file, &about), 0);
    ck_assert_int_eq((int)about.nlinks, 20);
    ck_assert_int_gt(H5Aexists(file, "format_version"), 0);
    for (int leg = 0; leg < 20; leg++)
        for (int number = 0; number < 3; number++) {
            char name[64];

            (void)snprintf(name, sizeof name, "leg%d/record%d", leg, number);
            must_have(file, name, 1000 * leg + number);
        }
    ck_assert_int_ge(H5Fclose(file), 0);
}
END_TEST

/* Each commit links all legs anew: commits wait if the last one took long, unless they must not. */
START_TEST(commits_wait)
{
    gbees_run_file *run = begin();

    for (int leg = 0; leg < 1500; leg++)
        ck_assert_int_eq(add_record(run, leg, 0), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    run->took_s = 1e6;
    ck_assert_int_eq(add_record(run, 0, 1), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 0, &error), 0);
    ck_assert(!gbees_run_file_is_committed(run));
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    ck_assert(gbees_run_file_is_committed(run));
    end(run);
    const hid_t file = open_with_hdf5();
    must_have(file, "leg1499/record0", 1499000);
    must_have(file, "leg0/record0", 0);
    must_have(file, "leg0/record1", 1);
    ck_assert_int_ge(H5Fclose(file), 0);
}
END_TEST

/* Goes on behind what is listed, and the rest of a killed writer is gone. */
START_TEST(reopened)
{
    gbees_run_file *run = begin();

    ck_assert_int_eq(add_record(run, 0, 0), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    ck_assert_int_eq(add_record(run, 0, 1), 0);
    gbees_run_file_destroy(run); /* not committed */
    ck_assert_msg(gbees_run_file_reopen(&store, &run, &error) == 0, "%s", error.text);
    ck_assert_ptr_nonnull(run);
    ck_assert_int_eq(add_record(run, 1, 0), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    end(run);
    const hid_t file = open_with_hdf5();
    must_have(file, "leg0/record0", 0);
    must_have(file, "leg1/record0", 1000);
    ck_assert_int_eq(H5Lexists(file, "leg0/record1", H5P_DEFAULT), 0);
    ck_assert_int_ge(H5Fclose(file), 0);
}
END_TEST

/* A reader says that the file is cut off, and after what. */
static void must_tell_what_is_lost(uint64_t there, uint64_t whole)
{
    gbees_results *results = NULL;
    char text[128];

    (void)snprintf(
        text, sizeof text,
        "/run.h5 is damaged: it ends at byte %llu of %llu: what was written after run.h5/leg0/record0 is lost",
        (unsigned long long)there, (unsigned long long)whole);
    ck_assert_msg(gbees_results_open(folder, &results, &error) == 0, "%s", error.text);
    ck_assert_msg(gbees_results_lost(results) && strstr(gbees_results_lost(results), text), "not %s", text);
    gbees_results_destroy(results);
}

/* A power failure may leave the newest superblock without what it names: that of the last sync is read. */
START_TEST(after_a_power_failure)
{
    gbees_run_file *run = begin();
    gbees_results_list list = {0};
    char *path = in_folder(GBEES_RUN_FILE);

    ck_assert_int_eq(add_record(run, 0, 0), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    gbees_run_file_synced(run);
    const uint64_t kept = run->end;
    ck_assert_int_eq(add_record(run, 0, 1), 0);
    ck_assert_int_eq(gbees_run_file_commit(run, 1, &error), 0);
    ck_assert_int_eq(truncate(path, (off_t)kept), 0);
    ck_assert_msg(gbees_results_list_read(store.descriptor, folder, &list, &error) == 0, "%s", error.text);
    ck_assert_int_eq((int)list.count, 1);
    free(list.name);
    must_tell_what_is_lost(kept, run->end);
    list = (gbees_results_list){0};
    ck_assert_int_eq(truncate(path, 600), 0);
    ck_assert_int_eq(gbees_results_list_read(store.descriptor, folder, &list, &error), GBEES_EINPUT);
    ck_assert_msg(strstr(error.text, "/run.h5: truncated file") && strstr(error.text, ": it is damaged"), "%s",
                  error.text);
    free(list.name);
    free(path);
    end(run);
}
END_TEST

/* Writes records for ever, and tells each that is committed. */
static void write_for_ever(int told)
{
    gbees_run_file *run = NULL;

    if (gbees_run_file_create(&store, &run, &error))
        _exit(1);
    for (int k = 0;; k++)
        if (add_record(run, k / 10, k % 10) || gbees_run_file_commit(run, 0, &error) ||
            (gbees_run_file_is_committed(run) && write(told, &k, sizeof k) != sizeof k))
            _exit(1);
}

/* All records that were told are there, and what is there is whole. */
static void check_killed(int last)
{
    gbees_results_list list = {0};

    ck_assert_msg(gbees_results_list_read(store.descriptor, folder, &list, &error) == 0, "%s", error.text);
    ck_assert_int_gt((int)list.count, last);
    const hid_t file = open_with_hdf5();
    for (size_t i = 0; i < list.count; i++) {
        char name[64];

        ck_assert_int_eq(10 * list.name[i].leg + list.name[i].number, (int)i);
        (void)snprintf(name, sizeof name, "leg%d/record%d", list.name[i].leg, list.name[i].number);
        must_have(file, name, 1000 * list.name[i].leg + list.name[i].number);
    }
    ck_assert_int_ge(H5Fclose(file), 0);
    free(list.name);
}

START_TEST(killed)
{
    uint32_t random = 12345;
    int longest = 0;

    ck_assert_int_eq(gbees_store_open(folder, &store, &error), 0);
    for (int kill_number = 0; kill_number < 60; kill_number++) {
        int told[2], last = -1;

        ck_assert_int_eq(pipe(told), 0);
        const pid_t child = fork();
        if (child == 0)
            write_for_ever(told[1]);
        (void)close(told[1]);
        ck_assert_int_eq((int)read(told[0], &last, sizeof last), (int)sizeof last); /* it has begun */
        random = random * 1664525 + 1013904223;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000 * (random >> 16)}, NULL); /* to 65 ms */
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        while (read(told[0], &last, sizeof last) == sizeof last)
            longest = last > longest ? last : longest;
        (void)close(told[0]);
        check_killed(last);
        char *path = in_folder(GBEES_RUN_FILE);
        ck_assert_int_eq(unlink(path), 0);
        free(path);
    }
    ck_assert_int_gt(longest, 10);
    gbees_store_close(&store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_file");
    TCase *tests = tcase_create("run_file");

    tcase_set_timeout(tests, 240);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, hdf5_reads_it);
    tcase_add_test(tests, commits_wait);
    tcase_add_test(tests, reopened);
    tcase_add_test(tests, after_a_power_failure);
    tcase_add_test(tests, killed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
