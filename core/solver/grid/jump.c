/* jump.c - jumps of a grid at rest. An affine one is made by its frame, cell by cell the density stays, and a remap
 * takes it from there to cells along the grid's axes; of any other the image is distributed over such cells
 * (jump_image.h). The jump's error is the noise of a remap; see jump.h. */
#include "jump.h"
#include "base/cholesky.h"
#include "base/initial_cells.h"
#include "frame/motion.h"
#include "jump_image.h"
#include "moving_noise.h"
#include "solver/problem/frame.h"
#include <math.h>
#include <string.h>

/* Widths that differ from the present ones by less stay: another width costs accuracy. */
static const double same_width = 0.01;
/* Correlations of the error along the grid's axes below this are rounding. */
static const double rounding = 1e-12;

/* Sets turned[n][n] to A^-1 C A^-T, symmetric. Returns 1 if A is singular. */
static int turn(int n, const double *a, const double *c, double *turned)
{
    double half[GBEES_MATRIX];

    memcpy(half, c, (size_t)(n * n) * sizeof *half);
    if (gbees_matrix_solve(n, a, n, half))
        return 1;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            turned[j * n + k] = half[k * n + j];
    return gbees_matrix_solve(n, a, n, turned);
}

/* Sets the variances, in cells squared, of the density before and after the jump, along the axes of the present grid;
 * *thinned: by which factor the error, of covariance[n][n] there, lowers a Gaussian of this shape. */
static int find_variances(const gbees_grid *grid, const gbees_clock *clock, const gbees_moving_frame *jumped,
                          const gbees_moving_frame *now, const double *covariance, double *before, double *after,
                          double *thinned, gbees_error *error)
{
    const int n = now->n;
    gbees_statistics statistics;
    double map[GBEES_MATRIX], half[GBEES_MATRIX], moved[GBEES_MATRIX];
    const int status = gbees_grid_statistics(grid, clock, &statistics, error);

    if (status)
        return status;
    /* Of the present cells: C in cells; the jump maps cells by M = A^-1 F A. */
    memcpy(map, jumped->a, sizeof map);
    if (gbees_matrix_solve(n, now->a, n, map))
        return gbees_error_set(error, GBEES_ENUMERIC, "the grid's axes are singular");
    const double *width = gbees_grid_problem(grid)->width;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            statistics.covariance[j * n + k] /= width[j] * width[k];
    gbees_matrix_multiply(n, map, statistics.covariance, half);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            moved[j * n + k] = 0;
            for (int l = 0; l < n; l++)
                moved[j * n + k] += half[j * n + l] * map[k * n + l];
        }
    for (int j = 0; j < n; j++) {
        before[j] = statistics.covariance[j * n + j];
        after[j] = moved[j * n + j];
    }
    *thinned = gbees_moving_noise_thins(n, moved, covariance);
    return GBEES_OK;
}

/* The cells of a deviation of the run's first density along an axis of the present grid: the `factor`, for which a
 * regrid may have made them narrower. */
static double cells_a_deviation(const gbees_grid *grid, int axis)
{
    const gbees_problem *first = grid->problem;
    const int n = first->dimension;

    return ldexp(sqrt(first->covariance[axis * n + axis]) / first->width[axis], grid->level[axis]);
}

/* Sets scale[n] to the widths after the jump over those before it: they go with the density's deviations, and an
 * error, which smooths, lets them grow. */
static int find_scales(const gbees_grid *grid, const gbees_clock *clock, const gbees_moving_frame *jumped,
                       const gbees_moving_frame *now, const double *spread, double *scale, double *thinned,
                       gbees_error *error)
{
    double before[GBEES_MAX_DIM], after[GBEES_MAX_DIM];
    const int status = find_variances(grid, clock, jumped, now, spread, before, after, thinned, error);

    for (int j = 0; j < now->n && !status; j++) {
        const double cells = cells_a_deviation(grid, j);
        const double moved = before[j] > 0 ? after[j] / before[j] : 1;

        scale[j] = sqrt(moved + (cells > 0 ? spread[j * now->n + j] / (cells * cells) : 0));
        if (!(fabs(scale[j] - 1) >= same_width) || !isfinite(scale[j]))
            scale[j] = 1;
    }
    return status;
}

/* Where the error is not along the axes: sets `via` to sheared cells along which it is, C = L D L^T, and variance[n]
 * to D, in these cells. */
static void shear(const gbees_moving_frame *to, double *c, gbees_moving_frame *via, double *variance)
{
    const int n = to->n;
    double l[GBEES_MATRIX] = {0};

    for (int k = 0; k < n; k++) {
        variance[k] = fmax(c[k * n + k], 0);
        l[k * n + k] = 1;
        for (int j = k + 1; j < n; j++)
            l[j * n + k] = variance[k] > 0 ? c[j * n + k] / variance[k] : 0;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                c[i * n + j] -= l[i * n + k] * l[j * n + k] * variance[k];
    }
    *via = *to;
    gbees_matrix_multiply(n, to->a, l, via->a);
}

/* Makes the cells of `to` wider by scale[n], and has the remap add an error, whose covariance[n][n] in the cells
 * before is scaled: along the axes, or by way of `via`. */
static void set_target(const double *scale, double *covariance, double *variance, gbees_moving_frame *via,
                       gbees_grid_target *to)
{
    const int n = to->frame.n;
    int has_error = 0;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            to->frame.a[j * n + k] *= scale[k];
            covariance[j * n + k] /= scale[j] * scale[k];
            has_error |= covariance[j * n + k] != 0;
        }
    for (int j = 0; j < n; j++)
        variance[j] = fmax(covariance[j * n + j], 0);
    to->spread = has_error ? variance : NULL;
    if (!gbees_is_diagonal(n, covariance, rounding)) {
        shear(&to->frame, covariance, via, variance);
        to->via = via;
    }
}

static int jump_affine(gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                       const gbees_moving_frame *now, double *covariance, gbees_error *error)
{
    const int n = now->n;
    gbees_moving_frame jumped = *now, via;
    gbees_grid_target to = {.frame = *now};
    double scale[GBEES_MAX_DIM], variance[GBEES_MAX_DIM];

    gbees_motion_jump(instant->matrix, instant->value, &jumped);
    const int status = find_scales(grid, clock, &jumped, now, covariance, scale, &to.thinned, error);
    if (status)
        return status;
    memcpy(to.frame.m, jumped.m, sizeof jumped.m);
    set_target(scale, covariance, variance, &via, &to);
    to.threshold = gbees_grid_problem(grid)->threshold * to.thinned *
                   fabs(gbees_matrix_determinant(n, to.frame.a) / gbees_matrix_determinant(n, jumped.a));
    return gbees_grid_remap(grid, clock, &jumped, &to, error);
}

/* ---- any other jump ---- */

/* Sets scale[n] to the widths for an image over the present ones: what the image of a cell resolves, or the error
 * smooths, but no more than the density's deviations ask for. */
static int find_image_scales(const gbees_grid *grid, gbees_jump_image *image, gbees_moving_frame *now,
                             const double *error_there, double *scale, gbees_error *error)
{
    const int n = now->n;
    double mean[GBEES_MAX_DIM], of[GBEES_MATRIX], image_there[GBEES_MATRIX], resolved[GBEES_MATRIX],
        resolved_there[GBEES_MATRIX];
    const int status = gbees_jump_image_moments(image, mean, of, resolved, error);

    if (status)
        return status;
    if (turn(n, now->a, of, image_there) || turn(n, now->a, resolved, resolved_there))
        return gbees_error_set(error, GBEES_ENUMERIC, "the grid's axes are singular");
    for (int j = 0; j < n; j++) {
        const double cells = cells_a_deviation(grid, j), added = error_there[j * n + j];
        const double most = sqrt(image_there[j * n + j] + added) / cells;
        const double fine = sqrt(fmax(resolved_there[j * n + j], added / (cells * cells)));

        scale[j] = fmin(most, fine);
        if (!(scale[j] > 0) || !isfinite(scale[j]))
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "the jump leaves the density no width along axis %d: give it an error", j + 1);
    }
    memcpy(now->m, mean, sizeof mean);
    return GBEES_OK;
}

/* Adds the error to the image's cells, and makes the engine of them. p* goes with the number of cells that the
 * density takes. */
static int take_image(gbees_grid *grid, const gbees_clock *clock, double entropy, gbees_grid_target *to,
                      gbees_initial_cells *cells, gbees_error *error)
{
    const gbees_remap_options options = {.threads = grid->options.threads, .spread = to->spread, .convolves = 1};
    const int status = to->spread ? gbees_grid_remap_cells(cells, &to->frame, to, &options, error) : GBEES_OK;

    if (status)
        return status;
    const double volume = exp(entropy - gbees_jump_image_entropy(cells));
    to->threshold = gbees_grid_problem(grid)->threshold * volume;
    return gbees_grid_take(grid, clock, cells, to, volume, error);
}

static int jump_image(gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                      const gbees_moving_frame *now, double *covariance, gbees_error *error)
{
    gbees_problem problem = *gbees_grid_problem(grid);
    gbees_grid_target to = {.frame = *now};
    gbees_jump_image *image = NULL;
    gbees_initial_cells cells = {0};
    gbees_moving_frame via;
    double scale[GBEES_MAX_DIM], variance[GBEES_MAX_DIM], entropy = 0;
    int status = gbees_jump_image_create(grid, clock, instant, now, &image, &entropy, error);

    if (!status)
        status = find_image_scales(grid, image, &to.frame, covariance, scale, error);
    if (!status) {
        set_target(scale, covariance, variance, &via, &to);
        gbees_frame_place(&to.frame, &problem);
        status = gbees_jump_image_deposit(image, &problem, grid->options.threads, &cells, error);
    }
    gbees_jump_image_destroy(image);
    if (!status)
        status = take_image(grid, clock, entropy, &to, &cells, error);
    gbees_initial_cells_clear(&cells);
    return status;
}

int gbees_grid_jump(gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant, gbees_error *error)
{
    double covariance[GBEES_MATRIX] = {0};
    gbees_moving_frame now;

    gbees_frame_of_grid(gbees_grid_problem(grid), &now);
    if (turn(now.n, now.a, instant->covariance, covariance))
        return gbees_error_set(error, GBEES_ENUMERIC, "the grid's axes are singular");
    return instant->function == GBEES_JUMP_AFFINE ? jump_affine(grid, clock, instant, &now, covariance, error)
                                                  : jump_image(grid, clock, instant, &now, covariance, error);
}
