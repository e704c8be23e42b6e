/* memory.h - arrays in the GPU's memory that grow where they are. */
#ifndef GBEES_CUDA_MEMORY_H
#define GBEES_CUDA_MEMORY_H

#include "api.h"
#include <stddef.h>

/* The memory of one device. */
typedef struct device_memory {
    const cuda_api *api;
    CUdevice device;
    int is_virtual;           /* 1: memory is mapped into reserved addresses, and arrays grow without a copy */
    size_t granularity;       /* bytes of the smallest mapping */
    size_t total, used, peak; /* bytes of the device, of all arrays, and the largest `used` so far */
} device_memory;

/* Starts as {0}. */
typedef struct device_array {
    CUdeviceptr at;
    size_t size, reserved;
} device_array;

int device_memory_open(device_memory *memory, const cuda_api *api, CUdevice device, gbees_error *error);

/* Grows the array to at least `size` bytes; its contents stay. `most`: an upper bound of all later sizes, for which
 * addresses are reserved. */
int device_array_grow(device_memory *memory, device_array *array, size_t size, size_t most, gbees_error *error);
void device_array_free(device_memory *memory, device_array *array);

/* Bytes that the driver reports as free. */
size_t device_memory_left(const device_memory *memory);

#endif
