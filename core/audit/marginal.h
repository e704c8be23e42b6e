/* marginal.h - distances between a marginal of the grid and that of weighted samples. */
#ifndef GBEES_AUDIT_MARGINAL_H
#define GBEES_AUDIT_MARGINAL_H

#include "base/workers.h"
#include <gbees/error.h>
#include <stdint.h>

/* One axis. The samples are counted in quarters of cells, each part of them (workers.h) by itself; places are in
 * cells from the middle of cell 0. */
typedef struct gbees_marginal {
    int32_t first; /* the grid's marginal: cell first + i has p[i]; the caller's */
    size_t length;
    const double *p;
    double lo;    /* the first cell in which samples are counted */
    size_t cells; /* in which they are */
    double *count;
} gbees_marginal;

/* Allocates counters for samples between `least` and `most`; the grid's marginal must be set.  GBEES_ENOMEM. */
int gbees_marginal_open(gbees_marginal *marginal, double least, double most);
void gbees_marginal_close(gbees_marginal *marginal);

/* Adds samples of a part.  Different parts may be added to by different threads. */
void gbees_marginal_add(gbees_marginal *marginal, size_t part, size_t count, const double *place,
                        const double *weight);

/* The fourth central moment of the grid's marginal over the square of its variance: 3 for a Gaussian. */
double gbees_marginal_kurtosis(const gbees_marginal *marginal);

/* An estimate of the total variation distance on cells, 1/2 sum |p - q|, which sampling errors can only make too
 * small, on average: one half of the samples chooses the cells where p > q, the other half says by how much. To be
 * called before gbees_marginal_distance(). */
double gbees_marginal_variation(const gbees_marginal *marginal);

/* Sets the integral of |F - G| along the axis (Wasserstein's first distance), in cells, and the largest |F - G| at a
 * face (Kolmogorov's), of the distribution functions F and G; both marginals are normalised to 1, the density of a
 * cell is constant. The parts' sums are lost. */
void gbees_marginal_distance(gbees_marginal *marginal, double *wasserstein, double *kolmogorov);

#endif
