/* cache.h - linked kernels, kept from run to run in $XDG_CACHE_HOME/gbees or ~/.cache/gbees.
 *
 * A cache can cost time, but neither a result nor an error: an entry that can't be read, or that is not what was
 * written, is as good as none; a folder that can't be written takes none.  GBEES_CACHE=off turns it off.
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

/* The name of what is made from the parts: their order and their borders count. */
int cache_key(const cache_part *parts, size_t count, char key[CACHE_KEY], gbees_error *error);

/* 1 and malloc()ed copies, the image with a NUL behind it; 0: there is no such entry. */
int cache_read(const char *key, cache_entry *entry);
/* 1: it is there now. Older entries go where all together would exceed CACHE_MEGABYTES. */
int cache_write(const char *key, const cache_entry *entry);

#endif
