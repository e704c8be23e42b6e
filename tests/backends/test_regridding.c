/* test_regridding.c - runs whose grid changes on the way, against exact answers and against runs that keep theirs. */
#include "fixtures/kalman.h"
#include "fixtures/regridding_fixture.h"
#include "fixtures/suite.h"

/* ---- what is exact ----------------------------------------------------------------------------------------- */

/* Of dx = A x dt + noise of covariance (1 + rise t) Q. */
typedef struct moments {
    int n;
    double a[9], q[9], rise, mean[3], covariance[9];
} moments;

static void add_slope(const moments *m, double time, double part, const moments *at, moments *sum)
{
    const int n = m->n;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double slope = m->q[j * n + k] * (1 + m->rise * time);

            for (int l = 0; l < n; l++)
                slope += m->a[j * n + l] * at->covariance[l * n + k] + at->covariance[j * n + l] * m->a[k * n + l];
            sum->covariance[j * n + k] += part * slope;
            sum->mean[j] += part * m->a[j * n + k] * at->mean[k];
        }
}

/* By the midpoint rule, with steps so short that its error does not count. */
static void integrate(moments *m, double from, double to)
{
    enum { STEPS = 4000 };
    const double step = (to - from) / STEPS;

    for (int s = 0; s < STEPS; s++) {
        const double time = from + step * s;
        moments middle = *m;

        add_slope(m, time, step / 2, m, &middle);
        const moments at = middle;
        add_slope(m, time + step / 2, step, &at, m);
    }
}

/* How far the moments of each record are from what those of the first one become: the largest difference, in
 * deviations, at record k in error[k]. */
static void find_errors(const kept_run *run, const moments *model, double *error)
{
    const gbees_statistics *first = &run->record[0].record.statistics;
    moments m = *model;

    memcpy(m.mean, first->mean, sizeof m.mean);
    memcpy(m.covariance, first->covariance, sizeof m.covariance);
    for (int k = 0; k < run->count; k++) {
        const gbees_statistics *now = &run->record[k].record.statistics;

        if (k > 0)
            integrate(&m, run->record[k - 1].record.time, run->record[k].record.time);
        error[k] = 0;
        for (int j = 0; j < m.n; j++) {
            const double sigma = sqrt(m.covariance[j * m.n + j]);

            error[k] = fmax(error[k], fabs(now->mean[j] - m.mean[j]) / sigma);
            for (int l = 0; l < m.n; l++)
                error[k] = fmax(error[k], fabs(now->covariance[j * m.n + l] - m.covariance[j * m.n + l]) /
                                              (sigma * sqrt(m.covariance[l * m.n + l])));
        }
    }
}

/* ---- exact answers ----------------------------------------------------------------------------------------- */

enum { RECORDS = 4 }; /* beside the first */

/* Records at 0, 1/4 ... 1: from t = 1/4 on cells are finer along all axes, from t = 1/2 on coarser again along one.
 */
static const struct {
    a_case c;
    moments model;
    int level[RECORDS + 1][3];
    const char *last;    /* the last grid as that of the start */
    double most, ledger; /* most: of the error without another grid */
} exact[] = {
    /* A rotation. */
    {{"linear",
      "cpu",
      {"dimension=2", "mean=[2, -1]", "covariance=[0.25, 0.16]", "threshold=1e-10", "extent=4", "end=1", "records=4",
       "measurements=[]", "parameters={diagonal: 0, upper: 1.5, lower: -1.5}", "precision=double",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2]}]"}},
     {.n = 2, .a = {0, 1.5, -1.5, 0}},
     {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 1}},
     "factor=[1, 2]",
     2e-2,
     1e-12},
    {{"linear",
      "cpu",
      {"dimension=3", "mean=[2, ...]", "covariance=[0.25, 0.16, 0.2]", "threshold=1e-9", "extent=4", "end=1",
       "records=4", "measurements=[]", "regrid=[{time: 0.5, factor: [1, 2, 1]}, {time: 0.25, factor: 2}]"}},
     {.n = 3, .a = {-0.1, 1.25, 0, -0.8, -0.1, 1.25, 0, -0.8, -0.1}},
     {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}, {0, 1, 0}},
     "factor=[1, 2, 1]",
     2e-2,
     1e-6},
    /* A drift and noise that depend on time; on threads, too. */
    {{"noise",
      "cpu",
      {"covariance=[0.25, 0.16]", "mean=[1, 2]", "threshold=1e-10", "extent=4", "end=1", "records=4",
       "parameters={growth: -0.5, shear: 1, own: 0.2, beside: 0.05, rise: 2}", "precision=double",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2]}]"}},
     {.n = 2, .a = {-0.5, 1, 0, -0.5}, .q = {0.2, 0.05, 0.05, 0.2}, .rise = 2},
     {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 1}},
     "factor=[1, 2]",
     1e-2,
     1e-12},
    {{"noise",
      "shim",
      {"covariance=[0.25, 0.16]", "mean=[1, 2]", "threshold=1e-9", "extent=4", "end=1", "records=4",
       "parameters={growth: -0.5, shear: 1, own: 0.2, beside: 0.05, rise: 2}",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [2, 1]}]"}},
     {.n = 2, .a = {-0.5, 1, 0, -0.5}, .q = {0.2, 0.05, 0.05, 0.2}, .rise = 2},
     {{0, 0}, {0, 0}, {1, 1}, {1, 0}, {1, 0}},
     "factor=[2, 1]",
     1e-2,
     1e-6},
    /* A rotated grid, with and without noise. */
    {{"noise",
      "cpu",
      {"covariance=[[0.25, 0.15], [0.15, 0.16]]", "mean=[1, 2]", "factor=2", "threshold=1e-10", "extent=4", "end=1",
       "records=4", "rotate=yes", "parameters={growth: 0.2, shear: 0.5}", "precision=double",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [2, 1]}]"}},
     {.n = 2, .a = {0.2, 0.5, 0, 0.2}},
     {{0, 0}, {0, 0}, {1, 1}, {1, 0}, {1, 0}},
     "factor=[4, 2]",
     1e-2,
     1e-12},
    {{"noise",
      "shim",
      {"covariance=[[0.25, 0.15], [0.15, 0.25]]", "mean=[1, 2]", "threshold=1e-9", "extent=4", "end=1", "records=4",
       "rotate=yes", "parameters={growth: -0.5, shear: 1, own: 0.2, beside: 0.05}",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2]}]"}},
     {.n = 2, .a = {-0.5, 1, 0, -0.5}, .q = {0.2, 0.05, 0.05, 0.2}},
     {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 1}},
     "factor=[1, 2]",
     1e-2,
     1e-6},
    /* Values at centres, by both families of schemes. */
    {{"linear",
      "cpu",
      {"dimension=2", "mean=[2, -1]", "covariance=[0.25, 0.16]", "threshold=1e-10", "extent=4", "end=1", "records=4",
       "measurements=[]", "parameters={diagonal: 0, upper: 1.5, lower: -1.5}", "cell_values=points", "factor=1.5",
       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2]}]"}},
     {.n = 2, .a = {0, 1.5, -1.5, 0}},
     {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 1}},
     "factor=[1.5, 3]",
     2e-2,
     1e-6},
    {{"linear",
      "cpu",
      {"dimension=2", "mean=[2, -1]", "covariance=[0.25, 0.16]", "threshold=1e-10", "extent=4", "end=1", "records=4",
       "measurements=[]", "parameters={diagonal: -0.3, upper: 1.5, lower: -1.5}", "scheme=split7", "factor=2",
       "precision=double", "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2]}]"}},
     {.n = 2, .a = {-0.3, 1.5, -1.5, -0.3}},
     {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 1}},
     "factor=[2, 4]",
     5e-2,
     1e-12},
};

/* The settings with another one in place of `regrid`, which is the last one; NULL: none. */
static a_case in_place_of_regrid(const a_case *c, const char *other)
{
    a_case same = *c;
    int last = 0;

    while (last + 1 < MOST_SETTINGS && c->settings[last + 1])
        last++;
    ck_assert_int_eq(strncmp(c->settings[last], "regrid=", 7), 0);
    same.settings[last] = other;
    return same;
}

START_TEST(moments_are_as_exact_as_without)
{
    const a_case *c = &exact[_i].c, same = in_place_of_regrid(c, NULL), later = in_place_of_regrid(c, exact[_i].last);
    double error[MOST_RECORDS], otherwise[MOST_RECORDS], last[MOST_RECORDS];

    if (!is_built(c->backend))
        return;
    kept_run *run = run_on(c, c->backend), *plain = run_on(&same, c->backend), *end = run_on(&later, c->backend);
    ck_assert_int_eq(run->count, RECORDS + 1);
    check_ledgers(run, exact[_i].ledger);
    check_places(run);
    check_widths(run, exact[_i].level);
    find_errors(run, &exact[_i].model, error);
    find_errors(plain, &exact[_i].model, otherwise);
    find_errors(end, &exact[_i].model, last);
    for (int k = 0; k < run->count; k++)
        ck_assert_msg(error[k] <= 1.1 * fmax(otherwise[k], last[k]) + 1e-4 && otherwise[k] < exact[_i].most,
                      "record %d: error %g; %g on the first grid, %g on the last", k, error[k], otherwise[k],
                      last[k]);
    /* Up to the first change both are the same. */
    for (int k = 0; k < 2; k++) {
        compare_cells(run, plain, k, 1e-15);
        ck_assert_mem_eq(&run->record[k].record.statistics, &plain->record[k].record.statistics,
                         sizeof(gbees_statistics));
    }
    forget(run);
    forget(plain);
    forget(end);
}
END_TEST

/* ---- when -------------------------------------------------------------------------------------------------- */

/* Records are at 0, 1/4, 1/2, 3/4 and 1; a record at a change's time still has the grid before. */
static const struct {
    const char *regrid;
    int level[RECORDS + 1][3];
} times[] = {
    {"regrid=[]", {{0}, {0}, {0}, {0}, {0}}},
    {"regrid=[{time: 0, factor: 2}]", {{0}, {1}, {1}, {1}, {1}}},
    {"regrid=[{time: -7, factor: 2}]", {{0}, {1}, {1}, {1}, {1}}},
    {"regrid=[{time: 0.5, factor: 2}]", {{0}, {0}, {0}, {1}, {1}}},
    {"regrid=[{time: 0.4, factor: 2}]", {{0}, {0}, {0}, {1}, {1}}},
    {"regrid=[{time: 0.51, factor: [0.5]}]", {{0}, {0}, {0}, {0}, {-1}}},
    {"regrid=[{time: 1, factor: 2}]", {{0}, {0}, {0}, {0}, {0}}},
    /* Factors are of the first width, in order of time, and the last of several at one record counts. */
    {"regrid=[{time: 0.75, factor: 1}, {time: 0.5, factor: 4}, {time: 0.25, factor: 2}]", {{0}, {0}, {1}, {2}, {0}}},
    {"regrid=[{time: 0.3, factor: 8}, {time: 0.45, factor: 2}]", {{0}, {0}, {0}, {1}, {1}}},
};

START_TEST(from_the_first_record_on)
{
    const a_case c = {
        "linear", "cpu", {"dimension=1", "end=1", "records=4", "measurements=[]", "factor=4", times[_i].regrid}};
    kept_run *run = run_on(&c, "cpu");

    ck_assert_int_eq(run->count, RECORDS + 1);
    check_widths(run, times[_i].level);
    check_places(run);
    check_ledgers(run, 1e-6);
    forget(run);
}
END_TEST

/* ---- the same bits ----------------------------------------------------------------------------------------- */

/* What asks for the grid that is there changes nothing. */
static const char *const idle[][2] = {
    {"regrid=[{time: 0.25, factor: 1}]", "regrid=[]"},
    {"regrid=[{time: 0, factor: [2, 1]}, {time: 0.25, factor: [2, 1]}]", "regrid=[{time: 0, factor: [2, 1]}]"},
};

START_TEST(the_same_level_changes_no_bit)
{
    const char *backend = backend_names[_i % BACKENDS];
    a_case c = {"noise",
                backend,
                {"covariance=[0.25, 0.16]", "end=0.5", "parameters={growth: -0.5, shear: 1, own: 0.2}",
                 idle[_i / BACKENDS][0]}};

    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    c.settings[3] = idle[_i / BACKENDS][1];
    kept_run *other = run_on(&c, backend);
    compare_bits(run, other);
    forget(run);
    forget(other);
}
END_TEST

/* Enough cells for both threads. */
START_TEST(threads_do_not_matter)
{
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=3", "factor=1.5", "threshold=1e-7", "end=0.1", "records=2", "measurements=[]",
                       "regrid=[{time: 0, factor: 2}, {time: 0.05, factor: [2, 4, 1]}]"}};
    kept_run *one = run_with(&c, "cpu", 1, 0), *two = run_with(&c, "cpu", 2, 0);

    ck_assert_uint_gt(one->record[1].record.statistics.cells_raw, 65536);
    ck_assert_uint_gt(one->record[2].record.statistics.cells_raw, 65536);
    ck_assert_int_eq(two->totals.threads, 2);
    compare_bits(one, two);
    forget(one);
    forget(two);
}
END_TEST

/* A record of the grid before is written before that grid goes. */
START_TEST(records_told_meanwhile_are_the_same)
{
    const char *backend = backend_names[_i];
    const a_case c = {"noise",
                      backend,
                      {"covariance=[0.25, 0.16]", "end=0.5", "records=4", "parameters={growth: -0.5, shear: 1}",
                       "regrid=[{time: 0, factor: 2}, {time: 0.125, factor: [1, 4]}, {time: 0.25, factor: 1}]"}};

    if (!is_built(backend))
        return;
    kept_run *now = run_telling(&c, backend, 0), *later = run_telling(&c, backend, 1);
    compare_bits(now, later);
    for (int k = 0; k < now->count; k++)
        for (int j = 0; j < now->n; j++) {
            ck_assert_double_eq(now->record[k].problem.width[j], later->record[k].problem.width[j]);
            ck_assert_double_eq(now->record[k].problem.mean[j], later->record[k].problem.mean[j]);
        }
    forget(now);
    forget(later);
}
END_TEST

/* ---- what goes on ------------------------------------------------------------------------------------------ */

/* An update is done on the grid before a change at its time. Mean, variance and evidence are those of Kalman's
 * filter.
 */
START_TEST(updates_are_as_exact)
{
    static const double parameters[] = {-0.1, 1.25, -0.8};
    const char *backend = backend_names[_i];
    const a_case c = {"linear",
                      backend,
                      {"dimension=1", "end=1", "records=2", "factor=3", "threshold=1e-9", "extent=5",
                       "measurements=[{time: 0.5, function: x1, value: [1.5], covariance: [0.04]}, "
                       "{time: 0.75, function: x1, value: [1.7], covariance: [0.01]}]",
                       "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: 4}, {time: 0.75, factor: 8}]"}};
    static const int level[][3] = {{0}, {0}, {1}, {1}, {2}, {2}, {2}, {3}, {3}};
    kalman_state exact_state = {.n = 1, .mean = {2}, .covariance = {0.25}};
    double evidence[2];

    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    ck_assert_int_eq(run->count, 9);
    ck_assert_int_eq(run->evidence_count, 2);
    check_widths(run, level);
    check_ledgers(run, 1e-6);
    check_places(run);
    kalman_predict(&exact_state, parameters, 0.5);
    evidence[0] = kalman_update(&exact_state, 1.5, 0.04);
    kalman_predict(&exact_state, parameters, 0.25);
    evidence[1] = kalman_update(&exact_state, 1.7, 0.01);
    kalman_predict(&exact_state, parameters, 0.25);
    const gbees_statistics *last = &run->record[8].record.statistics;
    const double sigma = sqrt(exact_state.covariance[0]);
    CLOSE(last->mean[0], exact_state.mean[0], 2e-3 * sigma, "Kalman", "mean");
    CLOSE(last->covariance[0], exact_state.covariance[0], 2e-3 * sigma * sigma, "Kalman", "variance");
    for (int k = 0; k < 2; k++)
        CLOSE(run->evidence[k].log_evidence, evidence[k], 2e-3, "Kalman", "evidence");
    forget(run);
}
END_TEST

/* p* goes with a cell's volume, and is steered on; all that was lost before counts. */
START_TEST(a_mass_budget_goes_on)
{
    const char *backend = backend_names[_i];
    const double budget = 0.02;
    const a_case c = {"noise",
                      backend,
                      {"covariance=[0.25, 0.16]", "mean=[1, 2]", "mass_budget=0.02", "end=2", "records=8",
                       "parameters={growth: 0.3, shear: 1, own: 0.1}", "prune_interval=2",
                       "regrid=[{time: 0.5, factor: 2}, {time: 1.25, factor: [4, 0.5]}]"}};

    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    check_ledgers(run, 1e-6);
    for (int k = 1; k < run->count; k++) {
        const gbees_totals *now = &run->record[k].record.totals;
        const double lost = now->mass_outflow + now->mass_pruned;

        ck_assert_double_lt(lost, 1.6 * budget * run->record[k].record.time + 1e-3);
    }
    ck_assert_double_gt(run->totals.mass_outflow + run->totals.mass_pruned, 2 * budget / 1.6);
    ck_assert_uint_eq(run->totals.warnings & GBEES_WARNING_BUDGET_FLOOR, 0);
    forget(run);
}
END_TEST

/* Nothing moves. The last cells inside the bound x1 <= 0.4 reach from 0.225 to 0.475, and one of the four parts of
 * each has its centre outside: what these hold is outflow. It is less than the Gaussian has there, as the cells
 * beyond are 0. */
static const char *const bounded[] = {"scheme=split5", "scheme=ctu"};

START_TEST(what_is_out_of_bound_is_outflow)
{
    const char *backend = backend_names[_i];
    const a_case c = {"noise",
                      backend,
                      {"dimension=3", bounded[_i], "precision=double", "mean=[0.1, ...]", "factor=1", "end=1",
                       "records=2", "threshold=1e-9", "bound=[-5, 0.4]", "regrid=[{time: 0, factor: [4, 1, 1]}]"}};
    const double all = 0.5 * (erf(0.75 / sqrt(2)) - erf(-3.25 / sqrt(2)));
    const double outside = 0.5 * (erf(0.75 / sqrt(2)) - erf(0.625 / sqrt(2))) / all;

    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    const kept_record *fine = &run->record[1];
    check_ledgers(run, 1e-12);
    for (size_t i = 0; i < fine->count; i++)
        ck_assert_double_le(fine->problem.mean[0] + fine->problem.width[0] * fine->index[i], 0.4);
    ck_assert_double_gt(fine->record.since.outflow, 0.6 * outside);
    ck_assert_double_lt(fine->record.since.outflow, outside);
    CLOSE(run->record[2].record.totals.mass_outflow, fine->record.totals.mass_outflow, 1e-12, "later", "outflow");
    forget(run);
}
END_TEST

/* A p* that no cell of the other grid reaches ends the run, with the totals as they were. */
START_TEST(a_grid_that_holds_nothing)
{
    static const struct {
        const char *setting, *regrid, *error;
    } cases[] = {
        {"threshold=1e-4", "regrid=[{time: 0.25, factor: 0.0009765625}]", "no cell holds as much as the threshold"},
        {"bound=[0.3, 0.4]", "regrid=[{time: 0.25, factor: 0.125}]", "has its centre within the bound"},
    };
    const a_case c = {"noise", "cpu", {cases[_i].setting, "end=0.5", cases[_i].regrid, "parameters={growth: -1}"}};
    kept_run *run = try_run(&c, "cpu");

    ck_assert_int_eq(run->status, GBEES_ENUMERIC);
    ck_assert_int_eq(run->count, 2);
    ck_assert_msg(strncmp(run->error.text, "at t = 0.25 (leg 0, step ", 25) == 0 &&
                      strstr(run->error.text, cases[_i].error),
                  "%s", run->error.text);
    ck_assert_uint_eq(run->totals.steps, run->record[1].record.totals.steps);
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regridding");
    TCase *tcase = tcase_create("regridding");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, moments_are_as_exact_as_without, 0, (int)(sizeof exact / sizeof *exact));
    tcase_add_loop_test(tcase, from_the_first_record_on, 0, (int)(sizeof times / sizeof *times));
    tcase_add_loop_test(tcase, the_same_level_changes_no_bit, 0, BACKENDS * (int)(sizeof idle / sizeof *idle));
    tcase_add_test(tcase, threads_do_not_matter);
    tcase_add_loop_test(tcase, records_told_meanwhile_are_the_same, 0, BACKENDS);
    tcase_add_loop_test(tcase, updates_are_as_exact, 0, BACKENDS);
    tcase_add_loop_test(tcase, a_mass_budget_goes_on, 0, BACKENDS);
    tcase_add_loop_test(tcase, what_is_out_of_bound_is_outflow, 0, BACKENDS);
    tcase_add_loop_test(tcase, a_grid_that_holds_nothing, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
