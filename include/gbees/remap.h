/** @file gbees/remap.h
 * How a list of cells is taken to the cells of another frame: passes over rows along one coordinate after the other
 * (doc/moving.md). The solver makes the plan, and a backend that has the cells in a memory of its own
 * may carry it out there.
 */
#ifndef GBEES_REMAP_H
#define GBEES_REMAP_H

#include <gbees/problem.h>

GBEES_BEGIN

/** One pass. First the cells are sorted, so that rows along `axis` lie together, in the order of their indices; then
 * each row is changed by the functions of core/numerics/row.h: exchange `before`, map, diffusion, exchange `after`.
 */
typedef struct gbees_remap_pass {
    int axis;                    /**< the coordinate along which rows lie */
    int sort_count;              /**< sorts by the index along one coordinate, equals staying in place */
    int sorts[GBEES_MAX_DIM];    /**< these coordinates, in the order of the sorts */
    int moves;                   /**< 1: rows are mapped by z -> scale z + shift + sum of shear_j times index j */
    double scale;                /**< below 0: the row is reversed */
    double shift;                /**< in cells */
    double shear[GBEES_MAX_DIM]; /**< by coordinate; shear[axis] is 0 */
    double before;               /**< fraction of the exchange before the map; 0: none */
    double after;                /**< and of that after it */
    double spread;               /**< variance that diffusion adds, in cells squared; 0: none */
    double convolved;            /**< variance of a Gaussian that the row is convolved with; 0: none. No backend gets
                                  * such a pass */
} gbees_remap_pass;

enum { GBEES_REMAP_PASSES = 4 * GBEES_MAX_DIM /**< at most */ };

/** All passes. Coordinate k is axis from[k] of the old frame at first, and axis to[k] of the new one at last. */
typedef struct gbees_remap_plan {
    int n;                    /**< coordinates */
    int count;                /**< passes */
    int from[GBEES_MAX_DIM];  /**< by coordinate */
    int to[GBEES_MAX_DIM];    /**< by coordinate */
    int sort_count;           /**< sorts after the last pass, to the new frame's lexicographic order */
    int sorts[GBEES_MAX_DIM]; /**< as those of a pass */
    double least_between;     /**< cells with P below it, or 0, are dropped after each pass */
    double least;             /**< cells with P below it are dropped at the end */
    gbees_remap_pass
        pass[GBEES_REMAP_PASSES]; /**< in their order; the cells are lexicographic in the old frame before */
} gbees_remap_plan;

enum { GBEES_REMAP_REACH = 1 << 28 /**< no index may be as large */ };

GBEES_END
#endif
