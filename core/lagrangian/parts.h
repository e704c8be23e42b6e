/* parts.h - the parts into which cells of a lattice are divided: where they are, and what mass they carry. */
#ifndef GBEES_LAGRANGIAN_PARTS_H
#define GBEES_LAGRANGIAN_PARTS_H

#include "divide.h"
#include "image.h"

/* The most that the mass of a part is spread, in cells of the grid: knots of a quadratic B-spline are apart so much.
 */
#define GBEES_PARTS_WIDEST (1 / 3.)
enum { GBEES_PARTS_BATCH = 512 /* parts that are made at once, unless one layer of them is more */ };

/* A thread's memory for the parts of one lattice cell, and a batch of them. */
typedef struct gbees_parts {
    const gbees_image *image;
    int count[GBEES_MAX_DIM]; /* of them along each axis */
    int all[GBEES_MAX_DIM];   /* gbees_parts_prepare() */
    double apart;
    double width[GBEES_MAX_DIM];     /* over which those of this lattice cell are spread, along the grid's axes */
    int state;                       /* of a marginal; -1: all places are interpolated */
    int order[GBEES_MAX_DIM];        /* axes of the lattice, as they are interpolated one after the other */
    size_t block[GBEES_MAX_DIM + 1]; /* parts of the first axes of that order */
    double *weight[GBEES_DIVIDE_MOST + 1]; /* of the points of a line, by the number of parts; NULL: not made yet */
    double *memory, *line[GBEES_MAX_DIM + 1]; /* values at the points of a line, by level */
    size_t capacity;
    int reach;                    /* of lines to each side, in points */
    int left, right;              /* points of the last line before and after its centre */
    double log_most;              /* no part has a larger log_mass */
    size_t layer;                 /* next along the last axis */
    size_t batch, most;           /* parts in this batch; in any */
    double *place[GBEES_MAX_DIM]; /* [batch]: in cells */
    double *log_mass;             /* [batch]: that of a lattice cell all of whose parts are as heavy */
    double share;                 /* of a part in a cell */
} gbees_parts;

/* Makes a thread's memory. count[n]: numbers of parts along the lattice's axes, for cells of the grid (divide.h); for
 * marginals parts are so far `apart`, in cells. */
void gbees_parts_prepare(gbees_parts *parts, const gbees_image *image, const int *count, double apart);
/* Divides the cell around a point: for cells of the grid if state is -1; for a marginal, only along one axis of the
 * lattice, if it is a state's number. Returns 1 if there is no memory. */
int gbees_parts_open(gbees_parts *parts, uint32_t point, int state);
/* Makes the next batch of its parts; returns 0 if there are no more. */
int gbees_parts_next(gbees_parts *parts);
void gbees_parts_close(gbees_parts *parts);

#endif
