/* remapping.h - what the host passes to the kernel that takes cells to another frame (remap.h). */
#ifndef GBEES_CUDA_REMAPPING_H
#define GBEES_CUDA_REMAPPING_H

#include "device/state.h"

enum {
    REMAP_DIGITS = 256,   /* of a sort: 8 bits of an index at a time */
    REMAP_CHUNKS = 2048,  /* of a list, at most, that are taken by one warp each */
    REMAP_REACH = 1 << 28 /* GBEES_REMAP_REACH */
};

/* The passes of gbees_remap(). Those in pairs count first, for each chunk, and then write to the places that
 * REMAP_SCAN has made of the counts. */
enum {
    REMAP_COUNT_CELLS, /* the density's cells: to a list */
    REMAP_TAKE_CELLS,
    REMAP_COUNT_DIGITS, /* a list in the order of a digit of an index, equals in place: to another list */
    REMAP_MOVE_CELLS,
    REMAP_COUNT_ROWS, /* the first cells of rows: to `row` */
    REMAP_FIND_ROWS,
    REMAP_MEASURE_ROWS, /* rows under the pass: how many cells each has then, to `kept`; then to another list */
    REMAP_WRITE_ROWS,
    REMAP_COUNT_KEPT, /* the sum of `kept`; then, in `kept`, the sums of those before each row */
    REMAP_PLACE_KEPT,
    REMAP_COUNT_LARGE, /* cells with P of at least `threshold`: to another list */
    REMAP_TAKE_LARGE,
    REMAP_SCAN,       /* counts of a class, by chunk, become sums of those before; `total`: that of all, by class */
    REMAP_SCAN_TOTALS /* the same for `total` */
};

/* Cells in the GPU's memory: index at[k][i] along coordinate k, p[i]. */
typedef struct gbees_cell_arrays {
    GBEES_POINTER(int32_t) at[STATE_MAX_DIM];
    GBEES_POINTER(double) p;
} gbees_cell_arrays;

/* What passes find. Of the indices along a coordinate: REMAP_REACH less the least, REMAP_REACH plus the largest. */
typedef struct gbees_remap_found {
    uint64_t low[STATE_MAX_DIM], high[STATE_MAX_DIM];
    uint64_t failed; /* 1: a row's cells would be too far away, or it would be too long for `scratch` */
} gbees_remap_found;

typedef struct gbees_remapping {
    gbees_cell_arrays from, to;
    GBEES_POINTER(uint32_t) place; /* [classes][chunks] */
    GBEES_POINTER(uint32_t) total; /* [classes] */
    GBEES_POINTER(uint32_t) rows;  /* how many rows there are */
    GBEES_POINTER(uint32_t) row;   /* [rows]: the first cell of each */
    GBEES_POINTER(uint32_t) kept;  /* [rows]: how many cells each has after the pass, or where these go */
    GBEES_POINTER(double) scratch; /* [2][length][lanes]: for each lane a row before and after */
    GBEES_POINTER(gbees_remap_found) found;
    GBEES_POINTER(const void) density; /* REMAP_..._CELLS: P by slot and cell */
    GBEES_POINTER(const int32_t) key;  /* [slot][n] */
    double mass, threshold;            /* P is divided by `mass` */
    uint32_t count, classes, chunks;   /* of cells, or of bricks */
    uint32_t lanes, length;            /* of `scratch` */
    int32_t first;                     /* a digit is that of the index less this */
    int axis, digit_shift;
    int moves; /* the rest is as gbees_remap_pass (gbees/remap.h) has it */
    double scale, shift, shear[STATE_MAX_DIM], before, after, spread, least;
} gbees_remapping;

#endif
