/* tail.h - detects measurements that have selected a part of the density that is hardly resolved. */
#ifndef GBEES_SOLVER_RUN_TAIL_H
#define GBEES_SOLVER_RUN_TAIL_H

#include <gbees/gbees.h>

/* Measurements of one time, and the density before and after them. */
typedef struct gbees_selection {
    const gbees_problem *problem; /* with the grid of that time, whose axes the statistics have */
    const gbees_statistics *before, *after;
    const gbees_measurement *measurements;
    int count;        /* of measurements */
    int is_first;     /* whether there have been none before them: the density is that of the start, propagated */
    double threshold; /* p*, on that grid */
    double evidence;  /* the sum of their log_evidence */
} gbees_selection;

/* Sets *found to 1 if the most probable cell after the update was not resolved before it: its probability was near
 * p*; or as small as 3.6 standard deviations from the mean of a Gaussian, where mass is mostly an error of the
 * scheme; or, at the first measurements, near that at the edge of the initial box. The probability before the update
 * is that after it, times the evidence, over the likelihood. */
int gbees_tail_find(const gbees_selection *selection, int *found, gbees_error *error);

/* Whether the first measurements may have selected a part of the initial mixture whose most probable cell was near
 * p*, or below: its weight times the largest likelihood is no small part of the evidence. Samples by weight may lack
 * it, too. */
int gbees_tail_lost_part(const gbees_selection *selection);

#endif
