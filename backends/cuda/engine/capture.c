/* capture.c - keeps a record's cells on the GPU, so that another thread can fetch them over a stream of its own while
 * steps go on.
 *
 * An engine has memory for one capture.  If it can't hold a record's cells, still holds those of the record before,
 * or shares the grid with other ranks, capture() returns none, and the solver calls cells() instead.
 */
#include "engine.h"
#include "launch.h"
#include "ranks.h"
#include <stdlib.h>

struct gbees_capture {
    gbees_engine *engine;
    packed_source cells;
    packed_piece piece;
};

/* Makes e->capture, for the first record.  Returns 0 if there is no memory: the run goes on without captures. */
static int make(gbees_engine *e)
{
    gbees_capture *made = calloc(1, sizeof *made);
    CUstream stream;

    if (!made)
        return 0;
    if (e->api->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) {
        free(made);
        return 0;
    }
    made->engine = e;
    made->cells = (packed_source){.engine = e, .piece = &made->piece, .stream = stream};
    e->capture = made;
    return 1;
}

void engine_capture_destroy(gbees_engine *e)
{
    gbees_capture *c = e->capture;

    if (c) {
        packed_piece_free(e, &c->piece);
        (void)e->api->cuStreamDestroy(c->cells.stream);
        free(c);
    }
    e->capture = NULL;
}

/* Reserves memory for cells->bricks bricks and cells->cells cells, and sets the addresses in `cells`.  Returns 0 if
 * there is none. */
static int reserve(gbees_engine *e, packed_cells *cells)
{
    const size_t mask = cells->bricks * sizeof(uint64_t), p = (cells->cells * e->real_size + 7) / 8 * 8;
    const size_t size = mask + p + cells->bricks * (size_t)e->problem->dimension * sizeof(int32_t);
    gbees_error ignored;

    if (packed_piece_reserve(e, &e->capture->piece, cells->bricks, &ignored) ||
        !capture_memory_reserve(&e->captured, &e->memory, size))
        return 0;
    cells->mask = e->captured.array.at;
    cells->p = cells->mask + mask;
    cells->key = cells->p + p;
    return 1;
}

int cuda_engine_capture(gbees_engine *e, gbees_capture **capture, gbees_error *error)
{
    packed_cells cells = {0};
    int status;

    *capture = NULL;
    if (engine_is_split(e)) /* each rank has its own cells */
        return 0;
    if ((!e->capture && !make(e)) || capture_memory_is_taken(&e->captured) || e->state->count >= PACKED_MOST_BRICKS)
        return 0;
    status = engine_pack(e, 0, e->state->count, 1, &cells, error); /* only counts */
    if (status || !reserve(e, &cells))
        return status;
    if (cells.bricks)
        status = engine_pack(e, 0, e->state->count, 1, &cells, error);
    if (status)
        return status;
    e->capture->cells.cells = cells;
    e->capture->cells.mass = e->state->run.ledger.mass;
    capture_memory_set(&e->captured, 1);
    *capture = e->capture;
    return 0;
}

int cuda_engine_capture_cells(gbees_capture *c, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const gbees_engine *e = c->engine;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "fetching cells", error);

    return status ? status : packed_visit(&c->cells, visitor, context, error);
}

void cuda_engine_capture_free(gbees_capture *c)
{
    capture_memory_set(&c->engine->captured, 0);
}
