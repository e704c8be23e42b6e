/* state.c - saves and loads an engine: its lattices, and the measurements that have been applied; see state.h. */
#include "state.h"
#include "base/array.h"
#include "base/gaps.h"
#include "marginals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is saved beside the lattices' points. */
typedef struct engine_state {
    int32_t parts, past, is_certified, limited;
    double now, pace, evidence_bound, whole_beyond, figure, sharp, beyond, tail, log_evidence[GBEES_LAGRANGIAN_SETS],
        raised[GBEES_LAGRANGIAN_SETS];
    double entered_before[GBEES_MAX_TARGETS];
    gbees_entered entered[GBEES_LAGRANGIAN_SETS];
    gbees_between between;
    gbees_totals totals;
    gbees_certificate certificate;
} engine_state;

enum { FIRST_OF_TARGETS = 3 /* of a lattice's columns: the others have names */ };

/* What is saved of a lattice beside its points. */
typedef struct lattice_state {
    uint64_t count, is_taken_off, light, has_edges;
    double origin[GBEES_MAX_DIM], axes[GBEES_MATRIX];
} lattice_state;

/* "l1.3.x0": a part of lattice 3 of set 1. */
static const char *name_of(char name[32], int set, int part, const char *what, int axis)
{
    (void)snprintf(name, 32, "l%d.%d.%s%d", set, part, what, axis);
    return name;
}

/* ---- save ---- */

static int save_lattice(gbees_lattice *lattice, int set, int part, gbees_state_sink *sink, void *context)
{
    double **column[GBEES_LATTICE_COLUMNS];
    const int columns = gbees_lattice_columns(lattice, column);
    lattice_state state;
    char name[32];
    int stopped;

    memset(&state, 0, sizeof state);
    state.count = gbees_lattice_inner(lattice);
    state.is_taken_off = (uint64_t)lattice->is_taken_off;
    state.light = lattice->light_count;
    state.has_edges = (uint64_t)lattice->has_edges;
    memcpy(state.origin, lattice->origin, sizeof state.origin);
    memcpy(state.axes, lattice->axes, sizeof state.axes);
    stopped = sink(context, name_of(name, set, part, "lattice", 0), 1, sizeof state, &state) ||
              sink(context, name_of(name, set, part, "site", 0), 2, state.count * GBEES_MAX_DIM, lattice->site) ||
              sink(context, name_of(name, set, part, "weight", 0), 8, state.count, lattice->log_weight) ||
              sink(context, name_of(name, set, part, "stretch", 0), 8, state.count, lattice->stretch);
    if (!stopped && state.light > 0)
        stopped = sink(context, name_of(name, set, part, "light", 0), 1, state.light * sizeof *lattice->light,
                       lattice->light);
    for (int j = 0; j < lattice->n && !stopped; j++)
        stopped = sink(context, name_of(name, set, part, "x", j), 8, state.count, lattice->x[j]);
    for (int k = FIRST_OF_TARGETS; k < columns && !stopped; k++)
        stopped = sink(context, name_of(name, set, part, "target", k), 8, state.count, *column[k]);
    return stopped;
}

static int save_marginals(const gbees_own_marginals *own, int n, gbees_state_sink *sink, void *context)
{
    gbees_own_marginals state;

    memset(&state, 0, sizeof state);
    state = *own;
    for (int j = 0; j < n; j++)
        state.line[j].below = NULL;
    GBEES_CLEAR_GAPS(&state);
    return sink(context, "marginals", 1, sizeof state, &state) ||
           sink(context, "marginals_below", 8, gbees_own_marginals_values(own, n), own->line[0].below);
}

int gbees_engine_save(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error)
{
    engine_state state;
    int stopped;

    memset(&state, 0, sizeof state);
    state.parts = engine->parts;
    state.past = engine->past.count;
    state.now = engine->past.now;
    state.pace = engine->pace;
    state.figure = engine->figure;
    state.sharp = engine->sharp;
    state.whole_beyond = engine->whole_beyond;
    state.limited = engine->limited;
    state.between = engine->between;
    state.beyond = engine->beyond;
    state.is_certified = engine->is_certified;
    if (engine->is_certified)
        state.certificate = engine->certificate;
    state.evidence_bound = engine->evidence_bound;
    GBEES_CLEAR_GAPS(&state.certificate);
    state.tail = engine->set[0].rule.tail;
    memcpy(state.log_evidence, engine->log_evidence, sizeof state.log_evidence);
    memcpy(state.entered_before, engine->entered_before, sizeof state.entered_before);
    memcpy(state.entered, engine->entered, sizeof state.entered);
    for (int s = 0; s < engine->sets; s++) {
        state.raised[s] = engine->set[s].raised;
        GBEES_CLEAR_GAPS(&state.entered[s]);
    }
    state.totals = engine->totals;
    GBEES_CLEAR_GAPS(&state.totals);
    for (int k = 0; k < engine->past.count; k++)
        GBEES_CLEAR_GAPS(&engine->past.of[k]);
    stopped = sink(context, "lagrangian", 1, sizeof state, &state);
    if (!stopped && engine->past.count > 0)
        stopped = sink(context, "past", 1, (uint64_t)engine->past.count * sizeof *engine->past.of, engine->past.of);
    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !stopped; g++)
            if (engine->set[s].lattice[g])
                stopped = save_lattice(engine->set[s].lattice[g], s, g, sink, context);
    if (engine->marginals && !stopped)
        stopped = save_marginals(engine->marginals, engine->problem->dimension, sink, context);
    return stopped ? gbees_error_set(error, GBEES_ENOMEM, "the state of the engine was not taken") : GBEES_OK;
}

/* ---- load ---- */

/* Where a state is loaded from. */
typedef struct loading {
    gbees_state_source *source;
    void *context;
    gbees_error *error;
} loading;

static int fail(const loading *from)
{
    return gbees_error_set(from->error, GBEES_EINPUT, "it holds no state of points that go with the flow");
}

/* Copies a part that must have so many items. */
static int take(const loading *from, const char *name, size_t size, uint64_t count, void *to)
{
    uint64_t found = 0;
    const void *data = from->source(from->context, name, size, &found);

    if (!data || found != count)
        return fail(from);
    memcpy(to, data, size * count);
    return GBEES_OK;
}

/* Loads a lattice, if the state has it. */
static int load_lattice(const loading *from, const gbees_problem *problem, int set, int part, gbees_lattice **lattice)
{
    const int n = problem->dimension;
    double **column[GBEES_LATTICE_COLUMNS];
    lattice_state state;
    char name[32];
    uint64_t found = 0;

    if (!from->source(from->context, name_of(name, set, part, "lattice", 0), 1, &found))
        return GBEES_OK;
    int status = take(from, name, 1, sizeof state, &state);
    if (!status && (state.count == 0 || state.count > UINT32_MAX / 4))
        status = fail(from);
    if (!status)
        status = gbees_lattice_create(n, state.origin, state.axes, lattice, from->error);
    if (!status)
        status = gbees_lattice_watch(*lattice, problem, from->error);
    if (!status)
        status = gbees_lattice_reserve(*lattice, state.count, from->error);
    if (status)
        return status;
    gbees_lattice *made = *lattice;
    const int columns = gbees_lattice_columns(made, column);
    made->count = (uint32_t)state.count;
    made->is_taken_off = state.is_taken_off != 0;
    memset(made->gain, 0, made->count * sizeof *made->gain);
    status = take(from, name_of(name, set, part, "site", 0), 2, state.count * GBEES_MAX_DIM, made->site);
    if (!status)
        status = take(from, name_of(name, set, part, "weight", 0), 8, state.count, made->log_weight);
    if (!status)
        status = take(from, name_of(name, set, part, "stretch", 0), 8, state.count, made->stretch);
    if (!status && gbees_array_reserve(&made->light, state.light, &made->light_capacity, sizeof *made->light))
        status = gbees_error_set(from->error, GBEES_ENOMEM, "not enough memory for a state");
    if (!status && state.light > 0)
        status = take(from, name_of(name, set, part, "light", 0), 1, state.light * sizeof *made->light, made->light);
    made->light_count = status ? 0 : state.light;
    made->has_edges = state.has_edges != 0;
    for (int j = 0; j < n && !status; j++)
        status = take(from, name_of(name, set, part, "x", j), 8, state.count, made->x[j]);
    for (int k = FIRST_OF_TARGETS; k < columns && !status; k++)
        status = take(from, name_of(name, set, part, "target", k), 8, state.count, *column[k]);
    return status;
}

/* Loads the marginals, if the state has them. */
static int load_marginals(const loading *from, int n, gbees_own_marginals **made)
{
    uint64_t found = 0;
    gbees_own_marginals state;
    int status = GBEES_OK;

    if (!from->source(from->context, "marginals", 1, &found))
        return GBEES_OK;
    status = take(from, "marginals", 1, sizeof state, &state);
    for (int j = 0; j < n && !status; j++)
        status = state.line[j].length > UINT32_MAX ? fail(from) : GBEES_OK;
    if (status)
        return status;
    *made = gbees_own_marginals_create(&state, n);
    if (!*made)
        return gbees_error_set(from->error, GBEES_ENOMEM, "not enough memory for a state");
    return take(from, "marginals_below", 8, gbees_own_marginals_values(*made, n), (*made)->line[0].below);
}

static int load_past(const loading *from, int count, gbees_past *past)
{
    gbees_past_event *of = count > 0 ? calloc((size_t)count, sizeof *of) : NULL;

    if (count < 0 || (count > 0 && !of))
        return count < 0 ? fail(from) : gbees_error_set(from->error, GBEES_ENOMEM, "not enough memory for a state");
    past->of = of;
    past->count = count;
    past->capacity = (size_t)count;
    const int status = count > 0 ? take(from, "past", 1, (uint64_t)count * sizeof *of, of) : GBEES_OK;
    for (int k = 0; k < count && !status; k++) {
        past->measured += !of[k].is_jump;
        if (of[k].is_jump && !(of[k].instant >= 0 && of[k].instant < past->problem->instant_count))
            return fail(from);
    }
    return status;
}

int gbees_engine_load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                      void *context, gbees_engine **engine, gbees_error *error)
{
    const loading from = {source, context, error};
    gbees_engine *made = NULL;
    engine_state state;
    int status = take(&from, "lagrangian", 1, sizeof state, &state);

    if (!status)
        status = gbees_engine_open(problem, options, &made, error);
    if (status)
        return status;
    if (state.parts != made->parts)
        status = fail(&from);
    if (!status)
        status = load_past(&from, state.past, &made->past);
    for (int s = 0; s < made->sets && !status; s++)
        for (int g = 0; g < made->parts && !status; g++)
            status = load_lattice(&from, problem, s, g, &made->set[s].lattice[g]);
    if (!status)
        status = load_marginals(&from, problem->dimension, &made->marginals);
    if (!status && !gbees_engine_has_points(made))
        status = fail(&from);
    if (status) {
        gbees_engine_destroy(made);
        return status;
    }
    made->past.now = state.now;
    made->pace = state.pace;
    made->figure = state.figure;
    made->sharp = state.sharp;
    made->whole_beyond = state.whole_beyond;
    made->evidence_bound = state.evidence_bound;
    made->limited = state.limited;
    made->between = state.between;
    made->beyond = state.beyond;
    made->is_certified = state.is_certified;
    made->certificate = state.certificate;
    for (int s = 0; s < made->sets; s++) {
        made->set[s].rule.tail = state.tail;
        made->set[s].raised = state.raised[s];
    }
    made->evaluations = state.totals.cell_updates;
    memcpy(made->log_evidence, state.log_evidence, sizeof state.log_evidence);
    memcpy(made->entered_before, state.entered_before, sizeof state.entered_before);
    memcpy(made->entered, state.entered, sizeof state.entered);
    const int threads = made->totals.threads;
    made->totals = state.totals;
    made->totals.threads = threads;
    *engine = made;
    return GBEES_OK;
}
