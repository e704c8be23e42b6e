/* initial_grid.c - selects the bricks that a grid starts with. A pass over all bricks of the initial density computes
 * the sum of P and the largest P of each; a second one over the bricks with an active cell marks their neighbours. */
#include "initial_grid.h"
#include "failure.h"
#include "numerics/downwind.h"
#include "numerics/neighbour.h"
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { BATCH = 1 << 14 }; /* bricks that are computed at once, at most */

static const double MOST_BRICKS = 4e9; /* of a box */

/* Cells with P a bit below p* * mass are taken for active: an engine that rounds P may find that they are. */
static const double MARGIN = 0.999;

/* P of all bricks is kept if it takes no more than this, unless it comes from tables: to compute it again may take
 * longer than all else before the first step. */
static const double MOST_KEPT = 256 << 20; /* bytes */

/* What the bricks of the initial density are computed with, batch by batch. */
typedef struct batches {
    const gbees_problem *problem;
    const gbees_shape *shape;
    initial_grid *grid;
    int threads;
    int32_t (*key)[GBEES_MAX_DIM]; /* [BATCH] */
    double *scratch;               /* [BATCH][cells]: P where it is not kept in grid->p */
    double *p;                     /* of the batch's bricks, [BATCH][cells] */
    double *sum;                   /* [BATCH]: of a brick's cells */
    float *peak;                   /* [BATCH]: the largest P of a brick */
} batches;

/* The smallest box that all bricks are in. */
typedef struct brick_box {
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM]; /* the least and the largest key */
    uint64_t stride[GBEES_MAX_DIM], bricks;
} brick_box;

/* What a selection needs of the bricks. */
typedef struct brick_sums {
    brick_box box;
    float *peak;         /* [count]: the largest P, without the factor */
    double *sum;         /* [count]: of the cells' P, without the factor */
    unsigned char *keep; /* [box.bricks]: 1: selected; zeros at first */
} brick_sums;

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the bricks of the initial density");
}

/* P of the cells of brick k. */
static inline double *row(const batches *b, double *p, uint64_t k)
{
    return p + k * (uint64_t)b->shape->cells;
}

/* The largest of p[count]. */
static double largest(const double *p, int count)
{
    double most = 0;

    for (int k = 0; k < count; k++)
        most = p[k] > most ? p[k] : most;
    return most;
}

static double sum_of(const double *p, int count)
{
    double sum = 0;

    for (int k = 0; k < count; k++)
        sum += p[k];
    return sum;
}

/* Computes the bricks key[count]: P of their cells, the sums, and, if bricks are selected, the peaks. */
static void compute_bricks(batches *b, uint64_t count)
{
    const int selects = initial_grid_selects(b->problem);

#pragma omp parallel num_threads(b->threads)
    {
        initial_cursor cursor = {{0}};

#pragma omp for schedule(static)
        for (uint64_t k = 0; k < count; k++) {
            double *p = row(b, b->p, k);

            initial_density_brick(&b->grid->density, &cursor, b->shape, b->key[k], p);
            b->sum[k] = sum_of(p, b->shape->cells);
            if (selects)
                b->peak[k] = (float)largest(p, b->shape->cells);
        }
    }
}

/* Takes and computes the batch that begins with brick `done`. Returns its number of bricks; 0: there are no more. */
static uint64_t compute_batch(batches *b, uint64_t done)
{
    const uint64_t rest = b->grid->bricks.count - done, count = rest < BATCH ? rest : BATCH;

    if (done == 0)
        initial_bricks_rewind(&b->grid->bricks);
    for (uint64_t k = 0; k < count; k++)
        initial_bricks_take(&b->grid->bricks, b->key[k]);
    b->p = b->grid->p ? row(b, b->grid->p, done) : b->scratch;
    compute_bricks(b, count);
    return count;
}

/* Sets the factor from the sum of all cells, and peak and sum of `all`, NULL if they are not wanted. Sums are added
 * in the order of the bricks. */
static void sum_up(batches *b, brick_sums *all)
{
    double sum = 0;

    for (uint64_t done = 0, count; (count = compute_batch(b, done)) > 0; done += count) {
        for (uint64_t k = 0; k < count; k++)
            sum += b->sum[k];
        if (all) {
            memcpy(all->peak + done, b->peak, (size_t)count * sizeof *b->peak);
            memcpy(all->sum + done, b->sum, (size_t)count * sizeof *b->sum);
        }
    }
    b->grid->factor = initial_mass(b->problem) / sum;
}

/* Adds P of `count` bricks to a spectrum. */
static void add_to_spectrum(const batches *b, double *p, uint64_t count, budget_spectrum *spectrum)
{
    for (uint64_t k = 0; k < count; k++)
        for (int cell = 0; cell < b->shape->cells; cell++)
            budget_spectrum_add(spectrum, row(b, p, k)[cell] * b->grid->factor);
}

/* Sets *spectrum, zeros at first, to that of the initial density. */
static void find_spectrum(batches *b, budget_spectrum *spectrum)
{
    if (b->grid->p)
        add_to_spectrum(b, b->grid->p, b->grid->bricks.count, spectrum);
    else
        for (uint64_t done = 0, count; (count = compute_batch(b, done)) > 0; done += count)
            add_to_spectrum(b, b->p, count, spectrum);
}

/* ---- the selection ---- */

/* Sets the box around all bricks. A list has its own: that of its problem may be larger. */
static void find_box(batches *b, brick_box *box)
{
    initial_bricks *bricks = &b->grid->bricks;
    uint64_t stride = 1;

    memcpy(box->lo, bricks->lo, sizeof box->lo);
    memcpy(box->hi, bricks->hi, sizeof box->hi);
    for (uint64_t k = 0; k < bricks->count && bricks->list; k++)
        for (int j = 0; j < b->shape->n; j++) {
            const int32_t own = bricks->list[k][j];

            box->lo[j] = k == 0 || own < box->lo[j] ? own : box->lo[j];
            box->hi[j] = k == 0 || own > box->hi[j] ? own : box->hi[j];
        }
    for (int j = b->shape->n - 1; j >= 0; j--) {
        box->stride[j] = stride;
        stride *= (uint64_t)(box->hi[j] - box->lo[j] + 1);
    }
    box->bricks = stride;
}

/* The place of a brick in the box, in lexicographic order. */
static uint64_t place_of(const brick_box *box, int n, const int32_t *key)
{
    uint64_t place = 0;

    for (int j = 0; j < n; j++)
        place += (uint64_t)(key[j] - box->lo[j]) * box->stride[j];
    return place;
}

/* Moves a place by one brick in a direction; returns whether that is in the box. */
static int move(const brick_box *box, const gbees_shape *shape, const int32_t *key, int direction, uint64_t *place)
{
    const int j = direction >> 1;
    const int32_t to = gbees_key_beside(shape, key[j], j, direction, direction);

    *place += box->stride[j] * (uint64_t)((int64_t)to - key[j]);
    return to >= box->lo[j] && to <= box->hi[j];
}

/* Marks the face and edge neighbours of a brick into which the cells p[cells] with P >= limit may flow in a step. */
static void mark_around(const batches *b, brick_sums *all, const int32_t *key, const double *p, double limit)
{
    const uint64_t own = place_of(&all->box, b->shape->n, key);
    uint64_t active = 0;
    gbees_outflow out;

    for (int cell = 0; cell < b->shape->cells; cell++)
        active |= (uint64_t)(p[cell] >= limit) << cell;
    gbees_outflow_set(b->shape, active, NULL, 1, &out);
    for (int i = 0; i < out.count; i++)
        for (int k = i; k < out.count; k++) {
            const int d = out.direction[i], f = out.direction[k];
            uint64_t near = own;

            if (gbees_outflow_pair(&out, i, k) && move(&all->box, b->shape, key, d, &near) &&
                (f == d || move(&all->box, b->shape, key, f, &near)))
                all->keep[near] = 1;
        }
}

/* Marks the bricks with P >= limit in a cell, and their neighbours. */
static void mark_bricks(batches *b, brick_sums *all, double limit)
{
    const uint64_t bricks = b->grid->bricks.count;
    double *kept = b->grid->p;
    uint64_t count = 0;

    initial_bricks_rewind(&b->grid->bricks);
    b->p = b->scratch;
    for (uint64_t next = 0; next < bricks; next++) {
        const int is_active = (double)all->peak[next] >= limit;

        initial_bricks_take(&b->grid->bricks, b->key[count]);
        all->keep[place_of(&all->box, b->shape->n, b->key[count])] |= (unsigned char)is_active;
        if (is_active && kept)
            mark_around(b, all, b->key[count], row(b, kept, next), limit);
        else
            count += (uint64_t)is_active;
        if (count < BATCH && next + 1 < bricks)
            continue;
        compute_bricks(b, count);
        for (uint64_t k = 0; k < count; k++)
            mark_around(b, all, b->key[k], row(b, b->p, k), limit);
        count = 0;
    }
}

int initial_grid_selects(const gbees_problem *problem)
{
    return problem->numerics.mode == GBEES_MODE_DEFAULT && !problem->cells;
}

/* Moves the marks of a list's bricks to their places in the list, which are not behind those in the box. */
static void keep_listed(batches *b, brick_sums *all)
{
    const initial_bricks *bricks = &b->grid->bricks;

    for (uint64_t k = 0; k < bricks->count && bricks->list; k++)
        all->keep[k] = all->keep[place_of(&all->box, b->shape->n, bricks->list[k])];
}

/* Moves P of the bricks that are selected to the front. */
static void keep_rows(initial_grid *grid, size_t cells, const unsigned char *keep)
{
    uint64_t kept = 0;

    for (uint64_t k = 0; k < grid->bricks.count; k++)
        if (keep[k])
            memmove(grid->p + cells * kept++, grid->p + cells * k, cells * sizeof *grid->p);
}

/* Selects bricks. */
static int choose(batches *b, brick_sums *all, gbees_error *error)
{
    initial_grid *grid = b->grid;
    const double limit = MARGIN * grid->budget.threshold * initial_mass(b->problem) / grid->factor;
    double left_out = 0;

    mark_bricks(b, all, limit);
    keep_listed(b, all);
    for (uint64_t k = 0; k < grid->bricks.count; k++)
        left_out += all->keep[k] ? 0 : all->sum[k];
    grid->left_out = left_out * grid->factor;
    if (grid->p)
        keep_rows(grid, (size_t)b->shape->cells, all->keep);
    const int status = initial_bricks_keep(&grid->bricks, all->keep, error);
    return status || grid->bricks.count > 0 ? status : failure_empty(grid->budget.threshold, error);
}

/* Bytes of P of so many bricks; 0: it is not kept. */
static double row_bytes(const gbees_shape *shape, double bricks)
{
    const double bytes = bricks * shape->cells * sizeof(double);

    return bytes <= MOST_KEPT ? bytes : 0;
}

double initial_grid_bytes(const gbees_problem *problem, const gbees_shape *shape)
{
    const double most = initial_bricks_most(problem, shape);
    const double sums = sizeof(float) + sizeof(double) + sizeof(unsigned char); /* brick_sums */

    return initial_bricks_bytes(problem, shape) + row_bytes(shape, most) +
           (initial_grid_selects(problem) ? most * sums : 0);
}

static int create_sums(batches *b, brick_sums *all)
{
    const uint64_t bricks = b->grid->bricks.count;

    find_box(b, &all->box);
    all->peak = malloc((size_t)bricks * sizeof *all->peak);
    all->sum = malloc((size_t)bricks * sizeof *all->sum);
    all->keep = calloc((size_t)all->box.bricks, 1);
    return all->peak && all->sum && all->keep ? 0 : GBEES_ENOMEM;
}

static void destroy_sums(brick_sums *all)
{
    free(all->peak);
    free(all->sum);
    free(all->keep);
}

/* Computes the sum and p*, and selects bricks. */
static int compute(batches *b, gbees_error *error)
{
    const int chooses = initial_grid_selects(b->problem);
    budget_spectrum spectrum = {{0}};
    brick_sums all = {0};
    int status = chooses && create_sums(b, &all) ? no_memory(error) : 0;

    if (!status) {
        sum_up(b, chooses ? &all : NULL);
        if (b->problem->mass_budget > 0)
            find_spectrum(b, &spectrum);
        mass_budget_start(&b->grid->budget, b->problem, &spectrum);
    }
    if (!status && chooses)
        status = choose(b, &all, error);
    destroy_sums(&all);
    initial_bricks_rewind(&b->grid->bricks);
    return status;
}

/* The threads of a loop whose caller names none. */
static int most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

int initial_grid_create(initial_grid *grid, const gbees_problem *problem, const gbees_shape *shape, int threads,
                        gbees_error *error)
{
    batches b = {.problem = problem, .shape = shape, .grid = grid, .threads = threads > 0 ? threads : most_threads()};

    *grid = (initial_grid){.factor = 1};
    int status = initial_density_create(&grid->density, problem, error);
    if (!status)
        status = initial_bricks_create(&grid->bricks, problem, shape, MOST_BRICKS, b.threads, error);
    if (!status) {
        b.key = calloc(BATCH, sizeof *b.key);
        b.scratch = malloc((size_t)BATCH * (size_t)shape->cells * sizeof *b.scratch);
        b.sum = malloc(BATCH * sizeof *b.sum);
        b.peak = malloc(BATCH * sizeof *b.peak);
        if (!grid->density.average[0] &&
            row_bytes(shape, (double)grid->bricks.count) > 0) /* else P is computed again */
            grid->p = malloc((size_t)grid->bricks.count * (size_t)shape->cells * sizeof *grid->p);
        status = b.key && b.scratch && b.sum && b.peak ? compute(&b, error) : no_memory(error);
    }
    free(b.key);
    free(b.scratch);
    free(b.sum);
    free(b.peak);
    if (status)
        initial_grid_destroy(grid);
    return status;
}

void initial_grid_destroy(initial_grid *grid)
{
    free(grid->p);
    grid->p = NULL;
    initial_density_destroy(&grid->density);
    initial_bricks_destroy(&grid->bricks);
}

void initial_grid_brick(const initial_grid *grid, initial_cursor *cursor, const gbees_shape *shape,
                        const int32_t *key, double *p)
{
    int32_t whole[GBEES_MAX_DIM] = {0}; /* a grid's keys have n components */
    const size_t cells = (size_t)shape->cells;

    memcpy(whole, key, (size_t)shape->n * sizeof *key);
    if (grid->p)
        memcpy(p, grid->p + cells * initial_bricks_find(&grid->bricks, whole), cells * sizeof *p);
    else
        initial_density_brick(&grid->density, cursor, shape, key, p);
}
