/* state.c - an engine's state, saved to a sink and loaded from a source (gbees/backend.h).
 *
 * Bricks have the slots 1 to count in the order of the Used List, so that rows are saved as they lie in memory. The
 * results of the last inspection are saved, too, as they may be of an earlier time. Rows that a prune may leave
 * undefined are not.
 */
#include "base/gaps.h"
#include "common/bound.h"
#include "common/portable.h"
#include "engine.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* The state but for rows and parameters, as plain data. */
typedef struct engine_state {
    grid_state grid;
    gbees_run_state run;
    mass_budget budget; /* its problem is NULL */
    engine_targets targets;
    double inspected, longest_step, negligible;
    uint64_t initial_above, buffer_size;
    int is_initial, diverging_axes;
} engine_state;

/* Rows that are part of a state, and their name in it. */
typedef struct named_rows {
    const char *name;
    void **data;
} named_rows;

enum { ROWS = 11 };

/* Sets rows[ROWS]; those that this engine does not have are not registered with its grid. */
static void list_rows(gbees_engine *e, named_rows *rows)
{
    const named_rows all[ROWS] = {{"key", (void **)&e->g.key},
                                  {"p", &e->rows.p},
                                  {"active", (void **)&e->rows.active},
                                  {"flow", (void **)&e->rows.flow},
                                  {"expanded", (void **)&e->rows.expanded},
                                  {"inside", (void **)&e->rows.inside},
                                  {"blocked", (void **)&e->rows.blocked},
                                  {"diverging", (void **)&e->rows.diverging},
                                  {"one_signed", (void **)&e->rows.one_signed},
                                  {"rate", (void **)&e->rows.rate},
                                  {"noise", (void **)&e->rows.noise}};

    memcpy(rows, all, sizeof all);
}

/* Bytes of the items as which rows of `row` bytes a slot are passed to the sink: a slot has a whole number of them.
 */
static size_t item_size(const gbees_engine *e, const named_rows *rows, size_t row)
{
    if (rows->data == &e->rows.p)
        return e->method.real_size;
    if (rows->data == (void **)&e->g.key)
        return sizeof *e->g.key;
    return row % 8 == 0 && rows->data != (void **)&e->rows.blocked ? 8 : row % 2 == 0 ? 2 : 1;
}

/* Sets the error for a state that memory or the sink does not hold. */
static int stopped(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the state of the CPU engine");
}

/* Sets all of a state but rows and parameters. Among ranks its grid is that of one process with the bricks of all. */
static void get_state(gbees_engine *e, engine_state *state)
{
    memset(state, 0, sizeof *state);
    state->grid = ranks_grid_state(e);
    state->run = e->run;
    state->budget = e->budget;
    state->budget.problem = NULL;
    state->targets = e->targets;
    state->inspected = e->inspected;
    state->longest_step = e->longest_step;
    state->negligible = e->context.flow.negligible;
    state->initial_above = e->initial_above;
    state->buffer_size = e->ranks ? 0 : e->workspace.buffer_size;
    state->is_initial = e->is_initial;
    state->diverging_axes = e->context.flow.diverging_axes;
}

/* All ranks: passes the rows of the bricks of all ranks to rank 0's sink. Returns whether memory has run out, or the
 * sink has stopped. */
static int save_rows(gbees_engine *e, const engine_state *state, gbees_state_sink *sink, void *context)
{
    named_rows rows[ROWS];
    int failed = 0;

    list_rows(e, rows);
    for (int k = 0; k < ROWS; k++) {
        const size_t row = grid_field_size(&e->g, rows[k].data);
        void *all = NULL;

        if (!row)
            continue;
        const void *data =
            ranks_collect(e, *rows[k].data, row, &all); /* the others wait for it, whatever has failed */
        const size_t size = item_size(e, &rows[k], row);
        if (sink && !failed)
            failed = !data || sink(context, rows[k].name, size, row / size * state->grid.count, data);
        free(all);
    }
    return failed;
}

/* For engines of a GPU, whose bricks have 64 cells. Returns what the sink does. */
static int save_portable(gbees_engine *e, const engine_state *state, gbees_state_sink *sink, void *context)
{
    portable_state portable;

    memset(&portable, 0, sizeof portable);
    portable.run = state->run;
    portable.budget = state->budget;
    memcpy(portable.parameters, e->tables.parameters_d, sizeof portable.parameters);
    memcpy(portable.entered, state->targets.entered, sizeof portable.entered);
    portable.dimension = e->problem->dimension;
    portable.real_size = (int32_t)e->method.real_size;
    portable.deterministic = e->method.deterministic;
    portable.bricks = state->grid.count;
    portable.key = (portable_list){"key", sizeof *e->g.key};
    portable.p = (portable_list){"p", e->method.real_size};
    portable.active = (portable_list){"active", sizeof *e->rows.active};
    return portable_save(&portable, sink, context);
}

int engine_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error)
{
    engine_state state;
    int failed = 0;

    get_state(e, &state);
    GBEES_CLEAR_GAPS(&state);
    if (sink)
        failed = state.grid.count == 0 || sink(context, "engine", 1, sizeof state, &state) ||
                 save_portable(e, &state, sink, context) ||
                 sink(context, "engine_parameters", sizeof(double), GBEES_TABLES_AT, e->tables.parameters_d);
    failed = ranks_any(e->ranks, failed);
    return failed || save_rows(e, &state, sink, context) ? stopped(error) : 0;
}

/* Whether a loaded state's counts are possible: slots 1 ... count are within the capacity, and the hash table's size
 * is a power of two, at least twice the count. */
static int is_whole(const engine_state *state)
{
    return state->grid.count > 0 && state->grid.count < state->grid.capacity &&
           state->grid.table_size >= 2 * (uint64_t)state->grid.count &&
           (state->grid.table_size & (state->grid.table_size - 1)) == 0;
}

/* Sets the error for a state whose part of that name is not this engine's. */
static int misfit(const char *part, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EINPUT,
                           "the state is not one of a CPU engine with this problem: its part '%s' is missing or has "
                           "another size",
                           part);
}

/* Sets all rows but the keys, of the grid that the state has. */
static int load_rows(gbees_engine *e, gbees_state_source *source, void *context, gbees_error *error)
{
    named_rows rows[ROWS];

    list_rows(e, rows);
    for (int k = 1; k < ROWS; k++) { /* the keys have been loaded */
        const size_t row = grid_field_size(&e->g, rows[k].data);
        uint64_t count = 0;

        if (!row)
            continue;
        const size_t size = item_size(e, &rows[k], row);
        const void *data = source(context, rows[k].name, size, &count);
        if (!data || count != row / size * e->g.count)
            return misfit(rows[k].name, error);
        memcpy((char *)*rows[k].data + row, data, row * e->g.count);
    }
    return portable_check_density((char *)e->rows.p + (size_t)e->cells * e->method.real_size, e->method.real_size,
                                  (uint64_t)e->g.count * (uint64_t)e->cells, error);
}

/* Sets all of an engine but its grid and rows to a state. */
static int set_rest(gbees_engine *e, const engine_state *state, gbees_error *error)
{
    e->run = state->run;
    e->budget = state->budget;
    e->budget.problem = e->problem;
    e->targets = state->targets;
    e->inspected = state->inspected;
    e->longest_step = state->longest_step;
    e->initial_above = state->initial_above;
    e->is_initial = state->is_initial;
    e->context.flow.negligible = state->negligible;
    e->context.flow.diverging_axes = state->diverging_axes;
    engine_set_flow_rows(e);
    e->workspace.buffer = state->buffer_size ? malloc(state->buffer_size) : NULL;
    e->workspace.buffer_size = e->workspace.buffer ? state->buffer_size : 0;
    return state->buffer_size && !e->workspace.buffer ? stopped(error) : 0;
}

/* Finds the state, its parameters and its keys in the source, and sets the parameters. */
static int find_state(gbees_engine *e, gbees_state_source *source, void *context, engine_state *state,
                      const int32_t **keys, gbees_error *error)
{
    uint64_t count = 0;
    const void *data = source(context, "engine", 1, &count);

    if (!data || count != sizeof *state)
        return misfit("engine", error);
    memcpy(state, data, sizeof *state);
    const double *parameters = source(context, "engine_parameters", sizeof *parameters, &count);
    if (!parameters || count != GBEES_TABLES_AT)
        return misfit("engine_parameters", error);
    memcpy(e->tables.parameters_d, parameters, GBEES_TABLES_AT * sizeof *parameters);
    *keys = source(context, "key", sizeof **keys, &count);
    if (!*keys || !is_whole(state) || count != (uint64_t)state->grid.count * (uint64_t)e->g.shape.n)
        return misfit("key", error);
    return 0;
}

/* Rank 0: finds what ranks need of their bricks in the source: P, the active and the expanded cells. */
static int find_bricks(const gbees_engine *e, gbees_state_source *source, void *context, brick_rows *bricks,
                       gbees_error *error)
{
    uint64_t cells = 0, active = 0, expanded = 0;

    bricks->p = source(context, "p", e->method.real_size, &cells);
    bricks->active = source(context, "active", sizeof *bricks->active, &active);
    bricks->expanded = source(context, "expanded", sizeof *bricks->expanded, &expanded);
    if (!bricks->p || cells != bricks->count * (uint64_t)e->cells)
        return misfit("p", error);
    if (!bricks->active || active != bricks->count)
        return misfit("active", error);
    if (!bricks->expanded || expanded != bricks->count)
        return misfit("expanded", error);
    return portable_check_density(bricks->p, e->method.real_size, cells, error);
}

/* All ranks: loads a state that rank 0's source has. The others get their bricks and all else from rank 0. */
static int load_shared(gbees_engine *e, gbees_state_source *source, void *context, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    brick_rows bricks = {0};
    engine_state state;
    int status = 0;

    memset(&state, 0, sizeof state);
    if (p->rank == 0) {
        status = find_state(e, source, context, &state, &bricks.key, error);
        bricks.count = state.grid.count;
        if (!status)
            status = find_bricks(e, source, context, &bricks, error);
    }
    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    p->broadcast(p->context, &state, sizeof state);
    p->broadcast(p->context, e->tables.parameters_d, GBEES_TABLES_AT * sizeof *e->tables.parameters_d);
    engine_round_parameters(e);
    state.buffer_size = 0;
    status = set_rest(e, &state, error);
    return status ? status : balance_deal(e, &bricks, error);
}

/* Makes the grid of bricks that an engine of a GPU has saved. Growth searches all active cells once: what these need
 * is there, or is made as the GPU would have. */
static int insert_portable(gbees_engine *e, const portable_bricks *found, gbees_error *error)
{
    const size_t n = (size_t)e->g.shape.n, row = (size_t)e->cells * e->method.real_size;

    for (uint64_t k = 0; k < found->state.bricks; k++) {
        const int32_t *key = found->key + k * n;
        const uint64_t hash = grid_hash(&e->g, key);
        const uint64_t inside = e->rows.inside ? bound_cells(e->problem, &e->g.shape, key) : 1;
        int status = grid_find_hashed(&e->g, key, hash) ? misfit("key", error)
                                                        : engine_insert_brick(e, key, hash, inside, error);

        if (status)
            return status;
        const uint32_t slot = e->g.used[k];
        engine_clear_brick(e, slot);
        memcpy((char *)e->rows.p + slot * row, (const char *)found->p + k * row, row);
        e->rows.active[slot] = found->active[k];
    }
    grid_link(&e->g, 0);
    return 0;
}

static int load_portable(gbees_engine *e, gbees_state_source *source, void *context, gbees_error *error)
{
    portable_bricks found;
    int status = portable_find(e->problem, e->method.real_size, source, context, &found, error);

    if (status)
        return status;
    memcpy(e->tables.parameters_d, found.state.parameters, sizeof found.state.parameters);
    engine_round_parameters(e);
    e->run = found.state.run;
    memcpy(e->targets.entered, found.state.entered, sizeof e->targets.entered);
    e->budget = found.state.budget;
    e->budget.problem = e->problem;
    status = insert_portable(e, &found, error);
    return status ? status : engine_inspect(e, 0, e->run.clock.time, error);
}

int engine_load(gbees_engine *e, gbees_state_source *source, void *context, gbees_error *error)
{
    engine_state state;
    const int32_t *keys = NULL;

    if (e->ranks)
        return load_shared(e, source, context, error);
    if (!source(context, "engine", 1, &(uint64_t){0}))
        return load_portable(e, source, context, error);
    int status = find_state(e, source, context, &state, &keys, error);
    if (status)
        return status;
    engine_round_parameters(e);
    status = grid_set_state(&e->g, &state.grid, keys, error);
    if (!status)
        status = load_rows(e, source, context, error);
    if (!status)
        status = set_rest(e, &state, error);
    return status ? status : engine_find_targets(e, 0, e->is_initial ? e->inspected : e->run.clock.time, error);
}
