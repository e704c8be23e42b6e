/* test_frame.c - turned grids: the frame of a covariance, functions in it, and results in the model's own axes,
 * beside those of a grid that is not rotated. */
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the frame ------------------------------------------------------------------------------------------------ */

static const struct {
    setting_list set;
    int n;
    double covariance[16];
} frames[] = {
    {{"rotate=yes", "covariance=[[2, 1], [1, 2]]"}, 2, {2, 1, 1, 2}},
    {{"rotate=yes", "covariance=[[2, -1], [-1, 2]]"}, 2, {2, -1, -1, 2}},
    {{"rotate=yes", "covariance=[[0.01, 0.05], [0.05, 9]]"}, 2, {0.01, 0.05, 0.05, 9}},
    {{"rotate=yes", "dimension=4", "covariance=[[4, 1, 0, 0.3], [1, 3, 0, 0], [0, 0, 1, 0], [0.3, 0, 0, 2]]"},
     4,
     {4, 1, 0, 0.3, 1, 3, 0, 0, 0, 0, 1, 0, 0.3, 0, 0, 2}},
};

START_TEST(the_frame_is_that_of_the_covariance)
{
    const int n = frames[_i].n;
    world w;

    world_create(&w, "linear", frames[_i].set);
    const gbees_problem *p = w.problem;
    const double *r = p->rotation;
    ck_assert_int_eq(p->rotated, 1);
    for (int j = 0; j < n; j++) {
        double largest = 0;

        for (int k = 0; k < n; k++) {
            double dot = 0, back = 0;

            for (int m = 0; m < n; m++) {
                dot += r[m * n + j] * r[m * n + k];
                back += r[j * n + m] * p->covariance[m * n + m] * r[k * n + m];
            }
            ck_assert_double_eq_tol(dot, j == k, 1e-14);
            ck_assert_double_eq_tol(back, frames[_i].covariance[j * n + k], 1e-14);
            if (j != k)
                ck_assert_double_eq(p->covariance[j * n + k], 0);
            largest = fabs(r[k * n + j]) > fabs(largest) * (1 + 1e-9) ? r[k * n + j] : largest;
        }
        ck_assert_double_gt(largest, 0);
        ck_assert_double_eq(p->mean[j], 0);
        ck_assert_double_eq(p->centre[j], 2);
        ck_assert_double_eq_tol(p->width[j], sqrt(p->covariance[j * n + j]) / 2, 1e-15);
        ck_assert_double_eq(p->parameters[GBEES_FRAME_CENTRE + j], 2);
    }
    ck_assert_mem_eq(p->parameters + GBEES_FRAME_AXES, r, (size_t)(n * n) * sizeof *r);
    world_close(&w);
}
END_TEST

/* A covariance that is nearly diagonal: its axes stay where they were, whatever the order of the eigenvalues. */
START_TEST(axes_stay_closest_to_the_models)
{
    world w;

    world_create(
        &w, "linear",
        (setting_list){"dimension=3", "rotate=yes", "covariance=[[5, 0.1, 0], [0.1, 1, 0.01], [0, 0.01, 3]]"});
    for (int j = 0; j < 3; j++)
        ck_assert_double_gt(w.problem->rotation[4 * j], 0.99);
    ck_assert_double_gt(w.problem->covariance[0], w.problem->covariance[8]);
    ck_assert_double_gt(w.problem->covariance[8], w.problem->covariance[4]);
    world_close(&w);
}
END_TEST

START_TEST(factors_go_with_the_axes)
{
    world w;

    world_create(&w, "linear",
                 (setting_list){"rotate=yes", "covariance=[[4, 1], [1, 2]]", "factor=[1, 2]", "extent=[3, 2]"});
    ck_assert_double_eq_tol(w.problem->width[0], sqrt(w.problem->covariance[0]) / 2, 1e-15);
    ck_assert_double_eq_tol(w.problem->width[1], sqrt(w.problem->covariance[3]) / 4, 1e-15);
    ck_assert_int_eq(w.problem->extent[0], 6);
    ck_assert_int_eq(w.problem->extent[1], 8);
    world_close(&w);
}
END_TEST

START_TEST(without_correlations_nothing_is_turned)
{
    world turned, plain;

    world_create(&turned, "lorenz63", (setting_list){"rotate=yes"});
    world_create(&plain, "lorenz63", (setting_list){"rotate=no"});
    ck_assert_int_eq(turned.problem->rotated, 0);
    ck_assert_mem_eq(turned.problem->mean, plain.problem->mean, sizeof plain.problem->mean);
    ck_assert_mem_eq(turned.problem->width, plain.problem->width, sizeof plain.problem->width);
    ck_assert_mem_eq(turned.problem->covariance, plain.problem->covariance, sizeof plain.problem->covariance);
    ck_assert_ptr_eq(turned.problem->functions, turned.model->functions);
    world_close(&turned);
    world_close(&plain);
}
END_TEST

START_TEST(what_is_no_covariance_is_an_error)
{
    world w;

    ck_assert_int_ne(world_try(&w, "linear", (setting_list){"rotate=yes", "covariance=[[1, 2], [2, 1]]"}), 0);
    ck_assert_msg(strstr(w.error.text, "covariance: not positive definite: its leading 2 x 2 part is not") != NULL,
                  "%s", w.error.text);
    world_close(&w);
    ck_assert_int_ne(world_try(&w, "linear", (setting_list){"rotate=maybe"}), 0);
    ck_assert_msg(strstr(w.error.text, "rotate: expected 'no' or 'yes'") != NULL, "%s", w.error.text);
    world_close(&w);
}
END_TEST

/* ---- functions in it ------------------------------------------------------------------------------------------ */

enum { POINTS = 37 };

typedef struct points {
    double origin[GBEES_MAX_DIM], offset[GBEES_MAX_DIM][POINTS], p[GBEES_PARAMETER_VALUES];
    float origin_f[GBEES_MAX_DIM], offset_f[GBEES_MAX_DIM][POINTS], p_f[GBEES_PARAMETER_VALUES];
    const double *column[GBEES_MAX_DIM];
    const float *column_f[GBEES_MAX_DIM];
} points;

static void spread(points *at, const gbees_problem *problem)
{
    const int n = problem->dimension;

    memcpy(at->p, problem->parameters, sizeof at->p);
    for (int j = 0; j < n; j++) {
        at->origin[j] = problem->mean[j];
        for (int i = 0; i < POINTS; i++) {
            at->offset[j][i] = problem->width[j] * sin(1.7 * i + j);
            at->offset_f[j][i] = (float)at->offset[j][i];
        }
        at->origin_f[j] = (float)at->origin[j];
        at->column[j] = at->offset[j];
        at->column_f[j] = at->offset_f[j];
    }
}

static void set_frame(points *at, int n, const double *centre, const double *rotation)
{
    for (int j = 0; j < n; j++)
        at->p[GBEES_FRAME_CENTRE + j] = centre ? centre[j] : 0;
    for (int k = 0; k < n * n; k++)
        at->p[GBEES_FRAME_AXES + k] = rotation ? rotation[k] : k % (n + 1) == 0;
    for (int k = 0; k < n * n; k++)
        at->p[GBEES_FRAME_INVERSE + k] = at->p[GBEES_FRAME_AXES + k % n * n + k / n];
    for (int k = 0; k < GBEES_PARAMETER_VALUES; k++)
        at->p_f[k] = (float)at->p[k];
}

static const char *const models[] = {"linear", "duffing", "lorenz63", "lorenz96", "pcr3bp", "cr3bp", "poe2bp"};

START_TEST(the_identity_changes_no_bit)
{
    world w;
    points at;
    double a[POINTS], b[POINTS];
    float a_f[POINTS], b_f[POINTS];

    world_create(&w, models[_i], (setting_list){"frame=fixed", "bound=off"});
    const gbees_functions *plain = w.problem->functions, *framed = plain->framed;
    spread(&at, w.problem);
    if (!strcmp(models[_i], "duffing"))
        at.p[2] = 0; /* its cosine is one for vectors, or not: of 0 both have the same bits */
    set_frame(&at, w.problem->dimension, NULL, NULL);
    for (int j = 0; j < w.problem->dimension; j++) {
        plain->component_d[j](POINTS, 0.3, at.origin, at.column, at.p, a);
        framed->component_d[j](POINTS, 0.3, at.origin, at.column, at.p, b);
        plain->component_f[j](POINTS, 0.3f, at.origin_f, at.column_f, at.p_f, a_f);
        framed->component_f[j](POINTS, 0.3f, at.origin_f, at.column_f, at.p_f, b_f);
        for (int i = 0; i < POINTS; i++)
            ck_assert(a[i] == b[i] && a_f[i] == b_f[i]);
    }
    ck_assert(!plain->bound_d == !framed->bound_d && !plain->measure_d == !framed->measure_d);
    if (plain->bound_d) {
        plain->bound_d(POINTS, 0, at.origin, at.column, at.p, a);
        framed->bound_d(POINTS, 0, at.origin, at.column, at.p, b);
        for (int i = 0; i < POINTS; i++)
            ck_assert(a[i] == b[i]);
    }
    world_close(&w);
}
END_TEST

/* R^T f(c + R y), by hand. */
START_TEST(drifts_are_along_the_grids_axes)
{
    world w;
    points at, to;
    double rotation[64] = {0}, f[GBEES_MAX_DIM][POINTS], out[POINTS], all[GBEES_MAX_DIM][POINTS], x[GBEES_MAX_DIM];
    double *column[GBEES_MAX_DIM], *all_column[GBEES_MAX_DIM], zero[GBEES_MAX_DIM] = {0}, centre[GBEES_MAX_DIM];

    world_create(&w, models[_i], (setting_list){"frame=fixed", "bound=off"});
    const gbees_problem *p = w.problem;
    const int n = p->dimension;
    spread(&at, p);
    to = at;
    for (int j = 0; j < n; j++) { /* a turn of the first two axes, and of the last two */
        rotation[j * n + j] = 1;
        column[j] = f[j];
        all_column[j] = all[j];
        to.column[j] = to.offset[j];
        centre[j] = p->mean[j];
        at.origin[j] = 0;
    }
    rotation[0] = rotation[n + 1] = 0.8;
    rotation[1] = -0.6;
    rotation[n] = 0.6;
    if (n > 3) {
        rotation[n * n - 1] = rotation[n * n - n - 2] = 0.28;
        rotation[n * n - 2] = -0.96;
        rotation[n * n - n - 1] = 0.96;
    }
    set_frame(&at, n, centre, rotation);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < n; j++) {
            x[j] = centre[j];
            for (int k = 0; k < n; k++)
                x[j] += rotation[j * n + k] * at.offset[k][i];
            to.offset[j][i] = x[j];
        }
    p->functions->drift_d(POINTS, 0.3, zero, to.column, p->parameters, column);
    p->functions->framed->drift_d(POINTS, 0.3, at.origin, at.column, at.p, all_column);
    for (int j = 0; j < n; j++) {
        p->functions->framed->component_d[j](POINTS, 0.3, at.origin, at.column, at.p, out);
        for (int i = 0; i < POINTS; i++) {
            double along = 0, scale = 1e-300;

            for (int k = 0; k < n; k++) {
                along += rotation[k * n + j] * f[k][i];
                scale += fabs(f[k][i]);
            }
            ck_assert_double_eq_tol(out[i], along, 1e-11 * scale);
            ck_assert_double_eq(out[i], all[j][i]);
        }
    }
    world_close(&w);
}
END_TEST

/* ---- runs ----------------------------------------------------------------------------------------------------- */

typedef struct outcome {
    gbees_statistics first, last;
    gbees_evidence evidence;
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

static int keep_evidence(void *context, const gbees_problem *problem, int number, double time,
                         const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem, (void)number, (void)time, (void)error;
    ((outcome *)context)->evidence = *evidence;
    return 0;
}

static outcome run(world *w, gbees_writer *writer)
{
    outcome out = {.writer = writer};
    const gbees_observer observer = {.context = &out, .record = keep, .update = keep_evidence};

    ck_assert_msg(!world_run(w, 1, &observer, NULL), "%s", w->error.text);
    return out;
}

#define TILTED "covariance=[[0.25, 0.18], [0.18, 0.2]]"
#define CHAIN "covariance=[[0.3, 0.2, 0], [0.2, 0.25, 0.1], [0, 0.1, 0.2]]"
#define MEASURED "measurements=[{time: 1, function: x1, value: [1.5], covariance: [0.04]}]"

enum { ON_THREADS = 5 }; /* the pair that shim has kernels for */

static const struct {
    const char *model;
    setting_list turned, plain;
    double tolerance; /* of means and deviations, in deviations */
} pairs[] = {
    {"linear",
     {TILTED, "rotate=yes", "extent=4", "factor=4", "measurements=[]", "end=2"},
     {TILTED, "extent=4", "factor=4", "measurements=[]", "end=2"},
     0.005},
    {"linear",
     {TILTED, "rotate=yes", "extent=4", "factor=4", "scheme=ctu", "measurements=[]", "end=1"},
     {TILTED, "extent=4", "factor=4", "measurements=[]", "end=1"},
     0.03},
    /* Of the update itself nothing is left; of what the boxes cut off and of what motion leaves there is less here.
     */
    {"linear",
     {TILTED, "rotate=yes", "extent=5", "factor=5", "threshold=1e-10", MEASURED, "records=1", "end=1.5"},
     {TILTED, "extent=5", "factor=5", "threshold=1e-10", MEASURED, "records=1", "end=1.5"},
     0.005},
    {"linear",
     {CHAIN, "dimension=3", "rotate=yes", "extent=4", "factor=1.5", "measurements=[]", "end=1"},
     {CHAIN, "dimension=3", "extent=4", "factor=2", "measurements=[]", "end=1"},
     0.01},
    /* The drift depends on time. */
    {"duffing",
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "rotate=yes", "extent=4", "records=1", "end=2", "factor=12"},
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "extent=4", "records=1", "end=2", "factor=12"},
     0.01},
    {"duffing",
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "rotate=yes", "extent=4", "records=1", "end=1", "factor=6"},
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "extent=4", "records=1", "end=1", "factor=6"},
     0.01},
    {"duffing",
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "rotate=yes", "extent=4", "end=1", "factor=4", "precision=double"},
     {"covariance=[[0.01, 0.008], [0.008, 0.01]]", "extent=4", "end=1", "factor=4"},
     0.01},
};

START_TEST(as_on_a_grid_that_is_not_turned)
{
    const int number = _i / BACKENDS;
    const char *backend = backend_names[_i % BACKENDS];
    world turned, plain;

    if (!is_built(backend) || (!is_cpu(backend) && number != ON_THREADS))
        return;
    world_create_on(&turned, backend, pairs[number].model, pairs[number].turned);
    world_create_on(&plain, backend, pairs[number].model, pairs[number].plain);
    ck_assert_int_eq(turned.problem->rotated, 1);
    const outcome a = run(&turned, NULL), b = run(&plain, NULL);
    const int n = plain.problem->dimension;
    for (int j = 0; j < n; j++) {
        double sigma = sqrt(b.last.covariance[j * n + j]);

        ck_assert_double_eq_tol(a.last.mean[j], b.last.mean[j], pairs[number].tolerance * sigma);
        for (int k = 0; k < n; k++) {
            double scale = sigma * sqrt(b.last.covariance[k * n + k]);

            ck_assert_double_eq_tol(a.last.covariance[j * n + k], b.last.covariance[j * n + k],
                                    3 * pairs[number].tolerance * scale);
        }
    }
    ck_assert_double_eq_tol(a.last.entropy, b.last.entropy, 0.1);
    ck_assert_double_eq_tol(a.evidence.log_evidence, b.evidence.log_evidence, 0.01);
    world_close(&turned);
    world_close(&plain);
}
END_TEST

/* The initial Gaussian in the model's axes: exact cell averages of it, cut at three deviations of the grid's axes. */
START_TEST(it_begins_with_the_covariance)
{
    static const double covariance[] = {0.25, 0.18, 0.18, 0.2};
    world w;

    world_create(&w, "linear", (setting_list){TILTED, "rotate=yes", "extent=5", "measurements=[]", "end=0.1"});
    const outcome out = run(&w, NULL);
    for (int j = 0; j < 4; j++) {
        ck_assert_double_eq_tol(out.first.covariance[j], covariance[j], 1e-5);
        ck_assert_double_eq_tol(out.first.mean[j / 2], 2, 1e-6);
    }
    world_close(&w);
}
END_TEST

/* What a reader makes of a record: cells where they are. */
START_TEST(records_know_their_frame)
{
    char folder[SCRATCH_FOLDER];
    gbees_writer *writer = NULL;
    gbees_results *results = NULL;
    gbees_snapshot *s = NULL;
    world w;

    scratch_folder_make(folder);
    world_create(&w, "linear", (setting_list){TILTED, "rotate=yes", "measurements=[]", "records=1", "end=1"});
    const gbees_provenance from = {
        .plugin_path = "linear", .scenario = "", .backend = "cpu", .device = "", .command = ""};
    ck_assert_msg(gbees_writer_create(folder, w.problem, &from, &writer, &w.error) == 0, "%s", w.error.text);
    const outcome out = run(&w, writer);
    gbees_writer_destroy(writer);
    ck_assert_msg(gbees_results_open(folder, &results, &w.error) == 0, "%s", w.error.text);
    ck_assert_msg(gbees_results_read(results, 1, &s, &w.error) == 0, "%s", w.error.text);
    ck_assert_int_eq(s->rotated, 1);
    ck_assert_mem_eq(s->rotation, w.problem->rotation, 4 * sizeof *s->rotation);
    ck_assert_mem_eq(s->origin, w.problem->centre, 2 * sizeof *s->origin);
    double sum = 0, mean[2] = {0};
    for (size_t i = 0; i < s->count; i++) {
        sum += s->p[i];
        for (int j = 0; j < 2; j++)
            mean[j] += s->p[i] * gbees_snapshot_centre(s, j, i);
    }
    for (int j = 0; j < 2; j++)
        ck_assert_double_eq_tol(mean[j] / sum, out.last.mean[j], 1e-4);
    gbees_snapshot_destroy(s);
    gbees_results_destroy(results);
    scratch_folder_remove(folder);
    world_close(&w);
}
END_TEST

/* Jacobi's constant in the frame. */
START_TEST(a_bound_is_where_the_cells_are)
{
    static const char *const tilted =
        "covariance=[[7e-9, 3e-9, 0, 0], [3e-9, 7e-9, 0, 0], [0, 0, 2.5e-8, 1e-8], [0, 0, 1e-8, 2.5e-8]]";
    world w;
    double low = INFINITY, high = -INFINITY, y[4], x[4], zero = 0, value;
    const double *column[4] = {&zero, &zero, &zero, &zero};

    world_create(
        &w, "pcr3bp",
        (setting_list){tilted, "frame=fixed", "rotate=yes", "factor=1", "extent=1", "measurements=[]", "end=0.01"});
    const gbees_problem *p = w.problem;
    ck_assert(p->rotated && p->bounded);
    for (int cell = 0; cell < 625; cell++) {
        for (int j = 0, digits = cell; j < 4; j++, digits /= 5)
            y[j] = p->width[j] * (digits % 5 - 2);
        gbees_problem_point(p, y, x);
        w.model->functions->bound_d(1, 0, x, column, p->parameters, &value);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    ck_assert_double_eq_tol(p->bound_low, low, 1e-6 * (high - low));
    ck_assert_double_eq_tol(p->bound_high, high, 1e-6 * (high - low));
    (void)run(&w, NULL);
    world_close(&w);
}
END_TEST

int main(void)
{
    const int count = sizeof models / sizeof *models;
    Suite *s = suite_create("frame");
    TCase *c = tcase_create("frame");

    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, the_frame_is_that_of_the_covariance, 0, sizeof frames / sizeof *frames);
    tcase_add_test(c, axes_stay_closest_to_the_models);
    tcase_add_test(c, factors_go_with_the_axes);
    tcase_add_test(c, without_correlations_nothing_is_turned);
    tcase_add_test(c, what_is_no_covariance_is_an_error);
    tcase_add_loop_test(c, the_identity_changes_no_bit, 0, count);
    tcase_add_loop_test(c, drifts_are_along_the_grids_axes, 0, count);
    tcase_add_loop_test(c, as_on_a_grid_that_is_not_turned, 0, (int)(BACKENDS * (sizeof pairs / sizeof *pairs)));
    tcase_add_test(c, it_begins_with_the_covariance);
    tcase_add_test(c, records_know_their_frame);
    tcase_add_test(c, a_bound_is_where_the_cells_are);
    return run_suite(s);
}
