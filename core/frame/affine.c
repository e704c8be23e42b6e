/* affine.c - solves the least-squares equations by the covariance's eigenvectors, leaving out directions in which it
 * is rounding. */
#include "affine.h"
#include <math.h>

/* A variance below this part of the mean square of y is rounding. */
static const double rounding = 1e-12;

/* Sets `inverse` to the inverse of the covariance of y in the directions in which it is not rounding, 0 in the
 * others. Returns how many there are, or -1 if the covariance is not finite. */
static int invert_covariance(int n, const gbees_affine_sums *sums, double *inverse)
{
    double vectors[GBEES_MATRIX], values[GBEES_MAX_DIM], largest = 0;
    int rank = 0;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            const double square = sums->yy[j * n + k] / sums->mass;

            vectors[j * n + k] = square - sums->y[j] / sums->mass * (sums->y[k] / sums->mass);
            largest = j == k && square > largest ? square : largest;
        }
    if (gbees_matrix_eigen(n, vectors, values))
        return -1;
    for (int j = 0; j < n; j++) {
        const int varies = values[j] > rounding * largest;

        values[j] = varies ? 1 / values[j] : 0;
        rank += varies;
    }
    gbees_matrix_compose(n, vectors, values, inverse);
    return rank;
}

/* b = slope A^-1: from slopes in y to slopes in x. */
static int to_model_axes(const gbees_moving_frame *frame, const double *slope, double *b)
{
    const int n = frame->n;
    double turned[GBEES_MATRIX], right[GBEES_MATRIX];

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            turned[j * n + k] = frame->a[k * n + j];
            right[j * n + k] = slope[k * n + j];
        }
    if (gbees_matrix_solve(n, turned, n, right)) /* A^T B^T = slope^T */
        return 1;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            b[j * n + k] = right[k * n + j];
    return 0;
}

int gbees_affine_fit(const gbees_affine_sums *sums, const gbees_moving_frame *frame, gbees_affine *field,
                     gbees_error *error)
{
    const int n = frame->n;
    double inverse[GBEES_MATRIX], slope[GBEES_MATRIX];
    gbees_affine fit = {.rank = 0};

    if (!(sums->mass > 0) || !isfinite(sums->mass))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the fit of the drift has points of a mass of %g: the density "
                               "has vanished or is not finite",
                               sums->mass);
    fit.rank = invert_covariance(n, sums, inverse);
    for (int j = 0; j < n; j++) {
        fit.a[j] = sums->f[j] / sums->mass;
        fit.centre[j] = frame->m[j];
        for (int k = 0; k < n; k++) {
            fit.centre[j] += frame->a[j * n + k] * (sums->y[k] / sums->mass);
            slope[j * n + k] = sums->fy[j * n + k] / sums->mass - fit.a[j] * (sums->y[k] / sums->mass);
        }
    }
    if (fit.rank < 0)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the fit of the drift has points whose covariance is not finite");
    gbees_matrix_multiply(n, slope, inverse, slope);
    if (to_model_axes(frame, slope, fit.b))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the fit of the drift failed: the frame is singular, or the "
                               "drift is not finite where the density is");
    *field = fit;
    return GBEES_OK;
}
