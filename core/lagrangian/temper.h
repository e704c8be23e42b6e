/* temper.h - applies a measurement to a lattice: by parts of its likelihood, with finer lattices in between, where it
 * would fall between the points. */
#ifndef GBEES_LAGRANGIAN_TEMPER_H
#define GBEES_LAGRANGIAN_TEMPER_H

#include "spacing.h"

/* What tempering has done so far. */
typedef struct gbees_tempering {
    uint64_t refinements;      /* lattices that were made */
    double log_likelihood_max; /* the largest log-likelihood of a point */
    int is_edged;              /* 1: the measurement is impossible at some points */
    int limited;               /* the most directions along which the rule's `most` limits a lattice */
} gbees_tempering;

/* Multiplies the weights of all points, which are at past->now, by the likelihood of a measurement (update->beta is
 * 1), on a lattice that resolves the result: *lattice is replaced by finer ones where needed. GBEES_EUNSUPPORTED: the
 * likelihood is 0 wherever there is a density; the lattice may be another one */
int gbees_temper(const gbees_past *past, const gbees_source *source, gbees_lattice_rule *rule,
                 const gbees_update *update, gbees_lattice **lattice, gbees_tempering *done, gbees_error *error);

#endif
