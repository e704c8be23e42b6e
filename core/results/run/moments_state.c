/* moments_state.c - the time series as a part of a checkpoint, and back. */
#include "moments_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A series: how many numbers it has a record, or an update. All numbers have 8 bytes. */
typedef struct series {
    void **data;
    size_t width;
    int of_updates;
} series;

enum { SERIES = REALS + INTEGERS + ERRORS + CERTIFICATE + TARGETS + SCORES + UPDATE_REALS + 3, COUNTS = 5 };

/* All series, always in the same order. */
static void list_series(gbees_moments *m, series *list)
{
    const size_t n = (size_t)m->dimension;
    int at = 0;

    for (int k = 0; k < REALS; k++)
        list[at++] = (series){(void **)&m->reals[k], 1, 0};
    for (int k = 0; k < INTEGERS; k++)
        list[at++] = (series){(void **)&m->integers[k], 1, 0};
    for (int k = 0; k < ERRORS; k++)
        list[at++] = (series){(void **)&m->errors[k], 2 * n, 0};
    for (int k = 0; k < CERTIFICATE; k++)
        list[at++] = (series){(void **)&m->certificate[k], k == DENSITY ? 2 : 1, 0};
    for (int k = 0; k < TARGETS; k++)
        list[at++] = (series){(void **)&m->targets[k], (size_t)m->problem->target_count, 0};
    for (int k = 0; k < SCORES; k++)
        list[at++] = (series){(void **)&m->scores[k], k < RMSE ? n : 1, 0};
    list[at++] = (series){(void **)&m->mean, n, 0};
    list[at++] = (series){(void **)&m->covariance, n * n, 0};
    for (int k = 0; k < UPDATE_REALS; k++)
        list[at++] = (series){(void **)&m->update_reals[k], 1, 1};
    list[at] = (series){(void **)&m->update_number, 1, 1};
}

static const char *name_of(const char *what, int number, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "%s%d", what, number);
    return text;
}

size_t gbees_moments_count(const gbees_moments *moments)
{
    return moments->count;
}

static int save(const gbees_moments *moments, const char *what, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const uint64_t counts[COUNTS] = {moments->count, moments->update_count, (uint64_t)moments->certified,
                                     (uint64_t)moments->scored, moments->steps != NULL};
    char name[GBEES_CHECKPOINT_NAME];
    series list[SERIES];

    list_series((gbees_moments *)(uintptr_t)moments, list);
    int bad = gbees_checkpoint_add(checkpoint, what, sizeof *counts, COUNTS, counts);
    for (int k = 0; k < SERIES; k++)
        bad |= gbees_checkpoint_add(checkpoint, name_of(what, k, name), 8, counts[list[k].of_updates] * list[k].width,
                                    *list[k].data);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the time series") : 0;
}

int gbees_moments_save(const gbees_moments *moments, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const int status = save(moments, "moments", checkpoint, error);

    return status || !moments->steps ? status : save(moments->steps, "steps", checkpoint, error);
}

static int load(gbees_moments *moments, const char *what, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    uint64_t counts[COUNTS];
    char name[GBEES_CHECKPOINT_NAME];
    series list[SERIES];
    int status = gbees_checkpoint_copy(checkpoint, what, sizeof *counts, COUNTS, counts, error);

    list_series(moments, list);
    for (int k = 0; k < SERIES && !status; k++) {
        const uint64_t items = counts[list[k].of_updates] * list[k].width;

        free(*list[k].data);
        if (!(*list[k].data = malloc(8 * (items + 1))))
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of a checkpoint");
        status = gbees_checkpoint_copy(checkpoint, name_of(what, k, name), 8, items, *list[k].data, error);
    }
    if (status)
        return status;
    moments->count = moments->capacity = counts[0];
    moments->update_count = moments->update_capacity = counts[1];
    moments->certified = counts[2] != 0;
    moments->scored = counts[3] != 0;
    if (!counts[4])
        return GBEES_OK;
    moments->steps = gbees_moments_create(moments->problem);
    return moments->steps
               ? load(moments->steps, "steps", checkpoint, error)
               : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of the steps");
}

int gbees_moments_load(gbees_moments *moments, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    return load(moments, "moments", checkpoint, error);
}
