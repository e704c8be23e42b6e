/* initial_grid.c - selects the bricks that a grid starts with. A pass over all bricks of the initial density computes
 * the sum of P and the largest P of each; a second one over the bricks with an active cell marks their neighbours. */
#include "initial_grid.h"
#include "failure.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 14 }; /* bricks that are computed at once, at most */

static const double MOST_BRICKS = 4e9; /* of a box */

/* Cells with P a bit below p* * mass are taken for active: an engine that rounds P may find that they are. */
static const double MARGIN = 0.999;

/* What the bricks of the initial density are computed with, batch by batch. */
typedef struct batches {
    const gbees_problem *problem;
    const gbees_shape *shape;
    initial_grid *grid;
    int threads;
    int32_t (*key)[GBEES_MAX_DIM]; /* [BATCH] */
    double *p;                     /* [BATCH][64] */
    double *sum;                   /* [BATCH]: of a brick's cells */
} batches;

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the bricks of the initial density");
}

/* Computes the bricks key[count]: P of their cells and the sums. */
static void compute_taken(batches *b, uint64_t count)
{
#pragma omp parallel num_threads(b->threads)
    {
        initial_cursor cursor = {{0}};

#pragma omp for schedule(static)
        for (uint64_t k = 0; k < count; k++)
            b->sum[k] = initial_density_brick(&b->grid->density, &cursor, b->shape, b->key[k], b->p + k * 64);
    }
}

/* Takes the next `count` bricks and computes them. */
static void compute_batch(batches *b, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++)
        initial_bricks_take(&b->grid->bricks, b->key[k]);
    compute_taken(b, count);
}

/* The number of bricks in the batch that begins with brick `done`. */
static uint64_t batch_length(const batches *b, uint64_t done)
{
    const uint64_t rest = b->grid->bricks.count - done;

    return rest < BATCH ? rest : BATCH;
}

/* What a selection needs of the bricks. */
typedef struct brick_sums {
    float *peak;         /* [count]: the largest P, without the factor */
    double *sum;         /* [count]: of the cells' P, without the factor */
    unsigned char *keep; /* [count]: 1: selected; zeros at first */
} brick_sums;

/* Sets the factor from the sum of all cells, and peak and sum of `all`, NULL if they are not wanted. Sums are added
 * in the order of the bricks. */
static void sum_up(batches *b, brick_sums *all)
{
    double sum = 0;

    initial_bricks_rewind(&b->grid->bricks);
    for (uint64_t done = 0; done < b->grid->bricks.count; done += BATCH) {
        const uint64_t count = batch_length(b, done);

        compute_batch(b, count);
        for (uint64_t k = 0; k < count; k++)
            sum += b->sum[k];
        for (uint64_t k = 0; k < count && all; k++) {
            double most = 0;

            for (int cell = 0; cell < b->shape->cells; cell++)
                most = fmax(most, b->p[k * 64 + (uint64_t)cell]);
            all->peak[done + k] = (float)most;
            all->sum[done + k] = b->sum[k];
        }
    }
    b->grid->factor = initial_mass(b->problem) / sum;
}

/* Sets *spectrum to that of the initial density. */
static void find_spectrum(batches *b, budget_spectrum *spectrum)
{
    initial_bricks_rewind(&b->grid->bricks);
    for (uint64_t done = 0; done < b->grid->bricks.count; done += BATCH) {
        const uint64_t count = batch_length(b, done);

        compute_batch(b, count);
        for (uint64_t k = 0; k < count; k++)
            for (int cell = 0; cell < b->shape->cells; cell++)
                budget_spectrum_add(spectrum, b->p[k * 64 + (uint64_t)cell] * b->grid->factor);
    }
}

/* ---- the selection ---- */

/* Marks the brick `key` moved by one in a direction and, unless it is negative, in a second one as selected, if it is
 * a brick of the initial density. */
static void mark(const initial_bricks *bricks, brick_sums *all, const int32_t *key, int first, int second)
{
    int32_t moved[GBEES_MAX_DIM];

    memcpy(moved, key, sizeof moved);
    moved[first >> 1] += first & 1 ? 1 : -1;
    if (second >= 0)
        moved[second >> 1] += second & 1 ? 1 : -1;
    const uint64_t place = initial_bricks_find(bricks, moved);
    if (place < bricks->count)
        all->keep[place] = 1;
}

/* Marks the face and edge neighbours into which the active cells of the brick `key` may flow in a step. side[2n]: the
 * cells within reach of the brick's sides. */
static void mark_neighbors(const batches *b, brick_sums *all, const int32_t *key, uint64_t active,
                           const uint64_t *side)
{
    const int directions = 2 * b->shape->n;

    for (int d = 0; d < directions; d++) {
        const uint64_t leaving = active & side[d];

        if (!leaving)
            continue;
        mark(&b->grid->bricks, all, key, d, -1);
        for (int f = (d | 1) + 1; f < directions; f++)
            if (leaving & side[f])
                mark(&b->grid->bricks, all, key, d, f);
    }
}

/* Marks the bricks with P >= limit in a cell, and their neighbours. */
static void mark_bricks(batches *b, brick_sums *all, double limit, int reach)
{
    const uint64_t bricks = b->grid->bricks.count;
    uint64_t side[2 * GBEES_MAX_DIM], next = 0;

    for (int d = 0; d < 2 * b->shape->n; d++)
        side[d] = gbees_shape_edge_cells(b->shape, d, reach);
    initial_bricks_rewind(&b->grid->bricks);
    while (next < bricks) {
        uint64_t count = 0;

        for (; next < bricks && count < BATCH; next++) {
            initial_bricks_take(&b->grid->bricks, b->key[count]);
            all->keep[next] |= (double)all->peak[next] >= limit;
            count += (double)all->peak[next] >= limit;
        }
        compute_taken(b, count);
        for (uint64_t k = 0; k < count; k++) {
            uint64_t active = 0;

            for (int cell = 0; cell < b->shape->cells; cell++)
                active |= (uint64_t)(b->p[k * 64 + (uint64_t)cell] >= limit) << cell;
            mark_neighbors(b, all, b->key[k], active, side);
        }
    }
}

int initial_grid_selects(const gbees_problem *problem)
{
    return problem->numerics.mode == GBEES_MODE_DEFAULT && problem->numerics.faces != GBEES_FACES_REFERENCE &&
           !problem->cells;
}

/* Selects bricks. */
static int choose(batches *b, brick_sums *all, int reach, gbees_error *error)
{
    initial_grid *grid = b->grid;
    const double limit = MARGIN * grid->budget.threshold * initial_mass(b->problem) / grid->factor;
    double left_out = 0;

    mark_bricks(b, all, limit, reach);
    for (uint64_t k = 0; k < grid->bricks.count; k++)
        left_out += all->keep[k] ? 0 : all->sum[k];
    grid->left_out = left_out * grid->factor;
    const int status = initial_bricks_keep(&grid->bricks, all->keep, error);
    return status || grid->bricks.count > 0 ? status : failure_empty(grid->budget.threshold, error);
}

static int create_sums(brick_sums *all, uint64_t bricks)
{
    all->peak = malloc((size_t)bricks * sizeof *all->peak);
    all->sum = malloc((size_t)bricks * sizeof *all->sum);
    all->keep = calloc((size_t)bricks, 1);
    return all->peak && all->sum && all->keep ? 0 : GBEES_ENOMEM;
}

static void destroy_sums(brick_sums *all)
{
    free(all->peak);
    free(all->sum);
    free(all->keep);
}

/* Computes the sum and p*, and selects bricks. */
static int compute(batches *b, int reach, gbees_error *error)
{
    const int chooses = initial_grid_selects(b->problem);
    budget_spectrum spectrum = {{0}};
    brick_sums all = {0};
    int status = chooses && create_sums(&all, b->grid->bricks.count) ? no_memory(error) : 0;

    if (!status) {
        sum_up(b, chooses ? &all : NULL);
        if (b->problem->mass_budget > 0)
            find_spectrum(b, &spectrum);
        mass_budget_start(&b->grid->budget, b->problem, &spectrum);
    }
    if (!status && chooses)
        status = choose(b, &all, reach, error);
    destroy_sums(&all);
    initial_bricks_rewind(&b->grid->bricks);
    return status;
}

int initial_grid_create(initial_grid *grid, const gbees_problem *problem, const gbees_shape *shape, int reach,
                        int threads, gbees_error *error)
{
    batches b = {problem, shape, grid, threads > 0 ? threads : omp_get_max_threads(), NULL, NULL, NULL};

    *grid = (initial_grid){.factor = 1};
    int status = initial_density_create(&grid->density, problem, error);
    if (!status)
        status = initial_bricks_create(&grid->bricks, problem, shape, MOST_BRICKS, error);
    if (!status) {
        b.key = calloc(BATCH, sizeof *b.key);
        b.p = malloc((size_t)BATCH * 64 * sizeof *b.p);
        b.sum = malloc(BATCH * sizeof *b.sum);
        status = b.key && b.p && b.sum ? compute(&b, reach, error) : no_memory(error);
    }
    free(b.key);
    free(b.p);
    free(b.sum);
    if (status)
        initial_grid_destroy(grid);
    return status;
}

void initial_grid_destroy(initial_grid *grid)
{
    initial_density_destroy(&grid->density);
    initial_bricks_destroy(&grid->bricks);
}
