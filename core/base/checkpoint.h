/* checkpoint.h - a run's state in memory: named arrays of numbers. The engine, the solver, the writer and the command
 * each add theirs, and look them up by name when the run is resumed. core/results/run writes and reads checkpoints on
 * disk. */
#ifndef GBEES_BASE_CHECKPOINT_H
#define GBEES_BASE_CHECKPOINT_H

#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

enum { GBEES_CHECKPOINT_NAME = 32 }; /* bytes of a name, its final NUL among them; longer names are cut */

typedef struct gbees_checkpoint_part {
    char name[GBEES_CHECKPOINT_NAME];
    size_t size;    /* bytes of an item: 1, or 2, 4 or 8, which are numbers in the machine's byte order */
    uint64_t count; /* items */
    void *data;     /* [count * size] bytes; owned */
} gbees_checkpoint_part;

/* Receives a part; returns 0 to go on. The type of gbees_state_sink (gbees/backend.h). */
typedef int gbees_checkpoint_sink(void *context, const char *name, size_t size, uint64_t count, const void *data);
/* Passes parts to a sink; returns a gbees_status. */
typedef int gbees_checkpoint_source(void *context, gbees_checkpoint_sink *sink, void *to, gbees_error *error);

/* All zero: an empty checkpoint. */
typedef struct gbees_checkpoint {
    size_t count, capacity;
    gbees_checkpoint_part *part; /* [count], in the order in which they were added */
    gbees_checkpoint_source
        *rest; /* passes parts that have not been copied, once, while the file is written; NULL: none */
    void *rest_context;
} gbees_checkpoint;

/* Adds a copy of `count` items; nothing if count is 0. `context` is a gbees_checkpoint: the function is a
 * gbees_state_sink (gbees/backend.h). Returns 0, or 1 if there is not enough memory. */
int gbees_checkpoint_add(void *context, const char *name, size_t size, uint64_t count, const void *data);
/* Adds a part without a copy: the checkpoint owns `data`, which is malloc()ed, and frees it also on failure. Returns
 * as gbees_checkpoint_add(). */
int gbees_checkpoint_take(gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *data);
/* Returns the items of a part and sets *count, or returns NULL if there is no part of that name with items of that
 * size. The checkpoint, which is `context`, keeps them. The function is a gbees_state_source (gbees/backend.h). */
const void *gbees_checkpoint_find(void *context, const char *name, size_t size, uint64_t *count);
/* Copies a part that must have exactly `count` items to `to`; nothing if count is 0. GBEES_EINPUT: there is no such
 * part. */
int gbees_checkpoint_copy(const gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *to,
                          gbees_error *error);
/* Frees all parts, not the struct, and leaves an empty checkpoint. */
void gbees_checkpoint_clear(gbees_checkpoint *checkpoint);

#endif
