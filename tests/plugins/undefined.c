/* undefined - a model that calls a function which is nowhere; build it without -z defs, or it does not link. */
#define GBEES_DIM 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

double gbees_test_missing_function(double x);

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = (real)gbees_test_missing_function((double)x[0]);
}

#else

static const gbees_quantity states[] = {{"x", "-", "the state"}};
static const gbees_model_scenario scenarios[] = {{"default", "mean: [0]\ncovariance: [1]\nend: 1\nrecords: 1\n"}};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,       .name = "undefined", .title = "calls a function that is nowhere",
    .dim_default = 1,       .states = states,    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
