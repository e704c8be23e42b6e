/* deposit.h - the density that lattices carry, as averages over the cells of a grid at rest, or as marginals on its
 * axes (doc/lagrangian.md).
 *
 * A point stands for the lattice cell around it, which the flow has taken somewhere else and bent. Its image is
 * divided into parts, whose places and weights are interpolated by polynomials along one axis of the lattice after
 * the other; the mass of a part is spread over at most a cell's width, and what that does to averages is taken back.
 * Results have the same bits for any number of threads.
 */
#ifndef GBEES_LAGRANGIAN_DEPOSIT_H
#define GBEES_LAGRANGIAN_DEPOSIT_H

#include "lattice.h"
#include <gbees/backend.h>

typedef struct gbees_deposit_options {
    int threads;      /* 0: as many as the machine has */
    double least;     /* cells with less than this fraction of the largest one's probability are dropped */
    double bytes;     /* the most memory that the sums may take; 0: as much as there is */
    double parts;     /* about the most parts: more make it more accurate where the density is thinner than cells, but
                       * parts are at most some third of a cell wide; 0: 1.25 millions */
    double apart;     /* parts of a marginal are so far apart, in cells; 0: an eighth */
    double variation; /* parts are as many as it takes for that of the report to be no larger; 0: as there may be */
    double misplaced; /* if `misplaced` of the report is above it nothing else is made; 0: it may be any */
} gbees_deposit_options;

/* What a deposit has done. Fractions are of the mass of all lattices. */
typedef struct gbees_deposit_report {
    double left_out;  /* fraction at points whose place is not finite, or too far out for a cell's index */
    double dropped;   /* fraction in cells that were dropped; the others were scaled to make up for it */
    double variation; /* of cells: their total variation distance to those of a quarter of the parts, which is more
                       * than that to the averages of the density that the lattices carry */
    /* The same of their marginals, as gbees_cells_compare_along() has it. */
    double wasserstein[GBEES_MAX_DIM], kolmogorov[GBEES_MAX_DIM];
    double misplaced;     /* estimated error of interpolated places, in cells: the mean over the density, of the axis
                           * with the largest. Above some .1 the lattice is too coarse for these cells */
    uint64_t parts;       /* into which the lattices' cells were divided */
    double largest_bytes; /* memory that the sums took */
} gbees_deposit_report;

/* Makes the list of cells of the problem's grid: p[i] > 0 are integrals of the density over the cells, in
 * lexicographic order, and sum to 1. `mass` is 1; the other members of `cells` are 0.
 *
 * The mass of lattice l is exp(log_factor[l]) times the sum of exp(log_weight) over its points with a place;
 * log_factor NULL: its log_volume. Makes the lattices' hash tables, if they have none. `cells` is all zero before,
 * and the caller frees its arrays; report may be NULL, which spares the comparison. GBEES_ENUMERIC: no point has a
 * finite place and a weight above 0; GBEES_ENOMEM. */
int gbees_deposit_cells(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                        const double *log_factor, const gbees_deposit_options *options, gbees_initial_cells *cells,
                        gbees_deposit_report *report, gbees_error *error);

/* Computes the marginals of the same density along each axis of the grid, without making cells: entries below `least`
 * of the largest one are cut off at both ends. Planes are left out. The caller free()s *marginals, which is NULL if
 * nothing is made. */
int gbees_deposit_marginals(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                            const double *log_factor, const gbees_deposit_options *options,
                            gbees_marginals **marginals, gbees_deposit_report *report, gbees_error *error);

#endif
