/* ranks_ghosts.c - copies of other ranks' bricks near a rank's box; see ranks.h. */
#include "common/failure.h"
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

enum { SPARE_BRICKS = 4096 }; /* of growth, that there is room for at least */

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the bricks of neighbouring ranks");
}

/* This rank can't go on, and the others wait for it. */
static void give_up(const gbees_engine *e, const gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;

    p->abort(p->context, EXIT_FAILURE, error->text);
}

static int classes_of(const gbees_engine *e)
{
    return e->problem->dimension + 1;
}

/* ---- partners ---- */

/* Whether the ghosts of one box may lie in another. */
static int are_near(const gbees_engine *e, const partition_box *a, const partition_box *b)
{
    for (int j = 0; j < e->problem->dimension; j++)
        if ((int64_t)a->lo[j] - b->hi[j] >= e->ranks->layers[j] ||
            (int64_t)b->lo[j] - a->hi[j] >= e->ranks->layers[j])
            return 0;
    return 1;
}

/* Lists the ranks whose boxes are near, with empty lists. */
static void find_partners(gbees_engine *e)
{
    struct engine_ranks *ranks = e->ranks;
    const int own = ranks->parallel->rank;

    ranks->partners = 0;
    ranks->ghosts = 0;
    for (int r = 0; r < ranks->parallel->ranks; r++) {
        if (r == own || !are_near(e, &ranks->box[own], &ranks->box[r]))
            continue;
        rank_partner *partner = &ranks->partner[ranks->partners++];
        partner->rank = r;
        for (int k = 0; k < classes_of(e); k++)
            partner->give[k].count = partner->take[k].count = 0;
    }
    ranks->room = ranks->partners > ranks->room ? ranks->partners : ranks->room;
}

static gbees_key_box key_box(const gbees_engine *e, int rank)
{
    const partition_box *box = &e->ranks->box[rank];
    gbees_key_box of = {.low = {0}};

    for (int j = 0; j < e->problem->dimension; j++) {
        of.low[j] = box->lo[j];
        of.high[j] = box->hi[j];
        of.layers[j] = e->ranks->layers[j];
    }
    return of;
}

/* ---- keys between hosts ---- */

static int reserve_keys(const gbees_engine *e, key_list *list, uint64_t count)
{
    if (count > list->room) {
        const uint64_t room = 2 * count + 64;
        int32_t *more = realloc(list->key, room * (size_t)e->problem->dimension * sizeof *more);

        if (!more)
            return 1;
        list->key = more;
        list->room = room;
    }
    return 0;
}

/* Sends numbers to all partners, and receives theirs: out[p * count ...], in[p * count ...]. */
static void exchange_counts(gbees_engine *e, const uint32_t *out, uint32_t *in, size_t count)
{
    struct engine_ranks *ranks = e->ranks;

    for (int p = 0; p < ranks->partners; p++) {
        ranks->to[p] =
            (gbees_message){ranks->partner[p].rank, count * sizeof *out, (void *)(out + (size_t)p * count)};
        ranks->from[p] = (gbees_message){ranks->partner[p].rank, count * sizeof *in, in + (size_t)p * count};
    }
    ranks_exchange(e, ranks->to, ranks->partners, ranks->from, ranks->partners);
}

/* Sends the keys `out` of all partners, and receives `in`, whose counts are known. */
static void exchange_keys(gbees_engine *e)
{
    struct engine_ranks *ranks = e->ranks;
    const size_t size = (size_t)e->problem->dimension * sizeof(int32_t);
    gbees_error error;

    for (int p = 0; p < ranks->partners; p++) {
        rank_partner *partner = &ranks->partner[p];

        if (reserve_keys(e, &partner->in, partner->in.count)) {
            (void)no_memory(&error);
            give_up(e, &error);
        }
        ranks->to[p] = (gbees_message){partner->rank, partner->out.count * size, partner->out.key};
        ranks->from[p] = (gbees_message){partner->rank, partner->in.count * size, partner->in.key};
    }
    ranks_exchange(e, ranks->to, ranks->partners, ranks->from, ranks->partners);
}

/* Inserts keys of the host's; slots: where they are, or 0. */
static int insert(gbees_engine *e, const int32_t *key, uint32_t count, CUdeviceptr slots, size_t *at,
                  gbees_error *error)
{
    const size_t size = count * (size_t)e->problem->dimension * sizeof *key;
    CUdeviceptr keys = e->ranks->keys.at + *at;
    void *arguments[] = {&e->setup, &e->device_state.at, &keys, &count, &slots};

    if (!count)
        return 0;
    *at += size;
    int status = cuda_check(e->api, e->api->cuMemcpyHtoDAsync(keys, key, size, e->stream), "sharing the grid", error);
    return status ? status : engine_start(e, KERNEL_INSERT, arguments, error);
}

/* Bytes of the keys that have arrived. */
static size_t bytes_in(const gbees_engine *e)
{
    uint64_t keys = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        keys += e->ranks->partner[p].in.count;
    return keys * (size_t)e->problem->dimension * sizeof(int32_t);
}

/* ---- what growth asks of the owners ---- */

/* The rank that owns a brick. */
static int owner_of(const gbees_engine *e, const int32_t *key)
{
    int r = 0;

    while (r < e->ranks->parallel->ranks - 1 && !partition_contains(e->problem->dimension, &e->ranks->box[r], key))
        r++;
    return r;
}

/* Notes a brick for its owner. */
static int note_request(gbees_engine *e, const int32_t *key)
{
    const int owner = owner_of(e, key);

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

/* Lists the keys of the ghosts that growth has made, by owner. */
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

/* Sends the requests; those that arrive are inserted, unless the heap is full. */
static int exchange_requests(gbees_engine *e, int is_full, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    uint32_t *counts = calloc(2 * (size_t)ranks->partners + 1, sizeof *counts);
    size_t at = 0;
    int status = counts ? list_requests(e, error) : no_memory(error);

    if (status)
        give_up(e, error);
    for (int p = 0; p < ranks->partners; p++)
        counts[p] = (uint32_t)ranks->partner[p].out.count;
    exchange_counts(e, counts, counts + ranks->partners, 1);
    for (int p = 0; p < ranks->partners; p++)
        ranks->partner[p].in.count = counts[ranks->partners + p];
    free(counts);
    exchange_keys(e);
    status = ranks_reserve(e, &ranks->keys, bytes_in(e), error);
    for (int p = 0; p < ranks->partners && !status && !is_full; p++)
        status = insert(e, ranks->partner[p].in.key, (uint32_t)ranks->partner[p].in.count, 0, &at, error);
    return status;
}

/* ---- what partners are told of new bricks ---- */

static CUdeviceptr counter_at(const gbees_engine *e, int partner, int class)
{
    return e->ranks->counters.at + ((size_t)partner * (size_t)classes_of(e) + (size_t) class) * sizeof(uint32_t);
}

/* Appends the own bricks behind `from` that are ghosts of a partner to its lists. */
static int select_for(gbees_engine *e, int p, int class, uint32_t from, gbees_error *error)
{
    rank_partner *partner = &e->ranks->partner[p];
    brick_list *list = &partner->give[class];
    gbees_key_box box = key_box(e, partner->rank);
    uint32_t size = (uint32_t)(list->slots.size / sizeof(uint32_t));
    CUdeviceptr used = counter_at(e, p, class);
    void *arguments[] = {&e->setup, &e->device_state.at, &box, &class, &from, &list->slots.at, &size, &used};

    return engine_start(e, KERNEL_SELECT, arguments, error);
}

/* The counts of all lists, to the GPU or back. */
static int copy_counters(gbees_engine *e, uint32_t *counts, int to_host, gbees_error *error)
{
    const size_t size = (size_t)e->ranks->partners * (size_t)classes_of(e) * sizeof *counts;
    CUresult result = to_host ? e->api->cuMemcpyDtoHAsync(counts, e->ranks->counters.at, size, e->stream)
                              : e->api->cuMemcpyHtoDAsync(e->ranks->counters.at, counts, size, e->stream);

    if (result == CUDA_SUCCESS)
        result = e->api->cuStreamSynchronize(e->stream);
    return cuda_check(e->api, result, "sharing the grid", error);
}

/* Makes room for lists that were too short; *again: for one at least, which `counts` has as it was. */
static int widen_lists(gbees_engine *e, uint32_t *counts, int *again, gbees_error *error)
{
    int status = 0;

    *again = 0;
    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k < classes_of(e) && !status; k++) {
            brick_list *list = &e->ranks->partner[p].give[k];
            uint32_t *count = &counts[p * classes_of(e) + k];
            const int is_short = *count * sizeof(uint32_t) > list->slots.size;

            if (is_short)
                status = ranks_reserve(e, &list->slots, *count * sizeof(uint32_t), error);
            *again |= is_short;
        }
    for (int p = 0; p < e->ranks->partners && *again; p++)
        for (int k = 0; k < classes_of(e); k++)
            counts[p * classes_of(e) + k] = e->ranks->partner[p].give[k].count;
    return status;
}

/* Adds the own bricks behind `from` to the partners' lists: give_new are how many. Fetches the state. */
static int select_new(gbees_engine *e, uint32_t from, uint32_t *counts, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const int classes = classes_of(e);
    int again = 1;
    int status = ranks_reserve(e, &ranks->counters, (size_t)(ranks->partners * classes + 1) * sizeof *counts, error);

    for (int p = 0; p < ranks->partners; p++)
        for (int k = 0; k < classes; k++)
            counts[p * classes + k] = ranks->partner[p].give[k].count;
    while (again && !status) {
        status = copy_counters(e, counts, 0, error);
        for (int p = 0; p < ranks->partners; p++)
            for (int k = 0; k < classes && !status; k++)
                status = select_for(e, p, k, from, error);
        if (!status)
            status = copy_counters(e, counts, 1, error);
        if (!status)
            status = widen_lists(e, counts, &again, error);
    }
    for (int p = 0; p < ranks->partners && !status; p++)
        for (int k = 0; k < classes; k++) {
            ranks->partner[p].give_new[k] = counts[p * classes + k] - ranks->partner[p].give[k].count;
            ranks->partner[p].give[k].count = counts[p * classes + k];
        }
    return status ? status : engine_fetch_state(e, "sharing the grid", error);
}

/* Fetches the keys of the bricks that were added to the lists, class after class, for all partners. */
static int list_new(gbees_engine *e, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const size_t size = (size_t)e->problem->dimension * sizeof(int32_t);
    uint64_t all = 0;
    int status = 0;

    for (int p = 0; p < ranks->partners; p++) {
        ranks->partner[p].out.count = 0;
        for (int k = 0; k < classes_of(e); k++)
            ranks->partner[p].out.count += ranks->partner[p].give_new[k];
        all += ranks->partner[p].out.count;
        if (reserve_keys(e, &ranks->partner[p].out, ranks->partner[p].out.count))
            status = no_memory(error);
    }
    if (!status)
        status = ranks_reserve(e, &ranks->keys, all * size, error);
    CUdeviceptr at = ranks->keys.at;
    for (int p = 0; p < ranks->partners && !status; p++) {
        const CUdeviceptr begin = at;

        for (int k = 0; k < classes_of(e) && !status; k++) {
            const brick_list *list = &ranks->partner[p].give[k];
            uint32_t count = ranks->partner[p].give_new[k];
            CUdeviceptr from = list->slots.at + (list->count - count) * sizeof(uint32_t);
            void *arguments[] = {&e->setup, &from, &count, &at};

            if (count)
                status = engine_start(e, KERNEL_KEYS, arguments, error);
            at += count * size;
        }
        if (!status && at > begin)
            status =
                cuda_check(e->api, e->api->cuMemcpyDtoHAsync(ranks->partner[p].out.key, begin, at - begin, e->stream),
                           "sharing the grid", error);
    }
    return status ? status : cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), "sharing the grid", error);
}

/* Tells the partners of the bricks that were added to the lists; take_new and in: what they tell. */
static int exchange_new(gbees_engine *e, uint32_t *counts, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const size_t classes = (size_t)classes_of(e);
    uint32_t *in = counts + (size_t)ranks->partners * classes;
    const int status = list_new(e, error);

    if (status)
        give_up(e, error);
    for (int p = 0; p < ranks->partners; p++)
        memcpy(counts + (size_t)p * classes, ranks->partner[p].give_new, classes * sizeof *counts);
    exchange_counts(e, counts, in, classes);
    for (int p = 0; p < ranks->partners; p++) {
        rank_partner *partner = &ranks->partner[p];

        partner->in.count = 0;
        for (size_t k = 0; k < classes; k++) {
            partner->take_new[k] = in[(size_t)p * classes + k];
            partner->in.count += partner->take_new[k];
        }
    }
    exchange_keys(e);
    return 0;
}

/* Makes ghosts of what partners have told, in the order of their lists. */
static int insert_ghosts(gbees_engine *e, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    size_t at = 0;
    int status = ranks_reserve(e, &ranks->keys, bytes_in(e), error);

    for (int p = 0; p < ranks->partners; p++) {
        rank_partner *partner = &ranks->partner[p];
        const int32_t *key = partner->in.key;

        for (int k = 0; k < classes_of(e) && !status; k++) {
            brick_list *list = &partner->take[k];
            const uint32_t count = partner->take_new[k];

            status = ranks_reserve(e, &list->slots, (list->count + count) * sizeof(uint32_t), error);
            if (!status)
                status = insert(e, key, count, list->slots.at + list->count * sizeof(uint32_t), &at, error);
            list->count += count;
            key += count * (size_t)e->problem->dimension;
        }
    }
    return status;
}

/* Room for the rows of the longest exchange. */
static int reserve_rows(gbees_engine *e, gbees_error *error)
{
    uint64_t most_out = 0, most_in = 0;

    for (int k = 0; k < classes_of(e); k++) {
        uint64_t out = 0, in = 0;

        for (int p = 0; p < e->ranks->partners; p++) {
            out += e->ranks->partner[p].give[k].count;
            in += e->ranks->partner[p].take[k].count;
        }
        most_out = out > most_out ? out : most_out;
        most_in = in > most_in ? in : most_in;
    }
    int status = ranks_reserve(e, &e->ranks->send, most_out * 64 * e->real_size, error);
    return status ? status : ranks_reserve(e, &e->ranks->receive, most_in * 64 * e->real_size, error);
}

/* Links the own bricks behind `from` and the ghosts behind those that are linked. Fetches the state. */
static int link_new(gbees_engine *e, uint32_t from, uint64_t step, gbees_error *error)
{
    uint32_t ghosts = e->ranks->ghosts;
    void *arguments[] = {&e->setup, &e->device_state.at, &from, &ghosts, &step};
    int status = engine_start(e, KERNEL_LINK, arguments, error);

    if (!status)
        status = reserve_rows(e, error);
    if (!status)
        status = engine_fetch_state(e, "sharing the grid", error);
    if (!status && !e->state->overflow) {
        e->state->linked = e->state->count;
        e->ranks->ghosts = e->state->ghosts;
    }
    return status;
}

/* ---- */

/* Takes back what did not fit: it is made again after the next ranks_renew(). */
static int take_back(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;

    s->count = s->linked;
    s->ghosts = e->ranks->ghosts;
    s->overflow = 0;
    return engine_send_state(e, "sharing the grid", error);
}

static int is_full(const gbees_engine *e)
{
    const gbees_state *s = e->state;

    return s->overflow || s->count >= e->setup.first_ghost ||
           (uint64_t)e->setup.first_ghost + s->ghosts > e->setup.grid.capacity;
}

/* Whether the next steps may not fit. */
static int is_nearly_full(const gbees_engine *e)
{
    const uint32_t room = e->setup.grid.capacity - e->setup.first_ghost;

    return e->state->count > e->setup.first_ghost - e->setup.first_ghost / 16 || e->state->ghosts > room - room / 16;
}

int ranks_spread(gbees_engine *e, uint64_t step, int *crowded, gbees_error *error)
{
    const size_t lists = (size_t)e->ranks->partners * (size_t)classes_of(e);
    uint32_t *counts = malloc((2 * lists + 1) * sizeof *counts);
    const uint32_t linked = e->state->linked;
    int full = is_full(e), status = counts ? 0 : no_memory(error);

    if (!status && full)
        status = take_back(e, error);
    if (!status)
        status = exchange_requests(e, full, error);
    if (!status)
        status = select_new(e, linked, counts, error);
    if (!status && is_full(e)) {
        full = 1;
        status = take_back(e, error);
    }
    if (status)
        give_up(e, error);
    status = exchange_new(e, counts, error);
    if (!status && !full)
        status = insert_ghosts(e, error);
    if (!status && !full)
        status = link_new(e, linked, step, error);
    if (!status && !full && is_full(e)) {
        full = 1;
        status = take_back(e, error);
    }
    if (status)
        give_up(e, error);
    free(counts);
    *crowded = full || is_nearly_full(e);
    return 0;
}

/* ---- all anew ---- */

/* Bricks of all kinds that the heap should have room for, with `ghosts` of them. */
static uint64_t wanted_bricks(const gbees_engine *e, uint64_t ghosts)
{
    const uint64_t own = e->state->count;

    return own + own / 4 + ghosts + ghosts / 2 + 2 * (uint64_t)SPARE_BRICKS;
}

/* Makes room for so many ghosts, and for growth. */
static int make_room(gbees_engine *e, uint64_t ghosts, gbees_error *error)
{
    const uint64_t own = e->state->count, wanted = wanted_bricks(e, ghosts);
    int status = wanted + 1 > e->setup.grid.capacity ? engine_heap_reserve(e, wanted, 0, error) : 0;

    if (status)
        return status;
    const uint64_t left = e->setup.grid.capacity - 1 - own - ghosts;
    e->setup.first_ghost = (uint32_t)(1 + own + left / 3 * 2);
    return 0;
}

/* Bricks that partners have told of. */
static uint64_t told(const gbees_engine *e)
{
    uint64_t count = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        count += e->ranks->partner[p].in.count;
    return count;
}

/* Forgets all ghosts. */
static int forget_ghosts(gbees_engine *e, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at};
    int status = engine_launch(e, KERNEL_REHASH, NULL, 0, error);

    return status ? status : engine_start(e, KERNEL_RELINK, arguments, error);
}

int ranks_renew(gbees_engine *e, int is_clean, gbees_error *error)
{
    gbees_state *s = e->state;
    uint32_t *counts;
    int status = 0;

    find_partners(e);
    s->ghosts = 0;
    s->linked = s->count;
    s->overflow = 0;
    counts = malloc((2 * (size_t)e->ranks->partners * (size_t)classes_of(e) + 1) * sizeof *counts);
    status = counts ? 0 : no_memory(error);
    if (!status && !is_clean)
        status = forget_ghosts(e, error);
    if (!status)
        status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = select_new(e, 0, counts, error);
    status = ranks_agree(e, status, error);
    if (!status)
        status = exchange_new(e, counts, error);
    if (!status)
        status = ranks_agree(e, make_room(e, told(e), error), error);
    free(counts);
    if (status)
        return status;
    status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = insert_ghosts(e, error);
    if (!status)
        status = link_new(e, s->count, s->run.steps, error);
    return ranks_agree(e, status, error);
}

/* ---- rows ---- */

static int copy_rows(gbees_engine *e, CUdeviceptr rows, const brick_list *list, CUdeviceptr buffer, int to_slots,
                     gbees_error *error)
{
    CUdeviceptr slots = list->slots.at;
    uint32_t count = list->count;
    void *arguments[] = {&rows, &slots, &count, &buffer, &to_slots};

    return count ? engine_start(e, KERNEL_COPY_ROWS, arguments, error) : 0;
}

int ranks_refresh(gbees_engine *e, CUdeviceptr rows, int class, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    const size_t row = 64 * e->real_size;
    CUdeviceptr out = ranks->send.at, in = ranks->receive.at;
    int status = 0;

    for (int p = 0; p < ranks->partners && !status; p++) {
        const rank_partner *partner = &ranks->partner[p];

        status = copy_rows(e, rows, &partner->give[class], out, 0, error);
        ranks->out[p] = (device_message){partner->rank, partner->give[class].count * row, out};
        ranks->in[p] = (device_message){partner->rank, partner->take[class].count * row, in};
        out += ranks->out[p].size;
        in += ranks->in[p].size;
    }
    if (!status)
        status = ranks_exchange_rows(e, ranks->partners, ranks->partners, error);
    in = ranks->receive.at;
    for (int p = 0; p < ranks->partners && !status; p++) {
        status = copy_rows(e, rows, &ranks->partner[p].take[class], in, 1, error);
        in += ranks->partner[p].take[class].count * row;
    }
    return status;
}
