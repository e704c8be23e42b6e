/* targets.h - the probability inside of a problem's targets, by the cells of a grid. */
#ifndef GBEES_RECORD_TARGETS_H
#define GBEES_RECORD_TARGETS_H

#include "base/exact.h"
#include <gbees/record.h>

/* Sums over cells, which a backend gives in any order. */
typedef struct gbees_target_sums {
    const gbees_problem *problem; /* with the grid that the cells are of */
    double time;
    exact_sum mass;                      /* of all cells so far */
    exact_sum inside[GBEES_MAX_TARGETS]; /* of it, in each target that does not absorb */
    int wrong;                           /* 1 + the target whose function is not a number at a cell; 0: none */
} gbees_target_sums;

/* A gbees_cell_visitor whose context is the sums. A cell that the boundary cuts counts by the fraction of it that is
 * inside (core/base/fraction.h). It stops where a target's function is not a number. */
int gbees_target_sums_add(void *sums, size_t count, const int32_t *const *index, const double *p);

/* The probability inside of target k, of the mass of all cells; not a number where they have none. */
double gbees_target_sums_inside(const gbees_target_sums *sums, int k);

#endif
