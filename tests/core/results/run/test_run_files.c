/* test_run_files.c - SHA256SUMS: whatever is changed, taken away or added in the folder of a finished run is found.
 */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/folder/store.h"
#include <fcntl.h>
#include <sys/stat.h>

enum {
    RECORDS = 4,
    DIMENSION = 2,
    ALL = 2 + 2 * RECORDS + 2
}; /* the list, run.json, scenario.yaml, moments.h5, ... */

typedef struct finding {
    int files, damaged;
    char text[1024]; /* of the last that is damaged */
} finding;

static void note(void *context, const char *file, int summed, const gbees_error *error)
{
    finding *f = context;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(summed, error == NULL);
    f->files++;
    f->damaged += error != NULL;
    if (error)
        (void)snprintf(f->text, sizeof f->text, "%s", error->text);
}

static finding verify(void)
{
    gbees_results *results = NULL;
    finding found = {0};

    ck_assert_int_eq(gbees_results_open(folder, &results, NULL), 0);
    gbees_results_verify(results, note, &found);
    gbees_results_destroy(results);
    return found;
}

static void must_find(const char *file, const char *words)
{
    const finding found = verify();

    ck_assert_msg(found.damaged == 1, "%s: %d of %d, the last: %s", file, found.damaged, found.files, found.text);
    ck_assert_msg(strstr(found.text, file) && strstr(found.text, words) && !strchr(found.text, '\n'), "%s",
                  found.text);
}

static void must_be_whole(int files)
{
    const finding found = verify();

    ck_assert_msg(found.damaged == 0, "%s", found.text);
    ck_assert_int_eq(found.files, files);
}

static gbees_problem problem;

/* A run of two legs that has ended. */
static void set_up_run(void)
{
    const gbees_summary summary = {.totals = {.steps = 3, .threads = 1}};

    set_up();
    problem = make_problem(DIMENSION);
    gbees_writer *writer = start(&problem);
    for (int k = 0; k < RECORDS; k++)
        put(writer, &problem, 20, k / 3, k % 3);
    ck_assert_int_eq(gbees_writer_finish(writer, "complete", &summary, NULL), 0);
    gbees_writer_destroy(writer);
}

static void flip(const char *name, off_t at)
{
    char *path = in_folder(name), byte = 0;
    const int file = open(path, O_RDWR | O_CLOEXEC);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq((int)pread(file, &byte, 1, at), 1);
    byte = (char)(byte ^ 4);
    ck_assert_int_eq((int)pwrite(file, &byte, 1, at), 1);
    (void)close(file);
    free(path);
}

static off_t size_of(const char *name)
{
    char *path = in_folder(name);
    struct stat facts;

    ck_assert_int_eq(stat(path, &facts), 0);
    free(path);
    return facts.st_size;
}

static void move(const char *from, const char *to)
{
    char *old = in_folder(from), *new = in_folder(to);

    ck_assert_int_eq(rename(old, new), 0);
    free(old);
    free(new);
}

static void copy(const char *from, const char *to)
{
    char *old = in_folder(from), *new = in_folder(to);

    ck_assert_int_eq(link(old, new), 0);
    free(old);
    free(new);
}

static void take_away(const char *name)
{
    char *path = in_folder(name);

    ck_assert_int_eq(unlink(path), 0);
    free(path);
}

START_TEST(changed_bytes)
{
    static const char *const names[] = {"run.json", "scenario.yaml", "leg0_record0.xdmf", "leg1_record0.xdmf",
                                        "SHA256SUMS"};
    const char *name = names[_i];
    const off_t size = size_of(name);

    must_be_whole(ALL);
    for (off_t at = 0; at < size; at += 1 + size / 40) {
        flip(name, at);
        must_find(name, "does not have the checksum that it was written with");
        flip(name, at);
    }
    flip(name, size - 1);
    must_find(name, "does not have the checksum");
    flip(name, size - 1);
    must_be_whole(ALL);
}
END_TEST

START_TEST(missing_files)
{
    static const char *const names[] = {"leg0_record0.h5",   "leg0_record1.h5", "leg1_record0.h5",
                                        "leg0_record1.xdmf", "run.json",        "scenario.yaml"};

    move(names[_i], "elsewhere");
    must_find(names[_i], "is missing");
    move("elsewhere", names[_i]);
    must_be_whole(ALL);
}
END_TEST

START_TEST(extra_files)
{
    static const char *const names[] = {"leg0_record3.h5", "leg1_record1.h5", "leg2_record0.h5", "leg1_record1.xdmf"};

    copy(strstr(names[_i], "xdmf") ? "leg1_record0.xdmf" : "leg1_record0.h5", names[_i]);
    must_find(names[_i], "the run has not written it");
    take_away(names[_i]);
    copy("run.json", "notes.txt"); /* files of the user's own are none of the run's */
    must_be_whole(ALL);
}
END_TEST

/* The list itself, and what is no file. */
START_TEST(the_list)
{
    spoil("SHA256SUMS", "# record leg0_record0.h5\n", 0);
    must_find("SHA256SUMS", "does not have the checksum");
    take_away("SHA256SUMS");
    must_find("SHA256SUMS", "is missing: run.json says");
    char *link = in_folder("SHA256SUMS");
    ck_assert_int_eq(symlink("/dev/zero", link), 0);
    must_find("SHA256SUMS", "can't read");
    free(link);
}
END_TEST

/* A list of more than 256 MiB, all of which would be read to memory. */
START_TEST(a_huge_list)
{
    char *list = in_folder("SHA256SUMS");

    ck_assert_int_eq(truncate(list, (off_t)(1 << 28) + 1), 0);
    must_find("SHA256SUMS", "it has 268435457 bytes, and a list of a run's files has at most 268435456");
    free(list);
}
END_TEST

START_TEST(links)
{
    char *link = in_folder("scenario.yaml");

    move("scenario.yaml", "elsewhere");
    ck_assert_int_eq(symlink("elsewhere", link), 0);
    must_find("scenario.yaml", "can't read");
    free(link);
}
END_TEST

/* A run that goes on, or was killed, has no list; nor has one that is resumed. */
START_TEST(runs_that_have_not_ended)
{
    char first[sizeof folder];

    (void)snprintf(first, sizeof first, "%s", folder);
    (void)snprintf(folder, sizeof folder, "%s/other", base);
    gbees_writer *writer = start(&problem);
    put(writer, &problem, 20, 0, 0);
    ck_assert_int_eq(exists("SHA256SUMS"), 0);
    must_be_whole(2 - (exists("moments.h5") == 0));
    ck_assert_int_eq(gbees_writer_finish(writer, "cancelled", NULL, NULL), 0);
    must_be_whole(6);
    gbees_writer_destroy(writer);
    (void)snprintf(folder, sizeof folder, "%s", first);
}
END_TEST

/* Records that are left out on purpose are not missing. */
START_TEST(every_other_record)
{
    (void)snprintf(folder, sizeof folder, "%s/sparse", base);
    gbees_writer *writer = start(&problem);
    gbees_writer_output(writer, &(gbees_output){.every = 2});
    for (int k = 0; k < RECORDS; k++)
        put(writer, &problem, 20, 0, k);
    ck_assert_int_eq(gbees_writer_finish(writer, "complete", NULL, NULL), 0);
    gbees_writer_destroy(writer);
    ck_assert_int_eq(exists("leg0_record1.h5"), 0);
    must_be_whole(4 + RECORDS);
    move("leg0_record2.h5", "elsewhere");
    must_find("leg0_record2.h5", "is missing");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_files");
    TCase *tests = tcase_create("run_files");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up_run, tear_down);
    tcase_add_loop_test(tests, changed_bytes, 0, 5);
    tcase_add_loop_test(tests, missing_files, 0, 6);
    tcase_add_loop_test(tests, extra_files, 0, 4);
    tcase_add_test(tests, the_list);
    tcase_add_test(tests, a_huge_list);
    tcase_add_test(tests, links);
    tcase_add_test(tests, runs_that_have_not_ended);
    tcase_add_test(tests, every_other_record);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
