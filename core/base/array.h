/* array.h - memory for large arrays. */
#ifndef GBEES_BASE_ARRAY_H
#define GBEES_BASE_ARRAY_H

#include <stddef.h>

/* Allocates `count` entries of `size` bytes, one at least; free() frees them. A large array is in huge pages where
 * the system has them: to get its pages one by one would take longer than to compute what is written to them. NULL:
 * there is no memory. */
void *gbees_array_create(size_t count, size_t size);

#endif
