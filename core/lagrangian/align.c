/* align.c - eigenvectors of the mean square of the slope of targets' functions; see align.h. */
#include "align.h"
#include "fields.h"
#include "watch.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PILOTS = 64, EACH = GBEES_MAX_DIM + 1, COUNT = PILOTS * EACH };

/* Slopes are differences over so many deviations. */
static const double apart = 0.05;
/* The tolerance of the pilots' trajectories. */
static const double rough = 1e-6;

/* Points spread as the density, each with one beside it along each axis; z in units of source->root. */
typedef struct pilots {
    int n;
    double x[GBEES_MAX_DIM][COUNT], *column[GBEES_MAX_DIM];
    double lowest[GBEES_MAX_TARGETS][COUNT], *field[GBEES_MAX_TARGETS];
} pilots;

/* Two normal numbers of a pilot, of an additive sequence. */
static void draw(int pilot, int pair, double *z)
{
    const double u = fmod((pilot + 0.5) * gbees_root_of_prime(2 * pair), 1),
                 v = fmod((pilot + 0.5) * gbees_root_of_prime(2 * pair + 1), 1);

    z[0] = sqrt(-2 * log(fmax(u, 1e-3))) * cos(2 * acos(-1) * v);
    z[1] = sqrt(-2 * log(fmax(u, 1e-3))) * sin(2 * acos(-1) * v);
}

static void place(const gbees_source *source, pilots *p)
{
    const int n = p->n;

    for (int pilot = 0; pilot < PILOTS; pilot++)
        for (int beside = 0; beside <= n; beside++) {
            double z[GBEES_MAX_DIM];

            for (int pair = 0; pair < GBEES_MAX_DIM / 2; pair++)
                draw(pilot, pair, z + 2 * pair);
            if (beside > 0)
                z[beside - 1] += apart;
            for (int j = 0; j < n; j++) {
                double *x = &p->x[j][pilot * (n + 1) + beside];

                *x = source->mean[j];
                for (int k = 0; k < n; k++)
                    *x += source->root[j * n + k] * z[k];
            }
        }
}

/* Takes the pilots to a time; sets `lowest`, of targets that count to their function there. */
static int follow(const gbees_past *past, double time, pilots *p, gbees_error *error)
{
    const gbees_problem *problem = past->problem;
    const size_t count = (size_t)(PILOTS * (p->n + 1));
    const int absorbs = gbees_problem_absorbs(problem);
    gbees_travel travel = {
        .from = past->start, .to = time, .scale = past->scale, .tolerance = fmax(rough, past->tolerance)};
    int status;

    travel.lowest = absorbs ? p->field : NULL;
    if (absorbs)
        gbees_watch_begin(problem, past->start, count, p->column, p->field);
    status = gbees_trajectories_run(past->trajectories, count, p->column, NULL, &travel, error);
    for (int k = 0; k < problem->target_count && !status; k++)
        if (problem->targets[k].kind == GBEES_TARGET_COUNT)
            gbees_target_values(problem, k, time, count, (const double *const *)p->column, p->lowest[k]);
    return status;
}

/* Adds the square of the slope of a function at a pilot, more where it is near to 0. */
static void add_slope(int n, const double *field, double *squares)
{
    double slope[GBEES_MAX_DIM], square = 0;

    for (int k = 0; k < n; k++) {
        slope[k] = (field[1 + k] - field[0]) / apart;
        square += slope[k] * slope[k];
    }
    const double weight = 1 / (square + field[0] * field[0]);
    if (!isfinite(square) || !isfinite(weight))
        return;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            squares[j * n + k] += weight * slope[j] * slope[k];
}

/* The end of the way that targets are looked at on. */
static double end_of(const gbees_past *past)
{
    const gbees_problem *problem = past->problem;
    double end = problem->end;

    for (int m = 0; m < problem->measurement_count; m++)
        if (problem->measurements[m].time > past->start)
            end = fmin(end, problem->measurements[m].time);
    return end;
}

int gbees_align(const gbees_past *past, gbees_source *source, gbees_error *error)
{
    const int n = past->problem->dimension;
    double squares[GBEES_MATRIX] = {0}, values[GBEES_MAX_DIM];
    pilots *p;
    int status;

    if (past->problem->target_count == 0)
        return GBEES_OK;
    p = calloc(1, sizeof *p);
    if (!p)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the targets of a lattice");
    p->n = n;
    for (int j = 0; j < n; j++)
        p->column[j] = p->x[j];
    for (int k = 0; k < past->problem->target_count; k++)
        p->field[k] = p->lowest[k];
    place(source, p);
    status = follow(past, end_of(past), p, error);
    for (int k = 0; k < past->problem->target_count && !status; k++)
        for (int pilot = 0; pilot < PILOTS; pilot++)
            add_slope(n, p->lowest[k] + pilot * (n + 1), squares);
    free(p);
    if (status || gbees_matrix_eigen(n, squares, values) || !(values[n - 1] > 0))
        return status;
    for (int j = 0; j < n; j++) /* the largest first */
        for (int k = 0; k < n; k++)
            source->along[j * n + k] = squares[j * n + n - 1 - k];
    return GBEES_OK;
}
