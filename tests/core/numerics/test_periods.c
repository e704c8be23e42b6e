/* test_periods.c - Gaussian likelihoods of components with periods: the terms of the sum against all terms, on each
 * backend, by the audit's samples and by the filters beside them. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"
#include "numerics/likelihood.h"
#include "rivals/gaussian.h"

static const double PI = 3.14159265358979323846;

/* ---- the sum ---- */

/* The logarithm of the sum for r[3] over all multiples of the periods within `most`. */
static double all_terms(const double *inverse, const double *period, const double *r, int most)
{
    double top = -INFINITY, sum = 0;

    for (int turn = 0; turn < 2; turn++)
        for (int i = -most; i <= most; i++)
            for (int j = -most; j <= most; j++)
                for (int k = period[2] > 0 ? -most : 0; k <= (period[2] > 0 ? most : 0); k++) {
                    const double at[3] = {r[0] + i * period[0], r[1] + j * period[1], r[2] + k * period[2]};
                    const double value = gbees_gaussian_exponent(3, at, inverse);

                    top = turn ? top : fmax(top, value);
                    sum += turn ? exp(value - top) : 0;
                }
    return top + log(sum);
}

/* Three components of any correlations, of which two or three have periods: from far below a deviation to about one.
 */
START_TEST(terms_are_those_that_count)
{
    const double scale[] = {0.05, 0.3, 1};
    const double inverse[9] = {9, -5, 2, -5, 7, -4, 2, -4, 6};

    for (int point = 0; point < 200; point++) {
        const double s = scale[point % 3], period[3] = {1, 1.3, point % 2 ? 0.9 : 0};
        double a[9], r[3], more, left[3];
        gbees_periods p;

        for (int k = 0; k < 9; k++)
            a[k] = inverse[k] / (s * s);
        for (int k = 0; k < 3; k++) {
            left[k] = 3 * sin(1 + 7 * point + 11 * k);
            r[k] = gbees_wrapped(left[k], period[k]);
        }
        ck_assert_int_eq(gbees_periods_set(&p, 3, period, a, &more), 0);
        ck_assert_int_eq(p.count, point % 2 ? 3 : 2);
        const double none[3] = {0}, at_match = all_terms(a, period, none, 14), right = all_terms(a, period, r, 14);
        const double found = gbees_periods_exponent(&p, 3, r, a, period, gbees_gaussian_exponent(3, r, a));

        ck_assert_double_eq_tol(more, at_match, 1e-11);
        ck_assert_double_eq_tol(found, right - at_match, 1e-11 * fmax(1, fabs(right)));
    }
}
END_TEST

/* Where the deviation is far below the period there is one term, and the number is the Gaussian's to the last bit. */
START_TEST(one_term_is_the_gaussian)
{
    double inverse[4] = {1e4, 10, 10, 3}, more;
    const double period[2] = {2 * PI, 0};
    gbees_periods p;

    ck_assert_int_eq(gbees_periods_set(&p, 2, period, inverse, &more), 0);
    ck_assert(more == 0);
    for (int k = -100; k <= 100; k++) {
        const double r[2] = {0.031 * k, 0.2}, gaussian = gbees_gaussian_exponent(2, r, inverse);

        ck_assert(gbees_periods_exponent(&p, 2, r, inverse, period, gaussian) == gaussian);
    }
}
END_TEST

/* Numbers beyond all bounds end, too. */
START_TEST(no_residual_hangs)
{
    double inverse[4] = {1e4, 1e4, 1e4, 2e4}, more;
    const double period[2] = {2 * PI, 0}, far[] = {1e9, 1e20, 1e150, 1e300, INFINITY, NAN};
    gbees_periods p;

    ck_assert_int_eq(gbees_periods_set(&p, 2, period, inverse, &more), 0);
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        const double r[2] = {1, far[k]};

        ck_assert(!(gbees_periods_exponent(&p, 2, r, inverse, period, gbees_gaussian_exponent(2, r, inverse)) > 0));
    }
}
END_TEST

/* Two angles of deviations of 10^6 periods whose difference is known well. */
START_TEST(sums_without_end_are_refused)
{
    const double variance = 1e12, part = 1e-13, period[2] = {1, 1};
    double inverse[4] = {1 / (variance * part), -(1 - part / 2) / (variance * part),
                         -(1 - part / 2) / (variance * part), 1 / (variance * part)},
           more;
    gbees_periods p;

    ck_assert_int_eq(gbees_periods_set(&p, 2, period, inverse, &more), 1);
}
END_TEST

/* ---- backends ---- */

static const char *backend; /* that the present test runs on */

static void on_cpu(void)
{
    backend = "cpu";
}

static void on_threads(void)
{
    backend = "shim";
}

/* All cells after an update, with its evidence. */
static cell_list update(rig *r, const gbees_measurement *m, gbees_evidence *e)
{
    ck_assert_msg(r->backend->update(r->engine, &r->clock, m, e, &r->error) == 0, "%s", r->error.text);
    return rig_cells(r);
}

/* The logarithm of the density of a residual, by all multiples of the periods within 60. R is 1 x 1 or 2 x 2. */
static double summed(const gbees_measurement *m, const double *y)
{
    const double *c = m->covariance, determinant = m->size == 1 ? c[0] : c[0] * c[3] - c[1] * c[2];
    double sum = 0;

    for (int i = m->period[0] > 0 ? -60 : 0; i <= (m->period[0] > 0 ? 60 : 0); i++)
        for (int j = m->period[1] > 0 ? -60 : 0; j <= (m->period[1] > 0 ? 60 : 0); j++) {
            const double a = m->value[0] - y[0] + i * m->period[0],
                         b = m->size == 1 ? 0 : m->value[1] - y[1] + j * m->period[1];

            sum += exp(-0.5 * (m->size == 1 ? a * a : a * a * c[3] - 2 * a * b * c[1] + b * b * c[0]) / determinant);
        }
    return log(sum) - m->size * 0.5 * log(2 * PI) - 0.5 * log(determinant);
}

/* As wide as a period and wider; two periods, correlated so that the nearest multiple of each is not the most likely
 * pair; one period of two; far narrower; so wide that nothing is said. */
static const gbees_measurement periodic[] = {
    {.size = 1, .value = {0.5}, .covariance = {0.3}, .period = {0.9}},
    {.size = 1, .value = {0.5}, .covariance = {1.1}, .period = {0.8}},
    {.function = 1, .size = 2, .value = {0.6, 5}, .covariance = {0.5, 0.62, 0.62, 0.8}, .period = {0.7, 1.1}},
    {.function = 1, .size = 2, .value = {7, 0.3}, .covariance = {0.5, 0.3, 0.3, 0.2}, .period = {0.7, 0}},
    {.function = 1, .size = 2, .value = {0.6, 0.3}, .covariance = {1e-2, 0, 0, 0.2}, .period = {3, 0}},
    {.function = 1, .size = 2, .value = {0.6, 0.3}, .covariance = {0.5, 0.1, 0.1, 0.2}, .period = {0.2, 0}},
    {.size = 1, .value = {0.5}, .covariance = {1e6}, .period = {0.8}},
};

/* Values at centres, cell by cell; in the last case each component has its values with the same probability. */
START_TEST(periods_are_summed)
{
    const gbees_measurement *m = &periodic[_i];
    double sum = 0, most = -INFINITY;
    const double zero[2] = {m->value[0], m->value[1]};
    gbees_evidence e;
    rig r;

    rig_open_split(&r, backend, 2, 6);
    r.problem.numerics.cell_values = GBEES_CELL_POINTS;
    rig_start(&r, 1);
    cell_list prior = rig_cells(&r), got = update(&r, m, &e);
    const double uniform = -log(m->period[0]), at_match = _i == 6 ? uniform : summed(m, zero);
    for (size_t i = 0; i < prior.count; i++) {
        double x[2], y[2];

        for (int j = 0; j < 2; j++)
            x[j] = r.problem.mean[j] + r.problem.width[j] * prior.index[i][j];
        y[0] = m->function ? x[0] + x[1] : x[1];
        y[1] = x[0] * x[0];
        const double value = _i == 6 ? uniform : summed(m, y);
        sum += prior.p[i] *= exp(value);
        most = fmax(most, value - at_match);
    }
    ck_assert_double_eq_tol(e.log_evidence, log(sum), 1e-9);
    ck_assert_double_eq_tol(e.log_likelihood_max, most, 1e-9);
    ck_assert(e.log_likelihood_max < 1e-12);
    for (size_t i = 0, k = 0; i < got.count; i++, k++) {
        while (memcmp(prior.index[k], got.index[i], sizeof got.index[i]) != 0)
            ck_assert_uint_lt(k++, prior.count - 1);
        ck_assert_double_eq_tol(got.p[i], prior.p[k] / sum, 1e-12);
    }
    list_free(&prior);
    list_free(&got);
    rig_close(&r);
}
END_TEST

/* A state of N(0, 3^2), measured modulo 2 pi with a deviation of 2: log of the sum of N(3.1 + 2 pi k; 0, 13). */
static double exact(void)
{
    double sum = 0;

    for (int k = -20; k <= 20; k++)
        sum += exp(-pow(3.1 + 2 * PI * k, 2) / 26) / sqrt(26 * PI);
    return log(sum);
}

static const gbees_measurement turned = {.size = 1, .value = {3.1}, .covariance = {4}, .period = {6.283185307179586}};

START_TEST(an_angle_wider_than_its_period)
{
    gbees_evidence e;
    rig r;

    rig_open_split(&r, backend, 1, 80);
    r.problem.mean[0] = 0;
    r.problem.covariance[0] = 9;
    r.problem.width[0] = 0.3;
    rig_start(&r, 1);
    cell_list cells = update(&r, &turned, &e);
    ck_assert_double_eq_tol(exact(), -1.84089, 5e-6);
    ck_assert_double_eq_tol(e.log_evidence, exact(), 1e-5);
    list_free(&cells);
    rig_close(&r);
}
END_TEST

/* ---- samples and filters ---- */

/* The audit's likelihood is the engines'. */
START_TEST(samples_have_the_same_sum)
{
    const gbees_measurement *m = &periodic[_i];
    double x[2][50], out[50];
    const double *place[2] = {x[0], x[1]};
    rig r;

    rig_open(&r, "cpu", 2, 6);
    for (int i = 0; i < 50; i++) {
        x[0][i] = sin(1 + i);
        x[1][i] = 2 * cos(3 * i);
    }
    ck_assert_msg(!gbees_measurement_log_likelihood(&r.problem, m, 0, 50, place, out, &r.error), "%s", r.error.text);
    for (int i = 0; i < 50; i++) {
        const double y[2] = {m->function ? x[0][i] + x[1][i] : x[1][i], x[0][i] * x[0][i]};

        ck_assert_double_eq_tol(out[i], _i == 6 ? -log(m->period[0]) : summed(m, y), 1e-9);
    }
    rig_close(&r);
}
END_TEST

/* The extended Kalman filter's evidence of a linear measurement is exact. */
START_TEST(a_filter_has_the_same_evidence)
{
    gbees_filter_setup setup;
    void *filter = NULL;
    double found = 0;
    rig r;

    rig_open(&r, "cpu", 1, 6);
    r.problem.mean[0] = 0;
    r.problem.covariance[0] = 9;
    setup = (gbees_filter_setup){.problem = &r.problem, .start = {.covariance = {9}}};
    ck_assert_msg(!gbees_filter_ekf.create(&setup, &filter, &r.error), "%s", r.error.text);
    ck_assert_msg(!gbees_filter_ekf.update(filter, &turned, &r.error), "%s", r.error.text);
    found = gbees_gaussian_evidence(filter).value;
    ck_assert_double_eq_tol(found, exact(), 1e-9);
    gbees_filter_ekf.destroy(filter);
    rig_close(&r);
}
END_TEST

enum { CASES = sizeof periodic / sizeof *periodic };

/* All tests on one backend, which `choose` sets. */
static TCase *tests_on(const char *name, void (*choose)(void))
{
    TCase *all = tcase_create(name);

    tcase_add_checked_fixture(all, choose, NULL);
    tcase_add_loop_test(all, periods_are_summed, 0, CASES);
    tcase_add_test(all, an_angle_wider_than_its_period);
    return all;
}

int main(void)
{
    Suite *suite = suite_create("periods");
    TCase *tests = tcase_create("sums");

    tcase_add_test(tests, terms_are_those_that_count);
    tcase_add_test(tests, one_term_is_the_gaussian);
    tcase_add_test(tests, no_residual_hangs);
    tcase_add_test(tests, sums_without_end_are_refused);
    tcase_add_loop_test(tests, samples_have_the_same_sum, 0, CASES);
    tcase_add_test(tests, a_filter_has_the_same_evidence);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, tests_on("cpu", on_cpu));
    if (is_built("shim"))
        suite_add_tcase(suite, tests_on("threads", on_threads));
    return run_suite(suite);
}
