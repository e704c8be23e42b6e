/* matrix.h - products, quotients and symmetric powers of the small matrices of a frame: row-major, n x n, n at most
 * GBEES_MAX_DIM + 1. */
#ifndef GBEES_FRAME_MATRIX_H
#define GBEES_FRAME_MATRIX_H

#include <gbees/problem.h>

/* Entries of a matrix in the largest dimension, and of one with a row and a column more. */
enum { GBEES_MATRIX = GBEES_MAX_DIM * GBEES_MAX_DIM, GBEES_MATRIX_MORE = (GBEES_MAX_DIM + 1) * (GBEES_MAX_DIM + 1) };

/* to = a b; `to` may be one of them. */
void gbees_matrix_multiply(int n, const double *a, const double *b, double *to);

/* b = a^-1 b, with `columns` columns; returns 1 if a is singular or not finite. b is then undefined. */
int gbees_matrix_solve(int n, const double *a, int columns, double *b);

/* The determinant; not finite if a is not. */
double gbees_matrix_determinant(int n, const double *a);

/* The volume of a cell with such widths along the columns of rotation[n][n], which need not be orthogonal; NULL:
 * along the states. */
double gbees_matrix_cell_volume(int n, const double *width, const double *rotation);

/* The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as the columns of vectors[n][n],
 * which holds the matrix before. Returns 1 if it is not finite or they were not found. */
int gbees_matrix_eigen(int n, double *vectors, double *values);

/* to = V diag(values) V^T, symmetric to the last bit. */
void gbees_matrix_compose(int n, const double *vectors, const double *values, double *to);

#endif
