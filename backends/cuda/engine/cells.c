/* cells.c - a record's cells. Of a grid that several ranks share no GPU has all: each rank packs its own, piece by
 * piece, and rank 0 receives the pieces of one rank after the other.
 */
#include "launch.h"
#include "ranks.h"
#include <string.h>

/* A piece of packed cells on its way to rank 0; bricks == 0: the rank has no more. */
typedef struct piece_head {
    uint64_t bricks, cells;
} piece_head;

/* Sets the messages from or to a rank for the piece in the host's memory: its masks, keys and probabilities. */
static void describe(const gbees_engine *e, const piece_head *head, int rank, gbees_message messages[3])
{
    const packed_piece *piece = &e->piece;
    const size_t n = (size_t)e->problem->dimension;

    messages[0] = (gbees_message){rank, head->bricks * sizeof *piece->mask, piece->mask};
    messages[1] = (gbees_message){rank, head->bricks * n * sizeof *piece->key, piece->key};
    messages[2] = (gbees_message){rank, head->cells * e->real_size, piece->p};
}

/* Sends a head to rank 0. */
static void send_head(gbees_engine *e, piece_head *head)
{
    const gbees_message message = {0, sizeof *head, head};

    ranks_exchange(e->ranks, &message, 1, NULL, 0);
}

/* Hands the cells of this GPU's bricks to the visitor. */
static int visit_own(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const uint32_t bricks = e->state->count;
    int status = packed_piece_reserve(e, &e->piece, PACKED_PIECE, error);

    for (uint32_t from = 0; from < bricks && !status; from += PACKED_PIECE) {
        const uint32_t to = bricks - from < PACKED_PIECE ? bricks : from + PACKED_PIECE;
        uint64_t packed = 0, cells = 0;

        status = engine_fetch_packed(e, from, to, fraction, &packed, &cells, error);
        if (!status && packed)
            status = engine_visit_packed(e, packed, visitor, context);
    }
    return status;
}

/* Another rank: sends its cells to rank 0. */
static int send_cells(gbees_engine *e, double fraction, gbees_error *error)
{
    const uint32_t bricks = e->state->count;
    piece_head head = {0};
    int status = 0;

    for (uint32_t from = 0; from < bricks && !status; from += PACKED_PIECE) {
        const uint32_t to = bricks - from < PACKED_PIECE ? bricks : from + PACKED_PIECE;
        gbees_message messages[3];

        status = engine_fetch_packed(e, from, to, fraction, &head.bricks, &head.cells, error);
        if (status || !head.bricks)
            continue;
        send_head(e, &head);
        describe(e, &head, 0, messages);
        ranks_exchange(e->ranks, messages, 3, NULL, 0);
    }
    head = (piece_head){0};
    send_head(e, &head);
    return status;
}

/* Rank 0: hands the cells of another rank to the visitor; if that fails, receives them all the same. */
static int receive_cells(gbees_engine *e, int rank, int status, gbees_cell_visitor *visitor, void *context)
{
    piece_head head = {.bricks = 1};
    const gbees_message first = {rank, sizeof head, &head};

    while (head.bricks) {
        gbees_message messages[3];

        ranks_exchange(e->ranks, NULL, 0, &first, 1);
        describe(e, &head, rank, messages);
        ranks_exchange(e->ranks, NULL, 0, messages, 3);
        if (head.bricks && !status)
            status = engine_visit_packed(e, head.bricks, visitor, context);
    }
    return status;
}

int engine_find_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error)
{
    const gbees_parallel *parallel = e->ranks->parallel;
    int status = packed_piece_reserve(e, &e->piece, PACKED_PIECE, error);

    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    status = parallel->rank ? send_cells(e, fraction, error) : visit_own(e, fraction, visitor, context, error);
    for (int r = 1; r < parallel->ranks && parallel->rank == 0; r++)
        status = receive_cells(e, r, status, visitor, context);
    return ranks_agree(e->ranks, status, error);
}

int cuda_engine_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error)
{
    ranks_command command;

    if (!engine_is_split(e))
        return visit_own(e, fraction, visitor, context, error);
    memset(&command, 0, sizeof command);
    command.order = RANKS_CELLS;
    command.fraction = fraction;
    const int status = ranks_begin(e, &command, error);
    return status ? status : engine_find_cells(e, fraction, visitor, context, error);
}
