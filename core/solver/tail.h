/* tail.h - whether measurements have selected a part of the density that is hardly resolved. */
#ifndef GBEES_SOLVER_TAIL_H
#define GBEES_SOLVER_TAIL_H

#include <gbees/gbees.h>

/* Measurements of one time, and the density before and after them. */
typedef struct gbees_selection {
    const gbees_problem *problem; /* with the grid of that time, whose axes the statistics have */
    const gbees_statistics *before, *after;
    const gbees_measurement *measurements;
    int count;        /* of measurements */
    int is_first;     /* whether there have been none before them: the density is that of the start, carried along */
    double threshold; /* p*, on that grid */
    double evidence;  /* the sum of their log_evidence */
} gbees_selection;

/* *found: whether the most probable cell after the update had a probability before it that is not resolved: near p*;
 * as small as 3.6 standard deviations from the mean of a Gaussian, where schemes have carried mass of their own; or,
 * after the first measurements, near that which the initial box cuts off. Bayes' rule backwards gives this
 * probability: that after the update, times the evidence, over the likelihood. */
int gbees_tail_find(const gbees_selection *selection, int *found, gbees_error *error);

#endif
