/* run_scenario.c - the keys of the next run's scenario: its cells, its box, its losses, its steps and its scheme. See
 * gbees/refinement.h. */
#include "plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

static void add_list(char *text, size_t size, const double *numbers, int n)
{
    for (int j = 0; j < n; j++) {
        const size_t used = strlen(text);

        (void)snprintf(text + used, size - used, "%s%.15g", j ? ", " : "[", numbers[j]);
    }
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "]");
}

/* Powers of two between the cells of a leg and those of the first. */
static int level_of(const run_result *run, int leg, int axis)
{
    return (int)lround(log2(run->legs[leg].factor[axis] / run->legs[0].factor[axis]));
}

static int levels_differ(const run_result *run, int a, int b, int n)
{
    for (int j = 0; j < n; j++)
        if (level_of(run, a, j) != level_of(run, b, j))
            return 1;
    return 0;
}

static int set_regrids(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    const int n = r->problem->dimension;
    const size_t size = 64 + (size_t)r->now.leg_count * (64 + (size_t)n * 24);
    char *text = calloc(size, 1);
    int written = 0;

    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    (void)snprintf(text, size, "regrid=[");
    for (int l = 1; l < r->now.leg_count; l++) {
        double factor[N];
        size_t used = strlen(text);

        if (!levels_differ(&r->now, l, l - 1, n))
            continue;
        for (int j = 0; j < n; j++)
            factor[j] = ldexp(1, level_of(&r->now, l, j));
        (void)snprintf(text + used, size - used, "%s{time: %.17g, factor: ", written++ ? ", " : "",
                       r->now.legs[l].time);
        add_list(text, size, factor, n);
        used = strlen(text);
        (void)snprintf(text + used, size - used, "}");
    }
    (void)snprintf(text + strlen(text), size - strlen(text), "]");
    int status = gbees_scenario_set(scenario, text, error);
    free(text);
    return status;
}

/* Sets the cells of a grid that moves. It turns its axes and replaces its cells by itself; so it has one factor, the
 * largest over axes and legs. */
static int set_moving(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    char text[64];
    double factor = 0;

    for (int l = 0; l < r->now.leg_count; l++)
        for (int j = 0; j < r->problem->dimension; j++)
            factor = fmax(factor, r->now.legs[l].factor[j]);
    (void)snprintf(text, sizeof text, "factor=%.15g", factor);
    int status = gbees_scenario_set(scenario, text, error);
    (void)snprintf(text, sizeof text, "frame_cells=%.15g", gbees_plan_frame_cells(r->problem, factor));
    return status ? status : gbees_scenario_set(scenario, text, error);
}

/* Sets the cells of a grid at rest. With circles or walls it stays as it is: it has the largest factors of all legs.
 * So it is with noise, which makes the densities of all legs about as smooth: what tells one leg from another are
 * mostly the samples' own errors. */
static int set_cells(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    const int stays = gbees_problem_is_closed(r->problem) || r->problem->model->diffusion;
    char text[64 + N * 24];
    double factor[N];

    for (int j = 0; j < r->problem->dimension; j++) {
        factor[j] = r->now.legs[0].factor[j];
        for (int l = 1; l < r->now.leg_count && stays; l++)
            factor[j] = fmax(factor[j], r->now.legs[l].factor[j]);
    }
    (void)snprintf(text, sizeof text, "factor=");
    add_list(text, sizeof text, factor, r->problem->dimension);
    const int status = gbees_scenario_set(scenario, text, error);
    return status || stays ? status : set_regrids(r, scenario, error);
}

/* Sets the scheme that reaches an accuracy with the fewest cells, unless the scenario has one: without bounds where
 * the sweeps can take the noise, as they spread it to fifth order; else noise is of second order, whatever the
 * scheme; and what its cells have. */
static int choose_scheme(const gbees_problem *problem, gbees_scenario *scenario, gbees_error *error)
{
    const int in_sweeps = gbees_problem_engine_noise(problem) == GBEES_DIAGONAL;
    gbees_scenario *chosen = NULL;
    int status = gbees_scenario_create(!in_sweeps                         ? "scheme: split7-mp"
                                       : gbees_plan_takes_points(problem) ? "{scheme: split7, cell_values: points}"
                                                                          : "scheme: split7",
                                       "the plan", &chosen, error);

    if (!status)
        status = gbees_scenario_merge(scenario, chosen, error);
    gbees_scenario_destroy(chosen);
    return status;
}

int gbees_refinement_scenario(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    char text[64 + N * 24];
    int status = choose_scheme(r->problem, scenario, error);

    if (!status)
        status = r->problem->moving ? set_moving(r, scenario, error) : set_cells(r, scenario, error);
    (void)snprintf(text, sizeof text, "extent=%.15g", gbees_plan_extent(r));
    if (!status)
        status = gbees_scenario_set(scenario, text, error);
    if (r->kept < 1)
        (void)snprintf(text, sizeof text, "threshold=%.15g", r->threshold);
    else
        (void)snprintf(text, sizeof text, "mass_budget_total=%.15g", r->budget);
    if (!status)
        status = gbees_scenario_set(scenario, text, error);
    if (!status && r->courant < r->problem->numerics.courant) {
        (void)snprintf(text, sizeof text, "courant=%.15g", r->courant);
        status = gbees_scenario_set(scenario, text, error);
    }
    return status;
}
