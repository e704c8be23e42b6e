/* gaussian.h - what both backends need of a Gaussian on the host: its inverse covariance, its values on the grid. */
#ifndef GBEES_COMMON_GAUSSIAN_H
#define GBEES_COMMON_GAUSSIAN_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

/* The inverse of an n x n covariance, and the logarithm of the density's factor, -log sqrt((2 pi)^n det): NULL if it
 * is not wanted.  1: not positive definite. */
int gaussian_invert(int n, const double *covariance, double *inverse, double *log_norm);

/* The initial density of a problem, cell by cell, up to a factor that is the same for all. */
typedef struct initial_density {
    const gbees_problem *problem;
    int averages; /* over a cell; else the density at its centre */
    int diagonal;
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double *average[GBEES_MAX_DIM]; /* diagonal averages: [extent + index], one factor an axis */
} initial_density;

/* GBEES_EINPUT: the covariance is not positive definite; GBEES_ENOMEM. */
int initial_density_create(initial_density *density, const gbees_problem *problem, int averages, gbees_error *error);
void initial_density_destroy(initial_density *density);

/* 0 outside of the initial box. */
double initial_density_cell(const initial_density *density, const int32_t *index);

#endif
