/* ctu_block.h - a block: the bricks on which a pass of ctu works together, one axis after the other. */
#ifndef GBEES_CPU_CTU_BLOCK_H
#define GBEES_CPU_CTU_BLOCK_H

#include "brick_axis.h"
#include "face_velocity.h"
#include <string.h>

enum {
    CTU_BRICKS = 128, /* bricks of a block, at most */
    CTU_AHEAD = 8     /* bricks from the one that is computed to the one whose rows are prefetched */
};

/* The direction of the flow through all faces of a brick across an axis. */
typedef enum flow_direction { EITHER, RISING, FALLING } flow_direction;

/* A block, and what a pass has added up for its cells. */
typedef struct ctu_block {
    const kernel_context *c;
    const uint32_t *slots;
    int bricks;
    int axis;     /* the present one */
    int count[3]; /* by direction along this axis: the number of bricks */
    /* by direction: these bricks, then copies of the last one, for prefetches */
    unsigned char brick[3][CTU_BRICKS + CTU_AHEAD];
    brick_base base[CTU_BRICKS];
    _Alignas(64) real sum[CTU_BRICKS][64]; /* over the axes, of what a pass computes in each cell */
} ctu_block;

/* Starts the block of used bricks from .. to - 1, or of as many of them as it takes; its sums are 0. */
INLINE void start_block(const kernel_context *c, uint32_t from, uint32_t to, ctu_block *block)
{
    block->c = c;
    block->slots = c->g->used + from;
    block->bricks = (int)(to - from < CTU_BRICKS ? to - from : CTU_BRICKS);
    memset(block->sum, 0, (size_t)block->bricks * sizeof block->sum[0]);
    for (int b = 0; b < block->bricks; b++) {
        __builtin_prefetch(grid_key(c->g, block->slots[b + 2 * CTU_AHEAD < block->bricks ? b + 2 * CTU_AHEAD : b]));
        base_of(c, block->slots[b], &block->base[b]);
    }
}

/* The direction of a brick along an axis. */
INLINE flow_direction direction_of(const kernel_context *c, uint32_t slot, int axis)
{
    const unsigned one_signed = (unsigned)c->flow.one_signed[slot] >> axis;

    return c->drift.time_dependent || c->frame.moves
               ? EITHER
               : (flow_direction)((one_signed & 1) * RISING + (one_signed >> 8 & 1) * FALLING);
}

/* Lists the block's bricks by their directions along its axis, as branches on each brick's direction would be
 * mispredicted. */
INLINE void sort_by_direction(ctu_block *block)
{
    block->count[0] = block->count[1] = block->count[2] = 0;
    for (int b = 0; b < block->bricks; b++) {
        const flow_direction d = direction_of(block->c, block->slots[b], block->axis);

        block->brick[d][block->count[d]++] = (unsigned char)b;
    }
    for (int d = 0; d < 3; d++)
        for (int i = 0, end = block->count[d]; i < CTU_AHEAD && end; i++)
            block->brick[d][end + i] = block->brick[d][end - 1]; /* cppcheck-suppress negativeIndex ; end > 0 */
}

/* The row of a slot. */
INLINE const real *row_of(const void *rows, uint32_t slot, brick_axis a)
{
    return (const real *)rows + (size_t)slot * (size_t)a.cells;
}

#endif
