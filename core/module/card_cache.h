/* card_cache.h - a cache of the contents of plugins' cards, in the user's cache folder (base/user_cache.h). A list of
 * all plugins then loads only those that are new or have changed. */
#ifndef GBEES_MODULE_CARD_CACHE_H
#define GBEES_MODULE_CARD_CACHE_H

#include "base/sha256.h"
#include <stdint.h>

/* An entry: what a plugin's card says. In an entry that was found the cache owns the texts, until it is closed. */
typedef struct gbees_card_note {
    const char *name, *title; /* of the model; NULL if the card is refused */
    int dim_min, dim_max, dim_default;
    const char *problem; /* why the card is refused; else NULL */
} gbees_card_note;

/* Identifies the content of a file. */
typedef struct gbees_card_key {
    int64_t size;                  /* bytes */
    int64_t seconds, nanoseconds;  /* time of the last modification */
    char sha256[GBEES_SHA256_HEX]; /* of the whole file */
} gbees_card_key;

typedef struct gbees_card_cache gbees_card_cache;

/* Reads the cache from its file; without a file that this library has written it is empty. NULL: not enough memory.
 */
gbees_card_cache *gbees_card_cache_open(void);
/* Writes the file if entries were added, and frees the cache; NULL is allowed. A file that can't be written is no
 * error: the cache only saves time. */
void gbees_card_cache_close(gbees_card_cache *cache);

/* Looks up the plugin at `path`, whose file is read for the key. Returns 1 and sets *note if there is an entry for
 * its content; 0 and sets *key if there is none; -1 if the file can't be read. */
int gbees_card_cache_find(const gbees_card_cache *cache, const char *path, gbees_card_key *key,
                          gbees_card_note *note);
/* Adds an entry, whose texts are copied, for the content that gbees_card_cache_find() has returned in *key. An entry
 * that can't be added is left out. */
void gbees_card_cache_add(gbees_card_cache *cache, const char *path, const gbees_card_key *key,
                          const gbees_card_note *note);

#endif
