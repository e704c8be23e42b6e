/* packed.c - has a kernel pack the cells of bricks, piece by piece, fetches the pieces, and expands each to
 * multi-indices and P, of which a visitor gets batches. */
#include "base/array.h"
#include "base/workers.h"
#include "engine.h"
#include "launch.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_NS = 10 /* time to expand a cell, about */ };

/* Bytes of the masks, the values and the keys of so many bricks, of at most 64 cells. */
static size_t mask_bytes(size_t bricks)
{
    return bricks * sizeof(uint64_t);
}

static size_t p_bytes(const gbees_engine *e, size_t bricks)
{
    return bricks * 64 * e->real_size;
}

static size_t key_bytes(const gbees_engine *e, size_t bricks)
{
    return bricks * (size_t)e->problem->dimension * sizeof(int32_t);
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

int packed_piece_reserve(const gbees_engine *e, packed_piece *piece, uint64_t bricks, gbees_error *error)
{
    const size_t n = (size_t)e->problem->dimension;
    packed_piece made = {.bricks = PACKED_PIECE};

    while (made.bricks < bricks && made.bricks < PACKED_LARGE_PIECE)
        made.bricks *= 2;
    if (piece->bricks >= made.bricks)
        return 0;
    packed_piece_free(e, piece);
    const size_t cells = made.bricks * 64;
    const size_t size = mask_bytes(made.bricks) + p_bytes(e, made.bricks) + key_bytes(e, made.bricks);
    made.is_locked = e->api->cuMemAllocHost(&made.memory, size) == CUDA_SUCCESS;
    if (!made.is_locked)
        made.memory = malloc(size); /* copies are slower */
    made.index = gbees_array_create(cells * n, sizeof *made.index);
    made.wide = gbees_array_create(cells, sizeof *made.wide);
    if (!made.memory || !made.index || !made.wide) {
        packed_piece_free(e, &made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to fetch a record's cells from the GPU");
    }
    for (int j = 0; j < (int)n; j++)
        for (int cell = 0; cell < e->setup.shape.cells; cell++)
            made.local[j][cell] = (int32_t)gbees_shape_local(&e->setup.shape, cell, j);
    made.mask = made.memory;
    made.p = (char *)made.memory + mask_bytes(made.bricks);
    made.key = (int32_t *)(void *)((char *)made.p + p_bytes(e, made.bricks));
    *piece = made;
    return 0;
}

/* Starts to copy `size` bytes from the GPU. */
static int fetch(const packed_source *source, void *to, CUdeviceptr from, size_t size, gbees_error *error)
{
    const cuda_api *api = source->engine->api;

    return cuda_check(api, api->cuMemcpyDtoHAsync(to, from, size, source->stream), "fetching cells", error);
}

/* Waits for the copies that were started. */
static int wait(const packed_source *source, gbees_error *error)
{
    const cuda_api *api = source->engine->api;

    return cuda_check(api, api->cuStreamSynchronize(source->stream), "fetching cells", error);
}

/* Fetches the packed bricks first .. first + count - 1.  *cell is the number of packed cells before them, and is
 * advanced by theirs. */
static int fetch_piece(const packed_source *source, uint64_t first, size_t count, uint64_t *cell, gbees_error *error)
{
    const gbees_engine *e = source->engine;
    const packed_cells *from = &source->cells;
    const packed_piece *to = source->piece;
    const size_t mask_size = sizeof(uint64_t), key_size = (size_t)e->problem->dimension * sizeof(int32_t);
    uint64_t cells = 0;
    int status = fetch(source, to->mask, from->mask + first * mask_size, count * mask_size, error);

    if (!status)
        status = fetch(source, to->key, from->key + first * key_size, count * key_size, error);
    if (!status)
        status = wait(source, error);
    for (size_t b = 0; b < count && !status; b++)
        cells += (uint64_t)__builtin_popcountll(to->mask[b]);
    if (!status)
        status = fetch(source, to->p, from->p + *cell * e->real_size, cells * e->real_size, error);
    if (!status)
        status = wait(source, error);
    *cell += cells;
    return status;
}

/* Writes the cells of a brick of the piece, of which `before` cells of the piece come before, to piece->index and
 * piece->wide, as multi-indices and P / mass. Returns the number of cells in the bricks up to it. */
static size_t expand(const packed_source *source, size_t brick, size_t before)
{
    const gbees_shape *shape = &source->engine->setup.shape;
    const packed_piece *piece = source->piece;
    const int is_f32 = source->engine->real_size == sizeof(float);
    const size_t n = (size_t)shape->n;
    unsigned char cell[64];
    size_t number = 0;

    for (uint64_t rest = piece->mask[brick]; rest; rest &= rest - 1)
        cell[number++] = (unsigned char)__builtin_ctzll(rest);
    for (size_t j = 0; j < n; j++) {
        const int32_t first = piece->key[brick * n + j] * shape->edge[j];
        int32_t *const index = piece->index + j * piece->bricks * 64 + before;

        for (size_t i = 0; i < number; i++)
            index[i] = first + piece->local[j][cell[i]];
    }
    for (size_t i = before; i < before + number; i++)
        piece->wide[i] =
            (is_f32 ? (double)((const float *)piece->p)[i] : ((const double *)piece->p)[i]) / source->mass;
    return before + number;
}

/* A piece whose bricks are expanded by several threads. */
typedef struct expansion {
    const packed_source *source;
    size_t bricks;
    size_t before[GBEES_WORKERS_PARTS + 1]; /* cells before each part of the bricks; of all, last */
} expansion;

static void expand_part(void *context, size_t part)
{
    const expansion *x = context;
    const size_t end = gbees_workers_first(x->bricks, part + 1);
    size_t cells = x->before[part];

    for (size_t b = gbees_workers_first(x->bricks, part); b < end; b++)
        cells = expand(x->source, b, cells);
}

/* Passes the cells of a piece of `bricks` bricks to the visitor, all at once. */
static int visit_piece(const packed_source *source, size_t bricks, gbees_cell_visitor *visitor, void *context)
{
    const packed_piece *piece = source->piece;
    const int32_t *index[GBEES_MAX_DIM] = {NULL};
    expansion x = {.source = source, .bricks = bricks};

    for (size_t part = 0, b = 0; part < GBEES_WORKERS_PARTS; part++) {
        x.before[part + 1] = x.before[part];
        for (; b < gbees_workers_first(bricks, part + 1); b++)
            x.before[part + 1] += (size_t)__builtin_popcountll(piece->mask[b]);
    }
    const size_t count = x.before[GBEES_WORKERS_PARTS];
    if (count == 0)
        return 0;
    gbees_workers_run(gbees_workers_worth(0, (double)count * CELL_NS), GBEES_WORKERS_PARTS, expand_part, &x);
    for (size_t j = 0; j < (size_t)source->engine->problem->dimension; j++)
        index[j] = piece->index + j * piece->bricks * 64;
    return visitor(context, count, index, piece->wide);
}

int packed_visit(const packed_source *source, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const uint64_t bricks = source->cells.bricks, most = source->piece->bricks;
    uint64_t cell = 0;
    int status = 0;

    for (uint64_t first = 0; first < bricks && !status; first += most) {
        const size_t count = (size_t)(bricks - first < most ? bricks - first : most);

        status = fetch_piece(source, first, count, &cell, error);
        if (!status)
            status = visit_piece(source, count, visitor, context);
    }
    return status;
}

/* ---- on the GPU ---- */

int engine_pack(gbees_engine *e, uint32_t first, uint32_t last, double fraction, packed_cells *to, gbees_error *error)
{
    const double least_positive = e->real_size == sizeof(float) ? FLT_MIN : DBL_MIN;
    double threshold = fmax(fraction * e->budget.threshold * e->state->run.ledger.mass, least_positive);
    void *arguments[] = {&first, &last, &threshold, &to->mask, &to->key, &to->p};

    e->found->packed = 0;
    int status = engine_launch(e, KERNEL_PACK, arguments, 6, error);
    to->bricks = e->found->packed >> PACKED_CELL_BITS;
    to->cells = e->found->packed & (((uint64_t)1 << PACKED_CELL_BITS) - 1);
    return status;
}

/* The GPU's memory for a piece of packed cells: the rows that don't hold the density, which are free between steps,
 * from slot 1 on, as the null brick's must stay 0.  They are large enough for every grid: the heap has at least
 * ENGINE_LEAST_CAPACITY slots, twice as many as a piece. */
static packed_cells in_spare_rows(const gbees_engine *e)
{
    packed_cells to = {.mask = e->rows[e->state->current ? 0 : 1].at + 64 * e->real_size};

    to.p = to.mask + mask_bytes(PACKED_PIECE);
    to.key = to.p + p_bytes(e, PACKED_PIECE);
    return to;
}

int engine_fetch_packed(gbees_engine *e, uint32_t first, uint32_t last, double fraction, uint64_t *bricks,
                        uint64_t *cells, gbees_error *error)
{
    packed_source source = {e, in_spare_rows(e), &e->piece, e->stream, e->state->run.ledger.mass};
    uint64_t end = 0;
    int status = engine_pack(e, first, last, fraction, &source.cells, error);

    *bricks = source.cells.bricks;
    *cells = source.cells.cells;
    return status || !*bricks ? status : fetch_piece(&source, 0, (size_t)*bricks, &end, error);
}

int engine_visit_packed(gbees_engine *e, uint64_t bricks, gbees_cell_visitor *visitor, void *context)
{
    const packed_source source = {.engine = e, .piece = &e->piece, .mass = e->state->run.ledger.mass};

    return visit_piece(&source, (size_t)bricks, visitor, context);
}
