/* legs.h - each leg's ends in a line a record: what tests/accuracy/models makes its tables from. */
#ifndef GBEES_TEST_LEGS_H
#define GBEES_TEST_LEGS_H

#include "row.h"

/* A line for the last record of each leg ("prior": before its closing measurement, or the run's end) and, after a
 * measurement, for the first one ("posterior"). Columns are separated by tabs, the numbers of the axes within a
 * column by commas; what there is not is "-". With a table in place of samples only records that it has. */
void gbees_legs_print_head(FILE *file);
int gbees_legs_print(FILE *file, const gbees_study *study, const gbees_row_options *options, gbees_error *error);

#endif
