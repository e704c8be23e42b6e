/* sample_count.c - how many samples the audits of an accuracy's runs have; see plan.h. */
#include "plan.h"
#include <math.h>

enum {
    SAMPLES_LEAST = 10000,
    SAMPLES_MOST = 1 << 22,
    EFFECTIVE_LEAST = 256 /* of samples, for a certificate */
};

/* Runs on grids at rest have samples for coarse_accuracy at most, until their error is at most near_accuracy times
 * what is asked. On a grid that moves the first run may well be the last, and costs more than samples. */
static const double coarse_accuracy = 0.05, near_accuracy = 8;
static const double margin = 1.1;             /* samples over those that are needed */
static const double most_sample_bound = 0.75; /* of the accuracy: the part of a bound that may be the samples' own */

int gbees_plan_is_hopeless(double effective)
{
    return effective * SAMPLES_MOST < 4 * EFFECTIVE_LEAST;
}

size_t gbees_plan_samples_for(double accuracy, double effective)
{
    if (gbees_plan_is_hopeless(effective))
        effective = 1;
    /* Twice the standard error of a mean, 2 / sqrt(effective), is a quarter of the accuracy. */
    const double wanted = margin * 64 / (accuracy * accuracy) / effective;

    return wanted < SAMPLES_LEAST ? SAMPLES_LEAST : wanted > SAMPLES_MOST ? SAMPLES_MOST : (size_t)wanted;
}

void gbees_refinement_expect(gbees_refinement *refinement, double effective)
{
    const double accuracy = refinement->problem->accuracy;

    refinement->now.effective = effective;
    refinement->samples =
        gbees_plan_samples_for(refinement->problem->moving ? accuracy : fmax(accuracy, coarse_accuracy), effective);
}

void gbees_refinement_fix(gbees_refinement *refinement, size_t samples)
{
    refinement->samples = samples;
    refinement->fixed = 1;
}

size_t gbees_refinement_samples(const gbees_refinement *refinement)
{
    return refinement->samples;
}

void gbees_plan_choose_samples(gbees_refinement *r)
{
    const double accuracy = r->problem->accuracy;
    const size_t needed = gbees_plan_samples_for(accuracy, r->now.effective);

    if (!r->fixed && !r->now.by_points && (r->now.unknown || r->now.error < near_accuracy * accuracy) &&
        (double)needed > margin * (double)r->samples)
        r->samples = needed;
}

int gbees_plan_samples_suffice(const gbees_refinement *r, size_t before)
{
    const double less = 1 - sqrt((double)before / (double)r->samples);

    return !r->now.unknown && r->now.error - less * r->now.sample_bound <= r->problem->accuracy;
}

int gbees_plan_samples_are_few(const gbees_refinement *r)
{
    const double own = r->now.sample_bound, accuracy = r->problem->accuracy;

    return r->fixed && own > most_sample_bound * accuracy && r->now.error <= 2 * own &&
           (!r->now.unknown || r->now.estimate <= accuracy);
}
