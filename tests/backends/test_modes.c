/* test_modes.c - densities that fall apart on grids that move: exact answers of `linear` from two places, Lorenz '63
 * after a measurement that two lobes explain, its records and files, and the CUDA kernels on threads beside the CPU.
 */
#include "fixtures/backends.h"
#include "fixtures/kalman.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"

/* ---- a run ----------------------------------------------------------------------------------------------------- */

/* What is run: a scenario's text, or, without it, the model's default changed by the settings. */
typedef struct a_run {
    const char *model, *backend, *text, *const *settings;
    int threads;
    size_t samples;        /* of an audit; 0: none */
    const char *folder;    /* receives results; NULL: none */
    gbees_writer **writer; /* receives the writer of these results, for the time of the run */
} a_run;

static void run_it(const a_run *r, const gbees_observer *watch, void *context)
{
    gbees_observer observer = *watch;
    world w;
    int status = world_open(&w, open_registry(), r->model, r->backend);

    observer.context = context;
    if (!status)
        status = world_make(&w, &(scenario_source){.text = r->text, .settings = r->settings});
    if (!status && r->samples)
        status = gbees_audit_create(w.problem, &(gbees_audit_options){.samples = r->samples, .threads = 1},
                                    &observer.audit, &w.error);
    if (!status && r->folder)
        status = gbees_writer_create(r->folder, w.problem, &(gbees_provenance){.backend = r->backend}, r->writer,
                                     &w.error);
    if (!status)
        status = world_run(&w, r->threads, &observer, NULL);
    ck_assert_msg(status == GBEES_OK, "%s on %s: %s", r->model, r->backend, w.error.text);
    if (r->folder)
        gbees_writer_destroy(*r->writer);
    gbees_audit_destroy(observer.audit);
    world_close(&w);
}

/* ---- against exact answers ------------------------------------------------------------------------------------- */

enum { N = 2, PARTS = 2 };

static const double parameters[] = {-0.1, 1.25, -0.8}; /* the model's own */
static const double weight[PARTS] = {0.7, 0.3};
static const double place[PARTS][N] = {{2, 2}, {-6, 1}};

#define TWO                                                                                                          \
    "dimension: 2\nframe: moving\nwidth: 0.2\nextent: 5\nthreshold: 1.0e-9\nprecision: double\nend: 1\nrecords: 1\n" \
    "initial:\n  - {weight: 0.7, mean: [2, 2], covariance: [0.25, 0.25]}\n"                                          \
    "  - {weight: 0.3, mean: [-6, 1], covariance: [0.25, 0.25]}\n"                                                   \
    "measurements:\n  - {time: 1, function: x1, value: [0], covariance: [25]}\n"

/* Each part goes its own way, and its weight is multiplied by its evidence. Returns the logarithm of that of all. */
static double exact_answer(kalman_state *part, double *weights)
{
    double sum = 0;

    for (int k = 0; k < PARTS; k++) {
        part[k] = (kalman_state){.n = N};
        for (int j = 0; j < N; j++) {
            part[k].mean[j] = place[k][j];
            part[k].covariance[j * N + j] = 0.25;
        }
        kalman_predict(&part[k], parameters, 1);
        weights[k] = weight[k] * exp(kalman_update(&part[k], 0, 25));
        sum += weights[k];
    }
    for (int k = 0; k < PARTS; k++)
        weights[k] /= sum;
    return log(sum);
}

/* What is kept of a run's last record. */
typedef struct seen {
    int records, modes[8];
    double weight[PARTS], log_evidence, imbalance;
    gbees_statistics all, part[PARTS];
} seen;

static int see_record(void *context, const gbees_record *record, gbees_error *error)
{
    seen *to = context;
    const gbees_totals *totals = &record->totals;

    (void)error;
    to->modes[to->records++ % 8] = record->mode_count;
    to->all = record->statistics;
    for (int k = 0; k < record->mode_count && k < PARTS; k++) {
        to->weight[k] = record->modes[k].weight;
        to->part[k] = record->modes[k].statistics;
        ck_assert_ptr_nonnull(record->modes[k].cells);
        ck_assert_uint_eq(gbees_cells_count(record->modes[k].cells), to->part[k].cells_above);
    }
    to->imbalance = fmax(to->imbalance, fabs(1 + totals->mass_clipped + totals->mass_normalised -
                                             totals->mass_outflow - totals->mass_pruned - to->all.mass));
    return 0;
}

static int see_update(void *context, const gbees_problem *problem, int number, double time,
                      const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem, (void)number, (void)time, (void)error;
    ((seen *)context)->log_evidence = evidence->log_evidence;
    return 0;
}

static const gbees_observer watch = {.record = see_record, .update = see_update};

START_TEST(two_places_are_two_modes)
{
    kalman_state part[PARTS];
    double weights[PARTS], mean[N] = {0};
    const double log_evidence = exact_answer(part, weights);
    seen found = {.records = 0};

    run_it(&(a_run){.model = "linear", .backend = "cpu", .text = TWO, .threads = _i + 1}, &watch, &found);
    ck_assert_int_eq(found.records, 3);
    for (int r = 0; r < 3; r++)
        ck_assert_int_eq(found.modes[r], 2);
    ck_assert_double_lt(found.imbalance, 1e-6);
    ck_assert_double_eq_tol(found.log_evidence, log_evidence, 1e-3);
    for (int k = 0; k < PARTS; k++) {
        ck_assert_double_eq_tol(found.weight[k], weights[k], 1e-3);
        const kalman_error off = kalman_compare(&part[k], &found.part[k]);

        ck_assert_double_lt(off.mean, 1e-3);
        ck_assert_double_lt(off.covariance, 5e-3);
        for (int j = 0; j < N; j++)
            mean[j] += weights[k] * part[k].mean[j];
    }
    for (int j = 0; j < N; j++)
        ck_assert_double_eq_tol(found.all.mean[j], mean[j], 5e-3);
    for (int j = 0; j < N; j++) {
        double variance = 0;

        for (int k = 0; k < PARTS; k++)
            variance += weights[k] * (part[k].covariance[j * N + j] + pow(part[k].mean[j] - mean[j], 2));
        ck_assert_double_eq_tol(found.all.covariance[j * N + j] / variance, 1, 5e-3);
    }
}
END_TEST

/* A part that a measurement leaves no weight is dropped, with what it has. */
START_TEST(what_has_no_weight_is_dropped)
{
    static const char *const narrow =
        "dimension: 2\nframe: moving\nwidth: 0.2\nextent: 4\nthreshold: 1.0e-7\nend: 1\nrecords: 1\n"
        "initial:\n  - {weight: 0.7, mean: [2, 2], covariance: [0.25, 0.25]}\n"
        "  - {weight: 0.3, mean: [-6, 1], covariance: [0.25, 0.25]}\n"
        "measurements:\n  - {time: 0.5, function: x1, value: [2.8], covariance: [0.04]}\n";
    seen found = {.records = 0};

    run_it(&(a_run){.model = "linear", .backend = "cpu", .text = narrow, .threads = 1}, &watch, &found);
    ck_assert_int_eq(found.records, 4);
    ck_assert_int_eq(found.modes[1], 2);
    ck_assert_int_eq(found.modes[2], 0);
    ck_assert_int_eq(found.modes[3], 0);
    ck_assert_double_lt(found.imbalance, 1e-6);
    ck_assert_double_gt(found.all.mass, 0.99);
}
END_TEST

/* ---- Lorenz '63 after a measurement ---------------------------------------------------------------------------- */

static const char *const lobes[] = {"frame=moving",
                                    "accuracy=0",
                                    "threshold=1e-4",
                                    "factor=0.8",
                                    "end=1.1",
                                    "records=1",
                                    "scheme=split5",
                                    "measurements=[{time: 1, function: z, value: [-8], covariance: [1]}]",
                                    NULL};

/* Independent of the number of threads; the kernels add in another order. */
START_TEST(the_same_on_any_engine)
{
    seen one = {.records = 0}, two = {.records = 0}, cuda = {.records = 0};
    seen four = {.records = 0}, aside = {.records = 0};

    run_it(&(a_run){.model = "lorenz63", .backend = "cpu", .settings = lobes, .threads = 1}, &watch, &one);
    run_it(&(a_run){.model = "lorenz63", .backend = "cpu", .settings = lobes, .threads = 2}, &watch, &two);
    run_it(&(a_run){.model = "lorenz63", .backend = "cpu", .settings = lobes, .threads = 4}, &watch, &four);
    run_it(&(a_run){.model = "lorenz63", .backend = "shim", .settings = lobes, .threads = 1}, &watch, &cuda);
    run_it(&(a_run){.model = "lorenz63", .backend = "shim", .settings = lobes, .threads = 2}, &watch, &aside);
    ck_assert_int_eq(one.modes[2], 2);
    ck_assert_int_eq(one.modes[3], 2);
    ck_assert_mem_eq(&one.all, &two.all, sizeof one.all);
    ck_assert_mem_eq(one.weight, two.weight, sizeof one.weight);
    ck_assert_mem_eq(&one.all, &four.all, sizeof one.all); /* two modes at a time, each with two threads */
    ck_assert_mem_eq(one.weight, four.weight, sizeof one.weight);
    ck_assert_int_eq(cuda.modes[3], 2);
    ck_assert_mem_eq(&cuda.all, &aside.all, sizeof cuda.all); /* whose modes advance at a time */
    ck_assert_mem_eq(cuda.weight, aside.weight, sizeof cuda.weight);
    ck_assert_double_eq_tol(cuda.log_evidence, one.log_evidence, 1e-3);
    for (int k = 0; k < PARTS; k++)
        for (int j = 0; j < 3; j++)
            ck_assert_double_eq_tol(cuda.part[k].mean[j], one.part[k].mean[j],
                                    5e-3 * sqrt(one.part[k].covariance[4 * j]));
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------------------------- */

typedef struct writing {
    gbees_writer *writer;
    gbees_statistics last;
} writing;

static int write_record(void *context, const gbees_record *record, gbees_error *error)
{
    writing *w = context;

    w->last = record->statistics;
    return gbees_writer_record(w->writer, record, error);
}

/* Sum and mean of a snapshot's cells, where it says that they are. */
static double find_mean(const gbees_snapshot *s, double *mean)
{
    double sum = 0;

    for (size_t i = 0; i < s->count; i++) {
        sum += s->p[i];
        for (int j = 0; j < N; j++)
            mean[j] += s->p[i] * gbees_snapshot_centre(s, j, i);
    }
    for (int j = 0; j < N; j++)
        mean[j] /= sum;
    return sum;
}

/* A run begins with one grid. */
static void check_refusal(const char *folder)
{
    world w;
    char text[4400];

    (void)snprintf(text, sizeof text, "dimension: 2\nthreshold: 1.0e-9\nend: 2\ninitial: {file: '%s'}\n", folder);
    ck_assert_msg(world_open(&w, open_registry(), "linear", "cpu") == 0, "%s", w.error.text);
    ck_assert_msg(scenario_make(w.model, &(scenario_source){.text = text, .name = "later"}, &w.scenario, &w.error) ==
                      0,
                  "%s", w.error.text);
    ck_assert_int_eq(gbees_problem_create(w.model, w.scenario, &w.problem, &w.error), GBEES_EINPUT);
    ck_assert_msg(strstr(w.error.text, "holds a density in 2 modes") != NULL, "%s", w.error.text);
    world_close(&w);
}

START_TEST(a_file_holds_all_modes)
{
    char base[SCRATCH_FOLDER], folder[SCRATCH_FOLDER + 8];
    writing w = {.writer = NULL};
    gbees_results *results = NULL;
    gbees_snapshot *s = NULL;
    gbees_error error = {0};
    double mean[N] = {0};

    scratch_folder_make(base);
    (void)snprintf(folder, sizeof folder, "%s/run", base);
    run_it(
        &(a_run){
            .model = "linear", .backend = "cpu", .text = TWO, .threads = 1, .folder = folder, .writer = &w.writer},
        &(gbees_observer){.record = write_record}, &w);
    ck_assert_msg(gbees_results_open(folder, &results, &error) == 0, "%s", error.text);
    ck_assert_msg(gbees_results_read(results, 2, &s, &error) == 0, "%s", error.text);
    ck_assert_int_eq(s->mode_count, 2);
    ck_assert_int_eq(s->rotated, 1);
    ck_assert_uint_eq(s->mode[0].count + s->mode[1].count, s->count);
    ck_assert_double_eq_tol(find_mean(s, mean), 1, 1e-3);
    for (int j = 0; j < N; j++)
        ck_assert_double_eq_tol(mean[j], w.last.mean[j], 1e-3);
    check_refusal(folder);
    gbees_snapshot_destroy(s);
    gbees_results_destroy(results);
    scratch_folder_remove(base);
}
END_TEST

/* ---- certificates ---------------------------------------------------------------------------------------------- */

static int see_certificate(void *context, const gbees_record *record, gbees_error *error)
{
    gbees_certificate *worst = context;

    (void)error;
    ck_assert_ptr_nonnull(record->certificate);
    *worst = *record->certificate;
    return 0;
}

/* Two modes are compared on one grid along the model's axes. */
START_TEST(modes_are_certified)
{
    gbees_certificate last;

    run_it(&(a_run){.model = "linear", .backend = "cpu", .text = TWO, .threads = 1, .samples = 100000},
           &(gbees_observer){.record = see_certificate}, &last);
    ck_assert_str_eq(last.reason, "");
    for (int j = 0; j < N; j++) {
        ck_assert_double_lt(last.mean[j].bound, 0.05);
        ck_assert_double_lt(last.std[j].bound, 0.05);
        ck_assert_double_lt(last.marginal[j].bound, 0.05);
        ck_assert_double_lt(last.kolmogorov[j].bound, 0.05);
    }
    ck_assert_double_lt(last.density.bound, 0.02);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("modes");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, two_places_are_two_modes, 0, 2);
    tcase_add_test(tests, what_has_no_weight_is_dropped);
    tcase_add_test(tests, the_same_on_any_engine);
    tcase_add_test(tests, a_file_holds_all_modes);
    tcase_add_test(tests, modes_are_certified);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
