/* array.h - arrays that grow, and large ones in huge pages. */
#ifndef GBEES_BASE_ARRAY_H
#define GBEES_BASE_ARRAY_H

#include <stddef.h>

/* Allocates `count` entries of `size` > 0 bytes, uninitialised, or one entry if count is 0. The caller frees the
 * array by free(). From 1 MiB on it asks the system for huge pages: page faults of 4 KiB pages would take longer than
 * the computation that fills the array. NULL: not enough memory. */
void *gbees_array_create(size_t count, size_t size);

/* Makes room for `count` entries of `size` bytes, and for as many again if there is none. array: the address of the
 * pointer to it, which malloc() has made, or is NULL; *capacity: entries that there is memory for. Returns 0, or 1 if
 * there is no memory: the array is as it was. */
int gbees_array_reserve(void *array, size_t count, size_t *capacity, size_t size);
/* The same for one entry more than `count`. */
int gbees_array_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif
