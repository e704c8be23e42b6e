/* test_initial_records.c - initial densities that are records of earlier runs. */
#include "fixtures/initial_fixture.h"
#include "fixtures/suite.h"

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
        {"last", "factor: 1", "f.yaml:2:9: factor: the grid is that of the initial record: leave it out"},
        {"last", "end: 1.4", "f.yaml:2:6: end: expected a time after the start (1.4), found '1.4'"},
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
    ck_assert_msg(strstr(error.text, "f.yaml:1:") && strstr(error.text, ": initial: record: "), "%s", error.text);
    forget(&whole);
}
END_TEST

/* With a change of grid at t = 0.2: its record is of the grid before, the next one of the other. A run that goes on
 * from either begins at the record's time, with the record's grid, and changes it only if the record is not later. */
START_TEST(the_grid_is_changed_once)
{
    static const char change[] = "records: 2\nmeasurements: []\nprecision: double\ntime_step: 0.002\n"
                                 "threshold: 1.0e-7\nregrid: [{time: 0.2, factor: [2, 1, 0.5]}]\n";
    char text[TEXT], more[512];

    (void)snprintf(more, sizeof more, "%send: 0.4\n", change);
    run whole = run_text(more, "changed");
    gbees_problem *first = problem_of(from_record(text, sizeof text, "changed", "1", more));
    ck_assert_double_eq(first->start, 0.2);
    ck_assert_double_eq(first->width[0], 0.5);
    ck_assert_double_eq(first->mean[0], -11.5);
    ck_assert_int_eq(first->regrid_count, 1);
    gbees_problem_destroy(first);
    (void)snprintf(more, sizeof more, "%send: 0.4\nrecords: 1", change + strlen("records: 2\n"));
    run rest = run_text(from_record(text, sizeof text, "changed", "1", more), NULL);
    ck_assert_int_eq(rest.count, 2);
    ck_assert_double_eq(rest.record[0].time, 0.2);
    ck_assert_uint_eq(rest.record[0].count, whole.record[1].count);
    ck_assert_double_lt(distance(&rest.record[1], &whole.record[2]), 2 * (1 - total(&whole.record[1])));
    forget(&rest);

    (void)snprintf(more, sizeof more, "%send: 0.6\n", change);
    gbees_problem *second = problem_of(from_record(text, sizeof text, "changed", "last", more));
    ck_assert_double_eq(second->start, 0.4);
    ck_assert_double_eq(second->width[0], 0.25);
    ck_assert_double_eq(second->width[1], 0.5);
    ck_assert_double_eq(second->width[2], 1);
    ck_assert_double_eq(second->mean[0], -11.625);
    ck_assert_double_eq(second->mean[2], 9.75);
    ck_assert_int_eq(second->regrid_count, 0);
    gbees_problem_destroy(second);
    rest = run_text(from_record(text, sizeof text, "changed", "last", more), NULL);
    ck_assert_int_eq(rest.count, 3);
    ck_assert_double_eq(rest.record[0].time, 0.4);
    ck_assert_uint_eq(rest.record[0].count, whole.record[2].count);
    forget(&rest);
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
    ck_assert_int_eq(gbees_cells_finish(cells, 1, NULL), 0);
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
    Suite *suite = suite_create("initial records");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, open_model, close_model);
    tcase_add_loop_test(all, a_run_goes_on, 0, 2);
    tcase_add_test(all, cells_are_the_records);
    tcase_add_test(all, the_grid_and_the_time_are_the_records);
    tcase_add_test(all, the_grid_is_changed_once);
    tcase_add_loop_test(all, other_records_are_refused, 0, 5);
    tcase_add_test(all, paths_are_those_of_the_scenarios_folder);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
