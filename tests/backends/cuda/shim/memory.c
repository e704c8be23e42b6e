/* memory.c - memory of a GPU made of threads: so many bytes and no more, mapped into reserved addresses if
 * asked for. */
#include "driver.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

size_t shim_memory = (size_t)1 << 32;
int shim_virtual;
static size_t taken;

enum { GRANULARITY = 1 << 16 };

static CUresult take(size_t size)
{
    if (size > shim_memory || taken > shim_memory - size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    taken += size;
    return CUDA_SUCCESS;
}

static CUresult total_mem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = shim_memory;
    return CUDA_SUCCESS;
}

static CUresult mem_info(size_t *left, size_t *total)
{
    *left = taken < shim_memory ? shim_memory - taken : 0;
    *total = shim_memory;
    return CUDA_SUCCESS;
}

static void *pointer(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

/* ---- blocks: each begins with its size ------------------------------------------------------------------------ */

static CUresult mem_alloc(CUdeviceptr *at, size_t size)
{
    if (take(size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t *block = malloc(size + 64);
    if (!block) {
        taken -= size;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *block = size;
    *at = (CUdeviceptr)(uintptr_t)((char *)block + 64);
    return CUDA_SUCCESS;
}

static CUresult mem_free(CUdeviceptr at)
{
    size_t *block = (size_t *)(void *)((char *)pointer(at) - 64);

    taken -= *block;
    free(block);
    return CUDA_SUCCESS;
}

static CUresult host_alloc(void **at, size_t size)
{
    *at = malloc(size);
    return *at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult host_free(void *at)
{
    free(at);
    return CUDA_SUCCESS;
}

/* ---- memory mapped into reserved addresses: to touch what is not mapped is a fault --------------------------------
 */

static CUresult granularity(size_t *size, const CUmemAllocationProp *properties,
                            CUmemAllocationGranularity_flags flags)
{
    (void)properties, (void)flags;
    *size = GRANULARITY;
    return CUDA_SUCCESS;
}

static CUresult reserve(CUdeviceptr *at, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
    (void)alignment, (void)hint, (void)flags;
    void *address = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (size % GRANULARITY || address == MAP_FAILED)
        return CUDA_ERROR_INVALID_VALUE;
    *at = (CUdeviceptr)(uintptr_t)address;
    return CUDA_SUCCESS;
}

static CUresult unreserve(CUdeviceptr at, size_t size)
{
    return munmap(pointer(at), size) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* A handle is its size: the memory comes with the mapping. */
static CUresult create(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *properties,
                       unsigned long long flags)
{
    (void)properties, (void)flags;
    *handle = size;
    return size % GRANULARITY ? CUDA_ERROR_INVALID_VALUE : take(size);
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    (void)handle;
    return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr at, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                    unsigned long long flags)
{
    (void)at, (void)flags;
    return offset || handle != size ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult set_access(CUdeviceptr at, size_t size, const CUmemAccessDesc *access, size_t count)
{
    (void)access, (void)count;
    return mprotect(pointer(at), size, PROT_READ | PROT_WRITE) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr at, size_t size)
{
    taken -= size;
    return mprotect(pointer(at), size, PROT_NONE) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static CUresult to_device(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)stream;
    memcpy(pointer(to), from, size);
    return CUDA_SUCCESS;
}

static CUresult to_host(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    memcpy(to, pointer(from), size);
    return CUDA_SUCCESS;
}

static CUresult on_device(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    memcpy(pointer(to), pointer(from), size);
    return CUDA_SUCCESS;
}

static CUresult set_bytes(CUdeviceptr at, unsigned char value, size_t count, CUstream stream)
{
    (void)stream;
    memset(pointer(at), value, count);
    return CUDA_SUCCESS;
}

void cuda_shim_open_memory(cuda_api *api)
{
    api->cuDeviceTotalMem = total_mem;
    api->cuMemGetInfo = mem_info;
    api->cuMemAlloc = mem_alloc;
    api->cuMemFree = mem_free;
    api->cuMemAllocHost = host_alloc;
    api->cuMemFreeHost = host_free;
    api->cuMemGetAllocationGranularity = granularity;
    api->cuMemAddressReserve = reserve;
    api->cuMemAddressFree = unreserve;
    api->cuMemCreate = create;
    api->cuMemRelease = release;
    api->cuMemMap = map;
    api->cuMemSetAccess = set_access;
    api->cuMemUnmap = unmap;
    api->cuMemcpyHtoDAsync = to_device;
    api->cuMemcpyDtoHAsync = to_host;
    api->cuMemcpyDtoDAsync = on_device;
    api->cuMemsetD8Async = set_bytes;
}

size_t cuda_shim_taken(void)
{
    return taken;
}
