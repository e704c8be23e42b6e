/* filtered.h - densities of the filters beside a run, as they are drawn. */
#ifndef GBEES_PLOT_FILTERED_H
#define GBEES_PLOT_FILTERED_H

#include "density.h"

/* The density of a state: the Gaussian of the moments, or bins of samples spread by a kernel. *density is NULL if it
 * is not known. */
int gbees_filtered_create(const gbees_compared *compared, int filter, size_t record, int state,
                          gbees_density **density, gbees_error *error);

#endif
