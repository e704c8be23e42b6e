/* sums.h - sums over the points of lattices: moments, evidence, entropy. */
#ifndef GBEES_LAGRANGIAN_SUMS_H
#define GBEES_LAGRANGIAN_SUMS_H

#include "lattice.h"

enum { GBEES_SUMS_FIGURES = 1 + GBEES_MAX_DIM + GBEES_MAX_DIM * (GBEES_MAX_DIM + 1) / 2 };

/* Of points of some weights. */
typedef struct gbees_sums_shell {
    double w, first[GBEES_MAX_DIM], second[GBEES_MAX_DIM]; /* sums of w, of w d_j, and of w d_j^2 */
} gbees_sums_shell;

/* Sums over points of weight w at d = x - reference. A figure is the sum of w, of w d_j (n of them), or of w d_j d_k
 * for k <= j, in that order. */
typedef struct gbees_sums {
    int n, figures;                   /* figures: 1 + n + n (n + 1) / 2 */
    double most;                      /* weights are exp(log_weight + log_volume - most), so that the largest is 1 */
    double reference[GBEES_MAX_DIM];  /* the place of a point of that weight */
    double total[GBEES_SUMS_FIGURES]; /* over all points */
    double squares;                   /* sum of w^2 */
    double log_density;               /* sum of w (log_weight - stretch): of the density at x, up to its norm */
    double lost;                      /* sum of w over points that have left every bound */
    gbees_sums_shell shell[2];        /* of the lattices' rims, and of what lies within them, as deep */
    double points;                    /* number of points, those that are lost among them */
} gbees_sums;

/* Sums over the points of all lattices.
 * @param tail points of exp(-tail) to exp(2 - tail) of the largest weight, or less, are the rim
 * GBEES_ENUMERIC: all weights are 0, or all points have left every bound */
int gbees_sums_make(int count, gbees_lattice *const *lattice, double tail, int threads, gbees_sums *sums,
                    gbees_error *error);

/* Sets *mean to the mean of sums over lattices that have the whole density each; its `points` are those of the first.
 */
void gbees_sums_average(int count, const gbees_sums *of, gbees_sums *mean);

/* The logarithm of the sum of w, which are not scaled. */
double gbees_sums_log_mass(const gbees_sums *sums);
/* Sets mean[n] and covariance[n][n]. */
void gbees_sums_moments(const gbees_sums *sums, double *mean, double *covariance);
/* The largest share that points of a shell have in the variance of a state. */
double gbees_sums_share(const gbees_sums *sums, int shell);

#endif
