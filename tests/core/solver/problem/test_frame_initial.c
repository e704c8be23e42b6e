/* test_frame_initial.c - turned grids for initial densities that are not one Gaussian: a mixture's own axes, and
 * those of a record. */
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- problems of the model linear, and runs ------------------------------------------------------------------- */

static gbees_registry *registry;
static const gbees_model *model;
static const gbees_backend *cpu;
static char folder[SCRATCH_FOLDER];

static void setup(void)
{
    gbees_error error;

    ck_assert_msg(!gbees_registry_create(NULL, &registry, &error), "%s", error.text);
    ck_assert_msg(!gbees_registry_model(registry, "linear", &model, &error), "%s", error.text);
    ck_assert_msg(!gbees_registry_backend(registry, "cpu", &cpu, &error), "%s", error.text);
    scratch_folder_make(folder);
}

static void teardown(void)
{
    gbees_registry_destroy(registry);
    scratch_folder_remove(folder);
}

/* A scenario's text over the model's own. */
static int try_problem(const char *text, gbees_problem **problem, gbees_error *error)
{
    return problem_make(model, &(scenario_source){.text = text, .name = "f.yaml", .over_default = 1}, problem, error);
}

static gbees_problem *problem_of(const char *text)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    ck_assert_msg(try_problem(text, &problem, &error) == 0, "%s", error.text);
    return problem;
}

typedef struct outcome {
    gbees_statistics first, last;
    gbees_writer *writer;
} outcome;

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    outcome *out = context;

    if (record->leg == 0 && record->number == 0)
        out->first = record->statistics;
    out->last = record->statistics;
    return out->writer ? gbees_writer_record(out->writer, record, error) : 0;
}

/* To a folder of that name in the test's own, unless it is NULL. */
static outcome run(gbees_problem *problem, const char *name)
{
    const gbees_provenance from = {.plugin_path = "", .scenario = "", .backend = "cpu", .device = "", .command = ""};
    outcome out = {.writer = NULL};
    world w = {.problem = problem, .backend = cpu};
    char path[SCRATCH_FOLDER + 64];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name ? name : "");
    int status = name ? gbees_writer_create(path, problem, &from, &out.writer, &w.error) : 0;
    if (!status)
        status = world_run(&w, 1, &(gbees_observer){.context = &out, .record = keep}, NULL);
    ck_assert_msg(!status, "%s", w.error.text);
    gbees_writer_destroy(out.writer);
    return out;
}

static outcome run_text(const char *text, const char *name)
{
    gbees_problem *problem = problem_of(text);
    const outcome out = run(problem, name);

    gbees_problem_destroy(problem);
    return out;
}

static void check_moments(const gbees_statistics *s, const double *mean, const double *covariance, double tolerance)
{
    for (int j = 0; j < 2; j++) {
        const double sigma = sqrt(covariance[3 * j]);

        ck_assert_double_eq_tol(s->mean[j], mean[j], tolerance * sigma);
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq_tol(s->covariance[2 * j + k], covariance[2 * j + k],
                                    3 * tolerance * sigma * sqrt(covariance[3 * k]));
    }
}

/* ---- mixtures ------------------------------------------------------------------------------------------------- */

/* Two along (3, 4)/5, each narrow across it, and one that has axes of its own. */
#define THREE                                                                                                        \
    "initial:\n"                                                                                                     \
    "  - {weight: 1, mean: [1.4, 1.2], covariance: [[0.1, 0.03], [0.03, 0.2]]}\n"                                    \
    "  - {weight: 2, mean: [2, 2], covariance: [[0.1, 0.06], [0.06, 0.15]]}\n"                                       \
    "  - {weight: 1, mean: [2.6, 2.9], covariance: [0.2, 0.1]}\n"                                                    \
    "extent: 4.5\nwidth: [0.12, 0.12]\nthreshold: 1.0e-9\nmeasurements: []\nrecords: 1\nend: 1\n"

static const double given[3][7] = {
    {0.25, 1.4, 1.2, 0.1, 0.03, 0.03, 0.2}, {0.5, 2, 2, 0.1, 0.06, 0.06, 0.15}, {0.25, 2.6, 2.9, 0.2, 0, 0, 0.1}};

static void mixture_moments(double *mean, double *covariance)
{
    for (int g = 0; g < 3; g++)
        for (int j = 0; j < 2; j++)
            mean[j] += given[g][0] * given[g][1 + j];
    for (int g = 0; g < 3; g++)
        for (int j = 0; j < 4; j++)
            covariance[j] += given[g][0] * (given[g][3 + j] + (given[g][1 + j / 2] - mean[j / 2]) *
                                                                  (given[g][1 + j % 2] - mean[j % 2]));
}

START_TEST(the_frame_is_that_of_the_mixture)
{
    gbees_problem *p = problem_of(THREE "rotate: yes\n");
    const double *r = p->rotation;
    double mean[2] = {0}, covariance[4] = {0};

    mixture_moments(mean, covariance);
    ck_assert_int_eq(p->rotated, 1);
    ck_assert_double_eq(p->covariance[1], 0);
    ck_assert_double_eq(p->covariance[2], 0);
    for (int j = 0; j < 2; j++) {
        ck_assert_double_eq(p->mean[j], 0);
        ck_assert_double_eq_tol(p->centre[j], mean[j], 1e-15);
        ck_assert_double_eq(p->parameters[GBEES_MAX_PARAMETERS + j], p->centre[j]);
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq_tol(r[2 * j] * p->covariance[0] * r[2 * k] +
                                        r[2 * j + 1] * p->covariance[3] * r[2 * k + 1],
                                    covariance[2 * j + k], 1e-14);
    }
    for (int g = 0; g < 3; g++) {
        const double *c = p->gaussians[g].covariance;
        double x[2];

        gbees_problem_point(p, p->gaussians[g].mean, x);
        for (int j = 0; j < 2; j++) {
            ck_assert_double_eq_tol(x[j], given[g][1 + j], 1e-14);
            ck_assert_int_eq(p->gaussians[g].hi[j],
                             (int)round((p->gaussians[g].mean[j] + 4.5 * sqrt(c[3 * j])) / 0.12));
        }
        for (int j = 0; j < 4; j++) {
            double back = 0;

            for (int k = 0; k < 4; k++)
                back += r[2 * (j / 2) + k / 2] * c[k] * r[2 * (j % 2) + k % 2];
            ck_assert_double_eq_tol(back, given[g][3 + j], 1e-15);
        }
    }
    gbees_problem_destroy(p);
}
END_TEST

/* Parts that have the mixture's own axes are uncorrelated along them, to the last bit: their averages are exact. */
START_TEST(parts_along_the_axes_are_exact)
{
    gbees_problem *p = problem_of("initial:\n"
                                  "  - {mean: [1.5, 1.5], covariance: [[0.10, 0.05], [0.05, 0.10]]}\n"
                                  "  - {mean: [2.8, 2.8], covariance: [[0.23, 0.07], [0.07, 0.23]]}\n"
                                  "width: 0.1\nrotate: yes\n");

    ck_assert_int_eq(p->rotated, 1);
    for (int g = 0; g < 2; g++)
        ck_assert_double_eq(p->gaussians[g].covariance[1], 0);
    gbees_problem_destroy(p);
}
END_TEST

/* A triangle's corners are as far apart along one axis as along any: what rounding leaves is no correlation. */
START_TEST(without_correlations_nothing_is_turned)
{
    gbees_problem *p = problem_of("initial:\n"
                                  "  - {mean: [1.1, 0.3], covariance: [0.1, 0.1]}\n"
                                  "  - {mean: [-0.4, 1.16602540378443864], covariance: [0.1, 0.1]}\n"
                                  "  - {mean: [-0.4, -0.56602540378443864], covariance: [0.1, 0.1]}\n"
                                  "width: 0.1\nrotate: yes\n");

    ck_assert_double_eq_tol(p->covariance[1], 0, 1e-14);
    ck_assert_int_eq(p->rotated, 0);
    ck_assert_ptr_eq(p->functions->framed, model->functions[1].framed);
    gbees_problem_destroy(p);
}
END_TEST

START_TEST(it_begins_with_the_mixture)
{
    const outcome out = run_text(_i ? THREE "rotate: yes\ncell_values: points\n" : THREE "rotate: yes\n", NULL);
    double mean[2] = {0}, covariance[4] = {0};

    mixture_moments(mean, covariance);
    check_moments(&out.first, mean, covariance, 1e-4);
}
END_TEST

START_TEST(as_on_a_grid_that_is_not_turned)
{
    const outcome turned = run_text(THREE "rotate: yes\n", NULL), plain = run_text(THREE "rotate: no\n", NULL);

    check_moments(&turned.last, plain.last.mean, plain.last.covariance, 5e-3);
    ck_assert_double_eq_tol(turned.last.entropy, plain.last.entropy, 0.02);
}
END_TEST

/* ---- records -------------------------------------------------------------------------------------------------- */

#define TILTED                                                                                                       \
    "mean: [2, 2]\ncovariance: [[0.25, 0.18], [0.18, 0.2]]\nextent: 4\nfactor: 4\nthreshold: 1.0e-9\nrecords: 1\n"   \
    "measurements: []\ntime_step: 0.004\n"

/* A scenario that goes on from that folder of the test's own. */
static const char *from(const char *name, const char *rest)
{
    static char text[1024];

    (void)snprintf(text, sizeof text,
                   "initial: {file: %s/%s}\nthreshold: 1.0e-9\nrecords: 1\nmeasurements: []\ntime_step: 0.004\nend: "
                   "1\n%s",
                   folder, name, rest);
    return text;
}

START_TEST(a_records_frame_is_kept)
{
    gbees_problem *whole = problem_of(TILTED "rotate: yes\nend: 1\n"), *next;
    const outcome one = run(whole, NULL);

    (void)run_text(TILTED "rotate: yes\nend: 0.5\n", "turned");
    next = problem_of(from("turned", _i ? "rotate: yes\n" : ""));
    ck_assert_int_eq(next->rotated, 1);
    ck_assert_mem_eq(next->rotation, whole->rotation, 4 * sizeof *next->rotation);
    ck_assert_mem_eq(next->centre, whole->centre, 2 * sizeof *next->centre);
    ck_assert_mem_eq(next->parameters, whole->parameters, sizeof next->parameters);
    const outcome two = run(next, NULL);
    check_moments(&two.last, one.last.mean, one.last.covariance, 1e-5);
    gbees_problem_destroy(whole);
    gbees_problem_destroy(next);
}
END_TEST

START_TEST(a_record_cant_be_turned)
{
    static const struct {
        const char *first, *rest, *text;
    } cases[] = {
        {TILTED "rotate: yes\nend: 0.1\n", "rotate: no\n",
         "rotate: the grid is that of the initial record, which is rotated: leave it out"},
        {TILTED "end: 0.1\n", "rotate: yes\n",
         "rotate: the grid is that of the initial record, which is not rotated: leave it out"},
    };
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    (void)run_text(cases[_i].first, "first");
    ck_assert_int_eq(try_problem(from("first", cases[_i].rest), &problem, &error), GBEES_EINPUT);
    ck_assert_msg(strstr(error.text, cases[_i].text) != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "f.yaml:") != NULL, "%s", error.text);
    ck_assert_ptr_null(problem);
}
END_TEST

/* What a scenario file says of its own density is not meant for the record that another source asks for. */
START_TEST(the_records_source_decides)
{
    gbees_scenario *scenario = NULL, *other = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_create("initial: {file: /first}\n", "f.yaml", &scenario, &error), 0);
    ck_assert_int_eq(gbees_scenario_create(TILTED "rotate: yes\nend: 1\n", "g.yaml", &other, &error), 0);
    ck_assert_int_eq(gbees_scenario_merge(scenario, other, &error), 0);
    ck_assert_ptr_null(strstr(gbees_scenario_text(scenario), "rotate"));
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "threshold"));
    gbees_scenario_destroy(scenario);
    gbees_scenario_destroy(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame_initial");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_frame_is_that_of_the_mixture);
    tcase_add_test(tcase, parts_along_the_axes_are_exact);
    tcase_add_test(tcase, without_correlations_nothing_is_turned);
    tcase_add_loop_test(tcase, it_begins_with_the_mixture, 0, 2);
    tcase_add_test(tcase, as_on_a_grid_that_is_not_turned);
    tcase_add_loop_test(tcase, a_records_frame_is_kept, 0, 2);
    tcase_add_loop_test(tcase, a_record_cant_be_turned, 0, 2);
    tcase_add_test(tcase, the_records_source_decides);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
