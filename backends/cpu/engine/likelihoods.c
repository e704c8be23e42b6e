/* likelihoods.c - a likelihood's values and averages over cells; see likelihoods.h. */
#include "likelihoods.h"
#include "numerics/likelihood.h"
#include <limits.h>
#include <math.h>
#include <string.h>

void likelihoods_list(const gbees_engine *e, uint32_t slot, cell_list *list)
{
    list->slot = slot;
    list->count = 0;
    for (int cell = 0; cell < e->cells; cell++)
        if (engine_p(e, (size_t)slot * (size_t)e->cells + (size_t)cell) > 0)
            list->cell[list->count++] = (unsigned char)cell;
    for (int j = 0; j < e->g.shape.n; j++)
        for (int i = 0; i < list->count; i++)
            list->offset[j][i] = e->tables.cell_offset[j][list->cell[i]];
}

/* Sets out[count] to log-likelihoods relative to that of a perfect match. y[size][count]: the measured function. */
static void residual_exponents(const likelihood *l, double (*y)[64], int count, double *out)
{
    for (int i = 0; i < count; i++) {
        double here[GBEES_MAX_DIM];

        for (int j = 0; j < l->measurement->size; j++)
            here[j] = y[j][i];
        out[i] = measurement_exponent(l->measurement, &l->terms, here);
    }
}

/* The exponent of the Gaussian from which a log-likelihood was computed: itself, unless it is Student's t. */
static double gaussian_of(const likelihood *l, double value)
{
    const gbees_measurement *m = l->measurement;

    return m->likelihood == GBEES_LIKELIHOOD_STUDENT
               ? gbees_student_gaussian(value, l->terms.measured, m->degrees_of_freedom)
               : value;
}

void likelihoods_at(const gbees_engine *e, const likelihood *l, const cell_list *list, const double *shift,
                    double *out)
{
    const gbees_measurement *measurement = l->measurement;
    double base[GBEES_MAX_DIM], y[GBEES_MAX_DIM][64];
    const double *offset[GBEES_MAX_DIM];
    double *column[GBEES_MAX_DIM + 1] = {0};

    engine_base(e, list->slot, base);
    for (int j = 0; j < e->g.shape.n; j++) {
        offset[j] = list->offset[j];
        base[j] += shift[j];
    }
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL) {
        e->problem->functions->log_likelihood_d(measurement->function, (size_t)list->count, l->time, base, offset,
                                                e->tables.parameters_d, measurement->value, out);
        for (int i = 0; i < list->count; i++)
            out[i] = gbees_own_log_likelihood(out[i]);
        return;
    }
    for (int j = 0; j < measurement->size; j++)
        column[j] = y[j];
    e->problem->functions->measure_d(measurement->function, (size_t)list->count, l->time, base, offset,
                                     e->tables.parameters_d, column);
    residual_exponents(l, y, list->count, out);
}

/* One cell of each group of listed cells that differ only along axes on which the likelihood is constant: as with a
 * measurement of places, that does not depend on velocities. It is evaluated there alone. */
typedef struct cell_groups {
    cell_list first;
    unsigned char of[64]; /* [list's count]: each cell's group */
} cell_groups;

/* The lowest cell of the brick from which a cell differs only along axes of a set. */
static int lowest_beside(const gbees_shape *shape, int cell, unsigned axes)
{
    for (int j = 0; j < shape->n; j++)
        for (int k = axes >> j & 1 ? gbees_shape_local(shape, cell, j) : 0; k > 0; k--)
            cell = gbees_shape_beside(shape, cell, 2 * j);
    return cell;
}

static void group_cells(const gbees_engine *e, const cell_list *list, unsigned axes, cell_groups *groups)
{
    unsigned char of[64];
    cell_list *first = &groups->first;

    memset(of, UCHAR_MAX, sizeof of);
    first->slot = list->slot;
    first->count = 0;
    for (int i = 0; i < list->count; i++) {
        unsigned char *group = &of[lowest_beside(&e->g.shape, list->cell[i], axes)];

        if (*group == UCHAR_MAX) {
            *group = (unsigned char)first->count;
            first->cell[first->count] = list->cell[i];
            for (int j = 0; j < e->g.shape.n; j++)
                first->offset[j][first->count] = list->offset[j][i];
            first->count++;
        }
        groups->of[i] = *group;
    }
}

/* The axes along which values of the listed cells, [count], are the same in all pairs of neighbours of a brick. */
static unsigned find_constant(const gbees_shape *shape, const cell_list *list, const double *value)
{
    int place[64];
    unsigned axes = 0;

    for (int cell = 0; cell < 64; cell++)
        place[cell] = -1;
    for (int i = 0; i < list->count; i++)
        place[list->cell[i]] = i;
    for (int j = 0; j < shape->n; j++) {
        int pairs = 0, differ = 0;

        for (int i = 0; i < list->count; i++) {
            const int cell = list->cell[i];
            const int below =
                gbees_shape_local(shape, cell, j) > 0 ? place[gbees_shape_beside(shape, cell, 2 * j)] : -1;

            pairs += below >= 0;
            differ += below >= 0 && !(value[i] == value[below]);
        }
        axes |= (unsigned)(pairs > 0 && differ == 0) << j;
    }
    return axes;
}

/* Log-likelihoods of the listed cells, [count]. */
typedef struct cell_values {
    unsigned constant;                                                  /* axes along which they are, a bit each */
    double centre[64], low[GBEES_MAX_DIM][64], high[GBEES_MAX_DIM][64]; /* at the centres, and those of the faces */
    double
        highest[64]; /* where the centre is negligible, an estimate of the largest in the cell; else the centre's */
} cell_values;

/* Sets what is at the faces along each axis from one cell of each group. Returns whether `constant` is right: the
 * likelihood may have the same values at centres and others between them. */
static int evaluate_faces(const gbees_engine *e, const likelihood *l, const cell_list *list, cell_values *at)
{
    double shift[GBEES_MAX_DIM] = {0}, low[64], high[64];
    cell_groups groups;

    group_cells(e, list, at->constant, &groups);
    for (int j = 0; j < e->g.shape.n; j++) {
        shift[j] = -e->problem->width[j] / 2;
        likelihoods_at(e, l, &groups.first, shift, low);
        shift[j] = e->problem->width[j] / 2;
        likelihoods_at(e, l, &groups.first, shift, high);
        shift[j] = 0;
        for (int i = 0; i < list->count; i++) {
            at->low[j][i] = low[groups.of[i]];
            at->high[j][i] = high[groups.of[i]];
            if (at->constant >> j & 1 && !(at->low[j][i] == at->centre[i] && at->high[j][i] == at->centre[i]))
                return 0;
        }
    }
    return 1;
}

static void evaluate_cells(const gbees_engine *e, const likelihood *l, const cell_list *list, cell_values *at)
{
    const double none[GBEES_MAX_DIM] = {0};
    const int n = e->g.shape.n;

    likelihoods_at(e, l, list, none, at->centre);
    at->constant = find_constant(&e->g.shape, list, at->centre);
    if (!evaluate_faces(e, l, list, at)) {
        at->constant = 0;
        (void)evaluate_faces(e, l, list, at);
    }
    for (int i = 0; i < list->count; i++) {
        at->highest[i] = at->centre[i];
        for (int j = 0; j < n && !(at->centre[i] > l->lowest); j++)
            at->highest[i] += gbees_likelihood_rise(at->low[j][i], at->centre[i], at->high[j][i]);
    }
}

/* The number of parts into which the listed cells are cut along axis j for quadrature; 0: the likelihood is constant
 * along the axis in all of them. */
static int parts_along(const likelihood *l, const cell_values *at, int count, int j)
{
    double most = 0;
    int varies = 0;

    for (int i = 0; i < count; i++) {
        const double low = at->low[j][i], centre = at->centre[i], high = at->high[j][i];

        if (!gbees_likelihood_varies(gbees_likelihood_change(low, centre, high, at->highest[i], l->terms.lowest)))
            continue;
        const double bend = gbees_likelihood_bend(gaussian_of(l, low), gaussian_of(l, centre), gaussian_of(l, high));

        varies = 1;
        most = bend > most ? bend : most;
    }
    return varies ? gbees_likelihood_parts(most) : 0;
}

/* Removes the cells that will be negligible from the list, once their results are out[cells]. */
static void drop_negligible(const likelihood *l, const cell_values *at, cell_list *list, int n)
{
    int kept = 0;

    for (int i = 0; i < list->count; i++) {
        if (at->highest[i] <= l->lowest)
            continue;
        list->cell[kept] = list->cell[i];
        for (int j = 0; j < n; j++)
            list->offset[j][kept] = list->offset[j][i];
        kept++;
    }
    list->count = kept;
}

/* Sets slope[axes][count] to the limited slopes of the density inside the listed cells along axes[], over P. */
static void find_slopes(const gbees_engine *e, const cell_list *list, const int *axes, int varying,
                        double (*slope)[64])
{
    const gbees_shape *shape = &e->g.shape;
    const size_t cells = (size_t)e->cells, row = list->slot * cells;
    double sum[64] = {0};

    for (int a = 0; a < varying; a++) {
        const int down = 2 * axes[a], up = down + 1;
        const size_t below = grid_neighbor(&e->g, list->slot, down) * cells,
                     above = grid_neighbor(&e->g, list->slot, up) * cells;

        for (int i = 0; i < list->count; i++) {
            const int cell = list->cell[i];
            const size_t to_below = (size_t)gbees_shape_beside(shape, cell, down);
            const size_t to_above = (size_t)gbees_shape_beside(shape, cell, up);
            const int first = (int)(gbees_shape_side(shape, down) >> cell & 1),
                      last = (int)(gbees_shape_side(shape, up) >> cell & 1);

            slope[a][i] =
                gbees_cell_slope(engine_p(e, (first ? below : row) + to_below), engine_p(e, row + (size_t)cell),
                                 engine_p(e, (last ? above : row) + to_above));
            sum[i] += fabs(slope[a][i]);
        }
    }
    for (int a = 0; a < varying; a++)
        for (int i = 0; i < list->count; i++)
            slope[a][i] *= gbees_slope_limiter(sum[i]);
}

/* Adds weight * exp(value) to a sum that is kept as *sum * exp(*top), where *top is the largest exponent so far. */
static inline void add_exponential(double *top, double *sum, double value, double weight)
{
    if (value == -INFINITY) /* a likelihood of 0 */
        return;
    if (value <= *top) {
        *sum += weight * exp(value - *top);
        return;
    }
    *sum = weight + *sum * exp(*top - value); /* NaN if value is */
    *top = value;
}

/* Sets out[cells] of the listed cells to the logarithms of the likelihood's averages over them, weighted with the
 * density by its slopes: by Gauss quadrature with these parts (gbees_parts_along()). */
static void integrate_cells(const gbees_engine *e, const likelihood *l, const cell_list *list, unsigned constant,
                            uint64_t parts, double *out)
{
    const int varying = gbees_parts_axes(parts), nodes = gbees_gauss_points(varying),
              points = (int)gbees_parts_points(parts);
    int axes[GBEES_MAX_DIM], count = 0;
    double shift[GBEES_MAX_DIM] = {0}, value[64], top[64], sum[64] = {0}, slope[GBEES_MAX_DIM][64];
    cell_groups groups;

    for (int j = 0; j < e->g.shape.n; j++)
        if (gbees_parts_along(parts, j))
            axes[count++] = j;
    find_slopes(e, list, axes, varying, slope);
    group_cells(e, list, constant, &groups);
    for (int i = 0; i < list->count; i++)
        top[i] = -INFINITY;
    for (int point = 0; point < points; point++) {
        double weight = 1, place[GBEES_MAX_DIM];
        int digits = point;

        for (int a = 0; a < varying; a++) {
            const int along = gbees_parts_along(parts, axes[a]), node = digits % (along * nodes);

            place[a] = gbees_cell_node(nodes, along, node);
            shift[axes[a]] = e->problem->width[axes[a]] * place[a];
            weight *= gbees_cell_weight(nodes, along, node);
            digits /= along * nodes;
        }
        likelihoods_at(e, l, &groups.first, shift, value);
        for (int i = 0; i < list->count; i++) {
            double density = 1; /* over its average */

            for (int a = 0; a < varying; a++)
                density += slope[a][i] * place[a];
            add_exponential(&top[i], &sum[i], value[groups.of[i]], weight * density);
        }
    }
    for (int i = 0; i < list->count; i++)
        out[list->cell[i]] = top[i] + log(sum[i]);
}

void likelihoods_of_brick(const gbees_engine *e, const likelihood *l, uint32_t slot, double *out)
{
    const double none[GBEES_MAX_DIM] = {0};
    cell_list list;
    cell_values at;
    uint64_t parts = 0;

    likelihoods_list(e, slot, &list);
    if (e->method.averages)
        evaluate_cells(e, l, &list, &at);
    else
        likelihoods_at(e, l, &list, none, at.centre);
    for (int cell = 0; cell < e->cells; cell++)
        out[cell] = -INFINITY; /* where P is 0 */
    for (int i = 0; i < list.count; i++)
        out[list.cell[i]] = at.centre[i];
    if (!e->method.averages)
        return;
    for (int j = 0; j < e->g.shape.n; j++)
        parts |= (uint64_t)parts_along(l, &at, list.count, j) << 8 * j;
    drop_negligible(l, &at, &list, e->g.shape.n);
    if (parts)
        integrate_cells(e, l, &list, at.constant, gbees_parts_limited(parts), out);
}
