/* integrator.c - sends the samples to the GPU, integrates them by one launch, a thread a sample, and fetches them.
 * */
#include "integrator.h"
#include "cuda/driver/memory.h"
#include "device/integration.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

struct gbees_integrator {
    const cuda_api *api;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    program_set *programs;
    const gbees_problem *problem;
    CUfunction kernel;   /* NULL: not loaded yet */
    unsigned warps;      /* of a block */
    unsigned most;       /* blocks that are resident at once */
    CUdeviceptr samples; /* the GPU's memory for samples, by state, then their numbers, then a counter; 0: none */
    size_t bytes;        /* of `samples` */
};

static const char doing[] = "integrating samples";

const cuda_api *cuda_integrator_api(const gbees_integrator *c)
{
    return c->api;
}

int cuda_integrator_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                           gbees_integrator **integrator, gbees_error *error)
{
    gbees_integrator *c = calloc(1, sizeof *c);

    if (!c)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to integrate samples");
    *c = (gbees_integrator){.api = api, .device = device, .programs = programs, .problem = problem};
    int status = cuda_check(api, api->cuDevicePrimaryCtxRetain(&c->context, device), "opening the GPU", error);
    if (!status)
        status = cuda_check(api, api->cuCtxSetCurrent(c->context), "opening the GPU", error);
    if (!status)
        status = cuda_check(api, api->cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING), "opening a stream", error);
    if (status)
        cuda_integrator_destroy(c);
    else
        *integrator = c;
    return status;
}

/* Frees the GPU's memory for samples. */
static void free_samples(gbees_integrator *c)
{
    if (c->samples)
        (void)c->api->cuMemFree(c->samples);
    c->samples = 0;
    c->bytes = 0;
}

void cuda_integrator_destroy(gbees_integrator *c)
{
    if (!c)
        return;
    if (c->context) {
        (void)c->api->cuCtxSetCurrent(c->context);
        free_samples(c);
        for (int part = 0; part < PROGRAMS; part++) {
            program *p = &c->programs->part[part];

            if (p->module) /* modules have to go before their context */
                (void)c->api->cuModuleUnload(p->module);
            p->module = NULL;
        }
        if (c->stream)
            (void)c->api->cuStreamDestroy(c->stream);
        (void)c->api->cuDevicePrimaryCtxRelease(c->device);
    }
    free(c);
}

/* Loads a kernel if it has been compiled; c->kernel stays NULL until then. */
static int take_kernel(gbees_integrator *c, int kernel, gbees_error *error)
{
    const cuda_api *api = c->api;
    const kernel_entry *entry = &kernel_table[kernel];
    program *p = &c->programs->part[entry->program];
    int blocks = 0, multiprocessors = 0, status = program_set_take(c->programs, entry->program, 0, error);

    if (status || !p->image)
        return status;
    c->warps = (unsigned)p->shape.warps;
    status = program_load(api, p, error);
    if (!status)
        status = cuda_check(
            api, api->cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, c->device),
            doing, error);
    if (!status)
        status = program_function(api, p, entry->name, &c->kernel, error);
    if (!status)
        status = cuda_check(api,
                            api->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, c->kernel,
                                                                             ENGINE_WARP_SIZE * p->shape.warps, 0),
                            doing, error);
    c->most = (unsigned)(blocks * multiprocessors);
    return status || c->most > 0
               ? status
               : gbees_error_set(error, GBEES_EBACKEND, "the GPU holds no block of %s", entry->name);
}

/* Takes the GPU's memory for samples. Returns 0 if there is none: then the audit integrates on the host. */
static int reserve(gbees_integrator *c, size_t bytes)
{
    if (bytes <= c->bytes)
        return 1;
    free_samples(c);
    if (c->api->cuMemAlloc(&c->samples, bytes))
        c->samples = 0;
    c->bytes = c->samples ? bytes : 0;
    return c->samples != 0;
}

/* Sends the samples and their numbers, or with `back` fetches the samples. */
static int move(const gbees_integrator *c, const gbees_integration *integration, int back, gbees_error *error)
{
    const size_t column = integration->count * sizeof(double);
    const int n = c->problem->dimension;
    CUresult result = CUDA_SUCCESS;

    for (int j = 0; j < n && !result; j++) {
        const CUdeviceptr at = c->samples + (size_t)j * column;

        result = back ? c->api->cuMemcpyDtoHAsync(integration->to[j], at, column, c->stream)
                      : c->api->cuMemcpyHtoDAsync(at, integration->from[j], column, c->stream);
    }
    if (!result && !back && integration->number)
        result = c->api->cuMemcpyHtoDAsync(c->samples + (size_t)n * column, integration->number, column, c->stream);
    return cuda_check(c->api, result, doing, error);
}

/* Where the GPU counts evaluations. */
static CUdeviceptr counter_of(const gbees_integrator *c, const gbees_integration *integration)
{
    return c->samples +
           ((size_t)c->problem->dimension + (integration->number != NULL)) * integration->count * sizeof(double);
}

/* Launches the kernel, a thread a sample. */
static int launch(const gbees_integrator *c, const gbees_integration *integration, gbees_error *error)
{
    const uint64_t column = integration->count * sizeof(double), threads = ENGINE_WARP_SIZE * c->warps,
                   wanted = (integration->count + threads - 1) / threads;
    gbees_samples samples = {.x = c->samples,
                             .number =
                                 integration->number ? c->samples + (uint64_t)c->problem->dimension * column : 0,
                             .count = integration->count,
                             .seed = integration->seed,
                             .steps = integration->steps,
                             .first = integration->first,
                             .is_timed = (c->problem->model->flags & GBEES_TIME_DEPENDENT) != 0,
                             .time = integration->time,
                             .time_step = integration->time_step,
                             .doubt_most = integration->doubt_most,
                             .tolerance = integration->tolerance,
                             .end = integration->end,
                             .evaluations = counter_of(c, integration)};
    void *arguments[] = {&samples};

    memcpy(samples.scale, integration->scale, sizeof samples.scale);
    for (int k = 0; k < STATE_PARAMETERS; k++)
        samples.parameters[k] = c->problem->parameters[k];
    return cuda_check(c->api,
                      c->api->cuLaunchKernel(c->kernel, wanted < c->most ? (unsigned)wanted : c->most, 1, 1,
                                             (unsigned)threads, 1, 1, 0, c->stream, arguments, NULL),
                      doing, error);
}

/* Sends the samples, integrates them, and fetches them. */
static int integrate(const gbees_integrator *c, const gbees_integration *integration, gbees_error *error)
{
    const int counts = integration->tolerance > 0 && integration->evaluations;
    uint64_t evaluations = 0;
    int status = move(c, integration, 0, error);

    if (!status && integration->tolerance > 0)
        status = cuda_check(
            c->api,
            c->api->cuMemcpyHtoDAsync(counter_of(c, integration), &evaluations, sizeof evaluations, c->stream), doing,
            error);
    if (!status)
        status = launch(c, integration, error);
    if (!status)
        status = move(c, integration, 1, error);
    if (!status && counts)
        status = cuda_check(
            c->api,
            c->api->cuMemcpyDtoHAsync(&evaluations, counter_of(c, integration), sizeof evaluations, c->stream), doing,
            error);
    if (!status)
        status = cuda_check(c->api, c->api->cuStreamSynchronize(c->stream), doing, error);
    if (!status && counts)
        *integration->evaluations += (double)evaluations;
    return status;
}

int cuda_integrator_run(gbees_integrator *c, const gbees_integration *integration, int *done, gbees_error *error)
{
    const size_t columns = (size_t)c->problem->dimension + (integration->number != NULL);

    *done = 0;
    int status = cuda_check(c->api, c->api->cuCtxSetCurrent(c->context), doing, error);
    if (!status && !c->kernel)
        status = take_kernel(c, integration->tolerance > 0 ? KERNEL_FOLLOW : KERNEL_INTEGRATE, error);
    if (status || !c->kernel || !reserve(c, (columns * integration->count + 1) * sizeof(double)))
        return status;
    status = integrate(c, integration, error);
    *done = !status;
    return status;
}
