/* plugin_drift.c - gbees-plugin check: what the equations give over the initial box; see plugin.h. */
#include "base/parameters.h"
#include "plugin.h"
#include "record/equations.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 4096, WIDEST_BATCH = 67 };

/* Largest differences between two evaluations, relative to the largest value. */
static const double rounding_f = 1e-5, rounding_d = 1e-13, single_precision = 1e-3, wrong = 0.1;

/* ---- points: every cell of the box if they are few, else its corners and cells here and there ---- */

typedef struct points {
    const gbees_probe *probe;
    const gbees_problem *problem;
    const char *name;
    int n;
    size_t count;
    double *offset_d[GBEES_MAX_DIM], *drift_d[GBEES_MAX_DIM], *work_d;
    float *offset_f[GBEES_MAX_DIM], *drift_f[GBEES_MAX_DIM], *work_f;
    float mean_f[GBEES_MAX_DIM], parameters_f[GBEES_PARAMETER_VALUES];
    double scale[GBEES_MAX_DIM]; /* the largest |drift| of each component */
} points;

static double cells_of(const gbees_problem *problem)
{
    double cells = 1;

    for (int j = 0; j < problem->dimension; j++)
        cells *= 2.0 * problem->extent[j] + 1;
    return cells;
}

static void free_points(points *at)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        free(at->offset_d[j]);
        free(at->drift_d[j]);
        free(at->offset_f[j]);
        free(at->drift_f[j]);
    }
    free(at->work_d);
    free(at->work_f);
}

static int allocate(points *at)
{
    int good = (at->work_d = calloc(at->count, sizeof(double))) && (at->work_f = calloc(at->count, sizeof(float)));

    for (int j = 0; good && j < at->n; j++)
        good = (at->offset_d[j] = calloc(at->count, sizeof(double))) &&
               (at->drift_d[j] = calloc(at->count, sizeof(double))) &&
               (at->offset_f[j] = calloc(at->count, sizeof(float))) &&
               (at->drift_f[j] = calloc(at->count, sizeof(float)));
    return good;
}

/* Cell i of all cells of the box. */
static void count_to_cell(const points *at, size_t i, int64_t *cell)
{
    for (int j = 0; j < at->n; j++) {
        const int64_t extent = at->problem->extent[j], side = 2 * extent + 1;

        cell[j] = (int64_t)(i % (size_t)side) - extent;
        i /= (size_t)side;
    }
}

static int make_points(points *at)
{
    const double cells = cells_of(at->problem);
    const int whole = cells <= POINTS_MOST;
    uint64_t state = 20240607;

    at->count = whole ? (size_t)cells : POINTS_MOST;
    if (!allocate(at))
        return 0;
    for (size_t i = 0; i < at->count; i++) {
        int64_t cell[GBEES_MAX_DIM];

        if (whole)
            count_to_cell(at, i, cell);
        else
            gbees_probe_cell(at->problem, i, &state, cell);
        for (int j = 0; j < at->n; j++) {
            at->offset_d[j][i] = (double)cell[j] * at->problem->width[j];
            at->offset_f[j][i] = (float)at->offset_d[j][i];
        }
    }
    for (int j = 0; j < at->n; j++)
        at->mean_f[j] = (float)at->problem->mean[j];
    gbees_parameters_round(at->problem->parameters, at->parameters_f);
    return 1;
}

static void compute(points *at, double time)
{
    const gbees_problem *problem = at->problem;

    problem->functions->drift_d(at->count, time, problem->mean, (const double *const *)at->offset_d,
                                problem->parameters, at->drift_d);
    problem->functions->drift_f(at->count, (float)time, at->mean_f, (const float *const *)at->offset_f,
                                at->parameters_f, at->drift_f);
}

/* ---- finite ---- */

/* "x = (1, 2, 3)" for point i. */
static const char *place(const points *at, size_t i, char *text, size_t size)
{
    double y[GBEES_MAX_DIM];

    for (int j = 0; j < at->n; j++)
        y[j] = at->problem->mean[j] + at->offset_d[j][i];
    return gbees_probe_place(at->problem, y, text, size);
}

/* How many points give something that is not finite; the first of them and its component. */
static size_t count_bad(const points *at, int is_f32, size_t *first, int *component)
{
    size_t bad = 0;

    for (size_t i = 0; i < at->count; i++)
        for (int j = 0; j < at->n; j++) {
            if (is_f32 ? isfinite(at->drift_f[j][i]) : isfinite(at->drift_d[j][i]))
                continue;
            if (!bad++) {
                *first = i;
                *component = j;
            }
            break;
        }
    return bad;
}

static int check_finite(const points *at, double time)
{
    size_t first = 0;
    int component = 0;
    char text[256];
    gbees_error error = {0};

    for (int is_f32 = 0; is_f32 < 2; is_f32++) {
        const size_t bad = count_bad(at, is_f32, &first, &component);

        if (!bad)
            continue;
        if (gbees_equations_check_written(at->problem, &error)) {
            gbees_probe_report(at->probe, GBEES_PROBE_FAILED, "%s", error.text);
            return 0;
        }
        gbees_probe_report(at->probe, GBEES_PROBE_FAILED,
                           "the drift is not finite in %s at %zu of %zu points, d%s/dt at %s, t = %g among them: %s",
                           is_f32 ? "float" : "double", bad, at->count, at->probe->model->states[component].name,
                           place(at, first, text, sizeof text), time,
                           is_f32
                               ? "it is in double: keep numbers on the way below 1e38, and above 1e-38 where one is "
                                 "divided by them"
                               : "look for a division by zero, or a root or logarithm of a negative number");
        return 0;
    }
    return 1;
}

/* ---- float and double ---- */

static double difference(points *at)
{
    double worst = 0;

    for (int j = 0; j < at->n; j++) {
        double largest = 0, apart = 0;

        for (size_t i = 0; i < at->count; i++) {
            largest = fmax(largest, fabs(at->drift_d[j][i]));
            apart = fmax(apart, fabs(at->drift_d[j][i] - (double)at->drift_f[j][i]));
        }
        at->scale[j] = fmax(at->scale[j], largest);
        worst = fmax(worst, largest > 0 ? apart / largest : apart > 0);
    }
    return worst;
}

static int check_drift(points *at)
{
    const gbees_problem *problem = at->problem;
    const double times[] = {problem->end, (problem->start + problem->end) / 2, problem->start};
    const int timed = (problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    double apart = 0;

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "drift, %s", at->name);
    for (int k = timed ? 0 : 2; k < 3; k++) {
        compute(at, times[k]);
        if (!check_finite(at, times[k]))
            return 0;
        apart = fmax(apart, difference(at));
    }
    if (apart > wrong)
        gbees_probe_report(at->probe, GBEES_PROBE_FAILED,
                           "float and double differ by %.2g of the largest drift: they are different equations; look "
                           "for what depends on the type `real`, or for numbers that float can't hold",
                           apart);
    else if (apart > single_precision && !gbees_problem_is_exact(problem)) /* points are doubles */
        gbees_probe_report(at->probe, GBEES_PROBE_WARN,
                           "float and double differ by %.2g of the largest drift: look for differences of large "
                           "numbers, or give the scenario 'precision: double'",
                           apart);
    else
        gbees_probe_report(at->probe, GBEES_PROBE_OK,
                           "finite at %zu points; float and double differ by %.2g of the largest", at->count, apart);
    return 1;
}

/* ---- batches ---- */

static double apart(double a, double b)
{
    return isfinite(a) ? fabs(a - b) : INFINITY;
}

static double differ_d(const points *at, int j, size_t first, size_t count)
{
    const double *offset[GBEES_MAX_DIM];
    double worst = 0;

    for (int k = 0; k < at->n; k++)
        offset[k] = at->offset_d[k] + first;
    at->problem->functions->component_d[j](count, at->problem->start, at->problem->mean, offset,
                                           at->problem->parameters, at->work_d);
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, apart(at->work_d[i], at->drift_d[j][first + i]));
    return at->scale[j] > 0 ? worst / at->scale[j] : worst;
}

static double differ_f(const points *at, int j, size_t first, size_t count)
{
    const float *offset[GBEES_MAX_DIM];
    double worst = 0;

    for (int k = 0; k < at->n; k++)
        offset[k] = at->offset_f[k] + first;
    at->problem->functions->component_f[j](count, (float)at->problem->start, at->mean_f, offset, at->parameters_f,
                                           at->work_f);
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, apart((double)at->work_f[i], (double)at->drift_f[j][first + i]));
    return at->scale[j] > 0 ? worst / at->scale[j] : worst;
}

/* Compares components at all points with the whole drift, whose last bits may be others where the C library's
 * functions of one number and those of vectors are; puts them in its place. */
static void take_components(const points *at, double *worst_d, double *worst_f)
{
    for (int j = 0; j < at->n; j++) {
        *worst_d = fmax(*worst_d, differ_d(at, j, 0, at->count));
        *worst_f = fmax(*worst_f, differ_f(at, j, 0, at->count));
        memcpy(at->drift_d[j], at->work_d, at->count * sizeof *at->work_d);
        memcpy(at->drift_f[j], at->work_f, at->count * sizeof *at->work_f);
    }
}

/* Compares batches of all sizes: processors compute 2, 4, 8 or 16 points at a time and the rest one by one. */
static int check_batches(const points *at)
{
    double worst_f = 0, worst_d = 0, whole_d = 0, whole_f = 0;

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "batches, %s", at->name);
    take_components(at, &whole_d, &whole_f);
    for (size_t count = 1; count <= WIDEST_BATCH && count <= at->count; count++)
        for (int j = 0; j < at->n; j++) {
            const size_t last = at->count - count;

            worst_d = fmax(worst_d, fmax(differ_d(at, j, 0, count), differ_d(at, j, last, count)));
            worst_f = fmax(worst_f, fmax(differ_f(at, j, 0, count), differ_f(at, j, last, count)));
        }
    whole_d = fmax(whole_d, worst_d);
    whole_f = fmax(whole_f, worst_f);
    if (whole_d > rounding_d || whole_f > rounding_f)
        gbees_probe_report(
            at->probe, GBEES_PROBE_FAILED,
            "the drift of one and the same point differs by %.2g (float) and %.2g (double) from batch to "
            "batch: it must write all of its components at each call and remember nothing",
            whole_f, whole_d);
    else if (worst_d > 0 || worst_f > 0)
        gbees_probe_report(at->probe, GBEES_PROBE_WARN,
                           "the drift is rounded differently from batch to batch: compile with -ffp-contract=off and "
                           "without -ffast-math");
    else
        gbees_probe_report(at->probe, GBEES_PROBE_OK, "the same in float and in double for 1 to %d points at a time",
                           WIDEST_BATCH);
    return whole_d <= rounding_d && whole_f <= rounding_f;
}

static void check_time(points *at)
{
    const gbees_problem *problem = at->problem;
    gbees_error error = {0};

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "time, %s", at->name);
    if (gbees_equations_check_time(problem, &error))
        gbees_probe_report(at->probe, GBEES_PROBE_FAILED, "%s", error.text);
    else
        gbees_probe_report(at->probe, GBEES_PROBE_OK, "the same at four times from t = %g to t = %g", problem->start,
                           problem->end);
}

static void check_jumps(points *at)
{
    char text[GBEES_WARNING_TEXT];
    gbees_jump jump;

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "continuity, %s", at->name);
    if (gbees_equations_jump(at->problem, &jump)) {
        gbees_warning_text(GBEES_WARNING_JUMP, at->problem, NULL, text, sizeof text);
        gbees_probe_report(at->probe, GBEES_PROBE_WARN, "%s", text);
    } else
        gbees_probe_report(at->probe, GBEES_PROBE_OK, "no jump on lines through the initial density");
}

/* ---- measurements and bound ---- */

static int is_used(const gbees_problem *problem, int function)
{
    for (int i = 0; i < problem->measurement_count; i++)
        if (problem->measurements[i].function == function)
            return 1;
    return 0;
}

/* A component may be not a number in a dimension that lacks its state. */
static void check_measurements(const points *at)
{
    const gbees_model *model = at->problem->model;
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    int absent = 0;

    if (!at->problem->functions->measure_d)
        return;
    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "measurements, %s", at->name);
    for (int j = 0; j < at->n; j++)
        offset[j] = zero;
    for (int k = 0; k < model->measurement_count; k++) {
        const gbees_measurement_function *f = &model->measurements[k];
        double y[GBEES_MAX_DIM], *out[GBEES_MAX_DIM + 1] = {NULL};
        int bad = 0;

        for (int i = 0; i < f->size; i++)
            out[i] = &y[i];
        at->problem->functions->measure_d(k, 1, at->problem->start, at->problem->mean, offset,
                                          at->problem->parameters, out);
        for (int i = 0; i < f->size; i++)
            bad += !isfinite(y[i]);
        if (bad && (at->n == model->dim_max || is_used(at->problem, k))) {
            gbees_probe_report(
                at->probe, GBEES_PROBE_FAILED,
                "the function '%s' gives a component that is not finite at the mean: look at its case in "
                "measure(), where it is number %d",
                f->name, k);
            return;
        }
        absent += bad > 0;
    }
    if (absent)
        gbees_probe_report(at->probe, GBEES_PROBE_OK, "%d of %d finite at the mean, the others not used here",
                           model->measurement_count - absent, model->measurement_count);
    else
        gbees_probe_report(at->probe, GBEES_PROBE_OK, "all finite at the mean, of %d", model->measurement_count);
}

/* Whether a scenario asks for the model's own likelihood of a function. */
static int has_own_likelihood(const gbees_problem *problem, int function)
{
    for (int i = 0; i < problem->measurement_count; i++)
        if (problem->measurements[i].function == function &&
            problem->measurements[i].likelihood == GBEES_LIKELIHOOD_MODEL)
            return 1;
    return 0;
}

/* Checks the likelihood at the mean of a measurement there. -infinity is valid; not a number is, for a function
 * that has no likelihood. */
static void check_likelihoods(const points *at)
{
    const gbees_problem *problem = at->problem;
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    int numbers = 0, count = problem->model->measurement_count;

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "likelihoods, %s", at->name);
    for (int j = 0; j < at->n; j++)
        offset[j] = zero;
    for (int k = 0; k < count; k++) {
        double y[GBEES_MAX_DIM] = {0}, *out[GBEES_MAX_DIM + 1] = {NULL}, value;

        for (int i = 0; i < problem->model->measurements[k].size; i++)
            out[i] = &y[i];
        if (problem->functions->measure_d)
            problem->functions->measure_d(k, 1, problem->start, problem->mean, offset, problem->parameters, out);
        problem->functions->log_likelihood_d(k, 1, problem->start, problem->mean, offset, problem->parameters, y,
                                             &value);
        int bad = isnan(value) || value == HUGE_VAL;
        numbers += !bad;
        if (bad && (has_own_likelihood(problem, k) || (k + 1 == count && numbers == 0))) {
            gbees_probe_report(at->probe, GBEES_PROBE_FAILED,
                               "of what '%s' measures at the mean the likelihood there is %s: look at its case in "
                               "log_likelihood(), where it is number %d",
                               problem->model->measurements[k].name, isnan(value) ? "not a number" : "infinite", k);
            return;
        }
    }
    gbees_probe_report(at->probe, GBEES_PROBE_OK, "numbers at the mean for %d of %d functions", numbers, count);
}

static void check_bound(const points *at)
{
    const gbees_problem *problem = at->problem;
    double least = INFINITY, most = -INFINITY;
    char text[256];

    gbees_probe_report(at->probe, GBEES_PROBE_BEGIN, "bound, %s", at->name);
    problem->functions->bound_d(at->count, problem->start, problem->mean, (const double *const *)at->offset_d,
                                problem->parameters, at->work_d);
    for (size_t i = 0; i < at->count; i++) {
        if (!isfinite(at->work_d[i])) {
            gbees_probe_report(
                at->probe, GBEES_PROBE_FAILED,
                "the bound is not finite at %s: look for a division by zero, or a root or logarithm of a "
                "negative number",
                place(at, i, text, sizeof text));
            return;
        }
        least = fmin(least, at->work_d[i]);
        most = fmax(most, at->work_d[i]);
    }
    gbees_probe_report(at->probe, GBEES_PROBE_OK, "%.6g to %.6g over the initial box", least, most);
}

void gbees_probe_equations(const gbees_probe *probe, const gbees_problem *problem, const char *name)
{
    points at = {.probe = probe, .problem = problem, .name = name, .n = problem->dimension};

    if (!make_points(&at)) {
        gbees_probe_report(probe, GBEES_PROBE_BEGIN, "drift, %s", name);
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "not enough memory for %zu points", at.count);
    } else {
        /* A drift that has state would seem to depend on the time, too. */
        if (check_drift(&at) && check_batches(&at)) {
            if (!(problem->model->flags & GBEES_TIME_DEPENDENT))
                check_time(&at);
            check_jumps(&at);
        }
        if (problem->model->measurement_count)
            check_measurements(&at);
        if (problem->functions->log_likelihood_d)
            check_likelihoods(&at);
        if (problem->model->bound)
            check_bound(&at);
    }
    free_points(&at);
}
