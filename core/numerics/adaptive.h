/* adaptive.h - how long the steps of one point are, on a way whose length in time is `span` > 0.
 *
 * A step is repeated, shorter, until its error is at most 1. Where even the shortest step has a larger one, the drift
 * jumps, or the trajectory ends. A drift may also lead points from both sides to where it jumps, and would keep them
 * there by ever so many short steps: a point that hardly gets on takes longer ones, whatever their errors. */
#ifndef GBEES_NUMERICS_ADAPTIVE_H
#define GBEES_NUMERICS_ADAPTIVE_H

#include "qualifier.h"
#include <math.h>

enum {
    GBEES_ADAPTIVE_GROWTH = 6,  /* a step is longer than the one before by this factor, at most */
    GBEES_ADAPTIVE_WINDOW = 256 /* steps, after which it is asked whether the point gets on */
};

/* The largest error of a step that leads from x by `way`: what is allowed, or what rounding of x and of slopes, whose
 * sums have terms of several times the way, makes of it. */
GBEES_NUM double gbees_adaptive_allowed(double allowed, double x, double way)
{
    return allowed + 1e-15 * fabs(x) + 8e-15 * fabs(way);
}

/* The shortest step of a point that gets on. */
GBEES_NUM double gbees_adaptive_shortest(double span)
{
    return 0x1p-40 * span;
}

/* The shortest step of a point that got on by `way` in its last window of steps, when it was `least`. A window of the
 * longer steps is a quarter of the span; a point that took them keeps them unless it has grown them. */
GBEES_NUM double gbees_adaptive_least(double span, double way, double least)
{
    const double shortest = gbees_adaptive_shortest(span), slow = least > shortest ? 0.375 : 0x1p-16;

    return way < slow * span ? 0x1p-10 * span : shortest;
}

/* The length of the next step: what is wanted, or all that is left, which has a sign. */
GBEES_NUM double gbees_adaptive_length(double wanted, double left)
{
    return fabs(left) <= 1.05 * wanted ? left : copysign(wanted, left);
}

/* Whether a step that is not taken can't be repeated by a shorter one. */
GBEES_NUM int gbees_adaptive_is_shortest(double length, double least)
{
    return fabs(length) <= 1.05 * least;
}

/* The length that is wanted after a step of some length, whose factor (gbees_dormand_prince_factor()) is cut to the
 * growth that is allowed. */
GBEES_NUM double gbees_adaptive_wanted(double length, double factor, double growth, double least)
{
    const double wanted = fabs(length) * (factor < growth ? factor : growth);

    return wanted > least ? wanted : least;
}

#endif
