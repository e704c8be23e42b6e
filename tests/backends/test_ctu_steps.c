/* test_ctu_steps.c - steps of `ctu` and its variants against the paper's Algorithm 1 on a dense window (dense.h),
 * cell by cell. The CPU alone has kernels of all dimensions and precisions. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

/* Large enough to have an inside, small enough for seconds. */
static int extent_of(int n)
{
    return n == 1 ? 20 : n == 2 ? 7 : n == 3 ? 4 : n == 4 ? 2 : 1;
}

static int steps_of(int n)
{
    return n <= 5 ? 3 : n == 6 ? 2 : 1;
}

/* A threshold above much of the initial box. */
static double cutting(int n)
{
    return n == 1 ? 0.02 : n == 2 ? 3e-3 : n == 3 ? 1e-3 : 1e-4;
}

/* One step of both; `level` is what counts as active before it. Returns the level after it. */
static double step_both(rig *r, dense *d, double level)
{
    const gbees_numerics *how = &r->problem.numerics;
    double time = r->clock.time, before = dense_sum(d);

    rig_velocities(r, d, time);
    dense_grow(d, level);
    rig_steps(r, 1);
    double step = rig_totals(r).time_step;
    if (how->time_step > 0)
        ck_assert_double_eq(step, how->time_step);
    rig_velocities(r, d, time + step / 2);
    dense_step(d, step, 1);
    return r->problem.threshold * before;
}

/* Some steps of the rig's problem, compared after each. */
static void steps_agree(rig *r, int steps, double tolerance)
{
    dense d;
    double level = rig_begin(r, &d, steps);

    ck_assert_double_eq_tol(dense_sum(&d), 1 - rig_totals(r).mass_pruned, 1e-6);
    for (int k = 0; k < steps; k++) {
        level = step_both(r, &d, level);
        rig_compare(r, &d, r->problem.threshold, tolerance);
    }
    dense_destroy(&d);
    rig_stop(r);
}

START_TEST(initial_density_is_the_gaussian)
{
    for (int n = 1; n <= 4; n++)
        for (int paper = 0; paper < 2; paper++) {
            rig r;
            dense d;
            double sum = 0;

            rig_open(&r, paper ? "paper" : "cpu", n, 3);
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    r.problem.covariance[j * n + k] = j == k ? 0.09 + 0.01 * j : 0;
            rig_start(&r, 1);
            rig_window(&r, &d, 2);
            rig_collect(&r, &d, d.p);
            double *wanted = calloc((size_t)d.cells, sizeof *wanted);
            ck_assert_ptr_nonnull(wanted);
            for (long i = 0; i < d.cells; i++) {
                double exponent = 0;
                int inside = 1;

                for (int j = 0; j < n; j++) {
                    int index = d.lo[j] + dense_coordinate(&d, i, j);
                    double off = index * r.problem.width[j];

                    inside = inside && abs(index) <= 3;
                    exponent -= off * off / (2 * (0.09 + 0.01 * j));
                }
                sum += wanted[i] = inside ? exp(exponent) : 0;
            }
            for (long i = 0; i < d.cells; i++)
                ck_assert_double_eq_tol(d.p[i], wanted[i] / sum, 1e-15);
            ck_assert_double_eq_tol(rig_statistics(&r).mass, 1, 1e-13);
            free(wanted);
            dense_destroy(&d);
            rig_close(&r);
        }
}
END_TEST

START_TEST(double_bricks_equal_algorithm_1)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, extent_of(n));
    steps_agree(&r, steps_of(n), 1e-12);
    rig_close(&r);
}
END_TEST

START_TEST(mixed_equals_algorithm_1)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open(&r, backend, n, extent_of(n));
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    steps_agree(&r, steps_of(n), 1e-5);
    rig_close(&r);
}
END_TEST

/* Time counts at the middle of a step; half the Courant number, a fixed step. */
START_TEST(time_and_step_are_honoured)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open(&r, backend, n, extent_of(n));
    r.problem.parameters[BEAT] = 1.3;
    r.problem.start = 0.4;
    r.problem.numerics.courant = 0.5;
    steps_agree(&r, 3, 1e-12);
    r.problem.numerics.time_step = n == 1 ? 0.003 : 0.01;
    steps_agree(&r, 3, 1e-12);
    rig_close(&r);
}
END_TEST

/* A threshold that cuts: what is absent reads as 0, on both sides, and is grown downwind only. */
START_TEST(truncated_grids_equal_algorithm_1)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n == 1 ? 8 : 6 - n);
    r.problem.threshold = cutting(n);
    steps_agree(&r, 4, 1e-12);
    rig_close(&r);
}
END_TEST

START_TEST(mirrored_problems_have_mirrored_results)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n == 1 ? 8 : 6 - n);
    r.problem.numerics.time_step = n == 1 ? 0.004 : 0.02; /* up to Courant number 1 */
    ck_assert_double_lt(rig_asymmetry(&r, 4, NULL),
                        1e-8); /* bricks: edges reached where the flow turns are there or not */
    rig_close(&r);
}
END_TEST

/* The first step of this problem. */
static double first_step(rig *r)
{
    rig_start(r, 1);
    rig_steps(r, 1);
    return rig_totals(r).time_step;
}

/* Starts the problem with a fixed step, and takes it. Returns the status. */
static int try_fixed(rig *r, double step)
{
    r->problem.numerics.time_step = step;
    rig_start(r, 1);
    return r->backend->advance(r->engine, &r->clock, 1, &r->error);
}

/* At most Courant number 1; a step that ends an interval counts as it is cut. */
START_TEST(fixed_steps_beyond_the_limit_are_refused)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    static const struct {
        gbees_scheme scheme;
        double courant;
    } kinds[] = {
        {GBEES_SCHEME_CTU, 1}, {GBEES_SCHEME_CTU, 0.5}, {GBEES_SCHEME_SPLIT5, 1}, {GBEES_SCHEME_SPLIT5, 0.5}};
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n == 1 ? 8 : 6 - n);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char wanted[256];

        r.problem.numerics.scheme = kinds[k].scheme;
        r.problem.numerics.courant = kinds[k].courant;
        r.problem.numerics.time_step = 0;
        const double longest = first_step(&r) / kinds[k].courant;
        ck_assert_int_eq(try_fixed(&r, longest), 0);
        ck_assert_double_eq(rig_totals(&r).time_step, longest);
        ck_assert_int_eq(try_fixed(&r, 1.5 * longest), GBEES_ENUMERIC);
        (void)snprintf(wanted, sizeof wanted,
                       "the time step of %.6g at t = 0 has Courant number %.3g, and the scheme takes at most 1: "
                       "give a `time_step` of at most ",
                       1.5 * longest, 1.5);
        ck_assert_msg(strncmp(r.error.text, wanted, strlen(wanted)) == 0, "'%s', not '%s'", r.error.text, wanted);
        ck_assert_double_eq(r.clock.elapsed, 0);
        double told = 0; /* of two digits, rounded down */
        ck_assert_int_eq(sscanf(r.error.text + strlen(wanted), "%lf, or leave it out", &told), 1);
        ck_assert_double_le(told, longest * (1 + 1e-12));
        ck_assert_double_gt(told, longest / 1.1);
        ck_assert_int_eq(try_fixed(&r, told), 0);
        r.problem.end = longest;
        ck_assert_int_eq(try_fixed(&r, 1.5 * longest), 0);
        ck_assert_double_eq(r.clock.elapsed, longest);
        r.problem.end = 1e9;
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ctu steps");
    TCase *steps = tcase_create("steps");

    tcase_set_timeout(steps, 60);
    tcase_add_test(steps, initial_density_is_the_gaussian);
    tcase_add_loop_test(steps, double_bricks_equal_algorithm_1, 0, places_to(8));
    tcase_add_loop_test(steps, mixed_equals_algorithm_1, 0, places_to(8));
    tcase_add_loop_test(steps, time_and_step_are_honoured, 0, places_to(4));
    tcase_add_loop_test(steps, truncated_grids_equal_algorithm_1, 0, places_to(4));
    tcase_add_loop_test(steps, mirrored_problems_have_mirrored_results, 0, places_to(4));
    tcase_add_loop_test(steps, fixed_steps_beyond_the_limit_are_refused, 0, places_to(4));
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
