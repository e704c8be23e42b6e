/* affine.h - the affine field that is closest to a drift under a density (doc/moving.md).
 * A backend forms the sums. y should be counted from near the mean: rounding errors grow with its square. */
#ifndef GBEES_FRAME_AFFINE_H
#define GBEES_FRAME_AFFINE_H

#include "matrix.h"
#include <gbees/backend.h>
#include <gbees/error.h>
#include <stddef.h>

/* A frame: x = m + A y. Cells have width 1 in y; the columns of A are their edges. */
typedef struct gbees_moving_frame {
    int n;
    double m[GBEES_MAX_DIM];
    double a[GBEES_MATRIX]; /* A, [n][n] */
} gbees_moving_frame;

/* The field a + B (x - centre). */
typedef struct gbees_affine {
    double a[GBEES_MAX_DIM];
    double b[GBEES_MATRIX]; /* B, [n][n] */
    double centre[GBEES_MAX_DIM];
    int rank; /* of the fit: independent directions along which the points vary */
} gbees_affine;

/* Sets the field to the one that minimises sum P |f - a - B (x - centre)|^2, centre: the mean. Along directions in
 * which the points do not vary B is 0. GBEES_ENUMERIC: the sums are not finite or have no mass, or A is singular. */
int gbees_affine_fit(const gbees_affine_sums *sums, const gbees_moving_frame *frame, gbees_affine *field,
                     gbees_error *error);

#endif
