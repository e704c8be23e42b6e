/* measurement_table.h - measurements in a table (table.h): a row a time, a column a component of a measurement
 * function.
 *
 * A map says how to read it: `file`, and for all rows `function`, `covariance`, `likelihood`, `degrees_of_freedom`
 * (gbees_schema_table_fields). Columns:
 *
 *     time                    not decreasing
 *     function                the function of each row; without it a row has all functions that it has values of
 *     COMPONENT               what was measured
 *     sigma_COMPONENT         the standard deviation of its noise
 *     cov_COMPONENT_COMPONENT an entry of the noise's covariance
 *
 * where COMPONENT is the name of a component, or FUNCTION.NAME, or the function's name if it has one component.
 */
#ifndef GBEES_SCENARIO_MEASUREMENT_TABLE_H
#define GBEES_SCENARIO_MEASUREMENT_TABLE_H

#include "yaml_tree.h"
#include <gbees/model.h>

/* Reads the table that `how` names to a list of measurements, as a scenario has them. Each node's line is its row's.
 */
int gbees_measurement_table_read(const gbees_node *how, const gbees_model *model, gbees_node **list,
                                 gbees_error *error);

#endif
