/* record_file.h - one record as an HDF5 file, or a group of one: doc/results.md, "A record". */
#ifndef GBEES_RESULTS_RECORDS_RECORD_FILE_H
#define GBEES_RESULTS_RECORDS_RECORD_FILE_H

#include "results/hdf5/hdf5_file.h"
#include "run_info.h"

/* Writes it to a file of its own, or to a group of the run's one file: run is NULL or that. */
int gbees_record_file_write(const gbees_store *store, gbees_run_file *run, const gbees_run_info *info,
                            const gbees_record *record, gbees_error *error);

/* Writes the group of run.h5 that has what is the same for all records, the scenario among it, in place of an older
 * one. */
int gbees_record_file_write_run(gbees_run_file *run, const gbees_run_info *info, gbees_error *error);

/* Such a file, or group FILE/leg<n>/record<n>, read back. HDF5 reads it in a child process with limits, so that a
 * damaged or hostile file is an error and no crash; and its values are checked. */
int gbees_record_file_read(const char *path, gbees_snapshot **snapshot, gbees_error *error);

/* Reads a record in this process, into a snapshot of zeros, and does not check values. On failure some fields may be
 * set. */
int gbees_record_file_load(const char *path, gbees_snapshot *snapshot, gbees_error *error);
/* Refuses values that no record has: a P that is negative or not finite, a cell that no grid has. */
int gbees_record_file_check(const char *path, const gbees_snapshot *snapshot, gbees_error *error);

#endif
