/* scenario_text.c - a scenario as YAML that reads back to the same, and copies by way of it; see scenario.h. */
#include "base/no_memory.h"
#include "base/text.h"
#include "scenario.h"
#include <ctype.h>

static void write_name(gbees_text *out, const char *name)
{
    int plain = isalpha((unsigned char)name[0]);

    for (const char *c = name; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || *c == '_');
    if (plain) {
        gbees_text_add(out, "%s", name);
        return;
    }
    gbees_text_add(out, "\"");
    for (const char *c = name; *c; c++)
        gbees_text_add(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    gbees_text_add(out, "\"");
}

static void write_number(gbees_text *out, const gbees_node *node)
{
    double value;
    char number[GBEES_NUMBER_TEXT];

    if (gbees_number_read(node->text, &value))
        gbees_text_add(out, "%s", gbees_number_write(value, number));
    else
        gbees_text_add(out, "%s", node->text); /* '...' */
}

static void write_value(gbees_text *out, const gbees_schema_key *key, const gbees_node *node)
{
    if (node->kind == GBEES_NODE_LIST) {
        gbees_text_add(out, "[");
        for (size_t i = 0; i < node->count; i++) {
            gbees_text_add(out, i ? ", " : "");
            write_value(out, key, node->items[i]);
        }
        gbees_text_add(out, "]");
    } else if (key->kind == GBEES_KIND_NAME || key->kind == GBEES_KIND_PATH || key->kind == GBEES_KIND_TABLES) {
        write_name(out, node->text);
    } else if (key->kind == GBEES_KIND_CHOICE) {
        gbees_text_add(out, "%s", node->text);
    } else {
        write_number(out, node);
    }
}

static void write_map(gbees_text *out, const gbees_schema_key *fields, const gbees_node *map)
{
    const char *separator = "";

    gbees_text_add(out, "{");
    for (; fields->name; fields++) {
        const gbees_node *value = gbees_node_find(map, fields->name);

        if (!value)
            continue;
        gbees_text_add(out, "%s%s: ", separator, fields->name);
        write_value(out, fields, value);
        separator = ", ";
    }
    gbees_text_add(out, "}");
}

/* Whether a measurement or an instant comes after an end that another source gives. */
static int is_left_out(const gbees_schema_key *key, const gbees_scenario *scenario, const gbees_node *time)
{
    return (key->kind == GBEES_KIND_MEASUREMENTS || key->kind == GBEES_KIND_INSTANTS) && time &&
           gbees_scenario_leaves_out(scenario, time);
}

/* Measurements, instants, Gaussians or regrids. */
static void write_maps(gbees_text *out, const gbees_schema_key *key, const gbees_scenario *scenario,
                       const gbees_node *list)
{
    size_t written = 0;

    gbees_text_add(out, "%s:", key->name);
    for (size_t i = 0; i < list->count; i++) {
        const gbees_node *map = list->items[i];

        if (is_left_out(key, scenario, gbees_node_find(map, "time")))
            continue;
        gbees_text_add(out, "\n  - ");
        write_map(out, key->fields, map);
        written++;
    }
    gbees_text_add(out, written ? "\n" : " []\n");
}

/* Times, without those that are ignored. */
static void write_times(gbees_text *out, const gbees_scenario *scenario, const gbees_node *list)
{
    size_t written = 0;

    gbees_text_add(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        if (gbees_scenario_leaves_out(scenario, list->items[i]))
            continue;
        gbees_text_add(out, written++ ? ", " : "");
        write_number(out, list->items[i]);
    }
    gbees_text_add(out, "]");
}

/* A map whose values are entries of the scenario, "KEY.NAME". */
static void write_parts(gbees_text *out, const gbees_schema_key *key, const gbees_scenario *scenario)
{
    size_t written = 0, count;
    const gbees_entry *entries = gbees_scenario_entries(scenario, &count);

    for (size_t i = 0; i < count; i++) {
        const char *name = gbees_scenario_part(entries[i].key, key->name);
        const gbees_schema_key *field =
            name && key->kind == GBEES_KIND_OUTPUT ? gbees_schema_find(key->record, name) : key;

        if (!name)
            continue;
        if (written++)
            gbees_text_add(out, ", ");
        else
            gbees_text_add(out, "%s: {", key->name);
        write_name(out, name);
        gbees_text_add(out, ": ");
        if (field->kind == GBEES_KIND_DENSITIES && entries[i].value->kind == GBEES_NODE_LIST)
            write_times(out, scenario, entries[i].value);
        else if (entries[i].value->kind == GBEES_NODE_MAP)
            write_map(out, key->record, entries[i].value);
        else
            write_value(out, field, entries[i].value);
    }
    if (written)
        gbees_text_add(out, "}\n");
}

static void write_scenario(const gbees_scenario *scenario, gbees_text *out)
{
    for (const gbees_schema_key *key = gbees_schema_next(NULL); key; key = gbees_schema_next(key)) {
        const gbees_node *value = gbees_scenario_find(scenario, key->name);

        if (gbees_schema_has_parts(key)) {
            write_parts(out, key, scenario);
        } else if (value && key->fields && value->kind == GBEES_NODE_LIST) {
            write_maps(out, key, scenario, value);
        } else if (value && value->kind == GBEES_NODE_MAP) {
            gbees_text_add(out, "%s: ", key->name);
            write_map(out, key->record, value);
            gbees_text_add(out, "\n");
        } else if (value) {
            gbees_text_add(out, "%s: ", key->name);
            write_value(out, key, value);
            gbees_text_add(out, "\n");
        }
    }
}

const char *gbees_scenario_text(gbees_scenario *scenario)
{
    gbees_text out = {0};

    write_scenario(scenario, &out);
    return gbees_scenario_keep_text(scenario, gbees_text_take(&out));
}

int gbees_scenario_copy_once(gbees_scenario *scenario, gbees_scenario **copy, gbees_error *error)
{
    const char *text = gbees_scenario_text(scenario);
    const int status =
        text ? gbees_scenario_create(text, "the scenario", copy, error) : gbees_no_memory(error, "for the scenario");

    if (status)
        return status;
    gbees_scenario_remove(*copy, "accuracy");
    gbees_scenario_remove(*copy, "accuracy_of");
    return GBEES_OK;
}
