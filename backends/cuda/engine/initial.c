/* initial.c - computes the bricks of the initial density on the host, by all threads, and sends them to the GPU,
 * batch by batch; then kernels make the hash table, link the bricks and prune them. */
#include "initial.h"
#include "common/bound.h"
#include "common/initial_grid.h"
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "stop_error.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 15 }; /* bricks that are computed and sent at once, at most */

/* The host's memory for a batch of bricks. */
typedef struct initial_batch {
    int32_t *key; /* [BATCH][n] */
    void *row;    /* [BATCH][64]: P as it is sent, floats or doubles */
} initial_batch;

/* Takes the memory. destroy_batch() frees it, also after an error. */
static int create_batch(const gbees_engine *e, initial_batch *batch, gbees_error *error)
{
    batch->key = malloc(BATCH * (size_t)e->setup.shape.n * sizeof *batch->key);
    batch->row = malloc((size_t)BATCH * 64 * e->real_size);
    return batch->key && batch->row
               ? 0
               : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compute the initial density");
}

static void destroy_batch(initial_batch *batch)
{
    free(batch->key);
    free(batch->row);
}

/* Computes P of brick k of a batch, multiplied by the factor and rounded as the CPU's engine does it, so that both
 * start with the same bits. */
static void compute_brick(const gbees_engine *e, const initial_grid *initial, initial_cursor *cursor,
                          initial_batch *batch, uint64_t k)
{
    const int32_t *key = batch->key + k * (size_t)e->setup.shape.n;
    double p[64];

    initial_grid_brick(initial, cursor, &e->setup.shape, key, p);
    for (int cell = 0; cell < 64; cell++) {
        const size_t at = k * 64 + (size_t)cell;

        if (e->real_size == sizeof(float))
            ((float *)batch->row)[at] = (float)((double)(float)p[cell] * initial->factor);
        else
            ((double *)batch->row)[at] = p[cell] * initial->factor;
    }
}

/* Of the next `most` bricks, computes those that have a cell inside the bound, and returns their number. */
static uint64_t compute_batch(const gbees_engine *e, initial_grid *initial, initial_batch *batch, uint64_t most)
{
    const size_t n = (size_t)e->setup.shape.n;
    uint64_t count = 0;

    for (uint64_t k = 0; k < most; k++) {
        int32_t key[GBEES_MAX_DIM];

        initial_bricks_take(&initial->bricks, key);
        if (bound_cells(e->problem, &e->setup.shape, key))
            memcpy(batch->key + count++ * n, key, n * sizeof *key);
    }
#pragma omp parallel
    {
        initial_cursor cursor = {{0}};

#pragma omp for schedule(static)
        for (uint64_t k = 0; k < count; k++)
            compute_brick(e, initial, &cursor, batch, k);
    }
    return count;
}

/* Sends a batch of `count` bricks to the slots from `first` on. */
static int send_batch(const gbees_engine *e, const initial_batch *batch, uint64_t first, uint64_t count,
                      gbees_error *error)
{
    const size_t key = (size_t)e->problem->dimension * sizeof(int32_t), row = 64 * e->real_size;
    const int status =
        device_send(&e->memory, e->key.at + first * key, batch->key, count * key, "sending the initial grid", error);

    return status ? status
                  : device_send(&e->memory, e->rows[0].at + first * row, batch->row, count * row,
                                "sending the initial density", error);
}

/* Computes all bricks and sends them. Sets *sent to their number. */
static int send_all(gbees_engine *e, initial_grid *initial, uint64_t *sent, gbees_error *error)
{
    const uint64_t all = initial->bricks.count;
    initial_batch batch = {NULL, NULL};
    int status = create_batch(e, &batch, error);

    if (!status)
        status = engine_heap_reserve(e, all, 1, error);
    for (uint64_t done = 0; done < all && !status; done += BATCH) {
        const uint64_t count = compute_batch(e, initial, &batch, all - done < BATCH ? all - done : BATCH);

        if (count)
            status = send_batch(e, &batch, 1 + *sent, count, error);
        *sent += count;
    }
    destroy_batch(&batch);
    return status;
}

/* Makes the grid of the bricks that were sent to the slots from 1 on: the hash table, links and velocities.  Prunes
 * it and counts its cells. left_out: the mass of the initial density that is in none of them. */
static int start(gbees_engine *e, uint64_t bricks, double left_out, gbees_error *error)
{
    gbees_state *s = e->state;
    void *no_steps[] = {&(uint64_t){0}};

    s->count = (uint32_t)bricks;
    s->run.ledger.mass = left_out;
    s->run.clock.time = gbees_problem_initial_time(e->problem);
    s->run.steps = gbees_problem_steps_before(e->problem);
    int status = engine_launch(e, KERNEL_START, NULL, 0, error);
    if (!status)
        status = engine_stop_error(e, error);
    s->stop = STOP_PRUNE;
    if (!status)
        status = engine_launch(e, KERNEL_PRUNE, no_steps, 1, error);
    if (!status)
        status = engine_stop_error(e, error);
    return status ? status : engine_launch(e, KERNEL_COUNT, NULL, 0, error);
}

int engine_fill_initial(gbees_engine *e, gbees_error *error)
{
    initial_grid initial;
    uint64_t bricks = 0;
    int status = initial_grid_create(&initial, e->problem, &e->setup.shape, 0, error);

    if (status)
        return status;
    e->budget = initial.budget;
    status = send_all(e, &initial, &bricks, error);
    initial_grid_destroy(&initial);
    return status ? status : start(e, bricks, initial.left_out, error);
}
