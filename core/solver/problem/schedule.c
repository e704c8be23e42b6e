/* schedule.c - makes a leg of each interval between the times of the instants and measurements, which are sorted; a
 * leg's records are at even distances. */
#include "schedule.h"
#include "record/instants.h"
#include <stdlib.h>

static void fill(const gbees_problem *problem, gbees_schedule *schedule)
{
    gbees_leg *leg = schedule->legs;
    gbees_leg_start at = {0};

    *leg = (gbees_leg){.start = problem->start};
    while (gbees_leg_start_next(problem, &at)) {
        leg->end = at.time;
        *++leg = (gbees_leg){.start = at.time,
                             .first_instant = at.instant,
                             .instant_count = at.instant_count,
                             .first = at.measurement,
                             .count = at.measurement_count};
    }
    leg->end = problem->end;
    schedule->leg_count = (int)(leg - schedule->legs) + 1;
}

int gbees_schedule_create(const gbees_problem *problem, gbees_schedule **schedule, gbees_error *error)
{
    const int most = problem->measurement_count + problem->instant_count;
    gbees_schedule *made = calloc(1, sizeof *made);

    if (made)
        made->legs = calloc((size_t)most + 1, sizeof *made->legs);
    if (!made || !made->legs) {
        gbees_schedule_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM,
                               "not enough memory for the schedule of %d instants and measurements", most);
    }
    fill(problem, made);
    *schedule = made;
    return GBEES_OK;
}

int gbees_schedule_add(gbees_schedule *schedule, gbees_error *error)
{
    const int count = schedule->leg_count;
    const double time = schedule->legs[count - 1].end;
    gbees_leg *legs = realloc(schedule->legs, ((size_t)count + 1) * sizeof *legs);

    if (!legs)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the schedule of %d measurements", count);
    legs[count] = (gbees_leg){.start = time, .end = time, .first = count - 1, .count = 1};
    schedule->legs = legs;
    schedule->leg_count++;
    return GBEES_OK;
}

void gbees_schedule_destroy(gbees_schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->legs);
    free(schedule);
}

int gbees_leg_records(const gbees_leg *leg, int records)
{
    return leg->end > leg->start ? records : 0;
}

double gbees_leg_time(const gbees_leg *leg, int records, int number)
{
    if (number <= 0)
        return leg->start;
    if (number >= records)
        return leg->end;
    return leg->start + number * (leg->end - leg->start) / records;
}
