/* test_initial.c - initial densities that are not one Gaussian: mixtures, cell by cell, and records of earlier runs.
 */
#include "results_fixture.h"
#include <math.h>

enum { MOST = 12, TEXT = 8192 };

/* ---- runs, and what is kept of them ---- */

typedef struct kept {
    size_t count;
    int32_t *index[3];
    double *p;
    double time;
} kept;

typedef struct run {
    gbees_writer *writer; /* or NULL */
    int count, updates;
    kept record[MOST];
    double log_evidence[MOST];
} run;

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    run *r = context;
    kept *to = &r->record[r->count++];
    size_t count = gbees_cells_count(record->cells);

    ck_assert_int_le(r->count, MOST);
    *to = (kept){.count = count, .time = record->time, .p = malloc(count * sizeof *to->p)};
    for (int j = 0; j < 3; j++)
        to->index[j] = malloc(count * sizeof *to->index[j]);
    gbees_cells_copy(record->cells, 0, count, to->index, to->p);
    return r->writer ? gbees_writer_record(r->writer, record, error) : GBEES_OK;
}

static int keep_update(void *context, const gbees_problem *problem, int number, double time,
                       const gbees_evidence *evidence, gbees_error *error)
{
    run *r = context;

    (void)problem, (void)number, (void)time, (void)error;
    r->log_evidence[r->updates++] = evidence->log_evidence;
    return GBEES_OK;
}

static void forget(run *r)
{
    for (int k = 0; k < r->count; k++) {
        for (int j = 0; j < 3; j++)
            free(r->record[k].index[j]);
        free(r->record[k].p);
    }
}

static gbees_registry *registry;
static const gbees_model *lorenz63;

static void open_model(void)
{
    gbees_error error;

    set_up();
    ck_assert_int_eq(gbees_registry_create(NULL, &registry, &error), 0);
    ck_assert_msg(gbees_registry_model(registry, "lorenz63", &lorenz63, &error) == 0, "%s", error.text);
}

static void close_model(void)
{
    gbees_registry_destroy(registry);
    tear_down();
}

/* A scenario's text over the model's own; settings[0 ..] up to NULL. */
static int try_problem(const char *text, const char *const *settings, gbees_problem **problem, gbees_error *error)
{
    gbees_scenario *scenario = NULL, *defaults = NULL;
    int status = gbees_scenario_create(text, "f.yaml", &scenario, error);

    for (; !status && settings && *settings; settings++)
        status = gbees_scenario_set(scenario, *settings, error);
    if (!status)
        status = gbees_scenario_create(lorenz63->scenarios[0].text, "defaults", &defaults, error);
    if (!status)
        status = gbees_scenario_merge(scenario, defaults, error);
    if (!status)
        status = gbees_problem_create(lorenz63, scenario, problem, error);
    gbees_scenario_destroy(defaults);
    gbees_scenario_destroy(scenario);
    return status;
}

static gbees_problem *problem_of(const char *text)
{
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    ck_assert_msg(try_problem(text, NULL, &problem, &error) == 0, "%s", error.text);
    return problem;
}

/* Written to a folder of that name below `base` unless it is NULL. */
static run run_text(const char *text, const char *name)
{
    gbees_problem *problem = problem_of(text);
    const gbees_backend *cpu = NULL;
    gbees_solver *solver = NULL;
    gbees_error error = {0};
    char path[sizeof base + 64];
    run r = {0};

    if (name) {
        (void)snprintf(path, sizeof path, "%s/%s", base, name);
        ck_assert_int_eq(gbees_writer_create(path, problem, &provenance, &r.writer, &error), 0);
    }
    ck_assert_int_eq(gbees_registry_backend(registry, "cpu", &cpu, &error), 0);
    int status = gbees_solver_create(problem, cpu, &(gbees_engine_options){.threads = 1}, &solver, &error);
    if (!status)
        status =
            gbees_solver_run(solver, &(gbees_observer){.context = &r, .record = keep, .update = keep_update}, &error);
    ck_assert_msg(status == 0, "%s", error.text);
    gbees_solver_destroy(solver);
    gbees_writer_destroy(r.writer);
    r.writer = NULL;
    gbees_problem_destroy(problem);
    return r;
}

/* Sum of |p - q| over the cells of either; both are in order. */
static double distance(const kept *a, const kept *b)
{
    double sum = 0;
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : 0;

        for (int j = 0; j < 3 && order == 0; j++)
            order = (a->index[j][i] > b->index[j][k]) - (a->index[j][i] < b->index[j][k]);
        sum += order < 0 ? a->p[i] : order > 0 ? b->p[k] : fabs(a->p[i] - b->p[k]);
        i += order <= 0;
        k += order >= 0;
    }
    return sum;
}

static double total(const kept *k)
{
    double sum = 0;

    for (size_t i = 0; i < k->count; i++)
        sum += k->p[i];
    return sum;
}

/* ---- mixtures ---- */

#define TWO                                                                                                          \
    "initial:\n  - {weight: 3, mean: [-11.5, -10, 9.5], covariance: [1, 1, 1]}\n"                                    \
    "  - {mean: [-3.7, -9, 8], covariance: [0.25, 0.49, 1]}\n"

START_TEST(moments_and_boxes_of_a_mixture)
{
    gbees_problem *problem = problem_of(TWO "width: 0.5");
    const gbees_gaussian *g = problem->gaussians;
    double off[] = {7.8, 1, -1.5};

    ck_assert_int_eq(problem->gaussian_count, 2);
    ck_assert_double_eq(g[0].weight, 0.75);
    ck_assert_double_eq(g[1].weight, 0.25);
    for (int j = 0; j < 3; j++) {
        ck_assert_double_eq_tol(problem->mean[j], g[0].mean[j] + 0.25 * off[j], 1e-14);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(problem->covariance[3 * j + k],
                                    0.75 * g[0].covariance[3 * j + k] + 0.25 * g[1].covariance[3 * j + k] +
                                        0.75 * 0.25 * off[j] * off[k],
                                    1e-13);
    }
    /* Along x from the mean, in cells: -3.9 - 6 .. -3.9 + 6, and 11.7 - 3 .. 11.7 + 3. */
    ck_assert(g[0].lo[0] == -10 && g[0].hi[0] == 2);
    ck_assert(g[1].lo[0] == 9 && g[1].hi[0] == 15);
    ck_assert_int_eq(problem->extent[0], 15);
    gbees_problem_destroy(problem);
    /* Without a width the mixture's deviations say it. */
    problem = problem_of(TWO);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(problem->width[j], sqrt(problem->covariance[4 * j]) / 2, 1e-14);
    gbees_problem_destroy(problem);
}
END_TEST

static double share(const gbees_problem *problem, const gbees_gaussian *g, int axis, int index)
{
    double x = problem->mean[axis] + problem->width[axis] * index - g->mean[axis], half = problem->width[axis] / 2;
    double scale = sqrt(2 * g->covariance[4 * axis]);

    return 0.5 * (erf((x + half) / scale) - erf((x - half) / scale));
}

/* The mixture's mass in a cell, if that is in one of the boxes. */
static double mass_of(const gbees_problem *problem, const int *index)
{
    double mass = 0;
    int inside = 0;

    for (int k = 0; k < problem->gaussian_count; k++) {
        const gbees_gaussian *g = &problem->gaussians[k];
        double product = g->weight;
        int in = 1;

        for (int j = 0; j < 3; j++) {
            product *= share(problem, g, j, index[j]);
            in = in && g->lo[j] <= index[j] && index[j] <= g->hi[j];
        }
        mass += product;
        inside |= in;
    }
    return inside ? mass : 0;
}

START_TEST(cells_of_a_mixture_hold_its_mass)
{
    static const char text[] = TWO "width: [0.5, 0.6, 0.7]\nprecision: double\nthreshold: 1.0e-12\nend: 0.001\n"
                                   "records: 1\nmeasurements: []";
    gbees_problem *problem = problem_of(text);
    run r = run_text(text, NULL);
    const kept *first = &r.record[0];
    double sum = 0;
    size_t found = 0;
    int index[3];

    for (int pass = 0; pass < 2; pass++) /* the sum over the union of the boxes, then each cell */
        for (index[0] = -problem->extent[0]; index[0] <= problem->extent[0]; index[0]++)
            for (index[1] = -problem->extent[1]; index[1] <= problem->extent[1]; index[1]++)
                for (index[2] = -problem->extent[2]; index[2] <= problem->extent[2]; index[2]++) {
                    double mass = mass_of(problem, index);

                    sum += pass ? 0 : mass;
                    if (!pass || mass / sum < 1e-11)
                        continue;
                    while (found < first->count &&
                           (first->index[0][found] != index[0] || first->index[1][found] != index[1] ||
                            first->index[2][found] != index[2]))
                        ck_assert_double_lt(first->p[found++], 1e-11);
                    ck_assert_uint_lt(found, first->count);
                    ck_assert_double_eq_tol(first->p[found++], mass / sum, 1e-13);
                }
    ck_assert_double_gt(sum, 0.97); /* what three deviations hold, along three axes */
    forget(&r);
    gbees_problem_destroy(problem);
}
END_TEST

/* A mixture of one is that one; of two halves, too. */
START_TEST(a_mixture_of_one_is_a_gaussian)
{
    static const char *const covariances[] = {"[1, 1, 1]", "[[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]]"};
    static const char rest[] = "precision: double\nthreshold: 1.0e-9\nend: 0.01\nrecords: 1\nmeasurements: []\n";
    const char *c = covariances[_i / 2], *values = _i % 2 ? "points" : "averages";
    char text[3][1024];

    (void)snprintf(text[0], sizeof text[0], "mean: [-11.5, -10, 9.5]\ncovariance: %s\ncell_values: %s\n%s", c, values,
                   rest);
    (void)snprintf(text[1], sizeof text[1],
                   "initial: [{weight: 0.2, mean: [-11.5, -10, 9.5], covariance: %s}]\ncell_values: %s\n%s", c,
                   values, rest);
    (void)snprintf(text[2], sizeof text[2],
                   "initial: [{mean: [-11.5, -10, 9.5], covariance: %s}, {mean: [-11.5, -10, 9.5], covariance: "
                   "%s}]\ncell_values: %s\n%s",
                   c, c, values, rest);
    run plain = run_text(text[0], NULL);
    for (int k = 1; k < 3; k++) {
        run mixed = run_text(text[k], NULL);

        ck_assert_int_eq(mixed.count, plain.count);
        for (int i = 0; i < plain.count; i++) {
            ck_assert_uint_eq(mixed.record[i].count, plain.record[i].count);
            ck_assert_double_lt(distance(&mixed.record[i], &plain.record[i]), 1e-11);
        }
        forget(&mixed);
    }
    forget(&plain);
}
END_TEST

/* What lies between two Gaussians takes no memory, and the estimate knows. */
START_TEST(boxes_far_apart)
{
    gbees_problem *near = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [1, 1, 1], "
                                     "covariance: [1, 1, 1]}]\nwidth: 0.5"),
                  *far = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [4000, 4000, 4000], "
                                    "covariance: [1, 1, 1]}]\nwidth: 0.5");
    const gbees_backend *cpu = NULL;
    gbees_engine *engine = NULL;
    gbees_totals totals;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_registry_backend(registry, "cpu", &cpu, &error), 0);
    ck_assert_double_lt(cpu->estimate(far), 4 * cpu->estimate(near));
    ck_assert_msg(cpu->create(far, &(gbees_engine_options){.threads = 1}, &engine, &error) == 0, "%s", error.text);
    cpu->totals(engine, &totals);
    ck_assert_double_le((double)totals.peak_bytes, cpu->estimate(far));
    cpu->destroy(engine);
    ck_assert_uint_eq(gbees_warnings(near, NULL), 0);
    gbees_problem_destroy(near);
    gbees_problem_destroy(far);
    near = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [9, 0, 0], covariance: [0.01, 1, "
                      "1]}]\nwidth: 0.5\nextent: 2");
    ck_assert_uint_eq(gbees_warnings(near, NULL), GBEES_WARNING_BOX | GBEES_WARNING_WIDTH);
    gbees_problem_destroy(near);
}
END_TEST

/* ---- records ---- */

static char *from_record(char *text, size_t size, const char *name, const char *record, const char *more)
{
    (void)snprintf(text, size, "initial: {file: %s/%s, record: %s}\n%s", base, name, record, more);
    return text;
}

/* A run that goes on from a record, against one that was not cut: it lacks what was below p* there, and no more than
 * that comes of it, if the steps are the same (by the Courant number they depend on the bricks that are there). With
 * a smaller p* it lacks less. From the record after an update, and from the one before it. */
START_TEST(a_run_goes_on)
{
    static const char *const thresholds[] = {"threshold: 5.0e-6\n", "threshold: 1.0e-7\n"};
    double apart[2];

    for (int k = 0; k < 2; k++) {
        char text[TEXT], more[256], name[16];

        (void)snprintf(more, sizeof more, "%send: 1.4\nrecords: 2\ntime_step: 0.001\n", thresholds[k]);
        (void)snprintf(name, sizeof name, "whole%d", k);
        run whole = run_text(more, name);
        ck_assert_int_eq(whole.count, 6);
        run rest = run_text(from_record(text, sizeof text, name, _i ? "2" : "leg1_record0", more), NULL);
        /* Before the update there is a record of the start, too; after it the update is done. */
        ck_assert_int_eq(rest.count, _i ? 4 : 3);
        ck_assert_int_eq(rest.updates, _i ? 1 : 0);
        const int cut = _i ? 2 : 3;
        const double lost = 1 - total(&whole.record[cut]);
        ck_assert_double_gt(lost, 0);
        for (int i = cut; i < whole.count; i++) {
            ck_assert_double_eq(rest.record[i - cut].time, whole.record[i].time);
            apart[k] = distance(&rest.record[i - cut], &whole.record[i]);
            ck_assert_double_lt(apart[k], 2 * lost); /* what is not there, and what that is spread over */
        }
        if (_i)
            ck_assert_double_eq_tol(rest.log_evidence[0], whole.log_evidence[0], 2 * lost);
        forget(&rest);
        forget(&whole);
    }
    ck_assert_double_lt(apart[1], 0.2 * apart[0]);
}
END_TEST

/* In double, the cells themselves are the record's, but for the sum that they had. */
START_TEST(cells_are_the_records)
{
    char text[TEXT];
    run whole = run_text("precision: double\nend: 0.4\nrecords: 1\nmeasurements: []", "double");
    run rest = run_text(from_record(text, sizeof text, "double", "last",
                                    "precision: double\nend: 0.41\nrecords: 1\nmeasurements: []"),
                        NULL);
    const kept *a = &whole.record[1], *b = &rest.record[0];

    ck_assert_double_eq(b->time, 0.4);
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        for (int j = 0; j < 3; j++)
            ck_assert_int_eq(a->index[j][i], b->index[j][i]);
        ck_assert_double_eq_tol(b->p[i], a->p[i] / total(a), 1e-14);
    }
    forget(&whole);
    forget(&rest);
}
END_TEST

/* What is known of the run comes along, what was meant for another start does not. */
START_TEST(the_grid_and_the_time_are_the_records)
{
    gbees_problem *problem;
    gbees_error error = {0};
    char text[TEXT], path[sizeof base + 64];
    run whole = run_text("end: 1.4\nrecords: 2\nfactor: 0.8", "whole");

    problem = problem_of(from_record(text, sizeof text, "whole", "0", ""));
    ck_assert_double_eq(problem->start, 0);
    ck_assert_int_eq(problem->measurement_count, 1);
    ck_assert_double_eq(problem->width[0], 1 / 1.6);
    ck_assert_double_eq(problem->mean[2], 9.5);
    ck_assert_double_eq_tol(problem->covariance[0], 1, 0.1);
    gbees_problem_destroy(problem);
    problem = problem_of(from_record(text, sizeof text, "whole", "2", "")); /* leg0_record2: not updated */
    ck_assert_double_eq(problem->start, 1);
    ck_assert_int_eq(problem->measurement_count, 1);
    gbees_problem_destroy(problem);
    problem = problem_of(from_record(text, sizeof text, "whole", "leg1_record0", ""));
    ck_assert_double_eq(problem->start, 1);
    ck_assert_int_eq(problem->measurement_count, 0);
    gbees_problem_destroy(problem);
    problem = problem_of(from_record(text, sizeof text, "whole", "last", "start: 0"));
    ck_assert_double_eq(problem->start, 0);
    gbees_problem_destroy(problem);
    /* A record's own file. */
    (void)snprintf(text, sizeof text, "initial: {file: %s/whole/leg1_record1.h5}", base);
    problem = problem_of(text);
    ck_assert_double_eq_tol(problem->start, 1.2, 1e-12);
    gbees_problem_destroy(problem);
    static const struct {
        const char *record, *more, *error;
    } refused[] = {
        {"6", "", "initial: record: there is no record 6 in "},
        {"leg3_record0", "", "leg3_record0.h5: No such file or directory"},
        {"first", "", "expected 'last', a number from 0 or a name as 'leg1_record0', found 'first'"},
        {"last", "factor: 1", "f.yaml:2: factor: the grid is that of the initial record: leave it out"},
        {"last", "end: 1.4", "f.yaml:2: end: expected a time after the start (1.4), found '1.4'"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        from_record(text, sizeof text, "whole", refused[i].record, refused[i].more);
        ck_assert_int_eq(try_problem(text, NULL, &problem, &error), GBEES_EINPUT);
        ck_assert_msg(strstr(error.text, refused[i].error), "%s", error.text);
    }
    (void)snprintf(text, sizeof text, "initial: {file: %s/whole/leg1_record1.h5, record: last}", base);
    ck_assert_int_eq(try_problem(text, NULL, &problem, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "is no folder with several: leave it out"));
    /* Half a file. */
    (void)snprintf(path, sizeof path, "%s/whole/leg1_record1.h5", base);
    ck_assert_int_eq(truncate(path, 5000), 0);
    ck_assert_int_eq(try_problem(from_record(text, sizeof text, "whole", "leg1_record1", ""), NULL, &problem, &error),
                     GBEES_EINPUT);
    ck_assert_msg(strstr(error.text, "f.yaml:1: initial: record: "), "%s", error.text);
    forget(&whole);
}
END_TEST

/* Records of another model, of other states, and of no density. */
START_TEST(other_records_are_refused)
{
    static const struct {
        const char *model, *state;
        int n;
        double p;
        const char *error;
    } made[] = {
        {"handmade", "x", 3, 0.1, "is of the model 'handmade', this is 'lorenz63'"},
        {"lorenz63", "x", 2, 0.1, "has 2 states, not 3"},
        {"lorenz63", "v", 3, 0.1, "is 'v', that of the model 'x'"},
        {"lorenz63", "x", 3, 0.9, "are not those of a density: it is damaged"},
        {"lorenz63", "x", 3, 0, "are not those of a density: it is damaged"},
    };
    const gbees_quantity named[] = {{made[_i].state, "-", ""}, {"y", "-", ""}, {"z", "-", ""}};
    gbees_problem problem = make_problem(made[_i].n), *none = NULL;
    gbees_model like = model;
    gbees_cells *cells = gbees_cells_create(made[_i].n);
    gbees_writer *writer = NULL;
    gbees_error error = {0};
    char text[TEXT], path[sizeof base + 64];

    like.name = made[_i].model;
    like.states = named;
    problem.model = &like;
    for (int32_t i = 0; i < 3; i++) {
        const int32_t *index[] = {&i, &i, &i};

        ck_assert_int_eq(gbees_cells_add(cells, 1, index, &made[_i].p), 0);
    }
    ck_assert_int_eq(gbees_cells_finish(cells, NULL), 0);
    gbees_record record = make_record(&problem, cells, 0, 0);
    (void)snprintf(path, sizeof path, "%s/other", base);
    ck_assert_int_eq(gbees_writer_create(path, &problem, &provenance, &writer, &error), 0);
    ck_assert_msg(gbees_writer_record(writer, &record, &error) == 0, "%s", error.text);
    gbees_writer_destroy(writer);
    gbees_cells_destroy(cells);
    ck_assert_int_eq(try_problem(from_record(text, sizeof text, "other", "last", ""), NULL, &none, &error),
                     GBEES_EINPUT);
    ck_assert_msg(strstr(error.text, made[_i].error), "%s", error.text);
    ck_assert_ptr_null(none);
}
END_TEST

/* ---- the scenario ---- */

/* A path is relative to the file that it stands in, and so is the same wherever the scenario is written to. */
START_TEST(paths_are_those_of_the_scenarios_folder)
{
    gbees_scenario *scenario = NULL, *again = NULL;
    gbees_error error = {0};
    char path[sizeof base + 64], wanted[sizeof base + 128];
    static const char text[] = "initial: {file: \"runs/a b\", record: 3}\n";

    (void)snprintf(path, sizeof path, "%s/s.yaml", base);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(gbees_scenario_read(path, &scenario, &error), 0);
    (void)snprintf(wanted, sizeof wanted, "initial: {file: \"%s/runs/a b\", record: \"3\"}\n", base);
    ck_assert_str_eq(gbees_scenario_text(scenario), wanted);
    ck_assert_int_eq(gbees_scenario_create(wanted, "elsewhere/t.yaml", &again, &error), 0);
    ck_assert_str_eq(gbees_scenario_text(again), wanted);
    ck_assert_int_eq(gbees_scenario_set(again, "mean=[1, 2, 3]", &error), 0); /* in its place */
    ck_assert_str_eq(gbees_scenario_text(again), "mean: [1, 2, 3]\n");
    gbees_scenario_destroy(scenario);
    gbees_scenario_destroy(again);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("initial");
    TCase *all = tcase_create("all");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, open_model, close_model);
    tcase_add_test(all, moments_and_boxes_of_a_mixture);
    tcase_add_test(all, cells_of_a_mixture_hold_its_mass);
    tcase_add_loop_test(all, a_mixture_of_one_is_a_gaussian, 0, 4);
    tcase_add_test(all, boxes_far_apart);
    tcase_add_loop_test(all, a_run_goes_on, 0, 2);
    tcase_add_test(all, cells_are_the_records);
    tcase_add_test(all, the_grid_and_the_time_are_the_records);
    tcase_add_loop_test(all, other_records_are_refused, 0, 5);
    tcase_add_test(all, paths_are_those_of_the_scenarios_folder);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
