/* test_update.c - Bayes' rule: the posterior and the evidence against sums over the cells, and measurements that are
 * far away, and further. The CPU alone has sums in integers. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"
#include <stdatomic.h>

/* The log-likelihood of a cell less that of a perfect match, and log sqrt((2 pi)^m det S), for m = 1 or 2. */
static double log_likelihood(const rig *r, const gbees_measurement *m, const int32_t *index, double *log_norm)
{
    const gbees_problem *p = &r->problem;
    const double *s = m->covariance;
    int last = p->dimension - 1;
    double first = p->mean[0] + p->width[0] * index[0], end = p->mean[last] + p->width[last] * index[last];

    if (m->function == 0) {
        double off = m->value[0] - end;

        *log_norm = 0.5 * log(2 * 3.14159265358979323846 * s[0]);
        return -0.5 * off * off / s[0];
    }
    double a = m->value[0] - (first + end), b = m->value[1] - first * first, det = s[0] * s[3] - s[1] * s[2];
    *log_norm = log(2 * 3.14159265358979323846) + 0.5 * log(det);
    return -0.5 * (a * a * s[3] - 2 * a * b * s[1] + b * b * s[0]) / det;
}

/* All cells that hold something. */
static cell_list all_cells(rig *r)
{
    r->part = 0;
    cell_list list = rig_cells(r);
    r->part = 1;
    return list;
}

/* What the update should make of a list of cells, in place, by logarithms: P becomes P L / sum. */
static gbees_evidence multiply(const rig *r, const gbees_measurement *m, cell_list *list)
{
    double heaviest = -INFINITY, sum = 0, norm = 0;
    gbees_evidence e = {.log_evidence = 0, .log_likelihood_max = -INFINITY};

    for (size_t i = 0; i < list->count; i++)
        if (list->p[i] > 0) {
            double l = log_likelihood(r, m, list->index[i], &norm);

            e.log_likelihood_max = fmax(e.log_likelihood_max, l);
            heaviest = fmax(heaviest, l + log(list->p[i]));
        }
    for (size_t i = 0; i < list->count; i++) {
        double l = log_likelihood(r, m, list->index[i], &norm);

        list->p[i] = list->p[i] > 0 ? exp(l + log(list->p[i]) - heaviest) : 0;
        sum += list->p[i];
    }
    for (size_t i = 0; i < list->count; i++)
        list->p[i] /= sum;
    e.log_evidence = heaviest + log(sum) - norm;
    return e;
}

/* Updates, and compares with the rule applied to the cells one by one. */
static void update_agrees(rig *r, const gbees_measurement *m, double tolerance)
{
    gbees_evidence e;
    cell_list wanted = all_cells(r);
    gbees_evidence right = multiply(r, m, &wanted);
    int lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM];
    double most = 0;

    ck_assert_msg(r->backend->update(r->engine, &r->clock, m, &e, &r->error) == 0, "%s", r->error.text);
    cell_list got = rig_cells(r);
    for (int j = 0; j < wanted.n; j++) {
        lo[j] = INT32_MAX;
        hi[j] = INT32_MIN;
        for (size_t i = 0; i < wanted.count; i++) {
            lo[j] = wanted.index[i][j] < lo[j] ? wanted.index[i][j] : lo[j];
            hi[j] = wanted.index[i][j] > hi[j] ? wanted.index[i][j] : hi[j];
        }
        hi[j] -= lo[j] - 1;
    }
    dense d;
    dense_create(&d, wanted.n, lo, hi, 0);
    for (size_t i = 0; i < wanted.count; i++) {
        d.p[dense_cell(&d, wanted.index[i])] = wanted.p[i];
        most = fmax(most, wanted.p[i]);
    }
    ck_assert_double_eq_tol(e.log_evidence, right.log_evidence, 10 * tolerance * fmax(1, fabs(right.log_evidence)));
    ck_assert_double_eq_tol(e.log_likelihood_max, right.log_likelihood_max,
                            1e-12 * fmax(1, fabs(right.log_likelihood_max)));
    for (size_t i = 0; i < got.count; i++) {
        long cell = dense_cell(&d, got.index[i]);

        ck_assert_double_eq_tol(got.p[i], d.p[cell], tolerance * most);
        d.p[cell] = 0;
    }
    ck_assert_double_lt(dense_most(&d), 1.01 * r->problem.threshold); /* what is not shown is below p* */
    ck_assert_double_eq_tol(rig_statistics(r).mass, 1, tolerance);
    dense_destroy(&d);
    list_free(&wanted);
    list_free(&got);
}

/* kind 0: double precision, 1: mixed precision, 4: points of the split scheme, 5: sums in integers. */
static double open_kind(rig *r, const char *backend, int kind, int n)
{
    rig_open(r, backend, n, n == 1 ? 8 : n == 2 ? 6 : n == 3 ? 4 : 2);
    if (kind == 1) {
        r->problem.numerics.precision = GBEES_MIXED;
        r->problem.threshold = 1e-8;
    }
    r->deterministic = kind == 5;
    if (kind == 4)
        r->problem.numerics.scheme = GBEES_SCHEME_SPLIT5;
    return kind == 1 ? 2e-6 : 1e-11;
}

/* Where and how each test runs. */
static const struct {
    const char *backend;
    int kind;
} runs[] = {{"cpu", 0}, {"cpu", 1}, {"paper", 0}, {"cpu", 4}, {"cpu", 5}, {"shim", 0}, {"shim", 4}};
enum { RUNS = sizeof runs / sizeof *runs };

static const gbees_measurement near_by = {.function = 0, .size = 1, .value = {0.5}, .covariance = {0.04}};
static const gbees_measurement pair = {
    .function = 1, .size = 2, .value = {0.6, 0.3}, .covariance = {0.09, 0.03, 0.03, 0.05}};

START_TEST(posterior_is_prior_times_likelihood)
{
    const char *backend = runs[_i].backend;
    const int first = is_cpu(backend) ? 1 : 2, last = is_cpu(backend) ? 4 : 3;

    for (int n = first; n <= last && is_built(backend); n++)
        for (int k = 0; k < 2; k++) {
            rig r;
            double tolerance = open_kind(&r, backend, runs[_i].kind, n);

            rig_start(&r, 2);
            rig_steps(&r, 3);
            update_agrees(&r, k ? &pair : &near_by, tolerance);
            rig_steps(&r, 1); /* and on it goes, and again */
            update_agrees(&r, k ? &near_by : &pair, tolerance);
            rig_close(&r);
        }
}
END_TEST

/* Far away, a likelihood underflows in float (below -104), later in double, and a product with P before that. */
START_TEST(far_measurements_give_an_answer)
{
    const double far[] = {-60, -120, -600, -735};

    for (int k = 0; k < 4 && is_built(runs[_i].backend); k++) {
        rig r;
        gbees_measurement m = near_by;
        double tolerance = open_kind(&r, runs[_i].backend, runs[_i].kind, 2), edge;

        rig_start(&r, 1);
        cell_list list = all_cells(&r);
        edge = -INFINITY;
        for (size_t i = 0; i < list.count; i++)
            if (list.p[i] > 0)
                edge = fmax(edge, r.problem.mean[1] + r.problem.width[1] * list.index[i][1]);
        list_free(&list);
        m.value[0] = edge + sqrt(-2 * far[k] * m.covariance[0]);
        update_agrees(&r, &m, 10 * tolerance);
        gbees_statistics s = rig_statistics(&r);
        ck_assert(isfinite(s.entropy) && s.peak > 0);
        ck_assert_double_gt(s.mean[1], r.problem.mean[1]); /* towards the measurement */
        rig_steps(&r, 2);
        rig_close(&r);
    }
}
END_TEST

START_TEST(unsupported_measurements_leave_the_density_alone)
{
    rig r;
    gbees_measurement m = near_by;
    gbees_evidence e = {.log_evidence = 17, .log_likelihood_max = 18};
    dense d;

    if (!is_built(runs[_i].backend))
        return;
    open_kind(&r, runs[_i].backend, runs[_i].kind, 3);
    rig_start(&r, 1);
    rig_steps(&r, 2);
    r.clock.time = 0.625;
    rig_window(&r, &d, 10);
    double *after = calloc((size_t)d.cells, sizeof *after);
    ck_assert_ptr_nonnull(after);
    r.part = 0;
    for (int side = -1; side <= 1; side += 2) {
        rig_collect(&r, &d, d.p);
        gbees_statistics s = rig_statistics(&r);

        m.value[0] = side * 50; /* 250 deviations */
        ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &e, &r.error), GBEES_EUNSUPPORTED);
        ck_assert_int_eq(r.error.status, GBEES_EUNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(r.error.text, "t = 0.625"));
        ck_assert_ptr_nonnull(strstr(r.error.text, "log-likelihood is at most -"));
        ck_assert(e.log_evidence == 17 && e.log_likelihood_max == 18);
        rig_collect(&r, &d, after);
        gbees_statistics t = rig_statistics(&r);
        ck_assert_int_eq(memcmp(after, d.p, (size_t)d.cells * sizeof *after), 0);
        ck_assert_int_eq(memcmp(&s, &t, sizeof s), 0);
    }
    rig_steps(&r, 1);
    free(after);
    dense_destroy(&d);
    rig_close(&r);
}
END_TEST

START_TEST(a_covariance_that_is_none_is_refused)
{
    rig r;
    gbees_measurement m = pair;
    gbees_evidence e = {.log_evidence = 17, .log_likelihood_max = 18};

    if (!is_built(backend_names[_i]))
        return;
    rig_open(&r, backend_names[_i], 2, 4);
    rig_start(&r, 1);
    m.covariance[1] = m.covariance[2] = 5;
    ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &e, &r.error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(r.error.text, "not positive definite"));
    ck_assert_double_eq(e.log_evidence, 17);
    rig_close(&r);
}
END_TEST

/* The CPU compiles nothing for a problem, so that it can always update. */
START_TEST(an_engine_without_updates_refuses_one)
{
    rig r;
    gbees_evidence e = {.log_evidence = 17};

    if (!is_built(backend_names[_i]))
        return;
    rig_open(&r, backend_names[_i], 2, 4);
    r.problem.measurement_count = 0;
    rig_start(&r, 1);
    const int status = r.backend->update(r.engine, &r.clock, &pair, &e, &r.error);
    if (is_cpu(backend_names[_i])) {
        ck_assert_msg(status == GBEES_OK, "%s", r.error.text);
    } else {
        ck_assert_int_eq(status, GBEES_EUSAGE);
        ck_assert_ptr_nonnull(strstr(r.error.text, "give the problem its measurements"));
        ck_assert_double_eq(e.log_evidence, 17);
    }
    rig_close(&r);
}
END_TEST

/* An update prunes: what the measurement rules out is gone, and the ledger knows. */
/* The points at which the measured function has been evaluated, by all threads. */
static atomic_ulong points_evaluated;
static gbees_measure_d *own_measure;

static void count_points(int which, size_t count, double t, const double *origin, const double *const *offset,
                         const double *p, double *const *out)
{
    atomic_fetch_add(&points_evaluated, count);
    own_measure(which, count, t, origin, offset, p, out);
}

/* A measurement ten times as precise as the prior, by a function of two components: quadrature takes 25 points a
 * cell, and is needed in one cell of ten. */
START_TEST(cells_that_will_be_negligible_need_no_quadrature)
{
    rig r;
    gbees_measurement precise = pair;
    gbees_evidence evidence;

    rig_open_split(&r, "cpu", 2, 30);
    gbees_functions functions = *r.problem.functions;
    const double width = r.problem.width[0];

    own_measure = functions.measure_d;
    functions.measure_d = count_points;
    r.problem.functions = &functions;
    memset(r.problem.covariance, 0, sizeof r.problem.covariance);
    r.problem.covariance[0] = r.problem.covariance[3] = 100 * width * width;
    memset(precise.covariance, 0, sizeof precise.covariance);
    precise.covariance[0] = precise.covariance[3] = width * width;
    rig_start(&r, 2);
    cell_list list = all_cells(&r);
    const size_t cells = list.count;
    list_free(&list);
    points_evaluated = 0;
    ck_assert_msg(r.backend->update(r.engine, &r.clock, &precise, &evidence, &r.error) == 0, "%s", r.error.text);
    const unsigned long points = points_evaluated;
    ck_assert_msg(points > 6 * cells && points < 12 * cells, "%lu points for %zu cells", points, cells);
    rig_close(&r);
}
END_TEST

START_TEST(an_update_prunes)
{
    const char *backend = _i == 2 ? "shim" : _i == 1 ? "paper" : "cpu";
    rig r;
    gbees_evidence e;
    gbees_measurement m = near_by;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, 2, 10);
    r.problem.threshold = 1e-5;
    rig_start(&r, 1);
    uint64_t before = rig_statistics(&r).cells_raw;
    m.covariance[0] = 0.01;
    ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &e, &r.error), 0);
    gbees_statistics s = rig_statistics(&r);
    ck_assert_uint_lt(s.cells_raw, before);
    /* Paper mode makes up for what a prune takes. */
    ck_assert_double_eq_tol(s.mass, _i == 1 ? 1 : 1 - rig_totals(&r).mass_pruned, 1e-12);
    ck_assert_double_lt(rig_totals(&r).mass_pruned, 0.01);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("update");
    TCase *updates = tcase_create("updates");

    tcase_set_timeout(updates, 60);
    tcase_add_loop_test(updates, posterior_is_prior_times_likelihood, 0, RUNS);
    tcase_add_loop_test(updates, far_measurements_give_an_answer, 0, RUNS);
    tcase_add_loop_test(updates, unsupported_measurements_leave_the_density_alone, 0, RUNS);
    tcase_add_loop_test(updates, a_covariance_that_is_none_is_refused, 0, BACKENDS);
    tcase_add_loop_test(updates, an_engine_without_updates_refuses_one, 0, BACKENDS);
    tcase_add_test(updates, cells_that_will_be_negligible_need_no_quadrature);
    tcase_add_loop_test(updates, an_update_prunes, 0, 3);
    suite_add_tcase(suite, updates);
    return run_suite(suite);
}
