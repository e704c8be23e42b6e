/* test_cpu_split.c - the split scheme of the CPU backend: its sweeps along pencils of bricks against plain loops on a
 * dense window (dense_split.h), its ledger, its threads and instruction sets, symmetry, time, measurements. */
#include "cpu/engine/engine.h"
#include "fixtures/split_fixture.h"

/* ---- cell by cell -------------------------------------------------------------------------------------------- */

static int extent_of(int n)
{
    return n == 1 ? 20 : n == 2 ? 7 : n == 3 ? 4 : n == 4 ? 2 : n <= 6 ? 1 : 0;
}

/* At least one step backwards; the first axis changes with the third. */
static int steps_of(int n)
{
    return n <= 3 ? 7 : n == 4 ? 5 : n <= 7 ? 3 : 2;
}

START_TEST(double_bricks_equal_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    steps_agree(&r, steps_of(_i), 1e-12);
    if (_i >= 7) { /* more than one cell, but one step */
        for (int j = 0; j < _i; j++)
            r.problem.extent[j] = 1;
        steps_agree(&r, 1, 1e-12);
    }
    rig_close(&r);
}
END_TEST

START_TEST(double_cells_equal_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.numerics.cells_per_brick = 1;
    steps_agree(&r, steps_of(_i), 1e-12);
    rig_close(&r);
}
END_TEST

START_TEST(mixed_equals_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    steps_agree(&r, steps_of(_i), 1e-5);
    r.problem.numerics.cells_per_brick = 1;
    steps_agree(&r, steps_of(_i), 1e-5);
    rig_close(&r);
}
END_TEST

START_TEST(bounded_fluxes_equal_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.numerics.scheme = GBEES_SCHEME_SPLIT5_MP;
    steps_agree(&r, steps_of(_i), 1e-12);
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.numerics.cells_per_brick = 1;
    r.problem.threshold = 1e-28;
    steps_agree(&r, steps_of(_i), 1e-5);
    rig_close(&r);
}
END_TEST

START_TEST(seventh_order_equals_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    double level = r.problem.threshold;
    for (int preserving = 0; preserving < 2; preserving++) {
        r.problem.numerics.scheme = preserving ? GBEES_SCHEME_SPLIT7_MP : GBEES_SCHEME_SPLIT7;
        r.problem.numerics.precision = GBEES_DOUBLE;
        r.problem.numerics.cells_per_brick = 64;
        r.problem.threshold = level;
        steps_agree(&r, steps_of(_i), 1e-12);
        r.problem.numerics.precision = GBEES_MIXED;
        r.problem.threshold = 1e-28;
        steps_agree(&r, steps_of(_i), 1e-5);
        r.problem.numerics.cells_per_brick = 1;
        r.problem.threshold = 1e-7; /* what a float rounds to nothing, or to something, makes no cells */
        steps_agree(&r, steps_of(_i), 1e-5);
    }
    rig_close(&r);
}
END_TEST

START_TEST(first_order_equals_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.numerics.scheme = GBEES_SCHEME_UPWIND;
    steps_agree(&r, steps_of(_i), 1e-12);
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    steps_agree(&r, steps_of(_i), 1e-5);
    r.problem.numerics.cells_per_brick = 1;
    r.problem.threshold = 1e-7;
    steps_agree(&r, steps_of(_i), 1e-5);
    rig_close(&r);
}
END_TEST

/* Velocities of the middle of the step; half the Courant number. */
START_TEST(time_is_that_of_the_middle)
{
    rig r;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.parameters[BEAT] = 1.3;
    r.problem.start = 0.4;
    r.problem.numerics.courant = 0.5;
    steps_agree(&r, 4, 1e-12);
    r.problem.numerics.cells_per_brick = 1;
    steps_agree(&r, 4, 1e-12);
    rig_close(&r);
}
END_TEST

/* What is absent reads as 0 and takes what flows out; a pencil may have holes. */
START_TEST(truncated_grids_equal_plain_loops)
{
    rig r;

    rig_open_split(&r, _i, _i == 1 ? 8 : 6 - _i);
    r.problem.threshold = _i == 1 ? 0.02 : _i == 2 ? 3e-3 : _i == 3 ? 1e-3 : 1e-4;
    for (int cells = 1; cells <= 64; cells += 63) {
        dense d;
        double level;

        r.problem.numerics.cells_per_brick = cells;
        level = rig_begin(&r, &d, 6);
        for (int k = 0; k < 5; k++)
            level = step_both(&r, &d, level);
        gbees_statistics s = rig_statistics(&r);
        cell_list list = rig_cells(&r);
        double sum = dense_sum(&d);
        uint64_t present = 0;
        for (size_t k = 0; k < list.count; k++)
            ck_assert_double_eq_tol(list.p[k], d.p[dense_cell(&d, list.index[k])] / sum, 1e-13);
        for (long i = 0; i < d.cells; i++)
            present += d.present[i];
        ck_assert_double_eq_tol(s.mass, sum, 1e-12);
        ck_assert(cells == 64 || s.cells_raw == present);
        ck_assert(cells == 64 || s.mass < 1 - 1e-4); /* it did cut */
        list_free(&list);
        dense_destroy(&d);
    }
    rig_close(&r);
}
END_TEST

/* P beside a cell, along an axis; 0 beyond the window. */
static double beside(const dense *d, long cell, int axis, int step)
{
    const int at = dense_coordinate(d, cell, axis) + step;

    return at < 0 || at >= d->size[axis] ? 0 : d->p[cell + step * d->stride[axis]];
}

/* The likelihood of `last` = 0.3, times a density that is a straight line inside each cell, parallel to that through
 * the cells beside it and nowhere below 0: the integral of the product. */
static void measure_last(dense *d, const rig *r, double variance)
{
    const int axis = d->n - 1;
    const double scale = 1 / sqrt(2 * variance), h = d->width[axis];
    double *p = malloc((size_t)d->cells * sizeof *p);

    ck_assert_ptr_nonnull(p);
    for (long i = 0; i < d->cells; i++) {
        const double off = r->problem.mean[axis] + h * (d->lo[axis] + dense_coordinate(d, i, axis)) - 0.3;
        const double low = (off - h / 2) * scale, high = (off + h / 2) * scale;
        const double whole = sqrt(acos(-1) / 2 * variance) * (erf(high) - erf(low));
        const double first = variance * (exp(-low * low) - exp(-high * high)) - off * whole;
        const double slope = (beside(d, i, axis, 1) - beside(d, i, axis, -1)) / 2;

        p[i] = d->p[i] * whole + fmin(fmax(slope, -2 * d->p[i]), 2 * d->p[i]) * first / h;
    }
    memcpy(d->p, p, (size_t)d->cells * sizeof *p);
    free(p);
    dense_scale(d, 1 / dense_sum(d));
}

START_TEST(updates_and_prunes_in_between)
{
    const gbees_measurement m = {.function = 0, .size = 1, .value = {0.3}, .covariance = {0.05}};
    gbees_evidence evidence;
    rig r;
    dense d;

    rig_open_split(&r, _i, extent_of(_i));
    r.problem.numerics.prune_interval = 2;
    double level = rig_begin(&r, &d, 6);
    for (int k = 0; k < 3; k++)
        level = step_both(&r, &d, level);
    ck_assert_int_eq(r.cpu->update(r.engine, &r.clock, &m, &evidence, &r.error), 0);
    measure_last(&d, &r, 0.05);
    rig_compare(&r, &d, 0, 1e-8); /* the backend averages with a quadrature */
    rig_collect(&r, &d, d.p);
    level = r.problem.threshold;
    for (int k = 0; k < 3; k++) {
        level = step_both(&r, &d, level);
        rig_compare(&r, &d, 0, 1e-12);
    }
    dense_destroy(&d);
    rig_close(&r);
}
END_TEST

/* ---- mass ---------------------------------------------------------------------------------------------------- */

/* What is there, and what the totals say has gone. */
static void keep_the_ledger(rig *r, int steps)
{
    gbees_totals before = rig_totals(r), t = before;

    for (int k = 0; k < steps; k++) {
        rig_steps(r, 1);
        t = rig_totals(r);
        ck_assert_double_ge(t.mass_outflow, before.mass_outflow);
        ck_assert_double_ge(t.mass_pruned, before.mass_pruned - 1e-15);
        ck_assert_double_eq_tol(rig_statistics(r).mass, 1 + t.mass_clipped - t.mass_outflow - t.mass_pruned, 1e-12);
        before = t;
    }
    ck_assert_double_lt(fabs(t.mass_clipped), 1e-15);
    ck_assert_double_gt(t.mass_outflow, 1e-9); /* there was something to count */
    ck_assert_double_lt(t.mass_outflow + t.mass_pruned, 0.9);
}

START_TEST(the_ledger_closes)
{
    rig r;

    rig_open_split(&r, _i, _i == 1 ? 40 : _i == 2 ? 6 : _i == 3 ? 4 : 2); /* in one dimension bricks are long */
    r.problem.threshold = _i == 1 ? 1e-3 : _i <= 3 ? 1e-6 : 1e-7;
    r.problem.numerics.prune_interval = 5;
    for (int cells = 1; cells <= 64; cells += 63) {
        r.problem.numerics.cells_per_brick = cells;
        rig_start(&r, 1);
        keep_the_ledger(&r, 50);
    }
    rig_close(&r);
}
END_TEST

START_TEST(cells_are_never_negative)
{
    rig r;

    rig_open_split(&r, _i, _i <= 2 ? 6 : 2);
    r.problem.parameters[ROTATION] = 5; /* a swirl inside a few cells */
    r.problem.threshold = 0;            /* shows every cell that is not negative */
    for (int kind = 0; kind < 4; kind++) {
        r.problem.numerics.precision = kind & 1 ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.numerics.cells_per_brick = kind & 2 ? 1 : 64;
        rig_start(&r, 1);
        rig_steps(&r, 4);
        ck_assert_double_lt(fabs(rig_totals(&r).mass_clipped), kind & 1 ? 1e-7 : 1e-15);
        cell_list list = rig_cells(&r);
        ck_assert_uint_eq(list.count, rig_statistics(&r).cells_raw);
        list_free(&list);
    }
    rig_close(&r);
}
END_TEST

/* ---- the same for all ------------------------------------------------------------------------------------------ */

START_TEST(threads_give_the_same_bits)
{
    rig r;
    cell_list first = {0};
    gbees_statistics before = {0};

    rig_open_split(&r, 6, 3);
    r.problem.threshold = 1e-9;
    r.problem.numerics.prune_interval = 2;
    r.problem.numerics.precision = _i & 1 ? GBEES_MIXED : GBEES_DOUBLE;
    r.problem.numerics.cells_per_brick = _i & 2 ? 1 : 64;
    for (int threads = 1; threads <= 3; threads++) {
        rig_start(&r, threads);
        ck_assert_int_eq(rig_totals(&r).threads, threads);
        rig_steps(&r, 3);
        gbees_statistics s = rig_statistics(&r);
        gbees_totals t = rig_totals(&r);
        cell_list list = rig_cells(&r);

        ck_assert_uint_gt(s.cells_raw, 3 * TEAM_CELLS); /* or not all of them take part */
        ck_assert_double_gt(t.mass_outflow, 0);
        if (threads == 1) {
            first = list;
            before = s;
            continue;
        }
        ck_assert_uint_eq(list.count, first.count);
        ck_assert_int_eq(memcmp(list.p, first.p, list.count * sizeof *list.p), 0);
        ck_assert_int_eq(memcmp(list.index, first.index, list.count * sizeof *list.index), 0);
        ck_assert_int_eq(memcmp(&s, &before, sizeof s), 0);
        list_free(&list);
    }
    list_free(&first);
    rig_close(&r);
}
END_TEST

START_TEST(instruction_sets_agree)
{
    const char *isa[] = {"generic", "avx2", "avx512"}; /* where the machine lacks one, the next lower */
    const int steps = _i <= 5 ? 3 : 1;
    rig r;
    dense d;

    rig_open_split(&r, _i, _i <= 3 ? 5 : 1);
    for (int form = 0; form < 4; form++) {
        int mixed = form & 1;

        r.problem.numerics.scheme = form & 2 ? GBEES_SCHEME_SPLIT7 : GBEES_SCHEME_SPLIT5;
        r.problem.numerics.precision = mixed ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.threshold = mixed ? 1e-10 : 1e-15;
        rig_window(&r, &d, steps);
        double *p = calloc((size_t)d.cells, sizeof *p);
        ck_assert_ptr_nonnull(p);
        for (int k = 0; k < 3; k++) {
            (void)setenv("GBEES_CPU_ISA", isa[k], 1);
            rig_start(&r, 1);
            rig_steps(&r, (uint64_t)steps);
            rig_collect(&r, &d, k ? p : d.p);
            for (long i = 0; i < d.cells && k; i++)
                ck_assert_double_eq_tol(p[i], d.p[i], mixed ? 1e-5 : 1e-12);
        }
        free(p);
        dense_destroy(&d);
    }
    (void)unsetenv("GBEES_CPU_ISA");
    rig_close(&r);
}
END_TEST

/* The largest difference between a problem and its mirror image after some steps, in units of the largest cell. */
static double asymmetry(rig *r, int steps)
{
    dense d, m;
    double off = 0;

    rig_window(r, &d, steps + 2);
    rig_window(r, &m, steps + 2);
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        rig_start(r, 1);
        rig_steps(r, (uint64_t)steps);
        rig_collect(r, &d, mirrored ? m.p : d.p);
        rig_mirror(r);
    }
    for (long i = 0; i < d.cells; i++)
        off = fmax(off, fabs(d.p[i] - m.p[d.cells - 1 - i]));
    off /= dense_most(&d);
    dense_destroy(&d);
    dense_destroy(&m);
    return off;
}

START_TEST(mirrored_problems_have_mirrored_results)
{
    rig r;

    rig_open_split(&r, _i, _i == 1 ? 8 : 6 - _i);
    r.problem.numerics.time_step = _i == 1 ? 0.004 : 0.02; /* up to Courant number 1 */
    r.problem.numerics.cells_per_brick = 1;
    ck_assert_double_lt(asymmetry(&r, 5), 1e-13);
    r.problem.threshold = _i == 1 ? 0.02 : _i == 2 ? 3e-3 : _i == 3 ? 1e-3 : 1e-4;
    ck_assert_double_lt(asymmetry(&r, 5), 1e-13);
    /* Bricks of 64 don't lie symmetrically: equal once the density is well inside of them. */
    r.problem.threshold = 1e-15;
    r.problem.numerics.cells_per_brick = 64;
    for (int j = 0; j < _i; j++)
        for (int k = 0; k < _i; k++)
            r.problem.covariance[j * _i + k] = j == k ? 0.02 : 0;
    ck_assert_double_lt(asymmetry(&r, 5), 1e-13);
    rig_close(&r);
}
END_TEST

/* ---- the mass budget ------------------------------------------------------------------------------------------- */

/* Cells of a flat box that moves one cell a step along each of three axes: what lies at its foremost corner goes past
 * the neighbours that growth makes, whatever p* is. */
START_TEST(a_budget_that_no_threshold_holds_is_told)
{
    rig r;

    rig_open_split(&r, 3, 10);
    rig_straighten(&r);
    r.problem.threshold = 0;
    r.problem.end = 100;
    r.problem.mass_budget = 1e-4;
    r.problem.numerics.cells_per_brick = 1;
    r.problem.numerics.prune_interval = 1;
    for (int j = 0; j < 3; j++) {
        r.problem.parameters[VELOCITY + j] = r.problem.width[j];
        for (int k = 0; k < 3; k++)
            r.problem.covariance[3 * j + k] = j == k ? 100 : 0;
    }
    rig_start(&r, 1);
    rig_steps(&r, 14);
    ck_assert_uint_eq(rig_totals(&r).warnings, GBEES_WARNING_BUDGET_FLOOR);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu split");
    TCase *steps = tcase_create("steps"), *mass = tcase_create("mass"), *same = tcase_create("the same");
    TCase *many = tcase_create("many dimensions");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(steps, 60);
    tcase_add_loop_test(steps, double_bricks_equal_plain_loops, 1, 9);
    tcase_add_loop_test(steps, double_cells_equal_plain_loops, 1, 6);
    tcase_add_loop_test(steps, mixed_equals_plain_loops, 1, 6);
    tcase_add_loop_test(steps, bounded_fluxes_equal_plain_loops, 1, 5);
    tcase_add_loop_test(steps, seventh_order_equals_plain_loops, 1, 5);
    tcase_add_loop_test(steps, first_order_equals_plain_loops, 1, 4);
    tcase_add_loop_test(steps, time_is_that_of_the_middle, 1, 5);
    tcase_add_loop_test(steps, truncated_grids_equal_plain_loops, 1, 5);
    tcase_add_loop_test(steps, updates_and_prunes_in_between, 1, 5);
    tcase_set_timeout(many, 60);
    tcase_set_tags(many, "long");
    tcase_add_loop_test(many, double_cells_equal_plain_loops, 6, 9);
    tcase_add_loop_test(many, mixed_equals_plain_loops, 6, 9);
    tcase_add_loop_test(many, bounded_fluxes_equal_plain_loops, 5, 7);
    tcase_add_loop_test(many, seventh_order_equals_plain_loops, 5, 7);
    tcase_add_loop_test(many, instruction_sets_agree, 6, 9);
    tcase_set_timeout(mass, 60);
    tcase_add_loop_test(mass, the_ledger_closes, 1, 5);
    tcase_add_loop_test(mass, cells_are_never_negative, 1, 5);
    tcase_add_test(mass, a_budget_that_no_threshold_holds_is_told);
    tcase_set_timeout(same, 60);
    tcase_add_loop_test(same, threads_give_the_same_bits, 0, 4);
    tcase_add_loop_test(same, instruction_sets_agree, 1, 6);
    tcase_add_loop_test(same, mirrored_problems_have_mirrored_results, 1, 5);
    suite_add_tcase(suite, steps);
    suite_add_tcase(suite, many);
    suite_add_tcase(suite, mass);
    suite_add_tcase(suite, same);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
