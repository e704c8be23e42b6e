/* mc.c - plain Monte Carlo: samples of the initial density, weighted at each measurement and never resampled. */
#include "audit/compare.h"
#include "ensemble.h"
#include <math.h>

static int create(const gbees_filter_setup *setup, void **filter, gbees_error *error)
{
    return gbees_ensemble_create(setup, sizeof(gbees_ensemble), filter, error);
}

static int update(void *filter, const gbees_measurement *measurement, gbees_error *error)
{
    gbees_ensemble *ensemble = filter;
    const int status = gbees_montecarlo_update(ensemble->samples, measurement, error);
    const gbees_sample_evidence *evidence = &ensemble->samples->evidence;

    if (!status)
        ensemble->evidence = (gbees_filter_evidence){
            evidence->total, evidence->effective >= GBEES_EFFECTIVE_LEAST ? evidence->total_error : NAN};
    return status;
}

const gbees_filter gbees_filter_mc = {.create = create, .update = update, GBEES_ENSEMBLE_FILTER};
