/* test_walls.c - states between walls, beside exact series: Brownian motion that is reflected or absorbed, and drift
 * towards a wall. */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

static const double pi = 3.14159265358979323846;

enum { TERMS = 60 };

/* The integral over (a, b) of the density at time t of dx = dW between walls at 0 and 1, from N(mean, deviation^2):
 * both reflect, or both absorb. */
static double between(double a, double b, double t, double mean, double deviation, int absorb)
{
    double sum = absorb ? 0 : b - a;

    for (int k = 1; k <= TERMS; k++) {
        const double w = k * pi, decay = exp(-w * w * (t + deviation * deviation) / 2);

        sum += absorb ? 2 * decay * sin(w * mean) * (cos(w * a) - cos(w * b)) / w
                      : 2 * decay * cos(w * mean) * (sin(w * b) - sin(w * a)) / w;
    }
    return sum;
}

static kept_run *run_between(const char *backend, const char *states, const char *width)
{
    const a_case c = {"walls",
                      backend,
                      {states, width, "precision=double", "dimension=1", "parameters.own=1", "mean=[0.15]",
                       "covariance=[0.0004]", "extent=7", "end=0.02", "threshold=1e-15"}};

    return run_on(&c, backend);
}

/* The largest error of a cell, as a density. */
static double largest_error(const kept_run *run, int absorb)
{
    const kept_record *last = &run->record[run->count - 1];
    const double h = run->width[0], mass = last->record.statistics.mass;
    double most = 0;

    for (size_t i = 0; i < last->count; i++) {
        const double a = last->problem.mean[0] + h * (last->index[i] - 0.5);

        most = fmax(most, fabs(last->p[i] * (absorb ? mass : 1) - between(a, a + h, 0.02, 0.15, 0.02, absorb)) / h);
    }
    return most;
}

static const char both[] = "states=[{state: x1, lower: 0, upper: 1}]";
static const char absorbing[] = "states=[{state: x1, lower: 0, upper: 1, at_lower: absorb, at_upper: absorb}]";

START_TEST(brownian_motion_between_reflecting_walls)
{
    const char *backend = backend_names[_i];

    if (!is_built(backend))
        return;
    kept_run *wide = run_between(backend, both, "width=[0.016]"),
             *narrow = run_between(backend, both, "width=[0.008]");
    const double first = largest_error(wide, 0), second = largest_error(narrow, 0);
    const gbees_totals *totals = &wide->record[wide->count - 1].record.totals;

    ck_assert_double_eq_tol(wide->width[0], 1.0 / 64, 1e-15); /* a whole number of bricks */
    ck_assert_uint_eq(wide->record[wide->count - 1].count, 64);
    ck_assert_msg(first < 1e-4 && second < first / 32, "%g, %g", first, second);
    ck_assert_double_eq(totals->mass_outflow, 0);
    forget(wide);
    forget(narrow);
}
END_TEST

START_TEST(brownian_motion_between_absorbing_walls)
{
    const char *backend = backend_names[_i];

    if (!is_built(backend))
        return;
    kept_run *wide = run_between(backend, absorbing, "width=[0.016]"),
             *narrow = run_between(backend, absorbing, "width=[0.008]");
    const double first = largest_error(wide, 1), second = largest_error(narrow, 1);
    const gbees_statistics *now = &narrow->record[narrow->count - 1].record.statistics;
    const gbees_totals *totals = &narrow->record[narrow->count - 1].record.totals;
    const double stays = between(0, 1, 0.02, 0.15, 0.02, 1);

    ck_assert_msg(first < 1e-3 && second < first / 3, "%g, %g", first, second);
    ck_assert_double_eq_tol(now->mass, stays, 1e-4);
    ck_assert_double_eq_tol(totals->mass_outflow, 1 - stays, 1e-4);
    forget(wide);
    forget(narrow);
}
END_TEST

/* dx = -k dt + dW above a wall at 0 becomes exponential, 2 k exp(-2 k x). */
START_TEST(drift_towards_a_wall_is_stationary)
{
    const a_case c = {"walls",
                      "cpu",
                      {"states=[{state: x1, lower: 0}]", "width=[0.02]", "dimension=1", "parameters.own=1",
                       "parameters.constant=-1", "mean=[0.5]", "covariance=[0.01]", "extent=4.9", "end=12",
                       "threshold=1e-11"}};
    kept_run *run = run_on(&c, "cpu");
    const kept_record *last = &run->record[run->count - 1];
    const gbees_statistics *now = &last->record.statistics;

    ck_assert_double_eq_tol(now->mean[0], 0.5, 2e-3);
    ck_assert_double_eq_tol(sqrt(now->covariance[0]), 0.5, 2e-3);
    for (size_t i = 0; i < last->count; i++)
        ck_assert_double_gt(last->problem.mean[0] + run->width[0] * last->index[i], 0);
    forget(run);
}
END_TEST

/* Without noise, what the drift carries to a wall: stays in the cell at one that reflects, leaves by one that
 * absorbs. */
START_TEST(drift_alone_ends_at_a_wall)
{
    static const char *const walls[] = {"states=[{state: x1, upper: 1}]",
                                        "states=[{state: x1, upper: 1, at_upper: absorb}]"};
    const a_case c = {"walls",
                      "cpu",
                      {walls[_i], "width=[0.02, 0.02]", "dimension=2", "parameters.constant=1", "mean=[0.3, 0]",
                       "covariance=[0.0025, 0.0025]", "extent=4", "end=0.7", "threshold=1e-9"}};
    kept_run *run = run_on(&c, "cpu");
    const kept_record *last = &run->record[run->count - 1];
    const double mass = last->record.statistics.mass, outflow = last->record.totals.mass_outflow;
    double at_wall = 0;

    for (size_t i = 0; i < last->count; i++) {
        const double x = last->problem.mean[0] + run->width[0] * last->index[i];

        ck_assert_double_lt(x, 1);
        at_wall += x > 1 - run->width[0] ? last->p[i] : 0;
    }
    ck_assert_double_eq_tol(mass, _i ? 0.5 : 1, 1e-3);
    ck_assert_double_eq_tol(outflow, _i ? 0.5 : 0, 1e-3);
    if (_i == 0)
        ck_assert_double_gt(at_wall, 0.5);
    forget(run);
}
END_TEST

/* A square-root process that reaches its wall, where noise ends and the drift leads inwards: dx = (0.5 - x) dt + 1.2
 * x^(1/2) dW from N(0.5, 0.05^2), t = 1. A non-central chi-square distribution (Cox, Ingersoll, Ross, Econometrica 53
 * (1985) 385), averaged over the start. The density has a pole at 0. */
START_TEST(a_square_root_process_reaches_its_wall)
{
    const a_case c = {"walls",
                      "cpu",
                      {"states=[{state: x1, lower: 0}]", "width=[0.016666666666666666]", "dimension=1", "mean=[0.5]",
                       "covariance=[0.0025]", "extent=6", "parameters.constant=0.5", "parameters.growth=-1",
                       "parameters.linear=1.44", "threshold=1e-13", "precision=double"}};
    kept_run *run = run_on(&c, "cpu");
    const kept_record *last = &run->record[run->count - 1];
    const gbees_statistics *now = &last->record.statistics;
    double near = 0, far = 0;

    for (size_t i = 0; i < last->count; i++) {
        const double x = last->problem.mean[0] + run->width[0] * last->index[i];

        ck_assert_double_gt(x, 0);
        near += x < 0.05 ? last->p[i] : 0;
        far += x > 1.5 ? last->p[i] : 0;
    }
    ck_assert_double_eq_tol(now->mean[0], 0.5, 5e-4);
    ck_assert_double_eq_tol(sqrt(now->covariance[0]), 0.558227, 5e-4);
    ck_assert_double_eq_tol(near, 0.155794, 1e-3);
    ck_assert_double_eq_tol(far, 0.0627965, 1e-4);
    ck_assert_double_eq_tol(now->mass, 1, 1e-9);
    forget(run);
}
END_TEST

/* In two dimensions, where bricks are shorter than a sweep reaches in few cells. */
START_TEST(backends_agree)
{
    static const char *const states[] = {"states=[{state: x1, lower: 0}, {state: x2, lower: -1, upper: 0.2}]",
                                         "states=[{state: x1, upper: 1, at_upper: absorb}]"};
    const a_case c = {"walls",
                      "shim",
                      {states[_i], "dimension=2", "mean=[0.3, 0]", "covariance=[0.01, 0.01]", "width=[0.05, 0.06]",
                       "parameters.constant=0.3", "parameters.own=0.02", "parameters.square=0.3", "precision=double",
                       "end=0.7", "threshold=1e-10", "extent=2.9"}};

    if (!is_built("shim"))
        return;
    kept_run *cpu = run_on(&c, "cpu"), *shim = run_on(&c, "shim");

    compare(shim, cpu, &(bounds){.p = 1e-11, .moments = 1e-11, .ledger = 1e-12});
    check_ledger(cpu);
    forget(cpu);
    forget(shim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walls");
    TCase *walls = tcase_create("walls");

    tcase_set_timeout(walls, 120);
    tcase_add_loop_test(walls, brownian_motion_between_reflecting_walls, 0, BACKENDS);
    tcase_add_loop_test(walls, brownian_motion_between_absorbing_walls, 0, BACKENDS);
    tcase_add_test(walls, drift_towards_a_wall_is_stationary);
    tcase_add_test(walls, a_square_root_process_reaches_its_wall);
    tcase_add_loop_test(walls, drift_alone_ends_at_a_wall, 0, 2);
    tcase_add_loop_test(walls, backends_agree, 0, 2);
    suite_add_tcase(suite, walls);
    return run_suite(suite);
}
