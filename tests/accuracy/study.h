/* study.h - a results folder, and what its run was of, made again from it; and what the run says of itself. */
#ifndef GBEES_TEST_STUDY_H
#define GBEES_TEST_STUDY_H

#include "audit/montecarlo.h"
#include <gbees/gbees.h>

/* NULL: as the folder says. */
typedef struct gbees_study_options {
    const char *plugin, *plugin_path, *scenario;
} gbees_study_options;

typedef struct gbees_study {
    const char *folder;
    gbees_results *results;
    gbees_registry *registry;
    gbees_scenario *scenario;
    gbees_problem *problem;
} gbees_study;

/* To be closed after a failure, too. */
int gbees_study_open(const char *folder, const gbees_study_options *options, gbees_study *study, gbees_error *error);
void gbees_study_close(gbees_study *study);

/* From run.h5: the moments of a record as the run reports them, and its ledger up to then. */
typedef struct gbees_reported {
    gbees_sample_moments moments;
    double mass, clipped, outflow, pruned;
} gbees_reported;
int gbees_study_reported(const gbees_study *study, size_t record, gbees_reported *reported, gbees_error *error);

/* From run.json. */
typedef struct gbees_work {
    double steps, cell_updates, max_cells, propagate_s;
    int threads;
} gbees_work;
int gbees_study_work(const gbees_study *study, gbees_work *work, gbees_error *error);

/* Where samples are on their way through a run: the leg, and the first measurement not yet used. Starts as {0}. */
typedef struct gbees_run_position {
    int leg, next;
} gbees_run_position;
/* Integrates and weights the samples up to a record, no earlier than the one before. A leg opens with all
 * measurements of one time. */
int gbees_study_advance(const gbees_study *study, gbees_run_position *position, gbees_montecarlo *montecarlo,
                        const gbees_snapshot *snapshot, gbees_error *error);

#endif
