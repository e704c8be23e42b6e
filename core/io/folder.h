/* folder.h - folders for results, and files in them that appear whole or not at all. */
#ifndef GBEES_IO_FOLDER_H
#define GBEES_IO_FOLDER_H

#include <gbees/error.h>
#include <stddef.h>

/* Makes the folder and its parents. It may exist if it is empty. */
int gbees_folder_make(const char *path, gbees_error *error);

/* Makes the folder and its parents; it may have files. */
int gbees_folder_make_all(const char *path, gbees_error *error);

/* folder/name, to be freed; NULL when there is no memory. */
char *gbees_folder_join(const char *folder, const char *name);

/* A file that is written as PATH.tmp and takes its name at the end. */
typedef struct gbees_temporary {
    char *path, *temporary;
    int descriptor;
} gbees_temporary;

int gbees_temporary_create(const char *path, gbees_temporary *file, gbees_error *error);
/* Syncs, closes, renames and syncs the folder. On failure the temporary file is gone, and an older file of that
 * name is as it was. */
int gbees_temporary_commit(gbees_temporary *file, gbees_error *error);
/* Closes and removes it. Harmless after a commit. */
void gbees_temporary_abandon(gbees_temporary *file);

/* Writes a text to such a file. */
int gbees_folder_write(const char *folder, const char *name, const char *text, size_t length, gbees_error *error);

#endif
