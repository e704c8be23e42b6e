/* schedule.h - the legs of a run: the intervals between the times of instants and measurements. */
#ifndef GBEES_SOLVER_PROBLEM_SCHEDULE_H
#define GBEES_SOLVER_PROBLEM_SCHEDULE_H

#include <gbees/error.h>
#include <gbees/problem.h>

/* A leg applies the jumps of the problem's instants first_instant ... first_instant + instant_count - 1 at `start`,
 * then the measurements first ... first + count - 1, then advances to `end`. A leg of zero length has one record:
 * before what comes at the problem's start, or after what comes at its end. */
typedef struct gbees_leg {
    double start, end;
    int first_instant, instant_count;
    int first, count;
} gbees_leg;

typedef struct gbees_schedule {
    int leg_count;
    gbees_leg *legs;
} gbees_schedule;

/* Instants and measurements after the problem's end are never reached and make no leg. */
int gbees_schedule_create(const gbees_problem *problem, gbees_schedule **schedule, gbees_error *error);
void gbees_schedule_destroy(gbees_schedule *schedule);
/* Adds a leg of no length at the end of the last one, which the next measurement begins. */
int gbees_schedule_add(gbees_schedule *schedule, gbees_error *error);

/* Records of a leg beside its initial one: 0 if it has no length. */
int gbees_leg_records(const gbees_leg *leg, int records);
/* The time of a leg's record; start and end are exact. */
double gbees_leg_time(const gbees_leg *leg, int records, int number);

#endif
