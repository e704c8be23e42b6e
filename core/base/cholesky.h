/* cholesky.h - the Cholesky factor of a small covariance, with which samples are drawn and whitened, and its inverse.
 */
#ifndef GBEES_BASE_CHOLESKY_H
#define GBEES_BASE_CHOLESKY_H

/* L with L L' = a, both n x n row-major, the upper triangle of L zero.  0, or -1 if `a` is not positive definite. */
int gbees_cholesky_factor(int n, const double *a, double *l);
/* Solves L y = b; y may be b. */
void gbees_cholesky_solve(int n, const double *l, const double *b, double *y);
/* The inverse of L L'. */
void gbees_cholesky_inverse(int n, const double *l, double *inverse);

#endif
