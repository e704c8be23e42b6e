/* cuts_private.h - the divided cells of a lattice, as cuts.c and leaves.c share them. */
#ifndef GBEES_LAGRANGIAN_CUTS_PRIVATE_H
#define GBEES_LAGRANGIAN_CUTS_PRIVATE_H

#include "cuts.h"

enum { GBEES_LEAF_PARTS = 3 /* into which a cell is divided */ };

/* A smaller cell. */
typedef struct gbees_leaf {
    uint32_t owner; /* the number of the divided cell that it is in */
    uint32_t point[GBEES_MAX_DIM][3];
    int8_t place[GBEES_MAX_DIM], level[GBEES_MAX_DIM]; /* as in gbees_cell; how often it is divided along an edge */
} gbees_leaf;

/* A cell of the lattice that is divided. */
typedef struct gbees_divided {
    double mass; /* of its leaves */
    gbees_parts parts;
} gbees_divided;

struct gbees_cuts {
    const gbees_past *past;
    const gbees_source *source;
    const gbees_fields *fields;
    gbees_fields fine; /* of the leaves' lattice, whose cells are `unit` times shorter */
    int unit, deepest;
    double most, all; /* the largest log weight; the sum of the weights in units of that */
    double *doubt;    /* [lattice's inner points]: the largest share of a target that is in doubt, see rate() */
    uint32_t *number; /* [lattice's inner points]: of the divided cell, or GBEES_NO_POINT */
    gbees_leaf *leaf; /* [fine.lattice->count] */
    double *leaf_doubt;
    int8_t *edge; /* along which it is to be divided */
    uint32_t capacity;
    gbees_divided *divided;
    uint32_t divided_count, divided_capacity;
    double inside[GBEES_MAX_TARGETS];   /* mass, in units of exp(most) */
    double doubtful[GBEES_MAX_TARGETS]; /* of it */
};

/* ---- leaves.c ---- */
/* Makes a cell of the lattice one that can be divided: its one leaf has its point. */
int gbees_cuts_open(gbees_cuts *cuts, uint32_t i, gbees_error *error);
/* Divides a leaf along an edge: it becomes the middle of three, and the others are added. */
int gbees_cuts_divide(gbees_cuts *cuts, uint32_t l, int edge, gbees_error *error);

#endif
