/* setup.c - an engine for a problem: kernels, arrays, the initial density. */
#include "common/bound.h"
#include "common/initial.h"
#include "common/initial_bricks.h"
#include "cuda/compile/spec.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int program, steps; /* 1: of a small grid it is a cluster's */
} kernels[KERNELS] = {
    [KERNEL_START] = {"gbees_start", PROGRAM_GRID, 0},
    [KERNEL_REHASH] = {"gbees_rehash", PROGRAM_PRUNES, 0},
    [KERNEL_ADVANCE] = {"gbees_advance", PROGRAM_STEPS, 1},
    [KERNEL_SMALL] = {"gbees_small", PROGRAM_SMALL, 1},
    [KERNEL_ADVECT] = {"gbees_advect", PROGRAM_ADVECT, 0},
    [KERNEL_MARK] = {"gbees_mark", PROGRAM_MARKS, 0},
    [KERNEL_ADVECT_ALL] = {"gbees_advect_all", PROGRAM_ADVECT_ALL, 1},
    [KERNEL_PRUNE] = {"gbees_prune", PROGRAM_PRUNES, 1},
    [KERNEL_COUNT] = {"gbees_count", PROGRAM_PRUNES, 0},
    [KERNEL_FIND_BEST] = {"gbees_find_best", PROGRAM_LIKELIHOODS, 0},
    [KERNEL_MULTIPLY] = {"gbees_multiply", PROGRAM_UPDATES, 0},
    [KERNEL_SCALE] = {"gbees_scale", PROGRAM_GRID, 0},
    [KERNEL_STATISTICS] = {"gbees_statistics", PROGRAM_GRID, 0},
    [KERNEL_PACK] = {"gbees_pack", PROGRAM_GRID, 0},
    [KERNEL_RANGE] = {"gbees_range", PROGRAM_GRID, 0},
    [KERNEL_MARGINALS] = {"gbees_marginal_sums", PROGRAM_GRID, 0},
};

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CUDA backend was set up");
}

static int find_kernel(gbees_engine *e, int k, gbees_error *error)
{
    const cuda_api *api = e->api;
    const program *p = &e->programs->part[kernels[k].program];
    int blocks = 0, warps = p->shape.warps;
    int status = program_function(api, p, kernels[k].name, &e->kernel[k], error);

    if (!status)
        status = cuda_check(
            api, api->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, e->kernel[k], ENGINE_WARP_SIZE * warps, 0),
            "it was asked how many blocks fit", error);
    if (!status && blocks < 1)
        status = gbees_error_set(error, GBEES_EBACKEND, "the kernel %s needs more of the GPU than there is",
                                 kernels[k].name);
    e->warps[k] = (unsigned)warps;
    e->most_blocks[k] = (blocks > 5 ? 5 : blocks) * e->multiprocessors;
    return status;
}

/* Blocks of a cluster, from Hopper on. */
static int find_cluster(const gbees_engine *e)
{
    int supported = 0;

    if (e->api->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, e->device) || !supported)
        return 0;
    return ENGINE_CLUSTER_BLOCKS;
}

/* Of as many blocks as it is to have. */
static int allow_cluster(const gbees_engine *e, int kernel)
{
    return e->api->cuFuncSetAttribute(e->kernel[kernel], CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) ==
           CUDA_SUCCESS;
}

/* A program, and its kernels. */
static int load(gbees_engine *e, int part, gbees_error *error)
{
    int status = program_load(e->api, &e->programs->part[part], error);

    for (int k = 0; k < KERNELS && !status; k++) {
        if (kernels[k].program != part)
            continue;
        status = find_kernel(e, k, error);
        if (!status && e->cluster > 0 && kernels[k].steps && !allow_cluster(e, k))
            e->cluster = 8; /* which all that have clusters can do */
    }
    return status;
}

int engine_take_program(gbees_engine *e, int part, int waits, gbees_error *error)
{
    if (!e->programs->job[part])
        return 0;
    int status = program_set_take(e->programs, part, waits, error);
    return !status && e->programs->part[part].image ? load(e, part, error) : status;
}

static int load_kernels(gbees_engine *e, gbees_error *error)
{
    const cuda_api *api = e->api;
    int status = cuda_check(
        api, api->cuDeviceGetAttribute(&e->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, e->device),
        "it was asked for its multiprocessors", error);

    e->cluster = find_cluster(e);
    e->large = cuda_spec_has_advect(e->problem) ? ENGINE_LARGE_BRICKS : 0;
    e->advects_all = cuda_spec_advects_apart(e->problem);
    for (int p = 0; p < PROGRAMS && !status; p++)
        if (e->programs->part[p].image)
            status = load(e, p, error);
    return status;
}

static void set_up_offsets(gbees_setup *m, const gbees_problem *problem, int framed_floats)
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
            if (!framed_floats)
                m->face_d[face] = at;
        }
    }
}

static void set_up_constants(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;
    const gbees_numerics *numerics = &problem->numerics;
    const int framed_floats = problem->rotated && e->position_size == sizeof(float);
    gbees_setup *m = &e->setup;

    gbees_shape_set(&m->shape, problem->dimension, 64);
    set_up_offsets(m, problem, framed_floats);
    for (int j = 0; j < problem->dimension; j++) {
        m->origin[j] = problem->mean[j];
        m->width[j] = problem->width[j];
        m->over_width[j] = 1 / problem->width[j];
    }
    for (int k = 0; k < GBEES_PARAMETER_VALUES; k++) {
        m->parameters_d[k] = problem->parameters[k];
        if (k < GBEES_MAX_PARAMETERS)
            m->parameters_f[k] = (float)problem->parameters[k];
        if (framed_floats)
            m->frame_f[k] = (float)problem->parameters[k];
    }
    m->courant = numerics->courant;
    m->time_step = numerics->time_step;
    m->prune_interval = (uint32_t)numerics->prune_interval;
    m->bound_low = problem->bound_low;
    m->bound_high = problem->bound_high;
    m->bound_time = problem->start;
    m->sweeps = gbees_scheme_is_split(numerics->scheme);
    e->averages = numerics->cell_values == GBEES_CELL_AVERAGES;
    m->stop_at_prunes = problem->mass_budget > 0;
    e->budget.threshold = problem->threshold;
}

/* ---- the initial density -------------------------------------------------------------------------------------- */

enum { SENT_BRICKS = 1 << 15 };

/* The bricks of the initial density, some at a time, on the host. */
typedef struct initial_box {
    initial_bricks bricks;
    int32_t *key; /* of the bricks at hand, [n] each */
    double *p;    /* their cells */
    double *sum;  /* of each */
    void *row;    /* ... as they are sent */
    budget_spectrum spectrum;
} initial_box;

static int open_box(const gbees_engine *e, initial_box *box, gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    int status = initial_bricks_create(&box->bricks, e->problem, shape, TABLE_DEAD / 2, error);

    if (status)
        return status;
    box->key = malloc(SENT_BRICKS * (size_t)shape->n * sizeof *box->key);
    box->p = malloc((size_t)SENT_BRICKS * 64 * sizeof *box->p);
    box->row = malloc((size_t)SENT_BRICKS * 64 * e->real_size);
    box->sum = malloc(SENT_BRICKS * sizeof *box->sum);
    return box->key && box->p && box->row && box->sum ? 0 : no_memory(error);
}

static void close_box(initial_box *box)
{
    initial_bricks_destroy(&box->bricks);
    free(box->key);
    free(box->p);
    free(box->sum);
    free(box->row);
}

/* Of the next `count` bricks those with a cell inside the bound: returns how many. The sum of all that came before is
 * carried on. */
static uint64_t fill_bricks(const gbees_shape *shape, const initial_density *density, initial_box *box,
                            uint64_t count, double *sum)
{
    size_t n = (size_t)shape->n;
    uint64_t made = 0;

    for (uint64_t k = 0; k < count; k++) {
        int32_t key[GBEES_MAX_DIM];

        initial_bricks_take(&box->bricks, key);
        if (bound_cells(density->problem, shape, key))
            memcpy(box->key + made++ * n, key, n * sizeof *key);
    }
#pragma omp parallel for schedule(static)
    for (uint64_t k = 0; k < made; k++)
        box->sum[k] = initial_density_brick(density, shape, box->key + k * n, box->p + k * 64);
    for (uint64_t k = 0; k < made; k++)
        *sum += box->sum[k];
    return made;
}

/* To the GPU, with their sum at 1; rounded as the CPU's engine does it: the same bits. */
static int send_bricks(gbees_engine *e, initial_box *box, uint64_t first, uint64_t count, double factor,
                       gbees_error *error)
{
    const cuda_api *api = e->api;
    const size_t n = (size_t)e->problem->dimension, row = 64 * e->real_size;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count * 64; i++) {
        if (e->real_size == sizeof(float))
            ((float *)box->row)[i] = (float)((double)(float)box->p[i] * factor);
        else
            ((double *)box->row)[i] = box->p[i] * factor;
    }
    for (size_t i = 0; i < count * 64 && e->problem->mass_budget > 0; i++)
        budget_spectrum_add(&box->spectrum, box->p[i] * factor);
    int status = cuda_check(
        api, api->cuMemcpyHtoD(e->key.at + first * n * sizeof(int32_t), box->key, count * n * sizeof(int32_t)),
        "sending the initial grid", error);
    if (!status)
        status = cuda_check(api, api->cuMemcpyHtoD(e->rows[0].at + first * row, box->row, count * row),
                            "sending the initial density", error);
    return status;
}

/* The sum of all first, then the bricks. `made`: how many there are. */
static int fill(gbees_engine *e, initial_box *box, const initial_density *density, uint64_t *made, gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    double sum = 0, again = 0;
    const uint64_t all = box->bricks.count;
    int status = engine_make_room(e, all, 1, error);

    for (int pass = 0; pass < 2 && !status; pass++) {
        *made = 0;
        initial_bricks_rewind(&box->bricks);
        for (uint64_t done = 0; done < all && !status; done += SENT_BRICKS) {
            uint64_t rest = all - done, most = rest < SENT_BRICKS ? rest : SENT_BRICKS;
            uint64_t count = fill_bricks(shape, density, box, most, pass ? &again : &sum);

            if (pass == 1 && count)
                status = send_bricks(e, box, 1 + *made, count, 1 / sum, error);
            *made += count;
        }
    }
    return status;
}

static int start(gbees_engine *e, gbees_error *error)
{
    void *none[] = {&(uint64_t){0}};
    int status = engine_launch(e, KERNEL_START, NULL, 0, "setting up the grid", error);

    if (!status)
        status = engine_stop_error(e, error);
    e->state->stop = STOP_PRUNE;
    if (!status)
        status = engine_launch(e, KERNEL_PRUNE, none, 1, "pruning the initial grid", error);
    if (!status)
        status = engine_stop_error(e, error);
    if (!status)
        status = engine_launch(e, KERNEL_COUNT, NULL, 0, "counting cells", error);
    return status;
}

static int fill_initial(gbees_engine *e, gbees_error *error)
{
    initial_box box = {.key = NULL, .bricks = {.list = NULL}};
    initial_density density;
    uint64_t made = 0;
    int status = initial_density_create(&density, e->problem, error);

    if (status)
        return status;
    status = open_box(e, &box, error);
    if (!status)
        status = fill(e, &box, &density, &made, error);
    initial_density_destroy(&density);
    mass_budget_start(&e->budget, e->problem, &box.spectrum);
    close_box(&box);
    if (status)
        return status;
    e->state->count = (uint32_t)made;
    e->state->run.clock.time = e->problem->start;
    e->state->run.steps = e->problem->steps_before; /* its kernel counts on */
    return start(e, error);
}

/* ---- create -----------------------------------------------------------------------------------------------------
 */

static int set_up(gbees_engine *e, gbees_error *error)
{
    const cuda_api *api = e->api;
    int status = cuda_check(api, api->cuDevicePrimaryCtxRetain(&e->context, e->device), "opening the GPU", error);

    if (!status)
        status = cuda_check(api, api->cuCtxSetCurrent(e->context), "opening the GPU", error);
    if (!status)
        status = cuda_check(api, api->cuStreamCreate(&e->stream, CU_STREAM_NON_BLOCKING), "opening a stream", error);
    if (!status)
        status = cuda_check(api, api->cuMemAllocHost((void **)&e->found, sizeof *e->found), "taking memory", error);
    if (status)
        return status;
    memset(e->found, 0, sizeof *e->found);
    e->state = &e->found->state;
    set_up_constants(e);
    status = load_kernels(e, error);
    if (!status)
        status = device_memory_open(&e->memory, api, e->device, error);
    if (!status)
        status = device_array_grow(&e->memory, &e->device_state, sizeof *e->found, sizeof *e->found, error);
    return status ? status : fill_initial(e, error);
}

int cuda_engine_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                       gbees_engine **engine, gbees_error *error)
{
    gbees_engine *e = calloc(1, sizeof *e);

    if (!e)
        return no_memory(error);
    e->api = api;
    e->device = device;
    e->programs = programs;
    e->problem = problem;
    e->real_size = problem->numerics.precision == GBEES_DOUBLE ? sizeof(double) : sizeof(float);
    e->position_size = cuda_spec_is_drift_f64(problem) ? sizeof(double) : e->real_size;
    e->row_arrays = cuda_spec_rows(problem);
    int status = set_up(e, error);
    if (status) {
        cuda_engine_destroy(e);
        return status;
    }
    *engine = e;
    return 0;
}

void cuda_engine_destroy(gbees_engine *e)
{
    if (!e)
        return;
    const cuda_api *api = e->api;
    device_array *arrays[] = {&e->rows[0], &e->rows[1], &e->rows[2], &e->rows[3], &e->key,
                              &e->base,    &e->flow,    &e->active,  &e->needed,  &e->rate,
                              &e->map,     &e->table,   &e->inside,  &e->blocked, &e->device_state};

    if (e->stream)
        (void)api->cuStreamSynchronize(e->stream);
    engine_capture_destroy(e);
    packed_piece_free(e, &e->piece);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        device_array_free(&e->memory, arrays[i]);
    for (int d = 0; d < 2 * GBEES_MAX_DIM; d++)
        device_array_free(&e->memory, &e->neighbor[d]);
    for (int p = 0; p < PROGRAMS; p++) {
        if (e->programs->part[p].module) /* before its context goes */
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
