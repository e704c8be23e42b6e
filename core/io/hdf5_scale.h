/* hdf5_scale.h - dimension scales (HDF5's H5DS), by which netCDF-4 and xarray name the axes of datasets. */
#ifndef GBEES_IO_HDF5_SCALE_H
#define GBEES_IO_HDF5_SCALE_H

#include "hdf5_util.h"

/* A dimension without a coordinate: a dataset 1 .. length, marked as netCDF-4 marks such. */
void gbees_hdf5_dimension(gbees_hdf5 *file, const char *name, hsize_t length);
/* Makes a dataset the coordinate of its dimension; its name there is the last part of the path. */
void gbees_hdf5_scale_set(gbees_hdf5 *file, const char *name);
/* Gives the axis of a dataset a dimension. */
void gbees_hdf5_scale_attach(gbees_hdf5 *file, const char *name, unsigned axis, const char *scale);
/* Characters [count][length], as netCDF-4 has strings of fixed length: a row a text, padded with bytes 0. `dimension`
 * is the scale of the first axis; that of the second is made, as `length`. */
void gbees_hdf5_characters(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts,
                           const char *dimension, const char *length);
/* Reads them as texts, cut to size - 1 bytes. */
void gbees_hdf5_read_characters(gbees_hdf5 *file, const char *name, size_t count, size_t length, char *texts,
                                size_t size);

#endif
