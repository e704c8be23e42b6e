/* hdf5_scale.h - dimension scales (HDF5's H5DS), by which netCDF-4 and xarray name the axes of datasets. */
#ifndef GBEES_RESULTS_HDF5_HDF5_SCALE_H
#define GBEES_RESULTS_HDF5_HDF5_SCALE_H

#include "hdf5_util.h"
#include <gbees/model.h>

/* A dimension without a coordinate, marked as netCDF-4 marks such: a dataset whose values are not written. */
void gbees_hdf5_dimension(gbees_hdf5 *file, const char *name, hsize_t length);
/* The same, but of a group of run.h5 the root's, which all groups share, if it has the same length. */
void gbees_hdf5_shared_dimension(gbees_hdf5 *file, const char *name, hsize_t length);
/* Makes a dataset the coordinate of its dimension; its name there is the last part of the path. */
void gbees_hdf5_scale_set(gbees_hdf5 *file, const char *name);
/* Gives the first `rank` axes of a dataset these dimensions. */
void gbees_hdf5_scale_attach(gbees_hdf5 *file, const char *name, int rank, const char *const *scales);
/* Characters [count][length], as netCDF-4 has strings of fixed length: a row a text, padded with bytes 0. `dimension`
 * is the scale of the first axis; that of the second is made, as `length`. */
void gbees_hdf5_characters(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts,
                           const char *dimension, const char *length);
/* The dimension `state` of n, and the names and units of these states: state_name, state_unit. */
void gbees_hdf5_states(gbees_hdf5 *file, const gbees_quantity *states, size_t n);
/* Reads them as texts, cut to size - 1 bytes. */
void gbees_hdf5_read_characters(gbees_hdf5 *file, const char *name, size_t count, size_t length, char *texts,
                                size_t size);

#endif
