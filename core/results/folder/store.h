/* store.h - a results folder that one process writes, and files in it that appear whole or not at all. All names are
 * relative to one handle of the folder, so that a change of its path can't redirect a write. */
#ifndef GBEES_RESULTS_FOLDER_STORE_H
#define GBEES_RESULTS_FOLDER_STORE_H

#include <gbees/error.h>
#include <stddef.h>

enum { GBEES_STORE_NAME = 96 };

typedef struct gbees_store {
    char *path;     /* as it was given: for messages */
    int descriptor; /* of the folder */
    int lock;       /* of the file that is locked while the folder is open; negative: there is none */
} gbees_store;

/* Makes the folder, or takes one that is empty, belongs to the user and can be written by nobody else. Removes what a
 * run that was killed has left half-written. A folder that another process has open is refused. */
int gbees_store_open(const char *path, gbees_store *store, gbees_error *error);
/* Opens a folder that may have files, which stay. */
int gbees_store_reopen(const char *path, gbees_store *store, gbees_error *error);
/* Frees the folder for others. Harmless for a store of zeros. */
void gbees_store_close(gbees_store *store);

/* Frees some space that an open folder keeps, so that a run's last state finds some on a disk that is full. */
void gbees_store_use_reserve(const gbees_store *store);

/* Refuses a folder that another process has open, and says which. One that is not there is not open. */
int gbees_store_check(const char *path, gbees_error *error);

/* Whether a file of this name is only there while a process writes to the folder, or was killed. */
int gbees_store_is_leftover(const char *name);

/* A file that is written as NAME.tmp and takes its name at the end. */
typedef struct gbees_temporary {
    const gbees_store *store;
    char name[GBEES_STORE_NAME], temporary[GBEES_STORE_NAME + 8];
    int descriptor;
    int unsynced; /* 1: the commit leaves it to gbees_store_sync() that the file outlives a power failure */
} gbees_temporary;

int gbees_temporary_create(const gbees_store *store, const char *name, gbees_temporary *file, gbees_error *error);
/* Syncs, closes, renames and syncs the folder; of a file that may stay unsynced, it closes and renames. On failure
 * the temporary file is gone, and an older file of that name is as it was. */
int gbees_temporary_commit(gbees_temporary *file, gbees_error *error);
/* Closes and removes it. Harmless after a commit. */
void gbees_temporary_abandon(gbees_temporary *file);

/* Writes a text to such a file. */
int gbees_store_write(const gbees_store *store, const char *name, const char *text, size_t length,
                      gbees_error *error);
/* Writes a text to such a file without a sync. */
int gbees_store_write_unsynced(const gbees_store *store, const char *name, const char *text, size_t length,
                               gbees_error *error);

/* Syncs all files that have been committed unsynced. */
int gbees_store_sync(const gbees_store *store, gbees_error *error);

#endif
