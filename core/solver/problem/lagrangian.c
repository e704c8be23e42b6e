/* lagrangian.c - the scenario's keys of `frame: lagrangian`: points that go with the flow. */
#include "base/rim.h"
#include "base/rough_times.h"
#include "builder.h"
#include "lagrangian/engine.h"
#include "record/equations.h"
#include "scenario/scenario.h"
#include <math.h>
#include <string.h>

/* Defaults: points a deviation, at most and at least; the most of them along bent directions; errors of a step. */
static const double default_points = 1, least_points = 0.7, default_most = 40, default_tolerance = 1e-9;
/* The part of an accuracy that the error of a step may be: certificates count a thousand of them. And the most. */
static const double step_share = 1e-4, most_tolerance = 1e-5;
/* What lies beyond the tail may take so much where no accuracy is asked for, by dimension: the number of points grows
 * with the power n / 2 of the tail. */
static const double rim[GBEES_MAX_DIM] = {1e-11, 1e-11, 1e-10, 1e-6, 1e-5, 1e-4, 5e-4, 1e-3};

static const double least_tail = 4;

/* ---- noise ---- */

int builder_has_noise(const builder *b, int around)
{
    const gbees_problem *problem = b->problem;
    const double start = builder_number(b, "start", b->start), end = builder_number(b, "end", start);
    double y[GBEES_MAX_DIM];

    if (!problem->functions->diffusion_d)
        return 0;
    memcpy(y, problem->mean, sizeof y);
    if (!around)
        return gbees_equations_noisy(problem, start, y);
    for (int k = 0; k < GBEES_ROUGH_LOOKS && problem->model->flags & GBEES_TIME_DEPENDENT; k++) /* a pulse of noise */
        if (gbees_equations_noisy(problem, start + k * (end - start) / GBEES_ROUGH_LOOKS, y))
            return 1;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < problem->dimension; j++)
            for (int side = -1; side <= 1; side++) {
                y[j] = problem->mean[j] + side * sqrt(problem->covariance[j * problem->dimension + j]);
                if (gbees_equations_noisy(problem, start + k * (end - start) / 2, y))
                    return 1;
                y[j] = problem->mean[j];
            }
    return 0;
}

/* ---- keys ---- */

/* Refuses keys of grids, which points that go with the flow don't have; but a record's cells have values. */
static int check_keys(const builder *b)
{
    static const char *const others[] = {
        "bound",           "regrid",    "scheme",      "mode",        "time_step",      "courant",          "rotate",
        "at_memory_limit", "precision", "cell_values", "mass_budget", "prune_interval", "mass_budget_total"};

    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (builder_find(b, others[k]) && !(b->problem->cells && strcmp(others[k], "cell_values") == 0))
            return gbees_node_error(
                builder_find(b, others[k]), b->error,
                "%s: 'frame: lagrangian' has no grid with '%s': remove it, or give 'frame: fixed'", others[k],
                others[k]);
    return GBEES_OK;
}

/* Refuses keys of a Lagrangian frame without one. */
static int check_others(const builder *b)
{
    static const char *const own[] = {"points", "tail", "tolerance"};

    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (builder_find(b, own[k]) && !builder_is_set(b, "frame", "auto") &&
            !(strcmp(own[k], "tail") == 0 && builder_number(b, "tail", 0) < 1))
            return gbees_node_error(
                builder_find(b, own[k]), b->error,
                "%s: it is of points that go with the flow: add 'frame: lagrangian', or remove it", own[k]);
    if (builder_is_set(b, "smooth", "yes"))
        return gbees_node_error(
            builder_find(b, "smooth"), b->error,
            "smooth: only points that go with the flow can be smoothed: add 'frame: lagrangian'%s",
            b->model->diffusion ? ", which takes a model without noise" : "");
    return GBEES_OK;
}

/* Points a deviation of the first lattice. In many dimensions, where their number grows fast with them, these are as
 * many as a Gaussian needs, whose sums are off by some exp(-2 pi^2 k^2), with a margin of 200: where the density is
 * bent lattices become denser (core/lagrangian/sharpen.c). */
static double first_points(int n, double accuracy)
{
    const double pi = acos(-1);

    return n > 3 && accuracy > 0 ? fmin(fmax(sqrt(log(200 / accuracy) / 2) / pi, least_points), default_points)
                                 : default_points;
}

int builder_set_lagrangian(builder *b)
{
    gbees_problem *problem = b->problem;
    const int asked = builder_is_set(b, "frame", "lagrangian"), n = problem->dimension;

    if (!asked && !builder_is_set(b, "frame", "auto"))
        return check_others(b);
    if (builder_has_noise(b, 1) || builder_has_walls(b))
        return !asked
                   ? check_others(b)
                   : gbees_node_error(builder_find(b, "frame"), b->error,
                                      "frame: %s has process noise, and only without it does probability stay with "
                                      "the trajectories: give 'frame: fixed' or 'frame: moving'",
                                      b->model->name);
    if (builder_jumps_have_errors(b))
        return !asked ? check_others(b)
                      : gbees_node_error(builder_find(b, "instants"), b->error,
                                         "instants: the error of a jump spreads each trajectory: leave 'covariance' "
                                         "out, or give 'frame: fixed' or 'frame: moving'");
    if (asked && check_keys(b))
        return (int)b->error->status;
    if (builder_number(b, "accuracy", 0) > 0 && builder_is_set(b, "accuracy_of", "density"))
        return gbees_node_error(
            builder_find(b, "accuracy_of"), b->error,
            "accuracy_of: points that go with the flow have no cells to compare: give 'moments' or "
            "'marginals'");
    problem->own_backend = &gbees_lagrangian_backend;
    builder_unroll(b);
    const double accuracy = builder_number(b, "accuracy", 0);
    problem->frame_least = builder_number(b, "points", first_points(n, accuracy));
    problem->frame_cells = builder_number(b, "frame_cells", fmax(default_most, problem->frame_least));
    problem->smooth = builder_is_set(b, "smooth", "yes");
    const double by_accuracy = accuracy > 0 ? fmin(most_tolerance, step_share * accuracy) : default_tolerance;
    problem->tolerance = builder_number(b, "tolerance", by_accuracy);
    const gbees_node *measurements = builder_find(b, "measurements");
    const int is_measured = measurements && measurements->count > 0;
    problem->tail = builder_number(
        b, "tail", accuracy > 0 ? gbees_rim_tail_for(n, accuracy, is_measured) : gbees_rim_tail(n, rim[n - 1]));
    if (problem->tail < 1) /* of the peak */
        problem->tail = -log(problem->tail);
    if (problem->tail < least_tail)
        return gbees_node_error(builder_find(b, "tail"), b->error,
                                "tail: expected a number from 4 to 200, or one below 0.018, a part of the peak");
    return problem->frame_cells >= problem->frame_least
               ? GBEES_OK
               : gbees_node_error(builder_find(b, "frame_cells"), b->error,
                                  "frame_cells: expected at least the %g points a standard deviation of 'points', "
                                  "found %g",
                                  problem->frame_least, problem->frame_cells);
}
