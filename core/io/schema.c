/* schema.c - see schema.h. */
#include "schema.h"
#include "base/text.h"
#include "schema_fields.h"
#include <gbees/model.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN = 1, ABOVE_MIN = 3, MAX = 4, BELOW_MAX = 12 };

static const char *const modes[] = {"default", "paper", "legacy", NULL};
static const char *const schemes[] = {"ctu",       "ctu-divergence", "ctu-positive", "split5",
                                      "split5-mp", "split7",         "split7-mp",    NULL};
static const char *const cell_values[] = {"points", "averages", NULL};
static const char *const precisions[] = {"mixed", "double", NULL};
static const char *const bricks[] = {"auto", "1", NULL};
static const char *const growths[] = {"downwind", "all", NULL};
static const char *const rotates[] = {"no", "yes", NULL};
static const char *const bounds[] = {"on", "off", NULL};

/* In the order of doc/scenario.md. */
static const gbees_schema_key scenario_keys[] = {
    {.name = "model", .kind = GBEES_KIND_NAME, .text = "if given, the plugin must be of that name"},
    {.name = "dimension",
     .kind = GBEES_KIND_INTEGER,
     .range = "a whole number from 1 to 8",
     .min = 1,
     .max = 8,
     .bounded = MIN | MAX,
     .initial = "the model's",
     .text = "number of states, for models of several dimensions"},
    {.name = "parameters",
     .kind = GBEES_KIND_PARAMETERS,
     .range = "a number",
     .initial = "the model's",
     .text = "parameters of the model, by name"},
    {.name = "mean",
     .kind = GBEES_KIND_NUMBERS,
     .range = "a number",
     .text = "mean of the initial Gaussian; also the centre of the grid"},
    {.name = "covariance",
     .kind = GBEES_KIND_MATRIX,
     .range = "a number",
     .text = "covariance of the initial Gaussian: n variances, or n lists of n numbers"},
    {.name = "initial",
     .kind = GBEES_KIND_INITIAL,
     .fields = gbees_schema_gaussian_fields,
     .record = gbees_schema_record_fields,
     .text = "in place of mean and covariance: a list of Gaussians, each: weight, mean, covariance; or a record, "
             "{file: FOLDER, record: last}"},
    {.name = "factor",
     .kind = GBEES_KIND_BROADCAST,
     .range = "a number > 0",
     .min = 0,
     .bounded = ABOVE_MIN,
     .initial = "1",
     .text = "cells per half a standard deviation: cell width = sigma / (2 factor)"},
    {.name = "width",
     .kind = GBEES_KIND_BROADCAST,
     .range = "a number > 0",
     .min = 0,
     .bounded = ABOVE_MIN,
     .text = "cell widths, in place of factor"},
    {.name = "extent",
     .kind = GBEES_KIND_BROADCAST,
     .range = "a number > 0",
     .min = 0,
     .bounded = ABOVE_MIN,
     .initial = "3",
     .text = "half-size of the initial box in standard deviations"},
    {.name = "rotate",
     .kind = GBEES_KIND_CHOICE,
     .choices = rotates,
     .initial = "no",
     .text = "yes: the grid's axes are the eigenvectors of the covariance; width, factor and extent go with them"},
    {.name = "bound",
     .kind = GBEES_KIND_RANGE,
     .choices = bounds,
     .range = "a number",
     .initial = "on where the model has one",
     .text = "whether cells outside of the model's bound are left out: on: of its range over the initial box, [low, "
             "high]: of this one"},
    {.name = "threshold",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number between 0 and 1",
     .min = 0,
     .max = 1,
     .bounded = ABOVE_MIN | BELOW_MAX,
     .text = "p*: cells with less probability are not kept"},
    {.name = "mass_budget",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number between 0 and 1",
     .min = 0,
     .max = 1,
     .bounded = ABOVE_MIN | BELOW_MAX,
     .text = "mass that may be lost in a unit of time: p* is steered to it, in place of threshold"},
    {.name = "mass_budget_total",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number between 0 and 1",
     .min = 0,
     .max = 1,
     .bounded = ABOVE_MIN | BELOW_MAX,
     .text = "the same for the whole run"},
    {.name = "start",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number",
     .initial = "0",
     .text = "model time at the start"},
    {.name = "end", .kind = GBEES_KIND_NUMBER, .range = "a number", .text = "model time at the end"},
    {.name = "records",
     .kind = GBEES_KIND_INTEGER,
     .range = "a whole number from 1 to 1000000",
     .min = 1,
     .max = 1000000,
     .bounded = MIN | MAX,
     .text = "records in each leg beside its initial one"},
    {.name = "measurements",
     .kind = GBEES_KIND_MEASUREMENTS,
     .fields = gbees_schema_measurement_fields,
     .initial = "none",
     .text = "list of maps, each: time, function, value, covariance; likelihood, degrees_of_freedom"},
    {.name = "courant",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number > 0",
     .min = 0,
     .bounded = ABOVE_MIN,
     .initial = "1",
     .text = "epsilon of the step size, at most 1; with split5 at most the shortest edge of a brick"},
    {.name = "time_step",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number > 0",
     .min = 0,
     .bounded = ABOVE_MIN,
     .initial = "from courant",
     .text = "a fixed step in place of the CFL step; legacy mode needs it"},
    {.name = "prune_interval",
     .kind = GBEES_KIND_INTEGER,
     .range = "a whole number from 1 to 1000000",
     .min = 1,
     .max = 1000000,
     .bounded = MIN | MAX,
     .initial = "5, with ctu 20",
     .text = "steps between prunes"},
    {.name = "mode",
     .kind = GBEES_KIND_CHOICE,
     .choices = modes,
     .initial = "default",
     .text = "default, or as the existing codes: paper, legacy"},
    {.name = "scheme",
     .kind = GBEES_KIND_CHOICE,
     .choices = schemes,
     .initial = "split5",
     .text =
         "ctu: the paper's corner transport upwind, -divergence: with its missing term, -positive: and no cell below "
         "0; split5, split7: fifth and seventh order, positive, conservative; -mp: without new "
         "extrema"},
    {.name = "cell_values",
     .kind = GBEES_KIND_CHOICE,
     .choices = cell_values,
     .initial = "averages with split5, else points",
     .text = "the density at cell centres, or its averages over cells"},
    {.name = "precision",
     .kind = GBEES_KIND_CHOICE,
     .choices = precisions,
     .initial = "mixed",
     .text = "of storage and fluxes; paper and legacy mode are double"},
    {.name = "brick",
     .kind = GBEES_KIND_CHOICE,
     .choices = bricks,
     .initial = "auto",
     .text = "cells a brick: auto is 64; 1 is the paper's cell-level grid"},
    {.name = "growth",
     .kind = GBEES_KIND_CHOICE,
     .choices = growths,
     .initial = "downwind",
     .text = "neighbours made around cells with P >= p*"},
    {.name = NULL},
};

const gbees_schema_key *gbees_schema_next(const gbees_schema_key *key)
{
    key = key ? key + 1 : scenario_keys;
    return key->name ? key : NULL;
}

static const gbees_schema_key *find(const gbees_schema_key *keys, const char *name)
{
    for (; keys->name; keys++) {
        if (strcmp(keys->name, name) == 0)
            return keys;
    }
    return NULL;
}

const gbees_schema_key *gbees_schema_find(const char *name)
{
    return find(scenario_keys, name);
}

const char *gbees_schema_hint(const gbees_schema_key *keys, const char *name, char *hint, size_t size)
{
    const char *names[sizeof scenario_keys / sizeof *scenario_keys];
    size_t count = 0;

    for (const gbees_schema_key *key = keys ? keys : scenario_keys; key->name; key++)
        names[count++] = key->name;
    const char *nearest = gbees_text_nearest(name, names, count);
    hint[0] = 0;
    if (nearest)
        (void)snprintf(hint, size, ": did you mean '%s'?", nearest);
    return hint;
}

/* ---- checks: each says what it expected and what it found ------------------------------------------------- */

static int fail(const gbees_node *node, const char *label, const char *expected, gbees_error *error)
{
    char words[GBEES_NODE_WORDS];

    return gbees_node_error(node, error, "%s: expected %s, found %s", label, expected,
                            gbees_node_describe(node, words));
}

static int check_number(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    double value;
    int bounded = key->bounded;

    if (node->kind != GBEES_NODE_SCALAR || !gbees_number_read(node->text, &value))
        return fail(node, label, key->range, error);
    if ((key->kind == GBEES_KIND_INTEGER && value != floor(value)) || ((bounded & MIN) && value < key->min) ||
        ((bounded & ABOVE_MIN) == ABOVE_MIN && value == key->min) || ((bounded & MAX) && value > key->max) ||
        ((bounded & BELOW_MAX) == BELOW_MAX && value == key->max))
        return fail(node, label, key->range, error);
    return GBEES_OK;
}

static int check_name(const gbees_node *node, const char *label, gbees_error *error)
{
    int good = node->kind == GBEES_NODE_SCALAR && node->text[0];

    for (const char *c = good ? node->text : ""; *c; c++)
        good = good && *c >= 0x20 && *c < 0x7F;
    return good ? GBEES_OK : fail(node, label, "a name", error);
}

static int check_choice(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    char expected[128] = "";
    size_t length = 0;

    for (const char *const *choice = key->choices; *choice; choice++) {
        if (node->kind == GBEES_NODE_SCALAR && strcmp(*choice, node->text) == 0)
            return GBEES_OK;
        int more = snprintf(expected + length, sizeof expected - length, "%s'%s'",
                            choice == key->choices ? ""
                            : choice[1]            ? ", "
                                                   : " or ",
                            *choice);
        length += more > 0 ? (size_t)more : 0;
        if (length >= sizeof expected)
            break;
    }
    return fail(node, label, expected, error);
}

int gbees_node_is_dots(const gbees_node *node)
{
    return node->kind == GBEES_NODE_SCALAR && strcmp(node->text, "...") == 0;
}

int gbees_node_is_null(const gbees_node *node)
{
    return node->kind == GBEES_NODE_SCALAR && (strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

/* One of a list of numbers, or, in a measured value, what stands for none. */
static int check_item(const gbees_schema_key *key, const gbees_node *item, const char *label, gbees_error *error)
{
    if (key->kind == GBEES_KIND_MEASURED && gbees_node_is_null(item))
        return GBEES_OK;
    return check_number(key, item, label, error);
}

static int check_numbers(const gbees_schema_key *key, const gbees_node *node, const char *label, int dots,
                         gbees_error *error)
{
    if (node->kind != GBEES_NODE_LIST || !node->count)
        return fail(node, label, "a list of numbers", error);
    for (size_t i = 0; i < node->count; i++) {
        const gbees_node *item = node->items[i];

        if (gbees_node_is_dots(item)) {
            if (!dots)
                return gbees_node_error(item, error, "%s: '...' can't stand for numbers of a matrix", label);
            if (i == 0 || i + 1 < node->count)
                return gbees_node_error(item, error,
                                        "%s: '...' repeats the number before it: it must be the last "
                                        "of several entries",
                                        label);
            continue;
        }
        int status = check_item(key, item, label, error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

static int check_range(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    if (node->kind == GBEES_NODE_SCALAR && strcmp(node->text, key->choices[0]) != 0 &&
        strcmp(node->text, key->choices[1]) != 0)
        return fail(node, label, "'on', 'off' or [low, high]", error);
    if (node->kind == GBEES_NODE_SCALAR)
        return GBEES_OK;
    if (node->kind != GBEES_NODE_LIST || node->count != 2)
        return fail(node, label, "'on', 'off' or [low, high]", error);
    int status = check_numbers(key, node, label, 0, error);
    if (!status && !(gbees_node_number(node->items[0]) < gbees_node_number(node->items[1])))
        status = gbees_node_error(node, error, "%s: expected [low, high], found [%s, %s]", label,
                                  node->items[0]->text, node->items[1]->text);
    return status;
}

static int check_matrix(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    if (node->kind != GBEES_NODE_LIST || !node->count)
        return fail(node, label, "a list of variances or a list of lists", error);
    if (node->items[0]->kind != GBEES_NODE_LIST)
        return check_numbers(key, node, label, 1, error);
    for (size_t i = 0; i < node->count; i++) {
        int status = check_numbers(key, node->items[i], label, 0, error);

        if (status)
            return status;
    }
    return GBEES_OK;
}

/* A key given twice would hide one of its values. */
static int check_twice(const gbees_node *map, size_t pair, const char *label, gbees_error *error)
{
    const gbees_node *key = map->items[2 * pair];

    for (size_t i = 0; i < pair; i++) {
        if (strcmp(map->items[2 * i]->text, key->text) == 0) {
            char words[GBEES_NODE_WORDS];

            return gbees_node_error(key, error, "%s%skey %s given twice", label, label[0] ? ": " : "",
                                    gbees_node_describe(key, words));
        }
    }
    return GBEES_OK;
}

static int check_fields(const gbees_schema_key *fields, const gbees_node *map, const char *label,
                        const char *expected, gbees_error *error)
{
    char name[128], hint[64], words[GBEES_NODE_WORDS];

    if (map->kind != GBEES_NODE_MAP)
        return fail(map, label, expected, error);
    for (size_t i = 0; 2 * i < map->count; i++) {
        const gbees_node *key = map->items[2 * i];
        const gbees_schema_key *field = find(fields, key->text);

        if (!field)
            return gbees_node_error(key, error, "%s: unknown key %s%s", label, gbees_node_describe(key, words),
                                    gbees_schema_hint(fields, key->text, hint, sizeof hint));
        (void)snprintf(name, sizeof name, "%s: %s", label, field->name);
        int status = check_twice(map, i, label, error);
        if (!status)
            status = gbees_schema_check(field, map->items[2 * i + 1], name, error);
        if (status)
            return status;
    }
    for (; fields->name; fields++) {
        if (fields->required && !gbees_node_find(map, fields->name))
            return gbees_node_error(map, error, "%s: '%s' is missing", label, fields->name);
    }
    return GBEES_OK;
}

/* What the likelihood needs beside the value, and what says nothing with it. */
static int check_likelihood(const gbees_node *map, const char *label, gbees_error *error)
{
    const gbees_node *kind = gbees_node_find(map, "likelihood"), *covariance = gbees_node_find(map, "covariance"),
                     *degrees = gbees_node_find(map, "degrees_of_freedom");
    int by_model = kind && strcmp(kind->text, "model") == 0, student = kind && strcmp(kind->text, "student-t") == 0;

    if (by_model && covariance)
        return gbees_node_error(covariance, error,
                                "%s: covariance: with 'likelihood: model' there is none: leave it out", label);
    if (degrees && !student)
        return gbees_node_error(degrees, error,
                                "%s: degrees_of_freedom: only with 'likelihood: student-t': leave it out", label);
    if ((!covariance && !by_model) || (student && !degrees))
        return gbees_node_error(map, error, "%s: '%s' is missing", label,
                                covariance ? "degrees_of_freedom" : "covariance");
    return GBEES_OK;
}

static int check_measurements(const gbees_schema_key *key, const gbees_node *node, const char *label,
                              gbees_error *error)
{
    if (node->kind != GBEES_NODE_LIST)
        return fail(node, label, "a list of maps", error);
    for (size_t i = 0; i < node->count; i++) {
        char name[64];

        (void)snprintf(name, sizeof name, "measurement %zu", i + 1);
        int status =
            check_fields(key->fields, node->items[i], name, "a map with time, function, value and covariance", error);
        if (!status)
            status = check_likelihood(node->items[i], name, error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

/* A list of Gaussians, or where a record is. */
static int check_initial(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    if (node->kind == GBEES_NODE_MAP)
        return check_fields(key->record, node, label, "", error);
    if (node->kind != GBEES_NODE_LIST || !node->count)
        return fail(node, label, "a list of maps with weight, mean and covariance, or a map with file", error);
    for (size_t i = 0; i < node->count; i++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s %zu", label, i + 1);
        int status = check_fields(key->fields, node->items[i], name, "a map with weight, mean and covariance", error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

/* Any characters but those that would make an error two lines. */
static int check_path(const gbees_node *node, const char *label, gbees_error *error)
{
    int good = node->kind == GBEES_NODE_SCALAR && node->text[0];

    for (const char *c = good ? node->text : ""; *c; c++)
        good = good && (unsigned char)*c >= 0x20 && *c != 0x7F;
    return good ? GBEES_OK : fail(node, label, "a path", error);
}

static int check_parameters(const gbees_schema_key *key, const gbees_node *node, const char *label,
                            gbees_error *error)
{
    if (node->kind != GBEES_NODE_MAP)
        return fail(node, label, "a map of numbers", error);
    if (node->count > 2 * (size_t)GBEES_MAX_PARAMETERS)
        return gbees_node_error(node, error, "%s: expected at most %d, found %zu", label, GBEES_MAX_PARAMETERS,
                                node->count / 2);
    for (size_t i = 0; 2 * i < node->count; i++) {
        char name[128], words[GBEES_NODE_WORDS];
        int status = check_name(node->items[2 * i], label, error);

        (void)gbees_node_describe(node->items[2 * i], words);
        (void)snprintf(name, sizeof name, "%s.%.*s", label, (int)strcspn(words + 1, "'"), words + 1);
        if (!status)
            status = check_twice(node, i, label, error);
        if (!status)
            status = check_number(key, node->items[2 * i + 1], name, error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

int gbees_schema_check(const gbees_schema_key *key, const gbees_node *value, const char *label, gbees_error *error)
{
    switch (key->kind) {
    case GBEES_KIND_NUMBER:
    case GBEES_KIND_INTEGER:
        return check_number(key, value, label, error);
    case GBEES_KIND_NAME:
        return check_name(value, label, error);
    case GBEES_KIND_CHOICE:
        return check_choice(key, value, label, error);
    case GBEES_KIND_BROADCAST:
        if (value->kind == GBEES_NODE_SCALAR && value->text[0])
            return check_number(key, value, label, error);
        return check_numbers(key, value, label, 1, error);
    case GBEES_KIND_NUMBERS:
    case GBEES_KIND_MEASURED:
        return check_numbers(key, value, label, 1, error);
    case GBEES_KIND_RANGE:
        return check_range(key, value, label, error);
    case GBEES_KIND_MATRIX:
        return check_matrix(key, value, label, error);
    case GBEES_KIND_PARAMETERS:
        return check_parameters(key, value, label, error);
    case GBEES_KIND_MEASUREMENTS:
        return check_measurements(key, value, label, error);
    case GBEES_KIND_INITIAL:
        return check_initial(key, value, label, error);
    case GBEES_KIND_PATH:
        return check_path(value, label, error);
    }
    return GBEES_OK;
}
