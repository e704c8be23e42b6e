/* test_plot_child.c - a child that draws: what it tells of is printed, and each way in which it can end is a status
 * and a text. */
#include "command/plot/plot_child.h"
#include "fixtures/suite.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int draws_two(void *context, int descriptor, gbees_error *error)
{
    const int status = gbees_plot_child_tell(descriptor, "one.png", error);

    (void)context;
    return status ? status : gbees_plot_child_tell(descriptor, "two.png", error);
}

static int fails(void *context, int descriptor, gbees_error *error)
{
    (void)context, (void)descriptor;
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %s", "a picture");
}

static int crashes(void *context, int descriptor, gbees_error *error)
{
    (void)context, (void)descriptor, (void)error;
    return raise(SIGSEGV);
}

static int exits(void *context, int descriptor, gbees_error *error)
{
    (void)context, (void)descriptor, (void)error;
    exit(3);
}

START_TEST(paths_are_printed)
{
    char path[] = "/tmp/gbees-plot-child-XXXXXX", text[64] = "";
    const int file = mkstemp(path), before = dup(1);
    gbees_error error = {0};

    ck_assert_int_ge(file, 0);
    (void)fflush(stdout);
    ck_assert_int_eq(dup2(file, 1), 1);
    const int status = gbees_plot_child_run(draws_two, NULL, &error);
    ck_assert_int_eq(dup2(before, 1), 1);
    ck_assert_int_eq(status, GBEES_OK);
    ck_assert_int_gt(pread(file, text, sizeof text - 1, 0), 0);
    ck_assert_str_eq(text, "one.png\ntwo.png\n");
    (void)close(file);
    (void)unlink(path);
}
END_TEST

static const struct {
    gbees_plot_job *job;
    int status;
    const char *text;
} ends[] = {
    {fails, GBEES_ENOMEM, "not enough memory for a picture"},
    {crashes, GBEES_EIO, "the process that draws failed: it crashed (Segmentation fault)"},
    {exits, GBEES_EIO, "the process that draws failed: it ended the process with status 3"},
};

START_TEST(every_end_is_told)
{
    gbees_error error = {0};

    ck_assert_int_eq(gbees_plot_child_run(ends[_i].job, NULL, &error), ends[_i].status);
    ck_assert_msg(strncmp(error.text, ends[_i].text, strlen(ends[_i].text)) == 0, "%s", error.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plot child");
    TCase *tests = tcase_create("ends");

    tcase_add_test(tests, paths_are_printed);
    tcase_add_loop_test(tests, every_end_is_told, 0, (int)(sizeof ends / sizeof *ends));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
