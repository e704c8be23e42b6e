/* pages.h - memory that grows in place: aligned for vectors, in huge pages, without a copy where the system can.
 *
 * Sweeps reach for neighbours all over the heap: with small pages each would cost a walk of the page table, and with
 * rows off their alignment every vector two cache lines.  Pages that were never touched take no memory.
 */
#ifndef GBEES_CPU_PAGES_H
#define GBEES_CPU_PAGES_H

#include <stddef.h>

/* data, of `old` bytes (NULL: none), with room for `size`, its content kept; NULL if there is no memory, and data is
 * as it was. 64-byte aligned. */
void *pages_resize(void *data, size_t old, size_t size);
void pages_free(void *data, size_t size);

#endif
