/* roughness.h - measures along each axis how badly a density is resolved. */
#ifndef GBEES_ACCURACY_ROUGHNESS_H
#define GBEES_ACCURACY_ROUGHNESS_H

#include <gbees/gbees.h>

/* Sets rough[j] to the sum over the cells of |P(i + 1) - 2 P(i) + P(i - 1)| along axis j; absent cells hold 0. A
 * density that is linear over three cells adds nothing. The axis with the largest sum is the one that finer cells
 * help most. */
int gbees_roughness(const gbees_cells *cells, int n, double *rough, gbees_error *error);

#endif
