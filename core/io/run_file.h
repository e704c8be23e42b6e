/* run_file.h - run.h5, the one file of a run, while it is written. Objects are added behind what is there, and
 * nothing that a reader sees is written over: a new list of all records is written behind them, and then, by one
 * write of one sector, the superblock that names it. So the file is whole at any time, however the process ends. HDF5
 * alone writes over its own tables, and leaves a file that can't be read where it is killed meanwhile. */
#ifndef GBEES_IO_RUN_FILE_H
#define GBEES_IO_RUN_FILE_H

#include "run_directory.h"
#include "store.h"

typedef struct gbees_run_file {
    int descriptor;
    uint64_t end;                                /* of what has been added */
    uint64_t added, listed;                      /* bytes of objects, and of lists, so far */
    int behind;                                  /* whether something has been added since the last list */
    unsigned char newest[GBEES_HDF5_SUPERBLOCK]; /* superblocks: in the file, */
    unsigned char safe[GBEES_HDF5_SUPERBLOCK];   /* and as of the last sync */
    gbees_run_directory directory;
} gbees_run_file;

/* Makes a file without records in the folder. */
int gbees_run_file_create(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Opens that of the folder, to go on; *file is NULL if there is none. */
int gbees_run_file_reopen(const gbees_store *store, gbees_run_file **file, gbees_error *error);
/* Harmless for NULL. */
void gbees_run_file_destroy(gbees_run_file *file);

/* Where the next object is to be written: what a failed one has left there is gone. */
uint64_t gbees_run_file_begin(gbees_run_file *file);
/* Notes an object that has been written up to `end`; names are those of gbees_run_directory_add(). */
int gbees_run_file_add(gbees_run_file *file, const char *name, uint64_t address, uint64_t end, gbees_error *error);
/* Has readers see what has been added. Unless `at_once`, only if all lists take less space than what they list: those
 * of thousands of small records would take most of the file. */
int gbees_run_file_commit(gbees_run_file *file, int at_once, gbees_error *error);
/* Notes that all is on disk: what a power failure leaves is read as of now. */
void gbees_run_file_synced(gbees_run_file *file);

#endif
