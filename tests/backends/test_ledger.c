/* test_ledger.c - the ledger of mass as a reader of results meets it: it closes from a file's attributes alone. */
#include "fixtures/backends.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a run of Lorenz '63, written to disk and read back -------------------------------------------------------- */

static char base[SCRATCH_FOLDER], folder[SCRATCH_FOLDER + 8];

static void set_up(void)
{
    scratch_folder_make(base);
    (void)snprintf(folder, sizeof folder, "%s/run", base);
}

static void tear_down(void)
{
    scratch_folder_remove(base);
}

static int write_record(void *context, const gbees_record *record, gbees_error *error)
{
    return gbees_writer_record(context, record, error);
}

/* Runs the scenario, changed by the settings up to NULL, on a backend; returns what it wrote. */
static gbees_results *run(const char *backend_name, const char *const *settings)
{
    const gbees_provenance provenance = {.backend = backend_name};
    gbees_observer observer = {.record = write_record};
    gbees_writer *writer = NULL;
    gbees_results *results = NULL;
    world w;
    int status = world_open(&w, open_registry(), "lorenz63", backend_name);

    if (!status)
        status = world_make(&w, &(scenario_source){.settings = settings});
    if (!status)
        status = gbees_writer_create(folder, w.problem, &provenance, &writer, &w.error);
    observer.context = writer;
    if (!status)
        status = world_run(&w, 1, &observer, NULL);
    if (!status)
        status = gbees_results_open(folder, &results, &w.error);
    ck_assert_msg(status == GBEES_OK, "%s", w.error.text);
    gbees_writer_destroy(writer);
    world_close(&w);
    return results;
}

static gbees_snapshot *get(const gbees_results *results, size_t number)
{
    gbees_snapshot *snapshot = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_results_read(results, number, &snapshot, &error) == GBEES_OK, "%s", error.text);
    return snapshot;
}

/* ---- the ledger ------------------------------------------------------------------------------------------------ */

static double change(const gbees_ledger *ledger)
{
    return ledger->clipped + ledger->normalised - ledger->outflow - ledger->pruned;
}

/* Every record's two ledgers close, and lead from one to the next; the last record's totals are left in *end. */
static void check_records(const gbees_results *results, double tolerance, gbees_ledger *end)
{
    double mass = 1;

    *end = (gbees_ledger){0};
    for (size_t k = 0; k < gbees_results_count(results); k++) {
        gbees_snapshot *record = get(results, k);

        ck_assert_double_eq_tol(record->mass, 1 + change(&record->total), tolerance);
        ck_assert_double_eq_tol(record->mass, mass + change(&record->since), tolerance);
        ck_assert_double_eq_tol(record->total.outflow, end->outflow + record->since.outflow, 1e-15);
        ck_assert_double_eq_tol(record->total.pruned, end->pruned + record->since.pruned, 1e-15);
        ck_assert_double_eq_tol(record->total.clipped, end->clipped + record->since.clipped, 1e-15);
        ck_assert_double_eq_tol(record->total.normalised, end->normalised + record->since.normalised, 1e-15);
        mass = record->mass;
        *end = record->total;
        gbees_snapshot_destroy(record);
    }
}

/* Two measurements at one time: what the first one prunes is put back by the second. */
#define TWICE                                                                                                        \
    "measurements=[{time: 0.5, function: z, value: [-12], covariance: [1]}, "                                        \
    "{time: 0.5, function: z, value: [-13], covariance: [1]}, {time: 0.7, function: z, value: [-20], covariance: "   \
    "[9]}]"

static const char *const schemes[] = {"scheme=split5", "scheme=ctu", "mode=paper"};
static const char *const measurements[] = {"measurements=[]", TWICE};

static void closes_from_the_file_alone(const char *backend, int which)
{
    const char *settings[] = {
        schemes[which / 2], measurements[which % 2], "precision=double", "end=1", "factor=0.7", NULL};
    gbees_results *results = run(backend, settings);
    gbees_ledger end;

    ck_assert_uint_eq(gbees_results_count(results), which % 2 ? 15 : 5);
    check_records(results, 1e-12, &end);
    /* There was something to count. */
    ck_assert_double_gt(end.outflow, 1e-4);
    ck_assert_double_gt(end.pruned, 1e-4);
    if (which / 2 == 0)
        ck_assert_double_lt(fabs(end.clipped), 1e-15);
    else
        ck_assert_double_gt(end.clipped, 1e-2);
    if (which % 2 || which / 2 == 2)
        ck_assert_double_gt(fabs(end.normalised), 1e-4);
    else
        ck_assert_double_eq(end.normalised, 0);
    gbees_results_destroy(results);
}

START_TEST(it_closes_from_the_file_alone)
{
    closes_from_the_file_alone("cpu", _i);
}
END_TEST

/* Threads have no paper mode. */
START_TEST(it_closes_on_threads)
{
    if (is_built("shim"))
        closes_from_the_file_alone("shim", _i);
}
END_TEST

/* In single precision up to the rounding of the cells. */
START_TEST(it_closes_to_rounding_in_mixed_precision)
{
    const char *backend = backend_names[_i % BACKENDS]; /* split5 on both, ctu on the CPU */
    const char *settings[] = {schemes[_i / BACKENDS], TWICE, "end=1", "factor=0.7", NULL};
    gbees_ledger end;

    if (!is_built(backend))
        return;
    gbees_results *results = run(backend, settings);
    check_records(results, 1e-6, &end);
    gbees_results_destroy(results);
}
END_TEST

/* ---- the budget ------------------------------------------------------------------------------------------------ */

static const char *const budgets[] = {"0.005", "0.02", "0.05"};
static const char *const only_measured[] = {"measurements=[]", "records=2"}; /* without and with the measurement */

/* The total over the run, as a share of what was asked for, is within a factor of 1.6. */
START_TEST(budgets_are_held)
{
    char budget[32];
    const char *settings[] = {schemes[_i / 6], only_measured[_i % 2], "records=2", budget, NULL};

    (void)snprintf(budget, sizeof budget, "mass_budget=%s", budgets[_i / 2 % 3]);
    gbees_results *results = run("cpu", settings);
    gbees_snapshot *last = get(results, gbees_results_count(results) - 1);
    double share = (last->total.outflow + last->total.pruned) / (2 * strtod(budgets[_i / 2 % 3], NULL));

    ck_assert_msg(share > 1 / 1.6 && share < 1.6, "%s: %.3f of it was lost", budget, share);
    /* That a tenth is lost is told if it is, and nothing else is. */
    ck_assert_int_eq(last->warning_count, last->total.outflow + last->total.pruned > 0.1);
    gbees_snapshot_destroy(last);
    gbees_results_destroy(results);
}
END_TEST

static const char *const short_ends[] = {"end=0.02", "end=0.001", "end=0.00001"};

/* In a run of a step or a few the first prune decides: what it drops is within the budget of the whole run. */
START_TEST(short_runs_keep_within_their_budget)
{
    const char *backend = backend_names[_i % BACKENDS], *end = short_ends[_i / BACKENDS];
    const char *settings[] = {"scheme=split5", "mass_budget_total=0.005", "measurements=[]", "records=1", end, NULL};

    if (!is_built(backend))
        return;
    gbees_results *results = run(backend, settings);
    gbees_snapshot *last = get(results, gbees_results_count(results) - 1);
    double lost = last->total.outflow + last->total.pruned;

    ck_assert_msg(lost < 0.005, "%s, %s: %g was lost", backend, end, lost);
    ck_assert_int_eq(last->warning_count, 0);
    gbees_snapshot_destroy(last);
    gbees_results_destroy(results);
}
END_TEST

/* The sweeps carry some mass past the grid's corners, however small p* is: asked for next to nothing, it is told. */
START_TEST(a_budget_that_can_not_be_held_is_on_record)
{
    const char *settings[] = {"scheme=split5", "mass_budget=1e-8", "factor=0.5", "end=0.3", "measurements=[]", NULL};
    gbees_results *results = run("cpu", settings);
    gbees_snapshot *first = get(results, 0), *last = get(results, gbees_results_count(results) - 1);

    /* The cells are as wide as the density, which is told from the start. */
    ck_assert_int_eq(first->warning_count, 1);
    ck_assert_msg(strstr(first->warning[0], "below 1.5 cells"), "%s", first->warning[0]);
    ck_assert_int_eq(last->warning_count, 2);
    ck_assert_msg(strstr(last->warning[0], "the mass budget is not held: "), "%s", last->warning[0]);
    ck_assert_msg(strstr(last->warning[1], "below 1.5 cells"), "%s", last->warning[1]);
    gbees_snapshot_destroy(first);
    gbees_snapshot_destroy(last);
    gbees_results_destroy(results);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *ledger = tcase_create("ledger"), *budget = tcase_create("budget");

    tcase_add_checked_fixture(ledger, set_up, tear_down);
    tcase_set_timeout(ledger, 60);
    tcase_add_loop_test(ledger, it_closes_from_the_file_alone, 0, 6);
    tcase_add_loop_test(ledger, it_closes_on_threads, 0, 4);
    tcase_add_loop_test(ledger, it_closes_to_rounding_in_mixed_precision, 0, BACKENDS + 1);
    tcase_add_checked_fixture(budget, set_up, tear_down);
    tcase_set_timeout(budget, 60);
    tcase_add_loop_test(budget, budgets_are_held, 0, 12);
    tcase_add_loop_test(budget, short_runs_keep_within_their_budget, 0, 3 * BACKENDS);
    tcase_add_test(budget, a_budget_that_can_not_be_held_is_on_record);
    suite_add_tcase(suite, ledger);
    suite_add_tcase(suite, budget);
    return run_suite(suite);
}
