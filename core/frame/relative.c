/* relative.c - transforms slopes and offsets of an affine field by the frame's edges A: B to A^-1 B A, less the
 * velocity of the frame. */
#include "relative.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The part of a cell that the rounding of a state may make up. */
static const double rounding_most = 1e-3;

/* How far, in cells, the rounding of the states moves a point of the frame, along its worst axis. */
static double rounding_of(const gbees_moving_frame *frame, const double *inverse)
{
    const int n = frame->n;
    double most = 0;

    for (int j = 0; j < n; j++) {
        double sum = 0;

        for (int k = 0; k < n; k++)
            sum += fabs(inverse[j * n + k] * frame->m[k]);
        most = fmax(most, sum * DBL_EPSILON);
    }
    return most;
}

int gbees_relative_set(const gbees_moving_frame *frame, const gbees_affine *field, gbees_grid_frame *to,
                       gbees_error *error)
{
    const int n = frame->n;
    double at_origin[GBEES_MAX_DIM];

    memcpy(to->centre, frame->m, sizeof to->centre);
    memcpy(to->axes, frame->a, (size_t)(n * n) * sizeof *to->axes);
    for (int k = 0; k < n * n; k++)
        to->inverse[k] = k % (n + 1) == 0;
    if (gbees_matrix_solve(n, frame->a, n, to->inverse))
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the frame of the grid is singular: the density has become flat to the last digits along "
            "a direction");
    if (rounding_of(frame, to->inverse) > rounding_most)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the cells of the grid that moves have become so thin along a direction that the rounding of the states "
            "is %.2g of a cell: the density is flat there; give larger variances, or process noise",
            rounding_of(frame, to->inverse));
    for (int j = 0; j < n; j++) {
        at_origin[j] = field->a[j];
        for (int k = 0; k < n; k++)
            at_origin[j] += field->b[j * n + k] * (frame->m[k] - field->centre[k]);
    }
    for (int j = 0; j < n; j++) {
        to->velocity[j] = 0;
        for (int k = 0; k < n; k++)
            to->velocity[j] += to->inverse[j * n + k] * at_origin[k];
    }
    gbees_matrix_multiply(n, field->b, frame->a, to->gradient);
    gbees_matrix_multiply(n, to->inverse, to->gradient, to->gradient);
    return GBEES_OK;
}

void gbees_relative_to_drift(int n, const gbees_grid_frame *frame, gbees_affine_sums *sums)
{
    double f[GBEES_MAX_DIM], fy[GBEES_MATRIX];

    for (int j = 0; j < n; j++) { /* along the frame's axes: with the frame's own velocity added */
        f[j] = sums->f[j] + frame->velocity[j] * sums->mass;
        for (int k = 0; k < n; k++) {
            f[j] += frame->gradient[j * n + k] * sums->y[k];
            fy[j * n + k] = sums->fy[j * n + k] + frame->velocity[j] * sums->y[k];
            for (int l = 0; l < n; l++)
                fy[j * n + k] += frame->gradient[j * n + l] * sums->yy[l * n + k];
        }
    }
    for (int j = 0; j < n; j++) {
        sums->f[j] = 0;
        for (int k = 0; k < n; k++)
            sums->f[j] += frame->axes[j * n + k] * f[k];
    }
    gbees_matrix_multiply(n, frame->axes, fy, sums->fy);
}

double gbees_relative_change(const gbees_grid_frame *frame, int n, const gbees_affine *before, double time_before,
                             const gbees_affine *after, double time_after)
{
    double change[GBEES_MATRIX] = {0}, sum = 0;

    for (int k = 0; k < n * n; k++)
        change[k] = (after->b[k] - before->b[k]) / (time_after - time_before);
    gbees_matrix_multiply(n, change, frame->axes, change);
    gbees_matrix_multiply(n, frame->inverse, change, change);
    for (int k = 0; k < n * n; k++)
        sum += change[k] * change[k];
    return sqrt(sum);
}
