/* record_cells.h - the grid and the cells of a record's file (doc/results.md): groups `grid` and `pdf`. */
#ifndef GBEES_RESULTS_RECORDS_RECORD_CELLS_H
#define GBEES_RESULTS_RECORDS_RECORD_CELLS_H

#include "results/hdf5/hdf5_file.h"
#include <gbees/gbees.h>

/* Writes them. */
void gbees_record_cells_put(gbees_hdf5 *file, const gbees_record *record);

#endif
