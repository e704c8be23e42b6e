/* test_cpu_split.c - the split scheme of the CPU backend: its threads and instruction sets. Cell by cell it is
 * compared with plain loops in test_split_steps.c. */
#include "cpu/engine/engine.h"
#include "fixtures/split_fixture.h"
#include "fixtures/suite.h"

/* ---- the same for all ------------------------------------------------------------------------------------------ */

START_TEST(threads_give_the_same_bits)
{
    rig r;
    cell_list first = {0};
    gbees_statistics before = {0};

    rig_open_split(&r, "cpu", 6, 3);
    r.problem.threshold = 1e-9;
    r.problem.numerics.prune_interval = 2;
    r.problem.numerics.precision = _i & 1 ? GBEES_MIXED : GBEES_DOUBLE;
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

    rig_open_split(&r, "cpu", _i, _i <= 3 ? 5 : 1);
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

int main(void)
{
    Suite *suite = suite_create("cpu split");
    TCase *same = tcase_create("the same");
    TCase *many = add_long_case(suite, "many dimensions", 60);

    tcase_add_loop_test(many, instruction_sets_agree, 6, 9);
    tcase_set_timeout(same, 60);
    tcase_add_loop_test(same, threads_give_the_same_bits, 0, 2);
    tcase_add_loop_test(same, instruction_sets_agree, 1, 6);
    suite_add_tcase(suite, same);
    return run_suite(suite);
}
