/* schema_fields.h - the keys of the maps in a scenario's lists; each table ends with a NULL name. */
#ifndef GBEES_SCENARIO_SCHEMA_FIELDS_H
#define GBEES_SCENARIO_SCHEMA_FIELDS_H

#include "schema.h"

extern const gbees_schema_key gbees_schema_measurement_fields[];
extern const gbees_schema_key gbees_schema_parameter_table_fields[]; /* of `tables` */
extern const gbees_schema_key gbees_schema_table_fields[]; /* of `measurements`, as a map */
extern const gbees_schema_key gbees_schema_instant_fields[];
extern const gbees_schema_key gbees_schema_regrid_fields[];
extern const gbees_schema_key gbees_schema_state_fields[];
extern const gbees_schema_key gbees_schema_gaussian_fields[]; /* of `initial`, as a list */
extern const gbees_schema_key gbees_schema_record_fields[];   /* of `initial`, as a map */
extern const gbees_schema_key gbees_schema_output_fields[];   /* of `output` */

#endif
