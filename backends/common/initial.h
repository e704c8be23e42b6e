/* initial.h - the initial density, brick by brick: a Gaussian, a mixture of Gaussians, or the cells of a record
 * (doc/method.md, "Initial density"). */
#ifndef GBEES_COMMON_INITIAL_H
#define GBEES_COMMON_INITIAL_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

/* Whether the initial box is so far from the origin that a float does not resolve positions to 1/4096 of a cell. Then
 * drifts are evaluated in double. */
int initial_box_is_fine(const gbees_problem *problem);

/* The sum of P at the start of a run: 1, or that of the record that it starts from. */
double initial_mass(const gbees_problem *problem);

/* A Gaussian of a mixture. */
typedef struct initial_part {
    int diagonal;                                           /* 1: its covariance is diagonal */
    double scale;                                           /* weight * peak of the density * volume of a cell */
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* the inverse covariance, [n][n] */
} initial_part;

/* The initial density, prepared for initial_density_brick(). Its cells' P are right up to a common factor. */
typedef struct initial_density {
    const gbees_problem *problem;
    int averages; /* 1: P is the average over a cell; 0: the value at its centre */
    int diagonal; /* 1: the covariance is diagonal */
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* the inverse covariance, [n][n] */
    double *average[GBEES_MAX_DIM]; /* of a diagonal Gaussian's averages: the factor of each axis, by |index| */
    initial_part *parts;            /* of a mixture; else NULL */
} initial_density;

/* Prepares the initial density of a problem, which must outlive it. Returns GBEES_EINPUT if a covariance is not
 * positive definite, or GBEES_ENOMEM. */
int initial_density_create(initial_density *density, const gbees_problem *problem, gbees_error *error);
void initial_density_destroy(initial_density *density);

/* Where the search for a brick's cells in a record's sorted list begins, for each of the brick's rows along the last
 * axis: where the last brick of the thread ended, as the next one often begins there. Starts as {0}. */
typedef struct initial_cursor {
    size_t row[64];
} initial_cursor;

/* Sets p[cells] to P of the cells of the brick `key`, 0 outside the initial box and the bound. */
void initial_density_brick(const initial_density *density, initial_cursor *cursor, const gbees_shape *shape,
                           const int32_t *key, double *p);

#endif
