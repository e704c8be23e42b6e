/* trajectories.c - how fast points go along a drift, on this process's threads and on a backend's processor, and how
 * far apart they end: trajectories [BACKEND [THREADS]]. Exit status 1 if it is more than the tolerance explains. */
#include "lagrangian/trajectories.h"
#include "base/seconds.h"
#include "fixtures/world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TOLERANCE 1e-9

/* As many points as a lattice has in these problems, spread as the initial density is. */
static const struct {
    const char *model;
    const char *settings[MOST_SETTINGS];
    size_t count;
    double length, most; /* time, and the distance that is explained, in initial deviations */
} cases[] = {
    {"lorenz63", {"frame=fixed"}, 42000, 2, 1e-4},
    {"lorenz96", {"frame=fixed"}, 912546, 1.3, 1e-5},
    {"cr3bp", {"frame=fixed"}, 243826, 0.7, 1e-4},
    {"duffing", {"frame=fixed"}, 100000, 2, 1e-6},
};

static const gbees_backend *lent;
static int calls_done;

static int run_and_count(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                         gbees_error *error)
{
    const int status = lent->integrator_run(integrator, integration, done, error);

    calls_done += *done;
    return status;
}

/* A number from the sum of twelve uniform ones: nearly normal. */
static double normal(uint64_t *state)
{
    double sum = -6;

    for (int k = 0; k < 12; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

static int make_room(int n, size_t count, double **x)
{
    int status = 0;

    for (int j = 0; j < n; j++) {
        x[j] = malloc(count * sizeof(double));
        status |= !x[j];
    }
    return status;
}

static void spread(const gbees_problem *problem, size_t count, double *const *x, double *scale)
{
    uint64_t state = 1;

    for (int j = 0; j < problem->dimension; j++) {
        scale[j] = sqrt(problem->covariance[j * problem->dimension + j]);
        for (size_t i = 0; i < count; i++)
            x[j][i] = problem->mean[j] + scale[j] * normal(&state);
    }
}

/* Takes the points of a case there; *seconds of the last call. With a backend it is repeated until that has taken
 * them twice, as it opens and compiles things before. */
static int take(const gbees_problem *problem, const gbees_backend *backend, int threads, int k, double *const *x,
                double *seconds, double *evaluations)
{
    gbees_trajectories *t = NULL;
    double scale[GBEES_MAX_DIM];
    gbees_error error = {0};
    int status = gbees_trajectories_create(problem, backend, threads, &t, &error);

    calls_done = 0;
    for (int tries = 0; !status && tries < (backend ? 60 : 1) && calls_done < 2; tries++) {
        spread(problem, cases[k].count, x, scale);
        const double before = gbees_trajectories_evaluations(t), start = gbees_seconds_now();
        const gbees_travel travel = {
            .from = problem->start, .to = problem->start + cases[k].length, .scale = scale, .tolerance = TOLERANCE};
        status = gbees_trajectories_run(t, cases[k].count, x, NULL, &travel, &error);
        *seconds = gbees_seconds_now() - start;
        *evaluations = gbees_trajectories_evaluations(t) - before;
        if (backend && !calls_done)
            (void)nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    gbees_trajectories_destroy(t);
    if (status)
        (void)fprintf(stderr, "%s: %s\n", cases[k].model, error.text);
    return status;
}

/* The largest distance, in initial deviations. */
static double apart(const gbees_problem *problem, size_t count, double *const *a, double *const *b)
{
    double most = 0;

    for (int j = 0; j < problem->dimension; j++)
        for (size_t i = 0; i < count; i++) {
            const double off = fabs(a[j][i] - b[j][i]) / sqrt(problem->covariance[j * problem->dimension + j]);

            if (isnan(a[j][i]) != isnan(b[j][i]))
                return INFINITY;
            most = off > most ? off : most;
        }
    return most;
}

static int measure(const char *backend, int threads, int k)
{
    const scenario_source from = {.settings = cases[k].settings};
    double *here[GBEES_MAX_DIM] = {0}, *there[GBEES_MAX_DIM] = {0}, seconds, evaluations;
    world w;
    int status = world_open(&w, NULL, cases[k].model, backend);

    if (!status)
        status = world_make(&w, &from);
    if (status) {
        (void)fprintf(stderr, "%s: %s\n", cases[k].model, w.error.text);
        return 1;
    }
    status = make_room(w.problem->dimension, cases[k].count, here) ||
             make_room(w.problem->dimension, cases[k].count, there) ||
             take(w.problem, NULL, threads, k, here, &seconds, &evaluations);
    if (!status)
        (void)printf("%s: %zu points, %.4g evaluations each, %.3f s on threads, %.2f ns an evaluation",
                     cases[k].model, cases[k].count, evaluations / (double)cases[k].count, seconds,
                     1e9 * seconds / evaluations);
    if (!status && w.backend->integrator_create) {
        gbees_backend counting = *w.backend;

        lent = w.backend;
        counting.integrator_run = run_and_count;
        status = take(w.problem, &counting, threads, k, there, &seconds, &evaluations);
        const double off = status ? INFINITY : apart(w.problem, cases[k].count, here, there);
        (void)printf("; %s: %.4f s, %.3f ns, apart by %.2g deviations%s", backend, seconds,
                     1e9 * seconds / evaluations, off, calls_done ? "" : ", BUT NOT BY IT");
        status |= !(off <= cases[k].most) || !calls_done;
    }
    (void)printf("%s\n", status ? ": WRONG" : "");
    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        free(here[j]);
        free(there[j]);
    }
    world_close(&w);
    return status != 0;
}

int main(int argc, char **argv)
{
    int status = 0;

    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        status |= measure(argc > 1 ? argv[1] : "cpu", argc > 2 ? atoi(argv[2]) : 0, k);
        (void)fflush(stdout);
    }
    return status;
}
