/* report.h - the tables of doc/measuring.md. */
#ifndef GBEES_TEST_REPORT_H
#define GBEES_TEST_REPORT_H

#include "compare.h"
#include <stdio.h>

/* One record beside the truth. */
typedef struct gbees_accuracy {
    int leg, number, dimension;
    double time;
    size_t cells;
    double mean, spread;            /* the errors e_m and e_s */
    double binned, covered, kernel; /* kernel is NAN if it was left out */
    double marginal[GBEES_MAX_DIM];
    gbees_sample_moments grid, truth;
    char name[GBEES_MAX_DIM][64];
} gbees_accuracy;

/* `moments` are those that the run reports. With kernel_samples = 0 the kernel estimate is left out. */
int gbees_accuracy_measure(const gbees_snapshot *snapshot, const gbees_sample_moments *moments,
                           const gbees_montecarlo *montecarlo, size_t kernel_samples, double work,
                           gbees_accuracy *accuracy, gbees_error *error);

/* A line for each record: distances. Then a line for each record and axis: moments beside the true ones. */
void gbees_accuracy_print(FILE *file, const gbees_accuracy *list, size_t count);
void gbees_accuracy_print_moments(FILE *file, const gbees_accuracy *list, size_t count);

#endif
