/* pf.c - the bootstrap particle filter (Gordon, Salmond, Smith, IEE Proc. F 140 (1993) 107): samples weighted by each
 * measurement, and resampled systematically (Kitagawa, J. Comput. Graph. Stat. 5 (1996) 1) before the next advance
 * when fewer than half of them are effective.
 *
 * The standard error of the logarithm of the evidence is that of Chan and Lai (Ann. Stat. 41 (2013) 2877), from the
 * weights of all samples that descend from the same one at the start: as for plain Monte Carlo as long as nothing has
 * been resampled.
 */
#include "audit/islands.h"
#include "audit/samples.h"
#include "ensemble.h"
#include <math.h>
#include <stdlib.h>

static const double least_effective = 0.5;

typedef struct particles {
    gbees_ensemble ensemble;
    size_t *ancestor; /* at the start, of the sample with each number */
    size_t *chosen;
    double *weight; /* of all descendants of each sample at the start */
    int poor;       /* 1: the samples are to be resampled before the next advance */
} particles;

static void destroy(void *filter)
{
    particles *p = filter;

    if (!p)
        return;
    free(p->ancestor);
    free(p->chosen);
    free(p->weight);
    gbees_ensemble_destroy(filter);
}

static int create(const gbees_filter_setup *setup, void **filter, gbees_error *error)
{
    int status = gbees_ensemble_create(setup, sizeof(particles), filter, error);

    if (status)
        return status;
    particles *p = *filter;
    p->ancestor = malloc(setup->samples * sizeof *p->ancestor);
    p->chosen = malloc(setup->samples * sizeof *p->chosen);
    p->weight = malloc(setup->samples * sizeof *p->weight);
    if (!p->ancestor || !p->chosen || !p->weight) {
        destroy(p);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %zu samples", setup->samples);
    }
    for (size_t i = 0; i < setup->samples; i++)
        p->ancestor[i] = i;
    return GBEES_OK;
}

/* The standard error of the logarithm of the whole evidence; NAN if few ancestors are left. */
static double evidence_error(particles *p)
{
    const gbees_montecarlo *samples = p->ensemble.samples;
    const size_t count = samples->options.count;
    double sum = 0, squares = 0, variance = 0;

    for (size_t i = 0; i < count; i++)
        p->weight[i] = 0;
    for (size_t i = 0; i < samples->count; i++) {
        p->weight[p->ancestor[samples_number(samples, i)]] += samples->weight[i];
        sum += samples->weight[i];
    }
    for (size_t i = 0; i < count; i++) {
        const double part = p->weight[i] / sum, off = part - 1 / (double)count;

        squares += part * part;
        variance += off * off;
    }
    return squares * GBEES_ISLANDS_LEAST <= 1 ? sqrt(variance) : NAN;
}

static int update(void *filter, const gbees_measurement *measurement, gbees_error *error)
{
    particles *p = filter;
    const int status = gbees_montecarlo_update(p->ensemble.samples, measurement, error);
    const gbees_sample_evidence *evidence = &p->ensemble.samples->evidence;

    if (status)
        return status;
    p->ensemble.updates++;
    p->ensemble.evidence = (gbees_filter_evidence){evidence->total, evidence_error(p)};
    p->poor = evidence->effective < least_effective * (double)p->ensemble.samples->options.count;
    return GBEES_OK;
}

/* Resamples: as many samples as there were at the start, each copied in proportion to its weight. */
static int resample(particles *p, gbees_error *error)
{
    gbees_montecarlo *samples = p->ensemble.samples;
    const size_t count = samples->options.count;
    double u[4];

    gbees_samples_uniforms(samples->options.seed, 0, p->ensemble.updates, 0, SAMPLES_FOR_ISLAND, u);
    gbees_samples_choose(samples, count, u[0], p->chosen);
    size_t *descent = malloc(count * sizeof *descent);
    if (!descent)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to resample %zu samples", count);
    for (size_t i = 0; i < count; i++)
        descent[i] = p->ancestor[samples_number(samples, p->chosen[i])];
    free(p->ancestor);
    p->ancestor = descent;
    p->poor = 0;
    return gbees_montecarlo_take(samples, p->chosen, error);
}

static int advance(void *filter, double time, gbees_error *error)
{
    particles *p = filter;
    const int status = p->poor && time > p->ensemble.samples->time ? resample(p, error) : GBEES_OK;

    return status ? status : gbees_ensemble_advance(filter, time, error);
}

const gbees_filter gbees_filter_pf = {.create = create,
                                      .advance = advance,
                                      .jump = gbees_ensemble_jump,
                                      .update = update,
                                      .moments = gbees_ensemble_moments,
                                      .evidence = gbees_ensemble_evidence,
                                      .samples = gbees_ensemble_samples,
                                      .destroy = destroy};
