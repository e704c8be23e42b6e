/* array.c - arrays in huge pages, by madvise(); see array.h. */
#include "array.h"
#include <stdint.h>
#include <stdlib.h>
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
