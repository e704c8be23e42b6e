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

/* Takes some two seconds at most. With an accuracy it is that of the first run. It is not known of a GPU, nor of a
 * run that begins with the cells of a record. */
gbees_forecast gbees_forecast_make(const gbees_setup *setup, const gbees_options *options);

#endif
