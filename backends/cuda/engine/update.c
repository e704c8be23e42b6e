/* update.c - Bayes' rule at a measurement (paper, Eq. 4): prepares and launches the kernels of device/update.h. */
#include "common/failure.h"
#include "common/measurement.h"
#include "engine.h"
#include "launch.h"
#include "locate.h"
#include "ranks.h"
#include "stop_error.h"
#include <math.h>
#include <string.h>

/* Sets the parameters of an update's kernels, and *log_norm, the logarithm of the likelihood's largest value. */
static int prepare(const gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                   gbees_update_params *params, double *log_norm, gbees_error *error)
{
    measurement_terms terms;
    int status = measurement_prepare(measurement, clock->time, &terms, error);

    if (status)
        return status;
    *params = (gbees_update_params){.function = measurement->function,
                                    .size = measurement->size,
                                    .averages = e->averages,
                                    .time = clock->time,
                                    .kind = measurement->likelihood == GBEES_LIKELIHOOD_STUDENT ? LIKELIHOOD_STUDENT
                                            : measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? LIKELIHOOD_MODEL
                                                                                                : 0,
                                    .measured = terms.measured,
                                    .missing = measurement->missing,
                                    .degrees = measurement->degrees_of_freedom,
                                    .periods = terms.periods,
                                    .lowest = terms.lowest};
    memcpy(params->value, measurement->value, sizeof params->value);
    memcpy(params->period, measurement->period, sizeof params->period);
    memcpy(params->inverse, terms.inverse, sizeof params->inverse);
    *log_norm = terms.log_norm;
    return 0;
}

/* Sets the error for a likelihood that is not a number, in the cell found->invalid. */
static int fail_likelihood(const gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                           gbees_error *error)
{
    const uint64_t invalid = e->found->invalid;
    int32_t index[GBEES_MAX_DIM];
    gbees_error ignored;
    const int is_located = engine_locate_cell(e, (size_t)(invalid / 64), (int)(invalid % 64), index, &ignored) == 0;

    return failure_likelihood(e->problem, measurement, clock->time, is_located ? index : NULL, error);
}

/* Why there is no density after an update; 0: there is one. All ranks agree on it. */
static int check(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement, double lowest,
                 gbees_error *error)
{
    const gbees_findings *found = e->found;
    int status = found->invalid == UINT64_MAX
                     ? failure_unsupported(measurement, clock->time, found->log_likely, lowest, error)
                     : fail_likelihood(e, clock, measurement, error);

    return ranks_agree(split_ranks(e), status, error);
}

/* Applies a measurement: all ranks of a split grid call it, or the one that has all of the grid. */
static int apply(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                 gbees_evidence *evidence, gbees_error *error)
{
    gbees_state *s = e->state;
    gbees_findings *found = e->found;
    gbees_update_params params;
    const double mass = s->run.ledger.mass, before = gbees_ledger_before_update(&s->run.ledger);
    const int is_split = engine_is_split(e);
    double log_norm;
    int status = prepare(e, clock, measurement, &params, &log_norm, error);

    if (status)
        return status;
    found->likely = found->heavy = 0;
    found->invalid = UINT64_MAX;
    found->moment[0] = (gbees_exact_sum){0, 0};
    s->marked_mass = 0;
    s->stop = STOP_UPDATED;
    s->run.clock.time = clock->time;
    status = is_split ? ranks_multiply(e, &params, error) : engine_launch_update(e, &params, error);
    if (status)
        return status;
    const double sum = engine_sum_value(found->moment[0]); /* of P L, in units of the largest P L */
    status = check(e, clock, measurement, params.lowest, error);
    if (!status && !is_split) {
        status = engine_stop_error(e, error);
        if (!status)
            engine_steer(e);
    }
    gbees_ledger_update(&s->run.ledger, before);
    if (!status)
        *evidence = (gbees_evidence){.log_evidence = found->log_heavy + log(sum) - log(mass) + log_norm,
                                     .log_likelihood_max = found->log_likely};
    return status;
}

int cuda_engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error)
{
    if (!kernels_have_updates(e->problem))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the engine has no kernels for an update at t = %g, as its problem has no measurement "
                               "up to its end: give the problem its measurements",
                               clock->time);
    const int status = ranks_link_inserted(e, error);
    return status ? status : apply(e, clock, measurement, evidence, error);
}
