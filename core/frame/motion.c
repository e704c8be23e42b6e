/* motion.c - multiplies a frame's centre and edges by the exponential of the affine field's generator, which is
 * computed by scaling and squaring; extrapolates the field from the last two fits. */
#include "motion.h"
#include <math.h>
#include <string.h>

/* ---- the matrix exponential ---- */

enum { DEGREE = 14 }; /* of Taylor's polynomial: to rounding for a norm up to 1/2 */

/* The largest sum of absolute values in a row. */
static double norm_of(int n, const double *x)
{
    double largest = 0;

    for (int j = 0; j < n; j++) {
        double sum = 0;

        for (int k = 0; k < n; k++)
            sum += fabs(x[j * n + k]);
        largest = sum > largest || !isfinite(sum) ? sum : largest;
    }
    return largest;
}

/* to = e^x by scaling and squaring; LAPACK has no such function. The norm of x must be finite. */
static void exponential(int n, const double *x, double *to)
{
    const double norm = norm_of(n, x);
    const int halvings = norm > 0.5 ? ilogb(norm) + 2 : 0;
    double scaled[GBEES_MATRIX_MORE];

    for (int k = 0; k < n * n; k++) {
        scaled[k] = ldexp(x[k], -halvings);
        to[k] = k % (n + 1) == 0;
    }
    for (int degree = DEGREE; degree > 0; degree--) { /* Horner: 1 + x / degree times what is there */
        gbees_matrix_multiply(n, scaled, to, to);
        for (int k = 0; k < n * n; k++)
            to[k] = to[k] / degree + (k % (n + 1) == 0);
    }
    for (int k = 0; k < halvings; k++)
        gbees_matrix_multiply(n, to, to, to);
}

/* ---- the frame ---- */

/* Sets generator[n + 1][n + 1] to dt times that of the motion in y: [[A^-1 B A, A^-1 (a + B (m - centre))], [0, 0]].
 * In y entries are of like size, whatever the units of x. */
static int set_generator(const gbees_affine *field, double dt, const gbees_moving_frame *frame, double *generator)
{
    const int n = frame->n, more = n + 1;
    double turned[GBEES_MATRIX], right[GBEES_MATRIX_MORE];

    gbees_matrix_multiply(n, field->b, frame->a, turned);
    for (int j = 0; j < n; j++) {
        double *row = right + j * more;

        memcpy(row, turned + j * n, (size_t)n * sizeof *row);
        row[n] = field->a[j];
        for (int k = 0; k < n; k++)
            row[n] += field->b[j * n + k] * (frame->m[k] - field->centre[k]);
    }
    if (gbees_matrix_solve(n, frame->a, more, right))
        return 1;
    memset(generator, 0, (size_t)(more * more) * sizeof *generator);
    for (int k = 0; k < n * more; k++)
        generator[k] = dt * right[k];
    return !isfinite(norm_of(more, generator));
}

int gbees_motion_step(const gbees_affine *field, double dt, gbees_moving_frame *frame, gbees_error *error)
{
    const int n = frame->n, more = n + 1;
    double generator[GBEES_MATRIX_MORE], e[GBEES_MATRIX_MORE], linear[GBEES_MATRIX];
    gbees_moving_frame next = *frame;
    int sound = 1;

    if (set_generator(field, dt, frame, generator))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the frame can't be moved by a time of %g: it is singular, or "
                               "the drift's fit is not finite",
                               dt);
    exponential(more, generator, e);
    for (int j = 0; j < n; j++) {
        memcpy(linear + j * n, e + j * more, (size_t)n * sizeof *linear);
        for (int k = 0; k < n; k++)
            next.m[j] += frame->a[j * n + k] * e[k * more + n];
    }
    gbees_matrix_multiply(n, frame->a, linear, next.a);
    for (int j = 0; j < n; j++)
        sound = sound && isfinite(next.m[j]);
    if (!sound || !isfinite(norm_of(n, next.a)))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "a frame that is moved by a time of %g is not finite any more: "
                               "the drift's fit grows too fast for this step",
                               dt);
    *frame = next;
    return GBEES_OK;
}

/* ---- prediction ---- */

void gbees_motion_jump(const double *matrix, const double *value, gbees_moving_frame *frame)
{
    const int n = frame->n;
    double m[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < n; j++) {
        m[j] = value[j];
        for (int k = 0; k < n; k++)
            m[j] += matrix[j * n + k] * frame->m[k];
    }
    memcpy(frame->m, m, sizeof m);
    gbees_matrix_multiply(n, matrix, frame->a, frame->a);
}

void gbees_motion_note(gbees_motion_fits *fits, double time, const gbees_affine *fit)
{
    const int same = fits->count > 0 && !(time > fits->time[1]);

    if (!same) {
        fits->time[0] = fits->time[1];
        fits->fit[0] = fits->fit[1];
        fits->count += fits->count < 2;
    }
    fits->time[1] = time;
    fits->fit[1] = *fit;
}

void gbees_motion_predict(const gbees_motion_fits *fits, int n, double time, gbees_affine *field)
{
    const gbees_affine *last = &fits->fit[1], *before = &fits->fit[0];
    double along = 0;

    if (fits->count == 0) {
        *field = (gbees_affine){.rank = 0};
        return;
    }
    *field = *last;
    if (fits->count < 2 || !(fits->time[1] > fits->time[0]))
        return;
    along = fmin((time - fits->time[1]) / (fits->time[1] - fits->time[0]), 2);
    for (int j = 0; j < n; j++) {
        field->a[j] += along * (last->a[j] - before->a[j]);
        field->centre[j] += along * (last->centre[j] - before->centre[j]);
    }
    for (int k = 0; k < n * n; k++)
        field->b[k] += along * (last->b[k] - before->b[k]);
}

int gbees_motion_middle(const gbees_motion_fits *fits, double time, double dt, gbees_moving_frame *frame,
                        gbees_error *error)
{
    gbees_affine field;

    gbees_motion_predict(fits, frame->n, time + dt / 4, &field);
    return gbees_motion_step(&field, dt / 2, frame, error);
}
