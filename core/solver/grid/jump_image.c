/* jump_image.c - a grid's cells as the points of a lattice, which the jump moves, and whose image is distributed as
 * that of points that go with the flow is (lagrangian/deposit.h); see jump_image.h. */
#include "jump_image.h"
#include "base/initial_cells.h"
#include "frame/remap.h"
#include "lagrangian/deposit.h"
#include "record/instants.h"
#include "refine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_MOST = INT16_MAX - 1, MOST_DIVIDED = 3 };

/* Cells are divided to so many at most. */
static const double most_cells = 1 << 19;

/* Cells with less than this of the largest one's probability are dropped. */
static const double least_of_peak = 1e-14;

struct gbees_jump_image {
    int n;
    gbees_lattice *lattice;
};

/* Divides the cells, and those of their frame, along each axis, as often as leaves them few enough: how well a jump
 * that bends and folds them is resolved does not depend on what the density alone asks for. */
static int divide(const gbees_problem *problem, int threads, gbees_initial_cells *cells, gbees_moving_frame *frame,
                  gbees_error *error)
{
    const int n = frame->n;
    double count = (double)cells->count;
    int power[GBEES_MAX_DIM] = {0}, times = 0;

    while (times < MOST_DIVIDED && count * ldexp(1, n) <= most_cells) {
        count *= ldexp(1, n);
        times++;
    }
    if (times == 0)
        return GBEES_OK;
    for (int k = 0; k < n; k++) {
        power[k] = times;
        for (int j = 0; j < n; j++) {
            const double edge = frame->a[j * n + k];

            frame->a[j * n + k] = ldexp(edge, -times);
            frame->m[j] += (frame->a[j * n + k] - edge) / 2;
        }
    }
    return gbees_refine(cells, n, power, problem->numerics.cell_values, threads, error);
}

/* Makes values at centres of averages. */
static int take_centres(int n, gbees_initial_cells *cells, int threads, gbees_error *error)
{
    gbees_remap_plan plan = {.n = n, .count = n};
    double dropped = 0;

    for (int j = 0; j < n; j++) {
        plan.from[j] = plan.to[j] = j;
        plan.pass[j] = (gbees_remap_pass){.axis = j, .after = -1.0 / 24};
    }
    return gbees_remap_apply(cells, &plan, threads, &dropped, error);
}

/* Adds a cell's centre to the lattice. */
static int add(gbees_jump_image *image, const gbees_initial_cells *cells, size_t i, gbees_error *error)
{
    gbees_site site = {{0}};

    for (int j = 0; j < image->n; j++) {
        const int32_t index = cells->index[j][i];

        if (index > SITE_MOST || index < -SITE_MOST)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "a cell is more than %d cells from the grid's origin: make the cells wider",
                                   (int)SITE_MOST);
        site.z[j] = (int16_t)index;
    }
    const int status = gbees_lattice_append(image->lattice, &site, error);
    if (!status)
        image->lattice->log_weight[i] = log(cells->p[i]);
    return status;
}

/* Takes all points through the jump. */
static int move(gbees_jump_image *image, const gbees_problem *problem, const gbees_instant *instant, double time,
                gbees_error *error)
{
    gbees_lattice *lattice = image->lattice;

    gbees_instant_points(problem, instant, time, lattice->count, lattice->x);
    for (uint32_t i = 0; i < lattice->count; i++)
        for (int j = 0; j < image->n; j++)
            if (!isfinite(lattice->x[j][i])) {
                double x0[GBEES_MAX_DIM];

                gbees_lattice_start(lattice, &lattice->site[i], x0);
                return gbees_error_set(error, GBEES_ENUMERIC,
                                       "the jump is not finite at a cell whose first state is %.9g: check jump() of "
                                       "%s",
                                       x0[0], problem->model->name);
            }
    return GBEES_OK;
}

double gbees_jump_image_entropy(const gbees_initial_cells *cells)
{
    const double mass = gbees_initial_cells_sum(cells);
    double sum = 0;

    for (size_t i = 0; i < cells->count; i++)
        sum -= cells->p[i] > 0 ? cells->p[i] / mass * log(cells->p[i] / mass) : 0;
    return sum;
}

int gbees_jump_image_create(const gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                            const gbees_moving_frame *from, gbees_jump_image **image, double *entropy,
                            gbees_error *error)
{
    gbees_moving_frame frame = *from;
    const gbees_problem *problem = gbees_grid_problem(grid);
    gbees_initial_cells cells = {0};
    gbees_jump_image *made = calloc(1, sizeof *made);
    int status = made ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a jump");

    if (!status)
        status = gbees_grid_fetch(grid, &cells, error);
    *entropy = gbees_jump_image_entropy(&cells);
    if (!status)
        status = divide(problem, grid->options.threads, &cells, &frame, error);
    if (!status)
        status = take_centres(from->n, &cells, grid->options.threads, error);
    if (!status) {
        made->n = from->n;
        status = gbees_lattice_create(from->n, frame.m, frame.a, &made->lattice, error);
    }
    if (!status)
        status = gbees_lattice_reserve(made->lattice, cells.count, error);
    for (size_t i = 0; i < cells.count && !status; i++)
        status = add(made, &cells, i, error);
    gbees_initial_cells_clear(&cells);
    if (!status)
        status = move(made, problem, instant, clock->time, error);
    if (status)
        gbees_jump_image_destroy(made);
    else
        *image = made;
    return status;
}

void gbees_jump_image_destroy(gbees_jump_image *image)
{
    if (image)
        gbees_lattice_destroy(image->lattice);
    free(image);
}

/* Adds w E E' of a cell to sum[n][n]: from it to its neighbours above along each axis, where there are some. */
static void add_edges(const gbees_lattice *lattice, uint32_t i, double w, double *sum)
{
    const int n = lattice->n;

    for (int k = 0; k < n; k++) {
        const gbees_site above = gbees_site_beside(&lattice->site[i], 2 * k + 1);
        const uint32_t other = gbees_lattice_find(lattice, &above);

        for (int j = 0; j < n && other != GBEES_NO_POINT; j++)
            for (int l = 0; l < n; l++)
                sum[j * n + l] +=
                    w * (lattice->x[j][other] - lattice->x[j][i]) * (lattice->x[l][other] - lattice->x[l][i]);
    }
}

int gbees_jump_image_moments(gbees_jump_image *image, double *mean, double *covariance, double *resolved,
                             gbees_error *error)
{
    const gbees_lattice *lattice = image->lattice;
    const int n = image->n, status = gbees_lattice_index(image->lattice, error);
    double mass = 0;

    memset(mean, 0, (size_t)n * sizeof *mean);
    memset(covariance, 0, (size_t)(n * n) * sizeof *covariance);
    memset(resolved, 0, (size_t)(n * n) * sizeof *resolved);
    for (uint32_t i = 0; i < lattice->count && !status; i++) {
        const double w = exp(lattice->log_weight[i]);

        mass += w;
        for (int j = 0; j < n; j++)
            mean[j] += w * lattice->x[j][i];
        add_edges(lattice, i, w, resolved);
    }
    for (int j = 0; j < n; j++)
        mean[j] /= mass;
    for (uint32_t i = 0; i < lattice->count && !status; i++) {
        const double w = exp(lattice->log_weight[i]) / mass;

        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                covariance[j * n + k] += w * (lattice->x[j][i] - mean[j]) * (lattice->x[k][i] - mean[k]);
    }
    for (int k = 0; k < n * n; k++)
        resolved[k] /= mass;
    return status;
}

int gbees_jump_image_deposit(gbees_jump_image *image, const gbees_problem *to, int threads,
                             gbees_initial_cells *cells, gbees_error *error)
{
    const gbees_deposit_options options = {.threads = threads, .least = least_of_peak};

    return gbees_deposit_cells(to, 1, &image->lattice, NULL, &options, cells, NULL, error);
}
