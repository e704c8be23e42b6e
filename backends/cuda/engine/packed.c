/* packed.c - see packed.h. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 12 }; /* cells that a visitor gets at once, at most; as many as a brick has at least */

static size_t mask_bytes(void)
{
    return PACKED_PIECE * sizeof(uint64_t);
}

static size_t p_bytes(const gbees_engine *e)
{
    return (size_t)PACKED_PIECE * 64 * e->real_size;
}

static size_t key_bytes(const gbees_engine *e)
{
    return (size_t)PACKED_PIECE * (size_t)e->problem->dimension * sizeof(int32_t);
}

void packed_piece_free(const gbees_engine *e, packed_piece *piece)
{
    if (piece->is_locked)
        (void)e->api->cuMemFreeHost(piece->memory);
    else
        free(piece->memory);
    free(piece->index);
    free(piece->wide);
    *piece = (packed_piece){0};
}

int packed_piece_make(const gbees_engine *e, packed_piece *piece, gbees_error *error)
{
    const size_t n = (size_t)e->problem->dimension, size = mask_bytes() + p_bytes(e) + key_bytes(e);
    packed_piece made = {0};

    made.is_locked = e->api->cuMemAllocHost(&made.memory, size) == CUDA_SUCCESS;
    if (!made.is_locked)
        made.memory = malloc(size); /* copies take longer */
    made.index = malloc(BATCH * n * sizeof *made.index);
    made.wide = malloc(BATCH * sizeof *made.wide);
    if (!made.memory || !made.index || !made.wide) {
        packed_piece_free(e, &made);
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for a record's cells");
    }
    made.mask = made.memory;
    made.p = (char *)made.memory + mask_bytes();
    made.key = (int32_t *)(void *)((char *)made.p + p_bytes(e));
    *piece = made;
    return 0;
}

static int fetch(const gbees_engine *e, void *to, CUdeviceptr from, size_t size, CUstream stream, gbees_error *error)
{
    return cuda_check(e->api, e->api->cuMemcpyDtoHAsync(to, from, size, stream), "fetching cells", error);
}

static int wait(const gbees_engine *e, CUstream stream, gbees_error *error)
{
    return cuda_check(e->api, e->api->cuStreamSynchronize(stream), "fetching cells", error);
}

/* So many bricks from one on, whose cells begin at `cell`, which is moved behind them. */
static int fetch_piece(const gbees_engine *e, const packed_cells *cells, packed_piece *piece, CUstream stream,
                       uint64_t brick, size_t bricks, uint64_t *cell, gbees_error *error)
{
    const size_t key_size = (size_t)e->problem->dimension * sizeof(int32_t);
    uint64_t count = 0;
    int status =
        fetch(e, piece->mask, cells->mask + brick * sizeof(uint64_t), bricks * sizeof(uint64_t), stream, error);

    if (!status)
        status = fetch(e, piece->key, cells->key + brick * key_size, bricks * key_size, stream, error);
    if (!status)
        status = wait(e, stream, error);
    for (size_t b = 0; b < bricks && !status; b++)
        count += (uint64_t)__builtin_popcountll(piece->mask[b]);
    if (!status)
        status = fetch(e, piece->p, cells->p + *cell * e->real_size, count * e->real_size, stream, error);
    if (!status)
        status = wait(e, stream, error);
    *cell += count;
    return status;
}

/* A brick's cells, behind `count` others; the number of all. */
static size_t expand(const gbees_engine *e, packed_piece *piece, size_t brick, size_t first_p, double mass,
                     size_t count)
{
    const gbees_shape *shape = &e->setup.shape;
    const size_t n = (size_t)shape->n;
    const int32_t *key = piece->key + brick * n;

    for (uint64_t rest = piece->mask[brick]; rest; rest &= rest - 1, count++, first_p++) {
        const int cell = __builtin_ctzll(rest);
        const double p = e->real_size == sizeof(float) ? (double)((const float *)piece->p)[first_p]
                                                       : ((const double *)piece->p)[first_p];

        for (size_t j = 0; j < n; j++)
            piece->index[j * BATCH + count] =
                key[j] * shape->edge[j] + (int32_t)gbees_shape_local(shape, cell, (int)j);
        piece->wide[count] = p / mass;
    }
    return count;
}

static int visit_piece(const gbees_engine *e, packed_piece *piece, size_t bricks, double mass,
                       gbees_cell_visitor *visitor, void *context)
{
    const int32_t *index[GBEES_MAX_DIM] = {NULL};
    size_t count = 0, first_p = 0;
    int status = 0;

    for (size_t j = 0; j < (size_t)e->problem->dimension; j++)
        index[j] = piece->index + j * BATCH;
    for (size_t b = 0; b < bricks && !status; b++) {
        const size_t before = count;

        count = expand(e, piece, b, first_p, mass, count);
        first_p += count - before;
        if (count + 64 > BATCH || b + 1 == bricks) {
            status = count ? visitor(context, count, index, piece->wide) : 0;
            count = 0;
        }
    }
    return status;
}

int packed_visit(const gbees_engine *e, const packed_cells *cells, packed_piece *piece, CUstream stream, double mass,
                 gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    uint64_t cell = 0;
    int status = 0;

    for (uint64_t brick = 0; brick < cells->bricks && !status; brick += PACKED_PIECE) {
        const uint64_t rest = cells->bricks - brick;
        const size_t bricks = rest < PACKED_PIECE ? (size_t)rest : PACKED_PIECE;

        status = fetch_piece(e, cells, piece, stream, brick, bricks, &cell, error);
        if (!status)
            status = visit_piece(e, piece, bricks, mass, visitor, context);
    }
    return status;
}

/* ---- on the GPU -------------------------------------------------------------------------------------------------
 */

int engine_pack(gbees_engine *e, uint32_t first, uint32_t last, packed_cells *to, gbees_error *error)
{
    double threshold = e->budget.threshold * e->state->run.ledger.mass;
    void *arguments[] = {&first, &last, &threshold, &to->mask, &to->key, &to->p};

    e->found->packed = 0;
    int status = engine_launch(e, KERNEL_PACK, arguments, 6, "packing cells", error);
    to->bricks = e->found->packed >> PACKED_CELL_BITS;
    to->cells = e->found->packed & (((uint64_t)1 << PACKED_CELL_BITS) - 1);
    return status;
}

/* The rows that are spare between steps, without the null brick's: whatever the grid is, they have room for a piece.
 */
static packed_cells in_spare_rows(const gbees_engine *e)
{
    packed_cells to = {.mask = e->rows[e->state->current ? 0 : 1].at + 64 * e->real_size};

    to.p = to.mask + mask_bytes();
    to.key = to.p + p_bytes(e);
    return to;
}

int cuda_engine_cells(gbees_engine *e, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const uint32_t bricks = e->state->count;
    packed_cells to = in_spare_rows(e);
    int status = e->piece.memory ? 0 : packed_piece_make(e, &e->piece, error);

    for (uint32_t from = 0; from < bricks && !status; from += PACKED_PIECE) {
        status = engine_pack(e, from, bricks - from < PACKED_PIECE ? bricks : from + PACKED_PIECE, &to, error);
        if (!status)
            status = packed_visit(e, &to, &e->piece, e->stream, e->state->run.ledger.mass, visitor, context, error);
    }
    return status;
}
