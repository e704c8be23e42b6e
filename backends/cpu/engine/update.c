/* update.c - Bayes' rule at a measurement (paper, Eq. 4; doc/method.md, "Bayes update"). It is computed with
 * logarithms, so that products of small numbers do not underflow and leave an empty density. */
#include "base/seconds.h"
#include "likelihoods.h"
#include "ranks.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that likelihood.known may take, at most; nor may it take more than an eighth of the memory limit. */
enum { KNOWN_BYTES = 1 << 28, ASKED = 64 /* bricks, after which it is asked whether the run goes on */ };

#define LONG_S 0.5

/* A cell whose log L is this much below the largest log(P L) has less than 10^-34 of the heaviest cell's P after the
 * update, which no p* lets stay. */
static const double negligible_below = 80;

/* Maxima over the cells with P > 0. */
typedef struct best {
    double likelihood; /* the largest log L */
    double weight;     /* the largest log(P L) */
    int finite;        /* 0: a log L is not a number */
    int called_off;    /* 1: not all cells have been looked at, as the run is to end */
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
        likelihoods_list(e, e->g.used[k], &list);
        likelihoods_at(e, l, &list, none, log_l);
        for (int i = 0; i < list.count; i++)
            if (log_l[i] > heaviest)
                heaviest = fmax(heaviest, log(engine_p(e, at + list.cell[i])) + log_l[i]);
    }
    heaviest = restore_infinity(heaviest);
    ranks_most(e->ranks, &heaviest, 1);
    return fmax(l->terms.lowest, heaviest - negligible_below);
}

/* Whether the run is to end, which the calling thread of a loop asks at some bricks, once the update has lasted for
 * LONG_S seconds: a run that goes on for less gets past it. */
static int is_called_off(const gbees_engine *e, uint32_t k, double began_s, int *called_off)
{
    int now;

    if (k % ASKED == 0 && e->cancelled && omp_get_thread_num() == 0 && gbees_seconds_now() - began_s > LONG_S &&
        e->cancelled(e->cancelled_context)) {
#pragma omp atomic write
        *called_off = 1;
    }
#pragma omp atomic read
    now = *called_off;
    return now;
}

/* Finds the maxima over this rank's cells, and sets l->known. */
static best find_best(const gbees_engine *e, const likelihood *l)
{
    double most_likely = -INFINITY, heaviest = -INFINITY;
    const double began_s = gbees_seconds_now();
    int finite = 1, called_off = 0;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) reduction(max : most_likely, heaviest)             \
    reduction(&& : finite)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double own[64], *log_l = l->known ? l->known + (size_t)k * (size_t)e->cells : own;

        if (is_called_off(e, k, began_s, &called_off))
            continue;
        if (engine_is_ghost(e, e->g.used[k])) { /* another rank's brick */
            memset(log_l, 0, (size_t)e->cells * sizeof *log_l);
            continue;
        }
        likelihoods_of_brick(e, l, e->g.used[k], log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, at + (size_t)cell);

            if (!(p > 0))
                continue;
            finite = finite && !isnan(log_l[cell]);
            most_likely = fmax(most_likely, log_l[cell]);
            heaviest = fmax(heaviest, log(p) + log_l[cell]);
        }
    }
    return (best){restore_infinity(most_likely), restore_infinity(heaviest), finite, called_off};
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
        likelihoods_of_brick(e, l, slot, log_l);
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
            likelihoods_of_brick(e, l, e->g.used[k], log_l);
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
    int status = top->called_off ? gbees_error_set(error, GBEES_ECANCELLED, "stopped in the update")
                 : top->finite   ? 0
                                 : fail_likelihood(e, l, error);

    status = ranks_agree(e->ranks, status, error);

    if (status)
        return status;
    ranks_most(e->ranks, most, 2);
    *top = (best){most[0], most[1], 1, 0};
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
