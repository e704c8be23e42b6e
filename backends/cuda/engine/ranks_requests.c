/* ranks_requests.c - growth across cuts: a rank inserts a brick of another rank's box, into which its cells flow, as
 * a ghost, and requests it from its owner, which inserts it as an own brick; see ranks.h. */
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the bricks of neighbouring ranks");
}

/* ---- keys between hosts ---- */

/* Makes a list's memory large enough for `count` keys. Returns 1 if there is none. */
static int reserve_keys(const gbees_engine *e, key_list *list, uint64_t count)
{
    if (count > list->capacity) {
        const uint64_t capacity = 2 * count + 64;
        int32_t *more = realloc(list->key, capacity * (size_t)e->problem->dimension * sizeof *more);

        if (!more)
            return 1;
        list->key = more;
        list->capacity = capacity;
    }
    return 0;
}

/* All ranks: sends each partner the keys of its list `out`, and receives those of `in`, whose counts are known. */
static void exchange_keys(gbees_engine *e)
{
    struct engine_ranks *ranks = e->ranks;
    const size_t size = (size_t)e->problem->dimension * sizeof(int32_t);
    gbees_error error;

    for (int p = 0; p < ranks->partners; p++) {
        rank_partner *partner = &ranks->partner[p];

        if (reserve_keys(e, &partner->in, partner->in.count)) {
            (void)no_memory(&error);
            exchange_abort(e->ranks->parallel, error.text);
        }
        ranks->to[p] = (gbees_message){partner->rank, partner->out.count * size, partner->out.key};
        ranks->from[p] = (gbees_message){partner->rank, partner->in.count * size, partner->in.key};
    }
    ranks_exchange(e, ranks->to, ranks->partners, ranks->from, ranks->partners);
}

int ranks_insert(gbees_engine *e, CUdeviceptr keys, uint32_t count, CUdeviceptr slots, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &keys, &count, &slots};

    return count ? engine_start(e, KERNEL_INSERT, arguments, error) : 0;
}

/* ---- requests ---- */

/* Appends a key to the requests to the brick's owner. Returns 1 if there is no memory. */
static int note_request(gbees_engine *e, const int32_t *key)
{
    const int owner = partition_find(&e->ranks->cuts, key);

    for (int p = 0; p < e->ranks->partners; p++) {
        key_list *out = &e->ranks->partner[p].out;

        if (e->ranks->partner[p].rank != owner)
            continue;
        if (reserve_keys(e, out, out->count + 1))
            return 1;
        memcpy(out->key + out->count++ * (size_t)e->problem->dimension, key,
               (size_t)e->problem->dimension * sizeof *key);
        return 0;
    }
    return 1;
}

/* Sets the lists `out` of all partners: the keys of the ghosts that growth has inserted, by owner. */
static int list_requests(gbees_engine *e, gbees_error *error)
{
    const size_t n = (size_t)e->problem->dimension, size = n * sizeof(int32_t);
    const uint32_t first = e->setup.first_ghost + e->ranks->ghosts, count = e->state->ghosts - e->ranks->ghosts;
    int32_t *keys = count ? malloc(count * size) : NULL;
    int status = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        e->ranks->partner[p].out.count = 0;
    if (!count)
        return 0;
    if (!keys)
        return no_memory(error);
    status = cuda_check(e->api, e->api->cuMemcpyDtoHAsync(keys, e->key.at + first * size, count * size, e->stream),
                        "sharing the grid", error);
    if (!status)
        status = cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "sharing the grid", error);
    for (uint32_t k = 0; k < count && !status; k++)
        if (note_request(e, keys + k * n))
            status = no_memory(error);
    free(keys);
    return status;
}

/* Inserts the bricks that a partner has requested, unless they are there. */
static int insert_requests(gbees_engine *e, const key_list *in, gbees_error *error)
{
    const size_t size = in->count * (size_t)e->problem->dimension * sizeof *in->key;
    int status = ranks_reserve(e, &e->ranks->keys, size, error);

    if (!status && size)
        status = cuda_check(e->api, e->api->cuMemcpyHtoDAsync(e->ranks->keys.at, in->key, size, e->stream),
                            "sharing the grid", error);
    return status ? status : ranks_insert(e, e->ranks->keys.at, (uint32_t)in->count, 0, error);
}

int ranks_exchange_requests(gbees_engine *e, int is_full, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    int status = list_requests(e, error);

    if (status)
        exchange_abort(e->ranks->parallel, error->text);
    for (int p = 0; p < ranks->partners; p++) {
        rank_partner *partner = &ranks->partner[p];

        ranks->to[p] = (gbees_message){partner->rank, sizeof partner->out.count, &partner->out.count};
        ranks->from[p] = (gbees_message){partner->rank, sizeof partner->in.count, &partner->in.count};
    }
    ranks_exchange(e, ranks->to, ranks->partners, ranks->from, ranks->partners);
    exchange_keys(e);
    for (int p = 0; p < ranks->partners && !status && !is_full; p++)
        status = insert_requests(e, &ranks->partner[p].in, error);
    return status;
}
