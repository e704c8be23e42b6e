/* test_diffusion.c - process noise: the rates of core/numerics/diffusion.h by themselves, and what an engine has to
 * keep whatever Q is: no cell below 0, the mass, the variance of pure diffusion; and what it says when Q can't be. */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"
#include "numerics/diffusion.h"

/* ---- the rates --------------------------------------------------------------------------------------------------
 */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Symmetric, and diagonally dominant in units of cells. */
static void random_noise(int n, const double *over, uint64_t *state, double *q)
{
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++)
            q[j * n + k] = q[k * n + j] = (2 * uniform(state) - 1) / (over[j] * over[k]);
    for (int j = 0; j < n; j++) {
        double beside = 0;

        for (int k = 0; k < n; k++)
            beside += k == j ? 0 : fabs(q[j * n + k]) * over[k] / over[j];
        q[j * n + j] = beside + uniform(state) / (over[j] * over[j]);
    }
}

/* Number `number` of the shifts that a cell may give to, and at which rate; 0: there are no more. */
static int shift_of(int n, int number, const double *q, const double *over, int *shift, double *rate)
{
    memset(shift, 0, sizeof *shift * 3);
    if (number < 2 * n) {
        shift[number / 2] = number % 2 ? 1 : -1;
        *rate = gbees_diffusion_axis(n, 1, q, 1, over, number / 2);
        return 1;
    }
    number -= 2 * n;
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++, number -= 2)
            if (number < 2) {
                double pair = gbees_diffusion_pair(n, q, 1, over, j, k);

                shift[j] = number ? 1 : -1;
                shift[k] = pair > 0 ? shift[j] : -shift[j];
                *rate = fabs(pair);
                return 1;
            }
    return 0;
}

/* The jumps of the chain have no mean, and Q as their covariance. */
START_TEST(jumps_have_the_covariance)
{
    const int n = _i;
    uint64_t state = 17;

    for (int trial = 0; trial < 100; trial++) {
        double q[9], over[3], sum[3] = {0}, square[9] = {0}, total = 0, rate;
        int shift[3];

        for (int j = 0; j < n; j++)
            over[j] = 0.3 + 3 * uniform(&state);
        random_noise(n, over, &state, q);
        for (int number = 0; shift_of(n, number, q, over, shift, &rate); number++) {
            ck_assert_double_ge(rate, 0);
            total += rate;
            for (int j = 0; j < n; j++) {
                sum[j] += rate * shift[j];
                for (int k = 0; k < n; k++)
                    square[j * n + k] += rate * shift[j] * shift[k] / (over[j] * over[k]);
            }
        }
        ck_assert_double_eq_tol(gbees_diffusion_total(n, 1, q, 1, over), total, 1e-13 * total);
        for (int j = 0; j < n; j++) {
            ck_assert_int_eq(gbees_diffusion_fault(n, 1, q, 1, over, j), GBEES_NOISE_FINE);
            ck_assert_double_eq_tol(sum[j], 0, 1e-13 * total);
            for (int k = 0; k < n; k++)
                ck_assert_double_eq_tol(square[j * n + k], q[j * n + k], 1e-12 * (fabs(q[j * n + j]) + 1));
        }
    }
}
END_TEST

enum { BOX = 6 };

/* Where a shift leads in a box without ends. */
static int cell_beside(int n, int cell, const int *shift)
{
    int to = 0;

    for (int j = 0, stride = 1; j < n; j++, stride *= BOX)
        to += (cell / stride % BOX + shift[j] + BOX) % BOX * stride;
    return to;
}

/* One explicit step as long as it may be, with Q and P drawn anew for each cell. */
START_TEST(a_step_is_positive_and_conservative)
{
    const int n = _i, cells = n == 1 ? BOX : n == 2 ? BOX * BOX : BOX * BOX * BOX;
    double over[3] = {1.7, 0.4, 2.9};
    uint64_t state = 5;

    for (int trial = 0; trial < 20; trial++) {
        double q[BOX * BOX * BOX][9], p[BOX * BOX * BOX], to[BOX * BOX * BOX], most = 0, before = 0, after = 0, rate;
        int shift[3];

        for (int i = 0; i < cells; i++) {
            random_noise(n, over, &state, q[i]);
            to[i] = p[i] = uniform(&state) < 0.5 ? 0 : uniform(&state);
            most = fmax(most, gbees_diffusion_total(n, 1, q[i], 1, over));
            before += p[i];
        }
        double step = 0.7, steps = gbees_diffusion_steps(step, most);
        ck_assert_double_le(most * step / steps, 0.96875);
        ck_assert_double_gt(most * step / (steps - 1), 0.96875);
        for (int i = 0; i < cells; i++)
            for (int number = 0; shift_of(n, number, q[i], over, shift, &rate); number++) {
                to[i] -= step / steps * rate * p[i];
                to[cell_beside(n, i, shift)] += step / steps * rate * p[i];
            }
        for (int i = 0; i < cells; i++) {
            ck_assert_double_ge(to[i], 0);
            after += to[i];
        }
        ck_assert_double_eq_tol(after, before, 1e-13 * before);
    }
}
END_TEST

START_TEST(faults_are_found)
{
    const double over[2] = {1, 2};
    const double fine[4] = {1, 0.5, 0.5, 0.25}, wide[4] = {1, 0.5001, 0.5001, 1};
    const double negative[4] = {1, 0, 0, -1}, infinite[4] = {1, INFINITY, INFINITY, 1};

    /* 0.5 is a cell's 1 against 1. */
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, fine, 1, over, 0), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, fine, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, wide, 1, over, 0), GBEES_NOISE_NOT_DOMINANT);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, wide, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, negative, 1, over, 1), GBEES_NOISE_NEGATIVE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 1, infinite, 1, over, 0), GBEES_NOISE_NOT_FINITE);
    ck_assert_int_eq(gbees_diffusion_fault(2, 0, negative, 1, over, 1), GBEES_NOISE_FINE);
    ck_assert_double_eq(gbees_diffusion_steps(0.5, 0), 0);
}
END_TEST

/* ---- the engine -------------------------------------------------------------------------------------------------
 */

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

#define DIMENSIONS                                                                                                   \
    {                                                                                                                \
        "dimension=1", "dimension=2", "dimension=3"                                                                  \
    }

static const char *const schemes[] = {"scheme=split5", "scheme=split5-mp", "scheme=ctu", "scheme=ctu-positive"};

/* Rough noise, and a p* that cuts off a part of the density: nothing is below 0, and the ledger closes. */
START_TEST(rough_noise_keeps_the_mass)
{
    static const char *const dimensions[] = DIMENSIONS;
    const int twice = _i % 2;
    const a_case c = {"noise",
                      "cpu",
                      {dimensions[_i / 2 % 3], schemes[_i / 6], twice ? "precision=double" : "precision=mixed",
                       "threshold=1e-4", "factor=2", "parameters.own=0.5", "parameters.beside=0.1",
                       "parameters.rough=1", "parameters.square=0.1", "parameters.rise=1"}};
    kept_run *run = run_on(&c, "cpu");

    ck_assert_uint_gt(run->totals.steps, 0);
    ck_assert_double_gt(run->totals.mass_outflow + run->totals.mass_pruned, 1e-12);
    ck_assert_double_lt(run->totals.mass_clipped, twice ? 1e-100 : 1e-20); /* numbers too small to keep */
    assert_ledger(run, twice ? 1e-12 : 1e-6);
    forget(run);
}
END_TEST

/* What comes to cells out of bound is lost at the end of a step, once. */
START_TEST(no_noise_gets_out_of_bound)
{
    const a_case c = {"noise",
                      "cpu",
                      {"dimension=2", schemes[_i], "precision=double", "threshold=1e-9", "factor=2",
                       "bound=[-0.8, 1]", "parameters.growth=0.3", "parameters.own=0.5", "parameters.beside=0.2"}};
    kept_run *run = run_on(&c, "cpu");

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
    static const char *const dimensions[] = DIMENSIONS;
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
     "the diffusion of noise is too correlated for this grid at x1 = -"},
    {{"noise", "", {"parameters.own=0.3", "parameters.beside=0.2", "factor=[1, 2]"}},
     GBEES_ENUMERIC,
     "its row for x1 has 4.8 on the diagonal and 6.4 beside it, which must not be more; change the widths or "
     "factors"},
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
    kept_run *run = try_run(&refused[_i].c, "cpu");

    ck_assert_int_eq(run->status, refused[_i].status);
    ck_assert_msg(strstr(run->error.text, refused[_i].text) != NULL, "'%s' is not in '%s'", refused[_i].text,
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
    Suite *suite = suite_create("diffusion");
    TCase *rates = tcase_create("rates"), *engine = tcase_create("engine"), *slow = tcase_create("slow");

    tcase_add_loop_test(rates, jumps_have_the_covariance, 1, 4);
    tcase_add_loop_test(rates, a_step_is_positive_and_conservative, 1, 4);
    tcase_add_test(rates, faults_are_found);
    tcase_set_timeout(engine, 300);
    tcase_set_timeout(slow, 300);
    tcase_set_tags(slow, "long");
    for (int k = 0; k < 24; k++) /* three dimensions with the first scheme only */
        tcase_add_loop_test(k / 2 % 3 == 2 && k >= 6 ? slow : engine, rough_noise_keeps_the_mass, k, k + 1);
    tcase_add_loop_test(engine, no_noise_gets_out_of_bound, 0, sizeof schemes / sizeof *schemes);
    tcase_add_loop_test(engine, pure_diffusion_adds_the_covariance, 0, 12);
    tcase_add_loop_test(engine, noise_that_grows_with_time, 0, 4);
    tcase_add_test(engine, no_noise_costs_no_steps);
    tcase_add_test(engine, old_modes_have_no_diffusion);
    tcase_add_loop_test(engine, noise_that_can_not_be, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(suite, rates);
    suite_add_tcase(suite, engine);
    suite_add_tcase(suite, slow);
    return run_suite(suite);
}
