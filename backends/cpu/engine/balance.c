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

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while bricks were shared among ranks");
}

/* The keys by which cuts are chosen: those of the initial density, which all ranks have; of a checkpoint, which rank
 * 0 has; or those of each rank's bricks. */
typedef struct key_source {
    initial_bricks *initial;   /* NULL: another source */
    const saved_bricks *saved; /* NULL: another source */
    uint64_t count, next;      /* keys of this rank; the one to be taken next */
} key_source;

/* Has take_key() begin with the first key. */
static void rewind_keys(gbees_engine *e, key_source *from)
{
    from->next = 0;
    from->count = from->initial ? from->initial->count : from->saved ? from->saved->count : e->g.count;
    if (from->initial)
        initial_bricks_rewind(from->initial);
}

/* Sets key[n] to the next key; returns 0 if there is none. */
static int take_key(gbees_engine *e, key_source *from, int32_t *key)
{
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

/* All ranks: sets lo[n] and hi[n] to the least and the largest components of the keys of all ranks. */
static void find_range(gbees_engine *e, key_source *from, int32_t *lo, int32_t *hi)
{
    const int n = e->g.shape.n;
    double ends[2 * GBEES_MAX_DIM];
    int32_t key[GBEES_MAX_DIM];

    for (int j = 0; j < 2 * n; j++)
        ends[j] = -(double)GRID_KEY_LIMIT;
    rewind_keys(e, from);
    while (take_key(e, from, key))
        for (int j = 0; j < n; j++) {
            ends[2 * j] = -key[j] > ends[2 * j] ? -key[j] : ends[2 * j];
            ends[2 * j + 1] = key[j] > ends[2 * j + 1] ? key[j] : ends[2 * j + 1];
        }
    ranks_most(e, ends, (size_t)(2 * n));
    for (int j = 0; j < n; j++) {
        lo[j] = (int32_t)-ends[2 * j];
        hi[j] = (int32_t)ends[2 * j + 1];
    }
}

/* All ranks: sets ranks->cuts to new cuts, by the keys of all ranks. The old ones stay after an error. */
static int choose_cuts(gbees_engine *e, key_source *from, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    const int n = e->g.shape.n, all = ranks->parallel->ranks;
    const size_t entries = (size_t)all * (size_t)n * PARTITION_BINS;
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM], key[GBEES_MAX_DIM];
    int64_t *counts = malloc(entries * sizeof *counts);
    partition cuts = {0};
    partition_bins bins;
    int status =
        ranks_agree(e, !counts || partition_create(&cuts, n, all, ranks->layers) ? no_memory(error) : 0, error);

    if (!status)
        find_range(e, from, lo, hi);
    if (!status)
        partition_set_bins(&cuts, lo, hi, &bins);
    while (!status && partition_is_open(&cuts)) {
        memset(counts, 0, entries * sizeof *counts);
        rewind_keys(e, from);
        while (take_key(e, from, key))
            partition_count(&cuts, &bins, key, counts);
        if (!from->initial) /* these all ranks have */
            ranks_sum(e, counts, (size_t)cuts.parts * (size_t)n * PARTITION_BINS);
        partition_cut(&cuts, &bins, counts, ranks->speeds.weight);
    }
    free(counts);
    if (status) {
        partition_destroy(&cuts);
        return status;
    }
    partition_destroy(&ranks->cuts);
    ranks->cuts = cuts;
    return 0;
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
    key_source from = {.initial = bricks};
    int32_t key[GBEES_MAX_DIM];
    uint64_t own = 0;
    int status = choose_cuts(e, &from, error);

    if (!status) {
        rewind_keys(e, &from);
        while (take_key(e, &from, key))
            own += (uint64_t)ranks_owns(e, key);
        status = grid_reserve(&e->g, own, error);
        rewind_keys(e, &from);
        while (!status && take_key(e, &from, key)) {
            const uint64_t inside = ranks_owns(e, key) ? bound_cells(e->problem, &e->g.shape, key) : 0;

            if (inside)
                add_own(e, key, inside);
        }
        status = ranks_agree(e, status, error);
    }
    if (status)
        return status;
    e->g.sorted = e->g.count;
    return ghosts_renew(e, 0, error);
}

/* Bytes of a packed brick: its key, its active cells, the expanded ones (engine_rows), and P. */
static size_t brick_bytes(const gbees_engine *e)
{
    return sizeof(int32_t[GBEES_MAX_DIM]) + 2 * sizeof(uint64_t) + (size_t)e->cells * e->method.real_size;
}

/* Packs a brick. */
static void pack_brick(gbees_engine *e, uint32_t slot, char *to)
{
    const size_t row = (size_t)e->cells * e->method.real_size;

    memset(to, 0, sizeof(int32_t[GBEES_MAX_DIM]));
    memcpy(to, grid_key(&e->g, slot), (size_t)e->g.shape.n * sizeof(int32_t));
    to += sizeof(int32_t[GBEES_MAX_DIM]);
    memcpy(to, &e->rows.active[slot], sizeof(uint64_t));
    memcpy(to + sizeof(uint64_t), &e->rows.expanded[slot], sizeof(uint64_t));
    memcpy(to + 2 * sizeof(uint64_t), (char *)e->rows.p + slot * row, row);
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

/* Packs the own bricks that other ranks own by the new cuts in *message, rank after rank. owner[]: of the used
 * bricks. Sets sent[ranks], zeros at first, to their numbers. The caller frees *message. */
static int pack_leaving(gbees_engine *e, const int *owner, uint64_t *sent, char **message, gbees_error *error)
{
    const int all = e->ranks->parallel->ranks, own = e->ranks->parallel->rank;
    uint64_t leaving = 0;

    for (uint32_t k = 0; k < e->g.count; k++) {
        const int leaves = owner[k] != own && !e->rows.ghost[e->g.used[k]];

        sent[owner[k]] += (uint64_t)leaves;
        leaving += (uint64_t)leaves;
    }
    *message = malloc((size_t)leaving * brick_bytes(e) + 1);
    char *at = *message;
    for (int r = 0; r < all && at; r++)
        for (uint32_t k = 0; k < e->g.count && sent[r]; k++)
            if (owner[k] == r && !e->rows.ghost[e->g.used[k]]) {
                pack_brick(e, e->g.used[k], at);
                at += brick_bytes(e);
            }
    return at ? 0 : no_memory(error);
}

/* Removes the bricks that are neither in this rank's box, nor ghosts beside it. An own brick that has left and stays
 * near becomes a ghost. */
static int keep_near(gbees_engine *e, const int *owner, gbees_error *error)
{
    unsigned char *keep = engine_buffer(e, e->g.count + 1u);
    uint32_t dropped = 0;

    for (uint32_t k = 0; k < e->g.count && keep; k++) {
        const uint32_t slot = e->g.used[k];
        const int class = owner[k] == e->ranks->parallel->rank ? -1 : ghosts_class(e, grid_key(&e->g, slot));

        keep[k] = owner[k] == e->ranks->parallel->rank || class >= 0;
        dropped += !keep[k];
        if (class >= 0) {
            e->rows.ghost[slot] = (unsigned char)(class + 1);
            e->rows.active[slot] = 0;
        }
    }
    if (!keep)
        return no_memory(error);
    return dropped ? grid_compact(&e->g, keep, error) : 0;
}

/* Packs the bricks that leave (pack_leaving()), and removes those that have no place here. */
static int send_off(gbees_engine *e, uint64_t *sent, char **message, gbees_error *error)
{
    int *owner = malloc((e->g.count + 1u) * sizeof *owner);
    int status = owner ? 0 : no_memory(error);

    for (uint32_t k = 0; k < e->g.count && owner; k++)
        owner[k] = partition_find(&e->ranks->cuts, grid_key(&e->g, e->g.used[k]));
    if (!status)
        status = pack_leaving(e, owner, sent, message, error);
    if (!status)
        status = keep_near(e, owner, error);
    free(owner);
    return status;
}

/* All ranks: exchanges the packed bricks, sent[ranks] of them in `message`, and takes those that arrive. */
static int move_bricks(gbees_engine *e, const uint64_t *sent, char *message, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    const gbees_parallel *p = ranks->parallel;
    const size_t all = (size_t)p->ranks;
    uint64_t *counts = malloc(all * all * sizeof *counts), arriving = 0;
    int status = ranks_agree(e, counts ? 0 : no_memory(error), error);

    if (status) {
        free(counts);
        return status;
    }
    p->gather(p->context, sent, all * sizeof *sent, counts);
    for (size_t r = 0; r < all; r++)
        arriving += counts[r * all + (size_t)p->rank];
    char *arrived = malloc((size_t)arriving * brick_bytes(e) + 1), *to = arrived;
    status = arrived ? grid_reserve(&e->g, arriving, error) : no_memory(error);
    status = ranks_agree(e, status, error);
    for (int r = 0; r < p->ranks && !status; r++) {
        const size_t in = counts[(size_t)r * all + (size_t)p->rank] * brick_bytes(e), out = sent[r] * brick_bytes(e);

        ranks->out[r] = (gbees_message){r, out, message};
        ranks->in[r] = (gbees_message){r, in, to};
        message += out;
        to += in;
    }
    if (!status)
        ranks_exchange(e, ranks->out, p->ranks, ranks->in, p->ranks);
    for (uint64_t k = 0; k < arriving && !status; k++)
        unpack_brick(e, arrived + k * brick_bytes(e));
    free(arrived);
    free(counts);
    return status;
}

/* All ranks: moves the bricks to the ranks in whose boxes they are. Ghosts beside the new boxes stay. Sets *stayed to
 * the number of used bricks that were there before: those behind them are not linked. */
static int migrate(gbees_engine *e, uint32_t *stayed, gbees_error *error)
{
    uint64_t *sent = calloc((size_t)e->ranks->parallel->ranks, sizeof *sent);
    char *message = NULL;
    int status = ranks_agree(e, sent ? send_off(e, sent, &message, error) : no_memory(error), error);

    *stayed = e->g.count;
    if (!status)
        status = move_bricks(e, sent, message, error);
    free(sent);
    free(message);
    return status;
}

/* All ranks: counts the bricks of all; sets ranks->own, bricks and busiest, and returns busiest over the mean: the
 * time of the slowest rank over that of an even division. */
static double count_bricks(gbees_engine *e)
{
    uint64_t own = 0;

    for (uint32_t k = 0; k < e->g.count; k++)
        own += !e->rows.ghost[e->g.used[k]];
    int64_t bricks = (int64_t)own;
    double most = speeds_load(&e->ranks->speeds, (double)own);
    e->ranks->own = own;
    ranks_sum(e, &bricks, 1);
    ranks_most(e, &most, 1);
    e->ranks->bricks = (uint64_t)bricks;
    e->ranks->busiest = most;
    return bricks ? most * e->ranks->parallel->ranks / (double)bricks : 1;
}

/* ---- a checkpoint's bricks ---- */

enum { SLAB = 1 << 14 }; /* bricks of a checkpoint that rank 0 sends at once, at most */

/* Packs bricks from .. to - 1 of a checkpoint, rank after rank, and sets sent[ranks] to the numbers of bricks. */
static void pack_slab(const gbees_engine *e, const saved_bricks *bricks, uint64_t from, uint64_t to, int64_t *sent,
                      char *message)
{
    const size_t n = (size_t)e->g.shape.n, row = (size_t)e->cells * e->method.real_size;

    for (int r = 0; r < e->ranks->parallel->ranks; r++) {
        sent[r] = 0;
        for (uint64_t k = from; k < to; k++) {
            int32_t key[GBEES_MAX_DIM] = {0};

            memcpy(key, bricks->key + k * n, n * sizeof *key);
            if (partition_find(&e->ranks->cuts, key) != r)
                continue;
            memcpy(message, key, sizeof key);
            memcpy(message + sizeof key, &bricks->active[k], sizeof(uint64_t));
            memcpy(message + sizeof key + sizeof(uint64_t), &bricks->expanded[k], sizeof(uint64_t));
            memcpy(message + sizeof key + 2 * sizeof(uint64_t), (const char *)bricks->p + k * row, row);
            message += brick_bytes(e);
            sent[r]++;
        }
    }
}

/* All ranks: sends the packed bricks of a slab from rank 0 to their owners. Returns the number of this rank's, which
 * are the first in `message`. */
static int64_t deal_slab(gbees_engine *e, int64_t *sent, char *message)
{
    engine_ranks *ranks = e->ranks;
    const gbees_parallel *p = ranks->parallel;
    const size_t size = brick_bytes(e);

    p->broadcast(p->context, sent, (size_t)p->ranks * sizeof *sent);
    if (p->rank > 0) {
        ranks->in[0] = (gbees_message){0, (size_t)sent[p->rank] * size, message};
        ranks_exchange(e, NULL, 0, ranks->in, 1);
        return sent[p->rank];
    }
    char *at = message + (size_t)sent[0] * size;
    for (int r = 1; r < p->ranks; r++) {
        ranks->out[r - 1] = (gbees_message){r, (size_t)sent[r] * size, at};
        at += (size_t)sent[r] * size;
    }
    ranks_exchange(e, ranks->out, p->ranks - 1, NULL, 0);
    return sent[0];
}

/* All ranks: sends the bricks of a checkpoint from rank 0 to their owners, slab after slab, so that no message is
 * large. */
static int deal_all(gbees_engine *e, const saved_bricks *bricks, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    uint64_t count = bricks->count;
    int64_t *sent = malloc((size_t)p->ranks * sizeof *sent);
    char *message = malloc(SLAB * brick_bytes(e));
    int status = ranks_agree(e, sent && message ? 0 : no_memory(error), error);

    if (status) {
        free(sent);
        free(message);
        return status;
    }
    p->broadcast(p->context, &count, sizeof count);
    for (uint64_t from = 0; from < count; from += SLAB) { /* also if one has failed: the others wait for messages */
        const uint64_t to = count - from < SLAB ? count : from + SLAB;

        if (p->rank == 0)
            pack_slab(e, bricks, from, to, sent, message);
        const int64_t own = deal_slab(e, sent, message);
        status = status ? status : grid_reserve(&e->g, (uint64_t)own, error);
        for (int64_t k = 0; k < own && !status; k++)
            unpack_brick(e, message + (size_t)k * brick_bytes(e));
    }
    free(sent);
    free(message);
    return ranks_agree(e, status, error);
}

int balance_deal(gbees_engine *e, const saved_bricks *bricks, gbees_error *error)
{
    key_source from = {.saved = bricks};
    int status = choose_cuts(e, &from, error);

    if (!status)
        status = deal_all(e, bricks, error);
    if (status)
        return status;
    (void)count_bricks(e);
    status = ghosts_renew(e, 0, error);
    return status ? status : ranks_agree(e, engine_inspect(e, 0, e->inspected, error), error);
}

/* ---- while the density moves ---- */

/* All ranks: chooses new cuts, moves bricks to their owners, and makes ghosts. */
static int cut_anew(gbees_engine *e, gbees_error *error)
{
    key_source from = {0};
    uint32_t stayed = 0;
    int status = choose_cuts(e, &from, error);

    if (!status)
        status = migrate(e, &stayed, error);
    e->ranks->reached = count_bricks(e);
    if (!status)
        status = ghosts_renew(e, stayed, error);
    return status ? status : ranks_agree(e, engine_inspect(e, stayed, e->inspected, error), error);
}

int balance_renew(gbees_engine *e, gbees_error *error)
{
    speeds_agree(&e->ranks->speeds);
    const double load = count_bricks(e);

    return load > MOST_LOADED && load > WORSE * e->ranks->reached ? cut_anew(e, error) : ghosts_relist(e, error);
}

int balance_step(gbees_engine *e, gbees_error *error)
{
    const engine_ranks *ranks = e->ranks;
    const double load = ranks->busiest * ranks->parallel->ranks / (double)ranks->bricks;

    return load > MOST_LOADED_BETWEEN && load > WORSE * ranks->reached ? cut_anew(e, error) : 0;
}
