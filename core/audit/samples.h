/* samples.h - what the parts of montecarlo.h share: blocks of samples, their random numbers, how they are drawn. */
#ifndef GBEES_AUDIT_SAMPLES_H
#define GBEES_AUDIT_SAMPLES_H

#include "base/clones.h"
#include "montecarlo.h"
#include "numerics/sample_steps.h"
#include "record/likelihood.h"

enum { SAMPLES_BLOCK = GBEES_STEPS_BLOCK };
_Static_assert((int)SAMPLES_BLOCK == (int)GBEES_LIKELIHOOD_BLOCK,
               "blocks of samples are weighted as they are integrated");

static inline size_t samples_blocks(const gbees_montecarlo *montecarlo)
{
    return (montecarlo->count + SAMPLES_BLOCK - 1) / SAMPLES_BLOCK;
}

static inline size_t samples_in_block(const gbees_montecarlo *montecarlo, size_t block)
{
    const size_t left = montecarlo->count - block * SAMPLES_BLOCK;

    return left < SAMPLES_BLOCK ? left : SAMPLES_BLOCK;
}

/* What a sample's random numbers are counted by. */
static inline size_t samples_number(const gbees_montecarlo *montecarlo, size_t i)
{
    return montecarlo->number ? montecarlo->number[i] : i;
}

/* Chooses `count` samples in proportion to their weights, systematically: sample i once for each of the points
 * (k + place) / count of the cumulated weights, k = 0 ... count - 1, that falls on its own weight; place: 0 to 1. */
void gbees_samples_choose(const gbees_montecarlo *montecarlo, size_t count, double place, size_t *chosen);
/* Chooses probes by the samples' weights. To be called whenever these have changed. */
void gbees_samples_choose_probes(gbees_montecarlo *montecarlo);
/* Free states, or weights and numbers, unless another has them. */
void gbees_samples_release_x(gbees_montecarlo *montecarlo);
void gbees_samples_release_weight(gbees_montecarlo *montecarlo);

/* Whether the model's noise is not 0 at one of the probes. */
int gbees_samples_are_noisy(const gbees_montecarlo *montecarlo);
/* Whether it is so at any time of the run, where the probes are now: also in a pulse. */
int gbees_samples_are_ever_noisy(const gbees_montecarlo *montecarlo);
/* Sets montecarlo->scale for flow.h: the weighted samples' spread. */
void gbees_samples_find_scale(gbees_montecarlo *montecarlo);
/* What random numbers are for. */
typedef enum samples_purpose {
    SAMPLES_FOR_START = GBEES_RANDOM_START,
    SAMPLES_FOR_NOISE = GBEES_RANDOM_NOISE,
    SAMPLES_FOR_PART = GBEES_RANDOM_PART,              /* which Gaussian of a mixture */
    SAMPLES_FOR_CELL = GBEES_RANDOM_CELL,              /* which cell of a record, and where in it */
    SAMPLES_FOR_ISLAND = GBEES_RANDOM_ISLAND,          /* where the points of a systematic resampling begin */
    SAMPLES_FOR_MEASUREMENT = GBEES_RANDOM_MEASUREMENT, /* the noise of simulated ones */
    SAMPLES_FOR_JUMP = GBEES_RANDOM_JUMP                /* the error of an instant's jump */
} samples_purpose;

/* Four independent numbers of a sample: the same for the same arguments, others for others. */
void gbees_samples_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                           double z[4]);
/* Four independent numbers in [0, 1) of a sample. */
void gbees_samples_uniforms(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                            double u[4]);

/* All samples from the problem's initial density, in the model's axes, of weight 1. */
int gbees_samples_draw(gbees_montecarlo *montecarlo, gbees_error *error);

#endif
