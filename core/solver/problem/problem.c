/* problem.c - makes a problem of a model and a scenario. The schema has checked each value by itself; this file
 * checks what depends on the model, the dimension and on other keys. */
#include "base/cholesky.h"
#include "base/text.h"
#include "base/time_tolerance.h"
#include "builder.h"
#include "driven.h"
#include "scenario/scenario.h"
#include "scenario/schema.h"
#include <float.h>
#include <gbees/gbees.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double max_initial_cells = 1e10, usual_accuracy = 0.05;

static int require(const builder *b, const char *key, const gbees_node **node)
{
    *node = builder_find(b, key);
    if (*node)
        return GBEES_OK;
    return gbees_error_set(b->error, GBEES_EINPUT,
                           "'%s' is missing: give it in the scenario or by --set %s=..., %s has no default for it",
                           key, key, b->model->name);
}

/* ---- model, dimension, parameters ------------------------------------------------------------------------- */

static int set_dimension(builder *b)
{
    const gbees_model *model = b->model;
    const gbees_node *name = builder_find(b, "model"), *node = builder_find(b, "dimension");
    int n = node ? (int)gbees_node_number(node) : model->dim_default;

    if (name && strcmp(name->text, model->name) != 0)
        return gbees_node_error(name, b->error, "model: the scenario is for '%s', the plugin is '%s'", name->text,
                                model->name);
    if (node && model->dim_min == model->dim_max && n != model->dim_min)
        return gbees_node_error(node, b->error, "dimension: %s has %d dimension%s, found %d", model->name,
                                model->dim_min, model->dim_min == 1 ? "" : "s", n);
    if (node && (n < model->dim_min || n > model->dim_max))
        return gbees_node_error(node, b->error, "dimension: %s has %d to %d dimensions, found %d", model->name,
                                model->dim_min, model->dim_max, n);
    for (int i = 0; i < model->function_count; i++) {
        if (model->functions[i].n == n)
            b->problem->functions = &model->functions[i];
    }
    if (n < 1 || n > GBEES_MAX_DIM || !b->problem->functions)
        return gbees_error_set(b->error, GBEES_EMODEL, "%s: the plugin has no functions for dimension %d",
                               model->name, n);
    b->problem->dimension = n;
    (void)snprintf(b->size, sizeof b->size, "dimension %d", n);
    return GBEES_OK;
}

static int unknown_parameter(const builder *b, const gbees_node *node, const char *name)
{
    const char *nearest = NULL;

    for (int i = 0; i < b->model->parameter_count; i++)
        nearest = builder_nearer(name, b->model->parameters[i].name, nearest);
    return gbees_node_error(node, b->error, "parameters: %s has no parameter '%s'%s%s%s", b->model->name, name,
                            nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int set_parameter(const builder *b, const gbees_node *node, const char *name)
{
    int index = 0;

    while (index < b->model->parameter_count && strcmp(b->model->parameters[index].name, name) != 0)
        index++;
    if (index == b->model->parameter_count)
        return unknown_parameter(b, node, name);
    const gbees_parameter *parameter = &b->model->parameters[index];
    double value = gbees_node_number(node);
    int bounded = parameter->min != 0 || parameter->max != 0;
    if (bounded && (value < parameter->min || value > parameter->max))
        return gbees_node_error(node, b->error, "parameters.%s: expected a number from %g to %g, found '%s'", name,
                                parameter->min, parameter->max, node->text);
    b->problem->parameters[index] = value;
    return GBEES_OK;
}

static int set_parameters(builder *b)
{
    const gbees_model *model = b->model;
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(b->scenario, &count);
    int status = GBEES_OK;

    if (model->parameter_count < 0 || model->parameter_count > GBEES_MAX_PARAMETERS)
        return gbees_error_set(b->error, GBEES_EMODEL, "%s: the plugin has %d parameters, at most %d are possible",
                               model->name, model->parameter_count, GBEES_MAX_PARAMETERS);
    for (int i = 0; i < model->parameter_count; i++)
        b->problem->parameters[i] = model->parameters[i].value;
    for (size_t i = 0; !status && i < count; i++) {
        const char *name = gbees_scenario_part(entries[i].key, "parameters");

        if (name)
            status = set_parameter(b, entries[i].value, name);
    }
    return status;
}

/* ---- the initial Gaussian and its grid -------------------------------------------------------------------- */

static int set_gaussian(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *mean, *covariance;

    if (builder_find(b, "initial"))
        return builder_set_initial(b);
    int status = require(b, "mean", &mean);
    if (!status)
        status = gbees_node_numbers(mean, "mean", problem->dimension, b->size, problem->mean, b->error);
    if (!status)
        status = require(b, "covariance", &covariance);
    if (!status)
        status =
            builder_covariance(covariance, "covariance", problem->dimension, b->size, problem->covariance, b->error);
    return status;
}

/* Sets whether p* may be raised. Paper and legacy mode keep it, and a grid that moves has one for each of its frames.
 */
static int set_memory_limit(builder *b)
{
    const int has_mode = b->problem->numerics.mode != GBEES_MODE_DEFAULT;

    b->problem->raise_threshold = builder_is_set(b, "at_memory_limit", "raise_threshold");
    if (!b->problem->raise_threshold || (!has_mode && !b->problem->moving))
        return GBEES_OK;
    return gbees_node_error(builder_find(b, "at_memory_limit"), b->error,
                            "at_memory_limit: with '%s' the threshold can't be raised: give 'stop'",
                            has_mode ? "mode: paper' or 'mode: legacy" : "frame: moving");
}

/* The accuracy that is asked for, or 0: the usual one where no key says how fine the run is. */
static double accuracy_of(const builder *b)
{
    return builder_number(b, "accuracy", gbees_scenario_defines_grid(b->scenario) ? 0 : usual_accuracy);
}

/* The p* of a grid whose density is to be right down to a part of the peak of its initial Gaussian: a hundredth of
 * what a cell has there, as what is lost at the grid's edge is missing inside of it, too, and the peak becomes lower.
 */
static double threshold_for(const gbees_problem *problem, double part)
{
    const double two_pi = 6.283185307179586, margin = 0.01;
    const int n = problem->dimension;
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM], peak = 1;

    if (gbees_cholesky_factor(n, problem->covariance, factor))
        return margin * part;
    for (int j = 0; j < n; j++)
        peak *= problem->width[j] / (sqrt(two_pi) * factor[j * n + j]);
    return margin * part * fmin(peak, 1);
}

/* Sets p*, or the mass budget that controls it; the times are known. */
static int set_threshold(builder *b)
{
    gbees_problem *problem = b->problem;
    const double tail = builder_number(b, "tail", 0);
    const gbees_node *budget = builder_find(b, "mass_budget"), *total = builder_find(b, "mass_budget_total"),
                     *threshold;

    if (gbees_problem_is_exact(problem)) { /* of the cells of records */
        problem->threshold = builder_number(b, "threshold", 0);
        return GBEES_OK;
    }
    if (tail > 0 && problem->numerics.mode == GBEES_MODE_DEFAULT) {
        problem->threshold = threshold_for(problem, tail);
        return GBEES_OK;
    }
    if (budget)
        problem->mass_budget = gbees_node_number(budget);
    if (total)
        problem->mass_budget = gbees_node_number(total) / gbees_budget_time(problem->start, problem->end);
    if ((budget || total) && problem->numerics.mode == GBEES_MODE_DEFAULT)
        return GBEES_OK;
    if (budget || total)
        return gbees_node_error(budget ? budget : total, b->error,
                                "%s: paper and legacy mode have a fixed threshold: give 'threshold'",
                                budget ? "mass_budget" : "mass_budget_total");
    /* That of the first run of an accuracy (core/accuracy). */
    if (!builder_find(b, "threshold") && problem->numerics.mode == GBEES_MODE_DEFAULT) {
        const double accuracy = accuracy_of(b);

        problem->mass_budget =
            0.1 * (accuracy > 0 ? accuracy : usual_accuracy) / gbees_budget_time(problem->start, problem->end);
        return GBEES_OK;
    }
    int status = require(b, "threshold", &threshold);
    if (!status)
        problem->threshold = gbees_node_number(threshold);
    return status;
}

/* Sets the accuracy that the run's certificates are to be within, and of what. */
static int set_accuracy(builder *b)
{
    b->problem->accuracy = accuracy_of(b);
    b->problem->accuracy_of =
        (gbees_accuracy_of)gbees_schema_choice(NULL, "accuracy_of", builder_find(b, "accuracy_of"));
    return GBEES_OK;
}

/* One number for each axis; `initial` if the scenario has none. */
static int axis_numbers(const builder *b, const char *key, double initial, double *out)
{
    const gbees_node *node = builder_find(b, key);

    if (node)
        return gbees_node_numbers(node, key, b->problem->dimension, b->size, out, b->error);
    for (int j = 0; j < b->problem->dimension; j++)
        out[j] = initial;
    return GBEES_OK;
}

static int too_many_cells(const builder *b, double cells)
{
    const char *remedy = builder_find(b, "width") ? "larger 'width'" : "smaller 'factor'";
    const char *key = builder_find(b, "width") ? "width" : builder_find(b, "factor") ? "factor" : "extent";
    const gbees_node *node = builder_find(b, key)         ? builder_find(b, key)
                             : builder_find(b, "initial") ? builder_find(b, "initial")
                                                          : builder_find(b, "covariance");

    return gbees_node_error(node, b->error,
                            "%s: the initial box has %.3g cells, more than %g: give a %s or a smaller 'extent'", key,
                            cells, max_initial_cells, remedy);
}

/* The error names the key that makes the box so small: the extent, or the width of the cells. */
static int too_few_cells(const builder *b, int axis)
{
    const char *other = builder_find(b, "width") ? "width" : "factor";
    const char *key = builder_find(b, "extent") || !builder_find(b, other) ? "extent" : other;

    return gbees_node_error(builder_find(b, key), b->error,
                            "%s: the initial box has a single cell along axis %d: give a larger 'extent' or a %s",
                            key, axis + 1, builder_find(b, "width") ? "smaller 'width'" : "larger 'factor'");
}

static int check_rounding(const builder *b)
{
    const gbees_problem *problem = b->problem;
    const char *key = builder_find(b, "width") ? "width" : "covariance";

    for (int j = 0; j < problem->dimension; j++)
        if (problem->width[j] < 4 * DBL_EPSILON * fabs(problem->mean[j]))
            return gbees_node_error(builder_find(b, key), b->error,
                                    "%s: cells of %g along axis %d are below the rounding of the mean, %g: measure "
                                    "that state from nearer by, or give a larger covariance",
                                    key, problem->width[j], j + 1, problem->mean[j]);
    return GBEES_OK;
}

/* The half-size of the initial box, in standard deviations, where the scenario has none: of a grid whose density is
 * to be right down to a part of its peak, as far as a Gaussian has that. */
static double usual_extent(const builder *b)
{
    const double part = gbees_problem_is_exact(b->problem) ? 1 : fmin(builder_number(b, "tail", 1), 1);

    return fmax(3, sqrt(-2 * log(part)));
}

static int set_grid(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *width = builder_find(b, "width");
    double factor[GBEES_MAX_DIM], extent[GBEES_MAX_DIM], cells = 1;

    if (problem->cells)
        return builder_close_record(b); /* the record's cells have the grid */
    int n = problem->dimension, status = axis_numbers(b, "extent", usual_extent(b), extent);
    if (!status)
        status = width ? axis_numbers(b, "width", 0, problem->width) : axis_numbers(b, "factor", 1, factor);
    if (status)
        return status;
    for (int j = 0; j < n; j++) {
        double sigma = sqrt(problem->covariance[j * n + j]);
        /* From the factor the size is exact: sigma / (sigma / (2 factor)) need not be. */
        double half = round(width ? extent[j] * sigma / problem->width[j] : 2 * extent[j] * factor[j]);

        if (!width)
            problem->width[j] = sigma / (2 * factor[j]);
        if (!isnormal(problem->width[j]))
            return gbees_node_error(
                builder_find(b, problem->gaussian_count ? "initial" : "covariance"), b->error,
                "covariance: the cell width along axis %d is %g: change the covariance or the factor", j + 1,
                problem->width[j]);
        if (!(half >= 1))
            return too_few_cells(b, j);
        cells *= 2 * half + 1;
        problem->extent[j] = half < INT_MAX / 4 ? (int)half : INT_MAX / 4;
    }
    status = builder_close_axes(b, extent);
    if (status)
        return status;
    if (problem->gaussian_count > 0)
        cells = builder_set_boxes(b, extent);
    return cells <= max_initial_cells ? check_rounding(b) : too_many_cells(b, cells);
}

/* ---- time ------------------------------------------------------------------------------------------------- */

static int wrong_end(const builder *b)
{
    const gbees_node *end = builder_find(b, "end");

    return gbees_node_error(end, b->error, "end: expected a time after the start (%g), found '%s'", b->problem->start,
                            end->text);
}

/* A run may end where it starts if it has measurements there. */
static int set_measurements(builder *b)
{
    const int status = builder_set_measurements(b);

    return status || b->problem->end > b->problem->start || b->problem->measurement_count > 0 ? status : wrong_end(b);
}

static int set_times(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *end;
    const int status = require(b, "end", &end);

    if (status)
        return status;
    problem->start = builder_number(b, "start", b->start);
    problem->end = gbees_node_number(end);
    problem->records = (int)builder_number(b, "records", 1);
    if (!(problem->end >= problem->start) || !isfinite(problem->end - problem->start))
        return wrong_end(b);
    if (problem->cells) /* the scenario may have given them another time than their record's */
        ((gbees_initial_cells *)problem->cells)->time = problem->start;
    return GBEES_OK;
}

/* Makes the problem. *unroll: 1 has the model's own circles be lines; it is set to 1 by an error that there would not
 * be if they were. */
static int make(const gbees_model *model, const gbees_scenario *scenario, int *unroll, gbees_problem **problem,
                gbees_error *error)
{
    static int (*const steps[])(builder *) = {
        set_dimension,       set_parameters,         builder_set_tables,     builder_set_states, builder_check_frame,
        set_gaussian,        builder_set_lagrangian, builder_set_frame,      set_grid,           builder_set_moving,
        set_times,           builder_check_tables,   builder_set_bound,      set_measurements,   builder_set_numerics,
        set_memory_limit,    builder_set_instants,   builder_check_instants, set_threshold,      set_accuracy,
        builder_set_regrids, builder_set_targets,    builder_check_states};
    builder b = {.model = model,
                 .scenario = scenario,
                 .error = error,
                 .unrolled = *unroll,
                 .problem = calloc(1, sizeof *b.problem)};
    int status = b.problem ? GBEES_OK : builder_no_memory(&b);

    if (!status)
        b.problem->model = model;
    for (size_t i = 0; !status && i < sizeof steps / sizeof *steps; i++)
        status = steps[i](&b);
    *unroll = b.unroll;
    if (status)
        gbees_problem_destroy(b.problem);
    else
        *problem = b.problem;
    return status;
}

int gbees_problem_create(const gbees_model *model, const gbees_scenario *scenario, gbees_problem **problem,
                         gbees_error *error)
{
    int unroll = 0;
    const int status = make(model, scenario, &unroll, problem, error);

    return status && unroll ? make(model, scenario, &unroll, problem, error) : status;
}

void gbees_problem_destroy(gbees_problem *problem)
{
    if (!problem)
        return;
    gbees_driven_destroy(problem);
    free((void *)problem->measurements);
    free((void *)problem->instants);
    free((void *)problem->gaussians);
    free((void *)problem->regrids);
    for (int j = 0; problem->cells && j < GBEES_MAX_DIM; j++)
        free(problem->cells->index[j]);
    if (problem->cells)
        free(problem->cells->p);
    free((void *)problem->cells);
    free(problem);
}
