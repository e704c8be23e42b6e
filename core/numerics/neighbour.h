/* neighbour.h - keys of the bricks beside a brick, how far a brick is outside of a box, and where pencils begin.
 * Direction 2j leads down axis j, 2j + 1 up (brick.h).
 */
#ifndef GBEES_NUMERICS_NEIGHBOUR_H
#define GBEES_NUMERICS_NEIGHBOUR_H

#include "qualifier.h"

/* A component of the key of a brick's neighbour in direction d, and, unless f == d, in direction f, too; own: that of
 * the brick along the axis. d = f = -1 stands for the brick itself. */
GBEES_NUM int32_t gbees_key_beside(int32_t own, int axis, int d, int f)
{
    const int32_t near = d >> 1 == axis ? own + (d & 1 ? 1 : -1) : own;

    return f != d && f >> 1 == axis ? near + (f & 1 ? 1 : -1) : near;
}

/* Sets to[n] to the key of that neighbour of the brick with key[n]. */
GBEES_NUM void gbees_key_move(int n, const int32_t *key, int d, int f, int32_t *to)
{
    for (int j = 0; j < n; j++)
        to[j] = gbees_key_beside(key[j], j, d, f);
}

/* How many bricks a key is outside of low .. high - 1 along an axis; 0: it is within. */
GBEES_NUM int64_t gbees_key_outside(int32_t key, int32_t low, int32_t high)
{
    return key < low ? (int64_t)low - key : key < high ? 0 : (int64_t)key - high + 1;
}

/* Whether a pencil, a row of bricks along an axis, begins with a brick; below: the slot of its lower neighbour, 0 if
 * there is none. */
GBEES_NUM int gbees_begins_pencil(uint32_t below)
{
    return below == 0;
}

#endif
