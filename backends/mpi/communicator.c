/* communicator.c - the communicator that MPI provides (gbees/parallel.h has its functions): the only file that calls
 * MPI.
 *
 * An error of MPI ends all ranks, by MPI's own handler: results of its functions are not checked. */
#include "parts.h"
#include <gbees/parallel.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void sum(void *context, int64_t *values, size_t count)
{
    (void)context;
    for (size_t at = 0; at < count; at += PART_MOST)
        (void)MPI_Allreduce(MPI_IN_PLACE, values + at, part_length(count, at), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void most(void *context, double *values, size_t count)
{
    (void)context;
    for (size_t at = 0; at < count; at += PART_MOST)
        (void)MPI_Allreduce(MPI_IN_PLACE, values + at, part_length(count, at), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void broadcast(void *context, void *data, size_t size)
{
    (void)context;
    for (size_t at = 0; at < size; at += PART_MOST)
        (void)MPI_Bcast((char *)data + at, part_length(size, at), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* abort() of the communicator. */
static void end_all(void *context, int code, const char *why)
{
    int rank = 0;

    (void)context;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)fprintf(stderr, "gbees-run: rank %d: %s\n", rank, why);
    (void)MPI_Abort(MPI_COMM_WORLD, code);
    abort(); /* MPI_Abort() does not return */
}

/* Some bytes of each rank: there are no parts, as those of a rank lie together in `all`. */
static void gather(void *context, const void *own, size_t size, void *all)
{
    if (size > INT_MAX)
        end_all(context, EXIT_FAILURE, "a gather of 2 GiB and more of each rank: MPI counts its bytes in an int");
    (void)MPI_Allgather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD);
}

/* The number of MPI's requests for messages: one for each part. */
static size_t parts_of(const gbees_message *message, int count)
{
    size_t parts = 0;

    for (int k = 0; k < count; k++)
        parts += parts_count(message[k].size);
    return parts;
}

/* Starts to receive messages, or to send them; sets a request for each part, and returns the place behind the last
 * one. */
static MPI_Request *begin(const gbees_message *message, int count, int sends, MPI_Request *request)
{
    for (int k = 0; k < count; k++)
        for (size_t at = 0; at < message[k].size; at += PART_MOST) {
            const int size = part_length(message[k].size, at);
            char *data = (char *)message[k].data + at;

            if (sends)
                (void)MPI_Isend(data, size, MPI_BYTE, message[k].rank, 0, MPI_COMM_WORLD, request++);
            else
                (void)MPI_Irecv(data, size, MPI_BYTE, message[k].rank, 0, MPI_COMM_WORLD, request++);
        }
    return request;
}

static void exchange(void *context, const gbees_message *out, int outs, const gbees_message *in, int ins)
{
    enum { FEW = 64 };
    const size_t parts = parts_of(out, outs) + parts_of(in, ins);
    MPI_Request few[FEW], *request = few;

    if (parts == 0)
        return;
    if (parts > FEW && !(request = malloc(parts * sizeof *request)))
        end_all(context, EXIT_FAILURE, "out of memory for messages to other ranks");
    (void)begin(out, outs, 1, begin(in, ins, 0, request));
    for (size_t k = 0; k < parts; k++) /* of MPI_Waitall() with MPICH's MPI_STATUSES_IGNORE gcc 12 warns */
        (void)MPI_Wait(&request[k], MPI_STATUS_IGNORE);
    if (request != few)
        free(request);
}

/* Starts MPI unless it is started, and sets the communicator of all ranks. */
static int open_ranks(gbees_parallel *parallel, gbees_error *error)
{
    MPI_Comm local;
    int provided = 0, initialised = 0, finalised = 0;

    (void)MPI_Initialized(&initialised);
    (void)MPI_Finalized(&finalised);
    if (finalised)
        return gbees_error_set(error, GBEES_EUSAGE, "MPI has ended in this process: it can't begin again");
    if (!initialised &&
        (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) || provided < MPI_THREAD_FUNNELED))
        return gbees_error_set(error, GBEES_EBACKEND, "MPI does not start beside threads: MPI_Init_thread() failed");
    *parallel = (gbees_parallel){
        .sum = sum, .most = most, .broadcast = broadcast, .gather = gather, .exchange = exchange, .abort = end_all};
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &parallel->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &parallel->ranks);
    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    (void)MPI_Comm_size(local, &parallel->local_ranks);
    (void)MPI_Comm_rank(local, &parallel->local_rank);
    (void)MPI_Comm_free(&local);
    return GBEES_OK;
}

static void close_ranks(gbees_parallel *parallel)
{
    (void)parallel;
    (void)MPI_Finalize();
}

GBEES_PARALLEL_EXPORT extern const gbees_parallel_module gbees_parallel_card;

const gbees_parallel_module gbees_parallel_card = {.abi = GBEES_PARALLEL_ABI,
                                                   .size = sizeof(gbees_parallel_module),
                                                   .name = "mpi",
                                                   .title = "MPI",
                                                   .open = open_ranks,
                                                   .close = close_ranks};
