/* frame.c - a grid whose frame moves: sets the frame; computes the sums by which the solver fits the frame to the
 * drift, and the Fisher information, by which it chooses widths of cells (doc/moving.md). */
#include "common/frame.h"
#include "base/clones.h"
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int engine_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate, gbees_error *error)
{
    frame_parameters_set(e->g.shape.n, frame, e->tables.parameters_d);
    engine_round_parameters(e);
    e->context.flow.negligible = frame->negligible;
    e->longest_step = frame->time_step;
    if (!rate)
        return 0;
    int status = engine_inspect(e, 0, time, error);
    status = ranks_agree(e->ranks, status, error);
    *rate = status ? 0 : engine_limiting_rate(e);
    return status;
}

/* ---- sums over the cells of a brick ---- */

/* Eight numbers that are computed side by side, whatever the length of the processor's vectors, so that results have
 * the same bits on all processors. */
typedef double lanes __attribute__((vector_size(64)));
enum { LANES = 8, ROWS = 64 / LANES };

/* P, y and the drift f of a brick's cells; the drift is 0 where P is 0. Entries of cells that a brick does not have
 * are 0. */
typedef struct brick_values {
    lanes p[ROWS], y[GBEES_MAX_DIM][ROWS], f[GBEES_MAX_DIM][ROWS];
} brick_values;

/* The sum of eight numbers. */
static inline double add_lanes(const lanes *sums)
{
    const lanes s = *sums;

    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/* Sums of some bricks as gbees_affine_sums has them, but lane by lane: the lanes are added up at the end. */
typedef struct lane_sums {
    double mass;
    lanes y[GBEES_MAX_DIM], f[GBEES_MAX_DIM];
    lanes yy[GBEES_MAX_DIM][GBEES_MAX_DIM], fy[GBEES_MAX_DIM][GBEES_MAX_DIM];
} lane_sums;

/* Sets all sums of n dimensions to 0. */
static void clear_sums(int n, lane_sums *sums)
{
    sums->mass = 0;
    for (int j = 0; j < n; j++) {
        sums->y[j] = sums->f[j] = (lanes){0};
        for (int k = 0; k < n; k++)
            sums->yy[j][k] = sums->fy[j][k] = (lanes){0};
    }
}

/* Adds the sum over the cells of a times b. */
static inline void add_product(const lanes *a, const lanes *b, lanes *sums)
{
    lanes all = *sums;

    for (int i = 0; i < ROWS; i++)
        all += a[i] * b[i];
    *sums = all;
}

/* The sum over the cells of a times b. */
static inline double product_of(const lanes *a, const lanes *b)
{
    lanes sums = {0};

    add_product(a, b, &sums);
    return add_lanes(&sums);
}

/* Adds the sums over a brick's cells of P y, P f, P f y' and the upper half of those of P y y'. */
GBEES_PROCESSOR_CLONES static void add_products(const brick_values *v, int n, lane_sums *sums)
{
    for (int j = 0; j < n; j++) {
        lanes py[ROWS], first = sums->y[j];

        for (int i = 0; i < ROWS; i++) {
            py[i] = v->p[i] * v->y[j][i];
            first += py[i];
        }
        sums->y[j] = first;
        add_product(v->p, v->f[j], &sums->f[j]);
        for (int k = 0; k < n; k++)
            add_product(py, v->f[k], &sums->fy[k][j]);
        for (int k = j; k < n; k++)
            add_product(py, v->y[k], &sums->yy[j][k]);
    }
}

/* Sets *to to the sums over the lanes. */
static void finish_sums(int n, const lane_sums *sums, gbees_affine_sums *to)
{
    to->mass = sums->mass;
    for (int j = 0; j < n; j++) {
        to->y[j] = add_lanes(&sums->y[j]);
        to->f[j] = add_lanes(&sums->f[j]);
        for (int k = 0; k < n; k++) {
            to->yy[j * n + k] = add_lanes(&sums->yy[j][k]);
            to->fy[j * n + k] = add_lanes(&sums->fy[j][k]);
        }
    }
}

/* Copies the upper half of the sums of P y y' to the lower one. */
static void complete_sums(int n, gbees_affine_sums *sums)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < j; k++)
            sums->yy[j * n + k] = sums->yy[k * n + j];
}

/* Sets p[cells] to P of a brick's cells, and y[n][cells] to their centres; returns the sum of P. */
GBEES_PROCESSOR_CLONES static double take_cells(const gbees_engine *e, uint32_t slot, brick_values *v)
{
    const size_t first = (size_t)slot * (size_t)e->cells;
    const int32_t *key = grid_key(&e->g, slot);
    double *p = (double *)v->p;
    lanes sums = {0};

    if (e->method.real_size == sizeof(float))
        for (int i = 0; i < e->cells; i++)
            p[i] = (double)((const float *)e->rows.p)[first + (size_t)i];
    else
        memcpy(p, (const double *)e->rows.p + first, (size_t)e->cells * sizeof *p);
    for (int i = 0; i < ROWS; i++)
        sums += v->p[i];
    for (int j = 0; j < e->g.shape.n; j++) {
        const double lowest = e->problem->width[j] * (double)(key[j] * e->g.shape.edge[j]);
        double *y = (double *)v->y[j];

        for (int i = 0; i < e->cells; i++)
            y[i] = lowest + e->tables.cell_offset[j][i];
    }
    return add_lanes(&sums);
}

/* Sets the values of a brick's cells; returns the sum of P. */
static double take_values(const gbees_engine *e, uint32_t slot, double time, brick_values *v)
{
    const double *p = (const double *)v->p;
    double base[GBEES_MAX_DIM] = {0}, (*f)[64] = (double(*)[64])v->f;

    const double mass = take_cells(e, slot, v);
    if (!(mass > 0))
        return 0;
    engine_base(e, slot, base);
    engine_frame_drift(e, base, time, f);
    for (int j = 0; j < e->g.shape.n; j++) /* the drift may be not a number in cells without P */
        for (int i = 0; i < e->cells; i++)
            f[j][i] = p[i] > 0 ? f[j][i] : 0;
    return mass;
}

/* Adds a brick's sums. */
static void add_brick(const gbees_engine *e, uint32_t slot, double time, lane_sums *sums)
{
    brick_values values;
    const double mass = take_values(e, slot, time, &values);

    if (mass > 0)
        add_products(&values, e->g.shape.n, sums);
    sums->mass += mass;
}

/* Sets number[] to the sums of used bricks from .. to - 1, as gbees_affine_sums has them. */
static void find_sums(gbees_engine *e, const void *time, uint32_t from, uint32_t to, double *number)
{
    lane_sums own;
    gbees_affine_sums sums = {0};

    clear_sums(e->g.shape.n, &own);
    for (uint32_t k = from; k < to; k++)
        add_brick(e, e->g.used[k], *(const double *)time, &own);
    finish_sums(e->g.shape.n, &own, &sums);
    memcpy(number, &sums, sizeof sums);
}

int engine_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error)
{
    const brick_numbers of = {sizeof *sums / sizeof(double), find_sums, &time};
    double number[sizeof *sums / sizeof(double)];
    const int status = engine_add_up(e, &of, number, error);

    *sums = (gbees_affine_sums){0};
    if (status)
        return status;
    memcpy(sums, number, sizeof *sums);
    complete_sums(e->g.shape.n, sums);
    return 0;
}

/* ---- the Fisher information ---- */

/* Sets root[cells] to the square roots of P of a brick. */
GBEES_PROCESSOR_CLONES static void take_roots(const gbees_engine *e, uint32_t slot, double *root)
{
    const size_t first = (size_t)slot * (size_t)e->cells;

    if (e->method.real_size == sizeof(float)) {
        const float *p = (const float *)e->rows.p + first;

#pragma omp simd
        for (int i = 0; i < e->cells; i++)
            root[i] = sqrt((double)p[i]);
    } else {
        const double *p = (const double *)e->rows.p + first;

#pragma omp simd
        for (int i = 0; i < e->cells; i++)
            root[i] = sqrt(p[i]);
    }
}

/* Sets there[cells] to the square roots of P in the cells beside those of a brick, in direction d: 0 outside of the
 * grid. root: of the brick. */
static void take_beside(const gbees_engine *e, uint32_t slot, int d, const double *root, double *there)
{
    const uint32_t neighbor = grid_neighbor(&e->g, slot, d);
    const unsigned char *const beside = e->context.noise.beside[d];
    double other[64] = {0};

    if (neighbor) /* roots of all of its cells, in vectors, take less time than those of a side, one by one */
        take_roots(e, neighbor, other);
    for (int i = 0; i < e->cells; i++)
        there[i] = root[beside[i]];
    for (uint64_t left = gbees_shape_side(&e->g.shape, d); left; left &= left - 1) {
        const int i = __builtin_ctzll(left);

        there[i] = other[beside[i]];
    }
}

/* The square roots of P in the cells of a brick, and in those below and above it along an axis. */
typedef struct brick_roots {
    lanes root[ROWS], below[ROWS], above[ROWS];
} brick_roots;

/* Sets slope[ROWS] to the differences from below to above; returns the sum of the squared differences to both. */
GBEES_PROCESSOR_CLONES static double take_slope(const brick_roots *r, lanes *slope)
{
    lanes squares = {0};

    for (int i = 0; i < ROWS; i++) {
        const lanes down = r->root[i] - r->below[i], up = r->above[i] - r->root[i];

        squares += down * down + up * up;
        slope[i] = r->above[i] - r->below[i];
    }
    return add_lanes(&squares);
}

/* Adds the products d_j d_k of all cells of a brick to sums[n][n], k <= j; d are the central differences of the
 * square root of P. In place of d_j^2 it adds the mean of the squared differences to both sides, in which values that
 * alternate from cell to cell do not cancel. Outside of the grid P is 0. */
static void add_information(const gbees_engine *e, uint32_t slot, double *sums)
{
    const int n = e->g.shape.n;
    lanes slope[GBEES_MAX_DIM][ROWS];
    brick_roots roots;

    take_roots(e, slot, (double *)roots.root);
    for (int j = 0; j < n; j++) {
        take_beside(e, slot, 2 * j, (double *)roots.root, (double *)roots.below);
        take_beside(e, slot, 2 * j + 1, (double *)roots.root, (double *)roots.above);
        sums[j * n + j] += 2 * take_slope(&roots, slope[j]);
        for (int k = 0; k < j; k++)
            sums[j * n + k] += product_of(slope[j], slope[k]);
    }
}

/* Adds the products of used bricks from .. to - 1. */
static void add_products_of(gbees_engine *e, const void *none, uint32_t from, uint32_t to, double *sums)
{
    (void)none;
    for (uint32_t k = from; k < to; k++)
        add_information(e, e->g.used[k], sums);
}

int engine_frame_information(gbees_engine *e, double *information, gbees_error *error)
{
    const int n = e->g.shape.n;
    const double *width = e->problem->width;
    double sum[GBEES_MAX_ENTRIES];

    ghosts_refresh(e, e->rows.p, -1);
    const int status = engine_add_up(e, &(brick_numbers){n * n, add_products_of, NULL}, sum, error);
    for (int j = 0; j < n && !status; j++)
        for (int k = 0; k <= j; k++)
            information[j * n + k] = information[k * n + j] =
                sum[j * n + k] / (e->run.ledger.mass * width[j] * width[k]);
    return status;
}
