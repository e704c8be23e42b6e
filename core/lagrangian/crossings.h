/* crossings.h - what a measurement finds between neighbouring points of a lattice.
 *
 * A part of the likelihood that is thinner than a cell may lie between points at which it is as good as 0, and
 * nothing in their weights tells of it. But the residuals do, of which the likelihood is a function: where those at
 * two neighbours lie on both sides of 0, it has its peak in between. Residuals are taken to be linear along edges of
 * the lattice. */
#ifndef GBEES_LAGRANGIAN_CROSSINGS_H
#define GBEES_LAGRANGIAN_CROSSINGS_H

#include "past.h"

/* An edge between two points that are both far lighter than what is between them. */
typedef struct gbees_crossing {
    double log_weight; /* in the middle, before the measurement */
    double peak;       /* the largest log-likelihood on the edge */
    double lower;      /* the larger one of both ends */
    double curvature;  /* the second derivative of minus the log-likelihood there, for an edge of length 1 */
} gbees_crossing;

/* Finds the crossings of a lattice whose points have been weighed by a measurement, and sets lattice->reach; neither
 * in more than two dimensions, where parts are rarely so much thinner than others, nor of a likelihood of the model's
 * own. The neighbours are those of gbees_lattice_find(). */
int gbees_crossings_find(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                         gbees_error *error);

/* Whether that is done of a measurement, or NULL. */
int gbees_crossings_are_found(const gbees_lattice *lattice, const gbees_measurement *measurement);

/* The share of edges, of some that are spread over the lattice, in the middle of which the residual is not where that
 * says it is; 0 where no crossings are found. */
int gbees_crossings_bent(const gbees_past *past, const gbees_source *source, const gbees_lattice *lattice,
                         const gbees_measurement *measurement, double *share, gbees_error *error);

/* The sum of what crossings add to the weights exp(log_weight + beta gain), each of the mass between two points. */
double gbees_crossings_hidden(const gbees_lattice *lattice, double beta, double log_unit);

/* What is to be known of point i at beta: its weight, or more where there is a crossing beside it. */
static inline double gbees_crossings_reach(const gbees_lattice *lattice, uint32_t i, double beta)
{
    const double gain = lattice->reach ? lattice->reach[i] : lattice->gain[i];

    return beta > 0 ? lattice->log_weight[i] + beta * gain : lattice->log_weight[i];
}

#endif
