/** @file gbees/parallel.h
 * The contract between gbees and a communicator: the operations of MPI, or of another way to pass messages, that a
 * run on several processes (ranks) needs. For authors of backends and of communicators.
 *
 * A communicator is a module that exports one const struct, its descriptor (card), named gbees_parallel_card. All
 * ranks call the functions of an open communicator in the same order. The functions return nothing: a communicator
 * that fails ends all ranks.
 */
#ifndef GBEES_PARALLEL_H
#define GBEES_PARALLEL_H

#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

GBEES_BEGIN

enum { GBEES_PARALLEL_ABI = 3 /**< raised whenever the layout below changes */ };

/** A message to send to a rank, or the buffer for one to receive from it. Sender and receiver give the same size. */
typedef struct gbees_message {
    int rank;    /**< the other rank */
    size_t size; /**< bytes of data; 0: no message is sent */
    void *data;  /**< owned by the caller */
} gbees_message;

/** An open communicator. `context` is the first argument of its functions. */
typedef struct gbees_parallel {
    void *context;   /**< the communicator's state */
    int rank;        /**< this process's rank, 0 ... ranks - 1 */
    int ranks;       /**< number of ranks */
    int local_ranks; /**< number of ranks on this machine */
    int local_rank;  /**< this process's rank among those, 0 ... local_ranks - 1 */

    /** Replaces each of values[count] by its sum over all ranks, on all ranks (MPI_Allreduce). */
    void (*sum)(void *context, int64_t *values, size_t count);
    /** Replaces each of values[count] by its maximum over all ranks, on all ranks. */
    void (*most)(void *context, double *values, size_t count);
    /** Copies data[size], in bytes, from rank 0 to all ranks. */
    void (*broadcast)(void *context, void *data, size_t size);
    /** Copies own[size], in bytes, of each rank r to all[r * size ...], on all ranks (MPI_Allgather). */
    void (*gather)(void *context, const void *own, size_t size, void *all);
    /** Sends out[outs] and receives in[ins]; returns when all have been sent and received. Only the ranks that are
     * named in a message take part, each with the matching messages. */
    void (*exchange)(void *context, const gbees_message *out, int outs, const gbees_message *in, int ins);
    /** Ends all ranks with this exit status, for a rank that can't continue while others wait for it. As no rank can
     * return an error then, the communicator writes "gbees-run: rank 3: WHY" to the standard error. */
    void (*abort)(void *context, int code, const char *why);
} gbees_parallel;

/** Agrees on one status: each rank passes its own, and all return that of the lowest rank that has failed, with that
 * rank's text in *error, or 0 if none has failed. All ranks must call it. */
static inline int gbees_parallel_agree(const gbees_parallel *parallel, int status, gbees_error *error)
{
    gbees_error own = {GBEES_OK, {0}}, *all;
    double failed = status ? parallel->ranks - parallel->rank : 0;

    parallel->most(parallel->context, &failed, 1);
    if (failed == 0)
        return 0;
    const int first = parallel->ranks - (int)failed;
    if (status && error)
        own = *error;
    own.status = (gbees_status)status;
    all = (gbees_error *)calloc((size_t)parallel->ranks, sizeof *all);
    if (!all) { /* the others wait for this rank */
        parallel->abort(parallel->context, EXIT_FAILURE, "out of memory for the errors of all ranks");
        return status;
    }
    parallel->gather(parallel->context, &own, sizeof own, all);
    own = all[first];
    free(all);
    if (first == 0)
        return gbees_error_set(error, own.status, "%s", own.text);
    return gbees_error_set(error, own.status, "rank %d: %s", first, own.text);
}

/** The descriptor (card) of a communicator. */
typedef struct gbees_parallel_module {
    unsigned abi;      /**< GBEES_PARALLEL_ABI: checked before any other field is read */
    unsigned size;     /**< sizeof(gbees_parallel_module) */
    const char *name;  /**< as --ranks takes it */
    const char *title; /**< one line */

    /** Joins the ranks and sets *parallel; once in a process. Returns a gbees_status. */
    int (*open)(gbees_parallel *parallel, gbees_error *error);
    /** Leaves the ranks; all of them call it. */
    void (*close)(gbees_parallel *parallel);
} gbees_parallel_module;

/** Before a communicator's descriptor: the module exports it. */
#if defined(__GNUC__)
#define GBEES_PARALLEL_EXPORT __attribute__((visibility("default")))
#else
#define GBEES_PARALLEL_EXPORT
#endif

GBEES_END
#endif
