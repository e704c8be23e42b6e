/* portable.c - saves and finds the named arrays of a state that engines of the CPU and of a GPU both read; checks
 * their sizes. */
#include "portable.h"
#include "base/gaps.h"
#include <math.h>
#include <string.h>

enum { CELLS = 64 };

static const char part[] = "portable";

int portable_save(const portable_state *state, gbees_state_sink *sink, void *context)
{
    portable_state plain;

    memcpy(&plain, state, sizeof plain);
    GBEES_CLEAR_GAPS(&plain);
    return sink(context, part, 1, sizeof plain, &plain);
}

static int misfit(const char *name, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EINPUT,
                           "the state does not fit this problem: its part '%s' is missing or has another size", name);
}

/* Returns the list's items of `size` bytes each, from the first brick's on; NULL: it is missing, or has another size.
 */
static const void *find_list(const portable_state *state, const portable_list *list, size_t size,
                             gbees_state_source *source, void *context)
{
    uint64_t count = 0;
    const char *data = source(context, list->name, (size_t)list->item, &count);

    return data && count * list->item == (state->bricks + state->skipped) * size ? data + state->skipped * size
                                                                                 : NULL;
}

int portable_check_density(const void *p, size_t real_size, uint64_t count, gbees_error *error)
{
    int wrong = 0;

    for (uint64_t k = 0; k < count; k++) {
        const double value = real_size == sizeof(float) ? (double)((const float *)p)[k] : ((const double *)p)[k];

        wrong |= !(value >= 0 && value < INFINITY);
    }
    return wrong ? gbees_error_set(error, GBEES_EINPUT,
                                   "the state has a probability that is negative or not finite: it was not made by "
                                   "gbees, or is damaged")
                 : 0;
}

int portable_find(const gbees_problem *problem, size_t real_size, gbees_state_source *source, void *context,
                  portable_bricks *found, gbees_error *error)
{
    uint64_t count = 0;
    const size_t n = (size_t)problem->dimension;
    const void *data = source(context, part, 1, &count);
    portable_state *state = &found->state;

    if (!data || count != sizeof *state)
        return misfit(part, error);
    memcpy(state, data, sizeof *state);
    state->key.name[sizeof state->key.name - 1] = state->p.name[sizeof state->p.name - 1] =
        state->active.name[sizeof state->active.name - 1] = '\0';
    if (problem->moving)
        return gbees_error_set(
            error, GBEES_EINPUT,
            "a run on a grid that moves can't go on on another kind of backend: leave out --backend");
    if (!state->deterministic)
        return gbees_error_set(error, GBEES_EINPUT,
                               "another kind of backend can go on only with a run that was begun with "
                               "--deterministic: else its bits would be others: leave out --backend");
    if (state->dimension != problem->dimension || state->real_size != (int32_t)real_size || state->bricks == 0 ||
        state->bricks > UINT32_MAX / 2 || state->skipped > 1)
        return misfit(part, error);
    found->key = find_list(state, &state->key, n * sizeof *found->key, source, context);
    found->p = find_list(state, &state->p, CELLS * real_size, source, context);
    found->active = find_list(state, &state->active, sizeof *found->active, source, context);
    return found->key && found->p && found->active
               ? portable_check_density(found->p, real_size, state->bricks * CELLS, error)
               : misfit("key", error);
}
