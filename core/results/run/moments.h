/* moments.h - the time series of all records and updates, and the file they are in. */
#ifndef GBEES_RESULTS_RUN_MOMENTS_H
#define GBEES_RESULTS_RUN_MOMENTS_H

#include "base/checkpoint.h"
#include "results/hdf5/hdf5_file.h"
#include <gbees/gbees.h>

typedef struct gbees_moments gbees_moments;

/* NULL when there is no memory. The problem must outlive them. */
gbees_moments *gbees_moments_create(const gbees_problem *problem);
void gbees_moments_destroy(gbees_moments *moments);

int gbees_moments_add(gbees_moments *moments, const gbees_record *record, gbees_error *error);
int gbees_moments_add_update(gbees_moments *moments, int number, double time, const gbees_evidence *evidence,
                             gbees_error *error);

/* Adds a row to the series of the steps. */
int gbees_moments_add_step(gbees_moments *moments, const gbees_record *record, gbees_error *error);

/* Adds a row to the series of the records given all measurements. */
int gbees_moments_add_smoothed(gbees_moments *moments, const gbees_record *record, gbees_error *error);

/* The records so far. */
size_t gbees_moments_count(const gbees_moments *moments);
/* The time of the last record that is before `time`; -INFINITY: there is none. */
double gbees_moments_time_before(const gbees_moments *moments, double time);

/* Adds all series to a checkpoint; and takes them from one, in place of none. */
int gbees_moments_save(const gbees_moments *moments, gbees_checkpoint *checkpoint, gbees_error *error);
int gbees_moments_load(gbees_moments *moments, const gbees_checkpoint *checkpoint, gbees_error *error);

/* Writes the whole file, moments.h5, anew; or, where run is not NULL, the group `moments` of the run's one file, with
 * links from its root to what is in it. */
int gbees_moments_write(const gbees_moments *moments, const gbees_store *store, gbees_run_file *run,
                        gbees_error *error);

/* moments_measured.c: writes what was measured, and the jumps, if there are any. */
void gbees_moments_put_instants(gbees_hdf5 *file, const gbees_problem *problem);
void gbees_moments_put_measured(gbees_hdf5 *file, const gbees_problem *problem);

#endif
