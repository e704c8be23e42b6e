/* ctu.c - the passes of ctu over the bricks: transverse terms, new probabilities.
 *
 * Along each axis a block of bricks is computed by columns of vectors (ctu_columns.h) or by planes (ctu_planes.h).
 */
#include "ctu.h"
#include "brick_axis.h"
#include "cells.h"
#include "ctu_columns.h"
#include "ctu_planes.h"

/* Adds the transverse terms along the block's axis to its sums. */
INLINE void transverse_axis(ctu_block *block, brick_axis a)
{
    const real half_lambda = (real)(0.5 * block->c->step / block->c->drift.axis[block->axis].width);

    if (has_columns(a))
        transverse_columns(block, half_lambda, a);
    else
        transverse_planes(block, half_lambda, a);
}

/* Adds the changes by the fluxes along the block's axis to its sums. */
INLINE void flux_axis(ctu_block *block, brick_axis a)
{
    const real lambda = (real)(block->c->step / block->c->drift.axis[block->axis].width);

    if (has_columns(a))
        flux_by_columns(block, lambda, a);
    else
        flux_by_planes(block, lambda, a);
}

/* Starts a block, and adds up the transverse terms along all axes. */
INLINE void sum_transverse(const kernel_context *c, uint32_t from, uint32_t to, ctu_block *block)
{
    start_block(c, from, to, block);
    for (block->axis = 0; block->axis < c->n; block->axis++) {
#define CALL(a) transverse_axis(block, a)
        FOR_AXIS(&c->g->shape, block->axis, CALL)
#undef CALL
    }
}

/* Starts a block, and adds up the changes by the fluxes along all axes. */
INLINE void sum_fluxes(const kernel_context *c, uint32_t from, uint32_t to, ctu_block *block)
{
    start_block(c, from, to, block);
    for (block->axis = 0; block->axis < c->n; block->axis++) {
#define CALL(a) flux_axis(block, a)
        FOR_AXIS(&c->g->shape, block->axis, CALL)
#undef CALL
    }
}

/* Prefetches the row that is written CTU_AHEAD bricks after brick b. */
INLINE void prefetch_for_write(const ctu_block *block, int b, const void *rows, int cells)
{
    const real *row = (const real *)rows + (size_t)slot_ahead(block, b) * (size_t)cells;

    for (int i = 0; i < cells; i += 64 / (int)sizeof *row)
        __builtin_prefetch(row + i, 1);
}

void SYMBOL(cpu_transverse)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const int cells = c->g->shape.cells;
    ctu_block block;

    for (; from < to; from += (uint32_t)block.bricks) {
        sum_transverse(c, from, to, &block);
        for (int b = 0; b < block.bricks; b++) {
            prefetch_for_write(&block, b, c->rows.s, cells);
            copy_cells((real *)c->rows.s + (size_t)block.slots[b] * (size_t)cells, block.sum[b], cells);
        }
    }
}

/* Stores P plus the block's sums as the new probabilities. */
INLINE void store_block(ctu_block *block, brick_totals *totals)
{
    enum { cells = 64 };
    const kernel_context *c = block->c;

    for (int b = 0; b < block->bricks; b++) {
        const uint32_t slot = block->slots[b];
        const size_t at = (size_t)slot * (size_t)cells;
        const real *old = (const real *)c->rows.p + at;
        real *change = block->sum[b];

        prefetch_for_write(block, b, c->rows.next, cells);
        for (int i = 0; i < cells; i++)
            change[i] += old[i];
        c->rows.active[slot] = clamp_and_mark(c, slot, change, (real *)c->rows.next + at, totals);
    }
}

void SYMBOL(cpu_update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums)
{
    ctu_block block;
    brick_totals totals = {0};

    for (; from < to; from += (uint32_t)block.bricks) {
        sum_fluxes(c, from, to, &block);
        store_block(&block, &totals);
    }
    *sums = sums_of(&totals);
}
