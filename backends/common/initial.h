/* initial.h - the initial density, brick by brick, and the box that it fills. */
#ifndef GBEES_COMMON_INITIAL_H
#define GBEES_COMMON_INITIAL_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

/* The keys of the bricks that the initial box touches, from lo to hi along each axis; returns how many. */
double initial_box_keys(const gbees_problem *problem, const gbees_shape *shape, int32_t *lo, int32_t *hi);

/* From one of these keys to the next, in lexicographic order; after the last comes the first. */
void initial_box_next(const int32_t *lo, const int32_t *hi, int n, int32_t *key);

/* Whether a float does not resolve positions in the box to 1/4096 of a cell: drifts are then evaluated in double. */
int initial_box_is_fine(const gbees_problem *problem);

/* The density of a problem's cells, up to a factor that is the same for all. */
typedef struct initial_density {
    const gbees_problem *problem;
    int averages; /* over a cell; else the density at its centre */
    int diagonal;
    double precision_matrix[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double *average[GBEES_MAX_DIM]; /* diagonal averages: [|index|], one factor an axis */
} initial_density;

/* GBEES_EINPUT: the covariance is not positive definite; GBEES_ENOMEM. */
int initial_density_create(initial_density *density, const gbees_problem *problem, gbees_error *error);
void initial_density_destroy(initial_density *density);

/* The cells of a brick, 0 outside of the box and of the bound; returns their sum. */
double initial_density_brick(const initial_density *density, const gbees_shape *shape, const int32_t *key, double *p);

#endif
