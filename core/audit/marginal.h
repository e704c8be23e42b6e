/* marginal.h - the distance of a marginal of the grid from that of weighted samples. */
#ifndef GBEES_AUDIT_MARGINAL_H
#define GBEES_AUDIT_MARGINAL_H

#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

/* One axis: the grid's marginal, cell first + i with p[i]; and the samples' places along it, in cells from the middle
 * of cell 0. */
typedef struct gbees_marginal_pair {
    int32_t first;
    size_t length;
    const double *p;
    size_t count;
    const double *place, *weight; /* [count] */
} gbees_marginal_pair;

/* Sets the integral of |F - G| along the axis (Wasserstein's first distance), in cells, and the largest |F - G| at a
 * face (Kolmogorov's), of the distribution functions F and G; both marginals are normalised to 1, the density of a
 * cell is constant.  GBEES_ENOMEM. */
int gbees_marginal_distance(const gbees_marginal_pair *pair, double *wasserstein, double *kolmogorov);

#endif
