/* plugin_beyond.c - gbees-plugin check: parameters that the equations read and that the card does not have; see
 * plugin.h. A run has zeros there, so that a wrong index would be a wrong drift without a word. */
#include "plugin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, POINTS = 1 + (1 << N), ROWS = N * N };

/* The mean and the corners of the initial box, and what the equations give there. */
typedef struct corners {
    size_t count;
    double offset[N][POINTS];
    double values[ROWS][POINTS], others[ROWS][POINTS];
} corners;

/* Evaluates one of a problem's functions; rows that it does not write stay as they are. */
typedef void evaluation(const gbees_problem *problem, const corners *at, const double *p, double *const *out);

static void columns(const gbees_problem *problem, const corners *at, const double **offset)
{
    for (int j = 0; j < problem->dimension; j++)
        offset[j] = at->offset[j];
}

static void drift(const gbees_problem *problem, const corners *at, const double *p, double *const *out)
{
    const double *offset[N];

    columns(problem, at, offset);
    problem->functions->drift_d(at->count, problem->start, problem->mean, offset, p, out);
}

static void diffusion(const gbees_problem *problem, const corners *at, const double *p, double *const *out)
{
    const double *offset[N];

    columns(problem, at, offset);
    if (problem->functions->diffusion_d)
        problem->functions->diffusion_d(at->count, problem->start, problem->mean, offset, p, out);
}

static void bound(const gbees_problem *problem, const corners *at, const double *p, double *const *out)
{
    const double *offset[N];

    columns(problem, at, offset);
    if (problem->functions->bound_d)
        problem->functions->bound_d(at->count, problem->start, problem->mean, offset, p, out[0]);
}

/* All measurement functions, one after the other, as far as there are rows. */
static void measure(const gbees_problem *problem, const corners *at, const double *p, double *const *out)
{
    const gbees_model *model = problem->model;
    const double *offset[N];
    int row = 0;

    columns(problem, at, offset);
    for (int k = 0; problem->functions->measure_d && k < model->measurement_count; k++) {
        double *rows[N + 1] = {NULL};

        if (row + model->measurements[k].size > ROWS)
            return;
        for (int i = 0; i < model->measurements[k].size; i++)
            rows[i] = out[row++];
        problem->functions->measure_d(k, at->count, problem->start, problem->mean, offset, p, rows);
    }
}

/* Of a measurement of zeros, by each function. */
static void log_likelihood(const gbees_problem *problem, const corners *at, const double *p, double *const *out)
{
    const double y[N] = {0}, *offset[N];

    columns(problem, at, offset);
    for (int k = 0; problem->functions->log_likelihood_d && k < problem->model->measurement_count && k < ROWS; k++)
        problem->functions->log_likelihood_d(k, at->count, problem->start, problem->mean, offset, p, y, out[k]);
}

static void fill(const gbees_problem *problem, corners *at)
{
    at->count = 1 + ((size_t)1 << problem->dimension);
    for (int j = 0; j < problem->dimension; j++)
        for (size_t i = 1; i < at->count; i++)
            at->offset[j][i] = ((i - 1) >> j & 1 ? 1 : -1) * problem->extent[j] * problem->width[j];
}

/* Whether a function gives other values when parameter k is not a number. */
static int depends(const gbees_problem *problem, corners *at, evaluation *evaluate, int k)
{
    double p[GBEES_PARAMETER_VALUES], *before[ROWS], *after[ROWS];

    for (int row = 0; row < ROWS; row++) {
        before[row] = at->values[row];
        after[row] = at->others[row];
    }
    memset(at->values, 0, sizeof at->values);
    memset(at->others, 0, sizeof at->others);
    memcpy(p, problem->parameters, sizeof p);
    evaluate(problem, at, p, before);
    p[k] = NAN;
    evaluate(problem, at, p, after);
    for (int row = 0; row < ROWS; row++)
        for (size_t i = 0; i < at->count; i++)
            if (isnan(at->others[row][i]) && !isnan(at->values[row][i]))
                return 1;
    return 0;
}

int gbees_probe_beyond(const gbees_probe *probe, const gbees_problem *problem)
{
    static const struct {
        evaluation *evaluate;
        const char *name;
    } functions[] = {{drift, "drift"},
                     {diffusion, "diffusion"},
                     {measure, "measure"},
                     {log_likelihood, "log_likelihood"},
                     {bound, "bound"}};
    const int count = problem->model->parameter_count;
    corners *at = calloc(1, sizeof *at);
    int found = 0;

    if (!at) {
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "not enough memory for the corners of the initial box");
        return 1;
    }
    fill(problem, at);
    for (size_t f = 0; !found && f < sizeof functions / sizeof *functions; f++)
        for (int k = count; !found && k < GBEES_MAX_PARAMETERS; k++) {
            found = depends(problem, at, functions[f].evaluate, k);
            if (found)
                gbees_probe_report(probe, GBEES_PROBE_FAILED,
                                   "%s() reads p[%d], and the card has %d parameter%s: add one to the card, or mend "
                                   "the index, which begins at 0",
                                   functions[f].name, k, count, count == 1 ? "" : "s");
        }
    free(at);
    return found;
}
