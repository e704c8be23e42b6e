/* test_cpu_ctu.c - what ctu-divergence and ctu-positive add to ctu: an error that falls, and the same bits for any
 * number of threads. Cell by cell they are compared with plain loops in test_ctu_steps.c; their ledger is in
 * test_mass.c. */
#include "cpu/engine/engine.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/run_fixture.h"
#include "fixtures/suite.h"

START_TEST(threads_give_the_same_bits)
{
    rig r;
    cell_list first = {0};

    rig_open(&r, "cpu", 6, 3);
    r.problem.numerics.scheme = GBEES_SCHEME_CTU_POSITIVE;
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

/* Lorenz '63 at t = 0.25. */
static gbees_statistics lorenz(const char *scheme, const char *factor, const char *threshold)
{
    const char *const settings[] = {scheme, factor, threshold, "end=0.25", "records=1", "measurements=[]", NULL};

    return run_model("lorenz63", settings).statistics;
}

/* Root mean square of the means' errors in true standard deviations. */
static double mean_error(const gbees_statistics *s, const gbees_statistics *truth)
{
    double sum = 0;

    for (int j = 0; j < 3; j++)
        sum += pow(s->mean[j] - truth->mean[j], 2) / truth->covariance[4 * j];
    return sqrt(sum / 3);
}

/* The fifth-order scheme on a grid twice as fine stands for the truth: it is 10 times nearer to it. */
START_TEST(the_divergence_term_cuts_the_error_on_lorenz_63)
{
    const gbees_statistics truth = lorenz("scheme=split5", "factor=2", "threshold=1e-7");
    const gbees_statistics s[] = {lorenz("scheme=ctu", "factor=1", "threshold=5e-6"),
                                  lorenz("scheme=ctu-divergence", "factor=1", "threshold=5e-6"),
                                  lorenz("scheme=ctu-positive", "factor=1", "threshold=5e-6")};
    double plain = mean_error(&s[0], &truth), divergence = mean_error(&s[1], &truth);
    double positive = mean_error(&s[2], &truth);

    ck_assert_msg(plain > 0.1 && divergence < 0.6 * plain && positive < 0.6 * plain, "errors %.3g, %.3g, %.3g", plain,
                  divergence, positive);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu ctu");
    TCase *mass = tcase_create("mass"), *accuracy = tcase_create("accuracy");

    tcase_set_timeout(mass, 60);
    tcase_add_loop_test(mass, threads_give_the_same_bits, 0, 2);
    tcase_set_timeout(accuracy, 60);
    tcase_add_test(accuracy, the_divergence_term_cuts_the_error_on_lorenz_63);
    suite_add_tcase(suite, mass);
    suite_add_tcase(suite, accuracy);
    return run_suite(suite);
}
