/* hdf5_chunks.h - the chunks of a dataset, compressed by several threads and written whole. HDF5's own filters work
 * in one thread; any program with HDF5 reads what these functions write. */
#ifndef GBEES_RESULTS_HDF5_HDF5_CHUNKS_H
#define GBEES_RESULTS_HDF5_HDF5_CHUNKS_H

#include "hdf5_file.h"

enum { GBEES_HDF5_CHUNKS_RANK = 3 };

/* Sets the layout of a dataset whose chunks are written below: filters shuffle, deflate and Fletcher-32. Negative on
 * failure. */
herr_t gbees_hdf5_chunks_set(hid_t layout, int rank, const hsize_t *chunk);

/* Writes values start ... start + count - 1 along each axis (`data`, row by row) of a dataset [rank] that has the
 * layout above and the type `type`, or of integers a narrower one that has room for them, on up to file->threads
 * threads. start is a multiple of the chunk's size, and count, too, except at the end of the dataset. */
void gbees_hdf5_chunks_write(gbees_hdf5 *file, hid_t set, hid_t type, int rank, const hsize_t *start,
                             const hsize_t *count, const void *data);

/* HDF5's Fletcher-32 checksum: of 16-bit words, the high byte first. */
uint32_t gbees_hdf5_fletcher32(const unsigned char *data, size_t bytes);

#endif
