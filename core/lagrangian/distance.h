/* distance.h - distances between two densities on the cells of one grid. */
#ifndef GBEES_LAGRANGIAN_DISTANCE_H
#define GBEES_LAGRANGIAN_DISTANCE_H

#include <gbees/problem.h>

/* A marginal: p[i] is the probability of entry first + i. The sum may be any. */
typedef struct gbees_line {
    int64_t first, length;
    const double *p;
} gbees_line;

/* Between two marginals whose densities are constant in each entry, each scaled to 1. Cells are of `split` entries:
 * that of entry 0 begins with it. */
typedef struct gbees_line_distance {
    double wasserstein; /* the integral of |F - G| of the distribution functions, in entries */
    double kolmogorov;  /* the largest |F - G| at a face of a cell */
    double variation;   /* half the sum of |p - q| over cells */
} gbees_line_distance;

gbees_line_distance gbees_line_compare(const gbees_line *a, const gbees_line *b, int split);

/* The width of what is thin in a marginal, in entries: 1 / the root of its Fisher information, by differences. */
double gbees_line_width(const gbees_line *of);

/* Between two joint densities, as lists of cells in lexicographic order with the sum 1. */
typedef struct gbees_cells_distance {
    double cosine;    /* sum p q / sqrt(sum p^2 sum q^2) */
    double variation; /* half the sum of |p - q| */
} gbees_cells_distance;

gbees_cells_distance gbees_cells_compare(int n, const gbees_initial_cells *a, const gbees_initial_cells *b);

#endif
