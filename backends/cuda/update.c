/* update.c - Bayes' rule at a measurement (paper, Eq. 4): the host's part. */
#include "common/failure.h"
#include "common/measurement.h"
#include "engine.h"
#include <math.h>
#include <string.h>

/* The double whose ordered bits these are (device/update.h). */
static double from_ordered(uint64_t bits)
{
    double value;

    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int prepare(const gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                   gbees_gain *gain, double *log_norm, gbees_error *error)
{
    measurement_terms terms;
    int status = measurement_prepare(measurement, clock->time, &terms, error);

    if (status)
        return status;
    *gain = (gbees_gain){.function = measurement->function,
                         .size = measurement->size,
                         .averages = e->averages,
                         .time = clock->time,
                         .kind = measurement->likelihood == GBEES_LIKELIHOOD_STUDENT ? GAIN_STUDENT
                                 : measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? GAIN_MODEL
                                                                                     : 0,
                         .measured = terms.measured,
                         .missing = measurement->missing,
                         .degrees = measurement->degrees_of_freedom,
                         .lowest = terms.lowest};
    memcpy(gain->value, measurement->value, sizeof gain->value);
    memcpy(gain->period, measurement->period, sizeof gain->period);
    memcpy(gain->inverse, terms.inverse, sizeof gain->inverse);
    *log_norm = terms.log_norm;
    return 0;
}

static int fail_likelihood(const gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                           gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    const size_t n = (size_t)shape->n, slot = (size_t)(e->state->invalid / 64);
    int32_t index[GBEES_MAX_DIM];
    int known = e->api->cuMemcpyDtoH(index, e->key.at + slot * n * sizeof *index, n * sizeof *index) == CUDA_SUCCESS;

    for (int j = 0; j < shape->n && known; j++)
        index[j] = index[j] * shape->edge[j] + gbees_shape_local(shape, (int)(e->state->invalid % 64), j);
    return failure_likelihood(e->problem, measurement, clock->time, known ? index : NULL, error);
}

/* P = P L over its sum, in the rows that were spare, once it is known that there is such a thing; the logarithm of
 * that sum. */
static double take_over(gbees_state *s)
{
    s->current = s->current ? 0 : 1;
    s->mass = ldexp((double)s->marked_mass, -60);
    return log(ldexp((double)s->moment[0].high, -16) + ldexp((double)s->moment[0].low, -52));
}

int cuda_engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error)
{
    gbees_state *s = e->state;
    gbees_gain gain;
    double log_norm, log_sum = 0, before = s->mass;
    double unchanged = s->mass - e->totals.mass_normalised + s->pruned; /* by the normalisation, and by the prune */
    int status = prepare(e, clock, measurement, &gain, &log_norm, error);

    s->likely = s->heavy = 0;
    s->invalid = UINT64_MAX;
    s->moment[0] = (gbees_wide_sum){0, 0};
    s->marked_mass = 0;
    s->time = clock->time;
    if (!status)
        status = engine_launch_update(e, &gain, error);
    if (status)
        return status;
    const double likely = from_ordered(s->likely), heaviest = from_ordered(s->heavy);
    status = s->invalid == UINT64_MAX ? failure_unsupported(measurement, clock->time, likely, gain.lowest, error)
                                      : fail_likelihood(e, clock, measurement, error);
    if (!status)
        log_sum = take_over(s);
    void *none[] = {&(uint64_t){0}};
    s->stop = STOP_PRUNE;
    if (!status)
        status = engine_launch(e, KERNEL_PRUNE, none, 1, "pruning after a measurement", error);
    if (!status)
        status = engine_stop_error(e, error);
    if (!status)
        engine_steer(e);
    e->totals.mass_normalised = s->mass + s->pruned - unchanged;
    if (!status)
        *evidence = (gbees_evidence){heaviest + log_sum - log(before) + log_norm, likely};
    return status;
}
