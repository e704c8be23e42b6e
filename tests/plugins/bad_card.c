/* bad_card - a model that is whole but for its card: no scenario, and NULL wherever a pointer may be forgotten. With
 * LOST_TITLE, the title's address, there is a scenario, and texts may lie nowhere, as in a damaged file:
 * GBEES_TEST_LOST says which. */
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

#ifdef LOST_TITLE
enum { SCENARIOS = 1 };
#else
#define LOST_TITLE "has no scenario"
enum { SCENARIOS = 0 };
#endif

static gbees_quantity states[] = {{"x", "-", "the state"}};
static gbees_model_scenario scenarios[] = {{"default", "mean: [0]\n"}};

static __attribute__((constructor)) void lose(void)
{
    static const char *const nowhere = (const char *)8;
    const char *what = getenv("GBEES_TEST_LOST");

    if (!what)
        return;
    if (strcmp(what, "state") == 0)
        states[0].text = nowhere;
    if (strcmp(what, "scenario") == 0)
        scenarios[0].text = nowhere;
}

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "bad_card",
    .title = LOST_TITLE,
    .dim_default = 1,
    .states = states,
    .scenario_count = SCENARIOS,
    .scenarios = SCENARIOS ? scenarios : NULL,
};

#endif
