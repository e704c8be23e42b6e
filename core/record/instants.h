/* instants.h - jumps of the state at instants: their order among measurements; what they do to points is declared in
 * gbees/record.h. */
#ifndef GBEES_RECORD_INSTANTS_H
#define GBEES_RECORD_INSTANTS_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <math.h>
#include <stddef.h>

/* What a leg begins with: the jumps of one time, then the measurements of that time. The first leg begins with none:
 * it is all zeros. */
typedef struct gbees_leg_start {
    double time;
    int instant, instant_count;         /* the first of its instants, and how many there are */
    int measurement, measurement_count; /* likewise */
} gbees_leg_start;

/* Goes on to the next time, not after the problem's end, that has a jump or a measurement. Returns 0 if there is
 * none.
 */
static inline int gbees_leg_start_next(const gbees_problem *problem, gbees_leg_start *at)
{
    int jump = at->instant + at->instant_count, measured = at->measurement + at->measurement_count;
    const double jumps_at = jump < problem->instant_count ? problem->instants[jump].time : INFINITY,
                 measured_at =
                     measured < problem->measurement_count ? problem->measurements[measured].time : INFINITY;
    const double time = jumps_at < measured_at ? jumps_at : measured_at;

    if (!(time <= problem->end))
        return 0;
    *at = (gbees_leg_start){.time = time, .instant = jump, .measurement = measured};
    while (jump < problem->instant_count && problem->instants[jump].time == time)
        jump++;
    while (measured < problem->measurement_count && problem->measurements[measured].time == time)
        measured++;
    at->instant_count = jump - at->instant;
    at->measurement_count = measured - at->measurement;
    return 1;
}

/* The start of a leg; after the last one, of that. */
static inline gbees_leg_start gbees_leg_start_of(const gbees_problem *problem, int leg)
{
    gbees_leg_start at = {0};

    for (int k = 0; k < leg && gbees_leg_start_next(problem, &at); k++)
        ;
    return at;
}

/* How many instants have come before measurement number `count`, counted from 1; 0: none has. */
static inline int gbees_instants_before(const gbees_problem *problem, int count)
{
    int jumps = 0;

    while (count > 0 && jumps < problem->instant_count &&
           problem->instants[jumps].time <= problem->measurements[count - 1].time)
        jumps++;
    return jumps;
}

/* How many instants have an error. */
int gbees_instants_with_error(const gbees_problem *problem);

/* Whether a jump only adds its value to the state, and perhaps an error. */
int gbees_instant_is_shift(const gbees_problem *problem, const gbees_instant *instant);

#endif
