/* test_cpu_far.c - the split scheme of the CPU backend with Courant numbers above 1: its sweeps and its growth
 * against plain loops on a dense window (dense_split.h), whole shifts, its ledger, the limit of its step. */
#include "cpu/engine/engine.h"
#include "fixtures/dense_split.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

static double courant_of(int n)
{
    return n == 1 ? 5 : n == 2 ? 3.5 : n == 3 ? 3 : 1.8;
}

/* The largest that may be asked for: the shortest edge of a brick. */
static double most_courant_of(int n)
{
    return n == 1 ? 64 : n == 2 ? 8 : n == 3 ? 4 : 2;
}

static void open_far(rig *r, int n)
{
    rig_open_split(r, "cpu", n, n == 1 ? 20 : n == 2 ? 7 : n == 3 ? 4 : n == 4 ? 2 : 1);
    r->problem.numerics.courant = courant_of(n);
}

/* ---- cell by cell -------------------------------------------------------------------------------------------- */

static long walk(const dense *d, long cell, int direction, int steps)
{
    for (int k = 0; k < steps; k++)
        cell = dense_next(d, cell, direction / 2, direction % 2 ? 1 : -1);
    return cell;
}

/* All cells within `reach` in each direction of flow and each pair of them. */
static void grow(dense *d, double threshold, int reach)
{
    for (long cell = 0; cell < d->cells; cell++) {
        if (!d->present[cell] || d->p[cell] < threshold)
            continue;
        for (int a = 0; a < 2 * d->n; a++) {
            if (!dense_flows(d, cell, a / 2, a % 2))
                continue;
            long far = walk(d, cell, a, reach);
            dense_insert(d, far);
            for (int b = (a | 1) + 1; b < 2 * d->n; b++)
                if (dense_flows(d, cell, b / 2, b % 2))
                    dense_insert(d, walk(d, far, b, reach));
        }
    }
}

static void steps_agree(rig *r, int steps, double tolerance)
{
    const double courant = r->problem.numerics.courant;
    const int reach = (int)ceil(courant), margin = steps * (reach + (r->problem.dimension <= 3));
    const double threshold = r->problem.threshold;
    double level = threshold, most = 0;
    dense d;

    r->problem.threshold = 1e-300; /* shows all cells */
    rig_start(r, 1);
    rig_window(r, &d, margin);
    rig_collect(r, &d, d.p);
    r->problem.threshold = threshold;
    rig_start(r, 1);
    double *p = malloc((size_t)d.cells * sizeof *p);
    ck_assert_ptr_nonnull(p);
    for (uint64_t k = 0; k < (uint64_t)steps; k++) {
        double before = dense_sum(&d), time = r->clock.time;

        rig_velocities(r, &d, time);
        grow(&d, level, reach);
        rig_steps(r, 1);
        double step = rig_totals(r).time_step;
        rig_velocities(r, &d, time + step / 2);
        for (long i = 0; i < d.cells; i++)
            for (int j = 0; j < d.n && d.present[i]; j++)
                most = fmax(most, step * fabs(d.v[j][i]) / d.width[j]);
        split_step_to(&d, k, step, split_form(r->problem.numerics.scheme), (int)(1.25 * courant) + 1);
        level = threshold * before;
        rig_collect(r, &d, p);
        double sum = dense_sum(&d), largest = dense_most(&d) / sum;
        for (long i = 0; i < d.cells; i++)
            ck_assert_msg(fabs(p[i] - d.p[i] / sum) <= tolerance * largest, "n = %d, cell %ld: %.17g, not %.17g", d.n,
                          i, p[i], d.p[i] / sum);
        ck_assert_double_eq_tol(rig_statistics(r).mass / sum, 1, tolerance);
    }
    ck_assert_double_gt(most, 1.2); /* it was above 1 */
    free(p);
    dense_destroy(&d);
}

/* Slow turns, so that the limit of the step leaves it above Courant number 1. */
static void calm(rig *r)
{
    r->problem.parameters[ROTATION] = 0.02;
    r->problem.parameters[BEND] = 0.01;
}

START_TEST(bricks_equal_plain_loops)
{
    rig r;

    open_far(&r, _i);
    calm(&r);
    steps_agree(&r, _i <= 3 ? 4 : 2, 1e-12);
    r.problem.numerics.scheme = GBEES_SCHEME_SPLIT5_MP;
    steps_agree(&r, 2, 1e-12);
    r.problem.numerics.scheme = GBEES_SCHEME_SPLIT5;
    r.problem.parameters[BEAT] = 0.7;
    steps_agree(&r, 2, 1e-12);
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    steps_agree(&r, 2, 1e-5);
    rig_close(&r);
}
END_TEST

/* Three cells in one step: the density is where it was, moved. */
START_TEST(whole_shifts_are_exact)
{
    rig r;

    rig_open(&r, "cpu", _i, 4);
    rig_straighten(&r);
    r.problem.numerics.scheme = GBEES_SCHEME_SPLIT5;
    r.problem.numerics.courant = 3;
    for (int axis = 0; axis < _i; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            dense before, after;

            r.problem.parameters[VELOCITY + axis] = sign * r.problem.width[axis];
            rig_window(&r, &before, 8);
            rig_window(&r, &after, 8);
            rig_start(&r, 1);
            rig_collect(&r, &before, before.p);
            rig_steps(&r, 1);
            ck_assert_double_eq_tol(rig_totals(&r).time_step, 3, 1e-15);
            ck_assert(rig_totals(&r).coupling == 0);
            rig_collect(&r, &after, after.p);
            for (long i = 0; i < before.cells; i++) {
                long to = walk(&before, i, 2 * axis + (sign > 0), 3);

                ck_assert(before.p[i] == 0 || to >= 0);
                if (to >= 0)
                    ck_assert_double_eq_tol(after.p[to], before.p[i], 1e-15);
            }
            r.problem.parameters[VELOCITY + axis] = 0;
            dense_destroy(&before);
            dense_destroy(&after);
        }
    rig_close(&r);
}
END_TEST

/* ---- mass ---------------------------------------------------------------------------------------------------- */

/* Along the first axis the flow is faster by several cells a step on one side of 0: upstream, so that it overtakes
 * what is ahead, or downstream. The fixed step is longer than the coupling would have it. */
START_TEST(the_ledger_closes_and_nothing_is_negative)
{
    static const double steps[] = {0, 0.001, 0.02, 0.03, 0.03};

    for (int kind = 0; kind < 4; kind++) {
        const int mixed = kind & 1, speeds_up = kind >> 1;
        rig r;

        open_far(&r, _i);
        const double most = most_courant_of(_i), fastest = most * r.problem.width[0] / steps[_i];
        r.problem.numerics.precision = mixed ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.numerics.courant = most;
        r.problem.numerics.time_step = steps[_i];
        r.problem.parameters[VELOCITY] = 0.4 * fastest;
        r.problem.parameters[JUMP] = (speeds_up ? 0.35 : -0.35) * fastest;
        r.problem.threshold = 1e-6;
        r.problem.numerics.prune_interval = 3;
        rig_start(&r, 1);
        for (int k = 0; k < 8; k++) {
            rig_steps(&r, 1);
            gbees_totals t = rig_totals(&r);

            ck_assert_double_lt(fabs(t.mass_clipped), mixed ? 1e-7 : 1e-15);
            ck_assert_double_eq_tol(rig_statistics(&r).mass, 1 + t.mass_clipped - t.mass_outflow - t.mass_pruned,
                                    mixed ? 1e-6 : 1e-12);
        }
        rig_close(&r);
    }
}
END_TEST

/* ---- the step ------------------------------------------------------------------------------------------------ */

/* A linear drift: every brick has the same Jacobian. */
START_TEST(the_step_is_limited_by_the_coupling)
{
    rig r;

    open_far(&r, _i);
    r.problem.parameters[BEND] = 0;
    double sum = 0;
    for (int j = 0; j < _i; j++) { /* turns in the planes of axes 2k, 2k + 1 */
        double ratio = (j ^ 1) < _i ? 0.77 * r.problem.width[j ^ 1] / r.problem.width[j] : 0;

        sum += ratio * ratio;
    }
    for (int kind = 0; kind < 3; kind++) {
        const double turn = kind == 0 ? 1 : kind == 1 ? 0.1 : 0;

        r.problem.parameters[ROTATION] = 0.77 * turn;
        r.problem.numerics.courant = 1;
        rig_start(&r, 1);
        rig_steps(&r, 1);
        double slow = rig_totals(&r).time_step;
        r.problem.numerics.courant = courant_of(_i);
        rig_start(&r, 1);
        rig_steps(&r, 1);
        gbees_totals t = rig_totals(&r);
        ck_assert_double_eq_tol(t.coupling, turn * sqrt(sum), 1e-9);
        /* More bricks were made for the longer reach, and some of them are faster. */
        double limit = turn > 0 ? 0.1 / t.coupling : INFINITY, most = fmin(courant_of(_i) * slow, fmax(slow, limit));
        ck_assert_double_le(t.time_step, most * (1 + 1e-12));
        ck_assert_double_ge(t.time_step, 0.8 * most);
        if (limit > slow && limit < 0.8 * courant_of(_i) * slow)
            ck_assert_double_eq_tol(t.time_step / limit, 1, 1e-12);
    }
    rig_close(&r);
}
END_TEST

START_TEST(steps_beyond_the_next_brick_are_refused)
{
    rig r;

    open_far(&r, 3);
    r.problem.numerics.courant = 4.5;
    ck_assert_int_eq(rig_try(&r, 1), GBEES_EUSAGE);
    ck_assert_str_eq(r.error.text, "the CPU backend takes Courant numbers up to 4 here, not 4.5");
    r.problem.numerics.courant = 4;
    rig_start(&r, 1);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu far");
    TCase *steps = tcase_create("steps");

    tcase_set_timeout(steps, 60);
    tcase_add_loop_test(steps, bricks_equal_plain_loops, 1, 6);
    tcase_add_loop_test(steps, whole_shifts_are_exact, 1, 4);
    tcase_add_loop_test(steps, the_ledger_closes_and_nothing_is_negative, 1, 5);
    tcase_add_loop_test(steps, the_step_is_limited_by_the_coupling, 2, 6);
    tcase_add_test(steps, steps_beyond_the_next_brick_are_refused);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
