/* nan - the model nan_drift: its drift is 1 along x until x = 1.5, and not a number beyond; the density starts about
 * x = 0 and so meets it at about t = 1.  The file's name is not the model's, on purpose. */
#define GBEES_DIM 2
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_LOG_LIKELIHOOD 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = 1 + 0 * sqrt((real)1.5 - x[0]);
    dxdt[1] = -x[1];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    y[0] = x[which];
}

/* Of x: Laplace's, and none below y = 0. Of y: not a number above 0. */
static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])
{
    (void)n, (void)t, (void)p;
    if (which == 0)
        return x[1] < 0 ? -(real)INFINITY : -fabs(y[0] - x[0]) / (real)0.1;
    return x[1] > 0 ? (real)NAN : 0;
}

#else

static const gbees_quantity states[] = {{"x", "-", "carried to the right"}, {"y", "-", "decays"}};

static const gbees_measurement_function measurements[] = {
    {"x", "what is carried", 1, NULL, NULL},
    {"y", "what decays", 1, NULL, NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0, 0]\n"
                "covariance: [0.01, 0.01]\n"
                "threshold: 1.0e-5\n"
                "end: 3.0\n"
                "records: 3\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "nan_drift",
    .title = "a drift that is not a number beyond x = 1.5",
    .dim_default = 2,
    .states = states,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
