/* marginals.h - the marginals of an engine's present density, on lines that suit it: made once, whatever grids'
 * records are compared with them, and kept until the density changes. */
#ifndef GBEES_LAGRANGIAN_MARGINALS_H
#define GBEES_LAGRANGIAN_MARGINALS_H

#include "distance.h"
#include "sets.h"

/* One block of memory with the lines' values, which stand behind it one line after the other. */
struct gbees_own_marginals {
    int rotated; /* 1: along the axes of a grid, the columns of `rotation`; 0: along the states */
    double rotation[GBEES_MATRIX], deviation[GBEES_MAX_DIM];
    /* Of each line: the most that lies in two entries next to each other, where the density is too thin for them;
     * else 0. So much its distribution function may be off at an edge. */
    double smeared[GBEES_MAX_DIM];
    double misplaced; /* estimated error of places between points, in deviations, which is alike in all sets */
    gbees_smooth_line line[GBEES_MAX_DIM];
    /* Distances of the second set's, the largest of all lines: two may agree in one by chance. */
    double wasserstein; /* in deviations */
    double kolmogorov;
};

/* Returns a copy for n states with room for the lines' values; NULL: there is no memory. */
gbees_own_marginals *gbees_own_marginals_create(const gbees_own_marginals *from, int n);
/* The number of all lines' values. */
size_t gbees_own_marginals_values(const gbees_own_marginals *own, int n);

/* Sets *made to the marginals along the axes of `grid`: those of the engine, which owns them, or new ones. Lattices
 * that can't be interpolated well enough are made denser for them. */
int gbees_engine_marginals(gbees_engine *engine, const gbees_problem *grid, const gbees_own_marginals **made,
                           gbees_error *error);

#endif
