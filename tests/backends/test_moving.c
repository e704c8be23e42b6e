/* test_moving.c - grids that move: exact answers of `linear`, the same bits for any number of threads, the CUDA
 * kernels on threads beside the CPU, and what is refused. */
#include "fixtures/kalman.h"
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

/* ---- against exact answers ------------------------------------------------------------------------------------- */

/* The drift is affine, so that nothing is left of it in the frame, however long the steps are: with two cells a
 * deviation what is off is what p* leaves out. An update with a narrow likelihood needs three. */
START_TEST(linear_drift_is_exact)
{
    kalman_result coarse, fine;
    gbees_error error;
    char text[128];

    (void)snprintf(text, sizeof text, "frame: moving\nextent: 5\nthreshold: %s\n", _i < 3 ? "1.0e-9" : "1.0e-8");
    ck_assert_msg(kalman_run(_i + 1, 1, text, 2, &coarse, &error) == 0, "%s", error.text);
    ck_assert_msg(kalman_run(_i + 1, 1.5, text, 2, &fine, &error) == 0, "%s", error.text);
    ck_assert_double_lt(coarse.predicted.mean, 1e-4);
    ck_assert_double_lt(coarse.predicted.covariance, 1e-3);
    ck_assert_double_lt(fine.updated.mean, 1e-3);
    ck_assert_double_lt(fine.updated.covariance, 5e-3);
    ck_assert_double_lt(fine.evidence, 1e-3);
}
END_TEST

/* The same of many cells. */
START_TEST(linear_drift_of_many_states)
{
    kalman_result found;
    gbees_error error;

    ck_assert_msg(kalman_run(_i, 1, "frame: moving\nextent: 4.5\nthreshold: 1.0e-8\n", 2, &found, &error) == 0, "%s",
                  error.text);
    ck_assert_double_lt(found.predicted.mean, 1e-3);
    ck_assert_double_lt(found.predicted.covariance, 2e-3);
}
END_TEST

/* ---- against other runs ---------------------------------------------------------------------------------------- */

#define LORENZ                                                                                                       \
    "frame=moving", "accuracy=0", "threshold=1e-4", "factor=0.8", "end=0.6", "records=3", "scheme=split5",           \
        "measurements=[{time: 0.3, function: z, value: [-5], covariance: [1]}]"

static const a_case lorenz = {"lorenz63", "shim", {LORENZ}};

START_TEST(threads_change_no_bit)
{
    kept_run *one = run_with(&lorenz, "cpu", 1, 0), *two = run_with(&lorenz, "cpu", 2, 1);

    ck_assert_int_gt(one->count, 4);
    compare_bits(one, two);
    forget(one);
    forget(two);
}
END_TEST

/* Sums are added in another order. */
START_TEST(cuda_kernels_agree)
{
    if (!is_built("shim"))
        return;
    kept_run *cpu = run_on(&lorenz, "cpu"), *cuda = run_on(&lorenz, "shim");

    ck_assert_int_eq(cpu->count, cuda->count);
    const gbees_record_frame *own = &cpu->record[0].record.frame, *other = &cuda->record[0].record.frame;
    ck_assert_double_gt(own->rate, 0); /* of the same grid: that of velocities at its cells' centres */
    ck_assert_double_eq_tol(own->rate, other->rate, 1e-4 * own->rate);
    ck_assert_double_eq_tol(own->rate_at_rest, other->rate_at_rest, 1e-5 * own->rate_at_rest);
    for (int k = 0; k < cpu->count; k++) {
        const gbees_statistics *a = &cpu->record[k].record.statistics, *b = &cuda->record[k].record.statistics;

        for (int j = 0; j < 3; j++)
            ck_assert_double_eq_tol(a->mean[j], b->mean[j], 1e-3 * sqrt(b->covariance[4 * j]));
        ck_assert_double_eq_tol(a->mass, b->mass, 1e-3);
    }
    ck_assert_double_eq_tol(cpu->evidence[0].log_evidence, cuda->evidence[0].log_evidence, 1e-3);
    forget(cpu);
    forget(cuda);
}
END_TEST

/* ---- records --------------------------------------------------------------------------------------------------- */

/* A record's cells are where its problem says: their mean is that of the statistics, but for the cells below p*. */
START_TEST(records_have_the_grid_of_their_time)
{
    kept_run *run = run_with(&lorenz, "cpu", 1, 1);

    for (int k = 0; k < run->count; k++) {
        const kept_record *record = &run->record[k];
        const gbees_statistics *found = &record->record.statistics;
        double mean[3] = {0}, sum = 0;

        ck_assert_int_eq(record->problem.moving, 1);
        ck_assert_double_ge(record->record.frame.bend, 1);
        ck_assert_double_gt(record->record.frame.growth, 0);
        for (size_t i = 0; i < record->count; i++) {
            double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

            for (size_t j = 0; j < 3; j++)
                y[j] = record->index[j * record->count + i];
            gbees_problem_point(&record->problem, y, x);
            for (int j = 0; j < 3; j++)
                mean[j] += record->p[i] * x[j];
            sum += record->p[i];
        }
        ck_assert_double_gt(sum, 0.98);
        for (int j = 0; j < 3; j++)
            ck_assert_double_eq_tol(mean[j] / sum, found->mean[j], 0.02 * sqrt(found->covariance[4 * j]));
    }
    forget(run);
}
END_TEST

/* An empty list of regrids is none. */
START_TEST(no_regrids_are_taken)
{
    static const a_case empty = {"lorenz63", "cpu", {LORENZ, "regrid=[]", "end=0.1", "records=1"}};
    kept_run *run = run_on(&empty, "cpu");

    ck_assert_int_eq(run->count, 2);
    forget(run);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static const struct refusal {
    const char *model, *setting, *text;
} refusals[] = {
    {"lorenz63", "time_step=0.01", "time_step: a grid that moves has no 'time_step'"},
    {"lorenz63", "regrid=auto", "regrid: a grid that moves has no 'regrid'"},
    {"lorenz63", "mode=paper", "mode: a grid that moves has no 'mode'"},
    {"pcr3bp", "bound=on", "bound: a grid that moves has no 'bound'"},
    {"lorenz63", "initial=[{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [9, 0, 0], covariance: [1, 1, 1]}]",
     "initial: a grid that moves follows one Gaussian"},
    {"lorenz63", "frame_cells=1.5", "frame_cells: expected at least the 2 cells a standard deviation"},
    {"lorenz63", "factor=10",
     "frame_cells: expected at least the 20 cells a standard deviation"}, /* K: its default */
};

START_TEST(what_a_moving_grid_has_not)
{
    const struct refusal *r = &refusals[_i];
    const setting_list settings = {"frame=moving", "factor=1", r->setting};
    world w;

    ck_assert_int_eq(world_open(&w, open_registry(), r->model, "cpu"), GBEES_OK);
    ck_assert_int_eq(scenario_make(w.model, &(scenario_source){.settings = settings}, &w.scenario, &w.error),
                     GBEES_OK);
    ck_assert_int_eq(gbees_problem_create(w.model, w.scenario, &w.problem, &w.error), GBEES_EINPUT);
    ck_assert_msg(strstr(w.error.text, r->text) != NULL, "%s", w.error.text);
    world_close(&w);
}
END_TEST

/* ---- densities that a frame can't follow ----------------------------------------------------------------------- */

/* Errors and warnings, and never a result without either. */
static const struct difficulty {
    const char *setting[2], *text; /* of the error; NULL: the run ends with this warning */
    unsigned warning;
} difficulties[] = {
    {{"threshold=0.3", "end=0.3"}, "nothing is left of the density", 0},
    {{"covariance=[1e-30, 1, 1]", "end=0.1"}, "so thin along a direction that the rounding of the states", 0},
    {{"threshold=0.004", "end=1"}, "the result is meaningless", 0},
    {{"parameters.sigma=1e300", "end=0.1"}, "is not finite near", 0},
    {{"frame_cells=2", "end=0.8"}, NULL, GBEES_WARNING_FRAME_CELLS},
};

START_TEST(difficult_densities)
{
    const struct difficulty *d = &difficulties[_i];
    const a_case of = {"lorenz63",
                       "cpu",
                       {"frame=moving", "accuracy=0", "factor=1", "threshold=1e-4", "scheme=split5", "records=1",
                        "measurements=[]", d->setting[0], d->setting[1]}};
    kept_run *run = try_run(&of, "cpu");

    if (d->text) {
        ck_assert_int_ne(run->status, GBEES_OK);
        ck_assert_msg(strstr(run->error.text, d->text) != NULL, "%s", run->error.text);
    } else {
        ck_assert_msg(run->status == GBEES_OK, "%s", run->error.text);
        ck_assert_uint_eq(run->record[run->count - 1].record.warnings & d->warning, d->warning);
        ck_assert_int_gt(run->record[run->count - 1].record.frame.limited, 0);
    }
    forget(run);
}
END_TEST

/* Across a jump of the drift, which no affine field follows, the density falls into halves that go apart: there is a
 * warning, and the moments are right. */
START_TEST(a_drift_with_a_jump)
{
    static const a_case of = {"advect",
                              "cpu",
                              {"dimension=2", "frame=moving", "accuracy=0", "threshold=1e-6", "end=1", "records=1",
                               "factor=1", "parameters={a1: 0, jump: 2}"}};
    kept_run *run = run_on(&of, "cpu");
    const kept_record *last = &run->record[run->count - 1];
    const double *found = last->record.statistics.covariance;
    const double half_normal = sqrt(8 / M_PI); /* 2 E|x| of a standard Gaussian */

    ck_assert_uint_eq(last->record.warnings & GBEES_WARNING_JUMP, GBEES_WARNING_JUMP);
    ck_assert_double_eq_tol(found[0], 1 + 4 + 2 * half_normal, 0.2);
    ck_assert_double_eq_tol(found[3], 1, 0.02);
    ck_assert_double_gt(last->record.statistics.mass, 0.999);
    forget(run);
}
END_TEST

/* What moves with an affine drift has nothing left to do; at rest all of it would. */
START_TEST(records_tell_what_the_frame_gains)
{
    static const a_case of = {"linear",
                              "cpu",
                              {"dimension=2", "mean=[2, 2]", "covariance=[0.25, 0.25]", "frame=moving", "factor=1",
                               "threshold=1e-6", "end=1", "records=2", "measurements=[]"}};
    kept_run *run = run_on(&of, "cpu");

    for (int k = 1; k < run->count; k++) {
        ck_assert_double_lt(run->record[k].record.frame.rate, 1e-6 * run->record[k].record.frame.rate_at_rest);
        ck_assert_uint_eq(run->record[k].record.warnings & (GBEES_WARNING_FRAME_CELLS | GBEES_WARNING_FRAME_COST), 0);
    }
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moving");
    TCase *tests = tcase_create("all"), *many = add_long_case(suite, "many states", 300);

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, linear_drift_is_exact, 0, 4);
    tcase_add_test(tests, threads_change_no_bit);
    tcase_add_test(tests, cuda_kernels_agree);
    tcase_add_test(tests, records_have_the_grid_of_their_time);
    tcase_add_test(tests, no_regrids_are_taken);
    tcase_add_loop_test(tests, what_a_moving_grid_has_not, 0, (int)(sizeof refusals / sizeof *refusals));
    tcase_add_loop_test(tests, difficult_densities, 0, (int)(sizeof difficulties / sizeof *difficulties));
    tcase_add_test(tests, a_drift_with_a_jump);
    tcase_add_test(tests, records_tell_what_the_frame_gains);
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(many, linear_drift_of_many_states, 5, 6);
    return run_suite(suite);
}
