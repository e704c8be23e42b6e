/* split_cuts.h - where a target that absorbs cuts a line of cells: what a sweep reads beyond, and what enters.
 *
 * To be included with the macros of split.h. A cell whose centre is in a target is empty. From the centre of the
 * last cell before it the boundary is `reach` away, 0 to 1 cells, where g is 0 on the line between the two centres.
 * What crosses the face between them, the cut, has entered. Masses through faces near it read, beyond the face:
 *
 * - where noise decides, the image of the density about the boundary, which is odd but for a factor: a density that
 *   drifts with the velocity u and spreads with Q is 0 at the boundary with p(s) = -exp(2 u s / Q) p(-s);
 * - where the drift carries the density in (more than `carried` of its distance in cells), or alone, the continuation
 *   in a straight line; the last cell then is as long as the way to the boundary;
 * - where the drift alone leads out of the target, nothing.
 */
#ifndef GBEES_NUMERICS_SPLIT_CUTS_H
#define GBEES_NUMERICS_SPLIT_CUTS_H

#include <math.h>

enum {
    GBEES_CUT_BEYOND = 4,                      /* cells of each side that the mass through a face reads, at most */
    GBEES_CUT_LIVE = 2 * GBEES_CUT_BEYOND - 1, /* cells before the cut that masses near it read, at most */
    GBEES_CUT_LINE = 3 * GBEES_CUT_BEYOND - 1, /* with those behind it */
    GBEES_CUT_TARGETS = 8 /* targets, at most; in place of a target's number: its function is not a number */
};

#endif

/* What is near a cut. */
typedef struct {
    GBEES_REAL courant; /* at the cut, towards the target */
    GBEES_REAL last;    /* P of the last cell, which is so long: */
    GBEES_REAL length;
    int by_noise; /* whether noise decides about what crosses the cut */
    /* GBEES_CUT_LIVE cells before it, the others behind it, in the order of their places. */
    GBEES_REAL cell[GBEES_CUT_LINE];
} GBEES_REAL_FN(gbees_cut_line);

/* Takes target k into account, whose function is `from` at the last cell and `to` at the one behind the cut: sets
 * *reach and *target if its boundary is nearer than *reach, 2 before the first one. */
GBEES_NUM void GBEES_REAL_FN(gbees_cut_find)(GBEES_REAL from, GBEES_REAL to, int k, GBEES_REAL *reach, int *target)
{
    const GBEES_REAL found = to < 0 ? from / (from - to) : to >= 0 ? 2 : 0; /* to: may be NaN */

    if (found < *reach) {
        *reach = found > (GBEES_REAL)1e-3 ? found : (GBEES_REAL)1e-3;
        *target = to == to ? k : GBEES_CUT_TARGETS;
    }
}

/* The image of cells about the boundary: sets beyond[3] from the cells live[], the nearest one first. steep: 2 u / Q
 * towards the target, in cells. */
GBEES_NUM void GBEES_REAL_FN(gbees_cut_mirror)(const GBEES_REAL *live, GBEES_REAL reach, GBEES_REAL steep,
                                               GBEES_REAL *beyond)
{
    const int skipped = reach < (GBEES_REAL)0.5; /* a cell next to the boundary tells little of the slope there */
    const GBEES_REAL d0 = reach + (GBEES_REAL)skipped, *f = live + skipped;
    const GBEES_REAL q0 = f[0] / d0, q1 = f[1] / (d0 + 1), q2 = f[2] / (d0 + 2);
    const GBEES_REAL slope = q1 - q0, bend = (GBEES_REAL)0.5 * (q2 - q1 - slope);

    for (int k = 0; k < 3; k++) { /* s times the parabola through q0, q1, q2 */
        const GBEES_REAL away = (GBEES_REAL)(k + 1) - reach, at = away - d0;

        beyond[k] = -(GBEES_REAL)exp((double)(steep * away)) * away * (q0 + at * (slope + (at - 1) * bend));
    }
}

/* Sets what is near a cut. live[GBEES_CUT_LIVE]: the cells before it, the nearest one first; courant: at it, towards
 * the target; root: of the variance that noise adds, in cells; noisy: noise spreads there; up: the target is above;
 * beyond: cells of each side that the mass through a face reads. */
GBEES_NUM void GBEES_REAL_FN(gbees_cut_set)(const GBEES_REAL *live, GBEES_REAL reach, GBEES_REAL courant,
                                            GBEES_REAL root, int noisy, int up, int beyond,
                                            GBEES_REAL_FN(gbees_cut_line) * line)
{
    const GBEES_REAL carried = 4, steepest = (GBEES_REAL)0.5;
    const GBEES_REAL steep = 2 * courant / (root * root); /* without noise infinite, or not a number */
    const int by_noise = noisy && steep < carried;
    const GBEES_REAL length = by_noise ? 1 : reach + (GBEES_REAL)0.5, nearest = live[0] / length;
    GBEES_REAL dead[GBEES_CUT_BEYOND];

    line->courant = courant;
    line->last = live[0];
    line->length = length;
    line->by_noise = by_noise;
    if (by_noise)
        GBEES_REAL_FN(gbees_cut_mirror)(live, reach, steep < steepest ? steep : steepest, dead);
    for (int k = 0; k < beyond && !by_noise; k++) {
        const GBEES_REAL straight =
            nearest + (GBEES_REAL)(k + 1) * (nearest - live[1]) / ((GBEES_REAL)0.5 * (1 + length));

        dead[k] = courant > 0 && straight > 0 ? straight : 0;
    }
    for (int k = 0; k < GBEES_CUT_LIVE; k++)
        line->cell[up ? GBEES_CUT_LIVE - 1 - k : beyond + k] = k == 0 ? nearest : live[k];
    for (int k = 0; k < beyond; k++)
        line->cell[up ? GBEES_CUT_LIVE + k : beyond - 1 - k] = dead[k];
}

/* The 2 beyond cells about the face that is m faces away from the cut, out of the target. */
GBEES_NUM const GBEES_REAL *GBEES_REAL_FN(gbees_cut_cells)(const GBEES_REAL_FN(gbees_cut_line) * line, int up,
                                                           int beyond, int m)
{
    return line->cell + (up ? GBEES_CUT_LIVE - beyond - m : m);
}

/* What the drift carries through the boundary, of a density that is linear along the last two cells: of the last
 * cell, and of what enters that. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_cut_carried)(const GBEES_REAL_FN(gbees_cut_line) * line, GBEES_REAL before,
                                                      GBEES_REAL entering)
{
    const GBEES_REAL c = line->courant, own = line->last / line->length;
    const GBEES_REAL mass = c * (own + (own - before) * (line->length - c) / (line->length + 1));
    const GBEES_REAL most = line->last + (entering > 0 ? entering : 0);

    return !(c > 0 && mass > 0) ? 0 : mass < most ? mass : most;
}

/* Where noise does not decide, sets the mass through the cut, and limits that through the face before it to what the
 * last cell has. mass[beyond]: upwards, by m as gbees_cut_cells() takes it. */
GBEES_NUM void GBEES_REAL_FN(gbees_cut_carry)(const GBEES_REAL_FN(gbees_cut_line) * line, int up, int beyond,
                                              GBEES_REAL *mass)
{
    const GBEES_REAL sign = (GBEES_REAL)(up ? 1 : -1);

    if (line->by_noise)
        return;
    if (beyond > 1 && sign * mass[1] < -line->last)
        mass[1] = -sign * line->last;
    mass[0] = sign * GBEES_REAL_FN(gbees_cut_carried)(line, line->cell[up ? GBEES_CUT_LIVE - 2 : beyond + 1],
                                                      beyond > 1 ? sign * mass[1] : 0);
}

/* The bounded mass through a cut, into the target: a cell whose centre is close to the boundary holds next to
 * nothing, and passes on what enters it; it may not give more than both. mass: before it is bounded; held: P of the
 * last cell; entering: the bounded mass that enters it from behind. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_cut_opened)(GBEES_REAL mass, GBEES_REAL held, GBEES_REAL entering)
{
    const GBEES_REAL most = held + entering;

    return mass < most ? mass : most > 0 ? most : 0;
}
