/* instants.c - the scenario's key `instants`: jumps of the state at given times, checked against the model. */
#include "record/instants.h"
#include "base/array.h"
#include "builder.h"
#include "frame/matrix.h"
#include "scenario/scenario.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 };

static const char shift[] = "shift", linear[] = "linear";
/* A determinant below this part of the product of its rows' lengths is rounding. */
static const double singular = 1e-13;
/* A time of `every` that differs from that of a measurement by this part of `every` is that. */
static const double same_time = 1e-9;

/* ---- the jump ---- */

static int unknown_jump(const builder *b, const gbees_node *node, const char *label)
{
    const gbees_model *model = b->model;
    const char *nearest = builder_nearer(node->text, shift, NULL);
    char others[256] = "";
    size_t length = 0;

    nearest = builder_nearer(node->text, linear, nearest);
    for (int i = 0; i < model->jump_count; i++) {
        nearest = builder_nearer(node->text, model->jumps[i].name, nearest);
        length += (size_t)snprintf(others + length, sizeof others - length, ", '%s'", model->jumps[i].name);
        length = length < sizeof others ? length : sizeof others - 1;
    }
    if (nearest)
        return gbees_node_error(node, b->error, "%s: jump: %s has no jump '%s': did you mean '%s'?", label,
                                model->name, node->text, nearest);
    return gbees_node_error(node, b->error, "%s: jump: %s has no jump '%s': it has '%s', '%s'%s", label, model->name,
                            node->text, shift, linear, others);
}

/* Sets the function, and the matrix of a shift to 1. */
static int set_function(const builder *b, const gbees_node *map, const char *label, gbees_instant *instant)
{
    const gbees_node *name = gbees_node_find(map, "jump"), *matrix = gbees_node_find(map, "matrix");
    const int n = b->problem->dimension, is_linear = name && strcmp(name->text, linear) == 0;

    instant->function = GBEES_JUMP_AFFINE;
    instant->size = n;
    for (int j = 0; j < n; j++)
        instant->matrix[j * n + j] = 1;
    for (int i = 0; name && i < b->model->jump_count; i++)
        if (strcmp(b->model->jumps[i].name, name->text) == 0) {
            instant->function = i;
            instant->size = b->model->jumps[i].size;
        }
    if (name && !is_linear && strcmp(name->text, shift) != 0 && instant->function == GBEES_JUMP_AFFINE)
        return unknown_jump(b, name, label);
    if (is_linear && !matrix)
        return gbees_node_error(map, b->error, "%s: 'matrix' is missing: 'jump: linear' is x <- matrix x + value",
                                label);
    if (!is_linear && matrix)
        return gbees_node_error(matrix, b->error, "%s: matrix: only 'jump: linear' has one: leave it out", label);
    return GBEES_OK;
}

/* Fails if a matrix is singular: all of the density would come to lie in a plane. */
static int check_matrix(const builder *b, const gbees_node *node, const char *label, const double *matrix)
{
    const int n = b->problem->dimension;
    double rows = 1;

    for (int j = 0; j < n; j++) {
        double square = 0;

        for (int k = 0; k < n; k++)
            square += matrix[j * n + k] * matrix[j * n + k];
        rows *= sqrt(square);
    }
    if (fabs(gbees_matrix_determinant(n, matrix)) > singular * rows)
        return GBEES_OK;
    return gbees_node_error(node, b->error,
                            "%s: singular, and the density would have no width in some direction: give a matrix "
                            "whose determinant is not 0",
                            label);
}

static int set_value(const builder *b, const gbees_node *map, const char *label, gbees_instant *instant)
{
    const gbees_node *value = gbees_node_find(map, "value"), *matrix = gbees_node_find(map, "matrix");
    const int is_function = instant->function != GBEES_JUMP_AFFINE;
    char part[80], what[128];
    int status = GBEES_OK;

    if (!value && instant->size > 0 && !matrix)
        return gbees_node_error(map, b->error, "%s: 'value' is missing", label);
    if (value && instant->size == 0)
        return gbees_node_error(value, b->error, "%s: value: the jump '%s' of %s takes none: leave it out", label,
                                b->model->jumps[instant->function].name, b->model->name);
    (void)snprintf(what, sizeof what, "jump %s", is_function ? b->model->jumps[instant->function].name : "");
    (void)snprintf(part, sizeof part, "%s: value", label);
    if (value)
        status =
            gbees_node_numbers(value, part, instant->size, is_function ? what : b->size, instant->value, b->error);
    (void)snprintf(part, sizeof part, "%s: matrix", label);
    if (!status && matrix)
        status = gbees_node_matrix(matrix, part, b->problem->dimension, b->size, instant->matrix, b->error);
    return status || !matrix ? status : check_matrix(b, matrix, part, instant->matrix);
}

static int set_error(const builder *b, const gbees_node *map, const char *label, gbees_instant *instant)
{
    const gbees_node *node = gbees_node_find(map, "covariance");
    const int n = b->problem->dimension;
    char part[80];

    if (!node)
        return GBEES_OK;
    (void)snprintf(part, sizeof part, "%s: covariance", label);
    const int status = builder_semidefinite(node, part, n, b->size, instant->covariance, b->error);
    for (int k = 0; k < n * n; k++)
        instant->has_error |= instant->covariance[k] != 0;
    return status;
}

/* ---- its times ---- */

/* An instant, and where it stands in the scenario. */
typedef struct ordered {
    gbees_instant instant;
    size_t number; /* from 1, by the entry and its repetitions */
} ordered;

/* Instants that are being listed. */
typedef struct listing {
    ordered *all;
    size_t count, capacity;
} listing;

static int by_time(const void *a, const void *b)
{
    const ordered *left = a, *right = b;

    if (left->instant.time != right->instant.time)
        return left->instant.time < right->instant.time ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Adds an instant at a time, unless the initial record has made its jump. */
static int add(const builder *b, gbees_instant *instant, double time, listing *to)
{
    if (b->resumed && (time < b->problem->start || (b->updated && time <= b->start)))
        return GBEES_OK;
    if (gbees_array_grow(&to->all, to->count, &to->capacity, sizeof *to->all))
        return builder_no_memory(b);
    instant->time = time;
    to->all[to->count] = (ordered){*instant, to->count + 1};
    to->count++;
    return GBEES_OK;
}

/* The time of a measurement that differs from this one by rounding, or this one. */
static double time_of_measurement(const gbees_problem *problem, double time, double every)
{
    for (int k = 0; k < problem->measurement_count; k++)
        if (fabs(problem->measurements[k].time - time) <= same_time * every)
            return problem->measurements[k].time;
    return time;
}

/* Adds an instant at each whole number of `every` after the start. */
static int repeat(const builder *b, const gbees_node *every, const char *label, gbees_instant *instant, listing *to)
{
    const double length = b->problem->end - b->problem->start, step = gbees_node_number(every);
    int status = GBEES_OK;

    if (!(length / step <= MOST))
        return gbees_node_error(every, b->error, "%s: every: expected at most %d instants up to the end, found %.3g",
                                label, (int)MOST, length / step);
    for (int k = 1; !status && k * step <= length * (1 + same_time); k++) {
        const double time = fmin(b->problem->start + k * step, b->problem->end);

        status = add(b, instant, time_of_measurement(b->problem, time, step), to);
    }
    return status;
}

static int set_times(const builder *b, const gbees_node *map, const char *label, gbees_instant *instant, listing *to)
{
    const gbees_node *time = gbees_node_find(map, "time"), *every = gbees_node_find(map, "every");
    const double at = time ? gbees_node_number(time) : 0;

    if ((time != NULL) == (every != NULL))
        return gbees_node_error(time ? every : map, b->error, "%s: expected 'time' or 'every', found %s", label,
                                time ? "both" : "neither");
    if (every)
        return repeat(b, every, label, instant, to);
    if (builder_find(b, "end")->line == 0 && gbees_scenario_leaves_out(b->scenario, time)) /* --until */
        return GBEES_OK;
    if (!(at <= b->problem->end && (b->resumed || at >= b->problem->start)))
        return gbees_node_error(time, b->error,
                                "%s: time: expected a time from the start (%g) to the end (%g), found '%s'", label,
                                b->problem->start, b->problem->end, time->text);
    return add(b, instant, at, to);
}

static int set_instant(const builder *b, const gbees_node *map, size_t number, listing *to)
{
    gbees_instant instant = {0};
    char label[48];

    (void)snprintf(label, sizeof label, "instant %zu", number);
    int status = set_function(b, map, label, &instant);
    if (!status)
        status = set_value(b, map, label, &instant);
    if (!status)
        status = set_error(b, map, label, &instant);
    return status ? status : set_times(b, map, label, &instant, to);
}

/* ---- what a run must be ---- */

/* Whether a jump is other than a shift without error, which moves the grid and changes no cell. */
static int changes_cells(const gbees_problem *problem)
{
    for (int k = 0; k < problem->instant_count; k++)
        if (problem->instants[k].has_error || !gbees_instant_is_shift(problem, &problem->instants[k]))
            return 1;
    return 0;
}

int builder_check_instants(builder *b)
{
    const gbees_problem *problem = b->problem;
    const gbees_node *node = builder_find(b, "instants");

    if (problem->instant_count == 0)
        return GBEES_OK;
    if (problem->numerics.mode != GBEES_MODE_DEFAULT)
        return gbees_node_error(node, b->error, "instants: paper and legacy mode have no jumps: leave them out");
    if (problem->numerics.cell_values != GBEES_CELL_AVERAGES && changes_cells(problem) &&
        !gbees_problem_is_exact(problem))
        return gbees_node_error(node, b->error,
                                "instants: a jump other than a shift without error takes averages over cells: give "
                                "'cell_values: averages' and a split scheme, or leave both out");
    for (int k = 0; k < problem->instant_count; k++)
        if (problem->instants[k].function != GBEES_JUMP_AFFINE && problem->moving)
            return gbees_node_error(node, b->error,
                                    "instants: a grid that moves makes linear jumps alone, and '%s' is a function of "
                                    "%s: give 'frame: fixed'",
                                    gbees_instant_name(problem, &problem->instants[k]), problem->model->name);
    return GBEES_OK;
}

int builder_jumps_have_errors(const builder *b)
{
    const gbees_node *found = builder_find(b, "instants");

    for (size_t i = 0; found && found->kind == GBEES_NODE_LIST && i < found->count; i++)
        if (gbees_node_find(found->items[i], "covariance"))
            return 1;
    return found && found->kind == GBEES_NODE_MAP && gbees_node_find(found, "covariance");
}

int builder_set_instants(builder *b)
{
    const gbees_node *found = builder_find(b, "instants");
    const int is_list = found && found->kind == GBEES_NODE_LIST;
    listing made = {0};
    int status = GBEES_OK;

    for (size_t i = 0; is_list && i < found->count && !status; i++)
        status = set_instant(b, found->items[i], i + 1, &made);
    if (found && !is_list)
        status = set_instant(b, found, 1, &made);
    if (!status && made.count > 0) {
        gbees_instant *instants = calloc(made.count, sizeof *instants);

        qsort(made.all, made.count, sizeof *made.all, by_time);
        for (size_t i = 0; instants && i < made.count; i++)
            instants[i] = made.all[i].instant;
        b->problem->instants = instants;
        b->problem->instant_count = instants ? (int)made.count : 0;
        status = instants ? GBEES_OK : builder_no_memory(b);
    }
    free(made.all);
    return status;
}
