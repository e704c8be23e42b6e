/* memory.c - reserves a range of addresses and maps physical memory to it as an array grows; where the device can't
 * do that, allocates a larger array and copies. */
#include "memory.h"
#include <string.h>

/* What cuMemCreate() takes: physical memory of the device. */
static CUmemAllocationProp properties_of(const device_memory *memory)
{
    CUmemAllocationProp properties;

    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = memory->device;
    return properties;
}

int device_memory_open(device_memory *memory, const cuda_api *api, CUdevice device, CUstream stream,
                       gbees_error *error)
{
    CUmemAllocationProp properties;
    int supported = 0;

    *memory = (device_memory){.api = api, .device = device, .stream = stream};
    properties = properties_of(memory);
    int status = cuda_check(api, api->cuDeviceTotalMem(&memory->total, device), "asking for its memory", error);
    if (status)
        return status;
    if (api->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) ==
            CUDA_SUCCESS &&
        supported)
        memory->is_virtual = api->cuMemGetAllocationGranularity(&memory->granularity, &properties,
                                                                CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
                             memory->granularity > 0;
    return 0;
}

size_t device_memory_left(const device_memory *memory)
{
    size_t left = 0, total = 0;

    return memory->api->cuMemGetInfo(&left, &total) == CUDA_SUCCESS ? left : 0;
}

/* `size` rounded up to a multiple of `unit`. */
static size_t rounded(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Sets the error for `size` bytes that the GPU does not have. */
static int fail_memory(const device_memory *memory, size_t size, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM,
                           "the GPU has %.2f GB of memory left, and %.2f GB more are needed: raise 'threshold', make "
                           "cells wider, or take a GPU with more memory",
                           1e-9 * (double)device_memory_left(memory), 1e-9 * (double)size);
}

/* Maps physical memory to the addresses behind the array's end, until it has `size` bytes. */
static int map_more(device_memory *memory, device_array *array, size_t size, gbees_error *error)
{
    const cuda_api *api = memory->api;
    CUmemAllocationProp properties = properties_of(memory);
    CUmemAccessDesc access;
    CUmemGenericAllocationHandle handle;
    size_t more = rounded(size - array->size, memory->granularity);

    memset(&access, 0, sizeof access);
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (api->cuMemCreate(&handle, more, &properties, 0) != CUDA_SUCCESS)
        return fail_memory(memory, more, error);
    CUresult result = api->cuMemMap(array->at + array->size, more, 0, handle, 0);
    if (result == CUDA_SUCCESS)
        result = api->cuMemSetAccess(array->at + array->size, more, &access, 1);
    (void)api->cuMemRelease(handle); /* the mapping keeps it */
    int status = cuda_check(api, result, "mapping memory", error);
    if (!status) {
        array->size += more;
        memory->used += more;
    }
    return status;
}

/* With is_virtual: reserves addresses for an array that has none, and maps memory. */
static int grow_virtual(device_memory *memory, device_array *array, size_t size, size_t most, gbees_error *error)
{
    if (!array->reserved) {
        size_t reserve = rounded(most > size ? most : size, memory->granularity);
        int status = cuda_check(memory->api, memory->api->cuMemAddressReserve(&array->at, reserve, 0, 0, 0),
                                "reserving addresses", error);

        if (status)
            return status;
        array->reserved = reserve;
    }
    if (size > array->reserved)
        return fail_memory(memory, size - array->size, error);
    return map_more(memory, array, size, error);
}

/* Waits for a copy that was started in the stream with this result. */
static int end_copy(const device_memory *memory, CUresult started, const char *doing, gbees_error *error)
{
    const cuda_api *api = memory->api;

    return cuda_check(api, started == CUDA_SUCCESS ? api->cuStreamSynchronize(memory->stream) : started, doing,
                      error);
}

/* Without is_virtual: allocates a larger array, copies the contents, and frees the old one. */
static int grow_copied(device_memory *memory, device_array *array, size_t size, gbees_error *error)
{
    const cuda_api *api = memory->api;
    CUdeviceptr larger;

    if (api->cuMemAlloc(&larger, size) != CUDA_SUCCESS)
        return fail_memory(memory, size, error);
    if (array->size) {
        const int status = end_copy(memory, api->cuMemcpyDtoDAsync(larger, array->at, array->size, memory->stream),
                                    "moving an array", error);

        if (status) {
            (void)api->cuMemFree(larger);
            return status;
        }
        (void)api->cuMemFree(array->at);
    }
    memory->used += size - array->size;
    array->at = larger;
    array->size = size;
    return 0;
}

int device_array_grow(device_memory *memory, device_array *array, size_t size, size_t most, gbees_error *error)
{
    int status = 0;

    if (size > array->size)
        status = memory->is_virtual ? grow_virtual(memory, array, size, most, error)
                                    : grow_copied(memory, array, size, error);
    if (memory->used > memory->peak)
        memory->peak = memory->used;
    return status;
}

int device_send(const device_memory *memory, CUdeviceptr to, const void *from, size_t size, const char *doing,
                gbees_error *error)
{
    return end_copy(memory, memory->api->cuMemcpyHtoDAsync(to, from, size, memory->stream), doing, error);
}

int device_fetch(const device_memory *memory, void *to, CUdeviceptr from, size_t size, const char *doing,
                 gbees_error *error)
{
    return end_copy(memory, memory->api->cuMemcpyDtoHAsync(to, from, size, memory->stream), doing, error);
}

void device_array_free(device_memory *memory, device_array *array)
{
    const cuda_api *api = memory->api;

    if (memory->is_virtual && array->reserved) {
        if (array->size)
            (void)api->cuMemUnmap(array->at, array->size);
        (void)api->cuMemAddressFree(array->at, array->reserved);
    } else if (!memory->is_virtual && array->size) {
        (void)api->cuMemFree(array->at);
    }
    memory->used -= array->size;
    *array = (device_array){0};
}
