/* montecarlo.h - the reference for a grid: samples of the initial density, each integrated along the flow.
 *
 * Sample i gets its random numbers from a counter (Philox). It is integrated by classical Runge-Kutta steps, with
 * those of Euler and Maruyama between them where the model has noise (numerics/sample_steps.h), and weighted by the
 * likelihood of each measurement; samples that are left without weight are dropped.  Sums are taken over 64 fixed
 * batches, which also give the standard errors.  So results depend on the options alone, and not on the number of
 * threads.
 */
#ifndef GBEES_TEST_MONTECARLO_H
#define GBEES_TEST_MONTECARLO_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gbees_montecarlo_options {
    size_t count; /* samples, at least 128 */
    double step;  /* the longest time step */
    uint64_t seed;
    int threads;  /* 0: OMP_NUM_THREADS, or as many as the machine has */
    int absorbed; /* 1: the problem's targets that absorb take samples; else these know of none */
    int cut;      /* Gaussians are cut at the outer faces of the cells of the initial set: what a grid propagates */
    int (*cancelled)(void *context); /* asked by all threads; NULL: never */
    void *context;
    struct gbees_offload *offload; /* offload.h; NULL: this process's threads integrate them */
} gbees_montecarlo_options;

enum {
    GBEES_MONTECARLO_PROBES = 256, /* samples by which steps are chosen */
    GBEES_ISLANDS = 64             /* see islands.h */
};

/* Estimates of an update's evidence, with standard errors: a ratio of sums over the samples. */
typedef struct gbees_sample_evidence {
    double log_evidence, error;
    double total, total_error; /* of all updates so far */
    double effective;          /* samples after the update: the errors are known if these are many */
    double islands;            /* the same of islands, where samples have been resampled; else 0 */
} gbees_sample_evidence;

/* What targets that absorb have taken since the last update or the start: weights by island (islands.h). */
typedef struct gbees_sample_entries {
    double before[GBEES_ISLANDS];                     /* of all samples then */
    double entered[GBEES_MAX_TARGETS][GBEES_ISLANDS]; /* of those that each target has taken */
    double effective;                                 /* samples then */
    double influence[GBEES_ISLANDS];                  /* on the logarithm of the evidence of all updates so far */
} gbees_sample_entries;

/* Read it, but change it by the functions below only; an owner may move the states by a rule of its own. */
typedef struct gbees_montecarlo {
    const gbees_problem *problem;
    gbees_montecarlo_options options;
    double time;
    uint64_t steps;              /* so far */
    double doubt_most;           /* a step with more doubt (flow.h) is cut for a sample */
    double scale[GBEES_MAX_DIM]; /* the samples' spread at the start of the last advance */
    size_t count;                /* samples that are left and have weight, in the order in which they were drawn */
    double *x[GBEES_MAX_DIM];    /* x[j][i]: state j of sample i, in the model's axes */
    double *weight;              /* the largest is 1 after a measurement */
    uint64_t *number;            /* sample i is that many after the first drawn; NULL: i */
    int resampled;               /* 1: samples depend on others of their island (islands.h), not on any else */
    int shared_x, shared_weight; /* 1: x, or weight and number, belong to another: replaced, never written or freed */
    size_t probe[GBEES_MONTECARLO_PROBES]; /* samples chosen by their weights */
    gbees_sample_evidence evidence;        /* of the last update; 0 before the first */
    gbees_sample_entries entries;          /* if options.absorbed */
} gbees_montecarlo;

/* Of samples, with standard errors; or of a grid's cells, where the errors are 0. Matrices are n x n packed. */
typedef struct gbees_sample_moments {
    double mean[GBEES_MAX_DIM], mean_error[GBEES_MAX_DIM];
    double std[GBEES_MAX_DIM], std_error[GBEES_MAX_DIM];
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM], covariance_error[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double least[GBEES_MAX_DIM], most[GBEES_MAX_DIM]; /* of the samples' states */
    /* Effective number of samples: (sum w)^2 / sum w^2; of resampled ones no more than independent samples with the
     * same standard error of a mean. */
    double effective;
    double islands; /* effective number of islands (islands.h); 0: the samples have not been resampled */
} gbees_sample_moments;

/* Draws the samples at the problem's start. The problem must outlive them. */
int gbees_montecarlo_create(const gbees_problem *problem, const gbees_montecarlo_options *options,
                            gbees_montecarlo **montecarlo, gbees_error *error);
void gbees_montecarlo_destroy(gbees_montecarlo *montecarlo);

/* Integrates all samples to `time`, in equal steps. After GBEES_ENUMERIC the samples are useless. */
int gbees_montecarlo_advance(gbees_montecarlo *montecarlo, double time, gbees_error *error);

/* Sets options.step so that the samples' error at *time, the next one to advance to, is about `tolerance` standard
 * deviations along any axis.  Noise is not tried: it gets two to four times as many steps as the drift needs, more
 * for more samples.  *time becomes earlier if the way there takes more than some thousand steps.  GBEES_ENUMERIC if
 * no step is short enough. */
int gbees_montecarlo_choose_step(gbees_montecarlo *montecarlo, double *time, double tolerance, gbees_error *error);

/* Integrates all samples to `time` by steps that are chosen for each piece of the way; some end where the equations
 * change fast. */
int gbees_montecarlo_follow(gbees_montecarlo *montecarlo, double time, double tolerance, gbees_error *error);

/* Takes the samples through the jump of instant `number` of the problem, counted from 0, at whose time they are.
 * After GBEES_ENUMERIC they are useless. */
int gbees_montecarlo_jump(gbees_montecarlo *montecarlo, int number, gbees_error *error);

/* Bayes' rule: multiplies the weights with the measurement's likelihood, Gaussian, Student's t or the model's own. */
int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error);

/* If the model has noise, or a jump to come an error: resamples the islands (islands.h) of which too small a part is
 * effective.  To be called before an advance to another measurement. */
int gbees_montecarlo_resample(gbees_montecarlo *montecarlo, gbees_error *error);

/* Replaces the samples by copies, as many as were drawn at the start: number k is a copy of sample chosen[k], with
 * weight 1 and random numbers of its own.  For callers that resample by a rule of their own.  Standard errors, which
 * are those of independent samples, no longer hold. */
int gbees_montecarlo_take(gbees_montecarlo *montecarlo, const size_t *chosen, gbees_error *error);

/* How many threads it uses; 1 without OpenMP. */
int gbees_montecarlo_threads(const gbees_montecarlo *montecarlo);

/* Weighted moments of the first `count` samples (0: of all). */
int gbees_montecarlo_measure(const gbees_montecarlo *montecarlo, size_t count, gbees_sample_moments *moments,
                             gbees_error *error);

#endif
