/* forecast.h - the memory that a whole run will take, from short runs of it on wider cells. */
#ifndef GBEES_COMMAND_RUN_FORECAST_H
#define GBEES_COMMAND_RUN_FORECAST_H

#include "command.h"

typedef struct gbees_forecast {
    double bytes; /* of the largest grid; NAN: not known */
    double width; /* of the narrowest cells that were tried, in widths of the run's; NAN: none */
    double steps; /* that the run takes at least, if not even the widest cells came to the end; NAN: they did */
} gbees_forecast;

/* Forecasts a run, or, with an accuracy, its first run. Takes some two seconds at most. All is NAN for a run that
 * begins with the cells of a record, or takes long even on wide cells. */
gbees_forecast gbees_forecast_make(const gbees_setup *setup, const gbees_options *options);

#endif
