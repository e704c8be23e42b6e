/* ranks.c - which grids several GPUs share, and how ranks exchange messages: from host to host, and from GPU
 * to GPU; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* Bricks from which on two GPUs take less time than one (doc/notes/ranks.md). */
enum { SPLIT_FROM = 1 << 18 };

static const double MEASURED_S = 2e-3; /* that each GPU is measured before its speed counts */

/* ---- create ---- */

int cuda_ranks_are_alone(const gbees_problem *problem)
{
    return problem->dimension < 4 || problem->moving;
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

/* Sets the layers of ghosts along each axis: sweeps read (order + 1) / 2 cells beyond the box, ctu two; growth,
 * prunes and noise need one brick, which is the least that this gives. */
static void set_layers(gbees_engine *e, int *layers)
{
    const int cells = e->setup.sweeps ? (gbees_scheme_order(e->problem->numerics.scheme) + 1) / 2 : 2;

    for (int j = 0; j < e->problem->dimension; j++)
        layers[j] = (cells + e->setup.shape.edge[j] - 1) / e->setup.shape.edge[j];
}

int ranks_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error)
{
    const size_t count = (size_t)parallel->ranks;
    struct engine_ranks *ranks = calloc(1, sizeof *ranks);

    e->ranks = ranks;
    if (!ranks)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the ranks of a run");
    ranks->parallel = parallel;
    ranks->is_alone = cuda_ranks_are_alone(e->problem);
    ranks->split_from = split_from();
    e->split_from = ranks->is_alone ? UINT32_MAX : ranks->split_from;
    set_layers(e, ranks->layers);
    ranks->box = calloc(count, sizeof *ranks->box);
    ranks->out = calloc(count, sizeof *ranks->out);
    ranks->in = calloc(count, sizeof *ranks->in);
    ranks->to = calloc(count, sizeof *ranks->to);
    ranks->from = calloc(count, sizeof *ranks->from);
    ranks->each = calloc(count, sizeof *ranks->each);
    ranks->partner = calloc(count, sizeof *ranks->partner);
    if (speeds_create(&ranks->speeds, parallel, MEASURED_S) || !ranks->box || !ranks->out || !ranks->in ||
        !ranks->to || !ranks->from || !ranks->partner || !ranks->each)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the ranks of a run");
    return cuda_check(
        e->api, e->api->cuMemAllocHost((void **)&ranks->counts, count * (GBEES_MAX_DIM + 1) * sizeof *ranks->counts),
        "taking page-locked memory", error);
}

/* Exchanges a message with each rank. NCCL connects two GPUs at their first message, which takes as long as many
 * steps: so this happens before the steps, and a pair that can't be connected is an error at the start. */
static int connect_all(gbees_engine *e, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const int all = ranks->parallel->ranks;
    const size_t size = sizeof(uint64_t);
    int count = 0, status = ranks_reserve(e, &ranks->send, (size_t)all * size, error);

    if (!status)
        status = ranks_reserve(e, &ranks->receive, (size_t)all * size, error);
    for (int r = 0; r < all; r++)
        if (r != ranks->parallel->rank) {
            ranks->out[count] = (device_message){r, size, ranks->send.at + (size_t)r * size};
            ranks->in[count++] = (device_message){r, size, ranks->receive.at + (size_t)r * size};
        }
    status = ranks_agree(e, status, error);
    if (!status)
        status = ranks_exchange_rows(e, count, count, error);
    if (!status)
        status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "reaching the other GPUs", error);
    return ranks_agree(e, status, error);
}

int ranks_connect(gbees_engine *e, gbees_error *error)
{
    const int status = nccl_open(&e->ranks->nccl, e->ranks->parallel, error);

    return status ? status : connect_all(e, error);
}

void ranks_destroy(gbees_engine *e)
{
    struct engine_ranks *ranks = e->ranks;

    if (!ranks)
        return;
    for (int p = 0; p < ranks->capacity; p++) {
        for (int k = 0; k <= GBEES_MAX_DIM; k++) {
            device_array_free(&e->memory, &ranks->partner[p].give[k].slots);
            device_array_free(&e->memory, &ranks->partner[p].take[k].slots);
        }
        free(ranks->partner[p].out.key);
        free(ranks->partner[p].in.key);
    }
    nccl_close(&ranks->nccl);
    device_array_free(&e->memory, &ranks->counters);
    device_array_free(&e->memory, &ranks->keys);
    device_array_free(&e->memory, &ranks->announced);
    if (ranks->counts)
        (void)e->api->cuMemFreeHost(ranks->counts);
    device_array_free(&e->memory, &ranks->send);
    device_array_free(&e->memory, &ranks->receive);
    if (ranks->cuts.part)
        partition_destroy(&ranks->cuts);
    free(ranks->host[0]);
    free(ranks->host[1]);
    free(ranks->partner);
    speeds_destroy(&ranks->speeds);
    free(ranks->box);
    free(ranks->out);
    free(ranks->in);
    free(ranks->to);
    free(ranks->from);
    free(ranks->each);
    free(ranks);
    e->ranks = NULL;
}

/* ---- the communicator ---- */

void ranks_sum(gbees_engine *e, int64_t *values, size_t count)
{
    exchange_sum(e->ranks->parallel, &e->ranks->log, values, count);
}

void ranks_most(gbees_engine *e, double *values, size_t count)
{
    exchange_most(e->ranks->parallel, &e->ranks->log, values, count);
}

int ranks_agree(gbees_engine *e, int status, gbees_error *error)
{
    return exchange_agree(e->ranks->parallel, &e->ranks->log, status, error);
}

void ranks_exchange(gbees_engine *e, const gbees_message *out, int outs, const gbees_message *in, int ins)
{
    exchange_messages(e->ranks->parallel, &e->ranks->log, out, outs, in, ins);
}

int ranks_reserve(gbees_engine *e, device_array *array, size_t size, gbees_error *error)
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
static char *host_buffer(struct engine_ranks *ranks, int which, size_t size)
{
    if (ranks->size[which] < size) {
        free(ranks->host[which]);
        ranks->host[which] = malloc(size + size / 2);
        ranks->size[which] = ranks->host[which] ? size + size / 2 : 0;
    }
    return ranks->host[which];
}

/* As ranks_exchange_rows(), without NCCL: copies what is sent to the host, exchanges it, and copies what is received
 * to the GPU. */
static int exchange_through_hosts(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const cuda_api *api = e->api;
    char *out = host_buffer(ranks, 0, bytes_of(ranks->out, outs) + 1);
    char *in = host_buffer(ranks, 1, bytes_of(ranks->in, ins) + 1);
    int status = 0;

    if (!out || !in) /* the others wait for the message */
        exchange_abort(ranks->parallel, "out of memory for messages to other ranks");
    for (int k = 0; k < outs && !status; out += ranks->out[k++].size) {
        ranks->to[k] = (gbees_message){ranks->out[k].rank, ranks->out[k].size, out};
        status = cuda_check(api, api->cuMemcpyDtoHAsync(out, ranks->out[k].at, ranks->out[k].size, e->stream),
                            "sending bricks to other ranks", error);
    }
    for (int k = 0; k < ins; in += ranks->in[k++].size)
        ranks->from[k] = (gbees_message){ranks->in[k].rank, ranks->in[k].size, in};
    if (!status)
        status = cuda_check(api, api->cuStreamSynchronize(e->stream), "sending bricks to other ranks", error);
    if (status)
        return status;
    ranks_exchange(e, ranks->to, outs, ranks->from, ins);
    for (int k = 0; k < ins && !status; k++)
        status = cuda_check(
            api, api->cuMemcpyHtoDAsync(ranks->in[k].at, ranks->from[k].data, ranks->in[k].size, e->stream),
            "receiving bricks of other ranks", error);
    /* The next message overwrites the host's memory. */
    return status ? status
                  : cuda_check(api, api->cuStreamSynchronize(e->stream), "receiving bricks of other ranks", error);
}

/* As ranks_exchange_rows(), by NCCL. */
static int exchange_by_nccl(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    int status = nccl_begin(&ranks->nccl, error);

    for (int k = 0; k < outs && !status; k++)
        status = nccl_send(&ranks->nccl, ranks->out[k].at, ranks->out[k].size, ranks->out[k].rank, e->stream, error);
    for (int k = 0; k < ins && !status; k++)
        status = nccl_receive(&ranks->nccl, ranks->in[k].at, ranks->in[k].size, ranks->in[k].rank, e->stream, error);
    if (!status)
        status = nccl_end(&ranks->nccl, error);
    ranks->log.bytes += (double)bytes_of(ranks->out, outs);
    return status;
}

int ranks_exchange_rows(gbees_engine *e, int outs, int ins, gbees_error *error)
{
    const int status =
        e->ranks->nccl.library ? exchange_by_nccl(e, outs, ins, error) : exchange_through_hosts(e, outs, ins, error);

    if (status)
        exchange_abort(e->ranks->parallel, error->text);
    return status;
}

void ranks_report(gbees_engine *e)
{
    struct engine_ranks *ranks = e->ranks;
    const gbees_rank_totals own = {.bricks = ranks->steps > 0 ? ranks->own_bricks / ranks->steps : 0,
                                   .peak_bytes = e->memory.peak};

    exchange_totals(ranks->parallel, &ranks->log, &own, ranks->each);
    ranks->bytes = exchange_total_bytes(ranks->parallel, ranks->each);
    ranks->waited = exchange_longest_wait(ranks->parallel, ranks->each);
}
