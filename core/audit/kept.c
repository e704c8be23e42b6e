/* kept.c - appends the state of the samples at each record to a list; arrays that have not changed since the record
 * before are shared with it. */
#include "kept.h"
#include "base/array.h"
#include "samples.h"
#include <stdlib.h>
#include <string.h>

static const double bytes_most = 1 << 30;

/* Bytes that the samples' state adds to the kept ones: without arrays that it shares with them. */
static double bytes_of(const gbees_montecarlo *samples)
{
    const int arrays = (samples->shared_x ? 0 : samples->problem->dimension) + (samples->shared_weight ? 0
                                                                                : samples->number      ? 2
                                                                                                       : 1);

    return (double)samples->count * arrays * sizeof(double);
}

int gbees_kept_add(gbees_kept *kept, gbees_montecarlo *samples, const gbees_sample_moments *moments, int leg,
                   int next)
{
    const double bytes = kept->bytes + bytes_of(samples);

    if (kept->count > 0 && bytes > bytes_most)
        return 0;
    if (gbees_array_grow(&kept->states, kept->count, &kept->capacity, sizeof *kept->states))
        return 0;
    kept->states[kept->count++] = (gbees_kept_state){leg, next, *samples, *moments};
    kept->bytes = bytes;
    samples->shared_x = samples->shared_weight = 1;
    return 1;
}

void gbees_kept_restore(const gbees_kept *kept, size_t k, gbees_montecarlo *samples, gbees_sample_moments *moments,
                        int *leg, int *next)
{
    const gbees_kept_state *state = &kept->states[k];

    gbees_samples_release_x(samples);
    gbees_samples_release_weight(samples);
    *samples = state->samples;
    samples->shared_x = samples->shared_weight = 1;
    *moments = state->moments;
    *leg = state->leg;
    *next = state->next;
}

void gbees_kept_clear(gbees_kept *kept)
{
    for (size_t k = 0; k < kept->count; k++) { /* shared arrays are owned by the first state that has them */
        gbees_samples_release_x(&kept->states[k].samples);
        gbees_samples_release_weight(&kept->states[k].samples);
    }
    free(kept->states);
    *kept = (gbees_kept){0};
}
