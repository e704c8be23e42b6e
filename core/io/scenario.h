/* scenario.h - a scenario from the inside: its entries, each with the place that it came from.
 *
 * An entry's key is one of the schema's, or "parameters.NAME"; its value has passed gbees_schema_check().
 */
#ifndef GBEES_IO_SCENARIO_H
#define GBEES_IO_SCENARIO_H

#include "base/text.h"
#include "schema.h"
#include <gbees/gbees.h>

typedef struct gbees_entry {
    char *key;
    gbees_node *value;
} gbees_entry;

/* The value of a key, NULL if it has none. */
const gbees_node *gbees_scenario_find(const gbees_scenario *scenario, const char *key);
const gbees_entry *gbees_scenario_entries(const gbees_scenario *scenario, size_t *count);

/* Gives the key this value, in place of the one that it has; takes `value` in every case.  `value` must have
 * passed the schema. */
int gbees_scenario_put(gbees_scenario *scenario, const char *key, gbees_node *value, gbees_error *error);

/* As YAML text, in the order of the manual. */
void gbees_scenario_write(const gbees_scenario *scenario, gbees_text *out);

/* If `key` is "parameters.NAME": NAME; else NULL. */
const char *gbees_scenario_parameter(const char *key);

/* Whether a measurement is to be left out because it is later than `end`, which came from another place than the
 * measurement, so that nobody meant the two together. */
int gbees_scenario_leaves_out(const gbees_scenario *scenario, const gbees_node *measurement);

#endif
