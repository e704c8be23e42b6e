/** @file gbees/results.h
 * Results on disk (core/io; doc/results.md).
 */
#ifndef GBEES_RESULTS_H
#define GBEES_RESULTS_H

#include <gbees/checkpoint.h>
#include <gbees/compared.h>
#include <gbees/record.h>
#include <gbees/refinement.h>
#include <gbees/scenario.h>
#include <gbees/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a results folder stores about its run beside the problem. */
typedef struct gbees_provenance {
    const char *plugin_path; /**< the plugin's file */
    const char *scenario;    /**< YAML */
    const char *backend;     /**< its name */
    const char *device;      /**< the processor */
    const char *command;     /**< the command line */
} gbees_provenance;

/** A results folder that is being written. */
typedef struct gbees_writer gbees_writer;

/** Makes the folder at once, so that an error is found before the run. It must not exist, or be empty. `problem` must
 * outlive the writer; `provenance` is copied. */
int gbees_writer_create(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        gbees_writer **writer, gbees_error *error);
/** Has all records written to one file, run.h5, in place of one each; call it before the first record. A run that is
 * resumed goes on as it began. */
int gbees_writer_one_file(gbees_writer *writer, gbees_error *error);
/** Writes a record, and its row of the time series. The time series (moments.h5, which gbees_writer_finish() adds to
 * run.h5 where that is) is on disk within a second, if gbees_writer_sync() is called meanwhile, and all files are
 * synced as often. */
int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Writes an update's row; the arguments are those of gbees_observer.update. */
int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error);
/** Sets which records' densities are written, and whether there is a time series of the steps; the rest of `output`
 * has no effect here. It must outlive the writer. Without a call all records are written. */
void gbees_writer_output(gbees_writer *writer, const gbees_output *output);
/** Adds a row to the time series of the steps: see gbees_observer.step. */
int gbees_writer_step(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Has what was written more than a second ago on disk, time series included; call it a few times a second. It may be
 * called by another thread than the functions above. */
int gbees_writer_sync(gbees_writer *writer, gbees_error *error);
/** Takes the folder of a run that has been stopped, to go on from a checkpoint: records that were made after it are
 * written anew. run.json lists when and how the run was resumed.
 * @param forced 1: although something differs, which run.json then tells
 */
int gbees_writer_resume(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        const gbees_checkpoint *checkpoint, int forced, gbees_writer **writer, gbees_error *error);
/** Writes a checkpoint to the folder, in place of the older of two. */
int gbees_writer_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error);
/** Has gbees_writer_finish() list the runs that an accuracy took; they are copied. */
int gbees_writer_runs(gbees_writer *writer, const gbees_refinement_step *runs, int count, gbees_error *error);
/** Marks the run as ended. It may be called again.
 * @param state "complete", "failed" or "cancelled"
 */
int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error);
/** Writes what other filters have found beside the run, after gbees_writer_finish(), to compare.h5, and lists the
 * folder's files anew. */
int gbees_writer_comparison(gbees_writer *writer, const gbees_compared *compared, gbees_error *error);
/** Removes the checkpoints: the run has reached its end. */
void gbees_writer_remove_checkpoints(gbees_writer *writer);
/** Frees the writer; the folder stays. */
void gbees_writer_destroy(gbees_writer *writer);

/** A part of a snapshot's density, on a grid of its own: cells first ... first + count - 1. */
typedef struct gbees_snapshot_mode {
    size_t first;                                   /**< its first cell */
    size_t count;                                   /**< its cells */
    double weight;                                  /**< its part of the mass, cells below p* included */
    double origin[GBEES_MAX_DIM];                   /**< the centre of cell 0 */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major: as that of the snapshot */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];  /**< of it */
} gbees_snapshot_mode;

/** One record, read back. */
typedef struct gbees_snapshot {
    int leg;                      /**< counted from 0 */
    int number;                   /**< in its leg, counted from 0 */
    int dimension;                /**< n: entries per axis below */
    double time;                  /**< model time */
    uint64_t step;                /**< steps of this run and of those that it continues */
    double origin[GBEES_MAX_DIM]; /**< the centre of cell 0 */
    double width[GBEES_MAX_DIM];  /**< of a cell */
    int rotated; /**< 1: the centre of cell i is origin + rotation (width * i); 0: rotation is the identity */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major; of a grid that moves any matrix */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];  /**< of it */
    char name[GBEES_MAX_DIM][64];                   /**< of the states */
    char unit[GBEES_MAX_DIM][64];                   /**< of the states */
    char model[64];                                 /**< name of the model */
    double mass;        /**< sum of P before normalisation; not a number in files of old versions */
    gbees_ledger total; /**< since the start; not numbers in files of old versions */
    gbees_ledger since; /**< since the record before; not numbers in files of old versions */
    int warning_count;  /**< entries of `warning` */
    char warning[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT]; /**< texts */
    size_t count;                                          /**< cells */
    int32_t *index[GBEES_MAX_DIM];                         /**< index[j][i]: of cell i along axis j */
    double *p;                                             /**< p[i]: its probability */
    int certified;                 /**< 1: `certificate` is set; 0: the run had no audit, or the file is older */
    gbees_certificate certificate; /**< of the record's error */
    gbees_sample_list samples;     /**< of the audit; empty: there are none */
    int mode_count; /**< entries of `mode`: 0, or at least 2: origin and rotation are then the first's */
    gbees_snapshot_mode mode[GBEES_MODES_MOST]; /**< parts of the density, in order of their cells */
} gbees_snapshot;

/** A results folder that is being read. */
typedef struct gbees_results gbees_results;
/** Opens a results folder, also of a run that goes on or has failed. */
int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error);
/** The number of records, at least 1. */
size_t gbees_results_count(const gbees_results *results);
/** Reads record `number`, counted from 0 in order of leg and number. The caller destroys the snapshot. A child
 * process reads the file: one that is damaged is an error, whatever it does to the libraries that read it. */
int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error);
/** Takes what gbees_results_verify() finds of a file.
 * @param file its name in the folder
 * @param summed whether it has checksums
 * @param problem how it is damaged, or NULL
 */
typedef void gbees_file_report(void *context, const char *file, int summed, const gbees_error *problem);
/** Reads the records, the time series and the texts, and reports on each file, on those that are missing, and on
 * records and sidecars that the run has not written. */
void gbees_results_verify(const gbees_results *results, gbees_file_report *report, void *context);
/** Points of one state. */
typedef struct gbees_points {
    size_t count;  /**< of them, in order of time */
    double *time;  /**< model time */
    double *value; /**< of the state */
    double *std;   /**< standard deviation of its noise; NAN where there is none */
} gbees_points;
/** What was measured and what is true of each state, as far as a results folder has it. */
typedef struct gbees_series {
    size_t measurements;                  /**< of the run */
    gbees_points measured[GBEES_MAX_DIM]; /**< by components with the name of state j */
    gbees_points truth[GBEES_MAX_DIM];    /**< of state j */
} gbees_series;
/** Reads them, in a child process; all are empty if there is no moments.h5 yet.
 * @param name of the states, as in a snapshot
 */
int gbees_series_read(const char *folder, int dimension, const char (*name)[64], gbees_series **series,
                      gbees_error *error);
/** Frees them. */
void gbees_series_destroy(gbees_series *series);
/** Frees the snapshot. */
void gbees_snapshot_destroy(gbees_snapshot *snapshot);
/** The mode that a cell belongs to; NULL: the density is in one part. */
const gbees_snapshot_mode *gbees_snapshot_mode_of(const gbees_snapshot *snapshot, size_t cell);
/** The centre of a cell along state j, in the model's axes. */
double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell);
/** Frees the reader; the folder stays. */
void gbees_results_destroy(gbees_results *results);

#ifdef __cplusplus
}
#endif
#endif
