/* divide.h - into how many parts the image of a lattice's cell has to be divided. */
#ifndef GBEES_LAGRANGIAN_DIVIDE_H
#define GBEES_LAGRANGIAN_DIVIDE_H

#include "frame/matrix.h"

enum {
    GBEES_DIVIDE_MOST = 64,    /* along one axis of the lattice */
    GBEES_DIVIDE_ALL = 1 << 16 /* of one cell of the lattice */
};

/* Chooses the numbers of parts along the axes, count[n], from count[n] on, so that the parts' lattice has a cell
 * whose image is no wider than `width` along any axis of the grid: not that along the edges, which may be much longer
 * where the flow has made the images of all edges nearly parallel. edge[n][n]: the columns are the images of the
 * edges of the lattice's cell, in cells of the grid; length[n]: how long parts may be along
 * each axis of the lattice, in spacings, as the weight changes by too much across more. Returns the number of all
 * parts. */
double gbees_divide(int n, const double *edge, const double *length, double width, int *count);

#endif
