/* requests.c - the ranks beside this one, and lists of keys that they send each other: requests for bricks to their
 * owners, and new bricks that are ghosts elsewhere. See ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

int ranks_own(const engine_ranks *ranks, const int32_t *key)
{
    return !ranks || partition_contains(ranks->n, &ranks->cuts.part[ranks->parallel->rank].box, key);
}

void ranks_find_partners(engine_ranks *ranks)
{
    const partition_part *part = ranks->cuts.part;
    const int own = ranks->parallel->rank;

    ranks->partners = 0;
    for (int r = 0; r < ranks->parallel->ranks; r++)
        if (r != own && partition_are_near(ranks->n, &part[own].box, &part[r].box, ranks->layers)) {
            rank_partner *partner = &ranks->partner[ranks->partners++];

            partner->rank = r;
            partner->out.count = partner->in.count = 0;
        }
}

/* Makes a list's memory large enough for `count` keys. Returns 1 if there is none. */
static int reserve_keys(const engine_ranks *ranks, key_list *list, uint64_t count)
{
    if (count > list->capacity) {
        const uint64_t capacity = 2 * count + 64;
        int32_t *more = realloc(list->key, capacity * (size_t)ranks->n * sizeof *more);

        if (!more)
            return 1;
        list->key = more;
        list->capacity = capacity;
    }
    return 0;
}

int ranks_add_key(const engine_ranks *ranks, rank_partner *partner, const int32_t *key)
{
    const size_t n = (size_t)ranks->n;
    key_list *out = &partner->out;

    if (reserve_keys(ranks, out, out->count + 1))
        return 1;
    memcpy(out->key + out->count++ * n, key, n * sizeof *key);
    return 0;
}

int ranks_request(engine_ranks *ranks, const int32_t *key)
{
    const int owner = partition_find(&ranks->cuts, key);

    for (int p = 0; p < ranks->partners; p++)
        if (ranks->partner[p].rank == owner)
            return ranks_add_key(ranks, &ranks->partner[p], key);
    return 1;
}

void ranks_exchange_keys(engine_ranks *ranks)
{
    const size_t size = (size_t)ranks->n * sizeof(int32_t);
    const int count = ranks->partners;

    for (int p = 0; p < count; p++) {
        rank_partner *partner = &ranks->partner[p];

        ranks->out[p] = (gbees_message){partner->rank, sizeof partner->out.count, &partner->out.count};
        ranks->in[p] = (gbees_message){partner->rank, sizeof partner->in.count, &partner->in.count};
    }
    ranks_exchange(ranks, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++) {
        rank_partner *partner = &ranks->partner[p];

        if (reserve_keys(ranks, &partner->in, partner->in.count))
            ranks_abort(ranks, "out of memory for the bricks of neighbouring ranks");
        ranks->out[p] = (gbees_message){partner->rank, partner->out.count * size, partner->out.key};
        ranks->in[p] = (gbees_message){partner->rank, partner->in.count * size, partner->in.key};
    }
    ranks_exchange(ranks, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++)
        ranks->partner[p].out.count = 0;
}
