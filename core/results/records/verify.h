/* verify.h - checks that a file of results is as it was written. */
#ifndef GBEES_RESULTS_RECORDS_VERIFY_H
#define GBEES_RESULTS_RECORDS_VERIFY_H

#include "results/hdf5/hdf5_file.h"

typedef enum gbees_verify_kind { GBEES_VERIFY_RECORD, GBEES_VERIFY_MOMENTS } gbees_verify_kind;

/* Reads all of it, in a child process: HDF5's checksums, values, and sums that must agree. *summed: whether all
 * objects have checksums. Fails if it is damaged. */
int gbees_verify_file(const char *path, gbees_verify_kind kind, int *summed, gbees_error *error);
/* Reads all objects of an open file; what can't be read is its first failure. */
void gbees_verify_read(gbees_hdf5 *file);

#endif
