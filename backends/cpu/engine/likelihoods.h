/* likelihoods.h - the logarithms of a measurement's likelihood in the cells of a brick, for update.c. */
#ifndef GBEES_CPU_LIKELIHOODS_H
#define GBEES_CPU_LIKELIHOODS_H

#include "common/measurement.h"
#include "engine.h"

/* The likelihood of a measurement. */
typedef struct likelihood {
    const gbees_measurement *measurement;
    double time;
    measurement_terms terms;
    double lowest; /* cells whose log-likelihood is below it need no quadrature: see find_lowest() */
    double *known; /* log-likelihoods of all cells, [count][cells] in the order of the Used List; NULL: no memory is
                    * used, and they are evaluated twice */
} likelihood;

/* The cells of a brick with P > 0. */
typedef struct cell_list {
    uint32_t slot;
    int count;
    unsigned char cell[64];
    double offset[GBEES_MAX_DIM][64]; /* [n][count]: of the cells' centres from that of the brick's lowest cell */
} cell_list;

void likelihoods_list(const gbees_engine *e, uint32_t slot, cell_list *list);
/* Sets out[count] to the log-likelihoods at the listed cells' centres plus shift[n]: relative to a perfect match, or
 * as the model's own likelihood function returns them. */
void likelihoods_at(const gbees_engine *e, const likelihood *l, const cell_list *list, const double *shift,
                    double *out);
/* Sets out[cells] to the logarithms of the factors by which a brick's P > 0 are multiplied: with cell averages the
 * likelihood's weighted averages, else its values at the centres. */
void likelihoods_of_brick(const gbees_engine *e, const likelihood *l, uint32_t slot, double *out);

#endif
