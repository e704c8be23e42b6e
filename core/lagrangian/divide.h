/* divide.h - into how many parts the cells of a lattice are divided, and how far these extend in the grid.
 *
 * All are divided alike, as the images of the lattice's axes may be nearly parallel, and long: parts lie close then
 * only together with those of the lattice cells beside, as points of one finer lattice, sums over which converge
 * fast. If neighbours were divided differently they would be off by what each is off.
 */
#ifndef GBEES_LAGRANGIAN_DIVIDE_H
#define GBEES_LAGRANGIAN_DIVIDE_H

#include "image.h"

enum {
    GBEES_DIVIDE_MOST = 64,    /* along one axis of the lattice */
    GBEES_DIVIDE_ALL = 1 << 16 /* of one cell of the lattice */
};

/* Chooses the numbers of parts along the lattice's axes, count[n], powers of two, such that there are about `most`
 * parts of all cells at most, but parts that are on average no wider than a third of a cell of the grid; then halves
 * the largest number `coarser` times. Sets square[n] to the mean squares of their extents (below). */
void gbees_divide(const gbees_image *image, double most, int coarser, int *count, double *square);

/* Sets count[n] to the numbers of parts around a point: all[n], but half as many along each axis for each factor of
 * 256 by which the point's mass is less than typical. Returns the number of all parts. */
double gbees_divide_point(const gbees_image *image, uint32_t point, const int *all, int *count);

/* Sets extent[n] to how far a part around a point extends along the grid's axes, in cells, with count[n] parts along
 * the lattice's axes. A part is a cell of the lattice of parts that has the shortest
 * edges. */
void gbees_divide_extents(const gbees_image *image, uint32_t point, const int *count, double *extent);

#endif
