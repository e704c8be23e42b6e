/* variation.h - the total variation between records of two runs, on bins that do not depend on their cells. */
#ifndef GBEES_ACCURACY_VARIATION_H
#define GBEES_ACCURACY_VARIATION_H

#include <gbees/gbees.h>

/* A density's probabilities in bins. */
typedef struct gbees_histogram gbees_histogram;

/* Puts a record's cells into bins as wide as the standard deviations of `start`, the problem of the runs, along the
 * grid's axes, from its mean on. A cell that reaches into several bins is divided by its volume. *histogram stays
 * NULL if there are no cells, more than are compared with samples, cells many times as wide as bins, or a grid that
 * moves. GBEES_ENOMEM. */
int gbees_histogram_create(const gbees_problem *start, const gbees_record *record, gbees_histogram **histogram,
                           gbees_error *error);
void gbees_histogram_destroy(gbees_histogram *histogram);

/* Half the sum of |p - q| over all bins, each density with the sum 1: from 0 to 1. */
double gbees_histogram_variation(const gbees_histogram *a, const gbees_histogram *b);

#endif
