/* array.c - arrays that grow, and arrays in huge pages, by madvise(); see array.h. */
#include "array.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LARGE = 1 << 20, HUGE_PAGE = 2 << 20 }; /* bytes */

void *gbees_array_create(size_t count, size_t size)
{
    if (count > (SIZE_MAX - HUGE_PAGE) / size)
        return NULL;
    const size_t bytes = count ? count * size : size;
#ifdef MADV_HUGEPAGE
    if (bytes >= LARGE) {
        const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *array = aligned_alloc(HUGE_PAGE, whole);

        if (array)
            (void)madvise(array, whole, MADV_HUGEPAGE);
        return array;
    }
#endif
    return malloc(bytes);
}

int gbees_array_reserve(void *array, size_t count, size_t *capacity, size_t size)
{
    const size_t larger = 2 * count + 16;
    void *grown;

    if (count <= *capacity)
        return 0;
    memcpy(&grown, array, sizeof grown);
    grown = larger < SIZE_MAX / size ? realloc(grown, larger * size) : NULL;
    if (!grown)
        return 1;
    memcpy(array, &grown, sizeof grown);
    *capacity = larger;
    return 0;
}

int gbees_array_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    return gbees_array_reserve(array, count + 1, capacity, size);
}
