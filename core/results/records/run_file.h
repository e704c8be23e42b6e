/* run_file.h - the writer's side of run.h5, the one HDF5 file of a run.
 *
 * The file is readable at any moment, however the process ends. HDF5 by itself updates its tables in place, and a
 * process killed meanwhile leaves a file that can't be opened. So HDF5 makes a new file behind what there is, of the
 * records since the last commit (hdf5_driver.h); a commit links all older records into its root group, has HDF5 write
 * that, and last replaces the superblock, which leads to the root group, by one write of one disk sector. Nothing
 * else that a reader can reach is ever overwritten. One process writes the file; functions are not thread-safe. */
#ifndef GBEES_RESULTS_RECORDS_RUN_FILE_H
#define GBEES_RESULTS_RECORDS_RUN_FILE_H

#include "results/hdf5/hdf5_file.h"
#include <gbees/model.h>

/* The file's first block, the only part that is rewritten: the superblock at 0, that of the last fsync at
 * GBEES_HDF5_SAFE. One disk sector, which is written as a whole or not at all. */
enum { GBEES_RUN_BLOCK = 512 };

/* The most numbers of a grid: its origin, widths and axes. */
enum { GBEES_RUN_NUMBERS = 2 * GBEES_MAX_DIM + GBEES_MAX_DIM * GBEES_MAX_DIM };

/* Addresses are in bytes, from the beginning of the file. */
struct gbees_run_file {
    int descriptor;  /* open for reading and writing; owned */
    uint64_t end;    /* of what is committed */
    uint64_t root;   /* address of the root group of the last commit; 0: there is none */
    gbees_hdf5 next; /* the file of the records since then; its id is negative if there are none */
    hid_t grid;      /* the group of the last grid that was written to it, and its numbers; negative: there is none */
    double numbers[GBEES_RUN_NUMBERS];
    hid_t before;               /* the root group of the last commit, open in it */
    double committed_s, took_s; /* when the last commit ended, of CLOCK_MONOTONIC, and how long it took, in seconds */
    unsigned char made[GBEES_HDF5_SUPERBLOCK];   /* by HDF5, for the next commit */
    unsigned char newest[GBEES_HDF5_SUPERBLOCK]; /* the superblock of the last commit */
    unsigned char safe[GBEES_HDF5_SUPERBLOCK];   /* the one that was newest at the last fsync; zeros before it */
};

/* Functions that take `error` return GBEES_OK, GBEES_EIO or GBEES_ENOMEM, reopen also GBEES_EINPUT. */

/* Creates run.h5 without objects in the folder, in place of an existing one. *file is set only on success; the caller
 * destroys it. */
int gbees_run_file_create(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Opens an existing run.h5 to append to it; *file is NULL if the folder has none, or on failure. What was written
 * after the last commit stays without a link. GBEES_EINPUT: HDF5 can't read it. */
int gbees_run_file_reopen(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Closes the descriptor and frees the handle, without a commit; NULL is allowed. */
void gbees_run_file_destroy(gbees_run_file *file);

/* Begins the group NAME ("run", or "leg<n>/record<n>") in place of an older one: what is written to the root of
 * `group` is in it. Readers don't see it before the next commit. */
int gbees_run_file_append(gbees_run_file *file, const char *name, gbees_hdf5 *group, gbees_error *error);
/* Gives a record, whose group is open, the grid of the one before as its group `grid`, if that has the same numbers,
 * of which there are `count`. Returns whether it has. */
int gbees_run_file_share_grid(gbees_run_file *file, hid_t record, const double *numbers, size_t count);
/* Notes a record's group `grid`, which has been written, for those that follow. */
void gbees_run_file_keep_grid(gbees_run_file *file, hid_t record, const double *numbers, size_t count);
/* Whether there is nothing to commit. */
int gbees_run_file_is_committed(const gbees_run_file *file);
/* Makes all groups visible to readers. Unless `at_once` is set, it does so only if commits then take no more than a
 * twentieth of the time: each links all legs anew. Does not call fsync. */
int gbees_run_file_commit(gbees_run_file *file, int at_once, gbees_error *error);
/* Gives up what is not committed: it could not be written. */
void gbees_run_file_abandon(gbees_run_file *file);
/* To be called after fsync: the newest superblock becomes the safe one, which a reader uses if a power failure has
 * kept the newest from leading to groups that can be read. It is written at the next commit. */
void gbees_run_file_synced(gbees_run_file *file);

#endif
