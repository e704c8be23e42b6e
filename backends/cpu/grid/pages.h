/* pages.h - memory that grows in place: aligned for vectors, in huge pages, without a copy where the system can.
 *
 * Sweeps read neighbours all over the heap: with small pages each would cost a walk of the page table, and in rows
 * that are not aligned every vector would span two cache lines.  Untouched pages take no memory.
 */
#ifndef GBEES_CPU_PAGES_H
#define GBEES_CPU_PAGES_H

#include <stddef.h>

/* Resizes data (NULL: none yet) from `old` to `size` bytes and keeps its content; returns it, 64-byte aligned, or
 * NULL if memory ran out: data is then unchanged. */
void *pages_resize(void *data, size_t old, size_t size);
void pages_free(void *data, size_t size);

#endif
