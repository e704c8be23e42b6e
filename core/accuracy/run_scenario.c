/* run_scenario.c - the keys of the next run's scenario: its cells, its box, its losses, its steps and its scheme. See
 * gbees/refinement.h. */
#include "base/text.h"
#include "plan.h"
#include <math.h>

enum { N = GBEES_MAX_DIM };

static void add_list(gbees_text *text, const double *numbers, int n)
{
    for (int j = 0; j < n; j++)
        gbees_text_add(text, "%s%.15g", j ? ", " : "[", numbers[j]);
    gbees_text_add(text, "]");
}

/* Takes the text of a change. */
static int set(gbees_scenario *scenario, gbees_text *change, gbees_error *error)
{
    const int status = change->failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs")
                                      : gbees_scenario_set(scenario, change->data, error);

    gbees_text_free(change);
    return status;
}

static int set_number(gbees_scenario *scenario, const char *key, double value, gbees_error *error)
{
    gbees_text change = {0};

    gbees_text_add(&change, "%s=%.15g", key, value);
    return set(scenario, &change, error);
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
    gbees_text change = {0};
    int written = 0;

    gbees_text_add(&change, "regrid=[");
    for (int l = 1; l < r->now.leg_count; l++) {
        double factor[N];

        if (!levels_differ(&r->now, l, l - 1, n))
            continue;
        for (int j = 0; j < n; j++)
            factor[j] = ldexp(1, level_of(&r->now, l, j));
        gbees_text_add(&change, "%s{time: %.17g, factor: ", written++ ? ", " : "", r->now.legs[l].time);
        add_list(&change, factor, n);
        gbees_text_add(&change, "}");
    }
    gbees_text_add(&change, "]");
    return set(scenario, &change, error);
}

/* Sets the cells of a grid that moves. It turns its axes and replaces its cells by itself; so it has one factor, the
 * largest over axes and legs. */
static int set_moving(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    double factor = 0;

    for (int l = 0; l < r->now.leg_count; l++)
        for (int j = 0; j < r->problem->dimension; j++)
            factor = fmax(factor, r->now.legs[l].factor[j]);
    const int status = set_number(scenario, "factor", factor, error);
    return status ? status : set_number(scenario, "frame_cells", gbees_plan_frame_cells(r->problem, factor), error);
}

/* Sets the cells of a grid at rest. With circles or walls it stays as it is: it has the largest factors of all legs.
 * So it is with noise, which makes the densities of all legs about as smooth: what tells one leg from another are
 * mostly the samples' own errors. */
static int set_cells(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    const int stays = gbees_problem_is_closed(r->problem) || r->problem->model->diffusion;
    gbees_text change = {0};
    double factor[N];

    for (int j = 0; j < r->problem->dimension; j++) {
        factor[j] = r->now.legs[0].factor[j];
        for (int l = 1; l < r->now.leg_count && stays; l++)
            factor[j] = fmax(factor[j], r->now.legs[l].factor[j]);
    }
    gbees_text_add(&change, "factor=");
    add_list(&change, factor, r->problem->dimension);
    const int status = set(scenario, &change, error);
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
    int status = choose_scheme(r->problem, scenario, error);

    if (!status)
        status = r->problem->moving ? set_moving(r, scenario, error) : set_cells(r, scenario, error);
    if (!status)
        status = set_number(scenario, "extent", gbees_plan_extent(r), error);
    if (!status)
        status = r->kept < 1 ? set_number(scenario, "threshold", r->threshold, error)
                             : set_number(scenario, "mass_budget_total", r->budget, error);
    if (!status && r->courant < r->problem->numerics.courant)
        status = set_number(scenario, "courant", r->courant, error);
    return status;
}
