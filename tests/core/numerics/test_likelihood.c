/* test_likelihood.c - measurements that are not one Gaussian, on each backend: components that wrap or are missing,
 * Student's t and a model's own likelihood against sums over the cells; and the evidence against integrals. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

enum { NODES = 4001 };
static const double PI = 3.14159265358979323846;

static const char *backend; /* that the present test runs on */

static void on_cpu(void)
{
    backend = "cpu";
}

static void on_threads(void)
{
    backend = "shim";
}

static rig *open_rig(rig *r, int n, int averages)
{
    rig_open_split(r, backend, n, n == 1 ? 12 : 6);
    r->problem.numerics.cell_values = averages ? GBEES_CELL_AVERAGES : GBEES_CELL_POINTS;
    rig_start(r, 1);
    return r;
}

/* All cells after an update, with its evidence. */
static cell_list update(rig *r, const gbees_measurement *m, gbees_evidence *e)
{
    rig_start(r, 1);
    ck_assert_msg(r->backend->update(r->engine, &r->clock, m, e, &r->error) == 0, "%s", r->error.text);
    return rig_cells(r);
}

/* The same cells, but for rounding. */
static void compare_lists(const cell_list *a, const cell_list *b, double tolerance)
{
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_int_eq(memcmp(a->index, b->index, a->count * sizeof *a->index), 0);
    for (size_t i = 0; i < a->count; i++)
        ck_assert_double_eq_tol(a->p[i], b->p[i], tolerance);
}

/* Both measurements say the same; their evidences differ by `more`. */
static void both_say(rig *r, const gbees_measurement *a, const gbees_measurement *b, double more)
{
    gbees_evidence first, second;
    cell_list left = update(r, a, &first), right = update(r, b, &second);

    compare_lists(&left, &right, 1e-12);
    ck_assert_double_eq_tol(first.log_evidence - second.log_evidence, more, 1e-9);
    ck_assert_double_eq_tol(first.log_likelihood_max, second.log_likelihood_max, 1e-9);
    list_free(&left);
    list_free(&right);
}

/* ---- residuals ---- */

/* A value that is whole periods away is the same measurement; one that is half of one away is not. */
START_TEST(whole_periods_make_no_difference)
{
    const gbees_measurement plain = {.size = 1, .value = {0.5}, .covariance = {0.04}};
    gbees_measurement turned = plain;
    gbees_evidence near, far;
    rig r;

    open_rig(&r, 2, _i);
    turned.period[0] = 30;
    for (int turns = -3; turns <= 3; turns++) {
        turned.value[0] = 0.5 + 30 * turns;
        both_say(&r, &turned, &plain, 0);
    }
    turned.period[0] = 2;
    turned.value[0] = 1.5;
    cell_list a = update(&r, &turned, &far);
    list_free(&a);
    a = update(&r, &plain, &near);
    list_free(&a);
    ck_assert_double_lt(far.log_evidence, near.log_evidence - 0.2);
    rig_close(&r);
}
END_TEST

/* The second component of a pair alone, or the first, is a measurement by itself, whatever stands in its place and
 * however the noises of the two hang together. */
START_TEST(missing_components_are_not_there)
{
    const gbees_measurement first = {.function = 1, .size = 1, .value = {0.6}, .covariance = {0.09}};
    gbees_measurement pair = {
        .function = 1, .size = 2, .value = {0.6, 1e9}, .covariance = {0.09, 0.03, 0.03, 0.05}, .missing = 2};
    gbees_measurement loose = {.function = 1, .size = 2, .value = {0, 0.3}, .covariance = {1e12, 0, 0, 0.05}};
    rig r;

    open_rig(&r, 2, _i);
    both_say(&r, &pair, &first, 0);
    pair.missing = 1;
    pair.value[0] = 0;
    pair.value[1] = 0.3;
    /* The same as a first component that says next to nothing. */
    both_say(&r, &pair, &loose, 0.5 * log(2 * PI * 1e12));
    rig_close(&r);
}
END_TEST

/* ---- evidence ---- */

/* log of the integral of a Gaussian and a likelihood, by Simpson's rule over 12 deviations. */
static double integrate(double mean, double variance, double (*likelihood)(double x, const void *context),
                        const void *context)
{
    double sigma = sqrt(variance), step = 24 * sigma / (NODES - 1), sum = 0;

    for (int i = 0; i < NODES; i++) {
        double x = mean + (i - NODES / 2) * step, weight = i == 0 || i == NODES - 1 ? 1 : i % 2 ? 4 : 2;

        sum += weight * exp(-0.5 * (x - mean) * (x - mean) / variance) / sqrt(2 * PI * variance) *
               likelihood(x, context);
    }
    return log(sum * step / 3);
}

static double gaussian(double x, const void *context)
{
    const gbees_measurement *m = context;
    double off = m->value[0] - x;

    return exp(-0.5 * off * off / m->covariance[0]) / sqrt(2 * PI * m->covariance[0]);
}

static double student(double x, const void *context)
{
    const gbees_measurement *m = context;
    double off = m->value[0] - x, nu = m->degrees_of_freedom;

    return tgamma((nu + 1) / 2) / (tgamma(nu / 2) * sqrt(nu * PI * m->covariance[0])) *
           pow(1 + off * off / (nu * m->covariance[0]), -(nu + 1) / 2);
}

/* The rig's one-dimensional Gaussian, 7 deviations of it in cells of a tenth, or of a part of that: nothing is cut
 * off.
 */
static void open_line(rig *r, int averages, int part)
{
    rig_open_split(r, backend, 1, 70 * part);
    r->problem.numerics.cell_values = averages ? GBEES_CELL_AVERAGES : GBEES_CELL_POINTS;
    r->problem.covariance[0] = 0.49;
    r->problem.width[0] = 0.07 / part;
    rig_start(r, 1);
}

static const gbees_measurement on_line[] = {
    {.size = 1, .value = {0.3}, .covariance = {0.04}},
    {.size = 1, .value = {1.9}, .covariance = {0.25}},
    {.size = 1,
     .value = {0.3},
     .covariance = {0.04},
     .likelihood = GBEES_LIKELIHOOD_STUDENT,
     .degrees_of_freedom = 3},
    {.size = 1,
     .value = {6},
     .covariance = {0.04},
     .likelihood = GBEES_LIKELIHOOD_STUDENT,
     .degrees_of_freedom = 0.8},
    {.size = 1, .value = {1}, .covariance = {0.3}, .likelihood = GBEES_LIKELIHOOD_STUDENT, .degrees_of_freedom = 40},
};

/* How far the evidence is from the integral. */
static double miss(const gbees_measurement *m, int averages, int part)
{
    gbees_evidence e;
    rig r;

    open_line(&r, averages, part);
    cell_list cells = update(&r, m, &e);
    double right = integrate(r.problem.mean[0], r.problem.covariance[0],
                             m->likelihood == GBEES_LIKELIHOOD_STUDENT ? student : gaussian, m);
    list_free(&cells);
    rig_close(&r);
    return e.log_evidence - right;
}

/* Sums over points are integrals; those over averages, where P and L vary in one cell, are of fourth order: as far as
 * L does vary, which case 3 with fine cells does by less than a hundredth in some. */
START_TEST(evidence_is_absolute)
{
    const gbees_measurement *m = &on_line[_i];
    double coarse = miss(m, 1, 1), fine = miss(m, 1, 2);

    ck_assert_double_lt(fabs(miss(m, 0, 1)), 1e-8);
    ck_assert_double_lt(fabs(coarse), 1e-5);
    ck_assert_double_lt(fabs(fine - coarse / 16), _i == 3 ? 1e-5 : 3e-9);
}
END_TEST

/* log of the same integral for a likelihood far narrower than the prior: by Simpson's rule, with points that are
 * dense around its peak. */
static double integrate_peak(double mean, double variance, const gbees_measurement *m)
{
    const double scale = sqrt(m->covariance[0]), last = asinh(12 * sqrt(variance) / scale),
                 step = 2 * last / (NODES - 1);
    double sum = 0;

    for (int i = 0; i < NODES; i++) {
        const double u = (i - NODES / 2) * step, x = m->value[0] + scale * sinh(u);
        const double weight = i == 0 || i == NODES - 1 ? 1 : i % 2 ? 4 : 2;

        sum += weight * scale * cosh(u) * exp(-0.5 * (x - mean) * (x - mean) / variance) / sqrt(2 * PI * variance) *
               (m->likelihood == GBEES_LIKELIHOOD_STUDENT ? student(x, m) : gaussian(x, m));
    }
    return log(sum * step / 3);
}

/* A likelihood that is a tenth, a hundredth, a thousandth of a cell wide, anywhere in the cell. */
START_TEST(narrow_likelihoods_are_integrated)
{
    const double width = 0.07, parts[] = {10, 100, 1000};

    for (double place = 0; place < 1; place += 0.085) {
        const double scale = width / parts[_i / 2];
        const gbees_measurement m = {.size = 1,
                                     .value = {0.3 + width * place},
                                     .covariance = {scale * scale},
                                     .likelihood = _i % 2 ? GBEES_LIKELIHOOD_STUDENT : GBEES_LIKELIHOOD_GAUSSIAN,
                                     .degrees_of_freedom = 3};
        gbees_evidence e;
        rig r;

        open_line(&r, 1, 1);
        cell_list cells = update(&r, &m, &e);
        ck_assert_double_eq_tol(e.log_evidence, integrate_peak(r.problem.mean[0], r.problem.covariance[0], &m), 5e-3);
        list_free(&cells);
        rig_close(&r);
    }
}
END_TEST

/* Two components at once, the sum of the states and the square of the first: both peaks are found from the centres of
 * cells at which the likelihood is 0 in double precision. Exact up to the prior's change within a peak. */
START_TEST(narrow_likelihoods_of_two_components)
{
    const double scale = 0.2 / (_i ? 100 : 10), variance = scale * scale;
    const gbees_measurement m = {.function = 1,
                                 .size = 2,
                                 .value = {0.29, 0.47},
                                 .covariance = {variance, 0.3 * variance, 0.3 * variance, variance}};
    double sum = 0;
    gbees_evidence e;
    rig r;

    open_rig(&r, 2, 1);
    cell_list cells = update(&r, &m, &e);
    const double *c = r.problem.covariance, determinant = c[0] * c[3] - c[1] * c[2];
    for (int side = -1; side < 2; side += 2) {
        const double first = side * sqrt(m.value[1]), x = first - r.problem.mean[0],
                     y = m.value[0] - first - r.problem.mean[1];
        const double exponent = -0.5 * (c[3] * x * x - 2 * c[1] * x * y + c[0] * y * y) / determinant;

        sum += exp(exponent) / (2 * PI * sqrt(determinant)) / fabs(2 * first);
    }
    ck_assert_double_eq_tol(e.log_evidence, log(sum), 0.05);
    list_free(&cells);
    rig_close(&r);
}
END_TEST

/* Of two components, one missing or none: the logarithms of gamma functions see how many there are. Far out,
 * Student's t with many degrees of freedom is the Gaussian. */
START_TEST(student_becomes_gaussian)
{
    gbees_measurement pair = {.function = 1,
                              .size = 2,
                              .value = {0.6, 0.3},
                              .covariance = {0.09, 0.03, 0.03, 0.05},
                              .missing = (unsigned)_i};
    gbees_measurement other = pair;
    gbees_evidence e[2];
    rig r;

    other.likelihood = GBEES_LIKELIHOOD_STUDENT;
    other.degrees_of_freedom = 1e8;
    open_rig(&r, 2, 1);
    cell_list a = update(&r, &pair, &e[0]), b = update(&r, &other, &e[1]);
    ck_assert_double_eq_tol(e[0].log_evidence, e[1].log_evidence, 1e-5);
    compare_lists(&a, &b, 1e-6);
    list_free(&a);
    list_free(&b);
    rig_close(&r);
}
END_TEST

/* An outlier drags the Gaussian posterior along, and not that of Student's t. */
START_TEST(outliers_are_left_aside)
{
    gbees_measurement far = {.size = 1, .value = {4}, .covariance = {0.04}};
    gbees_evidence e;
    rig r;

    open_line(&r, 1, 1);
    cell_list cells = update(&r, &far, &e);
    double dragged = rig_statistics(&r).mean[0];
    list_free(&cells);
    far.likelihood = GBEES_LIKELIHOOD_STUDENT;
    far.degrees_of_freedom = 2;
    cells = update(&r, &far, &e);
    double left = rig_statistics(&r).mean[0];
    list_free(&cells);
    ck_assert_double_gt(dragged, 3);
    ck_assert_double_lt(left, 1.5);
    rig_close(&r);
}
END_TEST

/* ---- the model's own ---- */

/* Against the rule cell by cell, values at centres: Laplace's density, nothing below x1 = 0, and 2000 left out. */
START_TEST(own_likelihoods_are_taken_as_they_are)
{
    const gbees_measurement m = {.size = 1, .value = {0.7}, .likelihood = GBEES_LIKELIHOOD_MODEL};
    gbees_evidence e;
    rig r;
    double sum = 0, total = 0;

    open_rig(&r, 2, 0);
    cell_list prior = rig_cells(&r);
    for (size_t i = 0; i < prior.count; i++) {
        double x[2];

        for (int j = 0; j < 2; j++)
            x[j] = r.problem.mean[j] + r.problem.width[j] * prior.index[i][j];
        prior.p[i] *= x[0] < 0 ? 0 : exp(-fabs(0.7 - x[1]));
        sum += prior.p[i];
    }
    cell_list got = update(&r, &m, &e);
    ck_assert_double_eq_tol(e.log_evidence, log(sum) - 2000, 1e-9);
    for (size_t i = 0, k = 0; i < got.count; i++, k++) {
        while (memcmp(prior.index[k], got.index[i], sizeof got.index[i]) != 0)
            ck_assert_uint_lt(k++, prior.count - 1);
        ck_assert_double_eq_tol(got.p[i], prior.p[k] / sum, 1e-12);
        total += got.p[i];
    }
    ck_assert_double_eq_tol(total, 1, 1e-9);
    list_free(&prior);
    list_free(&got);
    rig_close(&r);
}
END_TEST

/* With averages, the edge of what is possible goes through cells: of each it leaves a part. */
START_TEST(own_likelihoods_are_averaged)
{
    const gbees_measurement m = {.size = 1, .value = {0.7}, .likelihood = GBEES_LIKELIHOOD_MODEL};
    gbees_evidence e;
    rig r;

    open_rig(&r, 2, 1);
    r.problem.mean[0] = 0.05; /* 0 lies in the cells of index 0, whose width is 0.2 */
    cell_list got = update(&r, &m, &e);
    double at_edge = 0, beyond = 0, next = 0;
    for (size_t i = 0; i < got.count; i++) {
        at_edge += got.index[i][0] == 0 ? got.p[i] : 0;
        next += got.index[i][0] == 1 ? got.p[i] : 0;
        beyond += got.index[i][0] < 0 ? got.p[i] : 0;
    }
    ck_assert(beyond == 0);
    ck_assert_double_gt(at_edge, 0.5 * next);
    ck_assert_double_lt(at_edge, 0.95 * next);
    list_free(&got);
    rig_close(&r);
}
END_TEST

START_TEST(own_likelihoods_that_are_no_number_are_found)
{
    const gbees_measurement m = {.function = 1, .size = 2, .likelihood = GBEES_LIKELIHOOD_MODEL};
    gbees_evidence e = {.log_evidence = 17, .log_likelihood_max = 18};
    rig r;
    int index[2] = {99, 99};
    double x[2] = {0};

    open_rig(&r, 2, _i);
    r.problem.parameters[HOLE] = 0.3;
    rig_start(&r, 1);
    r.clock.time = 0.625;
    ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &e, &r.error), GBEES_ENUMERIC);
    const char *at = strstr(r.error.text, "the log-likelihood of advect for pair is not a number at t = 0.625 in the "
                                          "cell [");
    ck_assert_msg(at != NULL, "%s", r.error.text);
    ck_assert_int_eq(sscanf(strchr(at, '['), "[%d, %d] at x1 = %lf, x2 = %lf:", &index[0], &index[1], &x[0], &x[1]),
                     4);
    for (int j = 0; j < 2; j++)
        ck_assert_double_eq_tol(x[j], r.problem.mean[j] + r.problem.width[j] * index[j], 1e-5);
    ck_assert_double_gt(x[0], 0.3 - 0.2); /* or some of the cell is */
    ck_assert_double_eq(e.log_evidence, 17);
    rig_close(&r);
}
END_TEST

START_TEST(own_likelihoods_that_allow_nothing_are_refused)
{
    const gbees_measurement m = {.size = 1, .value = {0.7}, .likelihood = GBEES_LIKELIHOOD_MODEL};
    gbees_evidence e = {.log_evidence = 17, .log_likelihood_max = 18};
    rig r;

    open_rig(&r, 2, _i);
    r.problem.mean[0] = -40;
    rig_start(&r, 1);
    ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &e, &r.error), GBEES_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(r.error.text, "the model calls it impossible in all of them"));
    ck_assert_double_eq(e.log_evidence, 17);
    rig_close(&r);
}
END_TEST

/* All tests on one backend, which `choose` sets. */
static TCase *tests_on(const char *name, void (*choose)(void))
{
    TCase *all = tcase_create(name);

    tcase_add_checked_fixture(all, choose, NULL);
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, whole_periods_make_no_difference, 0, 2);
    tcase_add_loop_test(all, missing_components_are_not_there, 0, 2);
    tcase_add_loop_test(all, evidence_is_absolute, 0, (int)(sizeof on_line / sizeof *on_line));
    tcase_add_loop_test(all, narrow_likelihoods_are_integrated, 0, 6);
    tcase_add_loop_test(all, narrow_likelihoods_of_two_components, 0, 2);
    tcase_add_loop_test(all, student_becomes_gaussian, 0, 3);
    tcase_add_test(all, outliers_are_left_aside);
    tcase_add_test(all, own_likelihoods_are_taken_as_they_are);
    tcase_add_test(all, own_likelihoods_are_averaged);
    tcase_add_loop_test(all, own_likelihoods_that_are_no_number_are_found, 0, 2);
    tcase_add_loop_test(all, own_likelihoods_that_allow_nothing_are_refused, 0, 2);
    return all;
}

int main(void)
{
    Suite *suite = suite_create("likelihood");

    suite_add_tcase(suite, tests_on("cpu", on_cpu));
    if (is_built("shim"))
        suite_add_tcase(suite, tests_on("threads", on_threads));
    return run_suite(suite);
}
