/* memory.h - arrays in the GPU's memory that grow where they are. */
#ifndef GBEES_CUDA_MEMORY_H
#define GBEES_CUDA_MEMORY_H

#include "api.h"
#include <stddef.h>

/* The memory of one device. */
typedef struct device_memory {
    const cuda_api *api;
    CUdevice device;
    int is_virtual;           /* the driver maps memory into reserved addresses: an array grows without a copy */
    size_t granularity;       /* of such mappings */
    size_t total, used, peak; /* bytes: of the device, of all arrays, most so far */
} device_memory;

/* Starts as {0}. */
typedef struct device_array {
    CUdeviceptr at;
    size_t size, reserved;
} device_array;

int device_memory_open(device_memory *memory, const cuda_api *api, CUdevice device, gbees_error *error);

/* At least `size` bytes; what was there stays. At most `most` bytes will ever be asked for. */
int device_array_grow(device_memory *memory, device_array *array, size_t size, size_t most, gbees_error *error);
void device_array_free(device_memory *memory, device_array *array);

/* Bytes that could still be had. */
size_t device_memory_left(const device_memory *memory);

#endif
