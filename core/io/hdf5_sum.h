/* hdf5_sum.h - SHA-256 checksums of what an HDF5 file holds: doc/results.md, "Checksums". Each dataset has the sum of
 * its values as an attribute, and the root that of all other attributes, these sums among them. */
#ifndef GBEES_IO_HDF5_SUM_H
#define GBEES_IO_HDF5_SUM_H

#include "hdf5_file.h"

/* Columns of a dataset that are summed row by row, before those after them. */
enum { GBEES_HDF5_SUM_COLUMNS = 65536 };

/* ---- writing: the functions of hdf5_util.h call these, but for the last ---------------------------------------- */

/* A dataset that is written at once; or one whose chunks come one after the other, in their order: of several the
 * checksum is that of theirs, so that each thread sums the chunk that it compresses. gbees_hdf5_sum_part() takes that
 * of the next one. */
void gbees_hdf5_sum_dataset(gbees_hdf5 *file, hid_t set, hid_t type, int rank, const hsize_t *size, const void *data);
void gbees_hdf5_sum_begin(gbees_hdf5 *file, const char *name);
gbees_hdf5_part *gbees_hdf5_sum_parts(gbees_hdf5 *file, const char *name);
void gbees_hdf5_sum_part(gbees_hdf5_part *parts, const char hex[GBEES_SHA256_HEX]);
/* Stores the sums, once all is written. */
void gbees_hdf5_sum_finish(gbees_hdf5 *file);

/* ---- reading: a sum that does not match is the file's first failure -------------------------------------------- */

/* Whether the file has sums: those of earlier versions have none. Damage may hide the root's, but not all. */
int gbees_hdf5_is_summed(const gbees_hdf5 *file);
/* All attributes, the names, types and shapes of all datasets; with `values` their values, too. */
void gbees_hdf5_sum_check(gbees_hdf5 *file, int values);
/* The values of one dataset; and those of one that has been read already. */
void gbees_hdf5_sum_check_dataset(gbees_hdf5 *file, const char *name);
/* Adds the values of one chunk of a dataset that is read; of_parts: as it is summed. */
void gbees_hdf5_sum_add(gbees_sha256_sum *sum, int of_parts, const void *data, size_t bytes);
void gbees_hdf5_sum_compare(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum);

#endif
