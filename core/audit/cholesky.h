/* cholesky.h - the triangular square root of a small covariance: to draw from it, and to whiten by it. */
#ifndef GBEES_TEST_CHOLESKY_H
#define GBEES_TEST_CHOLESKY_H

/* L with L L' = a, both n x n row-major, the upper triangle of L zero.  0, or -1 if `a` is not positive definite. */
int gbees_cholesky_factor(int n, const double *a, double *l);
/* Solves L y = b; y may be b. */
void gbees_cholesky_solve(int n, const double *l, const double *b, double *y);

#endif
