/* test_lagrangian.c - points that go with the flow: the Kalman filter and smoother are met, in double precision where
 * points are cheap; results do not depend on threads; what can't be is refused with a sentence. */
#include "fixtures/kalman.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>

static const struct {
    int n;
    double most;
} filters[] = {{1, 1e-8}, {2, 1e-8}, {3, 1e-8}, {4, 1e-5}, {6, 1e-3}};
enum { FILTERS = sizeof filters / sizeof *filters, USUAL = FILTERS - 1 };

static kalman_result filter(int n, const char *settings, int threads)
{
    kalman_result result = {.steps = 0};
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(kalman_run(n, 1, settings, threads, &result, &error) == GBEES_OK, "%s", error.text);
    return result;
}

START_TEST(the_filter_and_the_smoother_are_met)
{
    const int n = filters[_i].n;
    const double most = filters[_i].most;
    const kalman_result r = filter(n, "frame: lagrangian\npoints: 1.25\nsmooth: yes\n", 2);

    ck_assert_double_lt(r.predicted.mean, most);
    ck_assert_double_lt(r.predicted.covariance, most);
    ck_assert_double_lt(r.updated.mean, most);
    ck_assert_double_lt(r.updated.covariance, most);
    ck_assert_double_lt(r.evidence, most);
    ck_assert_double_lt(r.smoothed.mean, most);
    ck_assert_double_lt(r.smoothed.covariance, most);
}
END_TEST

/* ---- a run of Lorenz '63 ---- */

/* What is kept of a run: its last record, the worst certificate, the evidence. */
typedef struct kept {
    gbees_statistics last, smoothed;
    double bound, log_evidence;
    unsigned warnings;
} kept;

static int keep(void *context, const gbees_record *record, gbees_error *error)
{
    kept *k = context;

    (void)error;
    k->last = record->statistics;
    k->warnings |= record->warnings;
    ck_assert_ptr_nonnull(record->certificate);
    k->bound =
        fmax(k->bound,
             gbees_certificate_error(record->certificate, record->problem->dimension, GBEES_ACCURACY_MOMENTS).bound);
    return 0;
}

/* Keeps the first of the records given all measurements. */
static int keep_smoothed(void *context, const gbees_record *record, gbees_error *error)
{
    kept *k = context;

    (void)error;
    if (k->smoothed.cells == 0)
        k->smoothed = record->statistics;
    return 0;
}

static int keep_update(void *context, const gbees_problem *problem, int number, double time,
                       const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem, (void)number, (void)time, (void)error;
    ((kept *)context)->log_evidence += evidence->log_evidence;
    return 0;
}

/* Runs a model from a scenario; returns the status, and the error's text. */
static int run(const char *model, const char *text, int threads, kept *k, char *why)
{
    const gbees_observer observer = {.context = k, .record = keep, .update = keep_update, .smoothed = keep_smoothed};
    gbees_summary summary;
    world w;

    *k = (kept){.bound = 0};
    int status = world_open(&w, NULL, model, "cpu");
    if (!status)
        status = world_make(&w, &(scenario_source){.text = text, .name = "test"});
    if (!status)
        status = world_run(&w, threads, &observer, &summary);
    (void)snprintf(why, 256, "%.255s", w.error.text);
    world_close(&w);
    return status;
}

static const char lorenz[] = "frame: lagrangian\nmean: [-11.5, -10, 9.5]\ncovariance: [1, 1, 1]\nend: 2\nrecords: 2\n"
                             "measurements:\n  - {time: 1, function: z, value: [-8], covariance: [1]}\n";

static void add(char *text, size_t size, const char *more)
{
    (void)snprintf(text, size, "%s%s", lorenz, more);
}

/* The moments and the evidence of Lorenz '63 are those of lattices of a fifth of the spacing
 * (tests/accuracy/lattices), and within what the certificates say. */
START_TEST(a_bent_posterior_is_within_its_certificate)
{
    const double mean[] = {-1.9620539, -0.3273487, 1.8347825};
    char text[1024], why[256];
    kept k;

    add(text, sizeof text, "accuracy: 0.001\n");
    ck_assert_msg(run("lorenz63", text, 2, &k, why) == 0, "%s", why);
    ck_assert_double_le(k.bound, 0.001);
    ck_assert_double_eq_tol(k.log_evidence, -4.293665, 0.001);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(k.last.mean[j], mean[j], k.bound * sqrt(k.last.covariance[4 * j]) + 1e-6);
    ck_assert_uint_eq(k.warnings & GBEES_WARNING_ACCURACY, 0);
}
END_TEST

/* A height that two angles have, -1 and 1, measured a thousand times as precisely as they are apart: of both, by
 * p(h) = sum of p(angle) / |dh / dangle|. */
START_TEST(both_solutions_of_a_precise_measurement_are_kept)
{
    const double height = 1 - cos(1), below = exp(-2 * 1.1 * 1.1), above = exp(-2 * 0.9 * 0.9);
    const double evidence = (below + above) * sqrt(2 / acos(-1)) / sin(1), mean = (above - below) / (above + below);
    char text[1024], why[256];
    kept k;

    (void)snprintf(text, sizeof text,
                   "mean: [0.1, 0]\ncovariance: [0.25, 0.25]\nframe: lagrangian\naccuracy: 0.01\nend: 0.001\n"
                   "records: 1\nmeasurements:\n  - {time: 0, function: height, value: [%.17g], covariance: [1e-6]}\n",
                   height);
    ck_assert_msg(run("pendulum", text, 2, &k, why) == 0, "%s", why);
    ck_assert_double_le(k.bound, 0.01);
    ck_assert_double_eq_tol(k.log_evidence, log(evidence), 0.01);
    ck_assert_double_eq_tol(k.last.mean[0], mean, 0.01);
    ck_assert_double_eq_tol(k.last.covariance[0], 1 - mean * mean, 0.02);
}
END_TEST

/* x' = x, measured at t = 2 a million times as precisely as it is known: where it was at t = 0. */
START_TEST(a_start_that_is_known_a_million_times_better_is_within_its_certificate)
{
    static const char text[] =
        "dimension: 1\nparameters: {diagonal: 1}\nmean: [0.5]\ncovariance: [1]\nframe: lagrangian\n"
        "accuracy: 0.05\nsmooth: yes\nend: 3\nrecords: 1\n"
        "measurements:\n  - {time: 2, function: x1, value: [9.6], covariance: [1e-12]}\n";
    const double deviation = 1e-6 * exp(-2.0);
    char why[256];
    kept k;

    ck_assert_msg(run("linear", text, 1, &k, why) == 0, "%s", why);
    ck_assert_double_eq_tol(k.smoothed.mean[0], 9.6 * exp(-2.0), k.bound * deviation);
    ck_assert_double_eq_tol(sqrt(k.smoothed.covariance[0]) / deviation, 1, k.bound);
}
END_TEST

/* The model unseen, about m[2] with the covariance 1, after so many measurements of y. */
static void see(const double *m, const char *function, double y, int times, double accuracy, kept *k)
{
    const char *build = getenv("GBEES_TOP_BUILD");
    char model[1024], text[1024], why[256];

    (void)snprintf(model, sizeof model, "%s/tests/.libs/unseen.so", build ? build : ".");
    int end = snprintf(text, sizeof text,
                       "mean: [%g, %g]\ncovariance: [1, 1]\nend: 1\nframe: lagrangian\naccuracy: %g\n"
                       "records: 1\nmeasurements:\n",
                       m[0], m[1], accuracy);
    for (int t = 0; t < times; t++)
        end += snprintf(text + end, sizeof text - (size_t)end,
                        "  - {time: %g, function: %s, value: [%g], likelihood: model}\n", 0.5 + t * 0.1, function, y);
    ck_assert_msg(run(model, text, 1, k, why) == 0, "%s", why);
}

/* A hole of 0.3 deviations, which falls between the points of all lattices of one point a deviation. */
START_TEST(a_hole_between_the_points_is_found)
{
    static const double mean[][2] = {{0.42, -1.05}, {-0.28, 0.39}, {0.63, 0.21}};
    const double pi = acos(-1), r = 0.3, *m = mean[_i];
    enum { CUTS = 200 };
    double inside = 0;
    kept k;

    for (int a = 0; a < CUTS; a++)
        for (int b = 0; b < CUTS; b++) {
            const double at = r * (a + 0.5) / CUTS, x = at * cos(2 * pi * b / CUTS), y = at * sin(2 * pi * b / CUTS);

            inside += at * r / CUTS / CUTS * exp(-((x - m[0]) * (x - m[0]) + (y - m[1]) * (y - m[1])) / 2);
        }
    see(m, "nothing", 0, 1 + _i % 2, 0.01, &k);
    ck_assert_double_le(fabs(k.log_evidence - log1p(-inside)), k.bound);
    ck_assert_int_eq(k.bound > 0.01, (k.warnings & GBEES_WARNING_ACCURACY) != 0);
}
END_TEST

/* Measurements that are impossible beyond an edge: a uniform error of 0.3, and a delay of half a unit. */
START_TEST(a_density_with_edges_is_within_its_certificate)
{
    const double m[] = {0.1, 0}, y = 0.7, root = sqrt(2), pi = acos(-1);
    const double low = y - 0.3 - m[0], high = y + 0.3 - m[0];
    const double window = (erf(high / root) - erf(low / root)) / 2,
                 mean = m[0] + (exp(-low * low / 2) - exp(-high * high / 2)) / sqrt(2 * pi) / window;
    /* of the delay: exp(2 (x - y)) makes a normal distribution about m + 2 of N(m, 1), cut off at y */
    const double later = (1 + erf((y - m[0] - 2) / root)) / 2, latest = (1 + erf((y - m[0] - 4) / root)) / 2;
    kept k;

    see(m, "window", y, 1, 0.02, &k);
    ck_assert_double_le(fabs(k.log_evidence - log(window / 0.6)), k.bound);
    ck_assert_double_le(fabs(k.last.mean[0] - mean) / sqrt(k.last.covariance[0]), k.bound);
    see(m, "delay", y, 1, 0.02, &k);
    ck_assert_double_le(fabs(k.log_evidence - log(2 * exp(2 * (m[0] - y) + 2) * later)), k.bound);
    see(m, "delay", y, 2, 0.02, &k); /* beyond the same edge */
    ck_assert_double_le(fabs(k.log_evidence - log(4 * exp(4 * (m[0] - y) + 8) * latest)), k.bound);
}
END_TEST

/* A part of a mixture knows of the others: two that are the same are one Gaussian. */
START_TEST(the_entropy_of_a_mixture_is_that_of_its_sum)
{
    static const char text[] = "dimension: 2\nparameters: {diagonal: 0, upper: 0, lower: 0}\nframe: lagrangian\n"
                               "accuracy: 0.001\nend: 1\nsmooth: yes\ninitial:\n"
                               "  - {weight: 1, mean: [0, 0], covariance: [1, 1]}\n"
                               "  - {weight: 3, mean: [0, 0], covariance: [1, 1]}\n";
    char why[256];
    kept k;

    ck_assert_msg(run("linear", text, 1, &k, why) == 0, "%s", why);
    ck_assert_double_eq_tol(k.last.entropy, 1 + log(2 * acos(-1)), 0.001);
    ck_assert_double_eq_tol(k.smoothed.entropy, 1 + log(2 * acos(-1)), 0.001);
}
END_TEST

/* A torque that a table has for 2e-4 of the way turns a pendulum without weight: by rows that are known. */
START_TEST(a_pulse_in_a_table_is_not_missed)
{
    static const char text[] =
        "parameters: {damping: 0, stiffness: 0}\nmean: [0, 0]\ncovariance: [0.04, 0.04]\nframe: lagrangian\n"
        "accuracy: 0.05\nend: 1\nrecords: 1\n"
        "tables: {torque: {time: [0, 0.5, 0.5001, 0.5002, 2], value: [0, 0, 10000, 0, 0]}}\n";
    char why[256];
    kept k;

    ck_assert_msg(run("pendulum", text, 1, &k, why) == 0, "%s", why);
    ck_assert_double_eq_tol(k.last.mean[1], 1, k.bound * sqrt(k.last.covariance[3]));
    ck_assert_double_eq_tol(k.last.mean[0], 0.4999, k.bound * sqrt(k.last.covariance[0]));
}
END_TEST

START_TEST(threads_do_not_change_a_bit)
{
    char text[1024], why[256];
    kept one, three;

    add(text, sizeof text, "points: 0.8\ntail: 9\n");
    ck_assert_msg(run("lorenz63", text, 1, &one, why) == 0, "%s", why);
    ck_assert_msg(run("lorenz63", text, 3, &three, why) == 0, "%s", why);
    ck_assert_mem_eq(&one.last, &three.last, sizeof one.last);
    ck_assert(one.log_evidence == three.log_evidence);
}
END_TEST

/* A mixture has a lattice for each part: its moments are those of the parts. */
START_TEST(a_mixture_is_the_sum_of_its_parts)
{
    char why[256];
    kept k;

    ck_assert_msg(run("linear",
                      "frame: lagrangian\ndimension: 1\nparameters: {diagonal: 0}\npoints: 1.25\n"
                      "initial:\n  - {weight: 1, mean: [-2], covariance: [0.25]}\n"
                      "  - {weight: 3, mean: [2], covariance: [1]}\nend: 1\nrecords: 1\nmeasurements: []\n",
                      1, &k, why) == 0,
                  "%s", why);
    ck_assert_double_eq_tol(k.last.mean[0], 1, 1e-8);
    ck_assert_double_eq_tol(k.last.covariance[0], 0.25 * 0.25 + 0.75 + 0.25 * 9 + 0.75, 1e-7);
}
END_TEST

static const struct {
    const char *model, *text, *says;
} refused[] = {
    {"linear", "dimension: 1\nparameters: {noise: 0.1}\nframe: lagrangian\n", "has process noise"},
    {"linear", "dimension: 1\nframe: lagrangian\nscheme: ctu\n", "scheme: 'frame: lagrangian' has no grid"},
    {"linear", "dimension: 1\nframe: lagrangian\nmass_budget: 0.1\n", "mass_budget"},
    {"linear", "dimension: 1\npoints: 2\nthreshold: 1.0e-8\n", "add 'frame: lagrangian'"},
    {"linear", "dimension: 1\nsmooth: yes\nthreshold: 1.0e-8\n", "add 'frame: lagrangian'"},
    {"linear", "dimension: 1\nframe: lagrangian\npoints: 3\nframe_cells: 2\n", "frame_cells: expected at least"},
};

START_TEST(what_cannot_be_is_refused)
{
    char text[1024], why[256];
    kept k;

    (void)snprintf(text, sizeof text, "mean: [1]\ncovariance: [1]\nend: 1\nrecords: 1\n%s", refused[_i].text);
    ck_assert_int_eq(run(refused[_i].model, text, 1, &k, why), GBEES_EINPUT);
    ck_assert_msg(strstr(why, refused[_i].says) != NULL, "%s", why);
}
END_TEST

/* frame: auto is lagrangian without noise, and fixed with it. */
START_TEST(auto_looks_for_noise)
{
    static const char *const noise[] = {"0", "0.1"};

    for (int k = 0; k < 2; k++) {
        char text[256];
        world w;

        (void)snprintf(text, sizeof text,
                       "dimension: 1\nframe: auto\nparameters: {noise: %s}\nmean: [1]\ncovariance: [1]\nend: 1\n"
                       "records: 1\nthreshold: 1.0e-8\n",
                       noise[k]);
        ck_assert_int_eq(world_open(&w, NULL, "linear", "cpu"), 0);
        ck_assert_int_eq(world_make(&w, &(scenario_source){.text = text, .name = "test"}), 0);
        ck_assert_int_eq(gbees_problem_is_exact(w.problem), k == 0);
        world_close(&w);
    }
}
END_TEST

/* No lattice resolves a measurement that is impossible; the text names it. */
START_TEST(an_impossible_measurement_ends_with_a_sentence)
{
    char why[256];
    kept k;

    ck_assert_int_ne(run("linear",
                         "dimension: 1\nframe: lagrangian\nmean: [0]\ncovariance: [1]\nend: 1\nrecords: 1\n"
                         "measurements:\n  - {time: 0.5, function: x1, value: [1.0e+200], covariance: [1]}\n",
                         1, &k, why),
                     0);
    ck_assert_msg(strstr(why, "likelihood is 0 at all points") != NULL, "%s", why);
}
END_TEST

/* A backend's engine that can't be made leaves a sentence, and nothing else. */
START_TEST(an_engine_that_fails_is_an_error)
{
    gbees_error error = {0};
    gbees_engine *engine = NULL;
    world w;

    ck_assert_int_eq(world_open(&w, NULL, "linear", "cpu"), 0);
    ck_assert_int_eq(world_make(&w, &(scenario_source){.text = "dimension: 1\nframe: lagrangian\nmean: [0]\n"
                                                               "covariance: [1]\nend: 1\nrecords: 1\n"}),
                     0);
    gbees_problem bad = *w.problem;
    bad.covariance[0] = -1;
    ck_assert_int_ne(gbees_solver_backend(&bad, w.backend)->create(&bad, NULL, &engine, &error), 0);
    ck_assert_ptr_null(engine);
    ck_assert_int_ne(error.text[0], 0);
    world_close(&w);
}
END_TEST

/* ---- the start from a record ---- */

static const struct {
    double factor;
    const char *values;
} records[] = {{1, "averages"}, {2, "averages"}, {1, "points"}, {2, "points"}};
enum { RECORDS = sizeof records / sizeof *records, WIDE = 2 };
static const char started[] = "dimension: 2\nmeasurements: []\nrecords: 1\ncell_values: ";

static int write_record(void *context, const gbees_record *record, gbees_error *error)
{
    return gbees_writer_record(context, record, error);
}

/* Writes records of a grid whose first one is a Gaussian. */
static void write_gaussian(const char *folder, double factor, const char *values)
{
    const gbees_provenance provenance = {.scenario = "", .backend = "cpu", .command = "test"};
    gbees_observer observer = {.record = write_record};
    gbees_writer *writer = NULL;
    char text[256];
    world w;

    (void)snprintf(text, sizeof text,
                   "%s%s\nmean: [2, ...]\ncovariance: [0.25, ...]\nextent: 6\nfactor: %g\n"
                   "threshold: 1e-12\nend: 0.1\n",
                   started, values, factor);
    int status = world_open(&w, NULL, "linear", "cpu");
    if (!status)
        status = world_make(&w, &(scenario_source){.text = text});
    if (!status)
        status = gbees_writer_create(folder, w.problem, &provenance, &writer, &w.error);
    observer.context = writer;
    if (!status)
        status = world_run(&w, 1, &observer, NULL);
    ck_assert_msg(status == 0, "%s", w.error.text);
    gbees_writer_destroy(writer);
    world_close(&w);
}

/* The logarithm of a Gaussian's density is a quadratic, as it is taken to be about each cell: what is left of the
 * averages over cells is within the certificate. */
START_TEST(a_record_of_a_grid_is_a_start)
{
    static const double parameters[] = {-0.1, 1.25, -0.8}; /* the model's own */
    kalman_state exact = {.n = WIDE, .mean = {2, 2}, .covariance = {0.25, 0, 0, 0.25}};
    char scratch[SCRATCH_FOLDER], text[2 * SCRATCH_FOLDER], why[256];
    kept k;

    scratch_folder_make(scratch);
    (void)snprintf(text, sizeof text, "%s/run", scratch);
    write_gaussian(text, records[_i].factor, records[_i].values);
    (void)snprintf(text, sizeof text,
                   "%s%s\ninitial: {file: %s/run, record: 0}\nframe: lagrangian\npoints: 1.25\nend: 2\n", started,
                   records[_i].values, scratch);
    ck_assert_msg(run("linear", text, 1, &k, why) == 0, "%s", why);
    kalman_predict(&exact, parameters, 2);
    for (int j = 0; j < WIDE; j++) {
        const double std = sqrt(exact.covariance[(WIDE + 1) * j]);

        ck_assert_double_le(fabs(k.last.mean[j] - exact.mean[j]) / std, k.bound);
        ck_assert_double_le(fabs(sqrt(k.last.covariance[(WIDE + 1) * j]) / std - 1), k.bound);
    }
    ck_assert_double_lt(k.bound, 0.005 / records[_i].factor);
    scratch_folder_remove(scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lagrangian");
    TCase *tests = tcase_create("lagrangian");

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, the_filter_and_the_smoother_are_met, 0, USUAL);
    tcase_add_loop_test(add_long_case(suite, "many states", 600), the_filter_and_the_smoother_are_met, USUAL,
                        FILTERS);
    tcase_add_test(tests, a_bent_posterior_is_within_its_certificate);
    tcase_add_test(tests, both_solutions_of_a_precise_measurement_are_kept);
    tcase_add_test(tests, a_start_that_is_known_a_million_times_better_is_within_its_certificate);
    tcase_add_loop_test(tests, a_hole_between_the_points_is_found, 0, 3);
    tcase_add_test(tests, a_density_with_edges_is_within_its_certificate);
    tcase_add_test(tests, the_entropy_of_a_mixture_is_that_of_its_sum);
    tcase_add_test(tests, a_pulse_in_a_table_is_not_missed);
    tcase_add_test(tests, threads_do_not_change_a_bit);
    tcase_add_test(tests, a_mixture_is_the_sum_of_its_parts);
    tcase_add_loop_test(tests, what_cannot_be_is_refused, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, auto_looks_for_noise);
    tcase_add_test(tests, an_impossible_measurement_ends_with_a_sentence);
    tcase_add_test(tests, an_engine_that_fails_is_an_error);
    tcase_add_loop_test(tests, a_record_of_a_grid_is_a_start, 0, RECORDS);
    return run_suite(suite);
}
