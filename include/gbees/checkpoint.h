/** @file gbees/checkpoint.h
 * A run's state at one time (core/base, core/results/run).
 */
#ifndef GBEES_CHECKPOINT_H
#define GBEES_CHECKPOINT_H

#include <gbees/error.h>
#include <gbees/problem.h>

GBEES_BEGIN

/** A run's state at one time, from which another process can continue it with the same results, bit for bit. It is
 * made by gbees_solver_run(), written by gbees_writer_checkpoint(), and read by gbees_checkpoint_read(). */
typedef struct gbees_checkpoint gbees_checkpoint;

/** Reads the newest checkpoint of a results folder that is not damaged. The caller destroys it.
 * @param note receives one line that says why a newer one is not used, or an empty text
 */
int gbees_checkpoint_read(const char *folder, gbees_checkpoint **checkpoint, gbees_error *note, gbees_error *error);
/** Checks that a checkpoint is of the same plugin, parameters and scenario as a problem. GBEES_EINPUT: the text says
 * what differs.
 * @param scenario the problem's, as gbees_scenario_text() returns it
 */
int gbees_checkpoint_check(const gbees_checkpoint *checkpoint, const gbees_problem *problem, const char *scenario,
                           gbees_error *error);
/** Frees a checkpoint that gbees_checkpoint_read() has returned; NULL is allowed. */
void gbees_checkpoint_destroy(gbees_checkpoint *checkpoint);

GBEES_END
#endif
