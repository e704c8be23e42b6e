/* hdf5_util.h - datasets and attributes of a gbees_hdf5 (hdf5_file.h), which keeps the first failure. */
#ifndef GBEES_RESULTS_HDF5_HDF5_UTIL_H
#define GBEES_RESULTS_HDF5_HDF5_UTIL_H

#include "hdf5_file.h"

enum { GBEES_HDF5_MAX_RANK = 3 };

/* ---- writing: names are paths from the root; rank 0 is a scalar ----------------------------------------------- */

void gbees_hdf5_group(gbees_hdf5 *file, const char *name);

/* Gives an object one more name, `other`, in the group that its name is seen from: a symbolic link. */
void gbees_hdf5_alias(gbees_hdf5 *file, const char *name, const char *other);

/* A dataset [length] whose values, zeros, are not written: they take no space. */
void gbees_hdf5_unwritten(gbees_hdf5 *file, const char *name, hsize_t length);

/* chunk: at most so many entries along each axis, shuffled, deflated and with a checksum; NULL: one chunk. What is
 * small is in the object's header, as it is.
 * data: all of it, or NULL to write it with gbees_hdf5_write. */
void gbees_hdf5_dataset(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *size,
                        const hsize_t *chunk, const void *data);
/* The same of integers or numbers that are of another type in memory; in_file is no wider than it. */
void gbees_hdf5_dataset_as(gbees_hdf5 *file, const char *name, hid_t in_file, hid_t type, int rank,
                           const hsize_t *size, const hsize_t *chunk, const void *data);
/* Values of a dataset of numbers in chunks: start is a multiple of a chunk's size, and count, too, except at the end.
 */
void gbees_hdf5_write(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *start,
                      const hsize_t *count, const void *data);
void gbees_hdf5_attribute(gbees_hdf5 *file, const char *object, const char *name, hid_t type, int rank,
                          const hsize_t *size, const void *data);

/* Strings of any length, of one fixed length in the file: that of the longest; NULL counts as "". */
/* The strings one after the other, each padded with 0 to the bytes of the longest, at least 1, without a byte 0 at
 * its end. free() it; NULL: there is no memory. */
char *gbees_hdf5_pack(size_t count, const char *const *texts, size_t *length);
void gbees_hdf5_texts(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts);
void gbees_hdf5_attribute_text(gbees_hdf5 *file, const char *object, const char *name, const char *text);
void gbees_hdf5_attribute_texts(gbees_hdf5 *file, const char *object, const char *name, size_t count,
                                const char *const *texts);

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Fails unless the dataset has that rank. */
void gbees_hdf5_size(gbees_hdf5 *file, const char *name, int rank, hsize_t *size);
void gbees_hdf5_read(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *start,
                     const hsize_t *count, void *data);
/* Whether there is this dataset, and whether the root has this attribute. */
int gbees_hdf5_has_dataset(const gbees_hdf5 *file, const char *name);
int gbees_hdf5_has_attribute(const gbees_hdf5 *file, const char *name);
/* Whether a dataset has numbers of 4 bytes with a binary point. */
int gbees_hdf5_is_f32(gbees_hdf5 *file, const char *name);
/* One number, of the root. */
void gbees_hdf5_read_attribute(gbees_hdf5 *file, const char *name, hid_t type, void *data);
/* Exactly `count` numbers, of the root. */
void gbees_hdf5_read_attribute_list(gbees_hdf5 *file, const char *name, hid_t type, size_t count, void *data);
/* Strings, cut to size - 1 bytes. */
void gbees_hdf5_read_attribute_text(gbees_hdf5 *file, const char *name, char *text, size_t size);
/* A list of at most `most`; returns their number. */
size_t gbees_hdf5_read_attribute_texts(gbees_hdf5 *file, const char *name, size_t most, char *texts, size_t size);
void gbees_hdf5_read_texts(gbees_hdf5 *file, const char *name, size_t count, char *texts, size_t size);

/* ---- of an open dataset or attribute --------------------------------------------------------------------------- */

/* Whether all of a dataset is in its file: others name further files to be read. */
int gbees_hdf5_is_inside(hid_t set);

#endif
