/* packed.h - cells of bricks as the GPU packs them for a record: a mask of the cells and a key a brick, and the P of
 * all these cells, one after another.  A tenth of what the cells' indices would take on their way to the host. */
#ifndef GBEES_CUDA_PACKED_H
#define GBEES_CUDA_PACKED_H

#include "cuda/driver/api.h"
#include <gbees/backend.h>
#include <stdint.h>

enum { PACKED_PIECE = 1 << 13 }; /* bricks that are fetched at once, at most */

/* In the GPU's memory. */
typedef struct packed_cells {
    uint64_t bricks, cells;
    CUdeviceptr mask, key, p;
} packed_cells;

/* Where a piece of them comes to; starts as {0}. */
typedef struct packed_piece {
    void *memory;
    int is_locked; /* the GPU's own kind of memory, else malloc's */
    uint64_t *mask;
    int32_t *key;
    void *p;
    int32_t *index; /* some cells at a time, as a visitor takes them */
    double *wide;
} packed_piece;

int packed_piece_make(const gbees_engine *e, packed_piece *piece, gbees_error *error);
void packed_piece_free(const gbees_engine *e, packed_piece *piece);

/* Fetches all of them, piece by piece, and hands them on, divided by `mass`. By any thread, in the engine's context.
 */
int packed_visit(const gbees_engine *e, const packed_cells *cells, packed_piece *piece, CUstream stream, double mass,
                 gbees_cell_visitor *visitor, void *context, gbees_error *error);

/* Cells with P >= p* of bricks (from, to] to where `to` says; its numbers are set. With no p: the numbers alone. */
int engine_pack(gbees_engine *e, uint32_t first, uint32_t last, packed_cells *to, gbees_error *error);

#endif
