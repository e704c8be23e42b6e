/* scenario.c - puts the values of a scenario's sources one over the other (plugin, file, --set) and knows which keys
 * exclude each other. The public functions are described in gbees/scenario.h. */
#include "scenario.h"
#include "base/array.h"
#include "base/no_memory.h"
#include "base/text.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gbees_scenario {
    size_t count, capacity;
    gbees_entry *entries;
    char *text; /* what gbees_scenario_text last returned */
};

const char *gbees_scenario_part(const char *key, const char *map)
{
    const size_t length = strlen(map);

    return strncmp(key, map, length) == 0 && key[length] == '.' && key[length + 1] ? key + length + 1 : NULL;
}

/* ---- entries ---------------------------------------------------------------------------------------------- */

static gbees_entry *find(const gbees_scenario *scenario, const char *key)
{
    for (size_t i = 0; i < scenario->count; i++) {
        if (strcmp(scenario->entries[i].key, key) == 0)
            return &scenario->entries[i];
    }
    return NULL;
}

const gbees_node *gbees_scenario_find(const gbees_scenario *scenario, const char *key)
{
    const gbees_entry *entry = find(scenario, key);

    return entry ? entry->value : NULL;
}

int gbees_scenario_is(const gbees_scenario *scenario, const char *key, const char *word)
{
    const gbees_entry *entry = find(scenario, key);

    return entry && entry->value->kind == GBEES_NODE_SCALAR && strcmp(entry->value->text, word) == 0;
}

const gbees_entry *gbees_scenario_entries(const gbees_scenario *scenario, size_t *count)
{
    *count = scenario->count;
    return scenario->entries;
}

const char *gbees_scenario_keep_text(gbees_scenario *scenario, char *text)
{
    free(scenario->text);
    scenario->text = text;
    return text;
}

void gbees_scenario_remove(gbees_scenario *scenario, const char *key)
{
    gbees_entry *entry = find(scenario, key);

    if (!entry)
        return;
    free(entry->key);
    gbees_node_destroy(entry->value);
    scenario->count--;
    memmove(entry, entry + 1, (size_t)(scenario->entries + scenario->count - entry) * sizeof *entry);
}

/* Whether two keys exclude each other: they define the same thing. */
static int are_rivals(const char *key, const char *other)
{
    static const char *const groups[][3] = {{"factor", "width", NULL},
                                            {"initial", "mean", NULL},
                                            {"initial", "covariance", NULL},
                                            {"threshold", "mass_budget", "mass_budget_total"}};

    for (size_t g = 0; g < sizeof groups / sizeof *groups && strcmp(key, other) != 0; g++) {
        int both = 0;

        for (size_t k = 0; k < 3 && groups[g][k]; k++)
            both += strcmp(key, groups[g][k]) == 0 || strcmp(other, groups[g][k]) == 0;
        if (both == 2)
            return 1;
    }
    return 0;
}

static int has_rival(const gbees_scenario *scenario, const char *key)
{
    for (size_t i = 0; i < scenario->count; i++)
        if (are_rivals(key, scenario->entries[i].key))
            return 1;
    return 0;
}

int gbees_scenario_put(gbees_scenario *scenario, const char *key, gbees_node *value, gbees_error *error)
{
    gbees_entry *entry = find(scenario, key);

    if (!value)
        return gbees_no_memory(error, "for the scenario");
    if (entry) {
        gbees_node_destroy(entry->value);
        entry->value = value;
        return GBEES_OK;
    }
    if (gbees_array_grow(&scenario->entries, scenario->count, &scenario->capacity, sizeof *scenario->entries)) {
        gbees_node_destroy(value);
        return gbees_no_memory(error, "for the scenario");
    }
    char *name = strdup(key);
    if (!name) {
        gbees_node_destroy(value);
        return gbees_no_memory(error, "for the scenario");
    }
    scenario->entries[scenario->count++] = (gbees_entry){.key = name, .value = value};
    for (size_t i = scenario->count; i-- > 0;)
        if (are_rivals(name, scenario->entries[i].key))
            gbees_scenario_remove(scenario, scenario->entries[i].key);
    return GBEES_OK;
}

/* Makes the path of a key's {file: PATH} absolute. It is relative to the folder of the scenario's file, but
 * the scenario is written to other folders, too. */
static int resolve_path(gbees_node *file, const char *key, gbees_error *error)
{
    const char *slash = strrchr(file->source, '/');
    gbees_text path = {0};
    char *here = file->text[0] == '/' || (file->line && file->source[0] == '/') ? strdup("") : getcwd(NULL, 0);

    if (!here)
        return gbees_node_error(file, error, "%s: file: the current folder is not known: %s", key, strerror(errno));
    gbees_text_add(&path, "%s%s", here, here[0] ? "/" : "");
    if (file->text[0] != '/' && file->line && slash)
        gbees_text_add(&path, "%.*s", (int)(slash - file->source) + 1, file->source);
    gbees_text_add(&path, "%s", file->text);
    free(here);
    free(file->text);
    file->text = gbees_text_take(&path);
    return file->text ? GBEES_OK : gbees_no_memory(error, "for the scenario");
}

/* Stores a copy of a value of KEY or of "KEY.NAME", which may be a map with a path, or, of tables, a path. */
static int put_with_path(gbees_scenario *scenario, const gbees_schema_key *key, const char *name,
                         const gbees_node *value, gbees_error *error)
{
    gbees_node *copy = gbees_node_copy(NULL, value);
    int status = copy ? GBEES_OK : gbees_no_memory(error, "for the scenario");

    if (!status && copy->kind == GBEES_NODE_SCALAR && key->kind == GBEES_KIND_TABLES)
        status = resolve_path(copy, name, error);
    for (size_t i = 0; !status && copy->kind == GBEES_NODE_MAP && i < copy->count; i += 2)
        if (strcmp(copy->items[i]->text, "file") == 0)
            status = resolve_path(copy->items[i + 1], name, error);
    if (!status)
        return gbees_scenario_put(scenario, name, copy, error);
    gbees_node_destroy(copy);
    return status;
}

/* Stores a copy of a key's checked value; of a map that gbees_schema_has_parts(), each value under "KEY.NAME". */
static int put_copy(gbees_scenario *scenario, const gbees_schema_key *key, const gbees_node *value,
                    gbees_error *error)
{
    if (key->kind == GBEES_KIND_INITIAL || key->kind == GBEES_KIND_MEASUREMENTS)
        return put_with_path(scenario, key, key->name, value, error);
    if (!gbees_schema_has_parts(key))
        return gbees_scenario_put(scenario, key->name, gbees_node_copy(NULL, value), error);
    int status = GBEES_OK;
    for (size_t i = 0; !status && i < value->count; i += 2) {
        gbees_text name = {0};

        gbees_text_add(&name, "%s.%s", key->name, value->items[i]->text);
        char *full = gbees_text_take(&name);
        status = full ? put_with_path(scenario, key, full, value->items[i + 1], error)
                      : gbees_no_memory(error, "for the scenario");
        free(full);
    }
    return status;
}

int gbees_scenario_take(gbees_scenario *scenario, const char *key, const gbees_node *value, gbees_error *error)
{
    const gbees_schema_key *found = gbees_schema_find(NULL, key);
    const int status = gbees_schema_check(found, value, key, error);

    return status ? status : put_copy(scenario, found, value, error);
}

/* ---- from text -------------------------------------------------------------------------------------------- */

static int fill(gbees_scenario *scenario, const gbees_node *root, gbees_error *error)
{
    char words[GBEES_NODE_WORDS], hint[64];

    if (root->kind == GBEES_NODE_SCALAR && !root->text[0])
        return GBEES_OK;
    if (root->kind != GBEES_NODE_MAP)
        return gbees_node_error(root, error, "expected lines of 'key: value', found %s",
                                gbees_node_describe(root, words));
    for (size_t i = 0; i < root->count; i += 2) {
        const gbees_node *name = root->items[i], *value = root->items[i + 1];
        const gbees_schema_key *key = gbees_schema_find(NULL, name->text);

        if (!key)
            return gbees_node_error(name, error, "unknown key %s%s", gbees_node_describe(name, words),
                                    gbees_schema_hint(NULL, name->text, hint, sizeof hint));
        for (size_t j = 0; j < i; j += 2) {
            const gbees_node *other = root->items[j];

            if (strcmp(other->text, key->name) == 0)
                return gbees_node_error(name, error, "key '%s' given twice, first in line %d", key->name,
                                        other->line);
            if (are_rivals(key->name, other->text))
                return gbees_node_error(name, error, "%s: can't be given beside '%s' of line %d: they say the same",
                                        key->name, other->text, other->line);
        }
        int status = gbees_scenario_take(scenario, key->name, value, error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

static int create(const char *text, size_t length, const char *name, gbees_scenario **scenario, gbees_error *error)
{
    gbees_node *root = NULL;
    gbees_scenario *new = calloc(1, sizeof *new);
    int status =
        new ? gbees_yaml_parse(text, length, name, 1, &root, error) : gbees_no_memory(error, "for the scenario");

    if (!status && root)
        status = fill(new, root, error);
    gbees_node_destroy(root);
    if (status) {
        gbees_scenario_destroy(new);
        return status;
    }
    *scenario = new;
    return GBEES_OK;
}

int gbees_scenario_create(const char *text, const char *name, gbees_scenario **scenario, gbees_error *error)
{
    return create(text, strlen(text), name, scenario, error);
}

int gbees_scenario_read(const char *path, gbees_scenario **scenario, gbees_error *error)
{
    char *text;
    size_t length;
    int status = gbees_input_read(path, GBEES_INPUT_BYTES, &text, &length, error);

    if (status)
        return status;
    status = create(text, length, path, scenario, error);
    free(text);
    return status;
}

void gbees_scenario_destroy(gbees_scenario *scenario)
{
    if (!scenario)
        return;
    for (size_t i = 0; i < scenario->count; i++) {
        free(scenario->entries[i].key);
        gbees_node_destroy(scenario->entries[i].value);
    }
    free(scenario->entries);
    free(scenario->text);
    free(scenario);
}

/* ---- changes ---------------------------------------------------------------------------------------------- */

static const char set_source[] = "--set";

/* The value alone, its nodes' source being "--set". */
static int parse_value(const char *name, const char *text, gbees_node **value, gbees_error *error)
{
    gbees_text source = {0};
    gbees_node *node = NULL;

    gbees_text_add(&source, "%s %s", set_source, name);
    char *place = gbees_text_take(&source);
    int status = place ? gbees_yaml_parse(text, strlen(text), place, 0, &node, error)
                       : gbees_no_memory(error, "for the scenario");
    if (!status && !node) /* no document: the schema's check reports it */
        node = gbees_node_create(NULL, GBEES_NODE_SCALAR, place, 0, "");
    if (!status && !node)
        status = gbees_no_memory(error, "for the scenario");
    free(place);
    if (status)
        return status;
    /* All nodes share this text. It had the key for errors of YAML; errors of values name the key themselves. */
    node->source[sizeof set_source - 1] = 0;
    *value = node;
    return GBEES_OK;
}

/* Returns the map {NAME: value}, as under `parameters`; owns `value`. */
static gbees_node *wrap_part(const char *name, gbees_node *value)
{
    gbees_node *map = gbees_node_create(NULL, GBEES_NODE_MAP, set_source, 0, NULL);

    if (map && (!gbees_node_create(map, GBEES_NODE_SCALAR, set_source, 0, name) || !gbees_node_copy(map, value))) {
        gbees_node_destroy(map);
        map = NULL;
    }
    gbees_node_destroy(value);
    return map;
}

/* The key of "KEY", or of "KEY.PART": then *part is PART. NULL: there is none. */
static const gbees_schema_key *find_key(const char *name, const char **part)
{
    for (const gbees_schema_key *key = gbees_schema_next(NULL); key; key = gbees_schema_next(key)) {
        *part = gbees_schema_has_parts(key) ? gbees_scenario_part(name, key->name) : NULL;
        if (*part)
            return key;
    }
    return gbees_schema_find(NULL, name);
}

static int set_value(gbees_scenario *scenario, const char *name, const char *text, gbees_error *error)
{
    const char *part = NULL;
    const gbees_schema_key *key = find_key(name, &part);
    char hint[64];
    gbees_node *value = NULL;

    if (!key)
        return gbees_error_set(error, GBEES_EINPUT, "%s %s: unknown key%s", set_source, name,
                               gbees_schema_hint(NULL, name, hint, sizeof hint));
    int status = parse_value(name, text, &value, error);
    if (!status && part) {
        value = wrap_part(part, value);
        status = value ? GBEES_OK : gbees_no_memory(error, "for the scenario");
    }
    if (!status)
        status = gbees_scenario_take(scenario, key->name, value, error);
    gbees_node_destroy(value);
    return status;
}

int gbees_scenario_set(gbees_scenario *scenario, const char *assignment, gbees_error *error)
{
    const char *sign = strchr(assignment, '='), *first = assignment;

    while (isspace((unsigned char)*first))
        first++;
    if (!sign || first == sign)
        return gbees_error_set(error, GBEES_EUSAGE, "%s '%s': expected KEY=VALUE", set_source, assignment);
    size_t length = (size_t)(sign - first);
    while (length > 0 && isspace((unsigned char)first[length - 1]))
        length--;
    char *name = strndup(first, length);
    int status = name ? set_value(scenario, name, sign + 1, error) : gbees_no_memory(error, "for the scenario");
    free(name);
    return status;
}

/* Whether an initial record defines this key (grid and time): values from other sources do not apply to it. */
static int comes_with_record(const gbees_scenario *scenario, const char *key)
{
    static const char *const keys[] = {"factor", "width", "extent", "rotate", "start"};
    const gbees_node *initial = gbees_scenario_find(scenario, "initial");

    for (size_t k = 0; initial && initial->kind == GBEES_NODE_MAP && k < sizeof keys / sizeof *keys; k++)
        if (strcmp(keys[k], key) == 0)
            return 1;
    return 0;
}

/* Whether a key is of grids only, and the scenario asks for points that go with the flow, or the other way round: it
 * does not apply from other sources. */
static int is_of_another_frame(const gbees_scenario *scenario, const char *key, const gbees_node *value)
{
    static const char *const of_grids[] = {"bound",   "regrid",    "scheme",      "mode",           "time_step",
                                           "courant", "precision", "cell_values", "prune_interval", "rotate"};
    static const char *const of_points[] = {"points", "smooth", "tail", "tolerance"};
    const int with_points = gbees_scenario_is(scenario, "frame", "lagrangian");
    const char *const *keys = with_points ? of_grids : of_points;
    const size_t count = with_points ? sizeof of_grids / sizeof *of_grids : sizeof of_points / sizeof *of_points;

    for (size_t k = 0; find(scenario, "frame") && k < count; k++)
        if (strcmp(keys[k], key) == 0) /* a tail below 1 is one of grids, too */
            return !gbees_scenario_is(scenario, "frame", "auto") &&
                   (strcmp(key, "tail") != 0 || gbees_node_number(value) >= 1);
    return 0;
}

int gbees_scenario_defines_grid(const gbees_scenario *scenario)
{
    static const char *const keys[] = {"factor", "width",  "threshold", "mass_budget", "mass_budget_total",
                                       "mode",   "scheme", "time_step", "regrid",      "initial",
                                       "tail"};

    if (gbees_scenario_is(scenario, "frame", "lagrangian"))
        return find(scenario, "points") || find(scenario, "initial");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (find(scenario, keys[k]))
            return 1;
    return 0;
}

int gbees_scenario_merge(gbees_scenario *scenario, const gbees_scenario *defaults, gbees_error *error)
{
    const int replaced = gbees_scenario_defines_grid(scenario); /* before any key of the defaults is in it */
    int status = GBEES_OK;

    for (size_t i = 0; !status && i < defaults->count; i++) {
        const gbees_entry *entry = &defaults->entries[i];

        if (comes_with_record(scenario, entry->key) || is_of_another_frame(scenario, entry->key, entry->value) ||
            (replaced && strcmp(entry->key, "accuracy") == 0))
            continue;
        if (!find(scenario, entry->key) && !has_rival(scenario, entry->key))
            status = gbees_scenario_put(scenario, entry->key, gbees_node_copy(NULL, entry->value), error);
    }
    return status;
}

int gbees_scenario_leaves_out(const gbees_scenario *scenario, const gbees_node *time)
{
    const gbees_node *end = gbees_scenario_find(scenario, "end");

    return end && gbees_node_number(time) > gbees_node_number(end) &&
           (end->line == 0 || strcmp(end->source, time->source) != 0);
}
