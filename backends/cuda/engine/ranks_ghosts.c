/* ranks_ghosts.c - ghosts, copies of other ranks' bricks near a rank's box: makes and links them, and refreshes their
 * rows; see ranks.h. */
#include "common/failure.h"
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

enum { SPARE_BRICKS = 4096 }; /* that can be inserted before the heap has to grow, at least: own ones, and ghosts */

/* The number of classes of ghosts (rank_partner). */
static int classes_of(const gbees_engine *e)
{
    return e->problem->dimension + 1;
}

/* ---- partners ---- */

/* Sets the partners, with empty lists. */
static void find_partners(gbees_engine *e)
{
    ranks_find_partners(e->ranks);
    e->split->ghosts = 0;
    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k < classes_of(e); k++)
            e->split->beside[p].give[k].count = e->split->beside[p].take[k].count = 0;
}

gbees_key_box ranks_box(const gbees_engine *e, int rank)
{
    const int is_split = engine_is_split(e);
    gbees_key_box of = {.low = {0}};

    for (int j = 0; j < e->problem->dimension; j++) {
        const partition_box *box = is_split ? &e->ranks->cuts.part[rank].box : NULL;

        of.low[j] = box ? box->lo[j] : rank ? 0 : INT32_MIN;
        of.high[j] = box ? box->hi[j] : rank ? 0 : INT32_MAX;
        of.layers[j] = e->ranks->layers[j];
    }
    return of;
}

/* ---- new bricks are announced to the partners ---- */

/* Where the GPU counts the bricks of a partner's list `give`. */
static CUdeviceptr counter_at(const gbees_engine *e, int partner, int class)
{
    return e->split->counters.at + ((size_t)partner * (size_t)classes_of(e) + (size_t) class) * sizeof(uint32_t);
}

/* Appends the own bricks in slots from + 1 .. count that are ghosts of partner p to its lists `give`, and adds them
 * to the GPU's counters. Of a list that is too short those that fit are appended, and all are counted. */
static int select_for(gbees_engine *e, int p, uint32_t from, gbees_error *error)
{
    const ghost_lists *beside = &e->split->beside[p];
    gbees_key_box box = ranks_box(e, e->ranks->partner[p].rank);
    gbees_slot_lists lists = {.inside = 0};
    CUdeviceptr used = counter_at(e, p, 0);
    void *arguments[] = {&e->setup, &e->device_state.at, &box, &lists, &from, &used};

    for (int k = 0; k < classes_of(e); k++) {
        lists.slots[k] = beside->give[k].slots.at;
        lists.size[k] = (uint32_t)(beside->give[k].slots.size / sizeof(uint32_t));
    }
    return engine_start(e, KERNEL_SELECT, arguments, error);
}

/* Extends the lists `give` that are shorter than counts[partners][n + 1]. If there is one, sets *again, and sets
 * `counts` to the lengths before the selection, which has to be repeated. */
static int widen_lists(gbees_engine *e, uint32_t *counts, int *again, gbees_error *error)
{
    int status = 0;

    *again = 0;
    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k < classes_of(e) && !status; k++) {
            brick_list *list = &e->split->beside[p].give[k];
            uint32_t *count = &counts[p * classes_of(e) + k];
            const int is_short = *count * sizeof(uint32_t) > list->slots.size;

            if (is_short)
                status = split_reserve(e, &list->slots, *count * sizeof(uint32_t), error);
            *again |= is_short;
        }
    for (int p = 0; p < e->ranks->partners && *again; p++)
        for (int k = 0; k < classes_of(e); k++)
            counts[p * classes_of(e) + k] = e->split->beside[p].give[k].count;
    return status;
}

/* Appends the own bricks in slots from + 1 .. count to the lists `give` of the partners whose ghosts they are, and
 * sets give_new to the numbers of bricks that were appended. Fetches the state. */
static int select_new(gbees_engine *e, uint32_t from, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const int classes = classes_of(e);
    const size_t size = (size_t)(ranks->partners * classes) * sizeof *split->counts;
    int again = 1, status = split_reserve(e, &split->counters, size + sizeof *split->counts, error);

    for (int p = 0; p < ranks->partners; p++)
        for (int k = 0; k < classes; k++)
            split->counts[p * classes + k] = split->beside[p].give[k].count;
    while (again && !status) {
        status = cuda_check(e->api, e->api->cuMemcpyHtoDAsync(split->counters.at, split->counts, size, e->stream),
                            "sharing the grid", error);
        for (int p = 0; p < ranks->partners && !status; p++)
            status = select_for(e, p, from, error);
        if (!status)
            status = cuda_check(e->api, e->api->cuMemcpyDtoHAsync(split->counts, split->counters.at, size, e->stream),
                                "sharing the grid", error);
        if (!status)
            status = engine_fetch_state(e, "sharing the grid", error);
        if (!status)
            status = widen_lists(e, split->counts, &again, error);
    }
    for (int p = 0; p < ranks->partners && !status; p++)
        for (int k = 0; k < classes; k++) {
            split->beside[p].give_new[k] = split->counts[p * classes + k] - split->beside[p].give[k].count;
            split->beside[p].give[k].count = split->counts[p * classes + k];
        }
    return status;
}

/* The sum of counts[n + 1], bricks by class. */
static uint64_t bricks_in(const gbees_engine *e, const uint32_t *counts)
{
    uint64_t bricks = 0;

    for (int k = 0; k < classes_of(e); k++)
        bricks += counts[k];
    return bricks;
}

/* The number of bricks that the partners have announced: the sum of all take_new. */
static uint64_t count_announced(const gbees_engine *e)
{
    uint64_t bricks = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        bricks += bricks_in(e, e->split->beside[p].take_new);
    return bricks;
}

/* Copies the keys of the bricks that were appended to a partner's lists to `at`, [..][n], class after class. */
static int pack_keys(gbees_engine *e, const ghost_lists *beside, CUdeviceptr at, gbees_error *error)
{
    int status = 0;

    for (int k = 0; k < classes_of(e) && !status; k++) {
        const brick_list *list = &beside->give[k];
        uint32_t count = beside->give_new[k];
        CUdeviceptr from = list->slots.at + (list->count - count) * sizeof(uint32_t);
        void *arguments[] = {&e->setup, &from, &count, &at};

        if (count)
            status = engine_start(e, KERNEL_KEYS, arguments, error);
        at += count * (size_t)e->problem->dimension * sizeof(int32_t);
    }
    return status;
}

/* Sends each partner the keys of the give_new bricks that were appended to its lists, and receives those of its
 * take_new bricks in split->announced, partner after partner. */
static int exchange_new_keys(gbees_engine *e, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const size_t size = (size_t)e->problem->dimension * sizeof(int32_t);
    uint64_t given = 0;
    int status = 0;

    for (int p = 0; p < ranks->partners; p++)
        given += bricks_in(e, split->beside[p].give_new);
    status = split_reserve(e, &split->keys, given * size, error);
    if (!status)
        status = split_reserve(e, &split->announced, count_announced(e) * size, error);
    CUdeviceptr out = split->keys.at, in = split->announced.at;
    for (int p = 0; p < ranks->partners && !status; p++) {
        const ghost_lists *beside = &split->beside[p];
        const int rank = ranks->partner[p].rank;

        status = pack_keys(e, beside, out, error);
        split->out[p] = (device_message){rank, bricks_in(e, beside->give_new) * size, out};
        split->in[p] = (device_message){rank, bricks_in(e, beside->take_new) * size, in};
        out += split->out[p].size;
        in += split->in[p].size;
    }
    return status ? status : split_exchange(e, ranks->partners, ranks->partners, error);
}

/* All ranks: announces the bricks that were appended to the lists `give` to the partners. Sets take_new to the
 * numbers of bricks that they announce, and split->announced to the keys of these. An error ends all ranks. */
static void exchange_new(gbees_engine *e)
{
    engine_ranks *ranks = e->ranks;
    gbees_error error;

    for (int p = 0; p < ranks->partners; p++) {
        ghost_lists *beside = &e->split->beside[p];
        const int rank = ranks->partner[p].rank;

        ranks->out[p] = (gbees_message){rank, sizeof beside->give_new, beside->give_new};
        ranks->in[p] = (gbees_message){rank, sizeof beside->take_new, beside->take_new};
    }
    ranks_exchange(e->ranks, ranks->out, ranks->partners, ranks->in, ranks->partners);
    if (exchange_new_keys(e, &error))
        ranks_abort(e->ranks, error.text);
}

/* Inserts the announced bricks as ghosts, and appends their slots to the lists `take`, in the order of the partners'
 * lists `give`. */
static int insert_ghosts(gbees_engine *e, gbees_error *error)
{
    CUdeviceptr keys = e->split->announced.at;
    int status = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k < classes_of(e) && !status; k++) {
            brick_list *list = &e->split->beside[p].take[k];
            const uint32_t count = e->split->beside[p].take_new[k];

            status = split_reserve(e, &list->slots, (list->count + count) * sizeof(uint32_t), error);
            if (!status)
                status = ranks_insert(e, keys, count, list->slots.at + list->count * sizeof(uint32_t), error);
            list->count += count;
            keys += count * (size_t)e->problem->dimension * sizeof(int32_t);
        }
    return status;
}

/* Reserves split->send and split->receive for the rows of the class that has the most ghosts. */
static int reserve_rows(gbees_engine *e, gbees_error *error)
{
    uint64_t most_out = 0, most_in = 0;

    for (int k = 0; k < classes_of(e); k++) {
        uint64_t out = 0, in = 0;

        for (int p = 0; p < e->ranks->partners; p++) {
            out += e->split->beside[p].give[k].count;
            in += e->split->beside[p].take[k].count;
        }
        most_out = out > most_out ? out : most_out;
        most_in = in > most_in ? in : most_in;
    }
    int status = split_reserve(e, &e->split->send, most_out * 64 * e->real_size, error);
    return status ? status : split_reserve(e, &e->split->receive, most_in * 64 * e->real_size, error);
}

/* Links the own bricks in slots from + 1 .. count and the ghosts that are not linked with their neighbours, and
 * computes their velocities. Fetches the state; sets state.linked and split->ghosts unless the heap is full. */
static int link_new(gbees_engine *e, uint32_t from, uint64_t step, gbees_error *error)
{
    uint32_t ghosts = e->split->ghosts;
    void *arguments[] = {&e->setup, &e->device_state.at, &from, &ghosts, &step};
    int status = engine_start(e, KERNEL_LINK, arguments, error);

    if (!status)
        status = reserve_rows(e, error);
    if (!status)
        status = engine_fetch_state(e, "sharing the grid", error);
    if (!status && !e->state->overflow) {
        e->state->linked = e->state->count;
        e->split->ghosts = e->state->ghosts;
    }
    return status;
}

/* ---- growth that the heap has no capacity for ---- */

/* Drops the bricks and ghosts that are not linked from the counts. ranks_renew() removes them from the hash table,
 * and growth inserts them again after it. */
static int take_back(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;

    s->count = s->linked;
    s->ghosts = e->split->ghosts;
    s->overflow = 0;
    return engine_send_state(e, "sharing the grid", error);
}

/* Whether a brick or a ghost did not get a slot. */
static int is_full(const gbees_engine *e)
{
    const gbees_state *s = e->state;

    return s->overflow || s->count >= e->setup.first_ghost ||
           (uint64_t)e->setup.first_ghost + s->ghosts > e->setup.grid.capacity;
}

/* Whether less than 1 / 16 of the slots for own bricks, or of those for ghosts, are free. */
static int is_nearly_full(const gbees_engine *e)
{
    const uint32_t for_ghosts = e->setup.grid.capacity - e->setup.first_ghost;

    return e->state->count > e->setup.first_ghost - e->setup.first_ghost / 16 ||
           e->state->ghosts > for_ghosts - for_ghosts / 16;
}

int ranks_spread(gbees_engine *e, uint64_t step, int *too_small, gbees_error *error)
{
    const uint32_t linked = e->state->linked;
    int full = is_full(e), status = full ? take_back(e, error) : 0;

    if (!status)
        status = ranks_exchange_requests(e, full, error);
    if (!status)
        status = select_new(e, linked, error);
    if (!status && is_full(e)) {
        full = 1;
        status = take_back(e, error);
    }
    if (status)
        ranks_abort(e->ranks, error->text);
    exchange_new(e);
    if (!full)
        status = insert_ghosts(e, error);
    if (!status && !full)
        status = link_new(e, linked, step, error);
    if (!status && !full && is_full(e)) {
        full = 1;
        status = take_back(e, error);
    }
    if (status)
        ranks_abort(e->ranks, error->text);
    *too_small = full || is_nearly_full(e);
    return 0;
}

/* ---- all ghosts anew ---- */

/* Makes the heap large enough for so many ghosts, and sets the first slot of a ghost. It gets capacity for a quarter
 * more own bricks and half as many ghosts more, or an eighth more of both, if memory is short. */
static int reserve_ghosts(gbees_engine *e, uint64_t ghosts, gbees_error *error)
{
    const uint64_t own = e->state->count, least = own + ghosts;
    const uint64_t most = least + own / 4 + ghosts / 2 + 2 * (uint64_t)SPARE_BRICKS;
    /* Messages, most of all where new cuts are chosen, need memory, too: rows of ghosts and of some own bricks. */
    const double messages = 64.0 * (double)e->real_size * ((double)own / 4 + (double)ghosts);
    const int has_most = most < e->setup.grid.capacity || engine_heap_fits(e, most, messages);
    int status = most < e->setup.grid.capacity ? 0 : engine_heap_reserve(e, has_most ? most : least, 0, error);

    if (status)
        return status;
    /* A third of what is free is for ghosts, or more, so that neither of the two is nearly full at once. */
    const uint64_t left = e->setup.grid.capacity - 1 - own - ghosts;
    const uint64_t part = (uint64_t)((double)left * (double)ghosts / (double)(own + ghosts + 1));
    e->setup.first_ghost = (uint32_t)(1 + own + left - (part > left / 3 ? part : left / 3));
    return 0;
}

/* Removes all ghosts from the hash table and from the links of own bricks. */
static int forget_ghosts(gbees_engine *e, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at};
    int status = engine_launch(e, KERNEL_REHASH, NULL, 0, error);

    return status ? status : engine_start(e, KERNEL_RELINK, arguments, error);
}

int ranks_inspect(gbees_engine *e, double time, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &time};

    if (!(e->problem->model->flags & GBEES_TIME_DEPENDENT))
        return 0;
    e->split->inspected = time;
    return split_run(e, KERNEL_INSPECT, arguments, "advancing the density", error);
}

int ranks_renew(gbees_engine *e, int is_clean, gbees_error *error)
{
    gbees_state *s = e->state;
    int status = 0;

    find_partners(e);
    s->ghosts = 0;
    s->linked = s->count;
    s->overflow = 0;
    if (!is_clean)
        status = forget_ghosts(e, error);
    if (!status)
        status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = select_new(e, 0, error);
    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    exchange_new(e);
    status = ranks_agree(e->ranks, reserve_ghosts(e, count_announced(e), error), error);
    if (status)
        return status;
    status = engine_send_state(e, "sharing the grid", error);
    if (!status)
        status = insert_ghosts(e, error);
    if (!status)
        status = link_new(e, s->count, s->run.steps, error);
    if (!status)
        status = ranks_inspect(e, e->split->inspected, error);
    return ranks_agree(e->ranks, status, error);
}

/* ---- rows ---- */

/* Copies the rows of the list's bricks to buffer[count][64], or from there if to_slots. */
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
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;
    const size_t row = 64 * e->real_size;
    CUdeviceptr out = split->send.at, in = split->receive.at;
    int status = 0;

    for (int p = 0; p < ranks->partners && !status; p++) {
        const brick_list *give = &split->beside[p].give[class], *take = &split->beside[p].take[class];
        const int rank = ranks->partner[p].rank;

        status = copy_rows(e, rows, give, out, 0, error);
        split->out[p] = (device_message){rank, give->count * row, out};
        split->in[p] = (device_message){rank, take->count * row, in};
        out += split->out[p].size;
        in += split->in[p].size;
    }
    if (!status)
        status = split_exchange(e, ranks->partners, ranks->partners, error);
    in = split->receive.at;
    for (int p = 0; p < ranks->partners && !status; p++) {
        status = copy_rows(e, rows, &split->beside[p].take[class], in, 1, error);
        in += split->beside[p].take[class].count * row;
    }
    if (status)
        ranks_abort(e->ranks, error->text);
    return status;
}

int ranks_refresh_classes(gbees_engine *e, int which, int last, gbees_error *error)
{
    int status = 0;

    for (int k = 0; k <= last && !status; k++)
        status = ranks_refresh(e, e->rows[which].at, k, error);
    return status;
}
