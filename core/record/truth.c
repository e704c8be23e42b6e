/* truth.c - the states of a truth at some times: see gbees/truth.h. */
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>

/* Times that differ by less than this part of the truth's length are the same: a file has fewer digits. */
static const double same_time = 1e-9;

int gbees_truth_create(int dimension, size_t count, gbees_truth **truth, gbees_error *error)
{
    gbees_truth *made = calloc(1, sizeof *made);

    if (made) {
        *made = (gbees_truth){.dimension = dimension, .count = count};
        made->time = calloc(count + 1, sizeof *made->time);
        made->x = calloc(count * (size_t)dimension + 1, sizeof *made->x);
    }
    if (!made || !made->time || !made->x) {
        gbees_truth_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a truth of %zu times", count);
    }
    *truth = made;
    return GBEES_OK;
}

void gbees_truth_destroy(gbees_truth *truth)
{
    if (!truth)
        return;
    free(truth->time);
    free(truth->x);
    free(truth);
}

const double *gbees_truth_at(const gbees_truth *truth, double time)
{
    size_t lo = 0, hi = truth->count;

    while (hi - lo > 1) { /* time[lo] is the last that is not later, if there is one */
        const size_t middle = lo + (hi - lo) / 2;

        if (truth->time[middle] <= time)
            lo = middle;
        else
            hi = middle;
    }
    const size_t next = lo + 1 < truth->count ? lo + 1 : lo;
    const size_t nearest = fabs(truth->time[next] - time) < fabs(truth->time[lo] - time) ? next : lo;
    const double length = truth->time[truth->count - 1] - truth->time[0];

    return fabs(truth->time[nearest] - time) <= same_time * (length + fabs(time))
               ? truth->x + nearest * (size_t)truth->dimension
               : NULL;
}
