/* ranks.h - a run that mpirun has started on several processes (ranks): rank 0 is the run, the others serve it. */
#ifndef GBEES_COMMAND_RUN_RANKS_H
#define GBEES_COMMAND_RUN_RANKS_H

#include "command.h"

/* The ranks that this process belongs to; starts as {0}. */
typedef struct gbees_ranks {
    const gbees_parallel_module *module; /* NULL: the process is alone */
    gbees_parallel parallel;
} gbees_ranks;

/* Joins the ranks if options->ranks says so, or is "auto" and mpirun has started the process. */
int gbees_ranks_join(gbees_ranks *ranks, const gbees_options *options, gbees_registry *registry, gbees_error *error);
/* All ranks call it at the end. */
void gbees_ranks_leave(gbees_ranks *ranks);

/* Sets the options as a rank needs them: rank 0 alone writes and prints. */
void gbees_ranks_adapt(const gbees_parallel *parallel, gbees_options *options);

/* Rank 0: has the other ranks serve the next run of an accuracy, that of this scenario. */
int gbees_ranks_send_run(const gbees_parallel *parallel, const gbees_setup *setup, gbees_error *error);
/* Rank 0: there are no more. */
void gbees_ranks_end_runs(const gbees_parallel *parallel);
/* The other ranks: serves all runs of an accuracy. */
void gbees_ranks_serve_runs(const gbees_options *options, const gbees_setup *setup);

#endif
