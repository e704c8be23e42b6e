/* checkpoint.c - a list of named arrays, searched from its beginning; see checkpoint.h. */
#include "checkpoint.h"
#include "array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gbees_checkpoint_take(gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *data)
{
    if (gbees_array_grow(&checkpoint->part, checkpoint->count, &checkpoint->capacity, sizeof *checkpoint->part)) {
        free(data);
        return 1;
    }
    gbees_checkpoint_part *part = &checkpoint->part[checkpoint->count++];
    *part = (gbees_checkpoint_part){.size = size, .count = count, .data = data};
    (void)snprintf(part->name, sizeof part->name, "%s", name);
    return 0;
}

int gbees_checkpoint_add(void *context, const char *name, size_t size, uint64_t count, const void *data)
{
    void *copy;

    if (count == 0)
        return 0;
    if (!(copy = malloc(size * count)))
        return 1;
    memcpy(copy, data, size * count);
    return gbees_checkpoint_take(context, name, size, count, copy);
}

const void *gbees_checkpoint_find(void *context, const char *name, size_t size, uint64_t *count)
{
    const gbees_checkpoint *checkpoint = context;

    for (size_t k = 0; k < checkpoint->count; k++)
        if (checkpoint->part[k].size == size && strcmp(checkpoint->part[k].name, name) == 0) {
            *count = checkpoint->part[k].count;
            return checkpoint->part[k].data;
        }
    return NULL;
}

int gbees_checkpoint_copy(const gbees_checkpoint *checkpoint, const char *name, size_t size, uint64_t count, void *to,
                          gbees_error *error)
{
    uint64_t found = 0;
    const void *data = gbees_checkpoint_find((void *)(uintptr_t)checkpoint, name, size, &found);

    if (count == 0)
        return GBEES_OK;
    if (!data || found != count)
        return gbees_error_set(error, GBEES_EINPUT,
                               "the checkpoint does not fit this run: its part '%s' is missing or has another size",
                               name);
    memcpy(to, data, size * count);
    return GBEES_OK;
}

void gbees_checkpoint_clear(gbees_checkpoint *checkpoint)
{
    for (size_t k = 0; k < checkpoint->count; k++)
        free(checkpoint->part[k].data);
    free(checkpoint->part);
    *checkpoint = (gbees_checkpoint){0};
}
