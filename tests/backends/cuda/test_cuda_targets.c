/* test_cuda_targets.c - targets that absorb on a GPU made of threads (shim/), against the CPU and against an exact
 * probability: with noise that is the same everywhere, that varies, that takes repeated sweeps, and without; beside a
 * wall, on circles; targets that move; large grids; in one to four dimensions. */
#include "cuda_engine_fixture.h"

/* What all cases of one model have. */
#define EXITS "exits", "shim"
#define WIDE "extent=6", "threshold=1e-10"
#define ENCOUNTER "encounter", "shim"
#define PASS "frame=fixed", "targets={half: absorb, sphere: absorb}", "end=11.5", "records=2", "threshold=1e-6"
#define PLANE "dimension=2", "precision=double", "mean=[0, 0]"
#define FOUR                                                                                                         \
    "dimension=4", "precision=mixed", "mean=[0, 0, 0, 0]", "extent=2.5", "factor=0.5", "parameters.fx=0.5",          \
        "parameters.high=0.4", "targets.below=off", "end=0.05"

/* Circles that begin, by cells, at -pi: an arc ends there, and begins there. */
#define CIRCLE                                                                                                       \
    "states=[{state: x, period: 6.283185307179586}]", "targets={arc: absorb, above: off, below: off}",               \
        "parameters.low=0.8", "parameters.Q=0.25", "precision=mixed", "covariance=[0.04]", "factor=4"

static const bounds same = {0, 1e-12, 1e-12}, rounded = {1e-13, 1e-12, 1e-12};

static const struct {
    a_case c;
    const bounds *most;
    int is_large; /* each pass of a step is a launch of its own */
} cases[] = {
    {{EXITS, {WIDE, "precision=mixed", "parameters.fx=0.5", "targets.below=off", "factor=2"}}, &same, 0},
    {{EXITS, {WIDE, "precision=double", "scheme=split7", "parameters.linear=-1", "factor=4"}}, &rounded, 0},
    {{EXITS, {WIDE, "precision=mixed", "parameters.linear=-1", "parameters.square=0.3", "factor=2", "records=2"}},
     &same,
     0},
    {{EXITS, {WIDE, "precision=mixed", "parameters.fx=0.5", "factor=4", "time_step=0.02"}}, &same, 0},
    {{EXITS,
      {WIDE, "precision=mixed", "parameters.fx=1", "parameters.Q=0", "parameters.high=1.02", "factor=2", "end=1.05"}},
     &same,
     0},
    {{EXITS,
      {WIDE, "precision=mixed", "states=[{state: x, lower: -0.5}]", "parameters.high=0.5", "targets.below=off",
       "covariance=[0.0025]"}},
     &same,
     0},
    {{EXITS,
      {WIDE, "precision=mixed", "parameters.fx=0.5", "targets.below=off", "factor=2",
       "measurements=[{function: x, time: 0.5, value: [0], covariance: [1e6]}]"}},
     &same,
     0},
    {{EXITS, {WIDE, PLANE, "targets={out: absorb, above: off, below: off}", "end=0.3", "parameters.square=0.2"}},
     &rounded,
     0},
    {{EXITS,
      {WIDE, PLANE, "targets={spot: absorb, above: off, below: off}", "parameters.fx=1", "parameters.Q=0.01",
       "parameters.high=0.2", "mean=[-0.8, 0]"}},
     &rounded,
     0},
    {{EXITS, {WIDE, FOUR}}, &same, 0},
    {{EXITS, {WIDE, FOUR}}, &same, 1},
    {{ENCOUNTER, {PASS, "scheme=split5", "precision=mixed"}}, &same, 0},
    {{ENCOUNTER, {PASS, "scheme=split7-mp", "precision=double"}}, &rounded, 0},
    {{EXITS, {CIRCLE, "parameters.high=2.3415927", "parameters.fx=0.3", "end=4"}}, &same, 0},
    {{EXITS, {CIRCLE, "parameters.high=-2.3415927", "parameters.fx=-0.3", "end=4"}}, &same, 0},
    {{EXITS, {CIRCLE, "parameters.high=2.4", "parameters.Q=0", "parameters.fx=1", "end=1.6"}}, &same, 0},
    /* Functions that depend on the time. */
    {{EXITS,
      {WIDE, "precision=double", "scheme=split7", "parameters.fx=0.8", "parameters.rise=0.3", "factor=2",
       "records=3"}},
     &rounded,
     0},
    {{EXITS, {WIDE, "precision=mixed", "parameters.fx=1.5", "parameters.rise=0.5", "parameters.Q=0", "factor=2"}},
     &same,
     0},
    {{EXITS, {WIDE, PLANE, "parameters.rise=-1.3", "parameters.slope=0.5", "parameters.high=1.1", "end=0.3"}},
     &rounded,
     0},
};

START_TEST(as_on_the_cpu)
{
    const a_case *c = &cases[_i].c;

    (void)setenv("SHIM_LARGE", cases[_i].is_large ? "1" : "100000000", 1);
    kept_run *cpu = run_on(c, "cpu"), *gpu = run_on(c, c->backend);

    compare(gpu, cpu, cases[_i].most);
    ck_assert_double_gt(gbees_totals_entered(&gpu->totals), 1e-3);
    if (cases[_i].most->p > 0)
        check_ledger(gpu);
    forget(cpu);
    forget(gpu);
}
END_TEST

/* dx = 0.5 dt + dW from N(0, 0.1^2), absorbed at 1, leaves 0.508962 at t = 1; so does a faster drift towards a bound
 * that recedes as much faster. */
START_TEST(brownian_motion_with_drift)
{
    static const a_case all[] = {
        {EXITS, {WIDE, "precision=mixed", "parameters.fx=0.5", "targets.below=off", "factor=2"}},
        {EXITS,
         {WIDE, "precision=mixed", "parameters.fx=0.8", "parameters.rise=0.3", "targets.below=off", "factor=2"}},
    };
    kept_run *run = run_on(&all[_i], "shim");
    const gbees_record *last = &run->record[run->count - 1].record;

    ck_assert_double_eq_tol(last->statistics.mass, 0.508962, 1e-4);
    ck_assert_double_eq_tol(last->targets[0].probability, 1 - 0.508962, 1e-4);
    ck_assert_double_eq(last->totals.mass_entered[0], last->targets[0].probability);
    forget(run);
}
END_TEST

START_TEST(any_number_of_blocks)
{
    static const a_case some[] = {
        {EXITS, {WIDE, PLANE, "parameters.rise=-1.3", "parameters.slope=0.5", "parameters.high=1.1", "end=0.3"}},
        {EXITS, {WIDE, FOUR}}};
    static const char *const blocks[] = {"1", "3", "4", "4"};
    kept_run *first = NULL;

    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        (void)setenv("SHIM_BLOCKS", blocks[k], 1);
        (void)setenv("SHIM_CLUSTER", k == 3 ? "1" : "0", 1);
        kept_run *run = run_on(&some[_i], "shim");

        if (first)
            compare_bits(run, first);
        forget(first);
        first = run;
    }
    forget(first);
}
END_TEST

/* At the start and later: the CPU's error, with its time. */
START_TEST(a_function_that_is_not_a_number)
{
    static const a_case all[] = {
        {EXITS, {WIDE, "precision=mixed", "targets={rock: absorb, above: off, below: off}", "parameters.high=0.5"}},
        {EXITS,
         {WIDE, "precision=mixed", "targets={rock: absorb, above: off, below: off}", "parameters.high=0.5",
          "covariance=[0.001]", "factor=0.5", "extent=3", "parameters.Q=0.01", "parameters.fx=1"}},
    };
    kept_run *cpu = try_run(&all[_i], "cpu"), *gpu = try_run(&all[_i], "shim");

    ck_assert_int_eq(cpu->status, GBEES_ENUMERIC);
    ck_assert_int_eq(gpu->status, GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(cpu->error.text, "the function of a target that absorbs of exits is not a number"));
    ck_assert_str_eq(gpu->error.text, cpu->error.text);
    ck_assert_int_eq(gpu->count, _i);
    forget(cpu);
    forget(gpu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_targets");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_back, set_back);
    tcase_add_loop_test(tests, as_on_the_cpu, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tests, brownian_motion_with_drift, 0, 2);
    tcase_add_loop_test(tests, any_number_of_blocks, 0, 2);
    tcase_add_loop_test(tests, a_function_that_is_not_a_number, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
