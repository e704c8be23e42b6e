/* compared.c - the memory of what other filters have found beside a run: see gbees/compared.h. */
#include "compared.h"
#include <math.h>
#include <stdlib.h>

enum { VALUES_MOST = 1 << 23 /* of all marginals: 32 MiB */ };

size_t gbees_compared_numbers(const gbees_compared *compared)
{
    const size_t n = (size_t)compared->dimension;

    return compared->count * (n + n * n + 1 + GBEES_COMPARED_ERRORS) + 2 * n * compared->binned;
}

size_t gbees_compared_bins(const gbees_compared *compared)
{
    return compared->binned * (size_t)compared->dimension * GBEES_COMPARED_BINS;
}

int gbees_compared_allocate(const gbees_compared *compared, int has_samples, gbees_compared_filter *filter)
{
    const size_t n = (size_t)compared->dimension, count = compared->count;
    const size_t numbers = gbees_compared_numbers(compared), bins = gbees_compared_bins(compared);
    double *at = malloc((numbers + 1) * sizeof *at);
    float *p = has_samples ? malloc((bins + 1) * sizeof *p) : NULL;

    if (!at || (has_samples && !p)) {
        free(at);
        free(p);
        return 0;
    }
    for (size_t i = 0; i < numbers; i++)
        at[i] = NAN;
    for (size_t i = 0; p && i < bins; i++)
        p[i] = NAN;
    filter->mean = at; /* the block; the others are in it */
    filter->covariance = filter->mean + count * n;
    filter->effective = filter->covariance + count * n * n;
    for (size_t k = 0; k < GBEES_COMPARED_ERRORS; k++)
        filter->error[k] = filter->effective + count * (k + 1);
    filter->first = filter->error[GBEES_COMPARED_ERRORS - 1] + count;
    filter->width = filter->first + compared->binned * n;
    filter->p = p;
    return 1;
}

int gbees_compared_begin(int dimension, size_t count, int filters, gbees_compared **compared)
{
    gbees_compared *made = calloc(1, sizeof *made);

    if (!made)
        return 0;
    *compared = made;
    made->dimension = dimension;
    made->count = count;
    made->filters = filters;
    made->leg = calloc(count + 1, sizeof *made->leg);
    made->record = calloc(count + 1, sizeof *made->record);
    made->time = calloc(count + 1, sizeof *made->time);
    return made->leg && made->record && made->time;
}

int gbees_compared_create(int dimension, size_t count, int filters, const int *samples, gbees_compared **compared,
                          gbees_error *error)
{
    gbees_compared *made = NULL;
    int ready = gbees_compared_begin(dimension, count, filters, &made);
    size_t with = 0;

    for (int k = 0; k < filters; k++)
        with += samples[k] != 0;
    for (size_t every = 1; ready && count > 0 && with > 0; every++) { /* until they are few enough */
        made->every = every;
        made->binned = (count - 1) / every + 1;
        if (made->binned == 1 || gbees_compared_bins(made) * with <= VALUES_MOST)
            break;
    }
    for (int k = 0; k < filters && ready; k++)
        ready = gbees_compared_allocate(made, samples[k], &made->filter[k]);
    if (!ready) {
        gbees_compared_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to keep what filters find at %zu records",
                               count);
    }
    *compared = made;
    return GBEES_OK;
}

void gbees_compared_destroy(gbees_compared *compared)
{
    if (!compared)
        return;
    for (int k = 0; k < GBEES_COMPARED_FILTERS; k++) {
        free(compared->filter[k].mean);
        free(compared->filter[k].p);
    }
    free(compared->leg);
    free(compared->record);
    free(compared->time);
    free(compared);
}

int gbees_compared_row(const gbees_compared *compared, size_t i, size_t *row)
{
    const size_t back = compared->count - 1 - i;

    if (compared->binned == 0 || back % compared->every != 0)
        return 0;
    *row = compared->binned - 1 - back / compared->every;
    return 1;
}
