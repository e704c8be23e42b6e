/* frame_points.c - tables of a brick's points in the model's axes, for a grid that moves: kernels add them to a
 * brick's own place (kernel_frame). They are computed again whenever the frame is set. */
#include "base/clones.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 4 * 64 + 64 }; /* face points of a brick across an axis: (edge + 3) planes of 64 / edge */

/* Points of the grid and their columns in the tables. */
typedef struct point_set {
    int count;
    double y[GBEES_MAX_DIM][POINTS_MOST]; /* in the grid's axes */
} point_set;

/* The size of a number in the tables. */
static size_t number_size(const gbees_engine *e)
{
    return e->context.drift.f64 ? sizeof(double) : e->method.real_size;
}

static int face_count(const gbees_shape *shape, int axis)
{
    return (shape->edge[axis] + 3) * (shape->cells / shape->edge[axis]);
}

/* Gives a table of cells its memory; returns the end of that. */
static char *place_cells(const gbees_shape *shape, size_t size, char *next, kernel_points *table)
{
    for (int k = 0; k < shape->n; k++, next += (size_t)shape->cells * size)
        table->x[k] = next;
    for (int k = 0; k < shape->n; k++, next += (size_t)shape->cells * size)
        table->own[k] = next;
    return next;
}

int engine_frame_points_create(gbees_engine *e, gbees_error *error)
{
    const gbees_shape *shape = &e->g.shape;
    const int n = shape->n;
    const size_t size = number_size(e);
    const size_t cells = (size_t)(2 * n * shape->cells);
    size_t numbers = cells;
    kernel_frame *frame = &e->context.frame;
    const gbees_functions *own = gbees_problem_own_functions(e->problem);

    for (int j = 0; j < n; j++)
        numbers += (size_t)((n + 1) * face_count(shape, j));
    char *next = e->tables.frame_points = aligned_alloc(64, (cells * sizeof(double) + numbers * size + 63) / 64 * 64);
    if (!next)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the points of a grid that moves");
    next = place_cells(shape, sizeof(double), next, &frame->cells_f64);
    next = place_cells(shape, size, next, &frame->cells);
    for (int j = 0; j < n; j++) {
        const size_t column = (size_t)face_count(shape, j) * size;

        for (int k = 0; k < n; k++, next += column)
            frame->faces[j].x[k] = next;
        frame->faces[j].own[j] = next;
        next += column;
    }
    frame->vector_f = own->drift_f;
    frame->vector_d = own->drift_d;
    frame->moves = 1;
    return 0;
}

/* Copies numbers of a table to doubles. */
static void read_numbers(const void *from, size_t size, int count, double *to)
{
    if (size == sizeof(double))
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        for (int i = 0; i < count; i++)
            to[i] = (double)((const float *)from)[i];
}

/* Sets a column of a table to the sums over m of row[m] y[m]. */
GBEES_PROCESSOR_CLONES static void write_sums(const point_set *points, int n, const double *row, size_t size,
                                              void *column)
{
    double sum[POINTS_MOST];

    for (int i = 0; i < points->count; i++)
        sum[i] = row[0] * points->y[0][i];
    for (int m = 1; m < n; m++)
        for (int i = 0; i < points->count; i++)
            sum[i] += row[m] * points->y[m][i];
    if (size == sizeof(double))
        memcpy(column, sum, (size_t)points->count * sizeof *sum);
    else
        for (int i = 0; i < points->count; i++)
            ((float *)column)[i] = (float)sum[i];
}

/* Sets the columns that a table has. size: of its numbers. */
static void write_table(const gbees_engine *e, const point_set *points, size_t size, const kernel_points *table)
{
    const int n = e->g.shape.n;
    const double *p = e->tables.parameters_d;

    for (int k = 0; k < n; k++) {
        write_sums(points, n, p + GBEES_FRAME_AXES + k * n, size, (void *)table->x[k]);
        if (table->own[k])
            write_sums(points, n, p + GBEES_FRAME_GRADIENT + k * n, size, (void *)table->own[k]);
    }
}

void engine_frame_points_set(gbees_engine *e)
{
    const int n = e->g.shape.n;
    const double *p = e->tables.parameters_d;
    kernel_frame *frame = &e->context.frame;
    point_set points;

    for (int k = 0; k < n; k++) {
        frame->centre[k] = p[GBEES_FRAME_CENTRE + k];
        frame->velocity[k] = p[GBEES_FRAME_VELOCITY + k];
        for (int m = 0; m < n; m++) {
            frame->axes[m][k] = p[GBEES_FRAME_AXES + k * n + m];
            frame->gradient[m][k] = p[GBEES_FRAME_GRADIENT + k * n + m];
        }
    }
    for (int j = 0; j < n; j++) {
        points.count = face_count(&e->g.shape, j);
        for (int m = 0; m < n; m++)
            read_numbers(e->context.drift.axis[j].offset[m], number_size(e), points.count, points.y[m]);
        write_table(e, &points, number_size(e), &frame->faces[j]);
    }
    points.count = e->g.shape.cells;
    for (int m = 0; m < n; m++)
        memcpy(points.y[m], e->tables.cell_offset[m], (size_t)points.count * sizeof(double));
    write_table(e, &points, number_size(e), &frame->cells);
    write_table(e, &points, sizeof(double), &frame->cells_f64);
}

/* Sets sum[n] to at[n] + column[m] y[m], summed over m. */
static void add_columns(int n, const double *at, const double (*column)[8], const double *y, double *sum)
{
    for (int k = 0; k < n; k++)
        sum[k] = at[k];
    for (int m = 0; m < n; m++)
        for (int k = 0; k < n; k++)
            sum[k] += column[m][k] * y[m];
}

GBEES_PROCESSOR_CLONES void engine_frame_drift(const gbees_engine *e, const double *y, double time,
                                               double (*drift)[64])
{
    const int n = e->g.shape.n, cells = e->g.shape.cells;
    const kernel_frame *frame = &e->context.frame;
    double x[GBEES_MAX_DIM] = {0}, own[GBEES_MAX_DIM] = {0}, f[GBEES_MAX_DIM][64], *out[GBEES_MAX_DIM] = {0};

    add_columns(n, frame->centre, frame->axes, y, x);
    add_columns(n, frame->velocity, frame->gradient, y, own);
    for (int k = 0; k < n; k++)
        out[k] = f[k];
    frame->vector_d((size_t)cells, time, x, (const double *const *)frame->cells_f64.x, e->tables.parameters_d, out);
    for (int j = 0; j < n; j++) {
        const double *const row = e->tables.parameters_d + GBEES_FRAME_INVERSE + j * n;
        const double *const offset = frame->cells_f64.own[j];

        for (int i = 0; i < cells; i++)
            drift[j][i] = row[0] * f[0][i] - (own[j] + offset[i]);
        for (int k = 1; k < n; k++)
            for (int i = 0; i < cells; i++)
                drift[j][i] += row[k] * f[k][i];
    }
}
