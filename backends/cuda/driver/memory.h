/* memory.h - arrays in the GPU's memory that grow where they are. */
#ifndef GBEES_CUDA_MEMORY_H
#define GBEES_CUDA_MEMORY_H

#include "api.h"
#include <stddef.h>

/* The memory of one device. */
typedef struct device_memory {
    const cuda_api *api;
    CUdevice device;
    CUstream stream;          /* of the kernels that use it: copies are ordered with them */
    int is_virtual;           /* 1: memory is mapped into reserved addresses, and arrays grow without a copy */
    size_t granularity;       /* bytes of the smallest mapping */
    size_t total, used, peak; /* bytes: of the device; of all arrays; of all arrays when they were largest */
} device_memory;

/* An array in the GPU's memory. Starts as {0}. */
typedef struct device_array {
    CUdeviceptr at;
    size_t size;     /* bytes */
    size_t reserved; /* bytes of addresses, with is_virtual */
} device_array;

/* Prepares to take memory of a device, whose context is current; `stream` is that of the kernels that use it. */
int device_memory_open(device_memory *memory, const cuda_api *api, CUdevice device, CUstream stream,
                       gbees_error *error);

/* Makes the array at least `size` bytes long; its contents stay.  `most`: bytes of addresses to reserve, no less than
 * any later size.  Without is_virtual the array moves, after the kernels ahead in the stream have ended.  Returns
 * GBEES_ENOMEM, and what is missing, if there is no memory. */
int device_array_grow(device_memory *memory, device_array *array, size_t size, size_t most, gbees_error *error);
/* Frees the array; it is {0} again. */
void device_array_free(device_memory *memory, device_array *array);

/* Sends `size` bytes to the GPU, behind the kernels ahead in the stream. When it returns, `from` may be changed.
 * doing: for the error's text. */
int device_send(const device_memory *memory, CUdeviceptr to, const void *from, size_t size, const char *doing,
                gbees_error *error);
/* Fetches `size` bytes that the kernels ahead in the stream have left. */
int device_fetch(const device_memory *memory, void *to, CUdeviceptr from, size_t size, const char *doing,
                 gbees_error *error);

/* Bytes that the driver reports as free. */
size_t device_memory_left(const device_memory *memory);

#endif
