/* compared.h - compare.h5, and the memory of what it has: see gbees/compared.h. */
#ifndef GBEES_IO_COMPARED_H
#define GBEES_IO_COMPARED_H

#include "store.h"
#include <gbees/problem.h>
#include <gbees/results.h>

#define GBEES_COMPARED_FILE "compare.h5"

/* Makes one without its filters; 0: there is no memory. *compared is to be destroyed all the same. */
int gbees_compared_begin(int dimension, size_t count, int filters, gbees_compared **compared);
/* Makes the arrays of a filter: one block of numbers from `mean` on, and p if it has samples. 0: no memory. */
int gbees_compared_allocate(const gbees_compared *compared, int has_samples, gbees_compared_filter *filter);
/* Numbers in that block, and values of p. */
size_t gbees_compared_numbers(const gbees_compared *compared);
size_t gbees_compared_bins(const gbees_compared *compared);

/* Writes the file. */
int gbees_compared_write(const gbees_compared *compared, const gbees_problem *problem, const gbees_store *store,
                         gbees_error *error);

/* The names of the datasets of GBEES_COMPARED_ERRORS, in a filter's group. */
extern const char *const gbees_compared_error_names[GBEES_COMPARED_ERRORS];

#endif
