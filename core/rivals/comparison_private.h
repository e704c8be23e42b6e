/* comparison_private.h - a comparison, as comparison.c and answer.c share it. */
#ifndef GBEES_RIVALS_COMPARISON_PRIVATE_H
#define GBEES_RIVALS_COMPARISON_PRIVATE_H

#include "reference.h"

struct gbees_comparison {
    const gbees_problem *problem;
    gbees_comparison_options options;
    size_t count, capacity; /* of records */
    gbees_reference *records;
    int measured; /* measurements before the next record */
    double grid_seconds;
    gbees_rival_result results[GBEES_RIVALS_MOST];
    gbees_rival_error *errors[GBEES_RIVALS_MOST]; /* the results' */
};

#endif
