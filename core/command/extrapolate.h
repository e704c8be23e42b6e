/* extrapolate.h - predicts the time and memory of a run from those of its beginning or of smaller runs. */
#ifndef GBEES_COMMAND_EXTRAPOLATE_H
#define GBEES_COMMAND_EXTRAPOLATE_H

/* What a run on wider cells took. */
typedef struct gbees_trial {
    double width;   /* of its cells, in widths of the run's, > 1 */
    double cells;   /* the most */
    double bytes;   /* the most */
    double updates; /* of cells */
    double seconds; /* of propagation */
} gbees_trial;

/* Sets *bytes and *seconds to those of a run on cells of width 1. The narrowest cells are last, count >= 2. Both are
 * NAN if a trial has nothing to extrapolate from. */
void gbees_extrapolate_trials(const gbees_trial *trial, int count, double *bytes, double *seconds);

enum { GBEES_HISTORY_POINTS = 64 };

/* When a running run had done which part of its model time. Points are thinned out as they become many, evenly. */
typedef struct gbees_history {
    int count;
    double spacing; /* least, of the fractions of points but the last */
    double fraction[GBEES_HISTORY_POINTS], seconds[GBEES_HISTORY_POINTS];
} gbees_history;

/* Adds a point; one whose fraction is not above the last's is left out. */
void gbees_history_add(gbees_history *history, double fraction, double seconds);
/* Seconds from the last point to the end of the run, whose steps cost more and more as the grid grows. Negative: not
 * known yet. */
double gbees_history_left(const gbees_history *history);
/* Returns the seconds that the whole would take at the pace of the last third of the part done, or of all of it where
 * there are few points; < 0: not known yet. */
double gbees_history_whole(const gbees_history *history);

#endif
