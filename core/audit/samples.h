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
/* Keeps the samples whose weight[i] is above 0, with this weight, on so many threads. GBEES_ENOMEM: all are as they
 * were. */
int gbees_samples_keep(gbees_montecarlo *montecarlo, const double *weight, int threads);
/* The lists of samples, [count] each. */
typedef struct samples_lists {
    double *x[GBEES_MAX_DIM], *weight;
    uint64_t *number;
} samples_lists;

/* Memory for `count` samples of n states. GBEES_ENOMEM: there is none, and none is held. */
int gbees_samples_lists_create(int n, size_t count, samples_lists *lists);
/* Replaces the samples by `count` others, whose lists become theirs. */
void gbees_samples_replace(gbees_montecarlo *montecarlo, const samples_lists *lists, size_t count);
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
    SAMPLES_FOR_PART = GBEES_RANDOM_PART,               /* which Gaussian of a mixture */
    SAMPLES_FOR_CELL = GBEES_RANDOM_CELL,               /* which cell of a record, and where in it */
    SAMPLES_FOR_ISLAND = GBEES_RANDOM_ISLAND,           /* where the points of a systematic resampling begin */
    SAMPLES_FOR_MEASUREMENT = GBEES_RANDOM_MEASUREMENT, /* the noise of simulated ones */
    SAMPLES_FOR_JUMP = GBEES_RANDOM_JUMP,               /* the error of an instant's jump */
    SAMPLES_FOR_BRIDGE = GBEES_RANDOM_BRIDGE            /* the way of a sample between two steps */
} samples_purpose;

/* Four independent numbers of a sample: the same for the same arguments, others for others. */
void gbees_samples_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                           double z[4]);
/* Four independent numbers in [0, 1) of a sample. */
void gbees_samples_uniforms(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                            double u[4]);

/* The same for up to a block of samples with numbers of their own: z[0 .. 3][i] for sample[i]. The last bits may
 * differ from those of gbees_samples_normals(). */
void gbees_samples_fill(uint64_t seed, size_t count, const uint64_t *sample, uint64_t attempt, uint64_t call,
                        samples_purpose purpose, double (*z)[SAMPLES_BLOCK]);

/* Noise of a duration, about a time; with the sample's, its number gives the random numbers. */
typedef struct samples_noise {
    double time, duration;
    uint64_t number;
} samples_noise;

/* What the kicks of a block work with. */
typedef struct samples_kicks {
    double factor[GBEES_MAX_ENTRIES][SAMPLES_BLOCK];      /* F of each sample: see gbees_samples_kick() */
    double z[(GBEES_MAX_DIM + 3) / 4 * 4][SAMPLES_BLOCK]; /* normal numbers, of gbees_kicks_together() kicks */
    uint64_t drawn;                                       /* 1 + which of them; 0: none */
} samples_kicks;

/* Adds noise to the samples of a block, in x, by Euler and Maruyama's method, with Q where they are before it (Ito).
 * Returns whether Q is not 0 there; kicks->factor[][i] then has F of sample i, Q = F F^T, row-major, of a diagonal Q
 * the diagonal. kicks->drawn is 0 before the first one. */
int gbees_samples_kick(const gbees_montecarlo *montecarlo, size_t block, const samples_noise *noise, double *const *x,
                       samples_kicks *kicks);

/* ---- targets that absorb: nothing is done unless options.absorbed ---- */

/* Counts what enters targets from now on. */
void gbees_samples_count_again(gbees_montecarlo *montecarlo);
/* Has the samples enter the targets that they are in. */
int gbees_samples_enter(gbees_montecarlo *montecarlo, gbees_error *error);
/* Drops and counts the samples that have entered targets, by their fates (walk.h). GBEES_ENUMERIC if one is lost. */
int gbees_samples_take_off(gbees_montecarlo *montecarlo, const unsigned char *fate, gbees_error *error);

/* All samples from the problem's initial density, in the model's axes, of weight 1. */
int gbees_samples_draw(gbees_montecarlo *montecarlo, gbees_error *error);

#endif
