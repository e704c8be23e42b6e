/* moving_noise.c - the covariance that process noise adds on a moving frame, and when it is applied; see
 * moving_noise.h. */
#include "moving_noise.h"
#include "frame/relative.h"
#include <math.h>
#include <string.h>

/* The noise of one interval may raise the density's entropy by this much, in nats. */
static const double gain_most = 0.1;
/* Simpson's rule divides a step into parts, at most PARTS_MOST, in which |gradient of the drift in y| * length does
 * not exceed this. */
static const double turn_most = 0.25;
enum { PARTS_MOST = 64 };
/* Q counts as constant if its entries differ by at most this fraction of the largest. */
static const double rounding = 1e-9;
/* The distance from the mean at which Q is compared with that at the mean, in standard deviations. */
static const double reach = 3;

/* ---- Q in the frame ---- */

/* Sets q[n][n] to Q at the point x[n]. */
static void evaluate(const gbees_problem *problem, const double *x, double time, double *q)
{
    const int n = problem->dimension, full = problem->model->diffusion == GBEES_FULL;
    double value[GBEES_MATRIX], *out[GBEES_MATRIX];
    const double *at[GBEES_MAX_DIM];
    static const double origin[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < n; j++)
        at[j] = &x[j];
    for (int k = 0; k < n * n; k++)
        out[k] = &value[k];
    gbees_problem_own_functions(problem)->diffusion_d(1, time, origin, at, problem->parameters, out);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            q[j * n + k] = full ? value[j <= k ? j * n + k : k * n + j] : j == k ? value[j] : 0;
}

/* Sets to[n][n] to the transpose of a[n][n]. */
static void transpose(int n, const double *a, double *to)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            to[j * n + k] = a[k * n + j];
}

/* Adds part * A^-1 Q A^-T, with Q at the frame's origin m, to to[n][n]. Returns 1 if A is singular. */
static int add_at(const gbees_problem *problem, const gbees_moving_frame *frame, double time, double part, double *to)
{
    const int n = frame->n;
    double q[GBEES_MATRIX], turned[GBEES_MATRIX];

    evaluate(problem, frame->m, time, q);
    if (gbees_matrix_solve(n, frame->a, n, q)) /* A^-1 Q, whose transpose is Q A^-T */
        return 1;
    transpose(n, q, turned);
    if (gbees_matrix_solve(n, frame->a, n, turned))
        return 1;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            to[j * n + k] += part * (turned[j * n + k] + turned[k * n + j]) / 2;
    return 0;
}

/* The number of parts into which Simpson's rule divides a step. */
static int parts_of(const gbees_moving_way *way)
{
    const int n = way->frame->n;
    gbees_grid_frame at;
    double square = 0;

    if (gbees_relative_set(way->frame, way->field, &at, &(gbees_error){0}))
        return 1;
    for (int k = 0; k < n * n; k++)
        square += at.gradient[k] * at.gradient[k];
    return (int)fmin(1 + sqrt(square) * way->length / turn_most, PARTS_MOST);
}

int gbees_moving_noise_find(const gbees_problem *problem, const gbees_moving_way *way, double *to, gbees_error *error)
{
    const int parts = parts_of(way), n = way->frame->n;
    const double length = way->length / parts;
    gbees_moving_frame at = *way->frame;
    double time = way->time;
    int failed = 0, status = GBEES_OK;

    memset(to, 0, (size_t)(n * n) * sizeof *to);
    if (!problem->model->diffusion)
        return GBEES_OK;
    for (int k = 0; k < 2 * parts && !status; k++) { /* the ends and the middle of each part */
        const double weight = k % 2 ? 4 : k == 0 ? 1 : 2;

        failed = failed || add_at(problem, &at, time, weight * length / 6, to);
        status = gbees_motion_step(way->field, length / 2, &at, error);
        time += length / 2;
    }
    if (status)
        return status;
    failed = failed || add_at(problem, &at, time, length / 6, to);
    for (int k = 0; k < n * n; k++)
        failed = failed || !isfinite(to[k]);
    return failed ? gbees_error_set(error, GBEES_ENUMERIC,
                                    "the process noise of %s is not finite along the axes of the grid that moves, "
                                    "at t = %.9g: check diffusion()",
                                    problem->model->name, way->time)
                  : GBEES_OK;
}

/* ---- when it is applied ---- */

/* The rise of the density's entropy, in nats, by noise of covariance[n][n]: half the trace of their product with the
 * Fisher information (de Bruijn's identity, to first order). */
static double gain(const gbees_moving_noise *noise, int n, const double *covariance)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            sum += noise->information[j * n + k] * covariance[k * n + j];
    return sum / 2;
}

int gbees_moving_noise_gather(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_way *way,
                              gbees_error *error)
{
    const int n = way->frame->n;
    const double now = way->time + way->length;
    double added[GBEES_MATRIX];
    int status = GBEES_OK;

    if (!problem->model->diffusion)
        return GBEES_OK;
    status = gbees_moving_noise_find(problem, way, added, error);
    if (status)
        return status;
    for (int k = 0; k < n * n; k++)
        noise->gathered[k] += added[k];
    if (now < noise->due && gain(noise, n, noise->gathered) > gain_most) {
        noise->until = fmin(noise->until, now + (now - noise->began));
        noise->due = now;
    }
    noise->is_due = now >= noise->due;
    return GBEES_OK;
}

int gbees_moving_noise_apply(gbees_moving_noise *noise, int n, const double *edges, const double *spread,
                             gbees_error *error)
{
    double turned[GBEES_MATRIX];
    int failed = noise->any && gbees_matrix_solve(n, edges, n, noise->gathered);

    if (!noise->any)
        return GBEES_OK;
    transpose(n, noise->gathered, turned);
    failed = failed || gbees_matrix_solve(n, edges, n, turned);
    if (failed)
        return gbees_error_set(error, GBEES_ENUMERIC, "the new cells of the grid that moves are singular");
    memcpy(noise->gathered, turned, (size_t)(n * n) * sizeof *turned);
    for (int j = 0; spread && j < n; j++)
        noise->gathered[j * n + j] -= spread[j];
    transpose(n, edges, turned);
    gbees_matrix_multiply(n, turned, noise->information, noise->information);
    gbees_matrix_multiply(n, noise->information, edges, noise->information);
    if (spread) {
        noise->is_due = noise->is_of_jump = 0;
        noise->due = INFINITY;
    }
    return GBEES_OK;
}

int gbees_moving_noise_plan(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_frame *frame,
                            double time, double end, gbees_error *error)
{
    double rate[GBEES_MATRIX] = {0};

    if (!problem->model->diffusion || (noise->until - time > rounding * (end - noise->began) && noise->until <= end))
        return GBEES_OK;
    if (add_at(problem, frame, time, 1, rate))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the frame of the grid is singular: the process noise along its axes is not known");
    const double pieces = fmax(1, ceil(gain(noise, frame->n, rate) * (end - time) / gain_most));
    noise->began = time;
    noise->until = pieces > 1 ? time + (end - time) / pieces : end;
    noise->due = time + (noise->until - time) / 2;
    return GBEES_OK;
}

double gbees_moving_noise_thins(int n, const double *covariance, const double *added)
{
    double wider[GBEES_MATRIX];

    for (int k = 0; k < n * n; k++)
        wider[k] = covariance[k] + added[k];
    const double thinned = sqrt(gbees_matrix_determinant(n, covariance) / gbees_matrix_determinant(n, wider));
    return thinned > 0 && thinned < 1 ? thinned : 1;
}

int gbees_moving_noise_jump(gbees_moving_noise *noise, const gbees_moving_frame *frame, const double *covariance,
                            gbees_error *error)
{
    const int n = frame->n;
    double there[GBEES_MATRIX], turned[GBEES_MATRIX];

    memcpy(there, covariance, (size_t)(n * n) * sizeof *there);
    int failed = gbees_matrix_solve(n, frame->a, n, there);
    transpose(n, there, turned);
    failed = failed || gbees_matrix_solve(n, frame->a, n, turned);
    if (failed)
        return gbees_error_set(error, GBEES_ENUMERIC, "the frame of the grid is singular after the jump");
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            noise->gathered[j * n + k] += (turned[j * n + k] + turned[k * n + j]) / 2;
    noise->is_due = noise->is_of_jump = 1;
    return GBEES_OK;
}

/* ---- what it must be ---- */

/* Sets x[n] to the density's mean, displaced along the frame's axis `axis` by so many standard deviations. */
static void point_at(const gbees_moving_frame *frame, const gbees_statistics *statistics, int axis, double deviations,
                     double *x)
{
    const int n = frame->n;

    for (int j = 0; j < n; j++) {
        x[j] = frame->m[j];
        for (int k = 0; k < n; k++)
            x[j] += frame->a[j * n + k] *
                    (statistics->mean[k] + (k == axis ? deviations * sqrt(statistics->covariance[k * n + k]) : 0));
    }
}

int gbees_moving_noise_check(const gbees_problem *problem, const gbees_moving_frame *frame,
                             const gbees_statistics *statistics, double time, gbees_error *error)
{
    const int n = frame->n;
    double x[GBEES_MAX_DIM] = {0}, middle[GBEES_MATRIX], other[GBEES_MATRIX], largest = 0;

    if (!problem->model->diffusion)
        return GBEES_OK;
    point_at(frame, statistics, 0, 0, x);
    evaluate(problem, x, time, middle);
    for (int k = 0; k < n * n; k++)
        largest = fmax(largest, fabs(middle[k]));
    for (int side = 0; side < 2 * n; side++) {
        point_at(frame, statistics, side / 2, side % 2 ? reach : -reach, x);
        evaluate(problem, x, time, other);
        for (int k = 0; k < n * n; k++)
            if (!(fabs(other[k] - middle[k]) <= rounding * largest))
                return gbees_error_set(error, GBEES_EUSAGE,
                                       "frame: the process noise of %s is not the same all over the density at t = "
                                       "%.9g: entry %d, %d of Q is %.6g at the mean and %.6g beside it, and a grid "
                                       "that moves applies one Q at once: use 'frame: fixed'",
                                       problem->model->name, time, k / n + 1, k % n + 1, middle[k], other[k]);
    }
    return GBEES_OK;
}
