/* nccl.h - NCCL, which copies between the GPUs of several processes: found when a run starts, as the CUDA libraries
 * are. A build needs nothing of it. */
#ifndef GBEES_CUDA_NCCL_H
#define GBEES_CUDA_NCCL_H

#include <cuda.h>
#include <gbees/parallel.h>

/* NCCL's own types, as its header has them. */
typedef struct nccl_id {
    char internal[128];
} nccl_id;

/* An open communicator of NCCL; {0}: none. */
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

/* Opens it on all ranks, each with the GPU whose context is current. Without NCCL on a rank nccl->library is NULL on
 * all. */
int nccl_open(nccl_comm *nccl, const gbees_parallel *parallel, gbees_error *error);
void nccl_close(nccl_comm *nccl);

/* Messages of a group travel side by side, in a stream's order. */
int nccl_begin(nccl_comm *nccl, gbees_error *error);
int nccl_send(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error);
int nccl_receive(nccl_comm *nccl, CUdeviceptr at, size_t size, int rank, CUstream stream, gbees_error *error);
int nccl_end(nccl_comm *nccl, gbees_error *error);

#endif
