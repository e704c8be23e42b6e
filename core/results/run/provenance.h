/* provenance.h - run.json: what a results folder stores about its run. */
#ifndef GBEES_RESULTS_RUN_PROVENANCE_H
#define GBEES_RESULTS_RUN_PROVENANCE_H

#include "base/checkpoint.h"
#include "results/folder/store.h"
#include "results/records/run_info.h"

/* The problem must outlive the info. */
int gbees_run_info_create(const gbees_problem *problem, const gbees_provenance *provenance, gbees_run_info *info,
                          gbees_error *error);
void gbees_run_info_free(gbees_run_info *info);

/* The file that a model came from, by its name's place in memory: the model itself may be a copy of what the file
 * has. NULL if that is not known. */
const char *gbees_model_path(const gbees_model *model);
/* "sha256:..." of the model's source text; empty if the plugin has none. */
void gbees_model_hash(const gbees_model *model, char hash[GBEES_MODEL_HASH]);

/* Adds what a checkpoint must be of: checkpoint.c. */
int gbees_run_info_save(const gbees_run_info *info, gbees_checkpoint *checkpoint, gbees_error *error);
/* Takes over what the folder's run.json says of the start of the run and of earlier resumptions, and adds this one.
 */
int gbees_run_info_resume(gbees_run_info *info, const gbees_store *store, int forced, gbees_error *error);

/* Writes run.json; summary is NULL while the run goes on. */
int gbees_run_info_write(const gbees_run_info *info, const gbees_store *store, const char *state,
                         const gbees_summary *summary, gbees_error *error);

#endif
