/* test_cpu.c - what the CPU backend promises whatever the problem: the same bits for every number of threads, the
 * same density from every set of instructions, needed cells, clocks and totals. Its ledger is in test_mass.c. */
#include "cpu/engine/engine.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

/* Many bricks, so that several threads work on several chunks. */
static void make_large(rig *r)
{
    for (int j = 0; j < 6; j++)
        r->problem.extent[j] = 3;
    r->problem.threshold = 1e-9;
    r->problem.numerics.prune_interval = 2;
}

static void same_bits(rig *r, int steps)
{
    cell_list first = {0};
    gbees_statistics before = {0};
    double updates = 0;
    const int threads[] = {1, 2, 3, 2};

    for (int k = 0; k < 4; k++) {
        rig_start(r, threads[k]);
        ck_assert_int_eq(rig_totals(r).threads, threads[k]);
        rig_steps(r, (uint64_t)steps);
        gbees_statistics s = rig_statistics(r);
        gbees_totals t = rig_totals(r);
        cell_list list = rig_cells(r);

        if (k == 0) {
            ck_assert_uint_gt(s.cells_raw, 3 * TEAM_CELLS); /* or not all of them take part */
            first = list;
            before = s;
            updates = t.cell_updates;
            continue;
        }
        ck_assert_uint_eq(list.count, first.count);
        ck_assert_int_eq(memcmp(list.p, first.p, list.count * sizeof *list.p), 0);
        ck_assert_int_eq(memcmp(list.index, first.index, list.count * sizeof *list.index), 0);
        ck_assert_int_eq(memcmp(&s, &before, sizeof s), 0);
        ck_assert_double_eq(t.cell_updates, updates);
        list_free(&list);
    }
    list_free(&first);
}

START_TEST(threads_give_the_same_bits)
{
    rig r;

    rig_open(&r, "cpu", 6, 2);
    make_large(&r);
    r.problem.numerics.precision = _i ? GBEES_MIXED : GBEES_DOUBLE;
    same_bits(&r, 2);
    rig_close(&r);
}
END_TEST

/* A measurement's sums, too. */
START_TEST(threads_give_the_same_bits_after_an_update)
{
    const gbees_measurement m = {.function = 0, .size = 1, .value = {0.3}, .covariance = {0.05}};
    gbees_evidence one = {.log_evidence = 0}, more = {.log_evidence = 1};
    rig r;

    rig_open(&r, "cpu", 6, 2);
    make_large(&r);
    for (int threads = 1; threads <= 3; threads++) {
        rig_start(&r, threads);
        ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, threads == 1 ? &one : &more, &r.error), 0);
        if (threads > 1)
            ck_assert_int_eq(memcmp(&one, &more, sizeof one), 0);
    }
    rig_close(&r);
}
END_TEST

START_TEST(instruction_sets_agree)
{
    const char *isa[] = {"generic", "avx2", "avx512"}; /* where the machine lacks one, the next lower */
    rig r;
    dense d;

    rig_open(&r, "cpu", _i, _i <= 3 ? 5 : 1);
    for (int mixed = 0; mixed < 2; mixed++) {
        r.problem.numerics.precision = mixed ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.threshold = mixed ? 1e-10 : 1e-15;
        rig_window(&r, &d, _i <= 5 ? 5 : 3);
        double *p = calloc((size_t)d.cells, sizeof *p);
        ck_assert_ptr_nonnull(p);
        for (int k = 0; k < 3; k++) {
            (void)setenv("GBEES_CPU_ISA", isa[k], 1);
            rig_start(&r, 1);
            rig_steps(&r, _i <= 5 ? 3 : 1);
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

/* ---- needed cells -------------------------------------------------------------------------------------------- */

typedef struct marks {
    const dense *d;
    unsigned char *needed;
    int absent; /* cells that are needed and not there */
} marks;

static void mark(void *context, long cell)
{
    marks *m = context;

    if (cell >= 0 && m->d->present[cell])
        m->needed[cell] = 1;
    else
        m->absent++;
}

/* Cells with P >= p* and those that they flow into, one by one, among the resident ones.  Returns how many are not.
 */
static int count_needed(rig *r, uint64_t *needed, uint64_t *above, uint64_t *resident)
{
    const double threshold = r->problem.threshold;
    const int margins[] = {0, 140, 20, 10, 8}; /* all resident bricks lie in the window */
    dense d;

    r->problem.threshold = 0;
    rig_window(r, &d, margins[r->problem.dimension]);
    cell_list list = rig_cells(r);
    r->problem.threshold = threshold;
    marks m = {&d, calloc((size_t)d.cells, 1), 0};
    ck_assert_ptr_nonnull(m.needed);
    rig_velocities(r, &d, r->clock.time);
    dense_clear(&d);
    for (size_t k = 0; k < list.count; k++) {
        long cell = dense_cell(&d, list.index[k]);

        ck_assert_int_ge(cell, 0);
        d.present[cell] = 1;
        d.p[cell] = list.p[k];
    }
    *needed = *above = 0;
    *resident = list.count;
    for (long i = 0; i < d.cells; i++)
        if (d.present[i] && d.p[i] >= threshold) {
            ++*above;
            mark(&m, i);
            dense_downwind(&d, i, mark, &m);
        }
    for (long i = 0; i < d.cells; i++)
        *needed += m.needed[i];
    free(m.needed);
    list_free(&list);
    dense_destroy(&d);
    return m.absent;
}

START_TEST(needed_cells_are_counted)
{
    rig r;

    for (int kind = 0; kind < 2; kind++) {
        rig_open(&r, kind ? "paper" : "cpu", _i, _i <= 2 ? 6 : _i == 3 ? 4 : 2);
        r.problem.threshold = _i == 1 ? 1e-3 : 1e-4;
        r.problem.numerics.prune_interval = 4;
        rig_start(&r, 1);
        for (int k = 0; k < 6; k++) {
            uint64_t needed, above, resident;
            gbees_statistics s = rig_statistics(&r);

            /* Less mass has lowered what counts as active since cells were made: to those behind an absent one there
             * is no way. */
            int absent = count_needed(&r, &needed, &above, &resident);

            ck_assert_uint_le(s.cells, needed);
            ck_assert_uint_le(needed - s.cells, (unsigned)absent);
            ck_assert_uint_eq(s.cells_above, above);
            ck_assert_uint_eq(s.cells_raw, resident);
            ck_assert(above > 0 && above <= needed && needed <= resident);
            ck_assert_uint_ge(rig_totals(&r).max_cells, s.cells);
            rig_steps(&r, 1);
        }
        rig_close(&r);
    }
}
END_TEST

/* ---- clocks and totals ---------------------------------------------------------------------------------------- */

START_TEST(an_interval_ends_exactly)
{
    rig r;
    double time = 0, raw = 0;

    rig_open(&r, "cpu", 2, 5);
    rig_start(&r, 1);
    ck_assert_double_eq(rig_totals(&r).time_step, 0);
    for (int record = 0; record < 4; record++) {
        r.clock.length = 0.1;
        r.clock.elapsed = 0;
        while (r.clock.elapsed < r.clock.length) {
            uint64_t steps = r.clock.leg_step;

            rig_steps(&r, 1);
            raw += (double)rig_statistics(&r).cells_raw;
            time += rig_totals(&r).time_step;
            ck_assert_uint_eq(r.clock.leg_step, steps + 1);
            ck_assert_double_eq_tol(r.clock.time, time, 1e-14);
        }
        ck_assert_double_eq(r.clock.elapsed, 0.1);
        ck_assert_double_eq_tol(r.clock.time, 0.1 * (record + 1), 1e-13);
    }
    gbees_totals t = rig_totals(&r);
    ck_assert_uint_eq(t.steps, r.clock.leg_step);
    ck_assert_double_eq_tol(t.raw_cell_updates, raw, 0.5);
    ck_assert(t.cell_updates > 0 && t.cell_updates <= t.raw_cell_updates);
    rig_steps(&r, 100); /* the interval is over */
    ck_assert_uint_eq(rig_totals(&r).steps, t.steps);
    rig_close(&r);
}
END_TEST

START_TEST(the_initial_density_takes_no_more_than_estimated)
{
    rig r;

    rig_open(&r, "cpu", _i, _i <= 3 ? 10 : 2);
    rig_start(&r, 1);
    ck_assert_double_gt(r.backend->estimate(&r.problem, 0) + 16384, (double)rig_totals(&r).peak_bytes);
    ck_assert_uint_gt(rig_totals(&r).peak_bytes, rig_statistics(&r).cells_raw * 8);
    rig_close(&r);
}
END_TEST

static int stop(void *context, size_t count, const int32_t *const *index, const double *p)
{
    (void)count, (void)index, (void)p;
    ++*(int *)context;
    return 17;
}

START_TEST(a_visitor_can_stop)
{
    rig r;
    int calls = 0;

    rig_open(&r, "cpu", 4, 4); /* more cells than are shown at once */
    rig_start(&r, 1);
    ck_assert_int_eq(r.backend->cells(r.engine, 1, stop, &calls, &r.error), 17);
    ck_assert_int_eq(calls, 1);
    rig_close(&r);
}
END_TEST

/* Has growth look at all bricks again, not only at those of which cells have risen over p*. */
static void look_again(rig *r)
{
    memset(r->engine->rows.expanded, 0, r->engine->g.capacity * sizeof *r->engine->rows.expanded);
}

START_TEST(growth_misses_nothing_where_it_does_not_look)
{
    cell_list list[2];
    uint64_t raw[2];
    rig r;

    rig_open(&r, "cpu", _i, _i == 1 ? 8 : 6 - _i);
    r.problem.threshold = _i == 1 ? 0.02 : _i == 2 ? 3e-3 : _i == 3 ? 1e-3 : 1e-4;
    r.problem.numerics.prune_interval = 3;
    for (int again = 0; again < 2; again++) {
        uint64_t served = 0;

        rig_start(&r, 1);
        for (int k = 0; k < 14; k++) {
            if (again)
                look_again(&r);
            rig_steps(&r, 1);
            for (uint32_t b = 0; b < r.engine->g.count; b++)
                served |= r.engine->rows.expanded[r.engine->g.used[b]];
        }
        ck_assert(served != 0);
        list[again] = rig_cells(&r);
        raw[again] = rig_statistics(&r).cells_raw;
    }
    ck_assert_uint_eq(raw[0], raw[1]);
    ck_assert_uint_eq(list[0].count, list[1].count);
    ck_assert_int_eq(memcmp(list[0].p, list[1].p, list[0].count * sizeof *list[0].p), 0);
    ck_assert_int_eq(memcmp(list[0].index, list[1].index, list[0].count * sizeof *list[0].index), 0);
    list_free(&list[0]);
    list_free(&list[1]);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu");
    TCase *bits = tcase_create("bits"), *counts = tcase_create("counts"),
          *more = add_long_case(suite, "more threads", 60);

    tcase_set_timeout(bits, 60);
    tcase_add_loop_test(bits, threads_give_the_same_bits, 1, 2);
    /* In double precision: what threads share is the same. */
    tcase_add_loop_test(more, threads_give_the_same_bits, 0, 1);
    tcase_add_test(bits, threads_give_the_same_bits_after_an_update);
    tcase_add_loop_test(bits, instruction_sets_agree, 1, 7);
    tcase_add_loop_test(bits, growth_misses_nothing_where_it_does_not_look, 1, 6);
    tcase_set_timeout(counts, 60);
    tcase_add_loop_test(counts, needed_cells_are_counted, 1, 5);
    tcase_add_test(counts, an_interval_ends_exactly);
    tcase_add_loop_test(counts, the_initial_density_takes_no_more_than_estimated, 1, 7);
    tcase_add_test(counts, a_visitor_can_stop);
    suite_add_tcase(suite, bits);
    suite_add_tcase(suite, counts);
    return run_suite(suite);
}
