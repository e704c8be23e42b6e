/* extrapolate.h - predicts the time and memory of a run from those of its beginning or of smaller runs. */
#ifndef GBEES_COMMAND_RUN_EXTRAPOLATE_H
#define GBEES_COMMAND_RUN_EXTRAPOLATE_H

/* What a run on wider cells took. */
typedef struct gbees_trial {
    double width; /* of its cells, in widths of the run's, > 1 */
    double cells; /* the most */
    double bytes; /* the most */
} gbees_trial;

/* The bytes of a run on cells of width 1; NAN if a trial has nothing to extrapolate from. The narrowest cells are
 * last, count >= 2. */
double gbees_extrapolate_bytes(const gbees_trial *trial, int count);

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
/* The same at the mean pace so far: a single delay of the machine does not make much of it. */
double gbees_history_at_pace(const gbees_history *history);

#endif
