/* measurements.c - checks the measurements of a scenario against the model, and sorts them by time. */
#include "base/text.h"
#include "builder.h"
#include "scenario/scenario.h"
#include "scenario/schema_fields.h"
#include <gbees/stream.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns "did you mean 'z'?", or a list of all functions; malloc()ed, NULL if memory runs out. */
static char *list_functions(const gbees_model *model, const char *name)
{
    gbees_text text = {0};
    const char *nearest = NULL;

    for (int i = 0; name && i < model->measurement_count; i++)
        nearest = builder_nearer(name, model->measurements[i].name, nearest);
    if (nearest)
        gbees_text_add(&text, "did you mean '%s'?", nearest);
    for (int i = 0; !nearest && i < model->measurement_count; i++)
        gbees_text_add(&text, "%s%s", i ? ", " : name ? "it has " : "", model->measurements[i].name);
    return gbees_text_take(&text);
}

static int unknown_function(const builder *b, const gbees_node *place, const char *label, const char *name)
{
    const gbees_model *model = b->model;

    if (model->measurement_count < 1)
        return gbees_node_error(place, b->error, "%s: %s has no measurement functions", label, model->name);
    char *list = list_functions(model, name);
    if (!list)
        return builder_no_memory(b);
    if (name)
        (void)gbees_node_error(place, b->error, "%s: function: %s has no function '%s': %s", label, model->name, name,
                               list);
    else
        (void)gbees_node_error(place, b->error, "%s: 'function' is missing, and %s has several: %s", label,
                               model->name, list);
    free(list);
    return GBEES_EINPUT;
}

static int set_function(const builder *b, const gbees_node *map, const char *label, gbees_measurement *measurement)
{
    const gbees_model *model = b->model;
    const gbees_node *node = gbees_node_find(map, "function");
    int found = !node && model->measurement_count == 1 ? 0 : -1;

    for (int i = 0; node && i < model->measurement_count; i++) {
        if (strcmp(model->measurements[i].name, node->text) == 0)
            found = i;
    }
    if (found < 0)
        return unknown_function(b, node ? node : map, label, node ? node->text : NULL);
    const gbees_measurement_function *function = &model->measurements[found];
    measurement->function = found;
    measurement->size = function->size;
    if (measurement->size < 1 || measurement->size > GBEES_MAX_DIM)
        return gbees_error_set(b->error, GBEES_EMODEL,
                               "%s: the plugin gives the function '%s' the size %d, 1 to %d are possible",
                               model->name, function->name, function->size, GBEES_MAX_DIM);
    for (int j = 0; function->period && j < function->size; j++)
        measurement->period[j] = function->period[j];
    return GBEES_OK;
}

/* Sets the likelihood; fails if the model lacks its own. */
static int set_likelihood(const builder *b, const gbees_node *map, const char *label, gbees_measurement *measurement)
{
    const gbees_model *model = b->model;
    const gbees_functions *functions = b->problem->functions;
    const gbees_node *kind = gbees_node_find(map, "likelihood"),
                     *degrees = gbees_node_find(map, "degrees_of_freedom");
    const char *function = model->measurements[measurement->function].name;

    measurement->likelihood =
        (gbees_likelihood)gbees_schema_choice(gbees_schema_measurement_fields, "likelihood", kind);
    if (degrees)
        measurement->degrees_of_freedom = gbees_node_number(degrees);
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL && !functions->log_likelihood_d)
        return gbees_node_error(kind, b->error,
                                "%s: likelihood: %s has none of its own (no log_likelihood()): give 'gaussian' or "
                                "'student-t', and a covariance",
                                label, model->name);
    if (measurement->likelihood != GBEES_LIKELIHOOD_MODEL && !functions->measure_d)
        return functions->log_likelihood_d
                   ? gbees_node_error(kind ? kind : map, b->error,
                                      "%s: %s has no measure(), only a likelihood of its own: give "
                                      "'likelihood: model'",
                                      label, model->name)
                   : gbees_error_set(b->error, GBEES_EMODEL,
                                     "%s: the plugin names the function '%s' but can't compute it (it needs "
                                     "GBEES_HAS_MEASURE and a size from 1 to %d)",
                                     model->name, function, GBEES_MAX_DIM);
    return GBEES_OK;
}

/* The part of Student's t that is further than x scales from its centre, x = 0.05 and more: over t = sinh(u), by the
 * midpoint rule. */
static double student_beyond(double degrees, double x)
{
    const double from = asinh(fmax(x, 0.05)), step = from / ceil(from / 0.02);
    double all = 0, beyond = 0, here = 1;

    for (double u = step / 2; u < 350 && here > 1e-9 * all; u += step) {
        here = exp(log(cosh(u)) - 0.5 * (degrees + 1) * log1p(sinh(u) * sinh(u) / degrees));
        all += here;
        beyond += u > from ? here : 0;
    }
    return beyond / all;
}

/* Fails if much of a Student's t lies beyond half a period, within which it is taken. */
static int check_periods(const builder *b, const gbees_node *map, const char *label,
                         const gbees_measurement *measurement)
{
    static const double most_beyond = 0.05;

    for (int j = 0; j < measurement->size && measurement->likelihood == GBEES_LIKELIHOOD_STUDENT; j++) {
        const double scale = sqrt(measurement->covariance[j * measurement->size + j]);
        const double beyond =
            measurement->period[j] > 0 && !(measurement->missing >> j & 1)
                ? student_beyond(measurement->degrees_of_freedom, measurement->period[j] / 2 / scale)
                : 0;

        if (beyond > most_beyond)
            return gbees_node_error(
                gbees_node_find(map, "likelihood"), b->error,
                "%s: likelihood: student-t takes a residual within half a period, and %.0f %% of it "
                "lie beyond that of component %d: give a smaller scale, more degrees_of_freedom, "
                "or 'gaussian', which is summed over all periods",
                label, 100 * beyond, j + 1);
    }
    return GBEES_OK;
}

static int set_value(const builder *b, const gbees_node *map, const char *label, gbees_measurement *measurement)
{
    const gbees_node *value = gbees_node_find(map, "value");
    const unsigned all = (1u << measurement->size) - 1;
    char part[64], what[128];

    (void)snprintf(what, sizeof what, "function %s", b->model->measurements[measurement->function].name);
    (void)snprintf(part, sizeof part, "%s: value", label);
    int status = gbees_node_numbers(value, part, measurement->size, what, measurement->value, b->error);
    if (status)
        return status;
    measurement->missing = gbees_node_missing(value, measurement->size);
    if (measurement->missing == all)
        return gbees_node_error(value, b->error, "%s: no component was measured: leave the measurement out", part);
    if (measurement->missing && measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return gbees_node_error(value, b->error, "%s: with 'likelihood: model' no component can be missing", part);
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return GBEES_OK;
    (void)snprintf(part, sizeof part, "%s: covariance", label);
    status = builder_covariance(gbees_node_find(map, "covariance"), part, measurement->size, what,
                                measurement->covariance, b->error);
    return status ? status : check_periods(b, map, label, measurement);
}

static int set_measurement(const builder *b, const gbees_node *map, size_t number, gbees_measurement *measurement)
{
    const gbees_node *time = gbees_node_find(map, "time");
    char label[48];

    (void)snprintf(label, sizeof label, "measurement %zu", number);
    measurement->time = gbees_node_number(time);
    if (!(measurement->time >= b->problem->start && measurement->time <= b->problem->end))
        return gbees_node_error(time, b->error,
                                "%s: time: expected a time from the start (%g) to the end (%g), found '%s'", label,
                                b->problem->start, b->problem->end, time->text);
    int status = set_function(b, map, label, measurement);
    if (!status)
        status = set_likelihood(b, map, label, measurement);
    return status ? status : set_value(b, map, label, measurement);
}

/* A measurement in the scenario's list, to be put in order of time. */
typedef struct ordered {
    double time;
    size_t number; /* from 1 */
    const gbees_node *map;
} ordered;

static int by_time(const void *a, const void *b)
{
    const ordered *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Whether an initial record has this measurement in it. */
static int is_in_record(const builder *b, double time)
{
    return b->resumed && (time < b->problem->start || (b->updated && time <= b->start));
}

static size_t order(const builder *b, const gbees_node *list, ordered *all)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const gbees_node *map = list->items[i];
        double time = gbees_node_number(gbees_node_find(map, "time"));

        if (!gbees_scenario_leaves_out(b->scenario, gbees_node_find(map, "time")) && !is_in_record(b, time))
            all[count++] = (ordered){time, i + 1, map};
    }
    qsort(all, count, sizeof *all, by_time);
    return count;
}

int gbees_measurement_read(const gbees_problem *problem, const char *text, gbees_measurement *measurement,
                           gbees_error *error)
{
    gbees_problem whenever = *problem; /* any time will do */
    gbees_measurement read = {0};
    gbees_scenario *scenario = NULL;
    gbees_text list = {0};

    gbees_text_add(&list, "measurements=[%s]", text);
    char *assignment = gbees_text_take(&list);
    int status = assignment ? gbees_scenario_create("", "the measurement", &scenario, error)
                            : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a measurement");
    if (!status)
        status = gbees_scenario_set(scenario, assignment, error);
    whenever.start = -INFINITY;
    whenever.end = INFINITY;
    if (!status) {
        const builder b = {.model = problem->model, .scenario = scenario, .problem = &whenever, .error = error};
        const gbees_node *node = builder_find(&b, "measurements");

        status = node->kind == GBEES_NODE_LIST && node->count == 1
                     ? set_measurement(&b, node->items[0], 1, &read)
                     : gbees_error_set(error, GBEES_EINPUT, "expected one measurement, found '%s'", text);
    }
    gbees_scenario_destroy(scenario);
    free(assignment);
    if (!status)
        *measurement = read;
    return status;
}

static int set_list(builder *b, const gbees_node *list)
{
    int status = GBEES_OK;

    if (list->count == 0)
        return GBEES_OK;
    ordered *all = calloc(list->count, sizeof *all);
    gbees_measurement *measurements = calloc(list->count, sizeof *measurements);
    b->problem->measurements = measurements;
    if (!all || !measurements)
        status = builder_no_memory(b);
    size_t count = status ? 0 : order(b, list, all);
    for (size_t i = 0; !status && i < count; i++)
        status = set_measurement(b, all[i].map, all[i].number, &measurements[i]);
    b->problem->measurement_count = (int)count;
    free(all);
    return status;
}

int builder_set_measurements(builder *b)
{
    const gbees_node *found = builder_find(b, "measurements");
    gbees_node *list = NULL;

    if (!found)
        return GBEES_OK;
    if (found->kind == GBEES_NODE_LIST)
        return set_list(b, found);
    int status = gbees_scenario_table(found, b->model, &list, b->error);
    if (!status)
        status = set_list(b, list);
    gbees_node_destroy(list);
    return status;
}
