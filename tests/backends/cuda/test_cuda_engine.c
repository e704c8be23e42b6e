/* test_cuda_engine.c - the CUDA backend on a GPU made of threads (shim/) against the CPU backend: the same
 * cells, the same bits where it is to be so, the same totals; for long bricks and bricks one cell wide, for any
 * number of blocks, however memory grows; and what it says when it can't go on. */
#include "cuda_engine_fixture.h"
#include "fixtures/suite.h"

/* ---- against the CPU --------------------------------------------------------------------------------------------
 */

static const bounds same = {0, 1e-12, 1e-12}, rounded = {1e-13, 1e-12, 1e-12};

static const struct {
    a_case c;
    const bounds *most;
} cases[] = {
    {{"lorenz63", "shim", {"records=2"}}, &same},
    {{"lorenz63", "shim", {"records=1", "end=0.1", "time_step=0.001", "prune_interval=1"}}, &same},
    {{"lorenz63", "shim", {"records=1", "end=0.2", "courant=0.5", "prune_interval=1000"}}, &same},
    {{"lorenz63", "shim", {"records=2", "end=0.7", "scheme=ctu", "precision=double"}}, &rounded},
    {{"lorenz96", "shim", {"dimension=6", "records=2", "end=0.02", "extent=1.5"}}, &same},
    {{"pcr3bp", "shim", {"frame=fixed", "records=1", "end=0.05", "scheme=split5-mp", "bound=[3.00007, 3.00009]"}},
     &same},
    /* The drift depends on time. */
    {{"duffing", "shim", {"records=3", "end=1"}}, &same},
    {{"duffing", "shim", {"records=3", "end=1", "scheme=ctu", "precision=double"}}, &rounded},
    /* Turned grids. The cosine of the CPU's drift is one for vectors there: of 0 it has the same bits. */
    {{"duffing",
      "shim",
      {"rotate=yes", "parameters.omega=0", "covariance=[[0.01, 0.008], [0.008, 0.01]]", "factor=2", "records=3",
       "end=1"}},
     &same},
    {{"pcr3bp",
      "shim",
      {"frame=fixed", "rotate=yes",
       "covariance=[[7e-9, 3e-9, 0, 0], [3e-9, 7e-9, 0, 0], [0, 0, 2.5e-8, 1e-8], [0, 0, 1e-8, 2.5e-8]]", "records=1",
       "end=0.03", "extent=2"}},
     &same},
    /* One edge of 64 cells; bricks one cell wide along two axes. */
    {{"linear",
      "shim",
      {"dimension=1", "precision=mixed", "records=2", "end=3.5", "factor=50", "parameters.diagonal=-0.3",
       "measurements=[{time: 3, function: x1, value: [1], covariance: [0.04]}]"}},
     &same},
    /* Measurements and initial densities that are not one Gaussian. */
    {{"pcr3bp",
      "shim",
      {"frame=fixed", "records=1", "end=0.02", "scheme=split5-mp", "mean=[0.9985, 0, 0, -0.0136]",
       "measurements=[{time: 0.01, function: sight, value: [0.0015, -3.14, ~], covariance: [1e-8, 3e-3, 1e-8]}]"}},
     &same},
    {{"linear",
      "shim",
      {"dimension=1", "precision=mixed", "records=1", "end=2", "factor=50", "parameters.diagonal=-0.3",
       "measurements=[{time: 1, function: x1, value: [4], covariance: [0.04], likelihood: student-t, "
       "degrees_of_freedom: 2.5}]"}},
     &same},
    {{"nan_drift",
      "shim",
      {"records=1", "end=0.3",
       "measurements=[{time: 0.2, function: x, value: [0.3], likelihood: model}, {time: 0.1, function: y, value: "
       "[0.1], "
       "covariance: [0.01]}]"}},
     &same},
    {{"lorenz63",
      "shim",
      {"records=1", "end=0.3", "width=0.5",
       "initial=[{weight: 3, mean: [-11.5, -10, 9.5], covariance: [1, 1, 1]}, "
       "{mean: [-4, -9, 9], covariance: [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]}]"}},
     &same},
    {{"duffing",
      "shim",
      {"rotate=yes", "parameters.omega=0", "width=0.03", "records=2", "end=1",
       "initial=[{weight: 2, mean: [0, 1], covariance: [0.01, 0.01]}, "
       "{mean: [0.4, 1.2], covariance: [[0.01, 0.004], [0.004, 0.005]]}]"}},
     &same},
    /* Diffusion: diagonal; full, of either sign, with the state, with time. */
    {{"linear",
      "shim",
      {"dimension=1", "precision=mixed", "records=2", "end=2", "factor=20", "measurements=[]",
       "parameters.noise=0.3"}},
     &same},
    {{"linear",
      "shim",
      {"dimension=1", "precision=mixed", "records=2", "end=1", "factor=10", "measurements=[]", "parameters.noise=0.3",
       "cell_values=points"}},
     &same},
    {{"linear",
      "shim",
      {"dimension=8", "records=1", "end=0.1", "factor=0.5", "extent=1", "threshold=1e-5", "measurements=[]",
       "parameters.noise=0.5"}},
     &same},
    {{"noise",
      "shim",
      {"factor=2", "parameters.growth=-0.5", "parameters.own=0.3", "parameters.beside=0.2", "parameters.square=0.1",
       "parameters.rise=2"}},
     &same},
    {{"noise",
      "shim",
      {"dimension=3", "factor=1.5", "end=0.3", "scheme=ctu", "precision=double", "parameters.shear=1",
       "parameters.own=0.5", "parameters.beside=0.2", "parameters.rise=1"}},
     &rounded},
    {{"noise",
      "shim",
      {"dimension=3", "factor=1.5", "end=0.3", "scheme=ctu", "precision=double", "parameters.shear=1",
       "parameters.own=0.5", "parameters.beside=0.2", "bound=[-0.8, 1]"}},
     &rounded},
    {{"noise",
      "shim",
      {"rotate=yes", "covariance=[[0.25, 0.1], [0.1, 0.25]]", "factor=2", "parameters.growth=-0.5",
       "parameters.own=0.3", "parameters.beside=0.2", "parameters.square=0.05", "parameters.rise=2"}},
     &same},
    /* These are of make check-long: the model and the scheme are above, too, with a bound or with other measurements,
     * and test_cuda_shim.sh runs split7-mp. */
    {{"pcr3bp", "shim", {"frame=fixed", "records=2", "end=0.05", "scheme=split5-mp"}}, &same},
    {{"pcr3bp", "shim", {"frame=fixed", "records=2", "end=0.05", "scheme=split7-mp", "cell_values=points"}}, &same},
    {{"linear",
      "shim",
      {"dimension=8", "records=2", "end=0.3", "factor=0.5", "extent=1", "threshold=1e-5",
       "measurements=[{time: 0.2, function: x8, value: [2], covariance: [0.2]}]"}},
     &same},
    {{"linear",
      "shim",
      {"dimension=8", "records=1", "end=0.1", "factor=0.5", "extent=1", "threshold=1e-5", "scheme=ctu",
       "precision=double"}},
     &rounded},
    {{"linear",
      "shim",
      {"dimension=8", "records=1", "end=0.1", "factor=0.5", "extent=1", "threshold=1e-5", "scheme=ctu",
       "precision=double", "measurements=[]", "parameters.noise=0.5"}},
     &rounded},
};
enum { CASES = sizeof cases / sizeof *cases, USUAL = CASES - 5 };

START_TEST(as_on_the_cpu)
{
    const a_case *c = &cases[_i].c;
    kept_run *cpu = run_on(c, "cpu"), *gpu = run_on(c, c->backend);

    compare(gpu, cpu, cases[_i].most);
    for (int k = 0; k < gpu->count; k++) /* 28 planes are too many for a small grid's spare rows */
        ck_assert(gpu->record[k].marginals != 0 || gpu->n == 8);
    if (cases[_i].most->p > 0)
        check_ledger(gpu);
    forget(cpu);
    forget(gpu);
}
END_TEST

/* A threshold that rounds down to a cell's P as a float: that cell has less.  (Nothing is pruned before the first
 * record, as all else has more.) */
START_TEST(a_threshold_just_above_a_cell)
{
    char threshold[64];
    a_case c = {"lorenz63", "shim", {"extent=1", "records=1", "end=0.1", "measurements=[]", "threshold=1e-6"}};
    kept_run *first = run_on(&c, "cpu");
    const double *p = first->record[0].p, chosen = p[0]; /* of a corner, least */
    size_t above = 0;

    for (size_t i = 0; i < first->record[0].count; i++)
        above += p[i] > chosen;
    (void)snprintf(threshold, sizeof threshold, "threshold=%.17g", chosen * (1 + 1e-8));
    c.settings[4] = threshold;
    kept_run *cpu = run_on(&c, "cpu"), *gpu = run_on(&c, c.backend);
    ck_assert_double_eq(cpu->record[0].record.statistics.mass, first->record[0].record.statistics.mass);
    ck_assert_uint_eq(cpu->record[0].count, above);
    compare(gpu, cpu, &same);
    forget(first);
    forget(cpu);
    forget(gpu);
}
END_TEST

/* Large grids, whose density is moved and marked by kernels of their own: the same, with the same ledger. */
START_TEST(a_large_grid)
{
    static const a_case all[] = {
        {"lorenz96", "shim", {"dimension=6", "extent=1", "records=2", "end=0.02", "courant=0.2", "prune_interval=3"}},
        /* Noise in the pencils' sweeps, of which a face takes fewer cells than of the scheme; along an edge of 2 and
         * of 4 cells. */
        {"linear",
         "shim",
         {"dimension=4", "scheme=split7", "records=2", "end=0.3", "extent=2", "prune_interval=3", "measurements=[]",
          "parameters.noise=0.5"}},
        /* So much of it that sweeps are repeated. */
        {"linear",
         "shim",
         {"dimension=4", "scheme=split7", "records=1", "end=0.3", "extent=2", "prune_interval=3", "measurements=[]",
          "parameters.noise=4", "time_step=0.025"}},
        {"linear",
         "shim",
         {"dimension=8", "records=1", "end=0.1", "factor=0.5", "extent=1", "threshold=1e-5", "scheme=ctu",
          "precision=double"}},
    };

    (void)setenv("SHIM_LARGE", "1", 1);
    kept_run *cpu = run_on(&all[_i], "cpu"), *gpu = run_on(&all[_i], all[_i].backend);

    compare(gpu, cpu, _i == 3 ? &rounded : &same);
    forget(cpu);
    forget(gpu);
}
END_TEST

/* ---- one result -------------------------------------------------------------------------------------------------
 */

static const a_case noisy = {
    "noise", "shim", {"factor=2", "parameters.own=0.3", "parameters.beside=-0.2", "parameters.square=0.1"}};
static const a_case oblique = {
    "lorenz63", "shim", {"frame=moving", "records=1", "end=0.6", "measurements=[]", "threshold=1e-6"}};

START_TEST(any_number_of_blocks)
{
    static const a_case *const some[] = {&measured, &moving, &noisy, &oblique, &corners};
    static const char *const blocks[] = {"1", "3", "4", "4"};
    kept_run *first = NULL;

    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        (void)setenv("SHIM_BLOCKS", blocks[k], 1);
        (void)setenv("SHIM_CLUSTER", k == 3 ? "1" : "0", 1);
        kept_run *run = run_on(some[_i], some[_i]->backend);

        if (first)
            compare_bits(run, first);
        forget(first);
        first = run;
    }
    forget(first);
}
END_TEST

/* By the copy of an array, and by more memory behind it, with and without a brick that found no slot. */
START_TEST(the_heap_grows_by_itself)
{
    enum { HEAP = 1 << 14, BRICK = 64 };
    kept_run *cpu = run_on(&large, "cpu"), *first = NULL;

    (void)setenv("SHIM_MEMORY", "120000000", 1);
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        (void)setenv("SHIM_VIRTUAL", is_virtual ? "1" : "0", 1);
        kept_run *gpu = run_on(&large, large.backend);
        const gbees_record *begin = &gpu->record[0].record, *end = &gpu->record[gpu->count - 1].record;

        compare(gpu, cpu, &same);
        ck_assert_uint_lt(begin->statistics.cells_raw, (uint64_t)HEAP * BRICK);
        ck_assert_uint_gt(end->statistics.cells_raw, (uint64_t)HEAP * BRICK);
        ck_assert_uint_gt(end->totals.peak_bytes, begin->totals.peak_bytes);
        if (first)
            compare_bits(gpu, first);
        forget(first);
        first = gpu;
    }
    forget(first);
    forget(cpu);
}
END_TEST

/* A heap with more slots than it begins with has an eighth of a small GPU's memory at once. */
START_TEST(a_heap_that_grows_has_ample_capacity)
{
    enum { MEMORY = 400000000 };

    (void)setenv("SHIM_MEMORY", "400000000", 1);
    (void)setenv("SHIM_VIRTUAL", "1", 1);
    kept_run *gpu = run_on(&large, large.backend);
    const double peak = (double)gpu->record[gpu->count - 1].record.totals.peak_bytes;

    ck_assert_double_gt(peak, 0.9 * MEMORY / 8);
    ck_assert_double_lt(peak, 1.2 * MEMORY / 8);
    forget(gpu);
}
END_TEST

/* ---- what it can't do -------------------------------------------------------------------------------------------
 */

static kept_run *fail_on(const a_case *c, const char *backend, int status, const char *text)
{
    kept_run *run = try_run(c, backend);

    ck_assert_int_eq(run->status, status);
    ck_assert_msg(strstr(run->error.text, text) != NULL, "%s: '%s' is not in '%s'", backend, text, run->error.text);
    ck_assert_ptr_null(strchr(run->error.text, '\n'));
    return run;
}

/* The engine says what the CPU's does, at the same time; records before it are the same. */
static const struct {
    a_case c;
    int status;
    const char *text;
} failures[] = {
    {{"lorenz63", "shim", {"threshold=0.5", "records=20"}},
     GBEES_ENUMERIC,
     "no cell holds as much as the threshold 0.5"},
    {{"nan_drift", "shim", {"records=6"}}, GBEES_ENUMERIC, "the drift of nan_drift is not finite near x = "},
    {{"nan_drift", "shim", {"mean=[3, 0]"}}, GBEES_ENUMERIC, "the drift of nan_drift is not finite near x = "},
    {{"lorenz63", "shim", {"end=0.1", "measurements=[{time: 0.05, function: z, value: [5000], covariance: [1]}]"}},
     GBEES_EUNSUPPORTED,
     "is supported by no cell: its log-likelihood is at most -1.24251e+07 (4.98e+03 standard"},
    {{"linear",
      "shim",
      {"dimension=1", "precision=mixed", "end=0.1",
       "measurements=[{time: 0.05, function: x2, value: [1], covariance: [1]}]"}},
     GBEES_ENUMERIC,
     "the measurement function x2 of linear is not a number on some cell at t = 0.05: that of index ["},
    {{"nan_drift", "shim", {"end=0.1", "measurements=[{time: 0.05, function: y, value: [1], likelihood: model}]"}},
     GBEES_ENUMERIC,
     "the log-likelihood of nan_drift for y is not a number at t = 0.05 in the cell ["},
    {{"nan_drift",
      "shim",
      {"end=0.1", "mean=[0, -3]", "measurements=[{time: 0.05, function: x, value: [1], likelihood: model}]"}},
     GBEES_EUNSUPPORTED,
     "the model calls it impossible in all of them"},
    {{"noise", "shim", {"parameters.own=0.3", "parameters.beside=0.31"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is too correlated for this grid at x1 = "},
    /* Not before the middle of a step. */
    {{"noise", "shim", {"parameters.own=0.3", "parameters.rise=-40", "end=0.04"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is negative along x1, "},
    /* At once, and after some records. */
    {{"lorenz63", "shim", {"time_step=0.05"}}, GBEES_ENUMERIC, "the time step of 0.05 at t = 0 has Courant number "},
    {{"lorenz63", "shim", {"time_step=0.002"}},
     GBEES_ENUMERIC,
     "the time step of 0.002 at t = 0.87 has Courant number 1.01, and the scheme takes at most 1: give a `time_step` "
     "of at most 0.0019, or leave it out"},
};

START_TEST(errors_are_the_cpus)
{
    const a_case *c = &failures[_i].c;
    kept_run *cpu = fail_on(c, "cpu", failures[_i].status, failures[_i].text);
    kept_run *gpu = fail_on(c, c->backend, failures[_i].status, failures[_i].text);

    compare(gpu, cpu, &same);
    forget(cpu);
    forget(gpu);
}
END_TEST

/* The state of the drift that is no number, the time, and the name. */
START_TEST(where_the_drift_is_not_finite)
{
    kept_run *run = fail_on(&failures[1].c, "shim", GBEES_ENUMERIC, "check the equations");
    double x = 0, y = 9, t = 0;
    const char *at = strstr(run->error.text, "near ");

    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at, "near x = %lf, y = %lf at t = %lf:", &x, &y, &t), 3);
    ck_assert_double_eq_tol(x, 1.5, 8 * 0.05); /* of bricks of eight cells */
    ck_assert_double_lt(fabs(y), 0.5);
    ck_assert_double_ge(t, run->record[run->count - 1].record.time);
    ck_assert_double_lt(t, 1.5);
    forget(run);
}
END_TEST

/* Whichever launch fails: what the driver said, and what was being done; nothing is left behind (the module looks).
 */
START_TEST(a_launch_that_fails)
{
    /* One step a leg: the solver's slices, which depend on how long a step takes, do not change the launches. */
    static const a_case tiny = {"lorenz63",
                                "shim",
                                {"records=1", "end=0.004", "time_step=0.002",
                                 "measurements=[{time: 0.002, function: z, value: [9], covariance: [1]}]"}};
    static const char *const doings[] = {"setting up the grid",
                                         "counting cells",
                                         "computing moments",
                                         "packing cells",
                                         "computing marginals",
                                         "advancing from t = 0",
                                         "comparing with a measurement",
                                         "updating with a measurement",
                                         "normalising the density",
                                         "pruning after a measurement",
                                         "filling the hash table again"};
    enum { DOINGS = sizeof doings / sizeof *doings };
    int seen[DOINGS] = {0}, failed = 1, launch;

    for (launch = 1; failed && launch < 200; launch++) {
        char number[16], text[128];

        (void)snprintf(number, sizeof number, "%d", launch);
        (void)setenv("SHIM_FAILING_LAUNCH", number, 1);
        kept_run *run = try_run(&tiny, tiny.backend);
        failed = run->status != GBEES_OK;
        if (failed) {
            ck_assert_int_eq(run->status, GBEES_EBACKEND);
            ck_assert_ptr_nonnull(strstr(run->error.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
            ck_assert_ptr_nonnull(strstr(run->error.text, "the GPU failed while "));
        }
        for (int k = 0; k < DOINGS && failed; k++) {
            (void)snprintf(text, sizeof text, "the GPU failed while %s", doings[k]);
            seen[k] += strstr(run->error.text, text) != NULL;
        }
        forget(run);
    }
    ck_assert_int_lt(launch, 200);
    for (int k = 0; k < DOINGS; k++)
        ck_assert_msg(seen[k], "no launch failed while %s", doings[k]);
}
END_TEST

/* It says what is needed in all and what there is: more than there is. */
static void check_no_room(const char *text)
{
    const char *from = strstr(text, "a grid of ");
    double bricks, needed, left, all;

    ck_assert_msg(from &&
                      sscanf(from,
                             "a grid of %lf bricks needs %lf GB of the GPU's memory in all, and %lf GB of its %lf "
                             "GB can be had: ",
                             &bricks, &needed, &left, &all) == 4,
                  "%s", text);
    ck_assert_msg(bricks >= 1 << 14 && needed >= left && left > 0 && left <= all, "%s", text);
}

/* Whatever memory there is, the run ends well or with an error; records before it are whole. */
START_TEST(little_memory)
{
    static const struct {
        int count;
        double share[3];
    } some[] = {{2, {0.1, 0.85}}, {3, {0.4, 0.95, 1.5}}};
    (void)setenv("SHIM_MEMORY", "120000000", 1); /* so little that a heap grows by half only */
    kept_run *all = run_on(&large, large.backend);
    int failed[2] = {0};

    for (int is_virtual = 0; is_virtual < 2; is_virtual++)
        for (int i = 0; i < some[_i].count; i++) {
            char number[32];

            (void)snprintf(number, sizeof number, "%.0f", some[_i].share[i] * (double)all->totals.peak_bytes);
            (void)setenv("SHIM_MEMORY", number, 1);
            (void)setenv("SHIM_VIRTUAL", is_virtual ? "1" : "0", 1);
            kept_run *run = try_run(&large, large.backend);
            if (run->status) {
                ck_assert_int_eq(run->status, GBEES_ENOMEM);
                check_no_room(run->error.text);
                failed[run->count > 0]++;
            }
            for (int k = 0; k < run->count; k++)
                compare_cells(run, all, k, 0);
            forget(run);
        }
    ck_assert_int_gt(failed[0], 0); /* at the start ... */
    ck_assert_int_gt(failed[1], 0); /* ... and later */
    forget(all);
}
END_TEST

/* ---- an engine by itself ----------------------------------------------------------------------------------------
 */

/* A measurement that is refused changes nothing, and the run can go on; a visitor can stop. */
START_TEST(a_refused_update_changes_nothing)
{
    bare b = open_bare();
    gbees_evidence evidence;
    gbees_totals before, after;
    double sum[2] = {0}, again[2] = {0};
    const gbees_measurement far = {.size = 1, .value = {9000}, .covariance = {1}};

    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, 9, &b.error), 0);
    ck_assert_uint_eq(b.clock.leg_step, 9);
    b.w.backend->totals(b.engine, &before);
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, add_up, sum, &b.error), 0);
    ck_assert_int_eq(b.w.backend->update(b.engine, &b.clock, &far, &evidence, &b.error), GBEES_EUNSUPPORTED);
    b.w.backend->totals(b.engine, &after);
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, add_up, again, &b.error), 0);
    ck_assert_double_eq_tol(again[0], sum[0], 1e-14);
    ck_assert_double_eq_tol(again[1], sum[1], 1e-12);
    compare_totals(&after, &before, 0, "totals");
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, stop_at_once, NULL, &b.error), 77);
    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, 1, &b.error), 0);
    ck_assert_uint_eq(b.clock.leg_step, 10);
    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, UINT64_MAX, &b.error), 0); /* as many as it takes */
    ck_assert_double_eq(b.clock.elapsed, 0.1);
    close_bare(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_engine");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_back, set_back);
    tcase_add_loop_test(tests, as_on_the_cpu, 0, USUAL);
    tcase_add_test(tests, a_threshold_just_above_a_cell);
    tcase_add_loop_test(tests, a_large_grid, 0, 3);
    tcase_add_loop_test(tests, any_number_of_blocks, 0, 4);
    tcase_add_test(tests, the_heap_grows_by_itself);
    tcase_add_test(tests, a_heap_that_grows_has_ample_capacity);
    tcase_add_loop_test(tests, errors_are_the_cpus, 0, (int)(sizeof failures / sizeof *failures));
    tcase_add_test(tests, where_the_drift_is_not_finite);
    tcase_add_test(tests, a_launch_that_fails);
    tcase_add_test(tests, a_refused_update_changes_nothing);
    suite_add_tcase(suite, tests);
    tests = add_long_case(suite, "more", 120);
    tcase_add_checked_fixture(tests, set_back, set_back);
    tcase_add_loop_test(tests, as_on_the_cpu, USUAL, CASES);
    tcase_add_loop_test(tests, a_large_grid, 3, 4);
    /* The paper's scheme, for which blocks share the bricks in the same way. */
    tcase_add_loop_test(tests, any_number_of_blocks, 4, 5);
    /* test_cuda_shim.sh has too little memory at each change. */
    tcase_add_loop_test(tests, little_memory, 0, 2);
    return run_suite(suite);
}
