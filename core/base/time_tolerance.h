/* time_tolerance.h - how far two times of a run may differ that stand for the same time; how long a run is. */
#ifndef GBEES_BASE_TIME_TOLERANCE_H
#define GBEES_BASE_TIME_TOLERANCE_H

/* The tolerance in a run from `start` to `end`, in the model's unit of time: a time that steps have summed up may
 * differ in its last digits from what a scenario has. */
static inline double gbees_time_tolerance(double start, double end)
{
    return 1e-9 * (end - start);
}

/* The time over which a budget for a whole run is spent: the run's, or 1 if the run is an update alone. */
static inline double gbees_budget_time(double start, double end)
{
    return end > start ? end - start : 1;
}

#endif
