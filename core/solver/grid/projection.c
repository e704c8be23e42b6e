/* projection.c - has the cells of a record spread along each state (gbees/spread.h). */
#include "projection.h"
#include <gbees/spread.h>
#include <math.h>
#include <stdlib.h>

enum { CELL_ENTRIES = 8, BATCH = 1024, LONGEST = 1 << 22 };

/* Cells: where their centres are along a state, and their P. */
typedef struct batch {
    size_t count;
    double x[BATCH], p[BATCH];
} batch;

/* Fills a batch with the cells from `first` on; it is empty at their end. */
static void take_batch(const gbees_problem *problem, const gbees_cells *cells, int state, size_t first, batch *to)
{
    const int n = problem->dimension;
    const size_t left = gbees_cells_count(cells) - first;
    int32_t index[GBEES_MAX_DIM][BATCH], *columns[GBEES_MAX_DIM];
    double edge[GBEES_MAX_DIM];

    to->count = left < BATCH ? left : BATCH;
    (void)gbees_problem_edges(problem, state, edge);
    for (int j = 0; j < n; j++)
        columns[j] = index[j];
    gbees_cells_copy(cells, first, to->count, columns, to->p);
    for (size_t i = 0; i < to->count; i++) {
        to->x[i] = problem->centre[state];
        for (int k = 0; k < n; k++)
            to->x[i] += edge[k] * index[k][i];
    }
}

/* Where the cells' centres begin and end along a state. */
static void find_range(const gbees_problem *problem, const gbees_cells *cells, int state, double *least, double *most)
{
    batch b;

    for (size_t first = 0; take_batch(problem, cells, state, first, &b), b.count > 0; first += b.count)
        for (size_t i = 0; i < b.count; i++) {
            *least = fmin(*least, b.x[i]);
            *most = fmax(*most, b.x[i]);
        }
}

static int project(const gbees_problem *problem, const gbees_cells *cells, int state, gbees_projection *to,
                   gbees_error *error)
{
    gbees_spread_shape shape = {.dimension = 1,
                                .edges = {.count = problem->dimension},
                                .least = {INFINITY},
                                .most = {-INFINITY},
                                .entries = CELL_ENTRIES,
                                .limit = LONGEST};
    gbees_spread *spread;
    batch b;

    (void)gbees_problem_edges(problem, state, shape.edges.along);
    find_range(problem, cells, state, &shape.least[0], &shape.most[0]);
    const int status = gbees_spread_create(&shape, &spread, error);
    if (status)
        return status;
    for (size_t first = 0; take_batch(problem, cells, state, first, &b), b.count > 0; first += b.count)
        gbees_spread_add(spread, b.count, (const double *const[]){b.x}, b.p);
    gbees_spread_finish(spread, &shape.edges);
    to->p[state] = spread->p;
    to->origin[state] = spread->origin[0];
    to->width[state] = spread->width[0];
    to->length[state] = spread->length[0];
    spread->p = NULL; /* it is the projection's */
    gbees_spread_destroy(spread);
    return GBEES_OK;
}

int gbees_projection_create(const gbees_problem *problem, const gbees_cells *cells, gbees_projection **projection,
                            gbees_error *error)
{
    gbees_projection *made = calloc(1, sizeof *made);
    int status = GBEES_OK;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a record");
    for (int j = 0; j < problem->dimension && !status; j++)
        status = project(problem, cells, j, made, error);
    if (status)
        gbees_projection_destroy(made);
    else
        *projection = made;
    return status;
}

void gbees_projection_destroy(gbees_projection *projection)
{
    for (int j = 0; projection && j < GBEES_MAX_DIM; j++)
        free(projection->p[j]);
    free(projection);
}
