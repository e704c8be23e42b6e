/** @file gbees/parallel.h
 * The contract between gbees and a communicator: what a run that is shared among processes (ranks) needs of MPI, or
 * of anything else that passes messages. For authors of backends and of communicators.
 *
 * A communicator is a module that exports one const struct, its descriptor (card), named gbees_parallel_card. All
 * ranks call the functions of an open communicator in the same order. A communicator that can't do what it is asked
 * for ends all ranks: calls have no result to check.
 */
#ifndef GBEES_PARALLEL_H
#define GBEES_PARALLEL_H

#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GBEES_PARALLEL_ABI = 3 /**< raised whenever the layout below changes */ };

/** Bytes to send to a rank, or the memory for those to receive from it. Both ranks name the same size. */
typedef struct gbees_message {
    int rank;    /**< the other one */
    size_t size; /**< of data; 0: no message is sent */
    void *data;  /**< the caller's */
} gbees_message;

/** An open communicator. `context` is the first argument of its functions. */
typedef struct gbees_parallel {
    void *context;   /**< the communicator's own */
    int rank;        /**< of this process, 0 .. ranks - 1 */
    int ranks;       /**< how many */
    int local_ranks; /**< how many of them run on this machine */
    int local_rank;  /**< of this process among those, 0 .. local_ranks - 1 */

    /** Replaces each integer by its sum over all ranks. */
    void (*sum)(void *context, int64_t *values, size_t count);
    /** Replaces each number by the largest of all ranks. */
    void (*most)(void *context, double *values, size_t count);
    /** Copies `size` bytes of rank 0 to all ranks. */
    void (*broadcast)(void *context, void *data, size_t size);
    /** Sets all[rank * size ...] to `size` bytes of each rank, on all ranks. */
    void (*gather)(void *context, const void *own, size_t size, void *all);
    /** Sends and receives messages. The partners call it, too, with messages of these sizes; other ranks need not. */
    void (*exchange)(void *context, const gbees_message *out, int outs, const gbees_message *in, int ins);
    /** Ends all ranks at once, with this exit status: this rank can't go on, and the others wait for it. As none of
     * them can return an error any more, the communicator writes "gbees-run: rank 3: WHY" to the standard error. */
    void (*abort)(void *context, int code, const char *why);
} gbees_parallel;

/** Returns the status of the lowest rank that has failed, with its text, on all ranks; 0 if none has. All call it. */
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

    /** Joins the ranks, once a process. Returns a gbees_status. */
    int (*open)(gbees_parallel *parallel, gbees_error *error);
    /** Leaves them; all ranks do so together. */
    void (*close)(gbees_parallel *parallel);
} gbees_parallel_module;

#if defined(__GNUC__)
#define GBEES_PARALLEL_EXPORT __attribute__((visibility("default")))
#else
#define GBEES_PARALLEL_EXPORT
#endif

#ifdef __cplusplus
}
#endif
#endif
