/* card_cache.h - what the files of plugins were found to be when they were loaded last, so that a list of them loads
 * none that has not changed. It is in the user's cache folder. */
#ifndef GBEES_MODULE_CARD_CACHE_H
#define GBEES_MODULE_CARD_CACHE_H

#include "base/sha256.h"
#include <stdint.h>

/* What a file's card says; the texts belong to the cache, or to whoever adds the note. */
typedef struct gbees_card_note {
    const char *name, *title; /* of a model, else NULL */
    int dim_min, dim_max, dim_default;
    const char *problem; /* why its card is refused, else NULL */
} gbees_card_note;

/* Which content of a file a note is about. */
typedef struct gbees_card_key {
    int64_t size, seconds, nanoseconds; /* the times are of its last change */
    char sha256[GBEES_SHA256_HEX];
} gbees_card_key;

typedef struct gbees_card_cache gbees_card_cache;

/* Reads the cache. NULL: there is none, or no memory. */
gbees_card_cache *gbees_card_cache_open(void);
/* Writes it, if there are new notes, and frees it. Harmless for NULL. */
void gbees_card_cache_close(gbees_card_cache *cache);

/* Reads the file. Returns 1 and sets the note if there is one about this content; 0 if not, and sets the key that a
 * new note needs; -1 if the file can't be read. */
int gbees_card_cache_find(const gbees_card_cache *cache, const char *path, gbees_card_key *key,
                          gbees_card_note *note);
void gbees_card_cache_add(gbees_card_cache *cache, const char *path, const gbees_card_key *key,
                          const gbees_card_note *note);

#endif
