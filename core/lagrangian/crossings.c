/* crossings.c - see crossings.h. */
#include "crossings.h"
#include "base/array.h"
#include "base/no_memory.h"
#include "numerics/likelihood.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>

enum { DIMENSIONS = 2, LEAST_EDGES = 64, EDGES = 2048 /* whose middles are looked at */ };

/* A residual in the middle of an edge is beside where neighbours say it is by more than a deviation and this part of
 * the edge's own change. */
static const double bent_by = 0.25;

/* What is between two points counts if it is heavier than both by exp() of this. */
static const double heavier = 2;

/* The residuals of all points, and the likelihood as a function of them. */
typedef struct residuals {
    const gbees_measurement *measurement;
    gbees_residual_law by;
    double *r; /* [count][size] */
} residuals;

static int find_residuals(const gbees_past *past, const gbees_lattice *lattice, const gbees_measurement *measurement,
                          residuals *all, gbees_error *error)
{
    const double *x[GBEES_MAX_DIM];

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        x[j] = lattice->x[j];
    all->measurement = measurement;
    all->r = gbees_array_create((size_t)lattice->count * (size_t)measurement->size, sizeof *all->r);
    return all->r ? gbees_measurement_residuals(past->problem, measurement, past->now, lattice->count, x, all->r,
                                                &all->by, error)
                  : gbees_no_memory(error, "for the residuals of points");
}

/* The log-likelihood of a residual whose square, r^T A r, is given. */
static double log_likelihood(const residuals *all, double square)
{
    const gbees_measurement *m = all->measurement;
    const double gaussian = -square / 2;

    return all->by.log_peak + (m->likelihood == GBEES_LIKELIHOOD_STUDENT
                                   ? gbees_student_exponent(gaussian, all->by.size, m->degrees_of_freedom)
                                   : gaussian);
}

/* a^T A b. */
static double product(const residuals *all, const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < all->by.size; j++)
        for (int k = 0; k < all->by.size; k++)
            sum += a[j] * all->by.inverse[j * all->by.size + k] * b[k];
    return sum;
}

/* Notes what is beside point i; of.curvature: the second derivative of r^T A r / 2. */
static int note(const residuals *all, gbees_lattice *lattice, uint32_t i, gbees_crossing of, gbees_error *error)
{
    const gbees_measurement *m = all->measurement;

    lattice->reach[i] = fmax(lattice->reach[i], of.peak);
    if (m->likelihood == GBEES_LIKELIHOOD_STUDENT)
        of.curvature *= (m->degrees_of_freedom + all->by.size) / m->degrees_of_freedom;
    lattice->steepest = fmax(lattice->steepest, of.curvature);
    if (!(of.peak - of.lower > heavier)) /* not even by all of the likelihood */
        return GBEES_OK;
    if (gbees_array_grow(&lattice->crossing, lattice->crossing_count, &lattice->crossing_capacity,
                         sizeof *lattice->crossing))
        return gbees_no_memory(error, "for what is between points");
    lattice->crossing[lattice->crossing_count++] = of;
    return GBEES_OK;
}

/* Looks at the edge between points i and k. */
static int look(const residuals *all, gbees_lattice *lattice, uint32_t i, uint32_t k, gbees_error *error)
{
    const int size = all->by.size;
    const double *from = all->r + (size_t)i * (size_t)size, *to = all->r + (size_t)k * (size_t)size;
    double way[GBEES_MAX_DIM];

    for (int j = 0; j < size; j++)
        way[j] = gbees_wrapped(to[j] - from[j], all->by.period[j]);
    const double bend = product(all, way, way), slope = product(all, from, way), place = -slope / bend;
    if (!(place > 0 && place < 1)) /* also where a point has left every bound */
        return GBEES_OK;
    const gbees_crossing of = {.log_weight = (lattice->log_weight[i] + lattice->log_weight[k]) / 2,
                               .peak = log_likelihood(all, fmax(product(all, from, from) - slope * slope / bend, 0)),
                               .lower = fmax(lattice->gain[i], lattice->gain[k]),
                               .curvature = bend};

    lattice->reach[k] = fmax(lattice->reach[k], of.peak);
    return note(all, lattice, i, of, error);
}

/* Looks beside point i, between its neighbours, for where a single residual turns back. */
static int look_around(const residuals *all, gbees_lattice *lattice, uint32_t below, uint32_t i, uint32_t above,
                       gbees_error *error)
{
    const double period = all->by.period[0], down = gbees_wrapped(all->r[below] - all->r[i], period),
                 up = gbees_wrapped(all->r[above] - all->r[i], period), bend = (down + up) / 2,
                 slope = (up - down) / 2, turn = all->r[i] - slope * slope / (4 * bend);
    const int crosses = turn * all->r[i] < 0;

    if (!(fabs(slope) < 2 * fabs(bend))) /* it turns elsewhere, or nowhere */
        return GBEES_OK;
    const gbees_crossing of = {.log_weight = lattice->log_weight[i],
                               .peak = log_likelihood(all, crosses ? 0 : turn * turn * all->by.inverse[0]),
                               .lower = fmax(lattice->gain[i], fmax(lattice->gain[below], lattice->gain[above])),
                               .curvature = 4 * fabs(bend * turn) * all->by.inverse[0]};

    return note(all, lattice, i, of, error);
}

/* The neighbour of point i on a side, if both have a weight; else GBEES_NO_POINT. */
static uint32_t beside(const gbees_lattice *lattice, uint32_t i, int side)
{
    const gbees_site site = gbees_site_beside(&lattice->site[i], side);
    const uint32_t k = gbees_lattice_find(lattice, &site);

    return k < lattice->count && lattice->log_weight[i] > -INFINITY && lattice->log_weight[k] > -INFINITY
               ? k
               : GBEES_NO_POINT;
}

int gbees_crossings_are_found(const gbees_lattice *lattice, const gbees_measurement *measurement)
{
    return lattice->n <= DIMENSIONS && measurement && measurement->likelihood != GBEES_LIKELIHOOD_MODEL;
}

int gbees_crossings_find(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                         gbees_error *error)
{
    residuals all = {.r = NULL};

    gbees_lattice_uncross(lattice);
    if (!gbees_crossings_are_found(lattice, measurement))
        return GBEES_OK;
    lattice->reach = gbees_array_create(lattice->count, sizeof *lattice->reach);
    if (!lattice->reach)
        return gbees_no_memory(error, "for what is between points");
    for (uint32_t i = 0; i < lattice->count; i++)
        lattice->reach[i] = lattice->gain[i];
    int status = gbees_lattice_index(lattice, error);
    if (!status)
        status = find_residuals(past, lattice, measurement, &all, error);
    for (uint32_t i = 0; i < lattice->count && !status; i++)
        for (int a = 0; a < lattice->n && !status; a++) {
            const uint32_t below = beside(lattice, i, 2 * a), above = beside(lattice, i, 2 * a + 1);

            if (above != GBEES_NO_POINT)
                status = look(&all, lattice, i, above, error);
            if (!status && all.by.size == 1 && above != GBEES_NO_POINT && below != GBEES_NO_POINT)
                status = look_around(&all, lattice, below, i, above, error);
        }
    free(all.r);
    return status;
}

double gbees_crossings_hidden(const gbees_lattice *lattice, double beta, double log_unit)
{
    const double pi = acos(-1);
    double sum = 0;

    for (size_t k = 0; k < lattice->crossing_count; k++) {
        const gbees_crossing *of = &lattice->crossing[k];

        if (beta * (of->peak - of->lower) > heavier)
            sum += exp(fmin(of->log_weight + beta * of->peak - log_unit, 700)) *
                   fmin(1, sqrt(2 * pi / (beta * of->curvature)));
    }
    return sum;
}

/* An edge: the point below it, both ends, and the point above it; the outer ones may be GBEES_NO_POINT. */
typedef struct edge {
    uint32_t point[4];
} edge;

/* Adds the middles of edges, in two dimensions of one in eight, to an empty lattice, and the edges to all[EDGES]. */
static int add_middles(const gbees_lattice *from, gbees_lattice *to, edge *all, gbees_error *error)
{
    const uint32_t count = gbees_lattice_inner(from), some = from->n == 1 ? count : count / 8,
                   part = some < EDGES ? some : EDGES, edges = part > LEAST_EDGES ? part : LEAST_EDGES,
                   step = (count + edges - 1) / edges;
    int status = GBEES_OK;

    for (uint32_t i = 0; i < count && !status; i += step) {
        const int axis = (int)(i / step) % from->n;
        const uint32_t k = beside(from, i, 2 * axis + 1);
        double x0[GBEES_MAX_DIM];

        if (k == GBEES_NO_POINT)
            continue;
        gbees_lattice_start(from, &from->site[i], x0);
        for (int j = 0; j < from->n; j++)
            x0[j] += from->axes[j * from->n + axis] / 2;
        all[to->count] = (edge){{beside(from, i, 2 * axis), i, k, beside(from, k, 2 * axis + 1)}};
        status = gbees_lattice_append_between(to, x0, error);
    }
    return status;
}

/* Whether the residual in the middle of an edge is not where those of up to four points in its row say it is. */
static int is_bent(const residuals *all, const edge *of, const double *middle)
{
    const size_t size = (size_t)all->by.size;
    const double *low = all->r + of->point[1] * size, *high = all->r + of->point[2] * size;
    const int whole = of->point[0] != GBEES_NO_POINT && of->point[3] != GBEES_NO_POINT;
    double way[GBEES_MAX_DIM], off[GBEES_MAX_DIM];

    for (size_t j = 0; j < size; j++) {
        const double period = all->by.period[j];

        way[j] = gbees_wrapped(high[j] - low[j], period);
        off[j] = gbees_wrapped(middle[j] - low[j] - way[j] / 2, period);
        if (whole) /* of the cubic through all four */
            off[j] -= (way[j] - gbees_wrapped(all->r[of->point[0] * size + j] - low[j], period) -
                       gbees_wrapped(all->r[of->point[3] * size + j] - low[j], period)) /
                      16;
    }
    return product(all, off, off) > fmax(1, bent_by * bent_by * product(all, way, way));
}

int gbees_crossings_bent(const gbees_past *past, const gbees_source *source, const gbees_lattice *lattice,
                         const gbees_measurement *measurement, double *share, gbees_error *error)
{
    residuals points = {.r = NULL}, middles = {.r = NULL};
    uint32_t bent = 0;
    edge of[EDGES];
    gbees_lattice *between = NULL;

    *share = 0;
    if (!gbees_crossings_are_found(lattice, measurement))
        return GBEES_OK;
    int status = gbees_lattice_create(lattice->n, lattice->origin, lattice->axes, &between, error);
    if (!status)
        status = gbees_lattice_watch(between, past->problem, error);
    if (!status)
        status = add_middles(lattice, between, of, error);
    if (!status && between->count > 0)
        status = gbees_past_evaluate(past, source, between, 0, &gbees_no_update, -INFINITY, NULL, error);
    if (!status)
        status = find_residuals(past, lattice, measurement, &points, error);
    if (!status)
        status = find_residuals(past, between, measurement, &middles, error);
    for (uint32_t i = 0; !status && i < between->count; i++)
        bent += (uint32_t)is_bent(&points, &of[i], middles.r + i * (size_t)points.by.size);
    if (!status && between->count > 0)
        *share = (double)bent / between->count;
    gbees_lattice_destroy(between);
    free(points.r);
    free(middles.r);
    return status;
}
