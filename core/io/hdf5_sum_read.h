/* hdf5_sum_read.h - what hdf5_sum.c sums of a file that is read: values of datasets and attributes. */
#ifndef GBEES_IO_HDF5_SUM_READ_H
#define GBEES_IO_HDF5_SUM_READ_H

#include "hdf5_file.h"

/* rank: of a dataset, at most; values: that are read at a time, at most. */
enum { GBEES_HDF5_SUM_RANK = 3, GBEES_HDF5_SUM_SLAB = 1 << 21 };

/* The attribute that has the sum of the sums of a dataset's chunks. */
static const char gbees_hdf5_sum_parts_name[] = "sha256_of_parts";
/* Whether a dataset has it. */
int gbees_hdf5_sum_is_of_parts(const gbees_hdf5 *file, const char *name);
/* Notes that the file is damaged: "NAME WHAT". */
void gbees_hdf5_sum_reject(gbees_hdf5 *file, const char *name, const char *what);
/* Strings of variable length: gbees writes none, and reads those of other programs. */
int gbees_hdf5_sum_is_variable(hid_t type);
/* The type in memory of numbers and of strings of fixed length; -1: another type. */
hid_t gbees_hdf5_sum_type(hid_t type);
/* Adds the `count` strings of variable length of a dataset or an attribute. */
void gbees_hdf5_sum_texts_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t from, int is_attribute,
                             hid_t type, hssize_t count);
/* Adds the values of a dataset of this size; type: in memory. */
void gbees_hdf5_sum_values_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t set, hid_t type,
                              int rank, const hsize_t *size);

#endif
