/* cuts_private.h - the divided cells of a lattice, as cuts.c and leaves.c share them. */
#ifndef GBEES_LAGRANGIAN_CUTS_PRIVATE_H
#define GBEES_LAGRANGIAN_CUTS_PRIVATE_H

#include "cuts.h"

enum {
    GBEES_LEAF_PARTS = 3,     /* into which a cell is divided */
    GBEES_LEAF_DEEPEST = 9,   /* times along an edge, at most */
    GBEES_LEAF_UNITS = 39366, /* of a leaf's index in an edge of a cell that is not divided: twice as many parts */
    GBEES_EDGE_PROBE = -1
};

/* A smaller cell, or a probe: a point that tells how functions change over one. */
typedef struct gbees_leaf {
    uint32_t owner;           /* the number of the divided cell that it is in; GBEES_NO_POINT: a probe */
    int32_t z[GBEES_MAX_DIM]; /* the multi-index of its centre, in units of GBEES_LEAF_UNITS to a cell's edge */
    uint32_t point[GBEES_MAX_DIM][3]; /* as in gbees_cell */
    int8_t place[GBEES_MAX_DIM], near[GBEES_MAX_DIM];
    int8_t level[GBEES_MAX_DIM]; /* how often it is divided along an edge */
    int8_t parted;               /* 1: it has just been divided, along gbees_cuts.edge */
    uint8_t aside; /* bits of edges whose points are beside it: those of the cell that it is a part of */
} gbees_leaf;

/* A cell of the lattice that is divided. */
typedef struct gbees_divided {
    double mass; /* of its leaves */
    gbees_mass_parts parts;
} gbees_divided;

struct gbees_cuts {
    const gbees_past *past;
    const gbees_source *source;
    const gbees_fields *fields;
    gbees_fields fine; /* of the leaves' points */
    double most, all;  /* the largest log weight; the sum of the weights in units of that */
    uint32_t *number;  /* [lattice's inner points]: of the divided cell, or GBEES_NO_POINT */
    /* Cells of the lattice that boundaries cut, whether or not they are divided. */
    uint32_t *cut; /* [cut_count]: their points */
    uint32_t cut_count;
    double *share;     /* [cut_count][2][targets]: what of them is in each target, and in doubt, if not divided */
    double *cut_doubt; /* [cut_count]: the largest part of what is in a target that is in doubt; 0: divided */
    gbees_leaf *leaf;  /* [fine.lattice->count] */
    double *leaf_doubt;
    int8_t *edge; /* along which it is to be divided; GBEES_EDGE_PROBE: it is to have probes first */
    size_t capacity;
    gbees_divided *divided;
    uint32_t divided_count;
    size_t divided_capacity;
    int is_full;                        /* 1: there are as many points as there may be, but for probes */
    uint64_t divisions;                 /* and probes: what has been done to leaves */
    double certain[GBEES_MAX_TARGETS];  /* mass in targets of cells that no boundary cuts, in units of exp(most) */
    double inside[GBEES_MAX_TARGETS];   /* of all */
    double doubtful[GBEES_MAX_TARGETS]; /* of it */
    /* The most that functions change by over an edge of a cell that is not divided, of those in doubt. */
    double steepest[GBEES_MAX_TARGETS][GBEES_MAX_DIM];
};

/* ---- doubt.c ---- */
/* Sets the cell of a leaf. */
void gbees_cuts_cell(const gbees_cuts *cuts, uint32_t l, gbees_cell *cell);
/* The mass of the cell of point i of the lattice, in units of exp(most). */
double gbees_cuts_cell_mass(const gbees_cuts *cuts, uint32_t i);
/* Finds the cells that boundaries cut. */
int gbees_cuts_find(gbees_cuts *cuts, gbees_error *error);
/* Sums up all cells: what is in targets, and what of that is in doubt. */
void gbees_cuts_sum(gbees_cuts *cuts);
/* Bits of the edges of a leaf that have no points of their own, and along which a function may change enough to
 * matter. */
unsigned gbees_cuts_unknown(const gbees_cuts *cuts, uint32_t l);
/* The largest part of what is in a target that is in doubt. */
double gbees_cuts_worst(const gbees_cuts *cuts);

/* ---- leaves.c ---- */
/* Makes a cell of the lattice one that can be divided: its one leaf has its point. */
int gbees_cuts_open(gbees_cuts *cuts, uint32_t i, gbees_error *error);
/* Divides a leaf along an edge: it becomes the middle of three, and the others are added. */
int gbees_cuts_divide(gbees_cuts *cuts, uint32_t l, int edge, gbees_error *error);
/* Adds probes on both sides of a leaf along the edges gbees_cuts_unknown(). */
int gbees_cuts_probe(gbees_cuts *cuts, uint32_t l, gbees_error *error);

#endif
