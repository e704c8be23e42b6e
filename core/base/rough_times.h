/* rough_times.h - the times at which a model's drift, noise or function of a target that absorbs changes fast, such
 * as the edges of a pulse: steps that suit the rest of an interval would pass over them, so that they are to end
 * there.
 */
#ifndef GBEES_BASE_ROUGH_TIMES_H
#define GBEES_BASE_ROUGH_TIMES_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stddef.h>

enum {
    GBEES_ROUGH_POINTS = 4,  /* at which equations are looked at, at most */
    GBEES_ROUGH_LOOKS = 4096 /* at equal distances over a run */
};

/* Where and when to look. */
typedef struct gbees_rough_look {
    const gbees_problem *problem;
    double from, to;
    size_t points;
    const double *x[GBEES_MAX_DIM]; /* x[j][points]: state j of the points, in the model's axes */
    double scale[GBEES_MAX_DIM];    /* a standard deviation of each state */
} gbees_rough_look;

/* Times between `from` and `to`, in their order. */
typedef struct gbees_rough_times {
    size_t count, capacity;
    double *time;
} gbees_rough_times;

/* Adds the times of an interval to *times; none if the equations do not depend on the time. Equations are looked at
 * 4096 times in a run, at least 32 times in an interval: what lasts a thousandth of the run is found. */
int gbees_rough_times_find(const gbees_rough_look *look, gbees_rough_times *times, gbees_error *error);
/* Adds those of the rows of a problem's tables, of all times. */
int gbees_rough_times_of_tables(const gbees_problem *problem, gbees_rough_times *times, gbees_error *error);
/* Adds those of functions of targets that absorb, about the initial density, and of the rows of tables, of the whole
 * run: for trajectories, which look at the drift themselves. */
int gbees_rough_times_of_targets(const gbees_problem *problem, gbees_rough_times *times, gbees_error *error);
/* Where, in an interval that begins at `begin` and is `length` long, the step that begins `elapsed` after it is to
 * end at the latest, counted from `begin`, too: the next of the times, or the interval's end. */
double gbees_rough_times_next(const gbees_rough_times *times, double begin, double elapsed, double length);
void gbees_rough_times_clear(gbees_rough_times *times);

#endif
