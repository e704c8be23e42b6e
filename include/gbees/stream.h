/** @file gbees/stream.h
 * A filter: measurements that arrive while the program runs (core/solver/run).
 *
 *     gbees_stream_create -> (gbees_stream_predict | gbees_stream_update) ... -> gbees_stream_destroy
 *
 * A stream keeps its engine from measurement to measurement. It has the results of gbees_solver_run() with the same
 * measurements and `records: 1`, bit for bit unless there is a mass budget, which knows the run's end.
 */
#ifndef GBEES_STREAM_H
#define GBEES_STREAM_H

#include <gbees/results.h>
#include <gbees/solver.h>

GBEES_BEGIN

/** A density that goes from measurement to measurement. */
typedef struct gbees_stream gbees_stream;

/** Creates a stream, and the backend's engine with the initial density. Problem and backend must outlive it. The
 * problem's measurements are not used, nor is its end.
 * @param options NULL: the defaults. A stream is one process: GBEES_EUSAGE if options->parallel is set
 */
int gbees_stream_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_stream **stream, gbees_error *error);
/** Creates a stream in the state of a checkpoint that gbees_stream_save() has made, of the same problem.
 * GBEES_EINPUT: it is of another one. */
int gbees_stream_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_stream **stream, gbees_error *error);
/** Frees the stream and its engine; NULL is allowed. */
void gbees_stream_destroy(gbees_stream *stream);

/** The problem of the stream's records, with the measurements so far, and the time of the density as its end: the one
 * that a writer of its results is created with. */
const gbees_problem *gbees_stream_problem(const gbees_stream *stream);
/** Reads a measurement, as an entry of a scenario's list has it: "{time: 1, function: z, value: [-8], covariance:
 * [1]}". GBEES_EINPUT. */
int gbees_measurement_read(const gbees_problem *problem, const char *text, gbees_measurement *measurement,
                           gbees_error *error);

/** Takes the density to a time, and makes a record there; before the first, one of the start. At the present time it
 * makes the last record again, for an observer that now wants its cells.
 *
 * After an error the stream is as it was before the call, and may go on; records that had been made have been passed
 * on, and are made again by the next call. GBEES_EINPUT: the time is before that of the density. GBEES_ECANCELLED:
 * the observer has cancelled the call. Only where there was no memory for a copy of the density does it end with an
 * error after which the stream may only be destroyed; the text says so.
 * @param observer NULL: none. Its audit, `step` and checkpoints have no effect
 */
int gbees_stream_predict(gbees_stream *stream, double time, const gbees_observer *observer, gbees_error *error);
/** Does the same to the time of a measurement, with a record there unless the density is there already; then applies
 * the measurement, and makes the first record of the next leg. GBEES_EUNSUPPORTED: the likelihood is 0 everywhere. */
int gbees_stream_update(gbees_stream *stream, const gbees_measurement *measurement, const gbees_observer *observer,
                        gbees_error *error);
/** Passes to observer->smoothed the records that a run with all measurements so far would have, given all of them.
 * The stream stays as it is. GBEES_EUSAGE: the backend can't. */
int gbees_stream_smooth(gbees_stream *stream, const gbees_observer *observer, gbees_error *error);

/** Writes a checkpoint to the writer's folder. */
int gbees_stream_save(gbees_stream *stream, gbees_writer *writer, gbees_error *error);
/** Sets *summary to the totals so far. */
void gbees_stream_summary(const gbees_stream *stream, gbees_summary *summary);

GBEES_END
#endif
