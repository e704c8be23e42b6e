/* run_file.h - the writer's side of run.h5, the one HDF5 file of a run.
 *
 * The file is readable at any moment, however the process ends. Objects (records, the time series) are appended. A
 * commit then appends the groups that list them, and last rewrites the file's first 512 bytes, which hold the
 * superblock, the pointer to the root group. That is one write of one disk sector; nothing else that a reader can
 * reach is ever overwritten. HDF5 by itself updates its tables in place, and a process killed meanwhile leaves a file
 * that can't be opened. One process writes the file; functions are not thread-safe. */
#ifndef GBEES_IO_RUN_FILE_H
#define GBEES_IO_RUN_FILE_H

#include "run_directory.h"
#include "store.h"

/* Addresses and sizes are in bytes, from the beginning of the file. */
typedef struct gbees_run_file {
    int descriptor;         /* open for reading and writing; owned */
    uint64_t end;           /* of the last object or group; the next one is written here, aligned to 8 */
    uint64_t added, listed; /* total size of all objects, and of all groups that list them */
    int has_uncommitted;    /* objects were added since the last commit */
    unsigned char newest[GBEES_HDF5_SUPERBLOCK]; /* the superblock of the last commit */
    unsigned char safe[GBEES_HDF5_SUPERBLOCK];   /* the one that was newest at the last fsync; zeros before it */
    gbees_run_directory directory;               /* names and addresses of all objects */
} gbees_run_file;

/* Functions that take `error` return GBEES_OK, GBEES_EIO or GBEES_ENOMEM, reopen also GBEES_EINPUT. */

/* Creates run.h5 without objects in the folder, in place of an existing one. *file is set only on success; the caller
 * destroys it. */
int gbees_run_file_create(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Opens an existing run.h5 to append to it; *file is NULL if the folder has none, or on failure. What was written
 * after the last commit is overwritten. GBEES_EINPUT: the file has no valid list of records. */
int gbees_run_file_reopen(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Closes the descriptor and frees the handle, without a commit; NULL is allowed. */
void gbees_run_file_destroy(gbees_run_file *file);

/* Returns the address at which the next object is to be written, a multiple of 8. Cuts off what a failed write has
 * left behind it. */
uint64_t gbees_run_file_begin(gbees_run_file *file);
/* Adds an object, which the caller has written from `address` (its HDF5 object header) to `end`, to the directory in
 * memory. Readers don't see it before the next commit. name: as for gbees_run_directory_add(). */
int gbees_run_file_add(gbees_run_file *file, const char *name, uint64_t address, uint64_t end, gbees_error *error);
/* Makes all added objects visible to readers. Unless `at_once` is set, it does so only while all groups together take
 * no more space than the objects: each commit writes a leg's group anew, and thousands of small records would
 * otherwise fill most of the file with lists. Does not call fsync. */
int gbees_run_file_commit(gbees_run_file *file, int at_once, gbees_error *error);
/* To be called after fsync: the newest superblock becomes the safe one, which a reader uses if a power failure has
 * kept the newest from leading to valid groups. It is written at the next commit. */
void gbees_run_file_synced(gbees_run_file *file);

#endif
