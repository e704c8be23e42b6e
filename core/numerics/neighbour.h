/* neighbour.h - keys of the bricks beside a brick, what is at the ends of an axis, how far a brick is outside of a
 * box, and where pencils begin. Direction 2j leads down axis j, 2j + 1 up (brick.h).
 *
 * An axis is a line, which has no ends; a circle, on which the highest brick is beside the lowest one; or it has a
 * wall at one end or at both.
 */
#ifndef GBEES_NUMERICS_NEIGHBOUR_H
#define GBEES_NUMERICS_NEIGHBOUR_H

#include "brick.h"

/* What is at an end of an axis: gbees_shape.end. */
enum { GBEES_AT_NOTHING, GBEES_AT_OTHER_END, GBEES_AT_REFLECTOR, GBEES_AT_ABSORBER };

/* Makes an axis one of the bricks that cells first .. last are in; lower, upper: what is at its ends. An end at
 * nothing stays open. */
GBEES_NUM void gbees_shape_close(gbees_shape *shape, int axis, int lower, int upper, int32_t first, int32_t last)
{
    shape->end[2 * axis] = (unsigned char)lower;
    shape->end[2 * axis + 1] = (unsigned char)upper;
    if (lower != GBEES_AT_NOTHING)
        shape->low[axis] = gbees_shape_key(shape, axis, first);
    if (upper != GBEES_AT_NOTHING)
        shape->high[axis] = gbees_shape_key(shape, axis, last) + 1;
}

/* Whether an axis is a circle or has a wall. */
GBEES_NUM int gbees_shape_is_closed(const gbees_shape *shape, int axis)
{
    return shape->end[2 * axis] | shape->end[2 * axis + 1];
}

/* The key's component along an axis of the brick with that of `key`: on a circle, which `key` may have left by no
 * more than its number of bricks, counted on from the other end. */
GBEES_NUM int32_t gbees_key_around(const gbees_shape *shape, int axis, int32_t key)
{
    const int32_t low = shape->low[axis], high = shape->high[axis];

    if ((uint32_t)key - (uint32_t)low < (uint32_t)high - (uint32_t)low || shape->end[2 * axis] != GBEES_AT_OTHER_END)
        return key;
    return key < low ? key + (high - low) : key - (high - low);
}

/* Whether a wall is at the side of a brick in direction d; key: its component along that axis. */
GBEES_NUM int gbees_is_at_wall(const gbees_shape *shape, int32_t key, int d)
{
    return shape->end[d] >= GBEES_AT_REFLECTOR && key == (d & 1 ? shape->high[d >> 1] - 1 : shape->low[d >> 1]);
}

/* A component of the key of a brick's neighbour in direction d, and, unless f == d, in direction f, too, were all
 * axes lines; own: that of the brick along the axis. d = f = -1 stands for the brick itself. */
GBEES_NUM int32_t gbees_key_step(int32_t own, int axis, int d, int f)
{
    const int32_t near = d >> 1 == axis ? own + (d & 1 ? 1 : -1) : own;

    return f != d && f >> 1 == axis ? near + (f & 1 ? 1 : -1) : near;
}

/* The same on the shape's axes. A brick at a wall is its own neighbour there: so growth never inserts one beyond it.
 */
GBEES_NUM int32_t gbees_key_beside(const gbees_shape *shape, int32_t own, int axis, int d, int f)
{
    const int32_t key = gbees_key_around(shape, axis, gbees_key_step(own, axis, d, f));

    return key < shape->low[axis] ? shape->low[axis] : key < shape->high[axis] ? key : shape->high[axis] - 1;
}

/* Sets to[n] to the key of that neighbour of the brick with key[n]. */
GBEES_NUM void gbees_key_move(const gbees_shape *shape, const int32_t *key, int d, int f, int32_t *to)
{
    for (int j = 0; j < shape->n; j++)
        to[j] = gbees_key_beside(shape, key[j], j, d, f);
}

/* How many bricks a key is outside of low .. high - 1 along an axis; 0: it is within. */
GBEES_NUM int64_t gbees_key_outside(int32_t key, int32_t low, int32_t high)
{
    return key < low ? (int64_t)low - key : key < high ? 0 : (int64_t)key - high + 1;
}

/* Whether a pencil, a row of bricks along an axis, begins with a brick; below: the slot of its lower neighbour, 0 if
 * there is none. A ring, all bricks around a circle, has no such brick: it begins with that of the lowest key. */
GBEES_NUM int gbees_begins_pencil(uint32_t below)
{
    return below == 0;
}

/* Whether a ring begins with the brick in a slot; key: its component along the axis; above[slot]: the upper
 * neighbours. */
GBEES_NUM int gbees_begins_ring(const gbees_shape *shape, int axis, int32_t key, const uint32_t *above, uint32_t slot)
{
    uint32_t at = above[slot];

    if (shape->end[2 * axis] != GBEES_AT_OTHER_END || key != shape->low[axis])
        return 0;
    while (at && at != slot)
        at = above[at];
    return at == slot;
}

#endif
