/* ranks.c - which grids several GPUs share, and how ranks exchange messages: from host to host, and from GPU
 * to GPU; see ranks.h. */
#include "ranks.h"
#include "launch.h"
#include <stdlib.h>
#include <string.h>

/* Bricks from which on two GPUs take less time than one (doc/notes/ranks.md). */
enum { SPLIT_FROM = 1 << 18 };

/* ---- create ---- */

int cuda_ranks_are_alone(const gbees_problem *problem)
{
    return problem->dimension < 4 || problem->moving || gbees_problem_is_closed(problem);
}

int cuda_ranks_choose_device(const cuda_api *api, const gbees_engine_options *options, CUdevice *device,
                             gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    const int each = options && options->ranks_per_gpu > 1 ? options->ranks_per_gpu : 1;
    int count = 0, status = cuda_check(api, api->cuDeviceGetCount(&count), "asking for a GPU", error);

    if (status)
        return status;
    if (parallel && parallel->local_ranks > (int64_t)count * each)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "this machine has %d ranks and only %d GPU%s: start one rank for each GPU, or give "
                               "--ranks-per-gpu %d",
                               parallel->local_ranks, count, count == 1 ? "" : "s",
                               count > 0 ? (parallel->local_ranks + count - 1) / count : parallel->local_ranks);
    return cuda_check(api, api->cuDeviceGet(device, parallel ? parallel->local_rank / each : 0), "asking for a GPU",
                      error);
}

/* The number of bricks from which on a grid is split. */
static uint32_t split_from(void)
{
    const char *text = getenv("GBEES_CUDA_SPLIT_FROM"); /* for tests, and to find where sharing gains */
    const unsigned long long bricks = text ? strtoull(text, NULL, 10) : SPLIT_FROM;

    return bricks >= 2 && bricks < TABLE_DEAD ? (uint32_t)bricks : SPLIT_FROM;
}

int split_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error)
{
    const size_t count = (size_t)parallel->ranks;
    int status = ranks_create(&e->ranks, parallel, e->problem, &e->setup.shape, 0, error);
    split_grid *split = e->split = calloc(1, sizeof *split);

    if (status || !split)
        return status ? status : ranks_no_memory(error);
    if (!cuda_ranks_are_alone(e->problem)) {
        e->shared.ranks = e->ranks;
        e->split_from = split_from();
    }
    split->beside = calloc(count, sizeof *split->beside);
    split->out = calloc(count, sizeof *split->out);
    split->in = calloc(count, sizeof *split->in);
    if (!split->beside || !split->out || !split->in)
        return ranks_no_memory(error);
    return cuda_check(
        e->api, e->api->cuMemAllocHost((void **)&split->counts, count * (GBEES_MAX_DIM + 1) * sizeof *split->counts),
        "taking page-locked memory", error);
}

/* Exchanges a message with each rank. NCCL connects two GPUs at their first message, which takes as long as many
 * steps: so this happens before the steps, and a pair that can't be connected is an error at the start. */
static int connect_all(gbees_engine *e, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const int all = ranks->parallel->ranks;
    const size_t size = sizeof(uint64_t);
    int count = 0, status = split_reserve(e, &split->send, (size_t)all * size, error);

    if (!status)
        status = split_reserve(e, &split->receive, (size_t)all * size, error);
    for (int r = 0; r < all; r++)
        if (r != ranks->parallel->rank) {
            split->out[count] = (device_message){r, size, split->send.at + (size_t)r * size};
            split->in[count++] = (device_message){r, size, split->receive.at + (size_t)r * size};
        }
    status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = split_exchange(e, count, count, error);
    if (!status)
        status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "reaching the other GPUs", error);
    return ranks_agree(e->ranks, status, error);
}

int split_connect(gbees_engine *e, gbees_error *error)
{
    const int status = nccl_open(&e->split->nccl, e->ranks->parallel, error);

    return status ? status : connect_all(e, error);
}

void split_destroy(gbees_engine *e)
{
    split_grid *split = e->split;

    for (int p = 0; split && split->beside && p < e->ranks->parallel->ranks; p++)
        for (int k = 0; k <= GBEES_MAX_DIM; k++) {
            device_array_free(&e->memory, &split->beside[p].give[k].slots);
            device_array_free(&e->memory, &split->beside[p].take[k].slots);
        }
    if (split) {
        nccl_close(&split->nccl);
        device_array_free(&e->memory, &split->counters);
        device_array_free(&e->memory, &split->keys);
        device_array_free(&e->memory, &split->announced);
        if (split->counts)
            (void)e->api->cuMemFreeHost(split->counts);
        device_array_free(&e->memory, &split->send);
        device_array_free(&e->memory, &split->receive);
        free(split->host[0]);
        free(split->host[1]);
        free(split->beside);
        free(split->out);
        free(split->in);
        free(split);
    }
    ranks_destroy(e->ranks);
    e->split = NULL;
    e->ranks = NULL;
}

int split_run(gbees_engine *e, int kernel, void **arguments, const char *doing, gbees_error *error)
{
    int status = engine_send_state(e, doing, error);

    if (!status)
        status = engine_start(e, kernel, arguments, error);
    return status ? status : engine_fetch_state(e, doing, error);
}

int split_reserve(gbees_engine *e, device_array *array, size_t size, gbees_error *error)
{
    if (size <= array->size)
        return 0;
    /* What the GPU still does with the array of before may have to end first. */
    int status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "sharing the grid", error);
    return status ? status : device_array_grow(&e->memory, array, size + size / 2, e->memory.total, error);
}

/* ---- messages between GPUs ---- */

/* The bytes of messages[count]. */
static size_t bytes_of(const device_message *messages, int count)
{
    size_t bytes = 0;

    for (int k = 0; k < count; k++)
        bytes += messages[k].size;
    return bytes;
}

/* The host's memory for `size` bytes of messages that are sent (which = 0) or received (1). NULL: out of memory. */
static char *host_buffer(split_grid *split, int which, size_t size)
{
    if (split->size[which] < size) {
        free(split->host[which]);
        split->host[which] = malloc(size + size / 2);
        split->size[which] = split->host[which] ? size + size / 2 : 0;
    }
    return split->host[which];
}

/* As split_exchange(), without NCCL: copies what is sent to the host, exchanges it, and copies what is received
 * to the GPU. */
static int exchange_through_hosts(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const cuda_api *api = e->api;
    char *out = host_buffer(split, 0, bytes_of(split->out, outs) + 1);
    char *in = host_buffer(split, 1, bytes_of(split->in, ins) + 1);
    int status = 0;

    if (!out || !in) /* the others wait for the message */
        ranks_abort(e->ranks, "out of memory for messages to other ranks");
    for (int k = 0; k < outs && !status; out += split->out[k++].size) {
        ranks->out[k] = (gbees_message){split->out[k].rank, split->out[k].size, out};
        status = cuda_check(api, api->cuMemcpyDtoHAsync(out, split->out[k].at, split->out[k].size, e->stream),
                            "sending bricks to other ranks", error);
    }
    for (int k = 0; k < ins; in += split->in[k++].size)
        ranks->in[k] = (gbees_message){split->in[k].rank, split->in[k].size, in};
    if (!status)
        status = cuda_check(api, api->cuStreamSynchronize(e->stream), "sending bricks to other ranks", error);
    if (status)
        return status;
    ranks_exchange(e->ranks, ranks->out, outs, ranks->in, ins);
    for (int k = 0; k < ins && !status; k++)
        status =
            cuda_check(api, api->cuMemcpyHtoDAsync(split->in[k].at, ranks->in[k].data, split->in[k].size, e->stream),
                       "receiving bricks of other ranks", error);
    /* The next message overwrites the host's memory. */
    return status ? status
                  : cuda_check(api, api->cuStreamSynchronize(e->stream), "receiving bricks of other ranks", error);
}

/* As split_exchange(), by NCCL. */
static int exchange_by_nccl(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    int status = nccl_begin(&split->nccl, error);

    for (int k = 0; k < outs && !status; k++)
        status = nccl_send(&split->nccl, split->out[k].at, split->out[k].size, split->out[k].rank, e->stream, error);
    for (int k = 0; k < ins && !status; k++)
        status = nccl_receive(&split->nccl, split->in[k].at, split->in[k].size, split->in[k].rank, e->stream, error);
    if (!status)
        status = nccl_end(&split->nccl, error);
    ranks->sent += (double)bytes_of(split->out, outs);
    return status;
}

int split_exchange(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    const int status =
        e->split->nccl.library ? exchange_by_nccl(e, outs, ins, error) : exchange_through_hosts(e, outs, ins, error);

    if (status)
        ranks_abort(e->ranks, error->text);
    return status;
}
