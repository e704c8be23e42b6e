/* cells.c - the cells of this GPU's bricks, for a record: packed and fetched piece by piece. */
#include "launch.h"
#include "ranks.h"

int cuda_engine_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error)
{
    int status = ranks_link_inserted(e, error);
    const uint32_t bricks = e->state->count;

    if (!status)
        status = packed_piece_reserve(e, &e->piece, PACKED_PIECE, error);
    for (uint32_t from = 0; from < bricks && !status; from += PACKED_PIECE) {
        const uint32_t to = bricks - from < PACKED_PIECE ? bricks : from + PACKED_PIECE;
        uint64_t packed = 0, cells = 0;

        status = engine_fetch_packed(e, from, to, fraction, &packed, &cells, error);
        if (!status && packed)
            status = engine_visit_packed(e, packed, visitor, context);
    }
    return status;
}
