/* output_size.h - how large the results of a run will be, for --check. */
#ifndef GBEES_COMMAND_RUN_OUTPUT_SIZE_H
#define GBEES_COMMAND_RUN_OUTPUT_SIZE_H

#include "command.h"

/* Records of a run up to its end, and those of them whose densities are written. */
typedef struct gbees_output_records {
    double all, written;
} gbees_output_records;

gbees_output_records gbees_output_records_of(const gbees_setup *setup);

/* Bytes, about: reached: measurements up to the end; cells: of a record, as far as that is known; audit: whether
 * records have samples. */
double gbees_output_size(const gbees_setup *setup, int reached, double cells, int audit);

#endif
