/* pages.h - memory that grows, if the system can without a copy; aligned for vectors, in huge pages.
 *
 * Sweeps read neighbours all over the heap: with small pages most of these reads would need a walk of the page table,
 * and in rows that are not aligned vectors would span two cache lines.  Pages that were never touched take no memory.
 */
#ifndef GBEES_CPU_PAGES_H
#define GBEES_CPU_PAGES_H

#include <stddef.h>

/* Resizes data (NULL: none yet) from `old` to `size` bytes and keeps its content. Returns it, aligned to 64 bytes;
 * NULL: out of memory, and data is unchanged. */
void *pages_resize(void *data, size_t old, size_t size);
/* Frees data of `size` bytes. */
void pages_free(void *data, size_t size);

#endif
