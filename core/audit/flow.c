/* flow.c - see flow.h. */
#include "flow.h"
#include <math.h>
#include <string.h>

enum { BLOCK = SAMPLES_BLOCK };

/* Into how many parts a step may be cut. */
#define SHORTEST 1048576.0

static const double origin[GBEES_MAX_DIM];

/* point = x + scale * drift; sum (+)= weight * drift. */
static void stage_add(gbees_flow *work, int n, size_t count, double *const *x, double scale, double weight)
{
    for (int j = 0; j < n; j++) {
        double *restrict point = work->point[j], *restrict sum = work->sum[j];
        const double *restrict from = x[j], *restrict drift = work->drift[j];

        for (size_t i = 0; i < count; i++) {
            point[i] = from[i] + scale * drift[i];
            sum[i] += weight * drift[i];
        }
    }
}

/* One component at a time: those functions are vectorised, that of the whole drift need not be. */
static void drift_at(const gbees_problem *problem, size_t count, double t, const double *const *point,
                     double *const *drift)
{
    const gbees_functions *functions = gbees_samples_functions(problem);

    for (int j = 0; j < problem->dimension; j++)
        functions->component_d[j](count, t, origin, point, problem->parameters, drift[j]);
}

/* One step of Runge and Kutta's classical method.  doubt[i] is how far the drifts of the two stages in the middle
 * differ times the step, in `scale` along the worst axis: it is of third order in the step. */
static void runge_kutta(const gbees_problem *problem, gbees_flow *work, size_t count, double t, double dt,
                        double *const *x, const double *scale, double *doubt)
{
    const int n = problem->dimension;
    double *drift[GBEES_MAX_DIM];
    const double *point[GBEES_MAX_DIM], *start[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        start[j] = x[j];
        point[j] = work->point[j];
        drift[j] = work->drift[j];
        memset(work->sum[j], 0, count * sizeof *work->sum[j]);
    }
    memset(doubt, 0, count * sizeof *doubt);
    drift_at(problem, count, t, start, drift);
    stage_add(work, n, count, x, dt / 2, 1);
    drift_at(problem, count, t + dt / 2, point, drift);
    stage_add(work, n, count, x, dt / 2, 2);
    for (int j = 0; j < n; j++)
        memcpy(work->second[j], work->drift[j], count * sizeof *work->second[j]);
    drift_at(problem, count, t + dt / 2, point, drift);
    for (int j = 0; j < n; j++) {
        const double *restrict second = work->second[j], *restrict third = work->drift[j];
        const double by = dt / scale[j];

        for (size_t i = 0; i < count; i++) {
            const double off = fabs(third[i] - second[i]) * by;

            doubt[i] = off <= doubt[i] ? doubt[i] : off; /* so that what is not a number is kept */
        }
    }
    stage_add(work, n, count, x, dt, 2);
    drift_at(problem, count, t + dt, point, drift);
    for (int j = 0; j < n; j++) {
        for (size_t i = 0; i < count; i++)
            x[j][i] += dt / 6 * (work->sum[j][i] + work->drift[j][i]);
    }
}

/* Carries one point by steps that are halved until there is no doubt, or they are as short as they may be. */
static void carry_one(const gbees_problem *problem, gbees_flow *work, double t, double dt, double *x,
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

void gbees_flow_step(const gbees_montecarlo *montecarlo, gbees_flow *work, size_t count, double t, double dt,
                     double *const *x)
{
    const gbees_problem *problem = montecarlo->problem;
    const double *scale = montecarlo->scale, most = montecarlo->doubt_most;
    const int n = problem->dimension;
    double doubt[BLOCK], start[GBEES_MAX_DIM][BLOCK];

    for (int j = 0; j < n; j++)
        memcpy(start[j], x[j], count * sizeof *start[j]);
    runge_kutta(problem, work, count, t, dt, x, scale, doubt);
    for (size_t i = 0; i < count; i++) {
        double point[GBEES_MAX_DIM];

        if (doubt[i] <= most)
            continue;
        for (int j = 0; j < n; j++)
            point[j] = start[j][i];
        carry_one(problem, work, t, dt, point, scale, most);
        for (int j = 0; j < n; j++)
            x[j][i] = point[j];
    }
}

void gbees_flow_run(const gbees_montecarlo *montecarlo, size_t count, double dt, size_t steps, double *const *x,
                    double *doubt)
{
    gbees_flow work;
    double now[BLOCK];

    memset(doubt, 0, count * sizeof *doubt);
    for (size_t step = 0; step < steps; step++) {
        runge_kutta(montecarlo->problem, &work, count, montecarlo->time + (double)step * dt, dt, x, montecarlo->scale,
                    now);
        for (size_t i = 0; i < count; i++)
            doubt[i] = now[i] <= doubt[i] ? doubt[i] : now[i];
    }
}
