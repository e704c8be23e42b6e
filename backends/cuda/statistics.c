/* statistics.c - moments of the density, and its cells for a record: the host's part. */
#include "engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_of(gbees_wide_sum sum)
{
    return ldexp((double)sum.high, -16) + ldexp((double)sum.low, -52);
}

static int fill_peak(const gbees_engine *e, gbees_statistics *out, gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    const gbees_state *s = e->state;
    size_t n = (size_t)shape->n;
    int32_t key[GBEES_MAX_DIM];
    double peak;
    int status =
        cuda_check(e->api, e->api->cuMemcpyDtoH(key, e->key.at + s->where * n * sizeof *key, n * sizeof *key),
                   "fetching a cell", error);

    memcpy(&peak, &s->peak, sizeof peak);
    out->peak = peak / out->mass;
    for (int j = 0; j < shape->n && !status; j++)
        out->peak_index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, (int)(s->peak_brick & 63), j);
    return status;
}

static void fill_moments(const gbees_engine *e, const double *reference, gbees_statistics *out)
{
    const gbees_setup *m = &e->setup;
    const gbees_wide_sum *moment = e->state->moment;
    double mean[GBEES_MAX_DIM], volume = 1;
    int n = m->shape.n, at = 0;

    out->mass = value_of(moment[at++]);
    for (int j = 0; j < n; j++) {
        mean[j] = value_of(moment[at++]) / out->mass;
        out->mean[j] = m->origin[j] + m->width[j] * (reference[j] + mean[j]);
        volume *= m->width[j];
    }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double c = (value_of(moment[at++]) / out->mass - mean[j] * mean[k]) * m->width[j] * m->width[k];

            /* Cell averages hold the variance inside a cell, h^2/12, which the density has not. */
            if (e->averages && j == k)
                c = fmax(c - m->width[j] * m->width[j] / 12, 0);
            out->covariance[j * n + k] = out->covariance[k * n + j] = c;
        }
    out->entropy = -(value_of(moment[at]) / out->mass - log(out->mass) - log(volume));
}

int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error)
{
    gbees_state *s = e->state;
    double reference[GBEES_MAX_DIM] = {0};
    void *arguments[] = {reference};

    (void)clock;
    memset(s->moment, 0, sizeof s->moment);
    s->peak = 0;
    s->peak_brick = UINT64_MAX;
    int status = engine_launch(e, KERNEL_STATISTICS, arguments, 1, "computing moments", error);
    *statistics = (gbees_statistics){0};
    if (status)
        return status;
    fill_moments(e, reference, statistics);
    status = fill_peak(e, statistics, error);
    if (!status)
        status = engine_launch(e, KERNEL_COUNT, NULL, 0, "counting cells", error);
    statistics->cells = s->marked_needed;
    statistics->cells_above = s->marked_above;
    statistics->cells_raw = (uint64_t)s->count * 64;
    return status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------
 */

enum { CHUNK_BRICKS = 1 << 14, CHUNK_CELLS = 64 * CHUNK_BRICKS };

/* Where cells are packed on the GPU, and where they come to. */
typedef struct packed {
    device_array index, p;
    int32_t *host_index;
    void *host_p;
    double *wide; /* p as doubles */
} packed;

static void packed_free(gbees_engine *e, packed *to)
{
    device_array_free(&e->memory, &to->index);
    device_array_free(&e->memory, &to->p);
    if (to->host_index)
        (void)e->api->cuMemFreeHost(to->host_index);
    if (to->host_p)
        (void)e->api->cuMemFreeHost(to->host_p);
    free(to->wide);
}

static int packed_make(gbees_engine *e, packed *to, uint32_t bricks, gbees_error *error)
{
    const cuda_api *api = e->api;
    size_t cells = 64 * (size_t)bricks, index_size = cells * (size_t)e->problem->dimension * sizeof(int32_t);
    int status = device_array_grow(&e->memory, &to->index, index_size, index_size, error);

    if (!status)
        status = device_array_grow(&e->memory, &to->p, cells * e->real_size, cells * e->real_size, error);
    if (!status)
        status = cuda_check(api, api->cuMemAllocHost((void **)&to->host_index, index_size), "taking memory", error);
    if (!status)
        status = cuda_check(api, api->cuMemAllocHost(&to->host_p, cells * e->real_size), "taking memory", error);
    to->wide = status ? NULL : malloc(cells * sizeof *to->wide);
    if (!status && !to->wide)
        status = gbees_error_set(error, GBEES_ENOMEM, "out of memory for a record's cells");
    return status;
}

static int fetch(gbees_engine *e, packed *chunk, uint32_t bricks, uint32_t count, gbees_error *error)
{
    const cuda_api *api = e->api;
    const size_t room = 64 * (size_t)bricks;
    int status = 0;

    for (size_t j = 0; j < (size_t)e->problem->dimension && !status; j++)
        status = cuda_check(api,
                            api->cuMemcpyDtoHAsync(chunk->host_index + j * room,
                                                   chunk->index.at + j * room * sizeof(int32_t),
                                                   count * sizeof(int32_t), e->stream),
                            "fetching cells", error);
    if (!status)
        status = cuda_check(api, api->cuMemcpyDtoHAsync(chunk->host_p, chunk->p.at, count * e->real_size, e->stream),
                            "fetching cells", error);
    if (!status)
        status = cuda_check(api, api->cuStreamSynchronize(e->stream), "fetching cells", error);
    for (uint32_t i = 0; i < count && !status; i++)
        chunk->wide[i] = (e->real_size == sizeof(float) ? (double)((const float *)chunk->host_p)[i]
                                                        : ((const double *)chunk->host_p)[i]) /
                         e->state->mass;
    return status;
}

/* Cells of bricks (from, to]. */
static int visit_chunk(gbees_engine *e, packed *chunk, uint32_t from, uint32_t to, gbees_cell_visitor *visitor,
                       void *context, gbees_error *error)
{
    const int32_t *index[GBEES_MAX_DIM];
    double threshold = e->budget.threshold * e->state->mass;
    void *arguments[] = {&from, &to, &threshold, &chunk->index.at, &chunk->p.at};

    e->state->chunk_total = 0;
    int status = engine_launch(e, KERNEL_PACK, arguments, 5, "packing cells", error);
    uint32_t count = e->state->chunk_total;
    if (!status)
        status = fetch(e, chunk, to - from, count, error);
    for (size_t j = 0; j < (size_t)e->problem->dimension; j++)
        index[j] = chunk->host_index + j * 64 * (size_t)(to - from);
    return status ? status : count ? visitor(context, count, index, chunk->wide) : 0;
}

int cuda_engine_cells(gbees_engine *e, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    uint32_t bricks = e->state->count, most = bricks < CHUNK_BRICKS ? bricks : CHUNK_BRICKS;
    packed chunk = {0};
    int status = packed_make(e, &chunk, most, error);

    for (uint32_t from = 0; from < bricks && !status; from += most)
        status = visit_chunk(e, &chunk, from, bricks - from < most ? bricks : from + most, visitor, context, error);
    packed_free(e, &chunk);
    return status;
}
