/* array.h - allocates large arrays in huge pages. */
#ifndef GBEES_BASE_ARRAY_H
#define GBEES_BASE_ARRAY_H

#include <stddef.h>

/* Allocates `count` entries of `size` > 0 bytes, uninitialised, or one entry if count is 0. The caller frees the
 * array by free(). From 1 MiB on it asks the system for huge pages: page faults of 4 KiB pages would take longer than
 * the computation that fills the array. NULL: not enough memory. */
void *gbees_array_create(size_t count, size_t size);

#endif
