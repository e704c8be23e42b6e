/* distance.h - distances between two densities: of marginals on lines of their own, of lists of cells of one grid. */
#ifndef GBEES_LAGRANGIAN_DISTANCE_H
#define GBEES_LAGRANGIAN_DISTANCE_H

#include <gbees/problem.h>

/* A marginal that is constant in each entry: p[i] is the probability of [low + i width, low + (i + 1) width]. The sum
 * may be any. */
typedef struct gbees_marginal_line {
    double low, width;
    size_t length;
    const double *p;
} gbees_marginal_line;

/* A smooth marginal: below[k] is the probability below low + k width, from 0 to 1. */
typedef struct gbees_smooth_line {
    double low, width;
    size_t length;
    double *below; /* [length + 1] */
} gbees_smooth_line;

typedef struct gbees_line_distance {
    double wasserstein; /* the integral of |F - G| of the distribution functions */
    double kolmogorov;  /* the largest |F - G| at an edge of the line's entries */
    double variation;   /* half the sum of |p - q| over its entries */
} gbees_line_distance;

gbees_line_distance gbees_line_compare(const gbees_marginal_line *line, const gbees_smooth_line *smooth);

/* The width of what is thin in a marginal, in entries: 1 / the root of its Fisher information, by differences. */
double gbees_line_thinness(const gbees_marginal_line *of);

/* Between two joint densities, as lists of cells in lexicographic order with the sum 1. */
typedef struct gbees_cells_distance {
    double cosine;    /* sum p q / sqrt(sum p^2 sum q^2) */
    double variation; /* half the sum of |p - q| */
} gbees_cells_distance;

gbees_cells_distance gbees_cells_compare(int n, const gbees_initial_cells *a, const gbees_initial_cells *b);
/* Sets, of their marginals along each axis, the sum of the differences of the distribution functions at the edges of
 * cells, wasserstein[n], which is a distance in cells, and the largest, kolmogorov[n]. Returns 1 if there is no
 * memory.
 */
int gbees_cells_compare_along(int n, const gbees_initial_cells *a, const gbees_initial_cells *b, double *wasserstein,
                              double *kolmogorov);

#endif
