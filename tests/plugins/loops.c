/* loops - the model loops: its drift is 1 along x until x = 1.5, and does not return beyond; the density starts about
 * x = 0 and so gets there at about t = 1. It has three states, as a brick's planes then are whole vectors, and the
 * model's functions of planes are called. */
#define GBEES_DIM 3
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    volatile int turns = 1; /* keeps the compiler from leaving the loop out */

    (void)n, (void)t, (void)p;
    while (x[0] > (real)1.5 && turns)
        turns = 1;
    dxdt[0] = 1;
    dxdt[1] = -x[1];
    dxdt[2] = -x[2];
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "carried to the right"}, {"y", "-", "decays"}, {"z", "-", "decays"}};

static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0, 0, 0]\n"
                "covariance: [0.01, 0.01, 0.01]\n"
                "threshold: 1.0e-5\n"
                "end: 3.0\n"
                "records: 30\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,       .name = "loops",  .title = "a drift that does not return beyond x = 1.5",
    .dim_default = 3,       .states = states, .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
