/* kernel_ctu_block.h - the bricks that the passes of ctu work on together, one axis after the other.  A template: see
 * kernel.c.
 */

#ifndef GBEES_CPU_CTU_BLOCK
#define GBEES_CPU_CTU_BLOCK
/* Which way a brick's faces flow along an axis. */
typedef enum kernel_way { KERNEL_EITHER, KERNEL_RISING, KERNEL_FALLING } kernel_way;

/* Bricks of a block, and how many bricks ahead rows are asked for. */
enum { CTU_BRICKS = 128, CTU_AHEAD = 8 };

/* Numbers of bricks in a block, by the way that they flow. */
typedef struct kernel_ways {
    int count[3];
    unsigned char brick[3][CTU_BRICKS + CTU_AHEAD];
} kernel_ways;

INLINE kernel_way way_of(const kernel_context *c, uint32_t slot, int axis)
{
    const unsigned steady = (unsigned)c->steady[slot] >> axis;

    return c->moving ? KERNEL_EITHER
                     : (kernel_way)((steady & 1) * KERNEL_RISING + (steady >> 8 & 1) * KERNEL_FALLING);
}

/* Told apart before the work, so that a brick's way is no surprise to the processor.  Each list goes on with its last
 * brick for those that look ahead. */
INLINE void tell_ways(const kernel_context *c, const uint32_t *slots, int bricks, int axis, int either,
                      kernel_ways *ways)
{
    ways->count[0] = ways->count[1] = ways->count[2] = 0;
    for (int b = 0; b < bricks; b++) {
        const kernel_way way = either ? KERNEL_EITHER : way_of(c, slots[b], axis);

        ways->brick[way][ways->count[way]++] = (unsigned char)b;
    }
    for (int way = 0; way < 3; way++)
        for (int i = 0, end = ways->count[way]; i < CTU_AHEAD && end; i++)
            ways->brick[way][end + i] = ways->brick[way][end - 1];
}
#endif

typedef struct GBEES_REAL_FN(block) {
    const uint32_t *slots;
    int bricks;
    GBEES_REAL_FN(base) base[CTU_BRICKS];
    _Alignas(64) GBEES_REAL sum[CTU_BRICKS][64]; /* over the axes */
} GBEES_REAL_FN(block);

INLINE void GBEES_REAL_FN(open_block)(const kernel_context *c, uint32_t from, uint32_t to,
                                      GBEES_REAL_FN(block) * block)
{
    block->slots = c->g->used + from;
    block->bricks = (int)(to - from < CTU_BRICKS ? to - from : CTU_BRICKS);
    memset(block->sum, 0, (size_t)block->bricks * sizeof block->sum[0]);
    for (int b = 0; b < block->bricks; b++) {
        __builtin_prefetch(grid_key(c->g, block->slots[b + 2 * CTU_AHEAD < block->bricks ? b + 2 * CTU_AHEAD : b]));
        GBEES_REAL_FN(base_of)(c, block->slots[b], &block->base[b]);
    }
}
