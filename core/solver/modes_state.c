/* modes_state.c - saves the weights and each mode's parts. What the engine of mode k saves has "k." in front of its
 * names. */
#include "modes_state.h"
#include "base/gaps.h"
#include "grid_state.h"
#include <stdio.h>
#include <string.h>

/* What all modes have in common, as plain data. */
typedef struct modes_state {
    int count, divided;
    gbees_totals before;
} modes_state;

/* One mode, as plain data. */
typedef struct mode_state {
    gbees_grid_state grid;
    gbees_moving moving;
    gbees_clock clock;
    gbees_totals noted;
    double weight;
} mode_state;

/* Where an engine's parts go to, or come from: names with a prefix. */
typedef struct view {
    gbees_state_sink *sink;     /* of a state that is saved */
    gbees_state_source *source; /* of one that is loaded */
    void *context;              /* of either */
    int mode;
} view;

static const char *full_name(int mode, const char *name, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "%d.%s", mode, name);
    return text;
}

static int add(void *context, const char *name, size_t size, uint64_t count, const void *data)
{
    const view *to = context;
    char text[GBEES_CHECKPOINT_NAME];

    return to->sink(to->context, full_name(to->mode, name, text), size, count, data);
}

static const void *find(void *context, const char *name, size_t size, uint64_t *count)
{
    const view *in = context;
    char text[GBEES_CHECKPOINT_NAME];

    return in->source(in->context, full_name(in->mode, name, text), size, count);
}

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");
}

static int save_mode(const gbees_density_mode *mode, view *to, gbees_error *error)
{
    mode_state state;

    memset(&state, 0, sizeof state);
    gbees_grid_get_state(&mode->grid, &state.grid);
    state.moving = mode->moving;
    state.clock = mode->clock;
    state.noted = mode->noted;
    state.weight = mode->weight;
    GBEES_CLEAR_GAPS(&state);
    if (add(to, "mode", 1, sizeof state, &state))
        return no_memory(error);
    return mode->grid.backend->save(mode->grid.engine, add, to, error);
}

int gbees_modes_save(const gbees_modes *modes, gbees_state_sink *sink, void *to, gbees_error *error)
{
    modes_state state;
    int status = GBEES_OK;

    memset(&state, 0, sizeof state);
    state.count = modes->count;
    state.divided = modes->divided;
    state.before = modes->before;
    GBEES_CLEAR_GAPS(&state);
    if (sink(to, "modes", 1, sizeof state, &state))
        return no_memory(error);
    for (int k = 0; k < modes->count && !status; k++)
        status = save_mode(modes->mode[k], &(view){.sink = sink, .context = to, .mode = k}, error);
    return status;
}

static int load_mode(gbees_density_mode *mode, int number, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    view in = {.source = gbees_checkpoint_find, .context = (void *)(uintptr_t)checkpoint, .mode = number};
    char name[GBEES_CHECKPOINT_NAME];
    mode_state state;
    int status = gbees_checkpoint_copy(checkpoint, full_name(number, "mode", name), 1, sizeof state, &state, error);

    if (status)
        return status;
    mode->moving = state.moving;
    mode->clock = state.clock;
    mode->noted = state.noted;
    mode->weight = state.weight;
    return gbees_grid_load(&mode->grid, &state.grid, find, &in, error);
}

int gbees_modes_load(gbees_modes *modes, const gbees_problem *problem, const gbees_backend *backend,
                     const gbees_engine_options *options, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    modes_state state;
    int status = gbees_checkpoint_copy(checkpoint, "modes", 1, sizeof state, &state, error);

    if (!status && (state.count < 1 || state.count > GBEES_MODES_MOST))
        status = gbees_error_set(error, GBEES_EINPUT, "the checkpoint has %d parts of a density: it is damaged",
                                 state.count);
    if (status)
        return status;
    *modes = (gbees_modes){.backend = backend,
                           .threads = options ? options->threads : 0,
                           .divided = state.divided,
                           .before = state.before};
    for (int k = 0; k < state.count && !status; k++) {
        status = gbees_modes_add(modes, problem, options, error);
        if (!status)
            status = load_mode(modes->mode[k], k, checkpoint, error);
    }
    return status;
}
