/* parts.h - MPI counts elements in an int: longer messages go in parts. */
#ifndef GBEES_MPI_PARTS_H
#define GBEES_MPI_PARTS_H

#include <stddef.h>

/* Elements of a part, at most. */
enum { PART_MOST = 1 << 30 };

/* The number of parts of `count` elements. */
static inline size_t parts_count(size_t count)
{
    return count / PART_MOST + (count % PART_MOST != 0);
}

/* The elements of the part that begins at element `at`, which is less than `count`. */
static inline int part_length(size_t count, size_t at)
{
    return (int)(count - at < PART_MOST ? count - at : PART_MOST);
}

#endif
