/* light.h - sites whose points were evaluated and are too light to be kept: as long as later measurements can't make
 * them heavy enough, they need not be evaluated again, from the start. */
#ifndef GBEES_LAGRANGIAN_LIGHT_H
#define GBEES_LAGRANGIAN_LIGHT_H

#include "lattice.h"

/* Notes that the log weight at a site is `most` at most. */
int gbees_light_note(gbees_lattice *lattice, const gbees_site *site, double most, gbees_error *error);

/* Enters the sites where a measurement, or a bound that trajectories leave, is in the way into the hash table: there
 * the density has an edge. */
int gbees_light_enter_impossible(gbees_lattice *lattice, gbees_error *error);

/* Takes a measurement into account whose log-likelihood is `more` at most, and forgets the sites that may be above
 * `least` then; enters the others into the hash table. */
int gbees_light_keep(gbees_lattice *lattice, double more, double least, gbees_error *error);

#endif
