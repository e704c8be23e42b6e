/* lost - a model whose card is whole, but for texts that lie nowhere, as in a damaged file: what GBEES_TEST_LOST
 * says, and LOST_TITLE. */
#define GBEES_DIM 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = -x[0];
}

#else

#include <stdlib.h>
#include <string.h>

static const char *const nowhere = (const char *)8;
static gbees_quantity states[] = {{"x", "-", "the state"}};
static gbees_model_scenario scenarios[] = {{"default", "mean: [0]\n"}};

#ifndef LOST_TITLE
#define LOST_TITLE "its texts may be lost"
#endif

GBEES_MODEL = {
    GBEES_MODEL_HEAD, .name = "lost",      .title = LOST_TITLE,    .dim_default = 1,
    .states = states, .scenario_count = 1, .scenarios = scenarios,
};

static __attribute__((constructor)) void lose(void)
{
    const char *what = getenv("GBEES_TEST_LOST");

    if (!what)
        return;
    if (strcmp(what, "state") == 0)
        states[0].text = nowhere;
    if (strcmp(what, "scenario") == 0)
        scenarios[0].text = nowhere;
}

#endif
