/* grid.h - the sparse grid of single cells: a heap of cells, found by their multi-index through a hashtable (paper,
 * sections 4.1 and 4.2).
 *
 * Cells have the numbers 1 ... count, in the order in which they were made: the Used List. Cell 0 is the null cell;
 * it stands for every absent one, and its P, f and F are 0. */
#ifndef GBEES_PAPER_GRID_H
#define GBEES_PAPER_GRID_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

enum { GRID_FARTHEST = 1 << 25 /* from cell 0 along an axis, in cells */ };

/* A cell i, the box V_i of Eq. (5). */
typedef struct cell {
    int32_t i[GBEES_MAX_DIM];      /* its multi-index */
    double P;                      /* its probability P_i */
    double f[GBEES_MAX_DIM];       /* f[j]: the drift f_j at the centre of its upper face, x_{i + e_j/2} */
    double F[GBEES_MAX_DIM];       /* F[j]: the flux through that face, F_{i + e_j/2, j}; it is upwards */
    uint32_t below[GBEES_MAX_DIM]; /* the number of its neighbour i - e_j */
    uint32_t above[GBEES_MAX_DIM]; /* and of i + e_j */
    int is_active;                 /* P >= p* */
    int is_marked;                 /* for a prune and a count */
} cell;

typedef struct grid {
    int n; /* dimensions */
    uint32_t count, capacity;
    cell *cells;         /* [capacity + 1] */
    uint32_t *table;     /* [table_size]: numbers of cells, 0: free; at most half full */
    uint64_t table_size; /* a power of 2 */
    uint64_t peak_bytes; /* the most memory that has been held */
} grid;

/* Makes an empty grid. */
int grid_create(grid *g, int n, gbees_error *error);
void grid_destroy(grid *g);

/* Returns the number of the cell with index i[n]; 0: it is absent. */
uint32_t grid_find(const grid *g, const int32_t *i);
/* Appends an absent cell with index i[n], P = 0 and no neighbours, whose number is then g->count. */
int grid_insert(grid *g, const int32_t *i, gbees_error *error);
/* Sets `below` and `above` of all cells. */
void grid_link(grid *g);
/* Removes the cells that are marked, links the others, and makes the hashtable anew (Algorithm 3). */
void grid_compact(grid *g);
/* The sum of all P. */
double grid_sum(const grid *g);
/* Multiplies all P by a factor. */
void grid_scale(grid *g, double factor);

#endif
