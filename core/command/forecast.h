/* forecast.h - what a whole run will take, from short runs of it on wider cells. */
#ifndef GBEES_COMMAND_FORECAST_H
#define GBEES_COMMAND_FORECAST_H

#include "command.h"

typedef struct gbees_forecast {
    double bytes;     /* of the largest grid; NAN: not known */
    double seconds;   /* of the steps and updates; NAN: not known */
    double width;     /* of the narrowest cells that were tried, in widths of the run's; NAN: none */
    int is_cut_short; /* not even the widest cells came to the end: `seconds` is by the part that they did */
} gbees_forecast;

/* Takes a few seconds at most. Of an accuracy it is the first run. Not known is what a GPU takes, and what a run from
 * a record's cells does. */
gbees_forecast gbees_forecast_make(const gbees_setup *setup, const gbees_options *options);

/* What a run on wider cells took. */
typedef struct gbees_trial {
    double width;   /* of its cells, in widths of the run's, > 1 */
    double cells;   /* the most */
    double bytes;   /* the most */
    double updates; /* of cells */
    double seconds;
} gbees_trial;

/* Extrapolates trials, the narrowest cells last, to the run's own cells. */
gbees_forecast gbees_forecast_extrapolate(const gbees_trial *trial, int count);

#endif
