/* kept.c - see kept.h. */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

static const double bytes_most = 1 << 30;

/* The arrays of the samples: n of positions, then logarithms of weights, then weights. */
static double *array_of(const gbees_montecarlo *samples, int k)
{
    const int n = samples->problem->dimension;

    return k < n ? samples->x[k] : k == n ? samples->log_weight : samples->weight;
}

static int arrays_of(const gbees_montecarlo *samples)
{
    return samples->problem->dimension + 2;
}

int gbees_kept_add(gbees_kept *kept, const gbees_montecarlo *samples, int leg, int next)
{
    const size_t count = samples->count, values = (size_t)arrays_of(samples) * count;

    if (kept->count > 0 && ((double)kept->count + 1) * (double)values * sizeof(double) > bytes_most)
        return 0;
    if (kept->count == kept->capacity) {
        const size_t capacity = 2 * kept->capacity + 16;
        gbees_kept_state *states = realloc(kept->states, capacity * sizeof *states);

        if (!states)
            return 0;
        kept->states = states;
        kept->capacity = capacity;
    }
    gbees_kept_state state = {leg,
                              next,
                              samples->time,
                              samples->options.step,
                              samples->steps,
                              samples->evidence,
                              malloc(values * sizeof(double))};
    if (!state.values)
        return 0;
    for (int k = 0; k < arrays_of(samples); k++)
        memcpy(state.values + (size_t)k * count, array_of(samples, k), count * sizeof(double));
    kept->states[kept->count++] = state;
    return 1;
}

void gbees_kept_restore(const gbees_kept *kept, size_t k, gbees_montecarlo *samples, int *leg, int *next)
{
    const gbees_kept_state *state = &kept->states[k];

    for (int a = 0; a < arrays_of(samples); a++)
        memcpy(array_of(samples, a), state->values + (size_t)a * samples->count, samples->count * sizeof(double));
    samples->time = state->time;
    samples->options.step = state->step;
    samples->steps = state->steps;
    samples->evidence = state->evidence;
    *leg = state->leg;
    *next = state->next;
}

void gbees_kept_clear(gbees_kept *kept)
{
    for (size_t k = 0; k < kept->count; k++)
        free(kept->states[k].values);
    free(kept->states);
    *kept = (gbees_kept){0};
}
