/* flow.c - integrates samples in blocks of points, so that the model's functions get columns and the loops are
 * vectorised. A point whose step is doubtful is integrated once more, alone, by steps that are halved. */
#include "flow.h"
#include <math.h>
#include <string.h>

enum { POINTS = GBEES_FLOW_POINTS };

/* The most parts into which a step may be cut. */
#define SHORTEST 1048576.0

static const double origin[GBEES_MAX_DIM];

/* point = x + scale * drift; sum (+)= weight * drift. */
GBEES_PROCESSOR_CLONES static void stage_add(size_t count, const double *restrict x, double scale,
                                             const double *restrict drift, double *restrict point, double weight,
                                             double *restrict sum)
{
    for (size_t i = 0; i < count; i++) {
        point[i] = x[i] + scale * drift[i];
        sum[i] += weight * drift[i];
    }
}

/* point = x + scale * drift. */
GBEES_PROCESSOR_CLONES static void stage_begin(size_t count, const double *restrict x, double scale,
                                               const double *restrict drift, double *restrict point)
{
    for (size_t i = 0; i < count; i++)
        point[i] = x[i] + scale * drift[i];
}

GBEES_PROCESSOR_CLONES static void add_doubt(size_t count, const double *restrict second,
                                             const double *restrict third, double by, double *restrict doubt)
{
    for (size_t i = 0; i < count; i++) {
        const double off = fabs(third[i] - second[i]) * by;

        doubt[i] = off <= doubt[i] ? doubt[i] : off; /* so that what is not a number is kept */
    }
}

GBEES_PROCESSOR_CLONES static void finish(size_t count, double by, const double *restrict sum,
                                          const double *restrict drift, double *restrict x)
{
    for (size_t i = 0; i < count; i++)
        x[i] += by * (sum[i] + drift[i]);
}

static void drift_at(const gbees_problem *problem, size_t count, double t, const double *const *point,
                     double *const *drift)
{
    gbees_problem_own_functions(problem)->drift_d(count, t, origin, point, problem->parameters, drift);
}

/* Computes the stages of one step of Runge and Kutta's classical method: work->sum and the last drift.  Sets
 * doubt[i], an estimate of the step's error: the step times the difference of the drifts at the two stages in its
 * middle, over `scale`, along the worst axis.  It is of third order in the step. */
static void find_stages(const gbees_problem *problem, gbees_flow *work, size_t count, double t, double dt,
                        double *const *x, const double *scale, double *doubt)
{
    const int n = problem->dimension;
    double *sum[GBEES_MAX_DIM] = {0}, *second[GBEES_MAX_DIM] = {0}, *drift[GBEES_MAX_DIM] = {0};
    const double *point[GBEES_MAX_DIM] = {0}, *start[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < n; j++) {
        start[j] = x[j];
        point[j] = work->point[j];
        drift[j] = work->drift[j];
        second[j] = work->second[j];
        sum[j] = work->sum[j];
    }
    memset(doubt, 0, count * sizeof *doubt);
    drift_at(problem, count, t, start, sum);
    for (int j = 0; j < n; j++)
        stage_begin(count, x[j], dt / 2, sum[j], work->point[j]);
    drift_at(problem, count, t + dt / 2, point, second);
    for (int j = 0; j < n; j++)
        stage_add(count, x[j], dt / 2, second[j], work->point[j], 2, sum[j]);
    drift_at(problem, count, t + dt / 2, point, drift);
    for (int j = 0; j < n; j++) {
        add_doubt(count, second[j], drift[j], dt / scale[j], doubt);
        stage_add(count, x[j], dt, drift[j], work->point[j], 2, sum[j]);
    }
    drift_at(problem, count, t + dt, point, drift);
}

static void runge_kutta(const gbees_problem *problem, gbees_flow *work, size_t count, double t, double dt,
                        double *const *x, const double *scale, double *doubt)
{
    find_stages(problem, work, count, t, dt, x, scale, doubt);
    for (int j = 0; j < problem->dimension; j++)
        finish(count, dt / 6, work->sum[j], work->drift[j], x[j]);
}

/* Integrates one point over dt by steps that are halved until their doubt is at most `most`, or they are as short as
 * they may be. */
static void integrate_adaptively(const gbees_problem *problem, gbees_flow *work, double t, double dt, double *x,
                                 const double *scale, double most)
{
    double done = 0, part = dt / 2;
    const double least = fabs(dt) / SHORTEST;

    while (fabs(done) < fabs(dt) * (1 - 1e-12)) {
        double trial[GBEES_MAX_DIM], *at[GBEES_MAX_DIM], doubt;

        for (int j = 0; j < problem->dimension; j++) {
            trial[j] = x[j];
            at[j] = &trial[j];
        }
        runge_kutta(problem, work, 1, t + done, part, at, scale, &doubt);
        if (!(doubt <= most) && fabs(part) > least) {
            part /= 2;
            continue;
        }
        memcpy(x, trial, (size_t)problem->dimension * sizeof *x);
        if (!isfinite(doubt)) /* the point is lost: gbees_montecarlo_advance() finds it */
            return;
        done += part;
        if (doubt < most / 16)
            part *= 2;
        if (fabs(part) > fabs(dt - done))
            part = dt - done;
    }
}

/* gbees_flow_step() for at most POINTS points. */
static void step_points(const gbees_montecarlo *montecarlo, gbees_flow *work, size_t count, double t, double dt,
                        double *const *x)
{
    const gbees_problem *problem = montecarlo->problem;
    const double *scale = montecarlo->scale, most = montecarlo->doubt_most;
    const int n = problem->dimension;
    double doubt[POINTS], start[GBEES_MAX_DIM][POINTS];
    size_t doubtful[POINTS], cut = 0;

    find_stages(problem, work, count, t, dt, x, scale, doubt);
    for (size_t i = 0; i < count; i++)
        if (!(doubt[i] <= most)) {
            for (int j = 0; j < n; j++)
                start[j][cut] = x[j][i];
            doubtful[cut++] = i;
        }
    for (int j = 0; j < n; j++)
        finish(count, dt / 6, work->sum[j], work->drift[j], x[j]);
    for (size_t k = 0; k < cut; k++) {
        double point[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            point[j] = start[j][k];
        integrate_adaptively(problem, work, t, dt, point, scale, most);
        for (int j = 0; j < n; j++)
            x[j][doubtful[k]] = point[j];
    }
}

/* Sets the columns of points from number `first` on, and returns how many of `count` points to take. */
static size_t take_points(int n, double *const *x, size_t first, size_t count, double **part)
{
    for (int j = 0; j < n; j++)
        part[j] = x[j] + first;
    return count - first < POINTS ? count - first : POINTS;
}

void gbees_flow_step(const gbees_montecarlo *montecarlo, gbees_flow *work, size_t count, double t, double dt,
                     double *const *x)
{
    double *part[GBEES_MAX_DIM];

    for (size_t first = 0, some; first < count; first += some) {
        some = take_points(montecarlo->problem->dimension, x, first, count, part);
        step_points(montecarlo, work, some, t, dt, part);
    }
}

void gbees_flow_run(const gbees_montecarlo *montecarlo, size_t count, double dt, size_t steps, double *const *x,
                    double *doubt)
{
    double now[POINTS], *part[GBEES_MAX_DIM];
    gbees_flow work;

    memset(doubt, 0, count * sizeof *doubt);
    for (size_t first = 0, some; first < count; first += some) {
        some = take_points(montecarlo->problem->dimension, x, first, count, part);
        for (size_t step = 0; step < steps; step++) {
            runge_kutta(montecarlo->problem, &work, some, montecarlo->time + (double)step * dt, dt, part,
                        montecarlo->scale, now);
            for (size_t i = 0; i < some; i++)
                doubt[first + i] = now[i] <= doubt[first + i] ? doubt[first + i] : now[i];
        }
    }
}
