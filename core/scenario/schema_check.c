/* schema_check.c - checks the values of a scenario against the schema; see schema.h. Each error names the key, what
 * was expected, and what was found. */
#include "schema.h"
#include <gbees/model.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

    if (node->kind != GBEES_NODE_SCALAR || !gbees_number_read(node->text, &value) ||
        (key->kind == GBEES_KIND_INTEGER && value != floor(value)) ||
        ((bounded & GBEES_KEY_MIN) && value < key->min) ||
        ((bounded & GBEES_KEY_ABOVE_MIN) == GBEES_KEY_ABOVE_MIN && value == key->min) ||
        ((bounded & GBEES_KEY_MAX) && value > key->max) ||
        ((bounded & GBEES_KEY_BELOW_MAX) == GBEES_KEY_BELOW_MAX && value == key->max))
        return fail(node, label, gbees_schema_range(key), error);
    return GBEES_OK;
}

/* Checks a text of printable characters. One that may have others than ASCII has no control characters all the same,
 * which would break an error's line. */
static int check_text(const gbees_node *node, const char *label, const char *what, int is_ascii, gbees_error *error)
{
    int good = node->kind == GBEES_NODE_SCALAR && node->text[0];

    for (const char *c = good ? node->text : ""; *c; c++)
        good = good && (unsigned char)*c >= 0x20 && *c != 0x7F && !(is_ascii && *c & 0x80);
    return good ? GBEES_OK : fail(node, label, what, error);
}

static int check_name(const gbees_node *node, const char *label, gbees_error *error)
{
    return check_text(node, label, "a name", 1, error);
}

static int check_path(const gbees_node *node, const char *label, gbees_error *error)
{
    return check_text(node, label, "a path", 0, error);
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

/* Checks a number of a list; in a measured value it may be ~ or null. */
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

/* Fails if an earlier pair of the map has the same key. */
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
        const gbees_schema_key *field = gbees_schema_find(fields, key->text);

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

/* Checks that a measurement has the keys that its likelihood needs, and no others. */
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

/* Checks a list of maps, each called `one` and its number; `also`: what else has to hold for each, or NULL. */
static int check_maps(const gbees_schema_key *key, const gbees_node *list, const char *one, const char *expected,
                      int (*also)(const gbees_node *, const char *, gbees_error *), gbees_error *error)
{
    int status = GBEES_OK;

    for (size_t i = 0; i < list->count && !status; i++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s %zu", one, i + 1);
        status = check_fields(key->fields, list->items[i], name, expected, error);
        if (!status && also)
            status = also(list->items[i], name, error);
    }
    return status;
}

static int check_measurements(const gbees_schema_key *key, const gbees_node *node, const char *label,
                              gbees_error *error)
{
    if (node->kind == GBEES_NODE_MAP)
        return check_fields(key->record, node, label, "", error);
    if (node->kind != GBEES_NODE_LIST)
        return fail(node, label, "a list of maps, or a map with file", error);
    return check_maps(key, node, "measurement", "a map with time, function, value and covariance", check_likelihood,
                      error);
}

static int check_instants(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    static const char expected[] = "a map with time or every, jump, value and covariance";

    if (node->kind == GBEES_NODE_MAP)
        return check_fields(key->fields, node, label, expected, error);
    if (node->kind != GBEES_NODE_LIST)
        return fail(node, label, "a map, or a list of maps", error);
    return check_maps(key, node, "instant", expected, NULL, error);
}

static int check_regrids(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    char words[GBEES_NODE_WORDS];

    if (node->kind == GBEES_NODE_SCALAR && strcmp(node->text, key->choices[0]) == 0)
        return GBEES_OK;
    if (node->kind != GBEES_NODE_LIST)
        return gbees_node_error(node, error, "%s: expected '%s' or a list of maps, found %s", label, key->choices[0],
                                gbees_node_describe(node, words));
    return check_maps(key, node, label, key->range, NULL, error);
}

/* Checks which records' densities are written. */
static int check_densities(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    if (node->kind == GBEES_NODE_LIST)
        return check_numbers(key, node, label, 0, error);
    for (const char *const *choice = key->choices; *choice && node->kind == GBEES_NODE_SCALAR; choice++)
        if (strcmp(*choice, node->text) == 0)
            return GBEES_OK;
    return gbees_node_every(node) ? GBEES_OK
                                  : fail(node, label,
                                         "'all', 'last', 'none', 'every N' with a whole number from 1 to 1000000, or "
                                         "a list of times",
                                         error);
}

/* Checks a list of Gaussians, or the place of a record. */
static int check_initial(const gbees_schema_key *key, const gbees_node *node, const char *label, gbees_error *error)
{
    if (node->kind == GBEES_NODE_MAP)
        return check_fields(key->record, node, label, "", error);
    if (node->kind != GBEES_NODE_LIST || !node->count)
        return fail(node, label, "a list of maps with weight, mean and covariance, or a map with file", error);
    return check_maps(key, node, label, "a map with weight, mean and covariance", NULL, error);
}

/* Checks a map whose pairs are entries of their own, KEY.NAME, each value by `check`. */
static int check_parts(const gbees_schema_key *key, const gbees_node *map, const char *label, const char *expected,
                       int (*check)(const gbees_schema_key *, const gbees_node *, const char *, gbees_error *),
                       gbees_error *error)
{
    int status = GBEES_OK;

    if (map->kind != GBEES_NODE_MAP)
        return fail(map, label, expected, error);
    for (size_t i = 0; 2 * i < map->count && !status; i++) {
        char name[128], words[GBEES_NODE_WORDS];

        (void)gbees_node_describe(map->items[2 * i], words);
        (void)snprintf(name, sizeof name, "%s.%.*s", label, (int)strcspn(words + 1, "'"), words + 1);
        status = check_name(map->items[2 * i], label, error);
        if (!status)
            status = check_twice(map, i, label, error);
        if (!status)
            status = check(key, map->items[2 * i + 1], name, error);
    }
    return status;
}

static int check_parameters(const gbees_schema_key *key, const gbees_node *node, const char *label,
                            gbees_error *error)
{
    if (node->kind == GBEES_NODE_MAP && node->count > 2 * (size_t)GBEES_MAX_PARAMETERS)
        return gbees_node_error(node, error, "%s: expected at most %d, found %zu", label, GBEES_MAX_PARAMETERS,
                                node->count / 2);
    return check_parts(key, node, label, "a map of numbers", check_number, error);
}

static int check_table(const gbees_schema_key *key, const gbees_node *value, const char *label, gbees_error *error)
{
    return value->kind == GBEES_NODE_SCALAR ? check_path(value, label, error)
                                            : check_fields(key->record, value, label, "a file", error);
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
    case GBEES_KIND_TABLES:
        return check_parts(key, value, label, "a map of parameters, each with a file", check_table, error);
    case GBEES_KIND_TARGETS:
        return check_parts(key, value, label, "a map of targets, each 'count', 'absorb' or 'off'", check_choice,
                           error);
    case GBEES_KIND_MEASUREMENTS:
        return check_measurements(key, value, label, error);
    case GBEES_KIND_INSTANTS:
        return check_instants(key, value, label, error);
    case GBEES_KIND_REGRIDS:
        return check_regrids(key, value, label, error);
    case GBEES_KIND_INITIAL:
        return check_initial(key, value, label, error);
    case GBEES_KIND_PATH:
        return check_path(value, label, error);
    case GBEES_KIND_DENSITIES:
        return check_densities(key, value, label, error);
    case GBEES_KIND_OUTPUT:
        return check_fields(key->record, value, label, "a map with densities, moments and files", error);
    }
    return GBEES_OK;
}
