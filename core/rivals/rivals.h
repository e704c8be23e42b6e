/* rivals.h - the filters of this folder, by number. */
#ifndef GBEES_RIVALS_RIVALS_H
#define GBEES_RIVALS_RIVALS_H

#include "filter.h"

const gbees_filter *gbees_rival_filter(gbees_rival rival);

#endif
