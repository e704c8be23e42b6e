/* scenario.h - the entries of a scenario, each with its source; private to the library.
 *
 * An entry's key is one of the schema's, or "parameters.NAME" or "output.NAME"; its value has passed
 * gbees_schema_check().
 */
#ifndef GBEES_SCENARIO_SCENARIO_H
#define GBEES_SCENARIO_SCENARIO_H

#include "schema.h"
#include <gbees/gbees.h>

typedef struct gbees_entry {
    char *key;
    gbees_node *value;
} gbees_entry;

/* The value of a key, NULL if it has none. */
const gbees_node *gbees_scenario_find(const gbees_scenario *scenario, const char *key);
/* Whether the value of a key is this word. */
int gbees_scenario_is(const gbees_scenario *scenario, const char *key, const char *word);
const gbees_entry *gbees_scenario_entries(const gbees_scenario *scenario, size_t *count);

/* Sets the value of a key. `value` has passed gbees_schema_check(); the scenario owns it, also after a failure. */
int gbees_scenario_put(gbees_scenario *scenario, const char *key, gbees_node *value, gbees_error *error);

/* Takes a key's value out, if it has one. */
void gbees_scenario_remove(gbees_scenario *scenario, const char *key);

/* Checks a value of a key, and stores a copy of it. */
int gbees_scenario_take(gbees_scenario *scenario, const char *key, const gbees_node *value, gbees_error *error);

/* Reads the table that a map of `measurements` names to a checked list of measurements. */
int gbees_scenario_table(const gbees_node *how, const gbees_model *model, gbees_node **list, gbees_error *error);

/* Stores the text that gbees_scenario_text() returns; the scenario frees it. Returns `text`. */
const char *gbees_scenario_keep_text(gbees_scenario *scenario, char *text);

/* If `key` is "MAP.NAME": NAME; else NULL. */
const char *gbees_scenario_part(const char *key, const char *map);

/* Whether a key says how fine a run is: such a run is made once, as it is defined, and not repeated until it is
 * within an accuracy of other sources, or the usual one. */
int gbees_scenario_defines_grid(const gbees_scenario *scenario);

/* Whether what has this time, a measurement, is ignored: it is later than `end`, and the two come from different
 * sources (a file and an option, say). In one source that is an error. */
int gbees_scenario_leaves_out(const gbees_scenario *scenario, const gbees_node *time);

#endif
