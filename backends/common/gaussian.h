/* gaussian.h - the inverse of a covariance, and the norm of its Gaussian. */
#ifndef GBEES_COMMON_GAUSSIAN_H
#define GBEES_COMMON_GAUSSIAN_H

/* Inverts an n x n covariance; *log_norm, unless NULL: the logarithm of the density's factor, -log sqrt((2 pi)^n
 * det). Returns 1 if the covariance is not positive definite. */
int gaussian_invert(int n, const double *covariance, double *inverse, double *log_norm);

#endif
