/* ranks_requests.c - growth across cuts: a rank inserts a brick of another rank's box, into which its cells flow, as
 * a ghost, and requests it from its owner, which inserts it as an own brick; see ranks.h. */
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

int ranks_insert(gbees_engine *e, CUdeviceptr keys, uint32_t count, CUdeviceptr slots, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &keys, &count, &slots};

    return count ? engine_start(e, KERNEL_INSERT, arguments, error) : 0;
}

/* ---- requests ---- */

/* Sets the lists `out` of all partners: the keys of the ghosts that growth has inserted, by owner. */
static int list_requests(gbees_engine *e, gbees_error *error)
{
    const size_t n = (size_t)e->problem->dimension, size = n * sizeof(int32_t);
    const uint32_t first = e->setup.first_ghost + e->split->ghosts, count = e->state->ghosts - e->split->ghosts;
    int32_t *keys = count ? malloc(count * size) : NULL;
    int status = 0;

    if (!count)
        return 0;
    if (!keys)
        return ranks_no_memory(error);
    status = device_fetch(&e->memory, keys, e->key.at + first * size, count * size, "sharing the grid", error);
    for (uint32_t k = 0; k < count && !status; k++)
        if (ranks_request(e->ranks, keys + k * n))
            status = ranks_no_memory(error);
    free(keys);
    return status;
}

/* Inserts the bricks that a partner has requested, unless they are there. */
static int insert_requests(gbees_engine *e, const key_list *in, gbees_error *error)
{
    const size_t size = in->count * (size_t)e->problem->dimension * sizeof *in->key;
    int status = split_reserve(e, &e->split->keys, size, error);

    if (!status && size)
        status = device_send(&e->memory, e->split->keys.at, in->key, size, "sharing the grid", error);
    return status ? status : ranks_insert(e, e->split->keys.at, (uint32_t)in->count, 0, error);
}

int ranks_exchange_requests(gbees_engine *e, int is_full, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    int status = list_requests(e, error);

    if (status)
        ranks_abort(e->ranks, error->text);
    ranks_exchange_keys(ranks);
    for (int p = 0; p < ranks->partners && !status && !is_full; p++)
        status = insert_requests(e, &ranks->partner[p].in, error);
    return status;
}
