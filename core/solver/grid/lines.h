/* lines.h - a density on a sparse grid as lines: rows of cells along the last axis, in lexicographic order.
 *
 * What has to be computed of a cell and its neighbours along any axis is computed line by line, without a search for
 * each cell, and without sorting the cells anew along the axis.
 */
#ifndef GBEES_SOLVER_GRID_LINES_H
#define GBEES_SOLVER_GRID_LINES_H

#include <gbees/gbees.h>

/* A row of cells, without gaps. */
typedef struct gbees_line {
    int32_t index[GBEES_MAX_DIM]; /* of its first cell */
    size_t length;                /* cells */
    size_t first;                 /* its first cell's place in `p` */
} gbees_line;

/* Between two lines in a row there are more than GBEES_LINE_GAP absent cells; within a line an absent cell has P = 0.
 */
enum { GBEES_LINE_GAP = 4 };

typedef struct gbees_lines {
    int n, threads; /* dimension; threads for loops over all lines, 0: as many as there are processors */
    size_t count, capacity, cells, cell_capacity;
    gbees_line *line; /* [count] */
    double *p;        /* [cells] */
} gbees_lines;

void gbees_lines_clear(gbees_lines *lines);

/* Reserves memory for so many lines and cells more; returns 1 if there is no memory. */
int gbees_lines_reserve(gbees_lines *lines, size_t count, size_t cells);

/* Appends `length` cells from `index` on, which must not come before the last line's first cell. They go to the last
 * line if they overlap it or follow it within GBEES_LINE_GAP, else to a new one. P of cells that are there already is
 * added up. Returns 1 if there is no memory. */
int gbees_lines_append(gbees_lines *lines, const int32_t *index, const double *p, size_t length);

/* Whether two cells have the same index along all axes before `axis`. */
int gbees_lines_same(int n, const int32_t *a, const int32_t *b, int axis);

/* Sets p[count] to P of the cells that lie `shift` cells (-2 ... 2) along an axis beyond cells from, from + 1, ... of
 * line number `of`. *at is the line at which the search begins and ends, a cursor for one axis and one shift: it only
 * moves forward, so calls must go through the lines in their order. */
void gbees_lines_beside(const gbees_lines *lines, size_t of, size_t from, size_t count, int axis, int shift,
                        size_t *at, double *p);
/* Where *at may begin for line number `of`. */
size_t gbees_lines_find(const gbees_lines *lines, size_t of, int axis, int shift);

/* Calls work(context, first, end) for parts of the lines' numbers, on all threads. */
void gbees_lines_for_parts(const gbees_lines *lines, void (*work)(void *context, size_t first, size_t end),
                           void *context);

/* Sets the lines (all zero but n and threads) to a list of cells in lexicographic order, and a list of cells (all
 * zero) to those with P > 0. Each returns 1 if there is no memory. */
int gbees_lines_of_cells(gbees_lines *lines, const gbees_initial_cells *cells);
int gbees_lines_to_cells(const gbees_lines *lines, gbees_initial_cells *cells);

#endif
