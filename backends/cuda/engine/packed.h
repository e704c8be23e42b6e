/* packed.h - cells of bricks as the GPU packs them for a record, and how the host fetches them. Packed are, of each
 * brick, a mask of its cells and its key, and the P of all these cells, one after another.  This is a tenth of what
 * the cells' multi-indices would take. */
#ifndef GBEES_CUDA_PACKED_H
#define GBEES_CUDA_PACKED_H

#include "cuda/driver/api.h"
#include <gbees/backend.h>
#include <stdint.h>

enum {
    PACKED_PIECE = 1 << 13,                /* bricks of a piece that the GPU packs in its spare rows, at most */
    PACKED_LARGE_PIECE = 8 * PACKED_PIECE, /* bricks of a capture that are fetched at once, at most */
};

/* Packed cells in the GPU's memory: mask[bricks], key[bricks][n], p[cells] in the problem's precision. */
typedef struct packed_cells {
    uint64_t bricks, cells;
    CUdeviceptr mask, key, p;
} packed_cells;

/* The host's memory for one piece of packed cells; starts as {0}. */
typedef struct packed_piece {
    size_t bricks; /* its capacity */
    void *memory;  /* has mask, key and p */
    int is_locked; /* 1: page-locked memory of the driver; 0: malloc()'s */
    uint64_t *mask;
    int32_t *key;
    void *p;
    int32_t *index; /* its cells as a visitor takes them: an index along each of n axes, and P */
    double *wide;
    int32_t local[GBEES_MAX_DIM][64]; /* indices of a brick's cells inside it, axis by axis */
} packed_piece;

/* Packed cells, and what it takes to fetch them. */
typedef struct packed_source {
    const gbees_engine *engine;
    packed_cells cells;
    packed_piece *piece;
    CUstream stream;
    double mass; /* of the density: what the visitor gets is P / mass */
} packed_source;

/* Makes a piece with a capacity of so many bricks or, if there are more than PACKED_LARGE_PIECE, of these; one that
 * is large enough stays. packed_piece_free() gives the memory back. */
int packed_piece_reserve(const gbees_engine *e, packed_piece *piece, uint64_t bricks, gbees_error *error);
void packed_piece_free(const gbees_engine *e, packed_piece *piece);

/* Fetches all cells, piece by piece, and passes them to the visitor. Any thread may call it, with the engine's
 * context current.
 */
int packed_visit(const packed_source *source, gbees_cell_visitor *visitor, void *context, gbees_error *error);

/* Packs the cells with P >= fraction * p* * mass and P > 0 of the bricks in slots first + 1 .. last to to->mask,
 * to->key and to->p, and sets to->bricks and to->cells to their numbers. If to->p is 0, it only counts them. */
int engine_pack(gbees_engine *e, uint32_t first, uint32_t last, double fraction, packed_cells *to,
                gbees_error *error);

/* Packs these bricks' cells in memory of the GPU's own, and fetches them to e->piece, which is made. */
int engine_fetch_packed(gbees_engine *e, uint32_t first, uint32_t last, double fraction, uint64_t *bricks,
                        uint64_t *cells, gbees_error *error);
/* Hands the cells of so many bricks in e->piece to the visitor. */
int engine_visit_packed(gbees_engine *e, uint64_t bricks, gbees_cell_visitor *visitor, void *context);
#endif
