/* bad_card - a model that is whole but for its card: no scenario, and NULL wherever a pointer may be forgotten. */
#define GBEES_DIM 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = -x[0];
}

#else

static const gbees_quantity states[] = {{"x", "-", "the state"}};

GBEES_MODEL = {
    GBEES_MODEL_HEAD, .name = "bad_card", .title = "has no scenario", .dim_default = 1, .states = states,
};

#endif
