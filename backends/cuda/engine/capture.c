/* capture.c - a record's cells, put aside on the GPU: they are fetched by another thread, over a stream of its own,
 * while steps go on.
 *
 * There is one, and only what is left of the memory goes into it: a grid that needs it gets it back (room.c), and a
 * record that finds no room, or the one before not yet fetched, is fetched at once, as cells() does.
 */
#include "engine.h"
#include <pthread.h>
#include <stdlib.h>

struct gbees_capture {
    gbees_engine *engine;
    device_array memory; /* grown and freed by the engine's thread alone */
    packed_cells cells;
    packed_piece piece;
    CUstream stream;
    double mass;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int taken; /* it has not been given back yet */
};

static int make(gbees_engine *e)
{
    gbees_capture *made = calloc(1, sizeof *made);
    gbees_error ignored;

    if (!made)
        return 0;
    made->engine = e;
    if (packed_piece_make(e, &made->piece, &ignored) ||
        e->api->cuStreamCreate(&made->stream, CU_STREAM_NON_BLOCKING)) {
        packed_piece_free(e, &made->piece);
        free(made);
        return 0;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->change, NULL);
    e->capture = made;
    return 1;
}

void engine_capture_destroy(gbees_engine *e)
{
    gbees_capture *c = e->capture;

    if (!c)
        return;
    device_array_free(&e->memory, &c->memory);
    packed_piece_free(e, &c->piece);
    (void)e->api->cuStreamDestroy(c->stream);
    (void)pthread_cond_destroy(&c->change);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
    e->capture = NULL;
}

size_t engine_capture_bytes(const gbees_engine *e)
{
    return e->capture ? e->capture->memory.size : 0;
}

static int is_taken(gbees_capture *c)
{
    (void)pthread_mutex_lock(&c->lock);
    const int taken = c->taken;
    (void)pthread_mutex_unlock(&c->lock);
    return taken;
}

static void set_taken(gbees_capture *c, int taken)
{
    (void)pthread_mutex_lock(&c->lock);
    c->taken = taken;
    (void)pthread_cond_broadcast(&c->change);
    (void)pthread_mutex_unlock(&c->lock);
}

int engine_capture_release(gbees_engine *e)
{
    gbees_capture *c = e->capture;

    if (!c || !c->memory.size)
        return 0;
    (void)pthread_mutex_lock(&c->lock);
    while (c->taken)
        (void)pthread_cond_wait(&c->change, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
    device_array_free(&e->memory, &c->memory);
    return 1;
}

/* Room for what was counted, if that is no more than a quarter of what is left: the grid goes first. */
static int find_room(gbees_engine *e, gbees_capture *c, packed_cells *cells)
{
    const size_t mask = cells->bricks * sizeof(uint64_t), p = (cells->cells * e->real_size + 7) / 8 * 8;
    const size_t size = mask + p + cells->bricks * (size_t)e->problem->dimension * sizeof(int32_t);
    gbees_error ignored;

    if (size > c->memory.size && (size - c->memory.size > device_memory_left(&e->memory) / 4 ||
                                  device_array_grow(&e->memory, &c->memory, size, e->memory.total, &ignored)))
        return 0;
    cells->mask = c->memory.at;
    cells->p = cells->mask + mask;
    cells->key = cells->p + p;
    return 1;
}

int cuda_engine_capture(gbees_engine *e, gbees_capture **capture, gbees_error *error)
{
    packed_cells cells = {0};
    int status = 0;

    *capture = NULL;
    if ((!e->capture && !make(e)) || is_taken(e->capture) || e->state->count >= PACKED_MOST_BRICKS)
        return 0;
    status = engine_pack(e, 0, e->state->count, &cells, error);
    if (status || !find_room(e, e->capture, &cells))
        return status;
    if (cells.bricks)
        status = engine_pack(e, 0, e->state->count, &cells, error);
    if (status)
        return status;
    e->capture->cells = cells;
    e->capture->mass = e->state->run.ledger.mass;
    set_taken(e->capture, 1);
    *capture = e->capture;
    return 0;
}

int cuda_engine_capture_cells(gbees_capture *c, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const gbees_engine *e = c->engine;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "fetching cells", error);

    return status ? status : packed_visit(e, &c->cells, &c->piece, c->stream, c->mass, visitor, context, error);
}

void cuda_engine_capture_free(gbees_capture *c)
{
    set_taken(c, 0);
}
