/* test_noise.c - process noise in an engine, whatever Q is: no cell below 0, the mass, the variance of pure
 * diffusion; and what it says when Q can't be. */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

static const gbees_statistics *last_of(const kept_run *run)
{
    return &run->record[run->count - 1].record.statistics;
}

static void assert_ledger(const kept_run *run, double tolerance)
{
    const gbees_totals *t = &run->totals;

    ck_assert_double_eq_tol(last_of(run)->mass,
                            1 + t->mass_clipped + t->mass_normalised - t->mass_outflow - t->mass_pruned, tolerance);
}

/* Where a test runs. */
typedef struct place {
    const char *backend, *dimension, *scheme, *precision;
} place;

enum { PLACES = 24 /* on the CPU */ };

static const char *const dimensions[] = {"dimension=1", "dimension=2", "dimension=3"};
static const char *const schemes[] = {"scheme=split5", "scheme=split5-mp", "scheme=ctu", "scheme=upwind"};

/* Those of the CUDA engine's: see backends/cuda/shim/variants/noise*.c. */
static const place on_threads[] = {
    {"shim", "dimension=2", "scheme=split5", "precision=mixed"},
    {"shim", "dimension=3", "scheme=ctu", "precision=double"},
};

static place place_of(int i)
{
    if (i >= PLACES)
        return on_threads[i - PLACES];
    return (place){"cpu", dimensions[i / 2 % 3], schemes[i / 6], i % 2 ? "precision=double" : "precision=mixed"};
}

static int is_3d(place on)
{
    return strcmp(on.dimension, "dimension=3") == 0;
}

/* Rough noise, and a p* that cuts off a part of the density: nothing is below 0, and the ledger closes. */
START_TEST(rough_noise_keeps_the_mass)
{
    const place on = place_of(_i);
    const int is_double = strcmp(on.precision, "precision=double") == 0;
    const a_case c = {"noise",
                      on.backend,
                      {on.dimension, on.scheme, on.precision, "threshold=1e-4", "factor=2", "parameters.own=0.5",
                       "parameters.beside=0.1", "parameters.rough=1", "parameters.square=0.1", "parameters.rise=1"}};

    if (!is_built(on.backend))
        return;
    kept_run *run = run_on(&c, on.backend);

    ck_assert_uint_gt(run->totals.steps, 0);
    ck_assert_double_gt(run->totals.mass_outflow + run->totals.mass_pruned, 1e-12);
    ck_assert_double_lt(run->totals.mass_clipped, is_double ? 1e-100 : 1e-20); /* numbers too small to keep */
    assert_ledger(run, is_double ? 1e-12 : 1e-6);
    forget(run);
}
END_TEST

/* A density at rest, to which steps add less than the last digit of a float and from which little is lost: without
 * dithers 1.7e-6 of the mass would be made in 5627 steps. 1.3e-8 is the rounding of the initial density. */
START_TEST(floats_at_rest_keep_the_mass)
{
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=2", "mean=[2, -1]", "covariance=[0.04, 0.04]", "measurements=[]", "records=1",
                       "end=200", "precision=mixed", "threshold=1e-6", "factor=0.75", "extent=4",
                       "parameters={diagonal: -1, upper: 0, lower: 0, noise: 0.5}"}};
    kept_run *run = run_on(&c, "cpu");

    ck_assert_uint_gt(run->totals.steps, 3000);
    ck_assert_double_gt(run->totals.mass_outflow, 1e-3);
    assert_ledger(run, 1e-7);
    forget(run);
}
END_TEST

/* What comes to cells out of bound is lost at the end of a step, once. */
START_TEST(no_noise_gets_out_of_bound)
{
    const place on = _i < 4 ? (place){"cpu", "dimension=2", schemes[_i], "precision=double"} : on_threads[1];
    const a_case c = {"noise",
                      on.backend,
                      {on.dimension, on.scheme, on.precision, "threshold=1e-9", "factor=2", "bound=[-0.8, 1]",
                       "parameters.growth=0.3", "parameters.own=0.5", "parameters.beside=0.2"}};

    if (!is_built(on.backend))
        return;
    kept_run *run = run_on(&c, on.backend);

    ck_assert_uint_gt(run->totals.steps, 3);
    for (int k = 0; k < run->count; k++)
        for (size_t i = 0; i < run->record[k].count; i++) {
            double x = 0.1 + run->width[0] * run->record[k].index[i];

            ck_assert_msg(x >= -0.8 && x <= 1, "%g", x);
        }
    ck_assert_double_gt(run->totals.mass_outflow, 0.2);
    assert_ledger(run, 1e-12);
    forget(run);
}
END_TEST

/* Without a drift the covariance grows by Q t, to rounding, whatever the cells are. */
START_TEST(pure_diffusion_adds_the_covariance)
{
    const int n = 1 + _i % 3;
    const a_case c = {"noise",
                      "cpu",
                      {dimensions[n - 1], schemes[_i / 3], "precision=double", "threshold=1e-16", "extent=5",
                       "factor=0.75", "time_step=0.02", "parameters.own=0.6", "parameters.beside=0.25"}};
    kept_run *run = run_on(&c, "cpu");
    const gbees_statistics *first = &run->record[0].record.statistics, *last = last_of(run);
    const double time = run->record[run->count - 1].record.time;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double q = j == k ? 0.6 : j - k == 1 || k - j == 1 ? 0.25 : 0;

            q *= (j < k ? j : k) % 2 && j != k ? -1 : 1;
            ck_assert_double_eq_tol(last->covariance[j * n + k] - first->covariance[j * n + k], q * time, 1e-8);
            ck_assert_double_eq_tol(last->mean[j], first->mean[j], 1e-8);
        }
    assert_ledger(run, 1e-12);
    forget(run);
}
END_TEST

/* Q is taken in the middle of the steps: what grows with time is integrated exactly. */
START_TEST(noise_that_grows_with_time)
{
    const a_case c = {"noise",
                      "cpu",
                      {"dimension=1", schemes[_i], "precision=double", "threshold=1e-16", "extent=5",
                       "parameters.own=0.4", "parameters.rise=3"}};
    kept_run *run = run_on(&c, "cpu");
    const double time = run->record[run->count - 1].record.time;
    double added = last_of(run)->covariance[0] - run->record[0].record.statistics.covariance[0];

    ck_assert_uint_gt(run->totals.steps, 1);
    ck_assert_double_eq_tol(added, 0.4 * (time + 3 * time * time / 2), 1e-9);
    forget(run);
}
END_TEST

/* A model that may have noise, and has none, runs as one that has not. */
START_TEST(no_noise_costs_no_steps)
{
    static const a_case with = {"linear", "cpu", {"records=1", "end=1", "parameters.noise=1e-12", "measurements=[]"}};
    static const a_case without = {"linear", "cpu", {"records=1", "end=1", "measurements=[]"}};
    kept_run *some = run_on(&with, "cpu"), *none = run_on(&without, "cpu");

    ck_assert_uint_eq(some->totals.steps, none->totals.steps);
    /* Only that cells with noise need neighbours on both sides. */
    ck_assert_uint_gt(last_of(some)->cells, last_of(none)->cells);
    forget(some);
    forget(none);
}
END_TEST

static const struct {
    a_case c;
    int status;
    const char *text;
} refused[] = {
    {{"noise", "", {"parameters.own=0.3", "parameters.beside=0.31"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is too correlated for this grid at x1 = "},
    {{"noise", "", {"parameters.own=0.3", "parameters.beside=0.2", "factor=[1, 2]"}},
     GBEES_ENUMERIC,
     "its row for x1 has 4.8 on the diagonal and 6.4 beside it, which must not be more; give 'frame: moving', "},
    {{"noise", "", {"parameters.own=0.3", "parameters.square=-1"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is negative along x1, "},
    {{"noise", "", {"parameters.own=1e300", "parameters.square=1e308"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is not finite at x1 = "},
    /* Not at the mean, so not before a backend looks at all cells. */
    {{"noise", "", {"mode=paper", "dimension=1", "mean=[0]", "parameters.square=0.1"}},
     GBEES_EUSAGE,
     "the modes 'paper' and 'legacy' have no diffusion, and noise has: remove 'mode'"},
    /* Not before the middle of a step. */
    {{"noise", "", {"parameters.own=0.3", "parameters.rise=-40", "end=0.04"}},
     GBEES_ENUMERIC,
     "the diffusion of noise is negative along x1, "},
};

START_TEST(noise_that_can_not_be)
{
    const int k = _i / BACKENDS;
    const char *const backend = backend_names[_i % BACKENDS];

    if (!is_built(backend) || (!is_cpu(backend) && strcmp(refused[k].c.settings[0], "mode=paper") == 0))
        return; /* the GPU has no other modes */
    kept_run *run = try_run(&refused[k].c, backend);

    ck_assert_int_eq(run->status, refused[k].status);
    ck_assert_msg(strstr(run->error.text, refused[k].text) != NULL, "'%s' is not in '%s'", refused[k].text,
                  run->error.text);
    ck_assert_ptr_null(strchr(run->error.text, '\n'));
    forget(run);
}
END_TEST

static int try_problem(const char *name, const char *mode, const char *noise, gbees_error *error)
{
    const setting_list settings = {mode, noise};
    world w;
    int status = world_open(&w, open_registry(), name, "cpu");

    if (!status)
        status = scenario_make(w.model, &(scenario_source){.settings = settings}, &w.scenario, &w.error);
    ck_assert_msg(!status, "%s", w.error.text);
    status = gbees_problem_create(w.model, w.scenario, &w.problem, &w.error);
    *error = w.error;
    world_close(&w);
    return status;
}

START_TEST(old_modes_have_no_diffusion)
{
    gbees_error error = {GBEES_OK, ""};

    ck_assert_int_eq(try_problem("linear", "mode=paper", "parameters.noise=0", &error), GBEES_OK);
    ck_assert_int_eq(try_problem("linear", "mode=default", "parameters.noise=1", &error), GBEES_OK);
    ck_assert_int_ne(try_problem("linear", "mode=paper", "parameters.noise=1", &error), GBEES_OK);
    ck_assert_ptr_nonnull(
        strstr(error.text, "mode: paper has no diffusion, and the model has: remove 'mode: paper'"));
}
END_TEST

int main(void)
{
    const int places = PLACES + (int)(sizeof on_threads / sizeof *on_threads);
    const int refusals = (int)(sizeof refused / sizeof *refused);
    Suite *suite = suite_create("noise");
    TCase *engine = tcase_create("engine"), *slow = add_long_case(suite, "slow", 300);

    tcase_set_timeout(engine, 300);
    for (int k = 0; k < places; k++) /* of three dimensions one */
        tcase_add_loop_test(is_3d(place_of(k)) && k != 4 ? slow : engine, rough_noise_keeps_the_mass, k, k + 1);
    for (int k = 0; k < 12; k++) /* of three dimensions two: schemes without bounds on what they reconstruct */
        tcase_add_loop_test(k % 6 == 5 ? slow : engine, pure_diffusion_adds_the_covariance, k, k + 1);
    tcase_add_test(engine, floats_at_rest_keep_the_mass);
    tcase_add_loop_test(engine, no_noise_gets_out_of_bound, 0, 5);
    tcase_add_loop_test(engine, noise_that_grows_with_time, 0, 4);
    tcase_add_test(engine, no_noise_costs_no_steps);
    tcase_add_test(engine, old_modes_have_no_diffusion);
    tcase_add_loop_test(engine, noise_that_can_not_be, 0, refusals * BACKENDS);
    suite_add_tcase(suite, engine);
    return run_suite(suite);
}
