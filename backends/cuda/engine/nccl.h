/* nccl.h - messages between the GPUs of several processes, by NCCL. The library is opened when a run starts, as the
 * CUDA libraries are: a build needs neither it nor its header. */
#ifndef GBEES_CUDA_NCCL_H
#define GBEES_CUDA_NCCL_H

#include <cuda.h>
#include <gbees/parallel.h>

/* ncclUniqueId of NCCL's header. */
typedef struct nccl_id {
    char internal[128];
} nccl_id;

/* An open communicator, and NCCL's functions (nccl.c has their names), whose results are 0 or an error; {0}: none. */
typedef struct nccl_comm {
    void *library, *comm;
    int (*get_id)(nccl_id *id);
    int (*init)(void **comm, int ranks, nccl_id id, int rank);
    int (*destroy)(void *comm);
    int (*start)(void);
    int (*end)(void);
    int (*send)(const void *from, size_t count, int type, int to, void *comm, CUstream stream);
    int (*receive)(void *to, size_t count, int type, int from, void *comm, CUstream stream);
    const char *(*text)(int result);
} nccl_comm;

/* All ranks: opens a communicator, on each rank for the GPU whose context is current. If a rank doesn't find NCCL,
 * sets nccl->library to NULL on all and returns 0. nccl_close() closes it, also after an error. */
int nccl_open(nccl_comm *nccl, const gbees_parallel *parallel, gbees_error *error);
void nccl_close(nccl_comm *nccl);

/* Sends and receives `size` bytes of the GPU's memory between nccl_begin() and nccl_end(), which puts all of these
 * messages into the stream as one operation. Memory may be used by what is put into the stream after it. Size 0: no
 * message. */
int nccl_begin(nccl_comm *nccl, gbees_error *error);
int nccl_send(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error);
int nccl_receive(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error);
int nccl_end(nccl_comm *nccl, gbees_error *error);

#endif
