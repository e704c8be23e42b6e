/* checkpoint_file.h - checkpoints as files of a results folder: checkpoint-A.h5 and checkpoint-B.h5, the last two. */
#ifndef GBEES_RESULTS_RUN_CHECKPOINT_FILE_H
#define GBEES_RESULTS_RUN_CHECKPOINT_FILE_H

#include "base/checkpoint.h"
#include "results/folder/store.h"

/* Writes checkpoint `number` of a run, counted from 1, in place of number - 2, on up to so many threads. */
int gbees_checkpoint_file_write(const gbees_store *store, uint64_t number, const gbees_checkpoint *checkpoint,
                                int threads, gbees_error *error);
/* Reads a file into an empty checkpoint, which a failure leaves empty. Its checksums are not looked at: it is for a
 * file that gbees_verify_file() has found to be right. */
int gbees_checkpoint_file_load(const char *path, gbees_checkpoint *to, uint64_t *number, gbees_error *error);
/* Removes both. */
void gbees_checkpoint_file_remove(const gbees_store *store);

#endif
