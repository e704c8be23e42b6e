/* targets.c - targets that absorb: which cells are in them, and what has entered (numerics/split_cuts.h). */
#include "engine.h"
#include <math.h>
#include <string.h>

void engine_set_up_targets(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;

    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            e->targets.number[e->context.targets.count++] = k;
}

/* Sets g and the cells outside of a brick. Returns whether a function is known to depend on the time: models need not
 * say so, if their drift does not. */
static int find_brick(const gbees_engine *e, uint32_t slot, double time)
{
    static const double origin[GBEES_MAX_DIM];
    const gbees_problem *problem = e->problem;
    const gbees_functions *of = gbees_problem_own_functions(problem);
    const double later =
        time + 0.618034 * (problem->end - time); /* no part of a period that a model is likely to have */
    int changes = 0;
    double base[GBEES_MAX_DIM], x[GBEES_MAX_DIM][64];
    const double *column[GBEES_MAX_DIM];
    uint64_t outside = e->g.shape.all;

    engine_base(e, slot, base);
    for (int cell = 0; cell < e->cells; cell++) {
        double y[GBEES_MAX_DIM], at[GBEES_MAX_DIM] = {0};

        for (int j = 0; j < e->g.shape.n; j++)
            y[j] = base[j] + e->tables.cell_offset[j][cell];
        gbees_problem_point(problem, y, at);
        for (int j = 0; j < e->g.shape.n; j++)
            x[j][cell] = at[j];
    }
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        column[j] = x[j];
    for (int k = 0; k < e->context.targets.count; k++) {
        const int function = problem->targets[e->targets.number[k]].function;
        double *g = e->rows.g[k] + (size_t)slot * 64, then[64];

        of->target_d(function, (size_t)e->cells, time, origin, column, problem->parameters, g);
        for (int cell = 0; cell < e->cells; cell++)
            outside &= ~((uint64_t) !(g[cell] >= 0) << cell);
        if (e->targets.changes)
            continue;
        of->target_d(function, (size_t)e->cells, later, origin, column, problem->parameters, then);
        changes = changes || memcmp(g, then, (size_t)e->cells * sizeof *g) != 0;
    }
    e->rows.outside[slot] = outside;
    return changes;
}

/* The target that a cell is in: its place in g, or GBEES_MAX_TARGETS if a function is not a number there. */
static int target_of(const gbees_engine *e, uint32_t slot, int cell)
{
    int found = GBEES_MAX_TARGETS;

    for (int k = e->context.targets.count - 1; k >= 0; k--) {
        const double g = e->rows.g[k][(size_t)slot * 64 + (size_t)cell];

        if (isnan(g))
            return GBEES_MAX_TARGETS;
        found = g < 0 ? k : found;
    }
    return found;
}

/* Empties the cells of a brick that are in targets, and adds what they had. */
static void empty_brick(gbees_engine *e, uint32_t slot, double *entered)
{
    const uint64_t outside = e->rows.outside[slot];

    for (int cell = 0; cell < e->cells && outside != e->g.shape.all; cell++) {
        const size_t at = (size_t)slot * (size_t)e->cells + (size_t)cell;
        const double held = engine_p(e, at);

        if (outside >> cell & 1 || held == 0)
            continue;
        entered[target_of(e, slot, cell)] += held;
        engine_set_p(e, at, 0);
    }
}

int engine_enter(gbees_engine *e, const double *entered, gbees_error *error)
{
    for (int k = 0; k < e->context.targets.count; k++)
        e->targets.entered[k] += entered[k];
    return entered[GBEES_MAX_TARGETS] > 0 ? failure_target(e->problem, e->run.clock.time, error) : 0;
}

int engine_find_targets(gbees_engine *e, uint32_t from, double time, gbees_error *error)
{
    double entered[GBEES_MAX_TARGETS + 1] = {0};

    if (!e->context.targets.count)
        return 0;
    int changes = 0;
#pragma omp parallel for num_threads(engine_threads(e, e->g.count - from)) schedule(static) reduction(| : changes)
    for (uint32_t k = from; k < e->g.count; k++)
        changes |= find_brick(e, e->g.used[k], time);
    e->targets.changes |= (uint64_t)changes;
    for (uint32_t k = from; k < e->g.count; k++)
        empty_brick(e, e->g.used[k], entered);
    for (int k = 0; k < e->context.targets.count; k++)
        e->run.ledger.mass -= entered[k];
    for (int k = 0; k < e->context.targets.count; k++)
        e->context.targets.g[k] = e->rows.g[k];
    e->context.targets.outside = e->rows.outside;
    return engine_enter(e, entered, error);
}

void engine_add_entered(const gbees_engine *e, gbees_totals *totals)
{
    for (int k = 0; k < e->context.targets.count; k++)
        totals->mass_entered[e->targets.number[k]] = e->targets.entered[k];
}
