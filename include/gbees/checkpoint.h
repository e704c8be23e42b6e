/** @file gbees/checkpoint.h
 * A run's state at one time (core/base, core/io).
 */
#ifndef GBEES_CHECKPOINT_H
#define GBEES_CHECKPOINT_H

#include <gbees/error.h>
#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A run's state at one time: what another process needs to go on as if the run had never stopped. It is made by
 * gbees_solver_run(), written by gbees_writer_checkpoint(), and read by gbees_checkpoint_read(). */
typedef struct gbees_checkpoint gbees_checkpoint;

/** Reads the newest checkpoint of a results folder that is whole.
 * @param note receives why a newer one is not used, one line, or nothing
 */
int gbees_checkpoint_read(const char *folder, gbees_checkpoint **checkpoint, gbees_error *note, gbees_error *error);
/** Refuses a checkpoint of a plugin, of parameters or of a scenario that differ: GBEES_EINPUT, with what differs. */
int gbees_checkpoint_check(const gbees_checkpoint *checkpoint, const gbees_problem *problem, const char *scenario,
                           gbees_error *error);
/** Frees a checkpoint that was read. */
void gbees_checkpoint_destroy(gbees_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
