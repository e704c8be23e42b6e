/* cache.h - compiled kernels, kept from run to run in $XDG_CACHE_HOME/gbees or ~/.cache/gbees.
 *
 * The cache can cost time, but never causes an error: an entry that can't be read or is damaged counts as missing,
 * and nothing is written to a folder that can't be written.  GBEES_CACHE=off turns the cache off.
 */
#ifndef GBEES_CUDA_CACHE_H
#define GBEES_CUDA_CACHE_H

#include <gbees/error.h>
#include <stddef.h>

enum {
    CACHE_KEY = 65,       /* bytes of a key: 64 digits and NUL */
    CACHE_FORMAT = 1,     /* of the files; raised whenever they change */
    CACHE_MEGABYTES = 256 /* of all files, at most */
};

/* Bytes that an entry depends on, as an option or a text. */
typedef struct cache_part {
    const void *data;
    size_t size;
} cache_part;

/* What an entry holds. */
typedef struct cache_entry {
    void *image;
    size_t image_size;
    char *report; /* NUL-terminated */
} cache_entry;

/* Makes the key of an entry: the SHA-256 of the parts and their sizes, in their order. */
int cache_key(const cache_part *parts, size_t count, char key[CACHE_KEY], gbees_error *error);

/* Reads an entry: the image, with a NUL behind it, and the report, which the caller frees.  Returns 0 if there is
 * none. */
int cache_read(const char *key, cache_entry *entry);
/* Writes an entry, and removes the entries used longest ago if all together exceed CACHE_MEGABYTES.  Returns 1 if it
 * is written. */
int cache_write(const char *key, const cache_entry *entry);

#endif
