/* affine.h - the affine field that is closest to a drift under a density (doc/method.md, "Moving frame").
 *
 *     gbees_affine_sum -> gbees_affine_fit
 *
 * The sums (gbees_affine_sums) may be formed part by part, by threads or by a backend; joined in a fixed order they
 * are the same to the last bit. y should be counted from near the mean: rounding errors grow with its square.
 */
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

/* Weighted points: a cell's P, its centre in y and the drift there, in the units of x; each an array over the points.
 */
typedef struct gbees_affine_points {
    int n;
    size_t count;
    const double *p, *y[GBEES_MAX_DIM], *f[GBEES_MAX_DIM];
} gbees_affine_points;

/* Adds the points `first` ... `end - 1`, one after the other. */
void gbees_affine_add(const gbees_affine_points *points, size_t first, size_t end, gbees_affine_sums *sums);
/* Adds the sums of another part. */
void gbees_affine_join(int n, const gbees_affine_sums *part, gbees_affine_sums *sums);
/* Sets the sums to those over all points: GBEES_WORKERS_PARTS parts, on up to `threads` threads, joined in their
 * order. */
void gbees_affine_sum(const gbees_affine_points *points, int threads, gbees_affine_sums *sums);

/* Sets the field to the one that minimises sum P |f - a - B (x - centre)|^2, centre: the mean. Along directions in
 * which the points do not vary B is 0. GBEES_ENUMERIC: the sums are not finite or have no mass, or A is singular. */
int gbees_affine_fit(const gbees_affine_sums *sums, const gbees_moving_frame *frame, gbees_affine *field,
                     gbees_error *error);

#endif
