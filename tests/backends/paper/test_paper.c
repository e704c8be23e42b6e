/* test_paper.c - steps of the backend 'paper' against the paper's Algorithm 1 on a dense window (dense.h), cell by
 * cell; and the other backends' `ctu` against it, where both compute the same. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

/* Opens a grid of n dimensions, of which a threshold cuts much off. */
static void open_cut(rig *r, int n)
{
    rig_open(r, "paper", n, n == 1 ? 8 : 6 - n);
    r->problem.threshold = n == 1 ? 0.02 : n == 2 ? 3e-3 : n == 3 ? 1e-3 : 1e-4;
}

static void grow_all(dense *d, double threshold)
{
    int number = 1;

    for (int j = 0; j < d->n; j++)
        number *= 3;
    for (long i = 0; i < d->cells; i++)
        for (int k = 0; k < number && d->present[i] && d->p[i] >= threshold; k++) {
            long cell = i;

            for (int j = 0, digits = k; j < d->n; j++, digits /= 3)
                cell = digits % 3 == 1 ? cell : dense_next(d, cell, j, digits % 3 - 1);
            dense_insert(d, cell);
        }
}

/* Eq. (8): the largest step that the CFL condition allows on the present cells. */
static double longest_step(const dense *d)
{
    double most = 0;

    for (long i = 0; i < d->cells; i++) {
        double rate = 0;

        for (int j = 0; j < d->n; j++)
            rate += fabs(d->v[j][i]) / d->width[j];
        most = d->present[i] ? fmax(most, rate) : most;
    }
    return 1 / most;
}

/* Some steps of both, compared after each. */
static void steps_agree(rig *r, int steps)
{
    const gbees_numerics *how = &r->problem.numerics;
    dense d;

    (void)rig_begin(r, &d, steps);
    ck_assert_double_eq_tol(dense_sum(&d), 1, 1e-12);
    for (int k = 0; k < steps; k++) {
        rig_velocities(r, &d, r->clock.time); /* those of the start of a step */
        if (how->mode == GBEES_MODE_LEGACY)
            grow_all(&d, r->problem.threshold);
        else
            dense_grow(&d, r->problem.threshold);
        rig_steps(r, 1);
        const double step = rig_totals(r).time_step;
        ck_assert_double_eq_tol(step, how->time_step > 0 ? how->time_step : longest_step(&d), 1e-12 * step);
        dense_step(&d, step, 1);
        dense_scale(&d, 1 / dense_sum(&d));
        rig_compare(r, &d, r->problem.threshold, 1e-12);
    }
    dense_destroy(&d);
    rig_stop(r);
}

START_TEST(steps_are_those_of_algorithm_1)
{
    rig r;

    open_cut(&r, _i);
    steps_agree(&r, 5);
    r.problem.parameters[BEAT] = 0.9;
    steps_agree(&r, 3);
    rig_close(&r);
}
END_TEST

START_TEST(legacy_mode_grows_all_around)
{
    rig r;
    dense d;
    uint64_t present = 0;

    open_cut(&r, _i);
    r.problem.numerics.mode = GBEES_MODE_LEGACY;
    r.problem.numerics.time_step = 0.013;
    steps_agree(&r, 3);
    /* After one step: the cells above p* and all around them. */
    rig_start(&r, 1);
    rig_window(&r, &d, 2);
    rig_collect(&r, &d, d.p);
    grow_all(&d, r.problem.threshold);
    for (long i = 0; i < d.cells; i++)
        present += d.present[i];
    rig_steps(&r, 1);
    ck_assert_uint_eq(rig_statistics(&r).cells_raw, present);
    /* With nothing below p*: the box, one wider on each side. */
    r.problem.threshold = 1e-30;
    rig_start(&r, 1);
    rig_steps(&r, 1);
    ck_assert_double_eq((double)rig_statistics(&r).cells_raw, pow(2 * r.problem.extent[0] + 3, _i));
    dense_destroy(&d);
    rig_close(&r);
}
END_TEST

/* The reference's defect, kept: its border and its growth tell left from right. */
START_TEST(mirrored_problems_differ)
{
    rig r;

    open_cut(&r, _i);
    r.problem.numerics.time_step = 0.02;
    ck_assert_double_gt(rig_asymmetry(&r, 4, NULL), 1e-7);
    rig_close(&r);
}
END_TEST

/* The published codes take any fixed step. */
START_TEST(no_fixed_step_is_refused)
{
    rig r;

    open_cut(&r, _i);
    rig_start(&r, 1);
    rig_steps(&r, 1);
    r.problem.numerics.time_step = 1.5 * rig_totals(&r).time_step;
    rig_start(&r, 1);
    rig_steps(&r, 1);
    r.problem.numerics.mode = GBEES_MODE_LEGACY;
    rig_start(&r, 1);
    rig_steps(&r, 1);
    rig_close(&r);
}
END_TEST

/* After each step and each prune the sum is 1, and the ledger says what that has added. */
START_TEST(the_ledger_closes)
{
    rig r;

    open_cut(&r, _i);
    r.problem.numerics.prune_interval = 3;
    rig_start(&r, 1);
    for (int k = 0; k < 12; k++) {
        rig_steps(&r, 1);
        const gbees_totals t = rig_totals(&r);

        ck_assert_double_eq_tol(rig_statistics(&r).mass, 1, 1e-12);
        ck_assert_double_eq_tol(t.mass_clipped + t.mass_normalised, t.mass_outflow + t.mass_pruned, 1e-12);
    }
    ck_assert_double_gt(rig_totals(&r).mass_pruned, 0);
    rig_close(&r);
}
END_TEST

/* Where the density vanishes before the grid ends, a step of another backend's `ctu` is the same, which it computes
 * in another order and with a border of its own. */
START_TEST(other_backends_have_the_same_steps)
{
    const char *const backends[] = {"paper", "cpu", "shim"};
    double *p[3] = {NULL};
    dense d = {0};

    for (int k = 0; k < 3; k++) {
        rig r;

        if (!is_built(backends[k]))
            continue;
        rig_open(&r, backends[k], _i, _i == 3 ? 10 : 16);
        r.problem.numerics.time_step = _i == 1 ? 0.004 : 0.01;
        for (int j = 0; j < _i; j++)
            for (int l = 0; l < _i; l++)
                r.problem.covariance[j * _i + l] = j == l ? pow(r.problem.width[j] * r.problem.extent[j] / 8, 2) : 0;
        if (k == 0)
            rig_window(&r, &d, 8);
        p[k] = calloc((size_t)d.cells, sizeof *p[k]);
        ck_assert_ptr_nonnull(p[k]);
        rig_start(&r, 1);
        rig_steps(&r, 4);
        rig_collect(&r, &d, p[k]);
        for (long i = 0; i < d.cells; i++)
            ck_assert_msg(fabs(p[k][i] - p[0][i]) <= 1e-12, "%s, cell %ld: %.17g, not %.17g", backends[k], i, p[k][i],
                          p[0][i]);
        rig_close(&r);
    }
    for (int k = 0; k < 3; k++)
        free(p[k]);
    dense_destroy(&d);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("paper");
    TCase *steps = tcase_create("steps");

    tcase_set_timeout(steps, 60);
    tcase_add_loop_test(steps, steps_are_those_of_algorithm_1, 1, 5);
    tcase_add_loop_test(steps, legacy_mode_grows_all_around, 1, 5);
    tcase_add_loop_test(steps, mirrored_problems_differ, 1, 5);
    tcase_add_loop_test(steps, no_fixed_step_is_refused, 1, 5);
    tcase_add_loop_test(steps, the_ledger_closes, 1, 5);
    tcase_add_loop_test(steps, other_backends_have_the_same_steps, 1, 4);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
