/* decades.c - see decades.h. */
#include "decades.h"
#include <math.h>
#include <stdio.h>

void gbees_decades_ticks(gbees_ticks *ticks, double lo, double hi)
{
    static const double steps[] = {1, 2, 5};
    const int each = hi - lo > 3 ? 1 : 3;

    ticks->count = 0;
    ticks->exponent = 0;
    for (int decade = (int)floor(lo); decade <= (int)ceil(hi); decade++) {
        for (int k = 0; k < each; k++) {
            const double value = decade + log10(steps[k]);

            if (value < lo || value > hi || ticks->count == GBEES_TICKS_MAX)
                continue;
            ticks->value[ticks->count] = value;
            (void)snprintf(ticks->text[ticks->count++], sizeof ticks->text[0], "%g", steps[k] * pow(10, decade));
        }
    }
}

gbees_rgb gbees_decades_color(int number)
{
    static const gbees_rgb color[] = {{0.75, 0.20, 0.15}, {0.10, 0.35, 0.70}, {0.10, 0.55, 0.30}, {0.80, 0.50, 0.05},
                                      {0.50, 0.25, 0.60}, {0.35, 0.35, 0.35}, {0.00, 0.60, 0.65}, {0.70, 0.35, 0.50}};

    return color[number % (int)(sizeof color / sizeof color[0])];
}
