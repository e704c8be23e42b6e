/* ranks_move.c - chooses the cuts between the ranks' boxes, and moves bricks to the ranks that own them; see ranks.h.
 */
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1 << 15 }; /* bricks of all ranks together, at most, from which cuts are chosen */

/* ---- cuts ---- */

/* Fetches the keys of a part of this rank's bricks, every stride-th one, so that all ranks have at most SAMPLE of
 * them and one each: sets keys[count][n], which the caller frees, also after an error. */
static int sample(gbees_engine *e, int32_t **keys, uint64_t *count, gbees_error *error)
{
    const size_t size = (size_t)e->problem->dimension * sizeof **keys;
    uint32_t stride = 1 + (uint32_t)(e->ranks->bricks / SAMPLE);
    void *arguments[] = {&e->setup, &e->device_state.at, &stride, &e->split->keys.at};

    *count = ((uint64_t)e->state->count + stride - 1) / stride;
    *keys = malloc(*count * size + 1);
    if (!*keys)
        return ranks_no_memory(error);
    int status = split_reserve(e, &e->split->keys, *count * size + 1, error);
    if (!status)
        status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = engine_start(e, KERNEL_SAMPLE, arguments, error);
    return status || !*count
               ? status
               : device_fetch(&e->memory, *keys, e->split->keys.at, *count * size, "sharing the grid", error);
}

/* The keys of a sample, as a stream. */
typedef struct sampled_keys {
    const int32_t *key; /* [count][n] */
    uint64_t count, at;
    size_t n;
} sampled_keys;

static void rewind_sample(void *sample)
{
    ((sampled_keys *)sample)->at = 0;
}

static int take_sampled(void *sample, int32_t *key)
{
    sampled_keys *from = sample;

    if (from->at == from->count)
        return 0;
    memcpy(key, from->key + from->at++ * from->n, from->n * sizeof *key);
    return 1;
}

/* ---- bricks that move ---- */

/* The bricks that go to a rank or come from it, packed in the GPU's memory: P[count][64], active[count], then
 * key[count][n]. */
typedef struct moving {
    uint64_t count;
    CUdeviceptr at;
} moving;

/* Bytes of a packed brick. Its key counts as whole words of 8 bytes: those of the next rank's bricks stay aligned. */
static size_t brick_size(const gbees_engine *e)
{
    return 64 * e->real_size + sizeof(uint64_t) + ((size_t)e->problem->dimension + 1) / 2 * sizeof(uint64_t);
}

/* Where packed bricks have their active cells. */
static CUdeviceptr marks_of(const gbees_engine *e, const moving *m)
{
    return m->at + m->count * 64 * e->real_size;
}

/* Where packed bricks have their keys. */
static CUdeviceptr keys_of(const gbees_engine *e, const moving *m)
{
    return marks_of(e, m) + m->count * sizeof(uint64_t);
}

/* Appends the slots of the own bricks in the box of rank r to the list in split->keys. Sets *listed to the length of
 * the list after it. */
static int list_for(gbees_engine *e, int r, uint32_t *listed, gbees_error *error)
{
    CUdeviceptr used = e->split->counters.at;
    gbees_slot_lists lists = {.slots = {e->split->keys.at}, .size = {e->state->count}, .inside = 1};
    gbees_key_box box = ranks_box(e, r);
    uint32_t from = 0;
    void *arguments[] = {&e->setup, &e->device_state.at, &box, &lists, &from, &used};

    int status = engine_start(e, KERNEL_SELECT, arguments, error);
    if (!status)
        status = device_fetch(&e->memory, listed, used, sizeof *listed, "sharing the grid", error);
    return status;
}

/* Lists the slots of the bricks that go to other ranks in split->keys, rank after rank, and sets
 * leaving[ranks].count. */
static int list_leaving(gbees_engine *e, moving *leaving, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    uint32_t before = 0;
    int status = cuda_check(e->api, e->api->cuMemsetD8Async(split->counters.at, 0, sizeof before, e->stream),
                            "sharing the grid", error);

    for (int r = 0; r < ranks->parallel->ranks && !status; r++) {
        uint32_t now = before;

        if (r != ranks->parallel->rank && (r == 0 || engine_is_split(e)))
            status = list_for(e, r, &now, error);
        leaving[r].count = now - before;
        before = now;
    }
    return status;
}

/* Packs the bricks that are listed in split->keys to leaving[ranks].at. */
static int pack(gbees_engine *e, const moving *leaving, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    CUdeviceptr slots = split->keys.at, rows = e->rows[e->state->current].at;
    int to_slots = 0, status = 0;

    for (int r = 0; r < ranks->parallel->ranks && !status; r++) {
        uint32_t count = (uint32_t)leaving[r].count;
        CUdeviceptr at = leaving[r].at, marks = marks_of(e, &leaving[r]), keys = keys_of(e, &leaving[r]);
        void *of_rows[] = {&rows, &slots, &count, &at, &to_slots};
        void *of_marks[] = {&e->setup, &slots, &count, &marks, &to_slots};
        void *of_keys[] = {&e->setup, &slots, &count, &keys};

        if (!count)
            continue;
        status = engine_start(e, KERNEL_COPY_ROWS, of_rows, error);
        if (!status)
            status = engine_start(e, KERNEL_COPY_MARKS, of_marks, error);
        if (!status)
            status = engine_start(e, KERNEL_KEYS, of_keys, error);
        slots += count * sizeof(uint32_t);
    }
    return status;
}

/* Drops the bricks outside the own box and all ghosts: from the lists, the hash table and the links. */
static int drop_leaving(gbees_engine *e, gbees_error *error)
{
    gbees_key_box box = ranks_box(e, e->ranks->parallel->rank);
    void *arguments[] = {&e->setup, &e->device_state.at, &box};

    int status = engine_start(e, KERNEL_STAY, arguments, error);
    if (!status)
        status = engine_launch(e, KERNEL_KEEP, NULL, 0, error);
    e->state->ghosts = 0;
    e->split->ghosts = 0;
    return status;
}

/* Packs the bricks that other ranks own in split->send, sets leaving[ranks], and drops these bricks. */
static int send_off(gbees_engine *e, moving *leaving, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    uint64_t all = 0;
    int status = split_reserve(e, &split->keys, ((size_t)e->state->count + 1) * sizeof(uint32_t), error);

    if (!status)
        status = split_reserve(e, &split->counters, sizeof(uint32_t), error);
    if (!status)
        status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = list_leaving(e, leaving, error);
    for (int r = 0; r < ranks->parallel->ranks; r++)
        all += leaving[r].count;
    if (!status)
        status = split_reserve(e, &split->send, all * brick_size(e) + 1, error);
    CUdeviceptr at = split->send.at;
    for (int r = 0; r < ranks->parallel->ranks; r++) {
        leaving[r].at = at;
        at += leaving[r].count * brick_size(e);
    }
    if (!status)
        status = pack(e, leaving, error);
    return status ? status : drop_leaving(e, error);
}

/* Inserts the bricks that have arrived from a rank, with P and active cells. The GPU has the state already; fetches
 * it. */
static int unpack(gbees_engine *e, const moving *from, gbees_error *error)
{
    uint32_t count = (uint32_t)from->count, linked = e->state->count, no_ghosts = 0;
    uint64_t step = e->state->run.steps;
    CUdeviceptr slots = e->split->keys.at, rows = e->rows[e->state->current].at, at = from->at;
    CUdeviceptr marks = marks_of(e, from), keys = keys_of(e, from);
    int to_slots = 1;
    void *of_keys[] = {&e->setup, &e->device_state.at, &keys, &count, &slots};
    void *of_links[] = {&e->setup, &e->device_state.at, &linked, &no_ghosts, &step};
    void *of_rows[] = {&rows, &slots, &count, &at, &to_slots};
    void *of_marks[] = {&e->setup, &slots, &count, &marks, &to_slots};
    int status = count ? engine_start(e, KERNEL_INSERT, of_keys, error) : 0;

    if (!count)
        return 0;
    if (!status)
        status = engine_start(e, KERNEL_LINK, of_links, error);
    if (!status)
        status = engine_start(e, KERNEL_COPY_ROWS, of_rows, error);
    if (!status)
        status = engine_start(e, KERNEL_COPY_MARKS, of_marks, error);
    if (!status)
        status = engine_fetch_state(e, "sharing the grid", error);
    if (!status && e->state->overflow)
        status = gbees_error_set(error, GBEES_EBACKEND, "the bricks of other ranks don't fit into the heap: a bug");
    e->state->linked = e->state->count;
    return status;
}

/* Inserts the bricks that have arrived from all ranks; `most` is the largest number from one rank. */
static int take_in(gbees_engine *e, const moving *arriving, uint64_t most, gbees_error *error)
{
    int status = split_reserve(e, &e->split->keys, (most + 1) * sizeof(uint32_t), error);

    if (!status)
        status = engine_send_state(e, "sharing the grid", error);
    for (int r = 0; r < e->ranks->parallel->ranks && !status; r++)
        status = unpack(e, &arriving[r], error);
    return status;
}

/* Makes split->receive and the heap large enough for `all` bricks that arrive, and sets arriving[ranks].at. */
static int reserve_bricks(gbees_engine *e, moving *arriving, uint64_t all, gbees_error *error)
{
    int status = split_reserve(e, &e->split->receive, all * brick_size(e) + 1, error);
    CUdeviceptr at = e->split->receive.at;

    for (int r = 0; r < e->ranks->parallel->ranks; r++) {
        arriving[r].at = at;
        at += arriving[r].count * brick_size(e);
    }
    e->setup.first_ghost = UINT32_MAX;
    return status ? status : engine_heap_reserve(e, e->state->count + all, 0, error);
}

/* All ranks: exchanges the numbers of bricks that move, then the bricks, and inserts those that arrive. */
static int swap(gbees_engine *e, const moving *leaving, moving *arriving, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const size_t all = (size_t)ranks->parallel->ranks;
    uint64_t *sent = calloc(2 * all, sizeof *sent), *come = sent + all, total, most = 0;
    int status = ranks_agree(ranks, sent ? 0 : ranks_no_memory(error), error);

    if (status) {
        free(sent);
        return status;
    }
    for (size_t r = 0; r < all; r++)
        sent[r] = leaving[r].count;
    total = ranks_count_moves(ranks, sent, come);
    for (size_t r = 0; r < all; r++) {
        arriving[r].count = come[r];
        most = come[r] > most ? come[r] : most;
    }
    free(sent);
    status = ranks_agree(e->ranks, reserve_bricks(e, arriving, total, error), error);
    if (status)
        return status;
    for (size_t r = 0; r < all; r++) {
        split->out[r] = (device_message){(int)r, leaving[r].count * brick_size(e), leaving[r].at};
        split->in[r] = (device_message){(int)r, arriving[r].count * brick_size(e), arriving[r].at};
    }
    status = split_exchange(e, (int)all, (int)all, error);
    if (!status)
        status = take_in(e, arriving, most, error);
    return ranks_agree(e->ranks, status, error);
}

/* All ranks: moves the bricks to the ranks in whose boxes they are. */
static int migrate(gbees_engine *e, gbees_error *error)
{
    const int all = e->ranks->parallel->ranks;
    const gbees_key_box own = ranks_box(e, e->ranks->parallel->rank);
    moving *move = calloc(2 * (size_t)all, sizeof *move);

    e->state->stop = STOP_DONE;
    int status = move ? send_off(e, move, error) : ranks_no_memory(error);

    for (int j = 0; j < e->problem->dimension; j++) {
        e->setup.low[j] = own.low[j];
        e->setup.high[j] = own.high[j];
    }
    status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = swap(e, move, move + all, error);
    free(move);
    (void)ranks_count(e->ranks, e->state->count);
    return status;
}

/* ---- cuts, and bricks that move ---- */

int ranks_divide(gbees_engine *e, gbees_error *error)
{
    e->shared.is_divided = 1;
    return migrate(e, error);
}

int ranks_cut(gbees_engine *e, gbees_error *error)
{
    int32_t *keys = NULL;
    uint64_t count = 0;
    int status = ranks_agree(e->ranks, sample(e, &keys, &count, error), error);
    sampled_keys sampled = {keys, count, 0, (size_t)e->problem->dimension};

    if (!status)
        status = ranks_choose_cuts(e->ranks, &(key_stream){&sampled, rewind_sample, take_sampled, 0}, error);
    free(keys);
    return status ? status : ranks_divide(e, error);
}

int ranks_collect(gbees_engine *e, gbees_error *error)
{
    e->shared.is_divided = 0;
    const int status = migrate(e, error);
    return status ? status : ranks_agree(e->ranks, ranks_inspect(e, e->split->inspected, error), error);
}
