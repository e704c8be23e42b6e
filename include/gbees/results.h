/** @file gbees/results.h
 * Results on disk (core/results; doc/results.md).
 */
#ifndef GBEES_RESULTS_H
#define GBEES_RESULTS_H

#include <gbees/checkpoint.h>
#include <gbees/record.h>
#include <gbees/refinement.h>
#include <gbees/scenario.h>
#include <gbees/solver.h>

GBEES_BEGIN

/** How a run was made; a results folder stores it. */
typedef struct gbees_provenance {
    const char *plugin_path; /**< the plugin's file; NULL: that which the model is in */
    const char *scenario;    /**< the scenario, as YAML */
    const char *backend;     /**< the backend's name */
    const char *device;      /**< the processor's name */
    const char *command;     /**< the command line */
} gbees_provenance;

/** Writes a results folder. */
typedef struct gbees_writer gbees_writer;

/** Creates the folder, before the run, so that an error costs no computation. It must not exist, or be empty.
 * @param problem must outlive the writer
 * @param provenance is copied
 */
int gbees_writer_create(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        gbees_writer **writer, gbees_error *error);
/** Makes the writer put all records into one file, run.h5, in place of one file per record. To be called before the
 * first record; a resumed run keeps the layout that its folder has. */
int gbees_writer_one_file(gbees_writer *writer, gbees_error *error);
/** Writes a record, and adds its row to the time series in memory. gbees_writer_sync() writes the time series to
 * moments.h5; gbees_writer_finish() moves it into run.h5 if there is one. */
int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Adds an update's row to the time series; the arguments are those of gbees_observer.update. */
int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error);
/** Sets which records' densities are written, and whether there is a time series of the steps; the rest of `output`
 * has no effect here. It must outlive the writer. Without a call all records are written. */
void gbees_writer_output(gbees_writer *writer, const gbees_output *output);
/** Adds a row to the time series of the steps: see gbees_observer.step. */
int gbees_writer_step(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Adds a row to the time series of the records given all measurements (gbees_observer.smoothed). */
int gbees_writer_smoothed(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Writes the time series and calls fsync, if the last time is more than a second ago and something has changed
 * since. Called a few times a second (gbees_observer.idle), it bounds what a power failure costs to about a second.
 * It may be called from another thread than the functions above. */
int gbees_writer_sync(gbees_writer *writer, gbees_error *error);
/** Opens the folder of a run that was stopped, to continue it from a checkpoint. Records made after the checkpoint
 * are written again. run.json lists when and how the run was resumed.
 * @param forced 1: continue although the plugin or the scenario differs; run.json then says so
 */
int gbees_writer_resume(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        const gbees_checkpoint *checkpoint, int forced, gbees_writer **writer, gbees_error *error);
/** Writes a checkpoint to the folder. The folder holds two; the older one is replaced. */
int gbees_writer_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error);
/** Sets the list of the runs of a search for an accuracy, which gbees_writer_finish() writes to run.json.
 * @param runs runs[count] is copied
 */
int gbees_writer_runs(gbees_writer *writer, const gbees_refinement_step *runs, int count, gbees_error *error);
/** Sets what has stopped the run, a constant text such as "SIGTERM" or "--max-time", which gbees_writer_finish()
 * writes to run.json; NULL: nothing has. */
void gbees_writer_set_stopped_by(gbees_writer *writer, const char *what);
/** Writes what is left to write, and the run's state and summary to run.json. It may be called again, with another
 * state.
 * @param state "complete", "failed" or "cancelled"
 */
int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error);
/** Removes the checkpoints, which a run that has reached its end does not need. */
void gbees_writer_remove_checkpoints(gbees_writer *writer);
/** Frees the writer; the folder stays. NULL is allowed. */
void gbees_writer_destroy(gbees_writer *writer);

/** A record that was read from a file. Units are the model's. */
typedef struct gbees_snapshot {
    int leg;                      /**< counted from 0 */
    int number;                   /**< in its leg, counted from 0 */
    int dimension;                /**< n, the length of the arrays per axis and per state */
    double time;                  /**< model time */
    uint64_t step;                /**< steps of this run and of the runs that it continues */
    double origin[GBEES_MAX_DIM]; /**< centre of the cell with index 0 */
    double width[GBEES_MAX_DIM];  /**< width of a cell along each axis of the grid */
    int rotated; /**< 1: cell i has its centre at origin + rotation (width * i); 0: at origin + width * i */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major: a rotation; on a moving grid any matrix */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];  /**< inverse of `rotation` */
    char name[GBEES_MAX_DIM][64];                   /**< names of the states */
    char unit[GBEES_MAX_DIM][64];                   /**< units of the states */
    char model[64];                                 /**< name of the model */
    double mean[GBEES_MAX_DIM];                     /**< of the density, in the model's axes; NAN: not known */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major; NAN: not known */
    double mass;        /**< sum of P before normalisation; NAN in files of old versions */
    gbees_ledger total; /**< since the start; NAN in files of old versions */
    gbees_ledger since; /**< since the previous record; NAN in files of old versions */
    int warning_count;  /**< number of warnings */
    char warning[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT]; /**< texts of the warnings */
    size_t count;                                          /**< number of cells */
    int32_t *index[GBEES_MAX_DIM];                         /**< index[j][i]: index of cell i along axis j */
    double *p;                                             /**< p[i]: probability of cell i */
    int certified;                 /**< 1: `certificate` is set; 0: the run had no audit, or the file is older */
    gbees_certificate certificate; /**< bounds of the record's errors */
    gbees_sample_list samples;     /**< the audit's samples; empty: none */
} gbees_snapshot;

/** Reads a results folder. */
typedef struct gbees_results gbees_results;
/** Opens a results folder. The run may still be going on, or have failed. */
int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error);
/** Returns the number of records, at least 1. */
size_t gbees_results_count(const gbees_results *results);
/** Returns a line that says what is missing, where run.h5 is cut off or damaged and an earlier list of its records
 * has been read; NULL if nothing is. */
const char *gbees_results_lost(const gbees_results *results);
/** Reads record `number`, counted from 0 in order of leg and number. The caller destroys the snapshot. A child
 * process reads the file, so that a damaged one is an error and not a crash of the HDF5 library in the caller. */
int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error);
/** Receives the result of gbees_results_verify() for one file.
 * @param file its name in the folder
 * @param summed whether it has checksums that were verified
 * @param problem what is wrong, or NULL
 */
typedef void gbees_file_report(void *context, const char *file, int summed, const gbees_error *problem);
/** Reads all records and the time series of a folder, and compares their checksums. It reports on each, and on a run
 * that has ended and has written more or fewer records. It fails as gbees_results_open() does, but not where there
 * are time series alone. */
int gbees_results_verify(const char *folder, gbees_file_report *report, void *context, gbees_error *error);
/** Values of one state at some times. */
typedef struct gbees_points {
    size_t count;  /**< number of times, in increasing order */
    double *time;  /**< [count]: model time */
    double *value; /**< [count]: value of the state */
    double *std;   /**< [count]: standard deviation, of its noise if it was measured; NAN if it has none */
} gbees_points;
/** Measured, true and smoothed values of each state, as far as a results folder has them. */
typedef struct gbees_series {
    size_t measurements;                  /**< number of measurements in the run */
    gbees_points measured[GBEES_MAX_DIM]; /**< measured by components that have the name of state j */
    gbees_points truth[GBEES_MAX_DIM];    /**< true values of state j */
    gbees_points smoothed[GBEES_MAX_DIM]; /**< means of state j given all measurements */
} gbees_series;
/** Reads them from moments.h5, in a child process; all are empty if there is no such file yet.
 * @param name names of the states, as in gbees_snapshot
 */
int gbees_series_read(const char *folder, int dimension, const char (*name)[64], gbees_series **series,
                      gbees_error *error);
/** Frees them; NULL is allowed. */
void gbees_series_destroy(gbees_series *series);
/** Frees the snapshot; NULL is allowed. */
void gbees_snapshot_destroy(gbees_snapshot *snapshot);
/** Returns coordinate j, in the model's axes, of the centre of cell number `cell`. */
double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell);
/** Frees the reader; the folder stays. NULL is allowed. */
void gbees_results_destroy(gbees_results *results);

GBEES_END
#endif
