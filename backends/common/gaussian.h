/* gaussian.h - the inverse of a covariance. */
#ifndef GBEES_COMMON_GAUSSIAN_H
#define GBEES_COMMON_GAUSSIAN_H

/* The inverse of an n x n covariance, and the logarithm of the density's factor, -log sqrt((2 pi)^n det): NULL if it
 * is not wanted.  1: not positive definite. */
int gaussian_invert(int n, const double *covariance, double *inverse, double *log_norm);

#endif
