/* setup.c - creates an engine (the device, kernels, constants, arrays, the initial density), gives it another grid,
 * and destroys it. */
#include "common/ends.h"
#include "common/initial_grid.h"
#include "common/totals.h"
#include "cuda/compile/spec.h"
#include "engine.h"
#include "heap.h"
#include "initial.h"
#include "load.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is constant over a run ---- */

/* Sets the offsets of the centres of a brick's cells, and of its faces, from the centre of its lowest cell, axis by
 * axis. */
static void set_up_offsets(gbees_setup *m, const gbees_problem *problem)
{
    int cell = 0, face = 0;

    for (int j = 0; j < problem->dimension; j++) {
        for (int i = 0; i < m->shape.edge[j]; i++, cell++) {
            m->cell_d[cell] = problem->width[j] * i;
            m->cell_f[cell] = (float)m->cell_d[cell];
        }
        for (int i = -1; i < m->shape.edge[j] + 2; i++, face++) {
            double at = problem->width[j] * (i - 0.5);

            m->face_f[face] = (float)at;
            m->face_d[face] = at;
        }
    }
}

/* Sets what kernels take of the problem: gbees_setup without arrays. */
static void set_up_constants(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;
    const gbees_numerics *numerics = &problem->numerics;
    gbees_setup *m = &e->setup;

    gbees_shape_set(&m->shape, problem->dimension, 64);
    ends_close(problem, &m->shape);
    if (problem->dimension == 1 && gbees_problem_noise_in_sweeps(problem))
        gbees_shape_reach_far(&m->shape);
    set_up_offsets(m, problem);
    for (int j = 0; j < problem->dimension; j++) {
        m->origin[j] = problem->mean[j];
        m->width[j] = problem->width[j];
        m->over_width[j] = 1 / problem->width[j];
    }
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++) {
        m->parameters_d[k] = problem->parameters[k];
        m->parameters_f[k] = (float)problem->parameters[k];
    }
    memcpy(e->frame.parameters_d, problem->parameters, sizeof e->frame.parameters_d);
    m->courant = numerics->courant;
    m->longest_step = INFINITY;
    m->time_step = numerics->time_step;
    m->courant_limit = fixed_step_limit(numerics);
    m->prune_interval = (uint32_t)numerics->prune_interval;
    m->bound_low = problem->bound_low;
    m->bound_high = problem->bound_high;
    m->bound_time = problem->start;
    for (int j = 0; j < STATE_MAX_DIM; j++) {
        m->low[j] = INT32_MIN;
        m->high[j] = INT32_MAX;
    }
    m->first_ghost = UINT32_MAX;
    m->inside = numerics->cell_values == GBEES_CELL_POINTS ? 1.0 / 24 : 0;
    m->sweeps = gbees_scheme_is_split(numerics->scheme);
    m->stop_at_prunes = mass_budget_changes_threshold(problem);
}

/* Sets what the host decides by the problem: precisions, arrays, which kernels take steps. */
static void set_up_choices(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;

    e->real_size = problem->numerics.precision == GBEES_DOUBLE ? sizeof(double) : sizeof(float);
    e->position_size = cuda_spec_is_drift_f64(problem) ? sizeof(double) : e->real_size;
    e->averages = problem->numerics.cell_values == GBEES_CELL_AVERAGES;
    e->row_arrays = cuda_spec_rows(problem);
    e->passes = cuda_spec_passes(problem);
    e->large = kernels_have_advect(problem) ? ENGINE_LARGE_BRICKS : 0;
    e->advects_all = kernels_always_advect_apart(problem);
    e->budget.threshold = problem->threshold;
}

/* A heap that grows gets half as many slots again as there are bricks, so that it has a third more on average, and
 * ENGINE_LEAST_BYTES if it outgrows ENGINE_LEAST_CAPACITY. */
double cuda_engine_estimate(const gbees_problem *problem, double bricks)
{
    gbees_shape shape;
    gbees_engine *e = calloc(1, sizeof *e);

    if (!e)
        return NAN;
    gbees_shape_set(&shape, problem->dimension, 64);
    e->problem = problem;
    e->memory.is_virtual = 1;
    e->memory.granularity = 2 << 20;
    set_up_choices(e);
    const double slots = bricks > 0 ? 4.0 / 3 * bricks : 2 * initial_grid_estimate(problem, &shape);
    const double host = bricks > 0 ? 0 : initial_grid_bytes(problem, &shape);
    const double bytes = engine_heap_bytes(e, (uint64_t)fmax(slots, ENGINE_LEAST_CAPACITY));
    free(e);
    return host + (slots > ENGINE_LEAST_CAPACITY ? fmax(bytes, ENGINE_LEAST_BYTES) : bytes);
}

/* ---- create ---- */

/* Opens the GPU and a stream, and takes page-locked memory for the host's copy of the state. */
static int open_device(gbees_engine *e, gbees_error *error)
{
    const cuda_api *api = e->api;
    int status = cuda_check(api, api->cuDevicePrimaryCtxRetain(&e->context, e->device), "opening the GPU", error);

    if (!status)
        status = cuda_check(api, api->cuCtxSetCurrent(e->context), "opening the GPU", error);
    if (!status)
        status = cuda_check(api, api->cuStreamCreate(&e->stream, CU_STREAM_NON_BLOCKING), "opening a stream", error);
    if (!status)
        status = cuda_check(api, api->cuMemAllocHost((void **)&e->found, sizeof *e->found),
                            "taking page-locked memory", error);
    if (status)
        return status;
    memset(e->found, 0, sizeof *e->found);
    e->state = &e->found->state;
    engine_set_targets(e);
    return 0;
}

/* Sets up all of an engine but its density. */
static int set_up(gbees_engine *e, gbees_error *error)
{
    set_up_choices(e);
    set_up_constants(e);
    int status = open_device(e, error);
    if (!status)
        status = engine_load_kernels(e, error);
    if (!status)
        status = device_memory_open(&e->memory, e->api, e->device, e->stream, error);
    if (!status)
        status = device_array_grow(&e->memory, &e->device_state, sizeof *e->found, sizeof *e->found, error);
    return status ? status : engine_send_frame(e, error);
}

/* An engine that holds nothing of the GPU yet. NULL: out of memory. */
static gbees_engine *make(const engine_place *place, const gbees_problem *problem, gbees_error *error)
{
    gbees_engine *e = calloc(1, sizeof *e);

    if (!e) {
        (void)gbees_error_set(error, GBEES_ENOMEM, "not enough memory to set up the CUDA backend");
        return NULL;
    }
    e->api = place->api;
    e->device = place->device;
    e->programs = place->programs;
    e->problem = problem;
    e->split_from = UINT32_MAX;
    capture_memory_open(&e->captured);
    return e;
}

/* Gives an engine the state of a source, or the initial density. */
static int fill(gbees_engine *e, const engine_source *source, gbees_error *error)
{
    return source ? engine_load_state(e, source, error) : engine_fill_initial(e, error);
}

int cuda_engine_create(const engine_place *place, const gbees_problem *problem, const gbees_engine_options *options,
                       const engine_source *source, gbees_engine **engine, gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    gbees_engine *e = make(place, problem, error);
    int status = e ? set_up(e, error) : GBEES_ENOMEM;

    if (!status)
        status = !parallel || parallel->rank == 0 ? fill(e, source, error) : engine_heap_reserve(e, 1, 1, error);
    if (!status && parallel)
        status = split_create(e, parallel, error);
    if (parallel)
        status = gbees_parallel_agree(parallel, status, error);
    if (!status && place->connects && e->shared.ranks)
        status = split_connect(e, error);
    if (status) {
        cuda_engine_destroy(e);
        return status;
    }
    e->memory_limit = options ? options->memory_bytes : 0;
    e->deterministic = options && options->deterministic;
    *engine = e;
    return 0;
}

/* ---- another grid ---- */

/* Gives this engine the grid of another problem, and the density of its cells; a rank other than 0 gets no bricks. */
static int take_problem(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    const gbees_grid_arrays arrays = e->setup.grid;
    int status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "taking another grid", error);

    if (status)
        return status;
    e->problem = problem;
    e->setup = (gbees_setup){.grid = arrays};
    e->budget = (mass_budget){0};
    e->mean_step = 0;
    memset(e->found, 0, sizeof *e->found);
    engine_set_targets(e);
    set_up_choices(e);
    set_up_constants(e);
    status = engine_heap_clear_null(e, error);
    if (!status)
        status = engine_send_frame(e, error);
    if (status)
        return status;
    return e->ranks && e->ranks->parallel->rank > 0 ? engine_heap_reserve(e, 1, 1, error)
                                                    : engine_fill_initial(e, error);
}

int cuda_engine_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "taking another grid", error);

    ranks_forget(e);
    if (!status)
        status = take_problem(e, problem, error);
    return ranks_agree(e->shared.ranks, status, error);
}

/* ---- destroy ---- */

/* Frees the grid's arrays. */
static void free_arrays(gbees_engine *e)
{
    device_array *arrays[] = {&e->key,   &e->base,   &e->flow,    &e->active,       &e->needed, &e->rate,   &e->map,
                              &e->table, &e->inside, &e->blocked, &e->device_state, &e->framed, &e->outside};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        device_array_free(&e->memory, arrays[i]);
    engine_remap_free(e);
    for (int r = 0; r < STATE_ROWS; r++)
        device_array_free(&e->memory, &e->rows[r]);
    for (int d = 0; d < 2 * GBEES_MAX_DIM; d++)
        device_array_free(&e->memory, &e->neighbor[d]);
}

void cuda_engine_destroy(gbees_engine *e)
{
    if (!e)
        return;
    const cuda_api *api = e->api;

    if (e->stream)
        (void)api->cuStreamSynchronize(e->stream);
    split_destroy(e);
    engine_capture_destroy(e);
    capture_memory_close(&e->captured, &e->memory);
    packed_piece_free(e, &e->piece);
    free_arrays(e);
    for (int p = 0; p < PROGRAMS; p++) {
        if (e->programs->part[p].module) /* modules have to go before their context */
            (void)api->cuModuleUnload(e->programs->part[p].module);
        e->programs->part[p].module = NULL;
    }
    if (e->found)
        (void)api->cuMemFreeHost(e->found);
    if (e->stream)
        (void)api->cuStreamDestroy(e->stream);
    if (e->context)
        (void)api->cuDevicePrimaryCtxRelease(e->device);
    free(e);
}
