/* initial.c - computes the bricks of the initial density on the host, by all threads, and sends them to the GPU,
 * batch by batch; then kernels make the hash table, link the bricks and prune them. */
#include "initial.h"
#include "common/bound.h"
#include "common/initial.h"
#include "common/initial_bricks.h"
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "stop_error.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 15 }; /* bricks that are computed and sent at once, at most */

/* The bricks of the initial density, and the host's memory for a batch of them. */
typedef struct initial_box {
    const initial_density *density;
    initial_bricks bricks;
    int32_t *key; /* [BATCH][n] */
    double *p;    /* [BATCH][64] */
    double *sum;  /* [BATCH]: the sum of a brick's cells */
    void *row;    /* [BATCH][64]: P as it is sent, floats or doubles */
    budget_spectrum spectrum;
} initial_box;

/* Lists the bricks, and takes the memory. destroy_box() frees it, also after an error. */
static int create_box(const gbees_engine *e, initial_box *box, gbees_error *error)
{
    const gbees_shape *shape = &e->setup.shape;
    int status = initial_bricks_create(&box->bricks, e->problem, shape, TABLE_DEAD / 2, error);

    if (status)
        return status;
    box->key = malloc(BATCH * (size_t)shape->n * sizeof *box->key);
    box->p = malloc((size_t)BATCH * 64 * sizeof *box->p);
    box->row = malloc((size_t)BATCH * 64 * e->real_size);
    box->sum = malloc(BATCH * sizeof *box->sum);
    return box->key && box->p && box->row && box->sum
               ? 0
               : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compute the initial density");
}

static void destroy_box(initial_box *box)
{
    initial_bricks_destroy(&box->bricks);
    free(box->key);
    free(box->p);
    free(box->sum);
    free(box->row);
}

/* Of the next `count` bricks, computes those that have a cell inside the bound, and returns their number.  Adds the
 * sums of their cells to *sum in the order of the bricks, so that it does not depend on the threads. */
static uint64_t compute_bricks(const gbees_shape *shape, initial_box *box, uint64_t count, double *sum)
{
    size_t n = (size_t)shape->n;
    uint64_t made = 0;

    for (uint64_t k = 0; k < count; k++) {
        int32_t key[GBEES_MAX_DIM];

        initial_bricks_take(&box->bricks, key);
        if (bound_cells(box->density->problem, shape, key))
            memcpy(box->key + made++ * n, key, n * sizeof *key);
    }
#pragma omp parallel
    {
        initial_cursor cursor = {{0}};

#pragma omp for schedule(static)
        for (uint64_t k = 0; k < made; k++)
            box->sum[k] = initial_density_brick(box->density, &cursor, shape, box->key + k * n, box->p + k * 64);
    }
    for (uint64_t k = 0; k < made; k++)
        *sum += box->sum[k];
    return made;
}

/* Sends a batch of `count` bricks to the slots from `first` on.  P is multiplied by `factor` and rounded as the CPU's
 * engine does it, so that both start with the same bits. */
static int send_bricks(gbees_engine *e, initial_box *box, uint64_t first, uint64_t count, double factor,
                       gbees_error *error)
{
    const cuda_api *api = e->api;
    const size_t key = (size_t)e->problem->dimension * sizeof(int32_t), row = 64 * e->real_size;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count * 64; i++) {
        if (e->real_size == sizeof(float))
            ((float *)box->row)[i] = (float)((double)(float)box->p[i] * factor);
        else
            ((double *)box->row)[i] = box->p[i] * factor;
    }
    for (size_t i = 0; i < count * 64 && e->problem->mass_budget > 0; i++)
        budget_spectrum_add(&box->spectrum, box->p[i] * factor);
    int status = cuda_check(api, api->cuMemcpyHtoD(e->key.at + first * key, box->key, count * key),
                            "sending the initial grid", error);
    if (!status)
        status = cuda_check(api, api->cuMemcpyHtoD(e->rows[0].at + first * row, box->row, count * row),
                            "sending the initial density", error);
    return status;
}

/* Computes all bricks twice: first for their sum, then to send them, scaled so that the sum is initial_mass().  Sets
 * *made to the number of bricks that were sent. */
static int send_all(gbees_engine *e, initial_box *box, uint64_t *made, gbees_error *error)
{
    const uint64_t all = box->bricks.count;
    double sum = 0, again = 0;
    int status = engine_heap_reserve(e, all, 1, error);

    for (int pass = 0; pass < 2 && !status; pass++) {
        *made = 0;
        initial_bricks_rewind(&box->bricks);
        for (uint64_t done = 0; done < all && !status; done += BATCH) {
            const uint64_t rest = all - done, most = rest < BATCH ? rest : BATCH;
            const uint64_t count = compute_bricks(&e->setup.shape, box, most, pass ? &again : &sum);

            if (pass == 1 && count)
                status = send_bricks(e, box, 1 + *made, count, initial_mass(e->problem) / sum, error);
            *made += count;
        }
    }
    return status;
}

/* Makes the grid of the bricks that were sent to the slots from 1 on: the hash table, links and velocities.  Prunes
 * it and counts its cells. */
static int start(gbees_engine *e, uint64_t bricks, gbees_error *error)
{
    gbees_state *s = e->state;
    void *no_steps[] = {&(uint64_t){0}};

    s->count = (uint32_t)bricks;
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
    initial_density density;
    initial_box box = {.density = &density};
    uint64_t bricks = 0;
    int status = initial_density_create(&density, e->problem, error);

    if (status)
        return status;
    status = create_box(e, &box, error);
    if (!status)
        status = send_all(e, &box, &bricks, error);
    initial_density_destroy(&density);
    mass_budget_start(&e->budget, e->problem, &box.spectrum);
    destroy_box(&box);
    return status ? status : start(e, bricks, error);
}
