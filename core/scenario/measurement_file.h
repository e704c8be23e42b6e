/* measurement_file.h - the measurement files of the existing codes: measurement0.txt, measurement1.txt, ...
 *
 *     x (LU) y (LU) z (LU)        labels
 *     -11.50 -10.00 9.5000        n numbers
 *                                 blank lines, anywhere
 *     Covariance(x, y, z)         a label
 *     1.0 0.9 0.9                 n rows of n numbers
 *     0.9 1.0 0.9
 *     0.9 0.9 1.0
 *
 *     T (TU)                      a label
 *     1                           the length of the leg that begins with this measurement
 *
 * A label is a line whose first word is no number; what it says is not looked at.
 */
#ifndef GBEES_SCENARIO_MEASUREMENT_FILE_H
#define GBEES_SCENARIO_MEASUREMENT_FILE_H

#include "yaml_tree.h"

/* Reads a file to a map of `value` (a list), `covariance` (a list of lists) and `T`; all numbers are checked. */
int gbees_measurement_file_read(const char *path, gbees_node **node, gbees_error *error);

/* Counts the files measurement0.txt, measurement1.txt, ... of a folder; a gap is an error. */
int gbees_measurement_folder_count(const char *folder, size_t *count, gbees_error *error);

/* Sets the keys of a scenario that the files of a folder define. function: what was measured; NULL: the model's
 * first.
 */
struct gbees_scenario;
int gbees_measurement_folder_read(struct gbees_scenario *scenario, const char *folder, const char *function,
                                  gbees_error *error);

#endif
