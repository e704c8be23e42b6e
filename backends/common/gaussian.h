/* gaussian.h - the inverse of a covariance, and the constant factor of its Gaussian density. */
#ifndef GBEES_COMMON_GAUSSIAN_H
#define GBEES_COMMON_GAUSSIAN_H

/* Sets inverse[n][n] to the inverse of covariance[n][n], and *log_norm, unless it is NULL, to the logarithm of the
 * density's factor, -log sqrt((2 pi)^n det). Returns 1 if the covariance is not positive definite. */
int gaussian_invert(int n, const double *covariance, double *inverse, double *log_norm);

#endif
