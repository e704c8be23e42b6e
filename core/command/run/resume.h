/* resume.h - gbees-run --resume: saves a run's options to its checkpoints, and loads them. */
#ifndef GBEES_COMMAND_RUN_RESUME_H
#define GBEES_COMMAND_RUN_RESUME_H

#include "command.h"

struct json_t;

/* What a run goes on from. Starts as {0}. */
typedef struct gbees_resumption {
    gbees_checkpoint *checkpoint;
    struct json_t *options; /* those that the run began with */
    char *scenario;         /* the file in the folder of the checkpoint */
    int forced;             /* something differs */
} gbees_resumption;

/* Adds the options that a run goes on with to a checkpoint. */
int gbees_resumption_save(const gbees_setup *setup, const gbees_options *options, gbees_checkpoint *checkpoint,
                          gbees_error *error);

/* Reads the newest checkpoint of the folder options->resume, and sets the options to those that the run began with;
 * they are valid as long as the resumption. */
int gbees_resumption_read(gbees_resumption *resumption, gbees_options *options, gbees_error *error);
/* Among ranks rank 0 alone reads it, with this status, and sends the options to the others, which receive them; the
 * folder's scenario.yaml they read themselves. Both return what the ranks agree on. */
int gbees_resumption_send(const gbees_resumption *resumption, const gbees_parallel *parallel, int status,
                          gbees_error *error);
int gbees_resumption_receive(gbees_resumption *resumption, gbees_options *options, gbees_error *error);
/* Refuses a checkpoint of another plugin, scenario or parameters, unless options->force. */
int gbees_resumption_check(gbees_resumption *resumption, const gbees_setup *setup, const gbees_options *options,
                           gbees_error *error);
void gbees_resumption_free(gbees_resumption *resumption);

/* Adds to the failure of a run how to go on. */
void gbees_resumption_hint(const char *folder, gbees_error *failure);

#endif
