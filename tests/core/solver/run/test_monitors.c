/* test_monitors.c - what is wrong with a result is on record: runs whose exact answer is known. (The kernels on
 * threads have a line of the linear model, and no plane.) */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

enum { LAST = MOST_RECORDS };

/* The warnings of record `number`, LAST: of the last one. */
static unsigned warnings_of(const kept_run *run, int number)
{
    return run->record[number < run->count ? number : run->count - 1].record.warnings;
}

/* dx/dt = -x contracts a Gaussian of .5 to .5 e^-30; cells are .42 wide. */
START_TEST(a_variance_of_0_is_told)
{
    a_case c = {.model = "linear",
                .settings = {"dimension=1", "parameters={diagonal: -1}", "factor=0.6", "end=30", "records=1",
                             "measurements=[]"}};

    if (!is_built(backend_names[_i]))
        return;
    kept_run *run = run_on(&c, backend_names[_i]);
    const gbees_record *last = &run->record[run->count - 1].record;

    ck_assert_double_eq(last->statistics.covariance[0], 0);
    ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_NARROW, GBEES_WARNING_NARROW);
    forget(run);
}
END_TEST

/* A stiff contraction, at a rate of 1000: a Gaussian of .5 in cells of 1/8. The deviation is right while it has 1.5
 * cells, and the record that has it too large, as it has fewer, is the first one with a warning. */
START_TEST(a_contraction_below_the_cells_is_told)
{
    a_case c = {.model = "linear",
                .settings = {"dimension=1", "parameters={diagonal: -1000}", "factor=2", "threshold=1e-8", "end=0.003",
                             "records=6", "measurements=[]"}};
    double off = 0;

    if (!is_built(backend_names[_i]))
        return;
    kept_run *run = run_on(&c, backend_names[_i]);
    for (int k = 0; k < run->count; k++) {
        const gbees_record *record = &run->record[k].record;
        const double std = 0.5 * exp(-1000 * record->time), resolved = std / (1.5 * 0.125);

        off = fabs(sqrt(record->statistics.covariance[0]) / std - 1);
        if (resolved > 1.05)
            ck_assert_double_lt(off, 0.03);
        ck_assert_uint_eq(warnings_of(run, k) & GBEES_WARNING_NARROW, resolved > 1 ? 0 : GBEES_WARNING_NARROW);
    }
    ck_assert_int_eq(run->count, 7);
    ck_assert_double_gt(off, 0.3); /* .025 at the end, a fifth of a cell */
    forget(run);
}
END_TEST

/* ---- measurements in the tail ---- */

/* A Gaussian of mean 2 and variance 1/4 that contracts to e^-1/2 of both distances at t = 1, where it is measured
 * `off` standard deviations of the prediction away, with a variance of `share` times its own. */
static kept_run *run_measured(const char *backend, double off, double share, const char *extent)
{
    const double mean = 2 * exp(-0.5), variance = 0.25 * exp(-1);
    char measurements[160];
    a_case c = {.model = "linear",
                .settings = {"dimension=1", "parameters={diagonal: -0.5}", "factor=2", "threshold=1e-8", "end=1.1",
                             "records=2", extent, measurements}};

    (void)snprintf(measurements, sizeof measurements,
                   "measurements=[{time: 1, function: x1, value: [%.17g], covariance: [%.17g]}]",
                   mean + off * sqrt((1 + share) * variance), share * variance);
    return run_on(&c, backend);
}

/* The logarithm of the evidence, less the exact one. */
static double evidence_error(const kept_run *run, double off, double share)
{
    const double two_pi = 2 * acos(-1), variance = 0.25 * exp(-1) * (1 + share);

    return run->evidence[0].log_evidence + 0.5 * (log(two_pi * variance) + off * off);
}

/* Near the mean the evidence is right, and nothing is said. From 3.6 standard deviations on it is told, with a box
 * that cuts the density off at three as with a larger one, in which the scheme has carried mass of its own that far.
 */
START_TEST(evidence_in_the_tail_is_told)
{
    static const double share[] = {0.04, 1}, right[] = {0, 1, 2}, wrong[] = {3.6, 4.5, 5.8};
    static const char *const extents[] = {"extent=3", "extent=6"};
    const char *backend = backend_names[_i / 4], *extent = extents[_i % 2];
    const double part = share[_i / 2 % 2];

    for (int k = 0; k < 3 && is_built(backend); k++) {
        kept_run *run = run_measured(backend, right[k], part, extent);

        ck_assert_double_lt(fabs(evidence_error(run, right[k], part)), 0.01);
        ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_TAIL, 0);
        forget(run);
        run = run_measured(backend, wrong[k], part, extent);
        ck_assert_uint_eq(warnings_of(run, 2) & GBEES_WARNING_TAIL, 0); /* the last record before it */
        ck_assert_uint_eq(warnings_of(run, 3) & GBEES_WARNING_TAIL, GBEES_WARNING_TAIL);
        ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_TAIL, GBEES_WARNING_TAIL);
        if (k == 2)
            ck_assert_double_gt(fabs(evidence_error(run, wrong[k], part)), 0.3);
        forget(run);
    }
}
END_TEST

/* The same on the other axis of a rotated grid, in two dimensions, for two measurements of one time that together are
 * one; and not after a measurement that is no surprise to the density that the first one has left. */
START_TEST(measurements_of_one_time_are_one)
{
    static const char *const values[] = {"0.6", "2.5"};
    char measurements[256];
    a_case c = {.model = "linear",
                .settings = {"dimension=2", "parameters={diagonal: 0, upper: 0, lower: 0}", "mean=[0, 0]",
                             "covariance=[[0.25, 0.15], [0.15, 0.25]]", "rotate=yes", "factor=2", "extent=5",
                             "threshold=1e-8", "end=1", "records=1", measurements}};

    (void)snprintf(
        measurements, sizeof measurements,
        "measurements=[{time: 0.5, function: x1, value: [%s], covariance: [0.125]}, {time: 0.5, function: "
        "x1, value: [%s], covariance: [0.125]}, {time: 0.8, function: x1, value: [%s], covariance: [0.1]}]",
        values[_i], values[_i], values[_i]);
    kept_run *run = run_on(&c, "cpu");
    ck_assert_int_eq(run->evidence_count, 3);
    ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_TAIL, _i ? GBEES_WARNING_TAIL : 0);
    ck_assert_double_eq_tol(
        run->evidence[2].total,
        run->evidence[0].log_evidence + run->evidence[1].log_evidence + run->evidence[2].log_evidence, 1e-14);
    ck_assert(isnan(run->evidence[2].sampled) && isnan(run->evidence[2].total_error));
    forget(run);
}
END_TEST

/* The phase of a noisy oscillator in lock, by no means a turn: wells at 0 and at whole turns, a barrier of 10 D. p*
 * ends the grid before the saddle at half a turn, and what has come across is missing; 'tail' has it. Where there is
 * one well only nothing is said, however much is lost. */
START_TEST(losses_at_a_saddle_are_told)
{
    static const struct {
        const char *model, *parameters, *lost;
        int warns;
    } cases[] = {{"phase", "parameters={detuning: 0, noise: 0.2}", "threshold=1e-5", 1},
                 {"phase", "parameters={detuning: 0, noise: 0.2}", "tail=1e-10", 0},
                 {"linear", "parameters={diagonal: -1, noise: 0.5}", "threshold=1e-3", 0}};
    a_case c = {.model = cases[_i].model,
                .settings = {"dimension=1", "states=lines", cases[_i].parameters, cases[_i].lost, "mean=[0]",
                             "covariance=[0.01]", "factor=2", "end=20", "records=2", "measurements=[]"}};

    if (!is_built("cpu"))
        return;
    kept_run *run = run_on(&c, "cpu");

    ck_assert_uint_eq(warnings_of(run, 1) & GBEES_WARNING_SADDLE, 0);
    ck_assert_uint_eq(warnings_of(run, LAST) & GBEES_WARNING_SADDLE, cases[_i].warns ? GBEES_WARNING_SADDLE : 0);
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("monitors");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_variance_of_0_is_told, 0, BACKENDS);
    tcase_add_loop_test(tests, a_contraction_below_the_cells_is_told, 0, BACKENDS);
    tcase_add_loop_test(tests, evidence_in_the_tail_is_told, 0, 4 * BACKENDS);
    tcase_add_loop_test(tests, measurements_of_one_time_are_one, 0, 2);
    tcase_add_loop_test(tests, losses_at_a_saddle_are_told, 0, 3);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
