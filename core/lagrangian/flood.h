/* flood.h - the points of a lattice: those whose weight is not negligible. */
#ifndef GBEES_LAGRANGIAN_FLOOD_H
#define GBEES_LAGRANGIAN_FLOOD_H

#include "past.h"

/* Which points a lattice has, and how dense they are. */
typedef struct gbees_lattice_rule {
    double points; /* k: points a standard deviation along directions in which the density is a Gaussian */
    double most;   /* K >= k: the most points a deviation along those in which it is thinner */
    double tail;   /* points of at least exp(-tail) of the largest weight are there */
    int turn;      /* 0 to 3: lattices of other turns have other directions at the start, and other shifts */
} gbees_lattice_rule;

/* Creates the lattice of a part of the initial density, before any measurement: all points of its Gaussian within the
 * tail; of a record's cells those that gbees_flood_grow() finds. */
int gbees_flood_begin(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                      gbees_lattice **lattice, gbees_error *error);

/* Evaluates the neighbours of all points whose weight is within the tail, until none is missing, and removes those
 * whose weight is not. Points from number `first` on have not been evaluated yet.
 * GBEES_ENOMEM: more points than past->bytes_most allows; GBEES_ENUMERIC: more points in a row than an index counts
 */
int gbees_flood_grow(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                     gbees_lattice *lattice, uint32_t first, const gbees_update *update, gbees_error *error);

/* Adds the border to a lattice that has none: all points that are next to others, whatever their weight. What is
 * deposited is interpolated between points, and across a thin sheet those next to heavy ones are light. */
int gbees_flood_border(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice,
                       gbees_error *error);

/* Creates a lattice whose cells have the edges `edges`, n x n columns in units of the edges of `old`, about its
 * weighted mean; with points where the old one's heavy ones are, and all that belong to them. */
int gbees_flood_anew(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                     const gbees_lattice *old, const double *edges, const gbees_update *update, gbees_lattice **made,
                     gbees_error *error);

/* The same with cells that are `times` shorter along each of the old one's axes, outside of updates. */
int gbees_flood_denser(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                       const gbees_lattice *old, double times, gbees_lattice **made, gbees_error *error);

#endif
