/* shape.h - computes the edges of cells that fit a density, from its covariance and its Fisher information
 * (doc/moving.md).
 */
#ifndef GBEES_FRAME_SHAPE_H
#define GBEES_FRAME_SHAPE_H

#include "matrix.h"
#include <gbees/error.h>

/* How narrow cells are to be. */
typedef struct gbees_shape_rule {
    double cells; /* k: cells a standard deviation along directions in which the density is a Gaussian, > 0 */
    double most;  /* K >= k: the most cells a standard deviation along those in which it is thinner */
} gbees_shape_rule;

/* The cells that fit a density, in the coordinates of its C and J: y, in which the present ones have width 1. */
typedef struct gbees_frame_shape {
    double lambda[GBEES_MAX_DIM]; /* eigenvalues of C^1/2 J C^1/2, ascending, at least 1 */
    double cells[GBEES_MAX_DIM];  /* cells a standard deviation along the eigenvectors: min(k sqrt(lambda), K) */
    int limited;                  /* along how many of them K is the limit */
    double axes[GBEES_MATRIX];    /* C^1/2 V / cells, V the eigenvectors: edges of the same metric along these */
    double edges[GBEES_MATRIX];   /* T, [n][n]: the columns are the new cells' edges; symmetric, unless turned */
    double bend;                  /* product of sqrt(lambda): 1 for a Gaussian, the same under affine maps */
    double longest;               /* a present cell is too long by this factor along some direction */
    double growth;                /* the number of new cells over that of the present ones */
} gbees_frame_shape;

/* Sets the shape from a covariance and a Fisher information, J = 4 int (grad sqrt p)(grad sqrt p)^T dx, both
 * symmetric. The variance along an eigenvector of C counts as 1e-3, in units of present cells, if it is less.
 * GBEES_EINPUT: the rule is not one; GBEES_ENUMERIC: C or J is not finite. */
int gbees_shape_find(int n, const double *covariance, const double *information, const gbees_shape_rule *rule,
                     gbees_frame_shape *shape, gbees_error *error);

/* Sets the information to what it is, to the first order in how far it is from a Gaussian's, once the density has
 * been spread by a Gaussian: J becomes (J^-1 + covariance)^-1. */
void gbees_shape_widen(int n, const double *covariance, double *information);

/* Makes the new cells the present ones. */
void gbees_shape_keep(int n, gbees_frame_shape *shape);
/* Whether they are. */
int gbees_shape_is_kept(int n, const gbees_frame_shape *shape);

/* Turns the new cells, which keep their metric, so that a covariance, symmetric and in y, is diagonal in them, and
 * sets variance[n] to the diagonal, 0 where it is negative. Where its other entries are below 1e-4 the cells stay as
 * they are. Returns 1 if it is not finite. */
int gbees_shape_turn(int n, const double *covariance, gbees_frame_shape *shape, double *variance);

/* Whether the present cells should be replaced: they are too long, or twice as many as would do. */
int gbees_shape_is_outgrown(const gbees_frame_shape *shape);

#endif
