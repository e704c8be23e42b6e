/* valley.h - finds the valley that divides a density into two modes (doc/method.md, "Modes"). */
#ifndef GBEES_FRAME_VALLEY_H
#define GBEES_FRAME_VALLEY_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stddef.h>

/* The plane direction . y = at, y the index of a cell; its normal is an eigenvector of the cells' covariance. */
typedef struct gbees_valley {
    double direction[GBEES_MAX_DIM], at;
} gbees_valley;

/* Looks for a valley of the density of cells, n indices each, P >= 0: a place along an eigenvector of their
 * covariance at which the marginal is below a twentieth of its largest values on both sides, each of which holds a
 * thousandth of the mass or more. Returns 1 and sets the deepest one, or returns 0: there is none, or the covariance
 * is not finite.
 */
int gbees_valley_find(const gbees_initial_cells *cells, int n, gbees_valley *valley);

/* Which side of the valley a cell is on: 0 or 1. */
int gbees_valley_side(const gbees_valley *valley, const gbees_initial_cells *cells, int n, size_t cell);

#endif
