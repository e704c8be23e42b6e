/* update.c - Bayes' rule at a measurement (paper, Eq. 4; doc/method.md, "Bayes update"). It is computed with
 * logarithms, so that products of small numbers do not underflow and leave an empty density. */
#include "common/measurement.h"
#include "engine.h"
#include "numerics/likelihood.h"
#include "ranks.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The likelihood of a measurement. */
typedef struct likelihood {
    const gbees_measurement *measurement;
    double time;
    measurement_terms terms;
    double lowest; /* cells whose log-likelihood is below it need no quadrature: see find_lowest() */
    double *known; /* log-likelihoods of all cells, [count][cells] in the order of the Used List; NULL: no memory is
                    * used, and they are evaluated twice */
} likelihood;

/* Bytes that likelihood.known may take, at most; nor may it take more than an eighth of the memory limit. */
enum { KNOWN_BYTES = 1 << 28 };

/* A cell whose log L is this much below the largest log(P L) has less than 10^-34 of the heaviest cell's P after the
 * update, which no p* lets stay. */
static const double negligible_below = 80;

/* The cells of a brick with P > 0. */
typedef struct cell_list {
    uint32_t slot;
    int count;
    unsigned char cell[64];
    double offset[GBEES_MAX_DIM][64]; /* [n][count]: of the cells' centres from that of the brick's lowest cell */
} cell_list;

static void list_cells(const gbees_engine *e, uint32_t slot, cell_list *list)
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

/* Sets out[count] to the log-likelihoods at the listed cells' centres plus shift[n]: relative to a perfect match, or
 * as the model's own likelihood function returns them. */
static void log_likelihoods_at(const gbees_engine *e, const likelihood *l, const cell_list *list, const double *shift,
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

/* Log-likelihoods of the listed cells, [count]. */
typedef struct cell_values {
    double centre[64], low[GBEES_MAX_DIM][64], high[GBEES_MAX_DIM][64]; /* at the centres, and those of the faces */
    double
        highest[64]; /* where the centre is negligible, an estimate of the largest in the cell; else the centre's */
} cell_values;

static void evaluate_cells(const gbees_engine *e, const likelihood *l, const cell_list *list, cell_values *at)
{
    const int n = e->g.shape.n;
    double shift[GBEES_MAX_DIM] = {0};

    log_likelihoods_at(e, l, list, shift, at->centre);
    for (int j = 0; j < n; j++) {
        shift[j] = -e->problem->width[j] / 2;
        log_likelihoods_at(e, l, list, shift, at->low[j]);
        shift[j] = e->problem->width[j] / 2;
        log_likelihoods_at(e, l, list, shift, at->high[j]);
        shift[j] = 0;
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
static void integrate_cells(const gbees_engine *e, const likelihood *l, const cell_list *list, uint64_t parts,
                            double *out)
{
    const int varying = gbees_parts_axes(parts), nodes = gbees_gauss_points(varying),
              points = (int)gbees_parts_points(parts);
    int axes[GBEES_MAX_DIM], count = 0;
    double shift[GBEES_MAX_DIM] = {0}, value[64], top[64], sum[64] = {0}, slope[GBEES_MAX_DIM][64];

    for (int j = 0; j < e->g.shape.n; j++)
        if (gbees_parts_along(parts, j))
            axes[count++] = j;
    find_slopes(e, list, axes, varying, slope);
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
        log_likelihoods_at(e, l, list, shift, value);
        for (int i = 0; i < list->count; i++) {
            double density = 1; /* over its average */

            for (int a = 0; a < varying; a++)
                density += slope[a][i] * place[a];
            add_exponential(&top[i], &sum[i], value[i], weight * density);
        }
    }
    for (int i = 0; i < list->count; i++)
        out[list->cell[i]] = top[i] + log(sum[i]);
}

/* Sets out[cells] to the logarithms of the factors by which a brick's P > 0 are multiplied: with cell averages the
 * likelihood's weighted averages, else its values at the centres. */
static void log_likelihoods(const gbees_engine *e, const likelihood *l, uint32_t slot, double *out)
{
    const double none[GBEES_MAX_DIM] = {0};
    cell_list list;
    cell_values at;
    uint64_t parts = 0;

    list_cells(e, slot, &list);
    if (e->method.averages)
        evaluate_cells(e, l, &list, &at);
    else
        log_likelihoods_at(e, l, &list, none, at.centre);
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
        integrate_cells(e, l, &list, gbees_parts_limited(parts), out);
}

/* Maxima over the cells with P > 0. */
typedef struct best {
    double likelihood; /* the largest log L */
    double weight;     /* the largest log(P L) */
    int finite;        /* 0: a log L is not a number */
} best;

/* Corrects a maximum by an OpenMP reduction of numbers that may all be minus infinity: compilers may begin it with
 * the least finite number, which then stands for minus infinity. */
static double restore_infinity(double largest)
{
    return largest > -DBL_MAX ? largest : -INFINITY;
}

/* The log-likelihood below which the one at a cell's centre is as good as its average over the cell: where it is 0 in
 * double precision, or the cell will be negligible beside the heaviest one, as P is 1 at most. A precise measurement
 * of a wide density leaves few others. */
static double find_lowest(gbees_engine *e, const likelihood *l)
{
    const double none[GBEES_MAX_DIM] = {0};
    double heaviest = -INFINITY;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) reduction(max : heaviest)
    for (uint32_t k = 0; k < e->g.count; k++) {
        const size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double log_l[64];
        cell_list list;

        if (engine_is_ghost(e, e->g.used[k]))
            continue;
        list_cells(e, e->g.used[k], &list);
        log_likelihoods_at(e, l, &list, none, log_l);
        for (int i = 0; i < list.count; i++)
            if (log_l[i] > heaviest)
                heaviest = fmax(heaviest, log(engine_p(e, at + list.cell[i])) + log_l[i]);
    }
    heaviest = restore_infinity(heaviest);
    ranks_most(e->ranks, &heaviest, 1);
    return fmax(l->terms.lowest, heaviest - negligible_below);
}

/* Finds the maxima over this rank's cells, and sets l->known. */
static best find_best(const gbees_engine *e, const likelihood *l)
{
    double most_likely = -INFINITY, heaviest = -INFINITY;
    int finite = 1;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) reduction(max : most_likely, heaviest)             \
    reduction(&& : finite)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double own[64], *log_l = l->known ? l->known + (size_t)k * (size_t)e->cells : own;

        if (engine_is_ghost(e, e->g.used[k])) { /* another rank's brick */
            memset(log_l, 0, (size_t)e->cells * sizeof *log_l);
            continue;
        }
        log_likelihoods(e, l, e->g.used[k], log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, at + (size_t)cell);

            if (!(p > 0))
                continue;
            finite = finite && !isnan(log_l[cell]);
            most_likely = fmax(most_likely, log_l[cell]);
            heaviest = fmax(heaviest, log(p) + log_l[cell]);
        }
    }
    return (best){restore_infinity(most_likely), restore_infinity(heaviest), finite};
}

/* Sets the error for the first cell, in the order of the Used List, whose log-likelihood is not a number. */
static int fail_likelihood(const gbees_engine *e, const likelihood *l, gbees_error *error)
{
    const gbees_shape *shape = &e->g.shape;

    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        const int32_t *key = grid_key(&e->g, slot);
        double log_l[64];

        if (engine_is_ghost(e, slot))
            continue;
        log_likelihoods(e, l, slot, log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            int32_t index[GBEES_MAX_DIM];

            if (!isnan(log_l[cell]) || !(engine_p(e, (size_t)slot * (size_t)e->cells + (size_t)cell) > 0))
                continue;
            for (int j = 0; j < shape->n; j++)
                index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
            return failure_likelihood(e->problem, l->measurement, l->time, index, error);
        }
    }
    return failure_likelihood(e->problem, l->measurement, l->time, NULL, error);
}

/* Sets `rows` to P L / max(P L). They are not rows.p, as slopes depend on the neighbours' P before the update. */
static void multiply(const gbees_engine *e, const likelihood *l, double heaviest, void *rows)
{
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double own[64], *log_l = l->known ? l->known + (size_t)k * (size_t)e->cells : own;

        if (!l->known)
            log_likelihoods(e, l, e->g.used[k], log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, at + (size_t)cell), weighted = p > 0 ? exp(log(p) + log_l[cell] - heaviest) : 0;

            if (e->method.real_size == sizeof(float))
                ((float *)rows)[at + (size_t)cell] = (float)weighted;
            else
                ((double *)rows)[at + (size_t)cell] = weighted;
        }
    }
}

/* Multiplies the density by the likelihood, in second rows, which are made if the scheme has none. */
static int apply_likelihood(gbees_engine *e, const likelihood *l, double heaviest, gbees_error *error)
{
    void *before = e->rows.p, *rows = e->rows.next ? e->rows.next : grid_rows_create(&e->g, &e->rows.p, error);

    if (!rows)
        return GBEES_ENOMEM;
    multiply(e, l, heaviest, rows);
    if (e->rows.next) {
        e->rows.p = rows;
        e->rows.next = before;
    } else {
        grid_rows_replace(&e->g, &e->rows.p, rows);
    }
    return 0;
}

/* All ranks: finds the maxima, and multiplies the density by the likelihood. Returns an error if no cell supports the
 * measurement, or a likelihood is not a number. */
static int multiply_or_fail(gbees_engine *e, const likelihood *l, best *top, gbees_error *error)
{
    *top = find_best(e, l);
    double most[] = {top->likelihood, top->weight};
    int status = ranks_agree(e->ranks, top->finite ? 0 : fail_likelihood(e, l, error), error);

    if (status)
        return status;
    ranks_most(e->ranks, most, 2);
    *top = (best){most[0], most[1], 1};
    status = failure_unsupported(l->measurement, l->time, top->likelihood, l->terms.lowest, error);
    if (status)
        return status;
    e->is_initial = 0;
    status = apply_likelihood(e, l, top->weight, error);
    return ranks_agree(e->ranks, status, error);
}

int engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    likelihood l = {.measurement = measurement, .time = clock->time};
    int status = measurement_prepare(measurement, clock->time, &l.terms, error);

    if (status)
        return status;
    size_t known = (size_t)e->g.count * (size_t)e->cells * sizeof *l.known;
    best top = {0};
    double sum = 1, before = e->run.ledger.mass;
    const double balance = gbees_ledger_before_update(&e->run.ledger);
    ghosts_refresh(e, e->rows.p, -1);
    l.lowest = e->method.averages ? find_lowest(e, &l) : l.terms.lowest;
    l.known = (double)known <= fmin(KNOWN_BYTES, e->memory_limit / 8) ? malloc(known + 1) : NULL;
    status = multiply_or_fail(e, &l, &top, error);
    free(l.known);
    if (!status)
        status = engine_sum_any(e, NULL, &sum, error); /* the largest P is 1, and the sum may be 8 or more */
    if (!status) {
        engine_scale(e, 1 / sum);
        status = engine_sum(e, NULL, &e->run.ledger.mass, error);
    }
    if (status)
        return status;
    double log_evidence = top.weight + log(sum) - log(before) + l.terms.log_norm;
    status = engine_prune(e, clock->time, 0, error);
    if (status)
        return status;
    gbees_ledger_update(&e->run.ledger, balance);
    *evidence = (gbees_evidence){.log_evidence = log_evidence, .log_likelihood_max = top.likelihood};
    return 0;
}
