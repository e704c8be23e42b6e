/* test_cpu_ctu.c - what ctu-divergence and ctu-positive add to ctu: an error that falls, cells that are never
 * clipped. Cell by cell they are held against plain loops in test_ctu_steps.c. */
#include "cpu/engine/engine.h"
#include "fixtures/engine_fixture.h"
#include "fixtures/run_fixture.h"

/* A swirl inside a few cells: what makes the scheme undershoot. */
static void open_swirl(rig *r, int n)
{
    rig_open(r, "cpu", n, n <= 2 ? 6 : n <= 4 ? 3 : 1);
    r->problem.parameters[ROTATION] = 5;
}

/* Of what clamping has added in some steps. */
static double clipped(rig *r, gbees_scheme scheme, uint64_t steps)
{
    r->problem.numerics.scheme = scheme;
    rig_start(r, 1);
    rig_steps(r, steps);
    return rig_totals(r).mass_clipped;
}

/* Nothing is added; what is left in a cell that is emptied again and again ends as a denormal number, which is
 * dropped. */
static int adds_nothing(double clipped)
{
    return clipped <= 0 && clipped > -1e-20;
}

START_TEST(nothing_is_clipped)
{
    for (int kind = 0; kind < 4; kind++) {
        rig r;

        open_swirl(&r, _i);
        r.problem.numerics.precision = kind & 1 ? GBEES_MIXED : GBEES_DOUBLE;
        r.problem.numerics.cells_per_brick = kind & 2 ? 1 : 64;
        r.problem.threshold = kind & 1 ? 1e-12 : 1e-15;
        ck_assert(_i == 1 || clipped(&r, GBEES_SCHEME_CTU_DIVERGENCE, 8) > 1e-6);
        double added = clipped(&r, GBEES_SCHEME_CTU_POSITIVE, 8);
        ck_assert_msg(adds_nothing(added), "n = %d: clipped %.3g", _i, added);
        rig_close(&r);
    }
}
END_TEST

/* Scaled fluxes are still the same from both sides: far from the edge of the grid nothing is lost. */
START_TEST(mass_is_kept)
{
    rig r;

    rig_open(&r, "cpu", _i, 6);
    r.problem.parameters[ROTATION] = 2;
    r.problem.numerics.scheme = GBEES_SCHEME_CTU_POSITIVE;
    for (int j = 0; j < _i; j++)
        for (int k = 0; k < _i; k++)
            r.problem.covariance[j * _i + k] = j == k ? 0.03 : 0; /* less than a cell: it does undershoot */
    r.problem.threshold = 1e-100;
    for (int cells = 1; cells <= 64; cells += 63) {
        r.problem.numerics.cells_per_brick = cells;
        rig_start(&r, 1);
        for (int k = 0; k < 8; k++) {
            rig_steps(&r, 1);
            gbees_totals t = rig_totals(&r);

            ck_assert_msg(adds_nothing(t.mass_clipped), "clipped %.3g", t.mass_clipped);
            ck_assert_double_lt(fabs(t.mass_outflow), 1e-13);
            ck_assert_double_eq_tol(rig_statistics(&r).mass, 1, 1e-13);
        }
    }
    rig_close(&r);
}
END_TEST

START_TEST(the_ledger_closes)
{
    rig r;

    open_swirl(&r, _i);
    r.problem.numerics.scheme = GBEES_SCHEME_CTU_POSITIVE;
    r.problem.threshold = _i == 1 ? 1e-3 : 1e-5;
    r.problem.numerics.prune_interval = 5;
    r.problem.numerics.cells_per_brick = _i == 1 ? 1 : 64;
    rig_start(&r, 1);
    for (int k = 0; k < 20; k++) {
        rig_steps(&r, 1);
        gbees_totals t = rig_totals(&r);

        ck_assert_msg(adds_nothing(t.mass_clipped), "clipped %.3g", t.mass_clipped);
        ck_assert_double_eq_tol(rig_statistics(&r).mass, 1 - t.mass_outflow - t.mass_pruned, 1e-12);
    }
    ck_assert_double_gt(rig_totals(&r).mass_outflow, 1e-6);
    rig_close(&r);
}
END_TEST

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
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(mass, 60);
    tcase_add_loop_test(mass, nothing_is_clipped, 1, 7);
    tcase_add_loop_test(mass, mass_is_kept, 1, 4);
    tcase_add_loop_test(mass, the_ledger_closes, 1, 5);
    tcase_add_loop_test(mass, threads_give_the_same_bits, 0, 2);
    tcase_set_timeout(accuracy, 60);
    tcase_add_test(accuracy, the_divergence_term_cuts_the_error_on_lorenz_63);
    suite_add_tcase(suite, mass);
    suite_add_tcase(suite, accuracy);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
