/* checkpoint.h - a run's state in memory: named lists of numbers. Each layer adds what it needs to go on. */
#ifndef GBEES_BASE_CHECKPOINT_H
#define GBEES_BASE_CHECKPOINT_H

#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

enum { GBEES_CHECKPOINT_NAME = 32 };

typedef struct gbees_checkpoint_part {
    char name[GBEES_CHECKPOINT_NAME];
    size_t size;    /* bytes of an item: 1, 2, 4 or 8 */
    uint64_t count; /* items */
    void *data;
} gbees_checkpoint_part;

/* Receives a part; returns 0 to go on. The type of gbees_state_sink (gbees/backend.h). */
typedef int gbees_checkpoint_sink(void *context, const char *name, size_t size, uint64_t count, const void *data);
/* Passes parts to a sink; returns a gbees_status. */
typedef int gbees_checkpoint_source(void *context, gbees_checkpoint_sink *sink, void *to, gbees_error *error);

/* Starts as {0}. */
typedef struct gbees_checkpoint {
    size_t count, capacity;
    gbees_checkpoint_part *part;
    gbees_checkpoint_source
        *rest; /* passes parts that have not been copied, once, while the file is written; NULL: none */
    void *rest_context;
} gbees_checkpoint;

/* Adds a copy of a part, or drops an empty one; returns 1 if there is no memory. The context is a gbees_checkpoint:
 * this is a gbees_state_sink. */
int gbees_checkpoint_add(void *context, const char *name, size_t size, uint64_t count, const void *data);
/* Adds a part that takes over the memory, which it frees even if it fails. */
int gbees_checkpoint_take(gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *data);
/* The part's numbers; NULL: there is none of that name with items of that size. A gbees_state_source. */
const void *gbees_checkpoint_find(void *context, const char *name, size_t size, uint64_t *count);
/* Copies a part of exactly `count` items; GBEES_EINPUT if there is none. Nothing is copied of 0 items. */
int gbees_checkpoint_copy(const gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *to,
                          gbees_error *error);
/* Frees all parts. */
void gbees_checkpoint_clear(gbees_checkpoint *checkpoint);

#endif
