/* bricks.h - sums over the cells of a sparse grid, in dense bricks that a hash table finds. Sums are integers, so
 * that they do not depend on the order of their terms.
 */
#ifndef GBEES_LAGRANGIAN_BRICKS_H
#define GBEES_LAGRANGIAN_BRICKS_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stddef.h>
#include <stdint.h>

/* What a cell holds: its mass; and of the parts of it that were added with their centres in it, all mass, also that
 * of other cells, and the same times the square of the width over which each was spread. */
typedef struct gbees_brick_cell {
    int64_t mass, whole, spread;
} gbees_brick_cell;

/* An integer of this many is the probability 1. */
#define GBEES_BRICKS_ONE 0x1p60

/* A brick has 2^shift cells along each axis. */
typedef struct gbees_bricks {
    int n, shift;
    size_t entries;                /* cells of a brick */
    size_t step[GBEES_MAX_DIM];    /* from a cell to the next one along an axis */
    size_t count, capacity;        /* bricks */
    size_t most;                   /* bricks that may be made */
    int32_t (*key)[GBEES_MAX_DIM]; /* [count]: indices of a brick: those of its cells, shifted to the right */
    gbees_brick_cell *cell;        /* [count][entries] */
    uint32_t *table;               /* [table_mask + 1]: number of a brick + 1; 0: none */
    size_t table_mask;
    size_t last; /* the brick that was found last */
} gbees_bricks;

/* Makes an empty table that may take so many bytes. Returns 1 if there is no memory. */
int gbees_bricks_open(gbees_bricks *bricks, int n, double bytes);
void gbees_bricks_close(gbees_bricks *bricks);
double gbees_bricks_bytes(const gbees_bricks *bricks);

/* Returns a cell, made if there was none; the others of its brick are `step` apart. NULL: there is no memory. The
 * pointer holds until the next call. */
gbees_brick_cell *gbees_bricks_at(gbees_bricks *bricks, const int32_t *index);

/* Adds sums, times a factor, to others. Returns 1 if there is no memory. */
int gbees_bricks_merge(gbees_bricks *to, const gbees_bricks *from, double factor);

/* Takes back what spreading by quadratic B-splines has done to cell averages, along one axis after the other, where
 * knots are apart by the widths of whose squares the cells hold means, times ratio[n]: moves mass from cells to
 * neighbours that hold more, at most a quarter of it to each. Returns 1 if there is no memory. */
int gbees_bricks_sharpen(gbees_bricks *bricks, const double *ratio, int threads);

/* The sum of all cells, as a probability. */
double gbees_bricks_total(const gbees_bricks *bricks);

/* Makes the list of cells with at least `least` of the largest sum, in lexicographic order; their probabilities are
 * scaled to sum to 1. Sets *dropped to the fraction of the total that the others had. Returns 1 if there is no
 * memory. */
int gbees_bricks_list(gbees_bricks *bricks, double least, gbees_initial_cells *cells, double *dropped);

#endif
