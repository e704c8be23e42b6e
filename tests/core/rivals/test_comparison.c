/* test_comparison.c - lists of filters; distances of a filter's density from a record; what is answered. The records
 * are those of the Kalman filter, so that no grid is needed. */
#include "fixtures/kalman.h"
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"
#include "record/cells.h"
#include <gbees/rivals.h>

enum { ENTRIES = 4001 };

static const double parameters[] = {-0.1, 1.25, -0.8}, length = 0.5;

/* ---- lists ---- */

START_TEST(lists_are_read)
{
    gbees_rivals list;
    gbees_error error = {0};

    ck_assert_msg(!gbees_rivals_parse("pf:500,ekf,mc,enkf:128,ukf", &list, &error), "%s", error.text);
    ck_assert_int_eq(list.count, 5);
    ck_assert_int_eq(list.rival[0], GBEES_RIVAL_PF);
    ck_assert_uint_eq(list.samples[0], 500);
    ck_assert_str_eq(gbees_rival_name(list.rival[1]), "ekf");
    ck_assert_uint_eq(list.samples[1], 0);
    ck_assert_uint_eq(list.samples[2], 10000);
    ck_assert_uint_eq(list.samples[3], 128);
    ck_assert_str_eq(gbees_rival_name(list.rival[4]), "ukf");
}
END_TEST

static const struct {
    const char *list, *text;
} refused[] = {
    {"mc,kef", "there is no filter 'kef': did you mean 'ekf'? (mc, ekf, ukf, enkf, pf)"},
    {"", "there is no filter '' (mc, ekf, ukf, enkf, pf)"},
    {"mc,,ekf", "there is no filter '' (mc, ekf, ukf, enkf, pf)"},
    {"mc,", "there is no filter '' (mc, ekf, ukf, enkf, pf)"},
    {"something-much-longer-than-any-name-is", "there is no filter 'something-much-longer-than-any-name-is'"},
    {"ekf:100", "ekf has no samples: leave ':100' out"},
    {"pf:127", "pf takes a whole number of samples from 128 to 1000000000, not '127'"},
    {"pf:1e4", "pf takes a whole number of samples from 128 to 1000000000, not '1e4'"},
    {"mc:", "mc takes a whole number of samples from 128 to 1000000000, not ''"},
    {"mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc,mc", "a comparison has at most 16 filters"},
};

START_TEST(wrong_lists_are_refused)
{
    gbees_rivals list = {.count = -1};
    gbees_error error = {0};

    ck_assert_int_eq(gbees_rivals_parse(refused[_i].list, &list, &error), GBEES_EUSAGE);
    ck_assert_msg(strncmp(error.text, refused[_i].text, strlen(refused[_i].text)) == 0, "%s", error.text);
    ck_assert_int_eq(list.count, -1);
}
END_TEST

/* ---- records ---- */

/* The marginal of a Gaussian, 200 entries a standard deviation. */
static void fill_line(double *p)
{
    for (int i = 0; i < ENTRIES; i++) {
        const double low = (i - ENTRIES / 2 - 0.5) / 200, high = low + 1.0 / 200;

        p[i] = 0.5 * (erfc(-high / sqrt(2)) - erfc(-low / sqrt(2)));
    }
}

/* Gives a comparison the record of a Gaussian. */
static void add_record(gbees_comparison *c, const gbees_problem *problem, int number, double time,
                       const kalman_state *exact, const gbees_certificate *certificate)
{
    static double p[ENTRIES];
    gbees_projection marginals = {0};
    gbees_record record = {
        .problem = problem, .number = number, .time = time, .projection = &marginals, .certificate = certificate};
    gbees_error error = {0};

    fill_line(p);
    for (int j = 0; j < exact->n; j++) {
        const double std = sqrt(exact->covariance[j * exact->n + j]);

        marginals.width[j] = std / 200;
        marginals.origin[j] = exact->mean[j] - ENTRIES / 2 * marginals.width[j];
        marginals.length[j] = ENTRIES;
        marginals.p[j] = p;
    }
    memcpy(record.statistics.mean, exact->mean, sizeof exact->mean);
    memcpy(record.statistics.covariance, exact->covariance, sizeof exact->covariance);
    ck_assert_msg(!gbees_comparison_record(c, &record, &error), "%s", error.text);
}

static gbees_comparison *start(const gbees_problem *problem, const char *list)
{
    gbees_comparison_options options = {.threads = 1};
    gbees_comparison *c = NULL;
    gbees_error error = {0};

    ck_assert_msg(!gbees_rivals_parse(list, &options.rivals, &error), "%s", error.text);
    ck_assert_msg(!gbees_comparison_create(problem, &options, &c, &error), "%s", error.text);
    return c;
}

static kalman_state at_start(const gbees_problem *problem)
{
    kalman_state exact = {.n = problem->dimension};

    gbees_problem_point(problem, problem->mean, exact.mean);
    for (int j = 0; j < exact.n; j++)
        for (int k = 0; k < exact.n; k++)
            for (int l = 0; l < exact.n; l++)
                exact.covariance[j * exact.n + k] += problem->rotated ? problem->rotation[j * exact.n + l] *
                                                                            problem->covariance[l * exact.n + l] *
                                                                            problem->rotation[k * exact.n + l]
                                                     : l == 0 ? problem->covariance[j * exact.n + k]
                                                              : 0;
    return exact;
}

/* Runs the filters beside two records, of which the second is off by so many deviations of x1. */
static gbees_comparison *compare(const gbees_problem *problem, const char *list, double shift,
                                 const gbees_certificate *certificate)
{
    gbees_comparison *c = start(problem, list);
    kalman_state exact = at_start(problem);
    gbees_error error = {0};

    add_record(c, problem, 0, problem->start, &exact, certificate);
    kalman_predict(&exact, parameters, length);
    exact.mean[0] += shift * sqrt(exact.covariance[0]);
    add_record(c, problem, 1, problem->start + length, &exact, certificate);
    ck_assert_msg(!gbees_comparison_run(c, 1000, &error), "%s", error.text);
    ck_assert_uint_eq(gbees_comparison_records(c), 2);
    return c;
}

/* The largest difference of two normal distribution functions whose means are so many deviations apart. */
static double normal_distance(double shift)
{
    return erf(shift / 2 / sqrt(2));
}

static void check_answer(const gbees_comparison *c, const char *wanted)
{
    char text[GBEES_ANSWER_TEXT];

    gbees_comparison_answer(c, text, sizeof text);
    ck_assert_msg(strstr(text, wanted) != NULL, "%s", text);
}

START_TEST(distances_are_exact)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_comparison *c = compare(problem, "ekf,ukf,mc", 0.3, NULL);

    ck_assert_int_eq(gbees_comparison_count(c), 3);
    for (int k = 0; k < 2; k++) {
        const gbees_rival_result *r = gbees_comparison_result(c, k);

        ck_assert_uint_eq(r->count, 2);
        ck_assert_double_lt(r->records[0].mean, 1e-6);
        ck_assert_double_lt(r->records[0].kolmogorov, 1e-6);
        ck_assert_double_eq_tol(r->records[1].mean, 0.3, 1e-6);
        ck_assert_double_lt(r->records[1].std, 1e-6);
        ck_assert_double_eq_tol(r->records[1].kolmogorov, normal_distance(0.3), 1e-5);
        ck_assert_double_eq_tol(r->ratio, 0.3 / 0.05, 1e-4);
        ck_assert(r->ratio_time == problem->start + length && r->worst.mean == r->records[1].mean);
        ck_assert(r->log_evidence == 0 && isnan(r->log_evidence_error));
    }
    const gbees_rival_result *mc = gbees_comparison_result(c, 2);
    ck_assert_double_lt(mc->records[0].kolmogorov, 2.5 / sqrt(10000)); /* at 1.9 its probability is a thousandth */
    ck_assert_double_gt(mc->records[0].kolmogorov, 0.2 / sqrt(10000));
    ck_assert_double_eq_tol(mc->records[1].mean, 0.3, 5 / sqrt(10000));
    check_answer(c, "A grid is needed here: the nearest other is ");
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(a_filter_may_be_enough)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_comparison *c = compare(problem, "ekf,mc", 0.04, NULL);
    gbees_error error = {0};

    check_answer(c, "No grid is needed here: ");
    ck_assert_msg(!gbees_comparison_run(c, 0, &error), "%s", error.text);
    check_answer(c, "The grid is the cheapest here: of the others ");
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

/* A certificate whose bounds are so much above what was found. */
static gbees_certificate certify(double value, double bound)
{
    gbees_certificate certificate = {0};

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        certificate.mean[j] = certificate.std[j] = certificate.kolmogorov[j] = (gbees_difference){value, bound};
    return certificate;
}

START_TEST(limits_are_those_of_the_certificate)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    const gbees_certificate fine = certify(0.001, 0.01), coarse = certify(0.06, 0.08), vague = certify(0.1, 0.3),
                            wrong = certify(0.3, 0.4);
    gbees_comparison *c = compare(problem, "ekf", 0.07, &fine);

    ck_assert_double_eq_tol(gbees_comparison_result(c, 0)->ratio, 0.07 / 0.05, 1e-4);
    check_answer(c,
                 "A grid is needed here: the nearest other is ekf, with an error of 1.4 times its limit at t = 0.5");
    gbees_comparison_destroy(c);
    c = compare(problem, "ekf", 0.07, &coarse);
    ck_assert_double_eq_tol(gbees_comparison_result(c, 0)->ratio, 0.07 / 0.08, 1e-4);
    check_answer(c, "No grid is needed here: ekf ");
    gbees_comparison_destroy(c);
    c = compare(problem, "ekf", 0.07, &vague);
    ck_assert_double_eq_tol(gbees_comparison_result(c, 0)->ratio, 0.07 / 0.1, 1e-4);
    gbees_comparison_destroy(c);
    c = compare(problem, "ekf", 0.07, &wrong);
    check_answer(c,
                 "No answer whether a grid is needed: by its own certificate a mean or a standard deviation of the "
                 "grid is off by 0.2 or more at t = 0;");
    gbees_comparison_destroy(c);
    /* What was asked for is good enough to compare with. */
    problem->accuracy = 0.4;
    c = compare(problem, "ekf", 0.07, &wrong);
    ck_assert_double_eq_tol(gbees_comparison_result(c, 0)->ratio, 0.07 / 0.4, 1e-4);
    check_answer(c, "No grid is needed here: ekf ");
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

/* A grid whose means are right and whose marginals are not is compared by its means. */
START_TEST(marginals_that_are_off_judge_nothing)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_certificate certificate = certify(0.06, 0.08);

    certificate.kolmogorov[1] = (gbees_difference){0.3, 0.4};
    gbees_comparison *c = compare(problem, "ekf", 0.07, &certificate);
    char text[GBEES_ANSWER_TEXT];

    check_answer(c, "No grid is needed here: ekf ");
    gbees_comparison_answer(c, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text,
                                 "At t = 0 means and standard deviations alone say so: the grid's own marginals "
                                 "are off by 0.2 there (Kolmogorov's distance, by its certificate)."));
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

/* Gaussian filters begin with the density's moments whatever the grid's axes are. */
START_TEST(a_rotated_grid_is_none_of_theirs)
{
    gbees_problem *problem =
        problem_of_text("linear", "mean: [2, -1]\ncovariance: [[0.25, 0.1], [0.1, 0.16]]\nrotate: yes\n"
                                  "factor: 1\nthreshold: 1.0e-6\nend: 1\nrecords: 1\nmeasurements: []\n");

    ck_assert_int_eq(problem->rotated, 1);
    gbees_comparison *c = compare(problem, "ekf,ukf,enkf", 0, NULL);
    for (int k = 0; k < 2; k++) {
        ck_assert_double_lt(gbees_comparison_result(c, k)->worst.mean, 1e-6);
        ck_assert_double_lt(gbees_comparison_result(c, k)->worst.std, 1e-6);
    }
    ck_assert_double_lt(gbees_comparison_result(c, 2)->worst.mean, 5 / sqrt(10000));
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

/* ... and with those of a whole mixture, on a rotated grid, too. */
START_TEST(a_mixture_is_one_gaussian_to_them)
{
    static const char *const rotate[] = {"no", "yes"};
    char text[512];
    gbees_error error = {0};

    (void)snprintf(text, sizeof text,
                   "initial:\n  - {weight: 1, mean: [0, 0], covariance: [0.25, 0.16]}\n"
                   "  - {weight: 3, mean: [2, -1], covariance: [0.09, 0.04]}\nrotate: %s\n"
                   "factor: 1\nthreshold: 1.0e-6\nend: 1\nrecords: 1\nmeasurements: []\n",
                   rotate[_i]);
    gbees_problem *problem = problem_of_text("linear", text);
    ck_assert_int_eq(problem->rotated, _i);
    gbees_comparison *c = start(problem, "ekf,ukf,mc");
    /* 1/4 (0.25, 0.16) + 3/4 (0.09, 0.04) + 3/16 d d', d = (2, -1) */
    kalman_state exact = {.n = 2, .mean = {1.5, -0.75}, .covariance = {0.88, -0.375, -0.375, 0.2575}};
    add_record(c, problem, 0, 0, &exact, NULL);
    kalman_predict(&exact, parameters, length);
    add_record(c, problem, 1, length, &exact, NULL);
    ck_assert_msg(!gbees_comparison_run(c, 1, &error), "%s", error.text);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_lt(gbees_comparison_result(c, k)->worst.mean, k < 2 ? 1e-6 : 5 / sqrt(10000));
        ck_assert_double_lt(gbees_comparison_result(c, k)->worst.std, k < 2 ? 1e-6 : 5 / sqrt(10000));
    }
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

START_TEST(marginals_may_be_unknown)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_comparison *c = start(problem, "ekf");
    const kalman_state exact = at_start(problem);
    gbees_record record = {.problem = problem, .time = problem->start};
    gbees_error error = {0};

    memcpy(record.statistics.mean, exact.mean, sizeof exact.mean);
    memcpy(record.statistics.covariance, exact.covariance, sizeof exact.covariance);
    ck_assert_msg(!gbees_comparison_record(c, &record, &error), "%s", error.text);
    ck_assert_msg(!gbees_comparison_run(c, 1, &error), "%s", error.text);
    ck_assert_double_lt(gbees_comparison_result(c, 0)->worst.mean, 1e-6);
    ck_assert(isnan(gbees_comparison_result(c, 0)->worst.kolmogorov));
    ck_assert(isnan(gbees_comparison_result(c, 0)->worst.bc));
    check_answer(c, "No answer whether a grid is needed: the marginals of a record are not known.");
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- joint densities ---- */

enum { WIDE = 60 /* cells on each side of the middle */ };

/* Of a standard normal variable beyond x deviations. */
static double normal_above(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* The share of a normal variable, whose mean is `shift` deviations from the middle of cell 0, in the cells
 * first ... last, of which `cells` are as wide as a deviation. */
static double normal_share(double shift, int cells, int first, int last)
{
    return normal_above((first - 0.5) / cells - shift) - normal_above((last + 0.5) / cells - shift);
}

/* Of two normal variables so many deviations apart, on bins of that many cells. */
static double binned_coefficient(double shift, int cells)
{
    double sum = 0;

    for (int bin = -20; bin <= 20; bin++) {
        const int first = bin * cells - cells / 2, last = first + cells - 1;

        sum += sqrt(normal_share(0, cells, first, last) * normal_share(shift, cells, first, last));
    }
    return sum;
}

/* A normal density on the grid's cells, its mean in the first state off by `shift` deviations. */
static gbees_cells *normal_cells(double shift, int cells)
{
    gbees_cells *made = gbees_cells_create(2);
    gbees_error error = {0};

    for (int32_t i = -WIDE; i <= WIDE; i++)
        for (int32_t k = -WIDE; k <= WIDE; k++) {
            const double p = normal_share(shift, cells, i, i) * normal_share(0, cells, k, k);

            ck_assert_int_eq(gbees_cells_add(made, 1, (const int32_t *const[]){&i, &k}, &p), 0);
        }
    ck_assert_int_eq(gbees_cells_finish(made, 1, &error), GBEES_OK);
    return made;
}

static const struct {
    double shift;
    const char *rotate;
} joints[] = {{0, "no"}, {0.5, "no"}, {1, "no"}, {2, "no"}, {5, "no"}, {1, "yes"}};

/* Of a Gaussian filter and of samples. Without noise in the counts it is that of the same bins; the standard errors
 * are 0.005 for 10000 samples. */
START_TEST(coefficients_are_those_of_two_gaussians)
{
    const double shift = joints[_i].shift;
    char text[256];

    (void)snprintf(text, sizeof text,
                   "mean: [2, -1]\ncovariance: [0.25, 0.16]\nrotate: %s\nfactor: 4\nthreshold: 1.0e-6\nend: 1\n"
                   "records: 1\nmeasurements: []\n",
                   joints[_i].rotate);
    gbees_problem *problem = problem_of_text("linear", text);
    gbees_cells *cells = normal_cells(shift, 8);
    gbees_record record = {.problem = problem, .time = problem->start, .cells = cells};
    gbees_comparison *c = start(problem, "ekf,ukf,mc,enkf");
    const kalman_state exact = at_start(problem);
    gbees_error error = {0};

    memcpy(record.statistics.mean, exact.mean, sizeof exact.mean);
    memcpy(record.statistics.covariance, exact.covariance, sizeof exact.covariance);
    ck_assert_msg(!gbees_comparison_record(c, &record, &error), "%s", error.text);
    ck_assert_msg(!gbees_comparison_run(c, 1, &error), "%s", error.text);
    for (int k = 0; k < 4; k++) {
        const gbees_rival_result *r = gbees_comparison_result(c, k);

        ck_assert_double_eq_tol(r->records[0].bc, binned_coefficient(shift, 8), k < 2 ? 0.01 : 0.015);
        ck_assert_double_le(r->worst.bc, 1);
    }
    gbees_comparison_destroy(c);
    gbees_cells_destroy(cells);
    gbees_problem_destroy(problem);
}
END_TEST

/* ---- failures ---- */

START_TEST(a_filter_that_fails_says_why)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    gbees_problem own = *problem;
    gbees_measurement seen = problem->measurements[0];
    kalman_state exact = at_start(problem);
    gbees_error error = {0};

    seen.time = problem->start;
    seen.likelihood = GBEES_LIKELIHOOD_MODEL; /* which this model has not */
    own.measurements = &seen;
    gbees_comparison *c = start(&own, "ekf,mc");
    ck_assert_int_eq(gbees_comparison_run(c, 1, &error), GBEES_EUSAGE);
    add_record(c, &own, 0, own.start, &exact, NULL);
    gbees_comparison_update(c);
    add_record(c, &own, 0, own.start, &exact, NULL);
    ck_assert_msg(!gbees_comparison_run(c, 1, &error), "%s", error.text);
    for (int k = 0; k < 2; k++) {
        const gbees_rival_result *r = gbees_comparison_result(c, k);

        ck_assert_int_eq(r->failure.status, GBEES_EMODEL);
        ck_assert_uint_eq(r->count, 1);
        ck_assert(isnan(r->log_evidence));
    }
    check_answer(c, "A grid is needed here: no other filter has come to the end");
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

static int at_once(void *context)
{
    return ++*(int *)context > 1;
}

START_TEST(it_can_be_cancelled)
{
    gbees_problem *problem = problem_create(model("linear"), 0, NULL);
    int polled = 0;
    gbees_comparison_options options = {.threads = 1, .cancelled = at_once, .context = &polled};
    const kalman_state exact = at_start(problem);
    gbees_comparison *c = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_rivals_parse("ekf,ukf", &options.rivals, &error), 0);
    ck_assert_int_eq(gbees_comparison_create(problem, &options, &c, &error), 0);
    add_record(c, problem, 0, problem->start, &exact, NULL);
    ck_assert_int_eq(gbees_comparison_run(c, 1, &error), GBEES_ECANCELLED);
    ck_assert_str_eq(error.text, "cancelled in the comparison with ukf");
    ck_assert_int_eq(polled, 2);
    gbees_comparison_destroy(c);
    gbees_problem_destroy(problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comparison");
    TCase *tests = tcase_create("comparison");

    tcase_add_checked_fixture(tests, registry_open, registry_close);
    tcase_add_test(tests, lists_are_read);
    tcase_add_loop_test(tests, wrong_lists_are_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, distances_are_exact);
    tcase_add_test(tests, a_filter_may_be_enough);
    tcase_add_test(tests, limits_are_those_of_the_certificate);
    tcase_add_test(tests, marginals_that_are_off_judge_nothing);
    tcase_add_test(tests, a_rotated_grid_is_none_of_theirs);
    tcase_add_loop_test(tests, a_mixture_is_one_gaussian_to_them, 0, 2);
    tcase_add_test(tests, marginals_may_be_unknown);
    tcase_add_loop_test(tests, coefficients_are_those_of_two_gaussians, 0, sizeof joints / sizeof *joints);
    tcase_add_test(tests, a_filter_that_fails_says_why);
    tcase_add_test(tests, it_can_be_cancelled);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
