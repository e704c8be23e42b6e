/* provenance.h - run.json: what a results folder stores about its run. */
#ifndef GBEES_IO_PROVENANCE_H
#define GBEES_IO_PROVENANCE_H

#include "store.h"
#include <gbees/gbees.h>

typedef struct gbees_run_info {
    const gbees_problem *problem;
    char *plugin_path, *scenario, *backend, *device, *command; /* copies, "" for NULL */
    char model_hash[80];                                       /* "sha256:..." of the plugin's source text */
    char host[256];
    char started[32];            /* UTC, ISO 8601 */
    gbees_scores scores;         /* of records beside a truth */
    int run_count;               /* of `runs` */
    gbees_refinement_step *runs; /* that an accuracy took; a copy, or NULL */
} gbees_run_info;

/* The problem must outlive the info. */
int gbees_run_info_create(const gbees_problem *problem, const gbees_provenance *provenance, gbees_run_info *info,
                          gbees_error *error);
void gbees_run_info_free(gbees_run_info *info);

/* Writes run.json; summary is NULL while the run goes on. */
int gbees_run_info_write(const gbees_run_info *info, const gbees_store *store, const char *state,
                         const gbees_summary *summary, gbees_error *error);

#endif
