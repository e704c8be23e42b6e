/* ghosts.c - ghosts, copies of other ranks' bricks near a rank's box: makes and lists them, and copies rows to them;
 * see ranks.h. */
#include "common/bound.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the bricks of neighbouring ranks");
}

/* The box of this rank. */
static const partition_box *own_box(const engine_ranks *ranks)
{
    return &ranks->cuts.part[ranks->parallel->rank].box;
}

int ranks_owns(const gbees_engine *e, const int32_t *key)
{
    return partition_contains(e->g.shape.n, own_box(e->ranks), key);
}

/* How many bricks a key is outside of a box along an axis; 0: it is within. */
static int64_t distance(const partition_box *box, int axis, int32_t key)
{
    if (key < box->lo[axis])
        return (int64_t)box->lo[axis] - key;
    return key < box->hi[axis] ? 0 : (int64_t)key - box->hi[axis] + 1;
}

/* The class that a brick has as a ghost beside a box (rank_partner); -1: it is in the box, or too far away. */
static int class_of(const engine_ranks *ranks, const partition_box *box, const int32_t *key)
{
    const int n = ranks->cuts.n;
    int outside = 0, class = -1;

    for (int j = 0; j < n; j++) {
        const int64_t away = distance(box, j, key[j]);

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

/* Sets the partners: the ranks whose boxes are near, with empty lists. Returns 1 if there is no memory. */
static int find_partners(engine_ranks *ranks)
{
    const int own = ranks->parallel->rank, all = ranks->parallel->ranks;

    if (!ranks->partner && !(ranks->partner = calloc((size_t)all, sizeof *ranks->partner)))
        return 1;
    int count = 0;
    for (int r = 0; r < all; r++) {
        if (r == own || !partition_are_near(ranks->cuts.n, own_box(ranks), &ranks->cuts.part[r].box, ranks->layers))
            continue;
        rank_partner *partner = &ranks->partner[count++];
        partner->rank = r;
        partner->out.count = partner->in.count = 0;
        for (int k = 0; k <= GBEES_MAX_DIM; k++)
            partner->give[k].count = partner->take[k].count = 0;
    }
    for (int p = count; p < ranks->partners; p++) { /* partners of earlier cuts */
        for (int k = 0; k <= GBEES_MAX_DIM; k++) {
            free(ranks->partner[p].give[k].slot);
            free(ranks->partner[p].take[k].slot);
        }
        free(ranks->partner[p].out.key);
        free(ranks->partner[p].in.key);
        ranks->partner[p] = (rank_partner){0};
    }
    ranks->partners = count;
    return 0;
}

/* Appends a slot to a list. Returns 1 if there is no memory. */
static int add_slot(slot_list *list, uint32_t slot)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 64;
        uint32_t *more = realloc(list->slot, capacity * sizeof *more);

        if (!more)
            return 1;
        list->slot = more;
        list->capacity = capacity;
    }
    list->slot[list->count++] = slot;
    return 0;
}

/* Makes a list's memory large enough for `count` keys. Returns 1 if there is none. */
static int reserve_keys(key_list *list, uint64_t count)
{
    if (count > list->capacity) {
        const size_t capacity = (size_t)(2 * count + 64);
        int32_t(*more)[GBEES_MAX_DIM] = realloc(list->key, capacity * sizeof *more);

        if (!more)
            return 1;
        list->key = more;
        list->capacity = capacity;
    }
    return 0;
}

/* Appends a key to a list. Returns 1 if there is no memory. */
static int add_key(const gbees_engine *e, key_list *list, const int32_t *key)
{
    if (reserve_keys(list, list->count + 1))
        return 1;
    memset(list->key[list->count], 0, sizeof *list->key); /* all of it is sent */
    memcpy(list->key[list->count++], key, (size_t)e->g.shape.n * sizeof *key);
    return 0;
}

int ghosts_request(gbees_engine *e, const int32_t *key)
{
    engine_ranks *ranks = e->ranks;
    const int owner = partition_find(&ranks->cuts, key);

    for (int p = 0; p < ranks->partners; p++)
        if (ranks->partner[p].rank == owner)
            return add_key(e, &ranks->partner[p].out, key);
    return 1;
}

/* All ranks: sends the lists `out` to the partners, and receives their lists, `in`. `out` is empty after it. Ends all
 * ranks if there is no memory for a list that a partner sends. */
static void exchange_keys(gbees_engine *e)
{
    engine_ranks *ranks = e->ranks;
    const int count = ranks->partners;

    for (int p = 0; p < count; p++) {
        rank_partner *partner = &ranks->partner[p];

        ranks->out[p] = (gbees_message){partner->rank, sizeof partner->out.count, &partner->out.count};
        ranks->in[p] = (gbees_message){partner->rank, sizeof partner->in.count, &partner->in.count};
    }
    ranks_exchange(e, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++) {
        rank_partner *partner = &ranks->partner[p];

        if (reserve_keys(&partner->in, partner->in.count))
            exchange_abort(ranks->parallel, "out of memory for the bricks of neighbouring ranks");
        ranks->out[p] =
            (gbees_message){partner->rank, (size_t)partner->out.count * sizeof *partner->out.key, partner->out.key};
        ranks->in[p] =
            (gbees_message){partner->rank, (size_t)partner->in.count * sizeof *partner->in.key, partner->in.key};
    }
    ranks_exchange(e, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++)
        ranks->partner[p].out.count = 0;
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
static int list_ghosts(gbees_engine *e, rank_partner *partner, gbees_error *error)
{
    enum { ENTRY = 24, KEY = 12 }; /* keys ahead of which the table's entry and its slot's key are prefetched */
    const key_list *in = &partner->in;
    int status = 0;

    for (uint64_t k = 0; k < in->count && !status; k++) {
        const int class = class_of(e->ranks, own_box(e->ranks), in->key[k]);
        uint32_t slot = 0;

        if (k + ENTRY < in->count)
            grid_prefetch_entry(&e->g, grid_hash(&e->g, in->key[k + ENTRY]));
        if (k + KEY < in->count)
            grid_prefetch_key(&e->g, grid_hash(&e->g, in->key[k + KEY]));
        status = add_ghost(e, in->key[k], class, &slot, error);
        if (!status && add_slot(&partner->take[class], slot))
            status = no_memory(error);
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
            const int32_t *key = ranks->partner[p].in.key[k];

            status = grid_find(&e->g, key) ? 0
                                           : engine_insert_brick(e, key, grid_hash(&e->g, key),
                                                                 bound_cells(e->problem, &e->g.shape, key), error);
        }
    return status;
}

/* Appends an own brick to a partner's list `give`, and its key to `out`, if it is a ghost there. Returns 1 if there
 * is no memory. */
static int offer_brick(gbees_engine *e, rank_partner *partner, uint32_t slot)
{
    const int32_t *key = grid_key(&e->g, slot);
    const int class = class_of(e->ranks, &e->ranks->cuts.part[partner->rank].box, key);

    return class >= 0 && (add_key(e, &partner->out, key) || add_slot(&partner->give[class], slot));
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
            failed = !e->rows.ghost[e->g.used[k]] && offer_brick(e, &ranks->partner[p], e->g.used[k]);
    exchange_keys(e);
    if (!status && failed)
        status = no_memory(error);
    for (int p = 0; p < ranks->partners && !status; p++)
        status = list_ghosts(e, &ranks->partner[p], error);
    return status;
}

/* The bytes of all rows that ghosts_refresh() sends and receives at most. */
static size_t exchange_bytes(const gbees_engine *e)
{
    const engine_ranks *ranks = e->ranks;
    size_t rows = 0;

    for (int p = 0; p < ranks->partners; p++)
        for (int k = 0; k <= e->g.shape.n; k++)
            rows += ranks->partner[p].give[k].count + ranks->partner[p].take[k].count;
    return rows * (size_t)e->cells * e->method.real_size;
}

int ghosts_grow(gbees_engine *e, uint32_t from, int status, gbees_error *error)
{
    exchange_keys(e);
    if (!status)
        status = insert_requested(e, error);
    e->ranks->own += e->g.count - from; /* no ghosts are among them: make_ghosts() adds these behind them */
    status = make_ghosts(e, from, status, error);
    if (!status && !ranks_buffer(e->ranks, exchange_bytes(e) + 1))
        status = no_memory(error);
    return status;
}

int ghosts_renew(gbees_engine *e, uint32_t linked, gbees_error *error)
{
    const uint32_t before = e->g.count;
    int status = find_partners(e->ranks) ? no_memory(error) : 0;

    if (!status && !e->g.capacity) /* a rank that has never had a brick has the null brick all the same */
        status = grid_reserve(&e->g, 1, error);
    status = ranks_agree(e, status, error);
    if (status)
        return status;
    status = make_ghosts(e, 0, 0, error);
    if (!status && !ranks_buffer(e->ranks, exchange_bytes(e) + 1))
        status = no_memory(error);
    status = ranks_agree(e, status, error);
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

    for (int p = 0; p < ranks->partners; p++)
        for (int k = 0; k <= GBEES_MAX_DIM; k++)
            ranks->partner[p].give[k].count = ranks->partner[p].take[k].count = 0;
    /* Bricks are sorted by key: the lists of both sides have the same order. */
    for (uint32_t k = 0; k < e->g.count && !failed; k++) {
        const uint32_t slot = e->g.used[k];
        const int32_t *key = grid_key(&e->g, slot);
        const int ghost = e->rows.ghost[slot], owner = ghost ? partition_find(&ranks->cuts, key) : -1;

        for (int p = 0; p < ranks->partners && !failed; p++) {
            rank_partner *partner = &ranks->partner[p];
            const int class = ghost ? -1 : class_of(ranks, &ranks->cuts.part[partner->rank].box, key);

            if (class >= 0)
                failed = add_slot(&partner->give[class], slot);
            else if (partner->rank == owner)
                failed = add_slot(&partner->take[ghost - 1], slot);
        }
    }
    return ranks_agree(e, failed ? no_memory(error) : 0, error);
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

/* All ranks: copies rows of ghosts from their owners. A row has no more bytes than one of P, for which ranks->buffer
 * is large enough. */
static void refresh(gbees_engine *e, const row_range *range)
{
    engine_ranks *ranks = e->ranks;
    const int count = ranks->partners;
    char *at = ranks->buffer; /* reserved when the ghosts were made */

    for (int p = 0; p < count; p++) {
        char *begin = at;

        for (int k = range->first; k <= range->last; k++)
            at = copy_rows(range, &ranks->partner[p].give[k], 1, at);
        ranks->out[p] = (gbees_message){ranks->partner[p].rank, (size_t)(at - begin), begin};
    }
    for (int p = 0; p < count; p++) {
        size_t taken = 0;

        for (int k = range->first; k <= range->last; k++)
            taken += ranks->partner[p].take[k].count;
        ranks->in[p] = (gbees_message){ranks->partner[p].rank, taken * range->row, at};
        at += taken * range->row;
    }
    ranks_exchange(e, ranks->out, count, ranks->in, count);
    for (int p = 0; p < count; p++) {
        char *from = ranks->in[p].data;

        for (int k = range->first; k <= range->last; k++)
            from = copy_rows(range, &ranks->partner[p].take[k], 0, from);
    }
}

void ghosts_refresh(gbees_engine *e, void *rows, int axis)
{
    const size_t row = (size_t)e->cells * e->method.real_size;

    refresh(e, &(row_range){rows, row, axis < 0 ? 0 : axis, axis < 0 ? e->g.shape.n : axis});
}

void ghosts_keep(gbees_engine *e)
{
    refresh(e, &(row_range){e->rows.needed, sizeof *e->rows.needed, 0, e->g.shape.n});
}

uint32_t ghosts_pick_pencils(const gbees_engine *e, int axis, uint32_t *first, uint32_t count)
{
    uint32_t picked = 0;

    for (uint32_t k = 0; k < count; k++) {
        const unsigned char ghost = e->rows.ghost[first[k]];

        if (ghost == 0 || ghost == axis + 1)
            first[picked++] = first[k];
    }
    return picked;
}
