/* sample_steps.h - the steps by which samples are integrated, on CPU and GPU: `steps` of equal length, or, where the
 * equations depend on the time, one more of which the first is a random part of the others and the last the rest, for
 * each block of samples: a pulse between the nodes of some is met by others. Noise is added between two steps for
 * half of either, before the first step and after the last for half of it. */
#ifndef GBEES_NUMERICS_SAMPLE_STEPS_H
#define GBEES_NUMERICS_SAMPLE_STEPS_H

#include "philox.h"
#include "qualifier.h"

enum { GBEES_STEPS_BLOCK = 256 /* samples */ };

typedef struct gbees_sample_steps {
    uint64_t count;  /* of steps */
    double length;   /* of those between the first and the last */
    double phase;    /* in (0, 1]: the first one's part of it */
    uint64_t number; /* of the first random numbers for noise */
} gbees_sample_steps;

/* The steps of block `block` after `first` steps of equal length that have been taken before. */
GBEES_NUM gbees_sample_steps gbees_sample_steps_of(uint64_t steps, double length, int is_timed, uint64_t seed,
                                                   uint64_t block, uint64_t first)
{
    gbees_sample_steps all = {steps, length, 1, 3 * first};

    if (is_timed) {
        uint64_t bits[4] = {block, first, 0, GBEES_RANDOM_PHASE};

        gbees_philox(seed, bits);
        all.count = steps + 1;
        all.phase = ((double)(bits[0] >> 11) + 0.5) * (1.0 / 9007199254740992);
    }
    return all;
}

/* When step k begins, after the start of all; of k = count: when they end. */
GBEES_NUM double gbees_sample_step_begin(const gbees_sample_steps *all, uint64_t k)
{
    return k == 0 ? 0 : ((double)(k - 1) + (k < all->count || all->phase == 1 ? all->phase : 0)) * all->length;
}

/* How long step k is; 0 before the first and after the last. */
GBEES_NUM double gbees_sample_step_length(const gbees_sample_steps *all, uint64_t k)
{
    if (k >= all->count) /* k may be -1 */
        return 0;
    if (all->phase == 1)
        return all->length;
    return k == 0 ? all->phase * all->length : k + 1 == all->count ? (1 - all->phase) * all->length : all->length;
}

/* The time for which noise is added before step k, k <= count; *middle: after the start of all. */
GBEES_NUM double gbees_sample_noise_length(const gbees_sample_steps *all, uint64_t k, double *middle)
{
    const double before = gbees_sample_step_length(all, k - 1), after = gbees_sample_step_length(all, k);

    *middle = gbees_sample_step_begin(all, k) + (after - before) / 4;
    return (before + after) / 2;
}

#endif
