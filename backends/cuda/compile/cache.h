/* cache.h - compiled kernels, kept from run to run in $XDG_CACHE_HOME/gbees or ~/.cache/gbees.
 *
 * The cache can cost time, but never causes an error: an entry that can't be read or is damaged counts as missing,
 * and nothing is written to a folder that can't be written.  GBEES_CACHE=off turns the cache off.
 */
#ifndef GBEES_CUDA_CACHE_H
#define GBEES_CUDA_CACHE_H

#include <gbees/error.h>
#include <stddef.h>

enum { CACHE_KEY = 65, CACHE_FORMAT = 1, CACHE_MEGABYTES = 256 };

/* Something that a kernel depends on. */
typedef struct cache_part {
    const void *data;
    size_t size;
} cache_part;

typedef struct cache_entry {
    void *image;
    size_t image_size;
    char *report; /* NUL-terminated */
} cache_entry;

/* Hashes the parts to the name of an entry.  Their order counts, and where each ends. */
int cache_key(const cache_part *parts, size_t count, char key[CACHE_KEY], gbees_error *error);

/* Reads an entry: malloc()ed copies, the image with a NUL behind it.  Returns 0 if there is none. */
int cache_read(const char *key, cache_entry *entry);
/* Writes an entry, and removes the entries used longest ago if all together exceed CACHE_MEGABYTES.  Returns 1 if it
 * is written. */
int cache_write(const char *key, const cache_entry *entry);

#endif
