/* table_value.h - the value of a table at a time: one text for the CPU and for a GPU. */
#ifndef GBEES_NUMERICS_TABLE_VALUE_H
#define GBEES_NUMERICS_TABLE_VALUE_H

#include "qualifier.h"

/* The last row at or before the time t, from 0 to rows - 2: the row after it is later, unless t is beyond the end. */
GBEES_NUM int gbees_table_row(const double *time, int rows, double t)
{
    int lo = 0, hi = rows - 1;

    while (hi - lo > 1) {
        const int middle = lo + (hi - lo) / 2;

        if (time[middle] <= t)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* The value at the time t of a table of rows >= 2 at increasing times: linear between them, or, with slopes, by
 * Hermite's cubics. Before the first and after the last row it is theirs. */
GBEES_NUM double gbees_table_value(const double *time, const double *value, const double *slope, int rows, double t)
{
    const int at = gbees_table_row(time, rows, t);
    const double h = time[at + 1] - time[at], part = (t - time[at]) / h;
    const double s = part < 0 ? 0 : part > 1 ? 1 : part, rise = value[at + 1] - value[at];

    if (!slope)
        return s == 1 ? value[at + 1] : value[at] + s * rise;
    const double below = h * slope[at] - rise, above = rise - h * slope[at + 1];
    return s == 1 ? value[at + 1] : value[at] + s * (rise + (1 - s) * ((1 - s) * below + s * above));
}

#endif
