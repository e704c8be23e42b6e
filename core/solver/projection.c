/* projection.c - adds P of each cell at its centre to a line, linearly weighted between the two nearest entries.
 * Then the line is averaged over the length of each edge of the cells in turn: the coordinate of a uniformly
 * distributed point of a cell is a sum of independent uniform ones, one an edge. */
#include "projection.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE_ENTRIES = 8, BATCH = 1024, LONGEST = 1 << 26 };

/* One part's marginal along one state, as a line of entries. */
typedef struct line {
    double origin, width; /* the middle of entry 0; of an entry */
    size_t length;
    double *p, *spare;
} line;

/* Cells of a part: where their centres are along a state, and their P. */
typedef struct batch {
    size_t count;
    double x[BATCH], p[BATCH];
} batch;

/* Fills a batch with the cells from `first` on; it is empty at their end. */
static void take_batch(const gbees_record_mode *part, int state, size_t first, batch *to)
{
    const int n = part->problem->dimension;
    const size_t left = gbees_cells_count(part->cells) - first;
    int32_t index[GBEES_MAX_DIM][BATCH], *columns[GBEES_MAX_DIM];
    double edge[GBEES_MAX_DIM];

    to->count = left < BATCH ? left : BATCH;
    (void)gbees_problem_edges(part->problem, state, edge);
    for (int j = 0; j < n; j++)
        columns[j] = index[j];
    gbees_cells_copy(part->cells, first, to->count, columns, to->p);
    for (size_t i = 0; i < to->count; i++) {
        to->x[i] = part->problem->centre[state];
        for (int k = 0; k < n; k++)
            to->x[i] += edge[k] * index[k][i];
    }
}

/* Where the cells' centres begin and end along a state. */
static void find_range(const gbees_record_mode *part, int state, double *least, double *most)
{
    batch b;

    for (size_t first = 0; take_batch(part, state, first, &b), b.count > 0; first += b.count)
        for (size_t i = 0; i < b.count; i++) {
            *least = fmin(*least, b.x[i]);
            *most = fmax(*most, b.x[i]);
        }
}

static void count_centres(const gbees_record_mode *part, int state, const line *to)
{
    batch b;

    for (size_t first = 0; take_batch(part, state, first, &b), b.count > 0; first += b.count)
        for (size_t i = 0; i < b.count; i++) {
            const double place = (b.x[i] - to->origin) / to->width, below = floor(place);
            const size_t at = (size_t)below;

            to->p[at] += (1 - (place - below)) * part->weight * b.p[i];
            to->p[at + 1] += (place - below) * part->weight * b.p[i];
        }
}

/* Spreads each entry evenly over `length` entries around it; `length` need not be a whole number. Each new entry is a
 * difference of the line's running integral at two places. */
static void spread(line *l, double length)
{
    const double half = length / 2;
    double *sum = l->spare, total = 0;

    if (!(length > 1e-3))
        return;
    for (size_t i = 0; i < l->length; i++) { /* up to the upper end of entry i */
        total += l->p[i];
        sum[i] = total;
    }
    for (size_t i = 0; i < l->length; i++) {
        double ends[2];

        for (int side = 0; side < 2; side++) {
            const double at = (double)i - 0.5 + (side ? half : -half), below = floor(at), rest = at - below;
            const double low = below < 0 ? 0 : below < (double)l->length ? sum[(size_t)below] : total;
            const double high = below + 1 < 0 ? 0 : below + 1 < (double)l->length ? sum[(size_t)below + 1] : total;

            ends[side] = low + rest * (high - low);
        }
        l->p[i] = (ends[1] - ends[0]) / length;
    }
}

static int open_line(const gbees_record_mode *parts, int count, int state, line *l, gbees_error *error)
{
    double least = INFINITY, most = -INFINITY, longest = 0, all = 0, edge[GBEES_MAX_DIM];

    for (int k = 0; k < count; k++) {
        all = fmax(all, gbees_problem_edges(parts[k].problem, state, edge));
        for (int j = 0; j < parts[k].problem->dimension; j++)
            longest = fmax(longest, fabs(edge[j]));
        find_range(&parts[k], state, &least, &most);
    }
    l->width = longest / EDGE_ENTRIES;
    l->origin = least - all;
    const double length = (most - least + 2 * all) / l->width + 4;
    if (!(length < LONGEST))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the marginal of state %d would have %.3g entries: its cells are too narrow for that",
                               state + 1, length);
    l->length = (size_t)length;
    l->p = gbees_array_create(l->length, sizeof *l->p);
    l->spare = gbees_array_create(l->length, sizeof *l->spare);
    if (!l->p || !l->spare)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginal of state %d", state + 1);
    memset(l->p, 0, l->length * sizeof *l->p);
    return GBEES_OK;
}

/* Adds a part's line to that of the projection, which has the same entries. */
static void add_part(const gbees_record_mode *part, int state, line *l, double *to)
{
    double edge[GBEES_MAX_DIM];

    memset(l->p, 0, l->length * sizeof *l->p);
    (void)gbees_problem_edges(part->problem, state, edge);
    count_centres(part, state, l);
    for (int k = 0; k < part->problem->dimension; k++)
        spread(l, fabs(edge[k]) / l->width);
    for (size_t i = 0; i < l->length; i++)
        to[i] += l->p[i];
}

static int project(const gbees_record_mode *parts, int count, int state, gbees_projection *to, gbees_error *error)
{
    line l = {.p = NULL};
    int status = open_line(parts, count, state, &l, error);

    if (!status && !(to->p[state] = calloc(l.length, sizeof *to->p[state])))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginal of state %d", state + 1);
    for (int k = 0; k < count && !status; k++)
        add_part(&parts[k], state, &l, to->p[state]);
    to->origin[state] = l.origin;
    to->width[state] = l.width;
    to->length[state] = l.length;
    free(l.p);
    free(l.spare);
    return status;
}

int gbees_projection_create(const gbees_record_mode *parts, int count, gbees_projection **projection,
                            gbees_error *error)
{
    gbees_projection *made = calloc(1, sizeof *made);
    int status = GBEES_OK;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a record");
    for (int j = 0; j < parts[0].problem->dimension && !status; j++)
        status = project(parts, count, j, made, error);
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
