/* run_info.h - what all records of a run share: its problem, program, machine, and how it was started. */
#ifndef GBEES_RESULTS_RECORDS_RUN_INFO_H
#define GBEES_RESULTS_RECORDS_RUN_INFO_H

#include <gbees/gbees.h>

enum { GBEES_MODEL_HASH = 80 };

typedef struct gbees_run_info {
    const gbees_problem *problem;
    char *plugin_path, *scenario, *backend, *device, *command; /* copies, "" for NULL */
    char model_hash[GBEES_MODEL_HASH];                         /* "sha256:..." of the plugin's source text */
    char *resumed;          /* JSON: when and how the run was resumed; NULL: never */
    const char *stopped_by; /* of a run that has not come to its end; a constant text, or NULL */
    char host[256];
    char started[32];            /* UTC, ISO 8601 */
    size_t records;              /* that are written */
    gbees_scores scores;         /* of records beside a truth */
    int writing_threads;         /* that compress a record, at most */
    int run_count;               /* of `runs` */
    gbees_refinement_step *runs; /* that an accuracy took; a copy, or NULL */
} gbees_run_info;

#endif
