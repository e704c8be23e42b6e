/* parts.h - the parts into which cells of a lattice are divided: where they are, and what mass they carry. */
#ifndef GBEES_LAGRANGIAN_PARTS_H
#define GBEES_LAGRANGIAN_PARTS_H

#include "divide.h"
#include "image.h"

enum { GBEES_PARTS_BATCH = 512 /* parts that are made at once, unless one layer of them is more */ };

/* A thread's memory for the parts of one lattice cell, and a batch of them. */
typedef struct gbees_parts {
    const gbees_image *image;
    int least[GBEES_MAX_DIM];              /* of parts along each axis of the lattice's cell */
    int count[GBEES_MAX_DIM];              /* of them along each axis */
    double width;                          /* of a part, in cells */
    int order[GBEES_MAX_DIM];              /* axes of the lattice, as they are interpolated one after the other */
    size_t block[GBEES_MAX_DIM + 1];       /* parts of the first axes of that order */
    double *weight[GBEES_DIVIDE_MOST + 1]; /* of the points of a line, by the number of parts; NULL: not made yet */
    double *memory, *line[GBEES_MAX_DIM + 1]; /* values at the points of a line, by level */
    size_t capacity;
    int left, right;              /* points of the last line before and after its centre */
    size_t layer;                 /* next along the last axis */
    size_t batch, most;           /* parts in this batch; in any */
    double *place[GBEES_MAX_DIM]; /* [batch]: in cells */
    double *log_mass;             /* [batch]: that of a lattice cell all of whose parts are as heavy */
    double share;                 /* of a part in a cell */
} gbees_parts;

/* Makes a thread's memory; `parts` is all zero but for its image, and `least`. */
void gbees_parts_prepare(gbees_parts *parts, const gbees_image *image, double width);
/* An estimate of the number of parts of all cells. */
double gbees_parts_expect(const gbees_image *image, double width);
/* Divides the cell around a point. Returns 1 if there is no memory. */
int gbees_parts_open(gbees_parts *parts, uint32_t point);
/* Makes the next batch of its parts; returns 0 if there are no more. */
int gbees_parts_next(gbees_parts *parts);
void gbees_parts_close(gbees_parts *parts);

#endif
