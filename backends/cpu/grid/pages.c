/* pages.c - large arrays are anonymous mappings: mremap() makes them longer without a copy, madvise() asks for huge
 * pages. Small arrays, and all where there is no mremap(), are aligned allocations that are copied. */
#include "pages.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum {
    ALIGNMENT = 64,
    MAPPED = 1 << 16, /* bytes from which on memory is mapped: then it grows without being copied */
    LARGE = 1 << 20   /* bytes from which on it is in huge pages */
};

#ifdef __linux__

static const size_t HUGE = (size_t)2 << 20;

/* Whether so many bytes are mapped. */
static int is_mapped(size_t size)
{
    return size >= MAPPED;
}

/* The bytes that are mapped for a size: whole huge pages for large ones; the system rounds up small ones itself. */
static size_t rounded(size_t size)
{
    return size < LARGE ? size : (size + HUGE - 1) / HUGE * HUGE;
}

/* Asks for huge pages; returns data. */
static void *advise(void *data, size_t size)
{
    if (size >= LARGE)
        (void)madvise(data, rounded(size), MADV_HUGEPAGE);
    return data;
}

static void *map(size_t size)
{
    void *data =
        mmap(NULL, rounded(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return data == MAP_FAILED ? NULL : advise(data, size);
}

static void *remap(void *data, size_t old, size_t size)
{
    void *moved = mremap(data, rounded(old), rounded(size), MREMAP_MAYMOVE);

    return moved == MAP_FAILED ? NULL : advise(moved, size);
}

static void unmap(void *data, size_t size)
{
    (void)munmap(data, rounded(size));
}

#else

static int is_mapped(size_t size)
{
    (void)size;
    return 0;
}

static void *map(size_t size)
{
    (void)size;
    return NULL;
}

static void *remap(void *data, size_t old, size_t size)
{
    (void)data, (void)old, (void)size;
    return NULL;
}

static void unmap(void *data, size_t size)
{
    (void)data, (void)size;
}

#endif

void *pages_resize(void *data, size_t old, size_t size)
{
    if (data && is_mapped(old) && is_mapped(size))
        return remap(data, old, size);
    void *fresh =
        is_mapped(size) ? map(size) : aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (fresh && data) {
        memcpy(fresh, data, old < size ? old : size);
        pages_free(data, old);
    }
    return fresh;
}

void pages_free(void *data, size_t size)
{
    if (data && is_mapped(size))
        unmap(data, size);
    else
        free(data);
}
