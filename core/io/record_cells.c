/* record_cells.c - unpacks a record's cells block by block, on threads, and writes indices, centres and P; the
 * grid's origin and edges are small datasets beside them. */
#include "record_cells.h"
#include "base/workers.h"
#include "hdf5_util.h"
#include "xdmf.h"
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 65536, /* cells of a chunk of the file */
    BLOCKS = 48,   /* chunks that are unpacked and written at a time: some for each of 16 threads */
    BLOCK = BLOCKS * CHUNK,
    CELL_NS = 10 /* to unpack a cell takes about as long */
};

static void put_grid(gbees_hdf5 *file, const gbees_problem *problem)
{
    hsize_t n = (hsize_t)problem->dimension, square[] = {n, n};
    const char *names[GBEES_MAX_DIM], *units[GBEES_MAX_DIM];
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    for (hsize_t j = 0; j < n; j++) {
        names[j] = problem->model->states[j].name;
        units[j] = problem->model->states[j].unit;
        rotation[j * n + j] = 1;
    }
    if (problem->rotated)
        memcpy(rotation, problem->rotation, sizeof rotation);
    gbees_hdf5_group(file, "grid");
    gbees_hdf5_dataset(file, "grid/origin", H5T_NATIVE_DOUBLE, 1, &n, NULL,
                       problem->rotated ? problem->centre : problem->mean);
    gbees_hdf5_dataset(file, "grid/h", H5T_NATIVE_DOUBLE, 1, &n, NULL, problem->width);
    gbees_hdf5_dataset(file, "grid/R", H5T_NATIVE_DOUBLE, 2, square, NULL, rotation);
    gbees_hdf5_texts(file, "grid/names", n, names);
    gbees_hdf5_texts(file, "grid/units", n, units);
}

/* A block of cells, unpacked: index [n][count], p, and what of it goes to the file. */
typedef struct block {
    size_t count;
    int32_t *index;
    double *p;
    float *reals; /* p in single precision */
    float *x;     /* centres [count][n] */
} block;

/* Cells first ... first + count - 1 of a mode, and their place in a block. */
typedef struct segment {
    const gbees_record_mode *part;
    size_t first, count, at;
} segment;

typedef struct filling {
    const block *to;
    segment list[BLOCKS];
    size_t count;
} filling;

/* Sets the centres of a segment's cells. */
static void place_centres(const gbees_problem *problem, const block *to, const segment *s)
{
    const size_t n = (size_t)problem->dimension;

    for (size_t i = s->at; i < s->at + s->count; i++) {
        double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

        for (size_t j = 0; j < n; j++)
            y[j] = problem->mean[j] + problem->width[j] * to->index[j * to->count + i];
        gbees_problem_point(problem, y, x);
        for (size_t j = 0; j < n; j++)
            to->x[i * n + j] = (float)x[j];
    }
}

/* Unpacks a segment's cells; called by gbees_workers_run(). */
static void fill_segment(void *context, size_t item)
{
    const filling *f = context;
    const segment *s = &f->list[item];
    const block *to = f->to;
    int32_t *columns[GBEES_MAX_DIM];

    for (size_t j = 0; j < (size_t)s->part->problem->dimension; j++)
        columns[j] = to->index + j * to->count + s->at;
    gbees_cells_copy(s->part->cells, s->first, s->count, columns, to->p + s->at);
    for (size_t i = s->at; i < s->at + s->count; i++) {
        to->p[i] *= s->part->weight;
        to->reals[i] = (float)to->p[i];
    }
    if (gbees_xdmf_applies(s->part->problem->dimension))
        place_centres(s->part->problem, to, s);
}

static void put_block(gbees_hdf5 *file, const gbees_problem *problem, const block *cells, hsize_t first)
{
    const hsize_t n = (hsize_t)problem->dimension, count = cells->count;

    gbees_hdf5_write(file, "pdf/index", H5T_NATIVE_INT32, 2, (hsize_t[]){0, first}, (hsize_t[]){n, count},
                     cells->index);
    if (problem->numerics.precision == GBEES_DOUBLE)
        gbees_hdf5_write(file, "pdf/p", H5T_NATIVE_DOUBLE, 1, &first, &count, cells->p);
    else
        gbees_hdf5_write(file, "pdf/p", H5T_NATIVE_FLOAT, 1, &first, &count, cells->reals);
    if (gbees_xdmf_applies(problem->dimension))
        gbees_hdf5_write(file, "pdf/x", H5T_NATIVE_FLOAT, 2, (hsize_t[]){first, 0}, (hsize_t[]){count, n}, cells->x);
}

size_t gbees_record_cells_count(const gbees_record *record)
{
    size_t count = 0;

    if (!record->modes)
        return gbees_cells_count(record->cells);
    for (int k = 0; k < record->mode_count; k++)
        count += gbees_cells_count(record->modes[k].cells);
    return count;
}

/* Weight, first cell, origin and edges of each mode. */
static void put_modes(gbees_hdf5 *file, const gbees_record *record)
{
    const hsize_t n = (hsize_t)record->problem->dimension, count = (hsize_t)record->mode_count;
    double weight[GBEES_MODES_MOST], origin[GBEES_MODES_MOST * GBEES_MAX_DIM],
        edges[GBEES_MODES_MOST * GBEES_MAX_ENTRIES];
    int64_t first[GBEES_MODES_MOST], cells = 0;

    for (hsize_t k = 0; k < count; k++) {
        const gbees_record_mode *mode = &record->modes[k];

        weight[k] = mode->weight;
        first[k] = cells;
        cells += (int64_t)gbees_cells_count(mode->cells);
        memcpy(origin + k * n, mode->problem->centre, n * sizeof *origin);
        memcpy(edges + k * n * n, mode->problem->rotation, n * n * sizeof *edges);
    }
    gbees_hdf5_group(file, "grid/modes");
    gbees_hdf5_dataset(file, "grid/modes/weight", H5T_NATIVE_DOUBLE, 1, &count, NULL, weight);
    gbees_hdf5_dataset(file, "grid/modes/first", H5T_NATIVE_INT64, 1, &count, NULL, first);
    gbees_hdf5_dataset(file, "grid/modes/origin", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){count, n}, NULL, origin);
    gbees_hdf5_dataset(file, "grid/modes/R", H5T_NATIVE_DOUBLE, 3, (hsize_t[]){count, n, n}, NULL, edges);
}

/* Memory for blocks of `most` cells. Returns 1 if there is none. */
static int open_block(block *cells, size_t most, size_t n)
{
    *cells = (block){0, malloc((most * n + 1) * sizeof *cells->index), malloc((most + 1) * sizeof *cells->p),
                     malloc((most + 1) * sizeof *cells->reals), malloc((most * n + 1) * sizeof *cells->x)};
    return !cells->index || !cells->p || !cells->reals || !cells->x;
}

static void close_block(block *cells)
{
    free(cells->index);
    free(cells->p);
    free(cells->reals);
    free(cells->x);
}

/* Unpacks the next cells of a part to places next->at ... of a block, up to the block's end, or that of the cells
 * that are in memory. `next` is the first of them; it is set to what follows the last. */
static void fill_some(gbees_hdf5 *file, const block *cells, segment *next)
{
    filling f = {.to = cells};
    const size_t space = cells->count - next->at;
    size_t end;
    gbees_error error;

    if (gbees_cells_hold(next->part->cells, next->first, &end, &error)) {
        gbees_hdf5_reject(file, error.status, error.text);
        return;
    }
    end = end - next->first < space ? end : next->first + space;
    for (; next->first < end; next->first += next->count) {
        next->count = end - next->first < CHUNK ? end - next->first : CHUNK;
        f.list[f.count++] = *next;
        next->at += next->count;
    }
    if (end == gbees_cells_count(next->part->cells)) {
        next->first = 0;
        next->part++;
    }
    gbees_workers_run(gbees_workers_worth(file->threads, (double)space * CELL_NS), f.count, fill_segment, &f);
}

/* Unpacks the next cells->count cells of all parts, one part after the other. */
static void fill_block(gbees_hdf5 *file, const block *cells, segment *next)
{
    next->at = 0;
    while (next->at < cells->count && !file->status)
        fill_some(file, cells, next);
}

void gbees_record_cells_put(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    const gbees_record_mode whole = {.problem = problem, .weight = 1, .cells = record->cells};
    const hid_t real = problem->numerics.precision == GBEES_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    const size_t total = gbees_record_cells_count(record), n = (size_t)problem->dimension;
    segment next = {.part = record->modes ? record->modes : &whole};
    block cells;

    put_grid(file, problem);
    if (record->modes)
        put_modes(file, record);
    gbees_hdf5_group(file, "pdf");
    gbees_hdf5_dataset(file, "pdf/index", H5T_NATIVE_INT32, 2, (hsize_t[]){n, total}, (hsize_t[]){n, CHUNK}, NULL);
    gbees_hdf5_dataset(file, "pdf/p", real, 1, (hsize_t[]){total}, (hsize_t[]){CHUNK}, NULL);
    if (gbees_xdmf_applies(problem->dimension))
        gbees_hdf5_dataset(file, "pdf/x", H5T_NATIVE_FLOAT, 2, (hsize_t[]){total, n}, (hsize_t[]){CHUNK, n}, NULL);
    if (open_block(&cells, total < BLOCK ? total : BLOCK, n))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    for (size_t first = 0; first < total && !file->status; first += BLOCK) {
        cells.count = total - first < BLOCK ? total - first : BLOCK;
        fill_block(file, &cells, &next);
        if (!file->status)
            put_block(file, problem, &cells, first);
    }
    close_block(&cells);
}
