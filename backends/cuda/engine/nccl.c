/* nccl.c - opens NCCL's library, looks up its functions by name, and checks what they return. */
#include "nccl.h"
#include "cuda/driver/library.h"
#include <string.h>

enum { NCCL_BYTES = 1 }; /* ncclUint8 */

/* Turns a result of NCCL into a status, with its text. */
static int check(const nccl_comm *nccl, int result, const char *doing, gbees_error *error)
{
    return result ? gbees_error_set(error, GBEES_EBACKEND, "NCCL failed while %s: %s", doing, nccl->text(result)) : 0;
}

/* Sets the functions of an open library; returns 1 if it has all of them. */
static int find_functions(nccl_comm *nccl)
{
    struct {
        const char *name;
        void *to; /* the member of nccl_comm that points to it */
    } const functions[] = {
        {"ncclGetUniqueId", &nccl->get_id}, {"ncclCommInitRank", &nccl->init},   {"ncclCommDestroy", &nccl->destroy},
        {"ncclGroupStart", &nccl->start},   {"ncclGroupEnd", &nccl->end},        {"ncclSend", &nccl->send},
        {"ncclRecv", &nccl->receive},       {"ncclGetErrorString", &nccl->text},
    };

    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        void *const found = library_symbol(nccl->library, functions[k].name);

        if (!found)
            return 0;
        memcpy(functions[k].to, &found, sizeof found);
    }
    return 1;
}

/* Opens the library and sets its functions; sets *nccl to {0} if it is not there, or lacks one. */
static void find_library(nccl_comm *nccl)
{
    static const char *const names[] = {"libnccl.so.2", NULL};
    gbees_error ignored;

    *nccl = (nccl_comm){0};
    nccl->library = library_open(names, LIBRARY_TOOLKIT, NULL, &ignored);
    if (nccl->library && !find_functions(nccl)) {
        library_close(nccl->library);
        *nccl = (nccl_comm){0};
    }
}

int nccl_open(nccl_comm *nccl, const gbees_parallel *parallel, gbees_error *error)
{
    nccl_id id;
    double lacks;

    find_library(nccl);
    lacks = !nccl->library;
    parallel->most(parallel->context, &lacks, 1);
    if (lacks > 0) {
        nccl_close(nccl);
        return 0;
    }
    memset(&id, 0, sizeof id);
    int status = parallel->rank == 0 ? check(nccl, nccl->get_id(&id), "it was opened", error) : 0;
    status = gbees_parallel_agree(parallel, status, error);
    if (status)
        return status;
    parallel->broadcast(parallel->context, &id, sizeof id);
    return gbees_parallel_agree(
        parallel, check(nccl, nccl->init(&nccl->comm, parallel->ranks, id, parallel->rank), "it was opened", error),
        error);
}

void nccl_close(nccl_comm *nccl)
{
    if (nccl->comm)
        (void)nccl->destroy(nccl->comm);
    library_close(nccl->library);
    *nccl = (nccl_comm){0};
}

int nccl_begin(nccl_comm *nccl, gbees_error *error)
{
    return check(nccl, nccl->start(), "bricks were sent", error);
}

int nccl_send(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error)
{
    return size ? check(nccl, nccl->send((const void *)(uintptr_t)at, size, NCCL_BYTES, rank, nccl->comm, stream),
                        "bricks were sent", error)
                : 0;
}

int nccl_receive(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error)
{
    return size ? check(nccl, nccl->receive((void *)(uintptr_t)at, size, NCCL_BYTES, rank, nccl->comm, stream),
                        "bricks were received", error)
                : 0;
}

int nccl_end(nccl_comm *nccl, gbees_error *error)
{
    return check(nccl, nccl->end(), "bricks were sent", error);
}
