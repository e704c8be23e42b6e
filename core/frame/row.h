/* row.h - maps a row of cells by a one-dimensional affine map, and spreads it by diffusion (doc/moving.md): rows
 * that own their memory; the arithmetic is in numerics/row.h.
 */
#ifndef GBEES_FRAME_ROW_H
#define GBEES_FRAME_ROW_H

#include <stddef.h>
#include <stdint.h>

/* A row's P by index: p[i - first], with GBEES_ROW_MARGIN (numerics/row.h) cells at each end that hold 0. */
typedef struct gbees_row {
    int64_t first;
    size_t length, capacity; /* all zero: an empty row */
    double *p;
} gbees_row;

/* Makes the row hold the cells from `first` to `last` and its margins, all 0. Returns 1 if there is no memory. */
int gbees_row_open(gbees_row *row, int64_t first, int64_t last);
void gbees_row_close(gbees_row *row);

/* Sets `to` to the row with `fraction` of the difference between each two neighbours moved to the cell that holds
 * less. A negative fraction moves mass from that cell, at most a quarter of what it holds to each side. A fraction of
 * 1/24 makes averages over cells of values at centres, -1/24 the reverse. Returns 1 if there is no memory. */
int gbees_row_exchange(const gbees_row *row, double fraction, gbees_row *to);

/* Sets `to` to the row under z -> scale z + shift, scale > 0: each new cell gets the integral of the quartic of
 * split5 over what it covers, bounded so that no part of a cell holds less than 0 and all parts hold what it holds.
 * Returns 1 if there is no memory. */
int gbees_row_map(const gbees_row *row, double scale, double shift, gbees_row *to);

/* Sets `to` to the row after diffusion that adds `variance`, in cells squared: exactly where no limit holds, with a
 * fourth moment as a Gaussian's; no cell falls below 0, and the sum stays. Returns 1 if there is no memory. */
int gbees_row_spread(const gbees_row *row, double variance, gbees_row *to);

/* Sets `to` to the row after a convolution of this variance, above 1/12, in cells squared: with a Gaussian's averages
 * over cells, which have a twelfth of it. For a row that may be far narrower than that. The sum stays. Returns 1 if
 * there is no memory. */
int gbees_row_convolve(const gbees_row *row, double variance, gbees_row *to);

#endif
