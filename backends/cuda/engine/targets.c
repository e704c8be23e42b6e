/* targets.c - targets that absorb: what kernels know of them, and what these have counted. */
#include "engine.h"
#include "numerics/fixed.h"

_Static_assert((int)STATE_TARGETS == (int)GBEES_MAX_TARGETS, "all targets may absorb");

void engine_set_targets(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;
    gbees_targets *targets = &e->state->targets;

    targets->count = 0;
    targets->end = problem->end;
    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            targets->function[targets->count++] = problem->targets[k].function;
}

void engine_add_entered(const gbees_engine *e, gbees_totals *totals)
{
    const gbees_problem *problem = e->problem;
    int absorbing = 0;

    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            totals->mass_entered[k] = gbees_fixed_value(e->state->targets.entered[absorbing++]);
}
