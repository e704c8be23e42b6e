/* balance.c - chooses the cuts between the ranks' boxes, and moves bricks to the ranks that own them; see ranks.h. */
#include "common/bound.h"
#include "common/initial_bricks.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* New cuts are chosen if the rank with most bricks has more than MOST_LOADED times the mean at a prune, or
 * MOST_LOADED_BETWEEN times between prunes, and that is more than WORSE times what the last cuts have reached: where
 * bricks are few, no cuts may give equal numbers. */
static const double MOST_LOADED = 1.02, MOST_LOADED_BETWEEN = 1.08, WORSE = 1.02;

/* The keys by which cuts are chosen: those of the initial density, which all ranks have; of a checkpoint, which rank
 * 0 has; or those of each rank's bricks. */
typedef struct key_source {
    gbees_engine *e;
    initial_bricks *initial; /* NULL: another source */
    const brick_rows *saved; /* NULL: another source */
    uint64_t count, next;    /* keys of this rank; the one to be taken next */
} key_source;

/* Has take_key() begin with the first key. */
static void rewind_keys(void *source)
{
    key_source *from = source;

    from->next = 0;
    from->count = from->initial ? from->initial->count : from->saved ? from->saved->count : from->e->g.count;
    if (from->initial)
        initial_bricks_rewind(from->initial);
}

/* Sets key[n] to the next key; returns 0 if there is none. */
static int take_key(void *source, int32_t *key)
{
    key_source *from = source;
    const gbees_engine *e = from->e;
    const size_t n = (size_t)e->g.shape.n;

    while (!from->initial && !from->saved && from->next < from->count && e->rows.ghost[e->g.used[from->next]])
        from->next++;
    if (from->next == from->count)
        return 0;
    if (from->initial)
        initial_bricks_take(from->initial, key);
    else if (from->saved)
        memcpy(key, from->saved->key + from->next * n, n * sizeof *key);
    else
        memcpy(key, grid_key(&e->g, e->g.used[from->next]), n * sizeof *key);
    from->next++;
    return 1;
}

/* All ranks: chooses new cuts. */
static int choose_cuts(key_source *from, gbees_error *error)
{
    const key_stream keys = {from, rewind_keys, take_key, from->initial != NULL};

    return ranks_choose_cuts(from->e->ranks, &keys, error);
}

/* Adds an own brick, for which memory is reserved; `inside`: its cells within the bound. Returns its slot. */
static uint32_t add_own(gbees_engine *e, const int32_t *key, uint64_t inside)
{
    const uint32_t slot = grid_add(&e->g, key, grid_hash(&e->g, key));

    engine_set_inside(e, slot, inside);
    e->rows.ghost[slot] = 0;
    return slot;
}

int balance_start(gbees_engine *e, initial_bricks *bricks, gbees_error *error)
{
    key_source from = {.e = e, .initial = bricks};

    return e->ranks ? choose_cuts(&from, error) : 0;
}

/* Bytes of a packed brick: its key, its active cells, the expanded ones (engine_rows), and P. */
static size_t brick_bytes(const gbees_engine *e)
{
    return sizeof(int32_t[GBEES_MAX_DIM]) + 2 * sizeof(uint64_t) + (size_t)e->cells * e->method.real_size;
}

/* Packs a brick; returns the place behind it. */
static char *pack_brick(const gbees_engine *e, const brick_rows *rows, uint32_t slot, char *to)
{
    const size_t n = (size_t)e->g.shape.n, row = (size_t)e->cells * e->method.real_size;

    memset(to, 0, sizeof(int32_t[GBEES_MAX_DIM]));
    memcpy(to, rows->key + slot * n, n * sizeof(int32_t));
    to += sizeof(int32_t[GBEES_MAX_DIM]);
    memcpy(to, &rows->active[slot], sizeof(uint64_t));
    memcpy(to + sizeof(uint64_t), &rows->expanded[slot], sizeof(uint64_t));
    memcpy(to + 2 * sizeof(uint64_t), (const char *)rows->p + slot * row, row);
    return to + 2 * sizeof(uint64_t) + row;
}

/* Takes a packed brick: its ghost becomes an own brick, or it is added to the grid, for which memory is reserved, and
 * is not linked. */
static void unpack_brick(gbees_engine *e, const char *from)
{
    const size_t row = (size_t)e->cells * e->method.real_size;
    int32_t key[GBEES_MAX_DIM];

    memcpy(key, from, sizeof key);
    from += sizeof key;
    uint32_t slot = grid_find(&e->g, key);
    if (!slot)
        slot = add_own(e, key, bound_cells(e->problem, &e->g.shape, key));
    e->rows.ghost[slot] = 0;
    engine_clear_brick(e, slot);
    memcpy(&e->rows.active[slot], from, sizeof(uint64_t));
    memcpy(&e->rows.expanded[slot], from + sizeof(uint64_t), sizeof(uint64_t));
    memcpy((char *)e->rows.p + slot * row, from + 2 * sizeof(uint64_t), row);
}

/* Used bricks on their way, packed rank after rank. */
typedef struct departure {
    int *owner;     /* [used bricks]: the ranks that they go to; -1: they stay */
    uint64_t *sent; /* [ranks]: how many go to each */
    char *message;
} departure;

/* Finds and packs the own bricks that other ranks own. */
static int pack_leaving(const gbees_engine *e, departure *d, gbees_error *error)
{
    const brick_rows rows = {e->g.count, e->g.key, e->rows.active, e->rows.expanded, e->rows.p};
    uint64_t leaving = 0;

    for (uint32_t k = 0; k < e->g.count; k++) {
        const uint32_t slot = e->g.used[k];
        const int owner = partition_find(&e->ranks->cuts, grid_key(&e->g, slot));
        const int leaves = owner != e->ranks->parallel->rank && !e->rows.ghost[slot];

        d->owner[k] = leaves ? owner : -1;
        d->sent[owner] += (uint64_t)leaves;
        leaving += (uint64_t)leaves;
    }
    char *at = d->message = malloc((size_t)leaving * brick_bytes(e) + 1);
    for (int r = 0; r < e->ranks->parallel->ranks && at; r++)
        for (uint32_t k = 0; k < e->g.count && d->sent[r]; k++)
            if (d->owner[k] == r)
                at = pack_brick(e, &rows, e->g.used[k], at);
    return at ? 0 : ranks_no_memory(error);
}

/* Removes the bricks that are neither in this rank's box, nor ghosts beside it. An own brick that has left and stays
 * near becomes a ghost. */
static int keep_near(gbees_engine *e, gbees_error *error)
{
    unsigned char *keep = engine_buffer(e, e->g.count + 1u);
    uint32_t dropped = 0;

    for (uint32_t k = 0; k < e->g.count && keep; k++) {
        const uint32_t slot = e->g.used[k];
        const int32_t *key = grid_key(&e->g, slot);
        const int is_own = ranks_own(e->ranks, key), class = is_own ? -1 : ghosts_class(e, key);

        keep[k] = is_own || class >= 0;
        dropped += !keep[k];
        if (class >= 0) {
            e->rows.ghost[slot] = (unsigned char)(class + 1);
            e->rows.active[slot] = 0;
        }
    }
    if (!keep)
        return ranks_no_memory(error);
    return dropped ? grid_compact(&e->g, keep, error) : 0;
}

/* All ranks: exchanges the packed bricks, and takes those that arrive. */
static int exchange_bricks(gbees_engine *e, const departure *d, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    const int all = ranks->parallel->ranks;
    uint64_t *arriving = calloc((size_t)all, sizeof *arriving), count;
    char *out = d->message;
    int status = ranks_agree(ranks, arriving ? 0 : ranks_no_memory(error), error);

    if (status) {
        free(arriving);
        return status;
    }
    count = ranks_count_moves(ranks, d->sent, arriving);
    char *arrived = malloc((size_t)count * brick_bytes(e) + 1), *in = arrived;
    status = arrived ? grid_reserve(&e->g, count, error) : ranks_no_memory(error);
    status = ranks_agree(ranks, status, error);
    for (int r = 0; r < all && !status; r++) {
        ranks->out[r] = (gbees_message){r, d->sent[r] * brick_bytes(e), out};
        ranks->in[r] = (gbees_message){r, arriving[r] * brick_bytes(e), in};
        out += ranks->out[r].size;
        in += ranks->in[r].size;
    }
    if (!status)
        ranks_exchange(ranks, ranks->out, all, ranks->in, all);
    for (uint64_t k = 0; k < count && !status; k++)
        unpack_brick(e, arrived + k * brick_bytes(e));
    free(arrived);
    free(arriving);
    return status;
}

/* All ranks: moves the bricks to the ranks in whose boxes they are. Ghosts beside the new boxes stay. Sets *stayed to
 * the number of used bricks that were there before: those behind them are not linked. */
static int migrate(gbees_engine *e, uint32_t *stayed, gbees_error *error)
{
    departure d = {malloc((e->g.count + 1u) * sizeof *d.owner),
                   calloc((size_t)e->ranks->parallel->ranks, sizeof *d.sent), NULL};
    int status = d.owner && d.sent ? pack_leaving(e, &d, error) : ranks_no_memory(error);

    if (!status)
        status = keep_near(e, error);
    status = ranks_agree(e->ranks, status, error);
    *stayed = e->g.count;
    if (!status)
        status = exchange_bricks(e, &d, error);
    free(d.owner);
    free(d.sent);
    free(d.message);
    return status;
}

/* All ranks: counts the bricks of all; returns ranks_load(). */
static double count_bricks(gbees_engine *e)
{
    uint64_t own = 0;

    for (uint32_t k = 0; k < e->g.count; k++)
        own += !e->rows.ghost[e->g.used[k]];
    return ranks_count(e->ranks, own);
}

/* ---- a checkpoint's bricks ---- */

/* All ranks: takes the own ones of `count` packed bricks. */
static int take_own(gbees_engine *e, const char *packed, uint64_t count, gbees_error *error)
{
    int status = 0;

    for (uint64_t k = 0; k < count && !status; k++, packed += brick_bytes(e)) {
        int32_t key[GBEES_MAX_DIM];

        memcpy(key, packed, sizeof key);
        if (!ranks_own(e->ranks, key))
            continue;
        status = grid_reserve(&e->g, 1, error);
        if (!status)
            unpack_brick(e, packed);
    }
    return status;
}

/* All ranks: rank 0 tells all the bricks of a checkpoint, slab after slab, so that no message is large. */
static int deal_all(gbees_engine *e, const brick_rows *bricks, gbees_error *error)
{
    enum { SLAB = 1 << 14 }; /* bricks that are told at once, at most */
    const gbees_parallel *p = e->ranks->parallel;
    uint64_t count = bricks->count;
    char *message = malloc(SLAB * brick_bytes(e));
    int status = ranks_agree(e->ranks, message ? 0 : ranks_no_memory(error), error);

    if (status) {
        free(message);
        return status;
    }
    p->broadcast(p->context, &count, sizeof count);
    for (uint64_t from = 0, some; from < count; from += some) { /* also after an error: the others wait */
        char *at = message;

        some = count - from < SLAB ? count - from : SLAB;
        for (uint64_t k = from; k < from + some && p->rank == 0; k++)
            at = pack_brick(e, bricks, (uint32_t)k, at);
        p->broadcast(p->context, message, (size_t)some * brick_bytes(e));
        status = status ? status : take_own(e, message, some, error);
    }
    free(message);
    return ranks_agree(e->ranks, status, error);
}

int balance_deal(gbees_engine *e, const brick_rows *bricks, gbees_error *error)
{
    key_source from = {.e = e, .saved = bricks};
    int status = choose_cuts(&from, error);

    if (!status)
        status = deal_all(e, bricks, error);
    if (status)
        return status;
    (void)count_bricks(e);
    status = ghosts_renew(e, 0, error);
    return status ? status : ranks_agree(e->ranks, engine_inspect(e, 0, e->inspected, error), error);
}

/* ---- while the density moves ---- */

/* All ranks: chooses new cuts, moves bricks to their owners, and makes ghosts. */
static int cut_anew(gbees_engine *e, gbees_error *error)
{
    key_source from = {.e = e};
    uint32_t stayed = 0;
    int status = choose_cuts(&from, error);

    if (!status)
        status = migrate(e, &stayed, error);
    e->ranks->reached = count_bricks(e);
    if (!status)
        status = ghosts_renew(e, stayed, error);
    return status ? status : ranks_agree(e->ranks, engine_inspect(e, stayed, e->inspected, error), error);
}

int balance_renew(gbees_engine *e, gbees_error *error)
{
    if (!e->ranks)
        return 0;
    speeds_agree(&e->ranks->speeds);
    const double load = count_bricks(e);

    return load > MOST_LOADED && load > WORSE * e->ranks->reached ? cut_anew(e, error) : ghosts_relist(e, error);
}

int balance_step(gbees_engine *e, gbees_error *error)
{
    const double load = e->ranks ? ranks_load(e->ranks) : 0;

    return load > MOST_LOADED_BETWEEN && load > WORSE * e->ranks->reached ? cut_anew(e, error) : 0;
}
