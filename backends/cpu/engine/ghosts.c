/* ghosts.c - ghosts, copies of other ranks' bricks near a rank's box: makes and lists them, and copies rows to them;
 * see ranks.h. */
#include "base/array.h"
#include "common/bound.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* The box of this rank. */
static const partition_box *own_box(const engine_ranks *ranks)
{
    return &ranks->cuts.part[ranks->parallel->rank].box;
}

/* The class that a brick has as a ghost beside a box (rank_partner); -1: it is in the box, or too far away. */
static int class_of(const engine_ranks *ranks, const partition_box *box, const int32_t *key)
{
    const int n = ranks->cuts.n;
    int outside = 0, class = -1;

    for (int j = 0; j < n; j++) {
        const int64_t away = gbees_key_outside(key[j], box->lo[j], box->hi[j]);

        if (away > ranks->layers[j])
            return -1;
        class = away ? j : class;
        outside += away > 0;
    }
    return outside > 1 ? n : class;
}

int ghosts_class(const gbees_engine *e, const int32_t *key)
{
    return class_of(e->ranks, own_box(e->ranks), key);
}

/* Empties the lists of all partners. */
static void clear_lists(gbees_engine *e)
{
    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k <= GBEES_MAX_DIM; k++)
            e->ghosts->beside[p].give[k].count = e->ghosts->beside[p].take[k].count = 0;
}

/* Appends a slot to a list. Returns 1 if there is no memory. */
static int add_slot(slot_list *list, uint32_t slot)
{
    if (gbees_array_grow(&list->slot, list->count, &list->capacity, sizeof *list->slot))
        return 1;
    list->slot[list->count++] = slot;
    return 0;
}

/* Finds a ghost of a class, or adds it, and sets *slot. */
static int add_ghost(gbees_engine *e, const int32_t *key, int class, uint32_t *slot, gbees_error *error)
{
    const uint64_t hash = grid_hash(&e->g, key);

    *slot = grid_find_hashed(&e->g, key, hash);
    int status = *slot ? 0 : grid_reserve(&e->g, 1, error);

    if (status || *slot)
        return status;
    *slot = grid_add(&e->g, key, hash);
    engine_set_inside(e, *slot, bound_cells(e->problem, &e->g.shape, key));
    e->rows.ghost[*slot] = (unsigned char)(class + 1);
    return 0;
}

/* Lists the ghosts of the bricks that a partner has announced, and inserts those that are not there. */
static int list_ghosts(gbees_engine *e, int p, gbees_error *error)
{
    enum { ENTRY = 24, KEY = 12 }; /* keys ahead of which the table's entry and its slot's key are prefetched */
    const key_list *in = &e->ranks->partner[p].in;
    const size_t n = (size_t)e->g.shape.n;
    int status = 0;

    for (uint64_t k = 0; k < in->count && !status; k++) {
        const int class = ghosts_class(e, in->key + k * n);
        uint32_t slot = 0;

        if (k + ENTRY < in->count)
            grid_prefetch_entry(&e->g, grid_hash(&e->g, in->key + (k + ENTRY) * n));
        if (k + KEY < in->count)
            grid_prefetch_key(&e->g, grid_hash(&e->g, in->key + (k + KEY) * n));
        status = add_ghost(e, in->key + k * n, class, &slot, error);
        if (!status && add_slot(&e->ghosts->beside[p].take[class], slot))
            status = ranks_no_memory(error);
    }
    return status;
}

/* Inserts the own bricks that partners have requested (`in`), unless they are there. */
static int insert_requested(gbees_engine *e, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    int status = 0;

    for (int p = 0; p < ranks->partners; p++)
        for (uint64_t k = 0; k < ranks->partner[p].in.count && !status; k++) {
            const int32_t *key = ranks->partner[p].in.key + k * (size_t)ranks->n;

            status = grid_find(&e->g, key) ? 0
                                           : engine_insert_brick(e, key, grid_hash(&e->g, key),
                                                                 bound_cells(e->problem, &e->g.shape, key), error);
        }
    return status;
}

/* Appends an own brick to a partner's list `give`, and its key to `out`, if it is a ghost there. Returns 1 if there
 * is no memory. */
static int offer_brick(gbees_engine *e, int p, uint32_t slot)
{
    rank_partner *partner = &e->ranks->partner[p];
    const int32_t *key = grid_key(&e->g, slot);
    const int class = class_of(e->ranks, &e->ranks->cuts.part[partner->rank].box, key);

    return class >= 0 && (ranks_add_key(e->ranks, partner, key) || add_slot(&e->ghosts->beside[p].give[class], slot));
}

/* All ranks: announces own bricks, used bricks `from` and later, to the partners whose ghosts they are, and lists the
 * ghosts of the bricks that these announce; it inserts those that are not there. `status`: of this rank so far, as is
 * the result. */
static int make_ghosts(gbees_engine *e, uint32_t from, int status, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    const uint32_t end = e->g.count;
    int failed = 0;

    for (int p = 0; p < ranks->partners; p++)
        for (uint32_t k = from; k < end && !failed; k++)
            failed = !e->rows.ghost[e->g.used[k]] && offer_brick(e, p, e->g.used[k]);
    ranks_exchange_keys(e->ranks);
    if (!status && failed)
        status = ranks_no_memory(error);
    for (int p = 0; p < ranks->partners && !status; p++)
        status = list_ghosts(e, p, error);
    return status;
}

/* Memory for the data of messages, `size` bytes, valid until the next call; NULL: out of memory. */
static void *ghosts_buffer(gbees_engine *e, size_t size)
{
    engine_ghosts *g = e->ghosts;

    if (g->buffer_size < size) {
        free(g->buffer);
        g->buffer = malloc(size + size / 4);
        g->buffer_size = g->buffer ? size + size / 4 : 0;
    }
    return g->buffer;
}

/* The bytes of all rows that ghosts_refresh() sends and receives at most. */
static size_t exchange_bytes(const gbees_engine *e)
{
    size_t rows = 0;

    for (int p = 0; p < e->ranks->partners; p++)
        for (int k = 0; k <= e->g.shape.n; k++)
            rows += e->ghosts->beside[p].give[k].count + e->ghosts->beside[p].take[k].count;
    return rows * (size_t)e->cells * e->method.real_size;
}

int ghosts_grow(gbees_engine *e, uint32_t from, int status, gbees_error *error)
{
    if (!e->ranks)
        return status;
    ranks_exchange_keys(e->ranks);
    if (!status)
        status = insert_requested(e, error);
    e->ranks->own += e->g.count - from; /* no ghosts are among them: make_ghosts() adds these behind them */
    status = make_ghosts(e, from, status, error);
    if (!status && !ghosts_buffer(e, exchange_bytes(e) + 1))
        status = ranks_no_memory(error);
    return status;
}

int ghosts_renew(gbees_engine *e, uint32_t linked, gbees_error *error)
{
    const uint32_t before = e->g.count;

    if (!e->ranks) {
        grid_link(&e->g, linked);
        return 0;
    }
    /* A rank that has never had a brick has the null brick all the same. */
    int status = e->g.capacity ? 0 : grid_reserve(&e->g, 1, error);

    ranks_find_partners(e->ranks);
    clear_lists(e);
    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    status = make_ghosts(e, 0, 0, error);
    if (!status && !ghosts_buffer(e, exchange_bytes(e) + 1))
        status = ranks_no_memory(error);
    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    grid_link(&e->g, linked);
    for (uint32_t k = before; k < e->g.count; k++)
        engine_clear_brick(e, e->g.used[k]);
    return 0;
}

int ghosts_relist(gbees_engine *e, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    int failed = 0;

    clear_lists(e);
    /* Bricks are sorted by key: the lists of both sides have the same order. */
    for (uint32_t k = 0; k < e->g.count && !failed; k++) {
        const uint32_t slot = e->g.used[k];
        const int32_t *key = grid_key(&e->g, slot);
        const int ghost = e->rows.ghost[slot], owner = ghost ? partition_find(&ranks->cuts, key) : -1;

        for (int p = 0; p < ranks->partners && !failed; p++) {
            const int rank = ranks->partner[p].rank;
            const int class = ghost ? -1 : class_of(ranks, &ranks->cuts.part[rank].box, key);

            if (class >= 0)
                failed = add_slot(&e->ghosts->beside[p].give[class], slot);
            else if (rank == owner)
                failed = add_slot(&e->ghosts->beside[p].take[ghost - 1], slot);
        }
    }
    return ranks_agree(e->ranks, failed ? ranks_no_memory(error) : 0, error);
}

/* Which rows are copied: of `row` bytes each, of the ghosts of classes first .. last. */
typedef struct row_range {
    void *rows;
    size_t row;
    int first, last;
} row_range;

/* Copies the rows of a list's bricks to a message, or from it to the rows; returns the place behind them in the
 * message. */
static char *copy_rows(const row_range *range, const slot_list *list, int from_slots, char *message)
{
    for (size_t k = 0; k < list->count; k++, message += range->row) {
        char *p = (char *)range->rows + list->slot[k] * range->row;

        memcpy(from_slots ? message : p, from_slots ? p : message, range->row);
    }
    return message;
}

/* All ranks: copies rows of ghosts from their owners. A row has no more bytes than one of P, for which ghosts->buffer
 * is large enough. */
static void refresh(gbees_engine *e, const row_range *range)
{
    engine_ranks *ranks = e->ranks;
    const int count = ranks->partners;
    char *at = e->ghosts->buffer; /* reserved when the ghosts were made */

    for (int p = 0; p < count; p++) {
        char *begin = at;

        for (int k = range->first; k <= range->last; k++)
            at = copy_rows(range, &e->ghosts->beside[p].give[k], 1, at);
        ranks->out[p] = (gbees_message){ranks->partner[p].rank, (size_t)(at - begin), begin};
    }
    for (int p = 0; p < count; p++) {
        size_t taken = 0;

        for (int k = range->first; k <= range->last; k++)
            taken += e->ghosts->beside[p].take[k].count;
        ranks->in[p] = (gbees_message){ranks->partner[p].rank, taken * range->row, at};
        at += taken * range->row;
    }
    ranks_exchange(e->ranks, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++) {
        char *from = ranks->in[p].data;

        for (int k = range->first; k <= range->last; k++)
            from = copy_rows(range, &e->ghosts->beside[p].take[k], 0, from);
    }
}

void ghosts_refresh(gbees_engine *e, void *rows, int axis)
{
    const size_t row = (size_t)e->cells * e->method.real_size;

    if (e->ranks)
        refresh(e, &(row_range){rows, row, axis < 0 ? 0 : axis, axis < 0 ? e->g.shape.n : axis});
}

void ghosts_keep(gbees_engine *e)
{
    if (e->ranks)
        refresh(e, &(row_range){e->rows.needed, sizeof *e->rows.needed, 0, e->g.shape.n});
}

uint32_t ghosts_pick_pencils(const gbees_engine *e, int axis, uint32_t *first, uint32_t count)
{
    uint32_t picked = 0;

    if (!e->ranks)
        return count;
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char ghost = e->rows.ghost[first[k]];

        if (ghost == 0 || ghost == axis + 1)
            first[picked++] = first[k];
    }
    return picked;
}
