/* initial.h - the initial density, brick by brick: a Gaussian, a mixture of Gaussians, or the cells of a record
 * (doc/method.md, "Initial density"). */
#ifndef GBEES_COMMON_INITIAL_H
#define GBEES_COMMON_INITIAL_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

/* Whether a float does not resolve positions in the initial box to 1/4096 of a cell: drifts are then evaluated in
 * double. */
int initial_box_is_fine(const gbees_problem *problem);

/* The sum of P that an engine starts with. */
double initial_mass(const gbees_problem *problem);

/* A Gaussian of a mixture. */
typedef struct initial_part {
    int diagonal;
    double scale; /* weight * peak of the density * volume of a cell */
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM];
} initial_part;

/* The initial density of cells, up to a common factor. */
typedef struct initial_density {
    const gbees_problem *problem;
    int averages; /* over a cell; else the density at its centre */
    int diagonal;
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double *average[GBEES_MAX_DIM]; /* diagonal averages: [|index|], one factor an axis */
    initial_part *parts;            /* of a mixture; else NULL */
} initial_density;

/* GBEES_EINPUT: the covariance is not positive definite; GBEES_ENOMEM. */
int initial_density_create(initial_density *density, const gbees_problem *problem, gbees_error *error);
void initial_density_destroy(initial_density *density);

/* Where a thread's last brick ended in the list of a record's cells, by row along the last axis: where the next one
 * often begins. It begins as zeros. */
typedef struct initial_cursor {
    size_t row[64];
} initial_cursor;

/* Sets p to the cells of a brick, 0 outside the initial set or the bound; returns their sum. */
double initial_density_brick(const initial_density *density, initial_cursor *cursor, const gbees_shape *shape,
                             const int32_t *key, double *p);

#endif
