/* escape.c - where a model's drift leads without noise: whether it leaves every bound in finite time, as x' = x^2
 * does, so that steps get shorter and shorter and no run comes to its end; and whether it rests in several places. */
#include "base/numbers.h"
#include "flow.h"
#include <gbees/audit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 128,
    MOST_GONE = 80,   /* more of them: no density is left */
    FEW_GONE = 8,     /* more of them: no accuracy is reached, as moments and samples become infinite */
    STEPS_MOST = 4000 /* of a sample; one that would take more counts as not gone */
};

static const double tolerance = 1e-3;     /* of a step, relative to the state and the samples' spread */
static const double shortest = 1e-13;     /* step, relative to the whole time */
static const double largest_drift = 1e12; /* at a step as short as that, in spreads and states a whole time */
/* In standard deviations: a state that goes no further in the last quarter of a run is at rest; two that are at least
 * so far from each other rest in different places. */
static const double still = 0.1, apart = 4;
enum { DOUBLINGS = 6 /* of the distance from one standard deviation on, at which another place is looked for */ };

/* A sample on its way. */
typedef struct traveller {
    gbees_montecarlo *samples;
    double spread[GBEES_MAX_DIM];
    double start, end;
    double reached; /* the time to which time_of() has come */
    double x[GBEES_MAX_DIM];
} traveller;

/* Tries a step from time t. Returns whether it is exact enough; then the state is its end. */
static int step(traveller *of, double t, double dt)
{
    gbees_montecarlo *samples = of->samples;
    double trial[GBEES_MAX_DIM], *at[GBEES_MAX_DIM], doubt = 0;
    const int n = samples->problem->dimension;

    for (int j = 0; j < n; j++) {
        trial[j] = of->x[j];
        at[j] = &trial[j];
        samples->scale[j] = of->spread[j] + fabs(of->x[j]);
    }
    samples->time = t;
    gbees_flow_run(samples, 1, dt, 1, at, &doubt);
    int good = doubt <= tolerance;
    for (int j = 0; j < n; j++)
        good = good && isfinite(trial[j]);
    if (good)
        memcpy(of->x, trial, (size_t)n * sizeof *trial);
    return good;
}

/* Whether the drift is so large that the sample's steps have become too short by that. */
static int is_drift_large(const traveller *of, double t)
{
    static const double origin[GBEES_MAX_DIM];
    const gbees_problem *problem = of->samples->problem;
    const double *x[GBEES_MAX_DIM], *first = of->x;
    double drift;

    for (int j = 0; j < problem->dimension; j++)
        x[j] = first + j;
    for (int j = 0; j < problem->dimension; j++) {
        gbees_problem_own_functions(problem)->component_d[j](1, t, origin, x, problem->parameters, &drift);
        if (fabs(drift) * (of->end - of->start) > largest_drift * of->spread[j])
            return 1;
    }
    return 0;
}

/* Returns when a sample leaves every bound; INFINITY: not before the end, or that is not known. */
static double time_of(traveller *of)
{
    const double whole = of->end - of->start;
    double t = of->start, dt = whole / SAMPLES;

    for (int k = 0; k < STEPS_MOST && t < of->end; k++, of->reached = t) {
        if (!step(of, t, fmin(dt, of->end - t))) {
            dt /= 2;
            if (dt < shortest * whole)
                return is_drift_large(of, t) ? t : INFINITY;
            continue;
        }
        t += dt;
        dt *= 1.25;
    }
    return INFINITY;
}

int gbees_audit_escape(const gbees_problem *problem, gbees_error *error)
{
    const gbees_montecarlo_options how = {.count = SAMPLES, .step = INFINITY, .seed = 1, .threads = 1};
    double gone[SAMPLES];
    traveller of = {.start = problem->start, .end = problem->end};
    gbees_error ignored;

    if (problem->measurement_count > 0 && problem->measurements[0].time < problem->end)
        of.end = problem->measurements[0].time;
    if (problem->instant_count > 0 && problem->instants[0].time < of.end)
        of.end = problem->instants[0].time;
    if (problem->bounded || !(of.end > of.start) || gbees_montecarlo_create(problem, &how, &of.samples, &ignored))
        return GBEES_OK;
    gbees_samples_find_scale(of.samples);
    memcpy(of.spread, of.samples->scale, sizeof of.spread);
    for (size_t i = 0; i < SAMPLES; i++) {
        for (int j = 0; j < problem->dimension; j++)
            of.x[j] = of.samples->x[j][i];
        gone[i] = time_of(&of);
    }
    gbees_montecarlo_destroy(of.samples);
    qsort(gone, SAMPLES, sizeof *gone, gbees_compare_numbers);
    if (!isfinite(gone[problem->accuracy > 0 ? FEW_GONE : MOST_GONE]))
        return GBEES_OK;
    int count = 0;
    while (count < SAMPLES && isfinite(gone[count]))
        count++;
    return gbees_error_set(
        error, GBEES_ENUMERIC,
        "%s: the drift leaves every bound in finite time: of %d samples of the initial density the "
        "first has done so at t = %.4g, %d by t = %.4g: give an 'end' before that",
        problem->model->name, SAMPLES, gone[0], count, gone[count - 1]);
}

/* ---- wells ---- */

/* The distance of two states in standard deviations. */
static double distance(const traveller *of, const double *a, const double *b)
{
    double square = 0;

    for (int j = 0; j < of->samples->problem->dimension; j++)
        square += pow((a[j] - b[j]) / of->spread[j], 2);
    return sqrt(square);
}

/* Takes the traveller from its state through the time of a run. Returns whether it is at rest in the end. */
static int come_to_rest(traveller *of)
{
    const gbees_problem *problem = of->samples->problem;
    double before[GBEES_MAX_DIM];

    for (int quarter = 0; quarter < 4; quarter += 3) {
        memcpy(before, of->x, sizeof before);
        of->start = problem->start + 0.25 * quarter * (problem->end - problem->start);
        of->end = quarter ? problem->end : problem->start + 0.75 * (problem->end - problem->start);
        if (isfinite(time_of(of)) || !(of->reached >= of->end))
            return 0;
    }
    return distance(of, before, of->x) < still;
}

int gbees_audit_wells(const gbees_problem *problem, const double *from, const double *spread, double *here,
                      double *there)
{
    const gbees_montecarlo_options how = {.count = SAMPLES, .step = INFINITY, .seed = 1, .threads = 1};
    double nearest = INFINITY;
    traveller of = {0};
    gbees_error ignored;

    if (gbees_montecarlo_create(problem, &how, &of.samples, &ignored))
        return 0;
    memcpy(of.spread, spread, (size_t)problem->dimension * sizeof *spread);
    memcpy(of.x, from, (size_t)problem->dimension * sizeof *from);
    const int rests = come_to_rest(&of);
    memcpy(here, of.x, (size_t)problem->dimension * sizeof *here);
    for (int k = 0; rests && k < 2 * DOUBLINGS * problem->dimension; k++) {
        const int axis = k / (2 * DOUBLINGS), far = k / 2 % DOUBLINGS;
        double first[GBEES_MAX_DIM];

        memcpy(of.x, here, (size_t)problem->dimension * sizeof *here);
        of.x[axis] += ldexp(k % 2 ? spread[axis] : -spread[axis], far);
        memcpy(first, of.x, sizeof first);
        const double away = come_to_rest(&of) ? distance(&of, here, of.x) : 0;
        if (away < apart || away >= nearest ||
            distance(&of, first, of.x) < still) /* without a drift all is at rest */
            continue;
        nearest = away;
        memcpy(there, of.x, (size_t)problem->dimension * sizeof *there);
    }
    gbees_montecarlo_destroy(of.samples);
    return isfinite(nearest);
}
