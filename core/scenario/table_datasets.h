/* table_datasets.h - the columns of a table from an HDF5 or netCDF-4 file, as xarray and h5py write them: datasets of
 * one axis and one length in the root group, a number or a string a row, and an attribute `units`. A file may be a
 * stranger's: it is read in a child process with limits. */
#ifndef GBEES_SCENARIO_TABLE_DATASETS_H
#define GBEES_SCENARIO_TABLE_DATASETS_H

#include "table.h"

enum { GBEES_TABLE_COLUMNS = 256 };

/* Lines of text: the names of the columns, their units, then the cells row by row. A cell that is missing is empty.
 */
typedef struct gbees_table_lines {
    size_t columns, rows, length;
    char *text;
} gbees_table_lines;

/* Reads the datasets in this process. The caller frees the text. */
int gbees_table_datasets_load(const char *path, gbees_table_lines *lines, gbees_error *error);

/* Whether a file begins as HDF5 does, or as netCDF of classic format does, which the next function refuses. */
int gbees_table_is_datasets(const char *path);
/* Fills a table that has its path alone. */
int gbees_table_datasets_read(gbees_table *table, gbees_error *error);

#endif
