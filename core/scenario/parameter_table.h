/* parameter_table.h - the values of a parameter over time, from a table (table.h): a row a time, a column `time`, and a
 * column of the parameter's name, or the one that is named, or the only other one. */
#ifndef GBEES_SCENARIO_PARAMETER_TABLE_H
#define GBEES_SCENARIO_PARAMETER_TABLE_H

#include "scenario.h"

/* Replaces the values of all entries "tables.NAME" that name a file by maps {time: [...], value: [...],
 * interpolation: ...}, whose numbers have the lines of the file. */
int gbees_parameter_tables_read(gbees_scenario *scenario, gbees_error *error);

#endif
