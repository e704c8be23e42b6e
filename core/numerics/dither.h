/* dither.h - where a float is rounded up and where down, so that sums of many small changes have no bias
 * (doc/method.md, "Precision").
 *
 * A cell to which a step adds less than half of its last digit would keep its value for ever: what it should lose
 * slowly would stay, and the mass with it. So a part of a digit is added before the sum is rounded, from -1/2 to 1/2,
 * another one in each cell and pass: a change of a tenth of a digit then takes place in one of ten passes. Along a
 * pencil and over the lines of a plane these parts are multiples of the golden ratio, whose sums nearly vanish.
 *
 * The numbers depend on the pass and on the cell's index alone, so that the bits are those of any number of threads,
 * of each instruction set, and of a GPU.
 */
#ifndef GBEES_NUMERICS_DITHER_H
#define GBEES_NUMERICS_DITHER_H

#include "qualifier.h"

/* From one cell to the next; from one pass over a pencil to the next: in parts of 2^32. */
#define GBEES_DITHER_CELL 0x9e3779b9u
#define GBEES_DITHER_PASS 0x7f4a7c15u

/* Mixes all bits of h. */
GBEES_NUM uint32_t gbees_dither_mix(uint32_t h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

/* The number of pass number `pass` of the step after `steps` completed ones; for the next pass along the same axis
 * GBEES_DITHER_PASS is added. */
GBEES_NUM uint32_t gbees_dither_of_pass(uint64_t steps, int pass)
{
    return gbees_dither_mix((uint32_t)steps * 0x9e3779b1u + (uint32_t)(steps >> 32)) +
           (uint32_t)pass * GBEES_DITHER_PASS;
}

/* What the cells of a pencil along an axis add to the pass's number, from the key of one of its bricks. */
GBEES_NUM uint32_t gbees_dither_of_pencil(const int32_t *key, int n, int axis)
{
    uint32_t h = (uint32_t)axis;

    for (int k = 0; k < n; k++)
        h = k == axis ? h : gbees_dither_mix(h + (uint32_t)key[k] * 0x9e3779b1u);
    return h;
}

#endif
