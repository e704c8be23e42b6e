/* stream.h - bytes of objects to and from a stream, for parts of a checkpoint that are written piece by piece. */
#ifndef GBEES_BASE_STREAM_H
#define GBEES_BASE_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* Writes data[size]; data may be NULL if size is 0. Returns 0, or 1 if that fails. */
static inline int gbees_stream_put(FILE *out, const void *data, size_t size)
{
    return size > 0 && fwrite(data, size, 1, out) != 1;
}

/* Reads data[size]. Returns 0, or 1 if the stream has fewer bytes. */
static inline int gbees_stream_get(FILE *in, void *data, size_t size)
{
    return size > 0 && fread(data, size, 1, in) != 1;
}

#endif
