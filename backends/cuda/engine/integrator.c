/* integrator.c - sends the samples to the GPU, integrates them by one launch, a thread a sample, and fetches them, or
 * their places at all stops. */
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
    CUdeviceptr samples; /* the GPU's memory (layout); 0: none */
    size_t bytes;        /* of `samples` */
    double *places;      /* of this machine, which the GPU reads and writes by itself; NULL: none */
    size_t place_bytes;  /* of `places` */
};

/* Where things are in the GPU's memory, in bytes from its beginning. */
typedef struct layout {
    size_t column;                     /* bytes of one state of all samples, which are at 0, by state */
    size_t number;                     /* of samples */
    size_t places, stops, evaluations; /* with a tolerance */
    size_t place_bytes;                /* of the places */
    size_t bytes;                      /* of all */
} layout;

static const char doing[] = "integrating samples";

_Static_assert(sizeof(gbees_stop) == sizeof(gbees_integration_stop), "stops are sent as they are");

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

static layout lay_out(const gbees_integrator *c, const gbees_integration *integration)
{
    const size_t n = (size_t)c->problem->dimension;
    layout l = {.column = integration->count * sizeof(double)};

    l.number = l.bytes = n * l.column;
    if (integration->tolerance > 0) {
        l.places = l.bytes;
        l.place_bytes = n * integration->stop_count * l.column;
        l.stops = l.places + l.place_bytes;
        l.evaluations = l.stops + integration->stop_count * sizeof(gbees_stop);
        l.bytes = l.evaluations + sizeof(uint64_t);
    } else if (integration->number)
        l.bytes += l.column;
    return l;
}

/* Frees the memory for samples. */
static void free_samples(gbees_integrator *c)
{
    if (c->samples)
        (void)c->api->cuMemFree(c->samples);
    if (c->places)
        (void)c->api->cuMemFreeHost(c->places);
    c->samples = 0;
    c->places = NULL;
    c->bytes = c->place_bytes = 0;
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

/* Takes memory for samples. Returns 0 if there is none: then the caller integrates on the host. */
static int reserve(gbees_integrator *c, const layout *l)
{
    const size_t some_more =
        l->place_bytes / 2; /* as the next call may have more samples, and memory takes long to lock */

    if (l->bytes <= c->bytes && l->place_bytes <= c->place_bytes)
        return 1;
    free_samples(c);
    if (c->api->cuMemAlloc(&c->samples, l->bytes + some_more))
        c->samples = 0;
    if (l->place_bytes && c->api->cuMemAllocHost((void **)&c->places, l->place_bytes + some_more))
        c->places = NULL;
    if (!c->samples || (l->place_bytes && !c->places)) {
        free_samples(c);
        return 0;
    }
    c->bytes = l->bytes + some_more;
    c->place_bytes = l->place_bytes ? l->place_bytes + some_more : 0;
    return 1;
}

/* Sends the samples, and their numbers or stops. */
static CUresult send(const gbees_integrator *c, const gbees_integration *integration, const layout *l)
{
    const uint64_t none = 0;
    CUresult result = CUDA_SUCCESS;

    for (int j = 0; j < c->problem->dimension && !result; j++)
        result =
            c->api->cuMemcpyHtoDAsync(c->samples + (size_t)j * l->column, integration->from[j], l->column, c->stream);
    if (!result && integration->tolerance > 0)
        result = c->api->cuMemcpyHtoDAsync(c->samples + l->stops, integration->stop,
                                           integration->stop_count * sizeof *integration->stop, c->stream);
    if (!result && integration->tolerance > 0)
        result = c->api->cuMemcpyHtoDAsync(c->samples + l->evaluations, &none, sizeof none, c->stream);
    if (!result && !(integration->tolerance > 0) && integration->number)
        result = c->api->cuMemcpyHtoDAsync(c->samples + l->number, integration->number, l->column, c->stream);
    return result;
}

/* Fetches the samples, or their places and how often the drift was evaluated. */
static CUresult fetch(const gbees_integrator *c, const gbees_integration *integration, const layout *l,
                      uint64_t *evaluations)
{
    CUresult result = CUDA_SUCCESS;

    if (integration->tolerance > 0) {
        result = c->api->cuMemcpyDtoHAsync(c->places, c->samples + l->places, l->place_bytes, c->stream);
        return result ? result
                      : c->api->cuMemcpyDtoHAsync(evaluations, c->samples + l->evaluations, sizeof *evaluations,
                                                  c->stream);
    }
    for (int j = 0; j < c->problem->dimension && !result; j++)
        result =
            c->api->cuMemcpyDtoHAsync(integration->to[j], c->samples + (size_t)j * l->column, l->column, c->stream);
    return result;
}

/* Launches the kernel, a thread a sample. */
static CUresult launch(const gbees_integrator *c, const gbees_integration *integration, const layout *l)
{
    const uint64_t threads = ENGINE_WARP_SIZE * c->warps, wanted = (integration->count + threads - 1) / threads;
    gbees_samples samples = {.x = c->samples,
                             .number = integration->number ? c->samples + l->number : 0,
                             .count = integration->count,
                             .seed = integration->seed,
                             .steps = integration->steps,
                             .first = integration->first,
                             .is_timed = (c->problem->model->flags & GBEES_TIME_DEPENDENT) != 0,
                             .time = integration->time,
                             .time_step = integration->time_step,
                             .doubt_most = integration->doubt_most,
                             .tolerance = integration->tolerance,
                             .stop_count = integration->stop_count,
                             .stop = c->samples + l->stops,
                             .places = c->samples + l->places,
                             .evaluations = c->samples + l->evaluations};
    void *arguments[] = {&samples};

    memcpy(samples.scale, integration->scale, sizeof samples.scale);
    for (int k = 0; k < STATE_PARAMETERS; k++)
        samples.parameters[k] = c->problem->parameters[k];
    return c->api->cuLaunchKernel(c->kernel, wanted < c->most ? (unsigned)wanted : c->most, 1, 1, (unsigned)threads,
                                  1, 1, 0, c->stream, arguments, NULL);
}

/* Sends the samples, integrates them, and fetches what is wanted of them. */
static int integrate(const gbees_integrator *c, const gbees_integration *integration, const layout *l,
                     gbees_error *error)
{
    uint64_t evaluations = 0;
    CUresult result = send(c, integration, l);

    if (!result)
        result = launch(c, integration, l);
    if (!result)
        result = fetch(c, integration, l, &evaluations);
    if (!result)
        result = c->api->cuStreamSynchronize(c->stream);
    if (!result && integration->tolerance > 0) {
        *integration->evaluations += (double)evaluations;
        *integration->places = c->places;
    }
    return cuda_check(c->api, result, doing, error);
}

int cuda_integrator_run(gbees_integrator *c, const gbees_integration *integration, int *done, gbees_error *error)
{
    const layout l = lay_out(c, integration);

    *done = 0;
    int status = cuda_check(c->api, c->api->cuCtxSetCurrent(c->context), doing, error);
    if (!status && !c->kernel)
        status = take_kernel(c, integration->tolerance > 0 ? KERNEL_FOLLOW : KERNEL_INTEGRATE, error);
    if (status || !c->kernel || !reserve(c, &l))
        return status;
    status = integrate(c, integration, &l, error);
    *done = !status;
    return status;
}
