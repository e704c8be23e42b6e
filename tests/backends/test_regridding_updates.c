/* test_regridding_updates.c - updates that decide the grid: sharp ones get cells that resolve them, with which the
 * posterior is exact. */
#include "fixtures/kalman.h"
#include "fixtures/regridding_fixture.h"
#include "fixtures/suite.h"

enum { RATIOS = 3 };

/* A measurement of x1 at t = .01 whose deviation is so many cells, at a place in a cell. */
static double sharp_measurement(char *text, size_t size, double cells, double place)
{
    const double value = 2.8 + 0.25 * place, deviation = 0.25 * cells;

    (void)snprintf(text, size, "measurements=[{time: 0.01, function: x1, value: [%.17g], covariance: [%.17g]}]",
                   value, deviation * deviation);
    return value;
}

/* What is exact after it, and its evidence. */
static kalman_state sharp_exact(int n, double cells, double value, double *evidence)
{
    static const double parameters[] = {-0.1, 1.25, -0.8};
    kalman_state truth = {.n = n};

    for (int j = 0; j < n; j++) {
        truth.mean[j] = 2;
        truth.covariance[j * n + j] = 1;
    }
    kalman_predict(&truth, parameters, 0.01);
    *evidence = kalman_update(&truth, value, 0.0625 * cells * cells);
    return truth;
}

static kept_run *run_sharp(int n, const char *measurement, const char *regrid, const char *backend)
{
    const a_case c = {"linear",
                      backend,
                      {n == 1 ? "dimension=1" : "dimension=2", "mean=[2, ...]", "covariance=[1, ...]", "factor=2",
                       "extent=5", "threshold=1e-10", "end=0.02", "records=1", measurement, regrid}};

    return run_on(&c, backend);
}

/* A deviation of 1, .3 and .1 cells: with another grid before the update the posterior is exact, and the evidence.
 * Without one the evidence is, and a warning holds. */
START_TEST(a_sharp_update_is_resolved)
{
    static const double cells[RATIOS] = {1, 0.3, 0.1};
    static const int levels[RATIOS] = {2, 3, 3}; /* .97 cells take a quarter */
    const int n = 1 + _i / RATIOS, which = _i % RATIOS;

    for (double place = 0; place < 1; place += 0.23) {
        char measurement[256];
        double evidence;
        const double value = sharp_measurement(measurement, sizeof measurement, cells[which], place);
        const kalman_state truth = sharp_exact(n, cells[which], value, &evidence);
        kept_run *run = run_sharp(n, measurement, "regrid=auto", "cpu");
        kept_run *plain = run_sharp(n, measurement, "regrid=[]", "cpu");
        const kept_record *after = &run->record[2];
        const kalman_error error = kalman_compare(&truth, &after->record.statistics);

        check_ledgers(run, 1e-6);
        check_places(run);
        ck_assert_int_eq(after->record.leg, 1);
        ck_assert_double_eq(after->problem.width[0], ldexp(0.25, -levels[which]));
        for (int j = 1; j < n; j++)
            ck_assert_double_eq(after->problem.width[j], 0.25);
        ck_assert_double_eq(run->record[1].problem.width[0], 0.25); /* the record before the update */
        ck_assert_double_lt(error.mean, 2e-3);
        ck_assert_double_lt(error.covariance, 5e-3);
        ck_assert_double_eq_tol(run->evidence[0].log_evidence, evidence, 2e-4);

        ck_assert_double_eq(plain->record[2].problem.width[0], 0.25);
        ck_assert_double_eq_tol(plain->evidence[0].log_evidence, evidence, 0.05);
        ck_assert(plain->record[2].record.warnings & GBEES_WARNING_NARROW);
        ck_assert(!(plain->record[1].record.warnings & GBEES_WARNING_NARROW));
        forget(run);
        forget(plain);
    }
}
END_TEST

/* Wide measurements change no bit. */
START_TEST(an_update_that_is_resolved_keeps_the_grid)
{
    char measurement[256];

    (void)sharp_measurement(measurement, sizeof measurement, 2, 0.3);
    kept_run *run = run_sharp(2, measurement, "regrid=auto", "cpu");
    kept_run *plain = run_sharp(2, measurement, "regrid=[]", "cpu");
    ck_assert_double_eq(run->record[2].problem.width[0], 0.25);
    ck_assert_double_eq(run->evidence[0].log_evidence, plain->evidence[0].log_evidence);
    for (int k = 0; k < run->count; k++)
        compare_cells(run, plain, k, 0);
    forget(run);
    forget(plain);
}
END_TEST

/* A sharp measurement makes cells eight times narrower. The density spreads by e^(2 t) until the next one, which is
 * wide: at t = .5 there are 6.4 cells a deviation, too few to merge; at .8 there are 11.7, and pairs are merged;
 * at 1.6 some 58, and all cells are merged again. The posterior is exact. By a scheme that adds noise in a pass of
 * its own: where sweeps add it, a grid in one dimension grows far ahead, of noise that is 0, too. */
START_TEST(cells_become_wider_again)
{
    static const struct {
        const char *end;
        int level;
    } cases[] = {{"0.5", 3}, {"0.8", 2}, {"1.6", 0}};
    static const double parameters[] = {2};
    char measurements[256], end[32];
    kalman_state truth = {.n = 1, .mean = {2}, .covariance = {1}};

    (void)snprintf(measurements, sizeof measurements,
                   "measurements=[{time: 0.01, function: x1, value: [2.1], covariance: [0.0055]}, "
                   "{time: %s, function: x1, value: [5], covariance: [100]}]",
                   cases[_i].end);
    (void)snprintf(end, sizeof end, "end=%.17g", atof(cases[_i].end) + 0.001);
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=1", "mean=[2]", "covariance=[1]", "factor=2", "extent=5", "threshold=1e-10",
                       "parameters={diagonal: 2}", "records=1", "scheme=split5-mp", end, measurements,
                       "regrid=auto"}};
    kept_run *run = run_on(&c, c.backend);
    const kept_record *after = &run->record[4];

    kalman_predict(&truth, parameters, 0.01);
    (void)kalman_update(&truth, 2.1, 0.0055);
    kalman_predict(&truth, parameters, atof(cases[_i].end) - 0.01);
    (void)kalman_update(&truth, 5, 100);
    const kalman_error error = kalman_compare(&truth, &after->record.statistics);
    ck_assert_double_eq(run->record[2].problem.width[0], 0.25 / 8);
    ck_assert_double_eq(after->problem.width[0], ldexp(0.25, -cases[_i].level));
    ck_assert_double_lt(error.mean, 2e-3);
    ck_assert_double_lt(error.covariance, 5e-3);
    check_ledgers(run, 1e-6);
    forget(run);
}
END_TEST

/* The GPU's likelihoods inside a cell are the CPU's. */
START_TEST(a_sharp_update_on_another_backend)
{
    static const double cells[] = {0.1, 0.01};
    char measurement[256];
    double evidence;

    if (!is_built("shim"))
        return;
    const double value = sharp_measurement(measurement, sizeof measurement, cells[_i], 0.4);
    (void)sharp_exact(1, cells[_i], value, &evidence);
    kept_run *run = run_sharp(1, measurement, "regrid=[]", "shim"),
             *cpu = run_sharp(1, measurement, "regrid=[]", "cpu");
    ck_assert_double_eq_tol(run->evidence[0].log_evidence, cpu->evidence[0].log_evidence, 1e-4);
    ck_assert_double_eq_tol(run->evidence[0].log_evidence, evidence, 0.05);
    forget(run);
    forget(cpu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regridding_updates");
    TCase *tcase = tcase_create("updates");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_sharp_update_is_resolved, 0, 2 * RATIOS);
    tcase_add_test(tcase, an_update_that_is_resolved_keeps_the_grid);
    tcase_add_loop_test(tcase, cells_become_wider_again, 0, 3);
    tcase_add_loop_test(tcase, a_sharp_update_on_another_backend, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
