/* models_fixture.h - the models of this tree: their functions, their scenarios as problems, points of the initial
 * box, and a path by classical Runge-Kutta steps. */
#ifndef GBEES_TEST_MODELS_FIXTURE_H
#define GBEES_TEST_MODELS_FIXTURE_H

#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 64 };

static gbees_registry *registry;

static void registry_open(void)
{
    gbees_error error;
    char path[4096];
    const char *top = getenv("GBEES_TOP_BUILD");

    (void)snprintf(path, sizeof path, "%s/plugins/.libs", top ? top : ".");
    ck_assert_msg(gbees_registry_create(path, &registry, &error) == GBEES_OK, "%s", error.text);
}

static void registry_close(void)
{
    gbees_registry_destroy(registry);
    registry = NULL;
}

static inline const gbees_model *model(const char *name)
{
    const gbees_model *found = NULL;
    gbees_error error;

    ck_assert_msg(gbees_registry_model(registry, name, &found, &error) == GBEES_OK, "%s", error.text);
    return found;
}

/* A scenario of the model's card, by its number, with one change (or NULL); what it does not say the first one says.
 */
static gbees_problem *problem_create(const gbees_model *of, int number, const char *change)
{
    gbees_scenario *scenario = NULL, *first = NULL;
    gbees_problem *problem = NULL;
    gbees_error error;

    ck_assert_int_lt(number, of->scenario_count);
    ck_assert_msg(!gbees_scenario_create(of->scenarios[0].text, of->name, &first, &error), "%s", error.text);
    ck_assert_msg(!gbees_scenario_create(of->scenarios[number].text, of->name, &scenario, &error), "%s", error.text);
    ck_assert_msg(!change || !gbees_scenario_set(scenario, change, &error), "%s", error.text);
    ck_assert_msg(!gbees_scenario_merge(scenario, first, &error), "%s", error.text);
    ck_assert_msg(!gbees_problem_create(of, scenario, &problem, &error), "%s, %s: %s", of->name,
                  of->scenarios[number].name, error.text);
    gbees_scenario_destroy(scenario);
    gbees_scenario_destroy(first);
    return problem;
}

/* The mean, then points all over the initial box. */
typedef struct box_points {
    double origin[8], offset[8][POINTS];
    float origin_f[8], offset_f[8][POINTS];
    const double *column[8];
    const float *column_f[8];
} box_points;

static void box_fill(box_points *points, const gbees_problem *problem)
{
    uint64_t state = 20240607;

    for (int k = 0; k < problem->dimension; k++) {
        const double half = (problem->extent[k] + 0.5) * problem->width[k];

        points->origin[k] = problem->mean[k];
        points->origin_f[k] = (float)points->origin[k];
        points->column[k] = points->offset[k];
        points->column_f[k] = points->offset_f[k];
        for (int i = 0; i < POINTS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            points->offset[k][i] = i ? half * ((double)(state >> 48) / 32768 - 1) : 0;
            points->offset_f[k][i] = (float)points->offset[k][i];
        }
    }
}

static inline void box_point(const box_points *points, size_t i, int n, double *x)
{
    for (int k = 0; k < n; k++)
        x[k] = points->origin[k] + points->offset[k][i];
}

static inline const gbees_functions *functions_of(const gbees_model *of, int n)
{
    ck_assert(of->dim_min <= n && n <= of->dim_max);
    return &of->functions[n - of->dim_min];
}

static inline void drift_at(const gbees_functions *functions, double t, const double *x, const double *p,
                            double *dxdt)
{
    const double origin[8] = {0}, *column[8];

    for (int k = 0; k < functions->n; k++)
        column[k] = &x[k];
    for (int j = 0; j < functions->n; j++)
        functions->component_d[j](1, t, origin, column, p, &dxdt[j]);
}

/* x from `start` for a time `length`. */
static inline void carry(const gbees_functions *functions, double start, double length, int steps, const double *p,
                         double *x)
{
    static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    const double dt = length / steps;

    for (int step = 0; step < steps; step++) {
        double point[8], dxdt[8] = {0}, sum[8] = {0};

        for (int stage = 0; stage < 4; stage++) {
            for (int j = 0; j < functions->n; j++)
                point[j] = x[j] + part[stage] * dt * dxdt[j];
            drift_at(functions, start + (step + part[stage]) * dt, point, p, dxdt);
            for (int j = 0; j < functions->n; j++)
                sum[j] += weight[stage] * dxdt[j];
        }
        for (int j = 0; j < functions->n; j++)
            x[j] += dt * sum[j];
    }
}

#endif
