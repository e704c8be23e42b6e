/* ctu.c - the passes of ctu over the bricks: transverse terms, limiters (ctu-positive only), new probabilities.
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

/* Adds what the fluxes along the block's axis contribute (flux_sum) to its sums. */
INLINE void flux_axis(ctu_block *block, flux_sum what, brick_axis a)
{
    const real lambda = (real)(block->c->step / block->c->drift.axis[block->axis].width);

    if (has_columns(a) && what == FLUX_CHANGE)
        flux_by_columns(block, lambda, a);
    else
        flux_by_planes(block, lambda, what, a);
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

/* Starts a block, and adds up the contributions of the fluxes along all axes. One function for the three sums, as it
 * has the code of every shape of a brick. */
NOINLINE void sum_fluxes(const kernel_context *c, uint32_t from, uint32_t to, flux_sum what, ctu_block *block)
{
    start_block(c, from, to, block);
    for (block->axis = 0; block->axis < c->n; block->axis++) {
#define CALL(a) flux_axis(block, what, a)
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

void SYMBOL(cpu_find_limiter)(const kernel_context *c, uint32_t from, uint32_t to)
{
    const size_t cells = (size_t)c->g->shape.cells;
    ctu_block block;

    for (; from < to; from += (uint32_t)block.bricks) {
        sum_fluxes(c, from, to, FLUX_OUTGOING, &block);
        for (int b = 0; b < block.bricks; b++) {
            const real *p = (const real *)c->rows.p + block.slots[b] * cells;
            real *limiter = (real *)c->rows.limiter + block.slots[b] * cells;

            for (size_t i = 0; i < cells; i++)
                limiter[i] = gbees_ctu_limiter(p[i], block.sum[b][i]);
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

/* Sets the new probabilities of bricks, and *sums. */
INLINE void update_bricks(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums, flux_sum what)
{
    ctu_block block;
    brick_totals totals = {0};

    for (; from < to; from += (uint32_t)block.bricks) {
        sum_fluxes(c, from, to, what, &block);
        store_block(&block, &totals);
    }
    *sums = sums_of(&totals);
}

void SYMBOL(cpu_update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums)
{
    update_bricks(c, from, to, sums, FLUX_CHANGE);
}

void SYMBOL(cpu_update_limited)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums)
{
    update_bricks(c, from, to, sums, FLUX_LIMITED);
}
