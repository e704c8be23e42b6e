/* ranks.h - a run that mpirun has started on several processes (ranks): rank 0 is the run, the others serve it. */
#ifndef GBEES_COMMAND_RANKS_H
#define GBEES_COMMAND_RANKS_H

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
/* What ranks can't do: GBEES_EUSAGE. */
int gbees_ranks_check(const gbees_options *options, const gbees_problem *problem, gbees_error *error);

#endif
