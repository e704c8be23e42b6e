/** @file gbees/spread.h
 * The marginal of one, two or three states of cells whose edges are oblique to them, on a dense grid along the states
 * (core/frame; doc/moving.md, "Marginals of a moving grid").
 *
 *     gbees_spread_create -> gbees_spread_add for all cells -> gbees_spread_finish -> p
 */
#ifndef GBEES_SPREAD_H
#define GBEES_SPREAD_H

#include <gbees/error.h>
#include <gbees/problem.h>

GBEES_BEGIN

enum { GBEES_SPREAD_STATES = 3 /**< the most states of such a marginal */ };

/** The edges of the cells. */
typedef struct gbees_spread_edges {
    int count;                                         /**< edges of a cell */
    double along[GBEES_SPREAD_STATES * GBEES_MAX_DIM]; /**< [state][count], row-major: the extent of each edge, with
                                                        * its sign */
} gbees_spread_edges;

/** What a marginal is to hold. */
typedef struct gbees_spread_shape {
    int dimension;                     /**< number of states */
    gbees_spread_edges edges;          /**< of a cell */
    double least[GBEES_SPREAD_STATES]; /**< of the cells' centres along each state */
    double most[GBEES_SPREAD_STATES];  /**< of the cells' centres along each state */
    int entries;                       /**< for the length of a cell along a state through its centre, at least */
    size_t limit;                      /**< entries in all, at most; then they are wider */
} gbees_spread_shape;

/** A marginal. */
typedef struct gbees_spread {
    int dimension;                      /**< number of states */
    size_t length[GBEES_SPREAD_STATES]; /**< number of entries along each state, a power of two; beyond the dimension
                                         * 1 */
    double origin[GBEES_SPREAD_STATES]; /**< the middle of entry 0 along each state */
    double width[GBEES_SPREAD_STATES];  /**< of an entry along each state */
    double *p; /**< [length[0]][length[1]][length[2]]: the probability of each entry. Where it is small beside its
                * neighbours it may be slightly below 0 */
    struct gbees_spread_work *work; /**< private */
} gbees_spread;

/** Creates an empty marginal. The caller destroys it. */
int gbees_spread_create(const gbees_spread_shape *shape, gbees_spread **spread, gbees_error *error);
/** Adds cells.
 * @param x x[state][count]: their centres
 * @param p p[count]: their probabilities
 */
void gbees_spread_add(gbees_spread *spread, size_t count, const double *const *x, const double *p);
/** Spreads all cells that have been added, which have these edges. The density has each cell's
 * probability in its parallelepiped, and is smooth from one to the next: a cubic spline along each edge. So mean and
 * covariance of the sum are those of the centres less the h^2/12 of each edge, as a record's statistics are. */
void gbees_spread_finish(gbees_spread *spread, const gbees_spread_edges *edges);
/** Frees it; NULL is allowed. */
void gbees_spread_destroy(gbees_spread *spread);

GBEES_END
#endif
