/* test_truth.c - the truth of tests/accuracy/run: samples kept in a folder, and moments from a table. */
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "truth.h"
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 2000 };

static char folder[SCRATCH_FOLDER];

static void decay(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                  double *out)
{
    (void)t;
    for (size_t i = 0; i < count; i++)
        out[i] = -p[0] * (origin[0] + offset[0][i]);
}

static void decay_all(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                      double *const *out)
{
    decay(count, t, origin, offset, p, out[0]);
}

static const char source[] = "dx/dt = -p x";
static const gbees_functions functions = {.n = 1, .component_d = {decay}, .drift_d = decay_all};
static const gbees_model model = {.name = "decay", .source = source, .source_end = source + sizeof source - 1};
static const gbees_montecarlo_options options = {.count = COUNT, .step = 0.01, .seed = 1, .threads = 1, .cut = 1};

static gbees_problem decay_problem(void)
{
    return (gbees_problem){.model = &model,
                           .functions = &functions,
                           .dimension = 1,
                           .parameters = {2},
                           .end = 1,
                           .mean = {3},
                           .covariance = {0.25},
                           .width = {0.25},
                           .extent = {6}};
}

/* How many files the folder has, and the name of one. */
static int files(char *name, size_t size)
{
    DIR *list = opendir(folder);
    int count = 0;

    ck_assert_ptr_nonnull(list);
    for (const struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, size, "%s/%s", folder, entry->d_name);
        count++;
    }
    (void)closedir(list);
    return count;
}

static void setup(void)
{
    scratch_folder_make(folder);
}

static void teardown(void)
{
    scratch_folder_remove(folder);
}

static gbees_montecarlo *samples(const gbees_problem *problem, double time)
{
    gbees_montecarlo *made = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_truth_samples(problem, &options, time, folder, &made, &error) == GBEES_OK, "%s", error.text);
    return made;
}

START_TEST(samples_are_kept)
{
    const gbees_problem problem = decay_problem();
    gbees_montecarlo *first = samples(&problem, 0.5), *second;
    char name[512];
    FILE *file;
    double mark = 17;

    ck_assert_int_eq(files(name, sizeof name), 1);
    second = samples(&problem, 0.5);
    ck_assert_double_eq(second->time, 0.5);
    ck_assert_mem_eq(first->x[0], second->x[0], COUNT * sizeof(double));
    gbees_montecarlo_destroy(first);
    gbees_montecarlo_destroy(second);

    ck_assert_ptr_nonnull(file = fopen(name, "r+b")); /* a change shows that the file is what is taken */
    ck_assert_uint_eq(fwrite(&mark, sizeof mark, 1, file), 1);
    ck_assert_int_eq(fclose(file), 0);
    first = samples(&problem, 0.5);
    ck_assert_double_eq(first->x[0][0], 17);
    gbees_montecarlo_destroy(first);
}
END_TEST

START_TEST(samples_of_another_problem_are_others)
{
    gbees_problem problem = decay_problem();
    char name[512];

    gbees_montecarlo_destroy(samples(&problem, 0.5));
    gbees_montecarlo_destroy(samples(&problem, 0.75));
    ck_assert_int_eq(files(name, sizeof name), 2);
    problem.parameters[0] = 1;
    gbees_montecarlo_destroy(samples(&problem, 0.5));
    ck_assert_int_eq(files(name, sizeof name), 3);
    problem.extent[0] = 5; /* another cut */
    gbees_montecarlo_destroy(samples(&problem, 0.5));
    ck_assert_int_eq(files(name, sizeof name), 4);
}
END_TEST

START_TEST(a_damaged_file_is_refused)
{
    const gbees_problem problem = decay_problem();
    gbees_montecarlo *none = NULL;
    gbees_error error;
    char name[512];

    gbees_montecarlo_destroy(samples(&problem, 0.5));
    ck_assert_int_eq(files(name, sizeof name), 1);
    ck_assert_int_eq(truncate(name, 8 * COUNT - 1), 0);
    ck_assert_int_eq(gbees_truth_samples(&problem, &options, 0.5, folder, &none, &error), GBEES_EIO);
    ck_assert_ptr_nonnull(strstr(error.text, "remove it"));
    ck_assert_ptr_null(none);
}
END_TEST

START_TEST(moments_from_a_table)
{
    const gbees_problem problem = decay_problem();
    gbees_sample_moments moments = {.effective = 0};
    gbees_error error = {GBEES_OK, ""};
    char name[512];
    FILE *file;

    (void)snprintf(name, sizeof name, "%s/table.txt", folder);
    ck_assert_ptr_nonnull(file = fopen(name, "w"));
    fputs("# model start phase time samples effective axis mean mean_error std std_error\n"
          "decay cut prior 0.5 100 100 0 8 0.8 4 0.4\n"
          "decay full prior 0.25 100 100 0 7 0.7 3 0.3\n"
          "decay full prior 0.5 100 90 0 6 0.6 2 0.2\n",
          file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(gbees_truth_table(&problem, name, 0.5, &moments, &error) == GBEES_OK, "%s", error.text);
    ck_assert_double_eq(moments.mean[0], 6);
    ck_assert_double_eq(moments.std[0], 2);
    ck_assert_double_eq(moments.std_error[0], 0.2);
    ck_assert_double_eq(moments.effective, 90);
    ck_assert_int_eq(gbees_truth_table(&problem, name, 1, &moments, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "does not have all 1 axes of decay at t = 1"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("truth");
    TCase *tcase = tcase_create("truth");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, samples_are_kept);
    tcase_add_test(tcase, samples_of_another_problem_are_others);
    tcase_add_test(tcase, a_damaged_file_is_refused);
    tcase_add_test(tcase, moments_from_a_table);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
