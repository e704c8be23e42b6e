/* record_axes.h - names for what a record's group has, by which xarray opens it as a table of cells. */
#ifndef GBEES_RESULTS_RECORDS_RECORD_AXES_H
#define GBEES_RESULTS_RECORDS_RECORD_AXES_H

#include "results/hdf5/hdf5_file.h"
#include <gbees/gbees.h>

/* Gives the axes of the cells, the grid and the samples names (`cell`, `axis`, `state`, `sample`), puts links to
 * cells and grid into the group itself, which readers of netCDF do not look for in groups below, and the names of the
 * states as attributes. Call it when all of these have been written. */
void gbees_record_axes_put(gbees_hdf5 *file, const gbees_record *record);

#endif
