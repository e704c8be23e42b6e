/* decades.h - what pictures with logarithmic axes share. */
#ifndef GBEES_TEST_DECADES_H
#define GBEES_TEST_DECADES_H

#include "plot/figure.h"

/* Ticks of an axis that shows decimal logarithms from lo to hi: 1, 2 and 5 times powers of ten; powers alone where
 * there are too many of them. */
void gbees_decades_ticks(gbees_ticks *ticks, double lo, double hi);

/* Colours that can be told apart, in turn. */
gbees_rgb gbees_decades_color(int number);

#endif
