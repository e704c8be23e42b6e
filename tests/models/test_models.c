/* test_models.c - the batched functions that gbees/model.h makes, on the models and on one that uses all of the
 * contract: component j is entry j of the vector, in float and in double; both are the equations; the embedded
 * text is the file. */
#include "fixtures/suite.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static gbees_registry *registry;
static uint64_t random_state;

static const char *top_source(void)
{
    const char *top = getenv("GBEES_TOP_SRC");

    return top ? top : ".";
}

static void setup(void)
{
    gbees_error error;
    char path[4096];
    const char *top = getenv("GBEES_TOP_BUILD"), *build = top ? top : ".";

    (void)snprintf(path, sizeof path, "%s/plugins/.libs:%s/tests/.libs", build, build);
    random_state = 20240607;
    ck_assert_msg(gbees_registry_create(path, &registry, &error) == GBEES_OK, "%s", error.text);
}

static void teardown(void)
{
    gbees_registry_destroy(registry);
    registry = NULL;
}

static const gbees_model *model(const char *name)
{
    const gbees_model *found = NULL;
    gbees_error error;

    ck_assert_msg(gbees_registry_model(registry, name, &found, &error) == GBEES_OK, "%s", error.text);
    return found;
}

/* Uniform in -20 .. 20 (a linear congruential generator: the same points everywhere), and exact in float. */
static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(random_state >> 48) / 65536 - 0.5) * 40;
}

static void lorenz63(int n, const double *x, double *dxdt)
{
    (void)n;
    dxdt[0] = 4.0 * (x[1] - x[0]);
    dxdt[1] = -x[1] - x[0] * x[2];
    dxdt[2] = -1.0 * x[2] + x[0] * x[1] - 1.0 * 48.0;
}

static void lorenz96(int n, const double *x, double *dxdt)
{
    for (int j = 0; j < n; j++) {
        int next = j == n - 1 ? 0 : j + 1, before = j == 0 ? n - 1 : j - 1,
            before2 = before == 0 ? n - 1 : before - 1;

        dxdt[j] = (x[next] - x[before2]) * x[before] - x[j] + 4.0;
    }
}

/* From the potential x^2/2 + y^2/2 + (1 - mu)/r1 + mu/r2. */
static void pcr3bp(int n, const double *x, double *dxdt)
{
    const double mu = 1.901109735892602e-7, r1 = hypot(x[0] + mu, x[1]), r2 = hypot(x[0] - 1 + mu, x[1]);

    (void)n;
    dxdt[0] = x[2];
    dxdt[1] = x[3];
    dxdt[2] = 2 * x[3] + x[0] - (1 - mu) * (x[0] + mu) / pow(r1, 3) - mu * (x[0] - 1 + mu) / pow(r2, 3);
    dxdt[3] = -2 * x[2] + x[1] - (1 - mu) * x[1] / pow(r1, 3) - mu * x[1] / pow(r2, 3);
}

static void full(int n, const double *x, double *dxdt)
{
    for (int j = 0; j < n; j++)
        dxdt[j] = -2 * x[j] / (1 + fabs(x[j])) + 0.5 * cos(0.5) + 0.25 * x[n - 1 - j];
}

typedef struct batch {
    int n;
    size_t count;
    double origin[8], offset[8][MOST], p[GBEES_MAX_PARAMETERS];
    float origin_f[8], offset_f[8][MOST], p_f[GBEES_MAX_PARAMETERS];
    const double *column[8];
    const float *column_f[8];
} batch;

static void fill(batch *b, const gbees_model *m, int n, size_t count)
{
    b->n = n;
    b->count = count;
    for (int k = 0; k < n; k++) {
        b->origin[k] = uniform();
        b->origin_f[k] = (float)b->origin[k];
        b->column[k] = b->offset[k];
        b->column_f[k] = b->offset_f[k];
        for (size_t i = 0; i < MOST; i++) {
            b->offset[k][i] = uniform();
            b->offset_f[k][i] = (float)b->offset[k][i];
        }
    }
    for (int k = 0; k < m->parameter_count; k++) {
        b->p[k] = m->parameters[k].value;
        b->p_f[k] = (float)b->p[k];
    }
}

static const gbees_functions *functions_of(const gbees_model *m, int n)
{
    for (int i = 0; i < m->function_count; i++)
        if (m->functions[i].n == n)
            return &m->functions[i];
    ck_abort_msg("%s has no functions for dimension %d", m->name, n);
    return NULL;
}

typedef void equations(int n, const double *x, double *dxdt);

/* Component j == vector's j to the bit, and == the equations but for rounding; nothing is written past count. */
static void check_double(const gbees_functions *f, const batch *b, equations *by_hand)
{
    double all[8][MOST + 1], one[MOST + 1], *out[8];

    for (int j = 0; j < 8; j++) {
        out[j] = all[j];
        all[j][b->count] = -1e300;
    }
    f->drift_d(b->count, 0.5, b->origin, b->column, b->p, out);
    for (int j = 0; j < b->n; j++) {
        one[b->count] = -1e300;
        f->component_d[j](b->count, 0.5, b->origin, b->column, b->p, one);
        ck_assert_mem_eq(one, all[j], (b->count + 1) * sizeof one[0]);
    }
    for (size_t i = 0; i < b->count; i++) {
        double x[8], dxdt[8];

        for (int k = 0; k < b->n; k++)
            x[k] = b->origin[k] + b->offset[k][i];
        by_hand(b->n, x, dxdt);
        for (int j = 0; j < b->n; j++)
            ck_assert_double_eq_tol(all[j][i], dxdt[j], 1e-12 * (100 + fabs(dxdt[j])));
    }
}

static void check_float(const gbees_functions *f, const batch *b, equations *by_hand)
{
    float all[8][MOST + 1], one[MOST + 1], *out[8];

    for (int j = 0; j < 8; j++) {
        out[j] = all[j];
        all[j][b->count] = -1e30f;
    }
    f->drift_f(b->count, 0.5f, b->origin_f, b->column_f, b->p_f, out);
    for (int j = 0; j < b->n; j++) {
        one[b->count] = -1e30f;
        f->component_f[j](b->count, 0.5f, b->origin_f, b->column_f, b->p_f, one);
        ck_assert_mem_eq(one, all[j], (b->count + 1) * sizeof one[0]);
    }
    for (size_t i = 0; i < b->count; i++) {
        double x[8], dxdt[8];

        for (int k = 0; k < b->n; k++)
            x[k] = b->origin[k] + b->offset[k][i];
        by_hand(b->n, x, dxdt);
        for (int j = 0; j < b->n; j++) /* products of two states of at most 40 */
            ck_assert_double_eq_tol((double)all[j][i], dxdt[j], 1e-6 * 3200);
    }
}

static void check_model(const char *name, equations *by_hand)
{
    static const size_t counts[] = {0, 1, 2, 7, 8, 37, MOST};
    const gbees_model *m = model(name);

    for (int n = m->dim_min; n <= m->dim_max; n++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            batch b;

            fill(&b, m, n, counts[c]);
            check_double(functions_of(m, n), &b, by_hand);
            check_float(functions_of(m, n), &b, by_hand);
        }
}

START_TEST(lorenz63_drift)
{
    const gbees_model *m = model("lorenz63");

    ck_assert_int_eq(m->dim_min, 3);
    ck_assert_int_eq(m->dim_max, 3);
    check_model("lorenz63", lorenz63);
}
END_TEST

START_TEST(lorenz96_drift)
{
    const gbees_model *m = model("lorenz96");

    ck_assert_int_eq(m->dim_min, 4);
    ck_assert_int_eq(m->dim_max, 8);
    ck_assert_int_eq(m->dim_default, 6);
    check_model("lorenz96", lorenz96);
}
END_TEST

START_TEST(pcr3bp_drift)
{
    const gbees_model *m = model("pcr3bp");
    const double origin[4] = {1, 0, 0, 0}, zero[4] = {0}, mu[1] = {1.901109735892602e-7};
    const double radius = cbrt(mu[0] / 3);
    const double *column[4] = {&radius, zero, zero, zero};
    double rate;

    ck_assert_int_eq(m->dim_default, 4);
    check_model("pcr3bp", pcr3bp);
    /* Near the second primary, too, where large terms cancel: at rest at the outer libration point of Hill's problem,
     * but for a term of the next order in the radius. */
    functions_of(m, 4)->component_d[2](1, 0, origin, column, mu, &rate);
    ck_assert_double_lt(fabs(rate), 10 * radius * radius);
    ck_assert_double_gt(fabs(rate), 1e-3 * radius * radius);
}
END_TEST

START_TEST(pcr3bp_sight)
{
    const gbees_model *m = model("pcr3bp");
    const double mu[1] = {0.01}, origin[4] = {0.99, 0, 0, 0};
    const double offset[4][3] = {{3, -3, 0}, {4, -4, 2}, {1, 1, 5}, {2, 2, -1}};
    const double *column[4] = {offset[0], offset[1], offset[2], offset[3]};
    double range[3], angle[3], rate[3], *out[] = {range, angle, rate, NULL};

    ck_assert_int_eq(m->measurements[0].size, 3);
    functions_of(m, 4)->measure_d(0, 3, 0, origin, column, mu, out);
    ck_assert_double_eq_tol(range[0], 5, 1e-14);
    ck_assert_double_eq_tol(angle[0], atan2(4, 3), 1e-14);
    ck_assert_double_eq_tol(rate[0], 11.0 / 5, 1e-14);
    ck_assert_double_eq_tol(angle[1], atan2(4, 3) - acos(-1), 1e-14); /* all around, not half */
    ck_assert_double_eq_tol(rate[1], -11.0 / 5, 1e-14);
    ck_assert_double_eq_tol(angle[2], acos(0), 1e-14);
    ck_assert_double_eq_tol(rate[2], -1, 1e-14);
}
END_TEST

START_TEST(drift_with_helper_and_time)
{
    const gbees_model *m = model("full");

    ck_assert_int_eq(m->function_count, 8);
    ck_assert_uint_eq(m->flags, GBEES_TIME_DEPENDENT);
    check_model("full", full);
}
END_TEST

START_TEST(measure_and_bound_of_every_dimension)
{
    const gbees_model *m = model("full");
    double y[3][MOST], energy[MOST], *out[GBEES_MAX_DIM] = {y[0], y[1], y[2], NULL};

    for (int n = 1; n <= 8; n++) {
        batch b;

        fill(&b, m, n, 37);
        functions_of(m, n)->measure_d(1, b.count, 0.5, b.origin, b.column, b.p, out);
        functions_of(m, n)->bound_d(b.count, 0.5, b.origin, b.column, b.p, energy);
        for (size_t i = 0; i < b.count; i++) {
            double sum = 0, squares = 0, x = 0;

            for (int k = 0; k < n; k++) {
                x = b.origin[k] + b.offset[k][i];
                sum += x;
                squares += x * x;
            }
            ck_assert_double_eq(y[0][i], 0.5);
            ck_assert_double_eq_tol(y[1][i], sum, 1e-10);
            ck_assert_double_eq(y[2][i], x);
            ck_assert_double_eq_tol(energy[i], squares, 1e-10 * (1 + squares));
        }
    }
}
END_TEST

/* Function `which` sees state `state`. */
static void check_measure(const gbees_model *m, int n, int which, int state)
{
    double y[MOST], *out[GBEES_MAX_DIM] = {y, NULL};
    batch b;

    fill(&b, m, n, 37);
    ck_assert_int_eq(m->measurements[which].size, 1);
    functions_of(m, n)->measure_d(which, b.count, 0, b.origin, b.column, b.p, out);
    for (size_t i = 0; i < b.count; i++)
        ck_assert_double_eq(y[i], b.origin[state] + b.offset[state][i]);
}

START_TEST(measurements)
{
    check_measure(model("lorenz63"), 3, 0, 2);
    for (int n = 4; n <= 8; n++)
        for (int which = 0; which < n; which++)
            check_measure(model("lorenz96"), n, which, which);
}
END_TEST

/* The text that a run-time compiler is handed is the file, byte for byte, and ends in a NUL. */
static void check_source(const char *name)
{
    const gbees_model *m = model(name);
    size_t length = (size_t)(m->source_end - m->source);
    char path[4096], *text = malloc(length + 1);

    (void)snprintf(path, sizeof path, "%s/plugins/%s.c", top_source(), name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "can't open %s: set GBEES_TOP_SRC", path);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, length + 1, file), length);
    ck_assert_mem_eq(text, m->source, length);
    ck_assert_int_eq(*m->source_end, '\0');
    (void)fclose(file);
    free(text);
}

START_TEST(source_is_the_file)
{
    check_source("lorenz63");
    check_source("lorenz96");
    check_source("pcr3bp");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("models");
    TCase *tcase = tcase_create("models");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, lorenz63_drift);
    tcase_add_test(tcase, lorenz96_drift);
    tcase_add_test(tcase, pcr3bp_drift);
    tcase_add_test(tcase, pcr3bp_sight);
    tcase_add_test(tcase, drift_with_helper_and_time);
    tcase_add_test(tcase, measure_and_bound_of_every_dimension);
    tcase_add_test(tcase, measurements);
    tcase_add_test(tcase, source_is_the_file);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
