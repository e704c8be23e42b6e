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
/* Letters [count][letter], as netCDF-4 has strings of fixed length: a row a text, padded with bytes 0. The scale of
 * the second axis is made, too, as the dimension `letters`; that of the first is `dimension`. */
void gbees_hdf5_letters(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts,
                        const char *dimension, const char *letters);
/* Reads them as texts, cut to size - 1 bytes. */
void gbees_hdf5_read_letters(gbees_hdf5 *file, const char *name, size_t count, size_t letters, char *texts,
                             size_t size);

#endif
