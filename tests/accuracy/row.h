/* row.h - a run's last record in one line: what tests/accuracy/run makes its table and its plot from. */
#ifndef GBEES_TEST_ROW_H
#define GBEES_TEST_ROW_H

#include "study.h"
#include <stdio.h>

typedef struct gbees_row_options {
    const char *label;
    const char *table;   /* a table of true moments in place of samples, or NULL */
    const char *samples; /* a folder to keep samples in, or NULL */
    size_t sampling;     /* 0: the run; else so many samples as a method of their own, timed on the run's threads */
    gbees_montecarlo_options montecarlo;
} gbees_row_options;

/* Columns are separated by tabs; what a run has not is "-". */
void gbees_row_print_head(FILE *file);
int gbees_row_print(FILE *file, const gbees_study *study, const gbees_row_options *options, gbees_error *error);

/* The width of a cell over half a standard deviation of the initial density, along the first axis. */
double gbees_row_width(const gbees_problem *problem);

/* On cells of about half a standard deviation, whatever the grid's: coefficients of different grids are then those of
 * the same thing. NAN where so few effective samples would say nothing. */
int gbees_row_binned(const gbees_study *study, const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo,
                     double effective, double *coefficient, gbees_error *error);

#endif
