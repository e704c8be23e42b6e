/* run_files.h - SHA256SUMS, the list of the files of a run that has ended: see doc/results.md. */
#ifndef GBEES_RESULTS_RUN_RUN_FILES_H
#define GBEES_RESULTS_RUN_RUN_FILES_H

#include "results/folder/store.h"
#include <gbees/results.h>

#define GBEES_RUN_FILES "SHA256SUMS"

/* Writes the list of the files that are in the folder: texts with their checksums, records by their names, as they
 * have checksums of their own. */
int gbees_run_files_write(const gbees_store *store, gbees_error *error);
/* Removes it: the run goes on. */
void gbees_run_files_remove(const gbees_store *store);

/* A list that was read. */
typedef struct gbees_run_files gbees_run_files;

/* Reads the list of a folder. *files is NULL if the run has none: it goes on, was killed, or is of an earlier
 * version. Fails if the list is damaged, or missing where run.json names it. */
int gbees_run_files_read(const char *folder, gbees_run_files **files, gbees_error *error);
void gbees_run_files_free(gbees_run_files *files);

/* Whether the run has written a file of this name. */
int gbees_run_files_has(const gbees_run_files *files, const char *name);

/* Reports on each text of the list, on records that are missing, and on sidecars that the run has not written. */
void gbees_run_files_verify(const gbees_run_files *files, const char *folder, gbees_file_report *report,
                            void *context);

#endif
