/* dense.h - the paper's Algorithm 1 as it is printed, on a dense box: what the gathered form is held against.
 *
 * Fluxes are scattered, face by face, with plain loops and no thought of speed.  A box is periodic, or a window on a
 * sparse grid: then cells are present or absent, brick by brick, and an absent one reads as 0.
 */
#ifndef GBEES_TESTS_DENSE_H
#define GBEES_TESTS_DENSE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_DIM = 8 };

typedef struct dense {
    int n, size[DENSE_DIM], lo[DENSE_DIM]; /* cell 0 has the index lo */
    long stride[DENSE_DIM], cells;
    int edge[DENSE_DIM]; /* of a brick: present cells come in bricks */
    int periodic;
    int walls; /* the reference's rule: no flux through the lower face of a cell whose lower neighbour is absent */
    int divergence;   /* with the divergence term */
    int shared;       /* no cell gives more than it holds */
    int forward_only; /* the reference's growth: the velocity at the upper face counts for both directions */
    double width[DENSE_DIM];
    double *p, *v[DENSE_DIM], *flux[DENSE_DIM]; /* v, flux: at the upper face of a cell */
    double *share;                              /* of what would flow out of a cell */
    unsigned char *present;
    double clipped;
} dense;

/* A box of cells lo .. lo + size - 1, all absent and empty (periodic: all present). */
static inline void dense_create(dense *d, int n, const int *lo, const int *size, int periodic)
{
    *d = (dense){.n = n, .periodic = periodic, .cells = 1};
    for (int j = n - 1; j >= 0; j--) {
        d->size[j] = size[j];
        d->lo[j] = lo ? lo[j] : 0;
        d->stride[j] = d->cells;
        d->cells *= size[j];
        d->edge[j] = 1;
        d->width[j] = 1;
    }
    d->p = calloc((size_t)d->cells, sizeof *d->p);
    d->share = calloc((size_t)d->cells, sizeof *d->share);
    d->present = calloc((size_t)d->cells, 1);
    if (!d->p || !d->share || !d->present)
        abort();
    memset(d->present, periodic, (size_t)d->cells);
    for (int j = 0; j < n; j++) {
        d->v[j] = calloc((size_t)d->cells, sizeof **d->v);
        d->flux[j] = calloc((size_t)d->cells, sizeof **d->flux);
        if (!d->v[j] || !d->flux[j])
            abort();
    }
}

static inline void dense_destroy(dense *d)
{
    free(d->p);
    free(d->share);
    free(d->present);
    for (int j = 0; j < d->n; j++) {
        free(d->v[j]);
        free(d->flux[j]);
    }
    *d = (dense){0};
}

static inline int dense_coordinate(const dense *d, long cell, int axis)
{
    return (int)(cell / d->stride[axis] % d->size[axis]);
}

/* The cell one step further along an axis, -1 outside of the box or of nowhere. */
static inline long dense_next(const dense *d, long cell, int axis, int step)
{
    if (cell < 0)
        return -1;
    int at = dense_coordinate(d, cell, axis) + step;
    if (at >= 0 && at < d->size[axis])
        return cell + step * d->stride[axis];
    return d->periodic ? cell + (step - (at < 0 ? -d->size[axis] : d->size[axis])) * d->stride[axis] : -1;
}

static inline int dense_here(const dense *d, long cell)
{
    return cell >= 0 && d->present[cell];
}

static inline double dense_p(const dense *d, long cell)
{
    return dense_here(d, cell) ? d->p[cell] : 0;
}

/* The cell of an index, -1 if it lies outside. */
static inline long dense_cell(const dense *d, const int32_t *index)
{
    long cell = 0;

    for (int j = 0; j < d->n; j++) {
        int at = index[j] - d->lo[j];

        if (at < 0 || at >= d->size[j])
            return -1;
        cell += at * d->stride[j];
    }
    return cell;
}

static inline void dense_index(const dense *d, long cell, int32_t *index)
{
    for (int j = 0; j < d->n; j++)
        index[j] = d->lo[j] + dense_coordinate(d, cell, j);
}

/* Makes a cell present, and its brick with it. */
static inline void dense_insert(dense *d, long cell)
{
    int32_t index[DENSE_DIM], other[DENSE_DIM];
    int cells = 1;

    if (cell < 0 || d->present[cell])
        return;
    dense_index(d, cell, index);
    for (int j = 0; j < d->n; j++) {
        index[j] -= (index[j] % d->edge[j] + d->edge[j]) % d->edge[j];
        cells *= d->edge[j];
    }
    for (int c = 0; c < cells; c++) {
        int rest = c;

        for (int j = 0; j < d->n; j++) {
            other[j] = index[j] + rest % d->edge[j];
            rest /= d->edge[j];
        }
        long at = dense_cell(d, other);
        if (at >= 0)
            d->present[at] = 1;
    }
}

/* Whether the flow leaves a cell downwards (0) or upwards (1) along an axis. */
static inline int dense_flows(const dense *d, long cell, int axis, int up)
{
    long lower = dense_next(d, cell, axis, -1);

    if (up)
        return d->v[axis][cell] > 0;
    return (d->forward_only || lower < 0 ? d->v[axis][cell] : d->v[axis][lower]) < 0;
}

/* Calls for each face and edge neighbour that a cell flows into; -1 where the box ends. */
static inline void dense_downwind(const dense *d, long cell, void (*visit)(void *context, long neighbor),
                                  void *context)
{
    for (int a = 0; a < 2 * d->n; a++) {
        if (!dense_flows(d, cell, a / 2, a % 2))
            continue;
        long face = dense_next(d, cell, a / 2, a % 2 ? 1 : -1);
        visit(context, face);
        for (int b = (a | 1) + 1; b < 2 * d->n; b++)
            if (dense_flows(d, cell, b / 2, b % 2))
                visit(context, dense_next(d, face, b / 2, b % 2 ? 1 : -1));
    }
}

static inline void dense_insert_visit(void *context, long neighbor)
{
    dense_insert(context, neighbor);
}

static inline void dense_grow(dense *d, double threshold)
{
    for (long cell = 0; cell < d->cells; cell++)
        if (d->present[cell] && d->p[cell] >= threshold)
            dense_downwind(d, cell, dense_insert_visit, d);
}

/* phi(theta) d, with the division. */
static inline double dense_limited(double d, double upwind_d)
{
    double theta = upwind_d / d;

    return d == 0 ? 0 : fmax(0, fmin(fmin((1 + theta) / 2, 2), 2 * theta)) * d;
}

/* Algorithm 1: from the interface below a cell along axis j to the four faces along axis l. */
static inline void dense_corners(dense *d, long i, int j, double step)
{
    long below = dense_next(d, i, j, -1);
    double star = step / (2 * d->width[j]) * (dense_p(d, i) - dense_p(d, below));
    double v = below < 0 ? 0 : d->v[j][below];

    if (star == 0 || below < 0 || (d->walls && !(dense_here(d, i) && dense_here(d, below))))
        return;
    for (int l = 0; l < d->n; l++) {
        long i_l = dense_next(d, i, l, -1), below_l = dense_next(d, below, l, -1);

        if (l == j)
            continue;
        if (dense_here(d, i)) {
            d->flux[l][i] -= fmax(v, 0) * fmax(d->v[l][i], 0) * star;
            if (i_l >= 0)
                d->flux[l][i_l] -= fmax(v, 0) * fmin(d->v[l][i_l], 0) * star;
        }
        if (dense_here(d, below)) {
            d->flux[l][below] -= fmin(v, 0) * fmax(d->v[l][below], 0) * star;
            if (below_l >= 0)
                d->flux[l][below_l] -= fmin(v, 0) * fmin(d->v[l][below_l], 0) * star;
        }
    }
}

static inline double dense_divergence(const dense *d, long cell)
{
    double sum = 0;

    for (int j = 0; j < d->n; j++) {
        long below = dense_next(d, cell, j, -1);

        sum += below < 0 ? 0 : (d->v[j][cell] - d->v[j][below]) / d->width[j];
    }
    return sum;
}

/* Cuts the fluxes out of each cell so that they are no more than it holds. */
static inline void dense_share(dense *d, double step)
{
    for (long i = 0; i < d->cells; i++) {
        double out = 0;

        for (int l = 0; l < d->n; l++) {
            long below = dense_next(d, i, l, -1);

            out += step / d->width[l] * (fmax(d->flux[l][i], 0) - (below < 0 ? 0 : fmin(d->flux[l][below], 0)));
        }
        d->share[i] = out > dense_p(d, i) ? dense_p(d, i) / out : 1;
    }
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++) {
            long above = dense_next(d, i, l, 1);

            d->flux[l][i] *= d->flux[l][i] > 0 ? d->share[i] : above < 0 ? 0 : d->share[above];
        }
}

static inline void dense_fluxes(dense *d, double step)
{
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++) {
            double u = d->v[l][i];

            d->flux[l][i] = fmax(u, 0) * dense_p(d, i) + fmin(u, 0) * dense_p(d, dense_next(d, i, l, 1));
        }
    for (long i = 0; i < d->cells; i++)
        for (int j = 0; j < d->n; j++)
            dense_corners(d, i, j, step);
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++) {
            long above = dense_next(d, i, l, 1), far = dense_next(d, above, l, 1), below = dense_next(d, i, l, -1);
            double u = d->v[l][i], a = fabs(u), d0 = dense_p(d, above) - dense_p(d, i);
            double upwind = u > 0 ? dense_p(d, i) - dense_p(d, below) : dense_p(d, far) - dense_p(d, above);

            if (!d->walls || (dense_here(d, i) && dense_here(d, above)))
                d->flux[l][i] += 0.5 * a * (1 - a * step / d->width[l]) * dense_limited(d0, upwind);
            if (d->divergence && u != 0) {
                long from = u > 0 ? i : above;

                d->flux[l][i] -= dense_here(d, from) ? u * step / 2 * dense_divergence(d, from) * d->p[from] : 0;
            }
        }
    if (d->shared)
        dense_share(d, step);
}

/* One step; given `clip`, negative cells become 0. */
static inline void dense_step(dense *d, double step, int clip)
{
    dense_fluxes(d, step);
    for (long i = 0; i < d->cells; i++) {
        if (!d->present[i])
            continue;
        for (int l = 0; l < d->n; l++) {
            long below = dense_next(d, i, l, -1);
            double in = below < 0 || (d->walls && !d->present[below]) ? 0 : d->flux[l][below];

            d->p[i] -= step / d->width[l] * (d->flux[l][i] - in);
        }
        if (clip && d->p[i] < 0) {
            d->clipped -= d->p[i];
            d->p[i] = 0;
        }
    }
}

/* Makes all cells absent and empty. */
static inline void dense_clear(dense *d)
{
    for (long i = 0; i < d->cells; i++) {
        d->present[i] = 0;
        d->p[i] = 0;
    }
}

static inline double dense_sum(const dense *d)
{
    double sum = 0;

    for (long i = 0; i < d->cells; i++)
        sum += d->p[i];
    return sum;
}

static inline double dense_most(const dense *d)
{
    double most = 0;

    for (long i = 0; i < d->cells; i++)
        most = fmax(most, fabs(d->p[i]));
    return most;
}

static inline void dense_scale(dense *d, double factor)
{
    for (long i = 0; i < d->cells; i++)
        d->p[i] *= factor;
}

#endif
