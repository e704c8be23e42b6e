/* watch.h - how far a trajectory comes into the targets that absorb. */
#ifndef GBEES_LAGRANGIAN_WATCH_H
#define GBEES_LAGRANGIAN_WATCH_H

#include "dormand_prince_dense.h"
#include <gbees/problem.h>
#include <stddef.h>

/* A step of one point. Within it the point is at gbees_dormand_prince_dense_at(x[j], term[j], part). */
typedef struct gbees_watched_step {
    const gbees_problem *problem;
    double time, length; /* at its start; of it, signed */
    double x[GBEES_MAX_DIM], term[GBEES_MAX_DIM][GBEES_DORMAND_PRINCE_TERMS];
} gbees_watched_step;

/* Lowers lowest[k][number] to the least value that the function g of target k has within the step, for each target k
 * that absorbs: a minimum is found to 1e-10 of how g changes in the step, also where the point only touches. Once one
 * of them is below 0 the point has entered that target, and the others' stay. Where g is not a number it becomes NAN
 * and stays so. */
void gbees_watch_step(const gbees_watched_step *step, double *const *lowest, size_t number);

/* Sets lowest[k][] of `count` points x[j][] at a time to g of each target that absorbs. */
void gbees_watch_begin(const gbees_problem *problem, double time, size_t count, double *const *x,
                       double *const *lowest);

#endif
