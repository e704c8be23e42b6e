/* test_cpu_ctu.c - ctu gives the same bits for any number of threads. Cell by cell it is compared with plain loops in
 * test_ctu_steps.c; its ledger is in test_mass.c. */
#include "cpu/engine/engine.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/run_fixture.h"
#include "fixtures/suite.h"

START_TEST(threads_give_the_same_bits)
{
    rig r;
    cell_list first = {0};

    rig_open(&r, "cpu", 6, 3);
    r.problem.numerics.scheme = GBEES_SCHEME_CTU;
    r.problem.numerics.precision = _i ? GBEES_MIXED : GBEES_DOUBLE;
    r.problem.threshold = 1e-9;
    for (int threads = 1; threads <= 2; threads++) {
        rig_start(&r, threads);
        rig_steps(&r, 2);
        ck_assert_uint_gt(rig_statistics(&r).cells_raw, 3 * TEAM_CELLS); /* or not all of them take part */
        cell_list list = rig_cells(&r);

        if (threads == 1) {
            first = list;
            continue;
        }
        ck_assert_uint_eq(list.count, first.count);
        ck_assert_int_eq(memcmp(list.p, first.p, list.count * sizeof *list.p), 0);
        list_free(&list);
    }
    list_free(&first);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu ctu");
    TCase *mass = tcase_create("mass");

    tcase_set_timeout(mass, 60);
    tcase_add_loop_test(mass, threads_give_the_same_bits, 0, 2);
    suite_add_tcase(suite, mass);
    return run_suite(suite);
}
