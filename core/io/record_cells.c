/* record_cells.c - see record_cells.h. */
#include "record_cells.h"
#include "hdf5_util.h"
#include "xdmf.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536 /* cells that are unpacked and written at a time, and a chunk of the file */ };

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

/* Sets the centres of cells at ... at + count - 1 of the block. */
static void place_centres(const gbees_problem *problem, const block *to, size_t at, size_t count)
{
    const size_t n = (size_t)problem->dimension;

    for (size_t i = at; i < at + count; i++) {
        double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

        for (size_t j = 0; j < n; j++)
            y[j] = problem->mean[j] + problem->width[j] * to->index[j * to->count + i];
        gbees_problem_point(problem, y, x);
        for (size_t j = 0; j < n; j++)
            to->x[i * n + j] = (float)x[j];
    }
}

/* Copies cells first ... first + count - 1 of a part to the place `at` of the block. */
static void fill_block(const gbees_record_mode *part, size_t first, size_t count, const block *to, size_t at)
{
    const size_t n = (size_t)part->problem->dimension;
    int32_t *columns[GBEES_MAX_DIM];

    for (size_t j = 0; j < n; j++)
        columns[j] = to->index + j * to->count + at;
    gbees_cells_copy(part->cells, first, count, columns, to->p + at);
    for (size_t i = at; i < at + count; i++)
        to->p[i] *= part->weight;
    if (gbees_xdmf_applies((int)n))
        place_centres(part->problem, to, at, count);
}

static void put_block(gbees_hdf5 *file, const gbees_problem *problem, const block *cells, hsize_t first)
{
    const hsize_t n = (hsize_t)problem->dimension, count = cells->count;

    gbees_hdf5_write(file, "pdf/index", H5T_NATIVE_INT32, 2, (hsize_t[]){0, first}, (hsize_t[]){n, count},
                     cells->index);
    for (hsize_t i = 0; i < count; i++)
        cells->reals[i] = (float)cells->p[i];
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

/* Writes the cells of all parts, one part after the other, in blocks: of these the checksums are made. */
static void put_parts(gbees_hdf5 *file, const gbees_record_mode *part, size_t total, block *cells)
{
    const gbees_problem *problem = part->problem;
    size_t from = 0; /* the first cell of `part` that is to be written */

    for (size_t first = 0; first < total && !file->status; first += BLOCK) {
        cells->count = total - first < BLOCK ? total - first : BLOCK;
        for (size_t at = 0; at < cells->count;) {
            const size_t left = gbees_cells_count(part->cells) - from, space = cells->count - at,
                         count = left < space ? left : space;

            fill_block(part, from, count, cells, at);
            at += count;
            from = count == left ? 0 : from + count;
            part += count == left;
        }
        put_block(file, problem, cells, first);
    }
}

void gbees_record_cells_put(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    const gbees_record_mode whole = {.problem = problem, .weight = 1, .cells = record->cells};
    const hid_t real = problem->numerics.precision == GBEES_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    const size_t total = gbees_record_cells_count(record), n = (size_t)problem->dimension;
    block cells;

    put_grid(file, problem);
    if (record->modes)
        put_modes(file, record);
    gbees_hdf5_group(file, "pdf");
    gbees_hdf5_dataset(file, "pdf/index", H5T_NATIVE_INT32, 2, (hsize_t[]){n, total}, (hsize_t[]){n, BLOCK}, NULL);
    gbees_hdf5_dataset(file, "pdf/p", real, 1, (hsize_t[]){total}, (hsize_t[]){BLOCK}, NULL);
    if (gbees_xdmf_applies(problem->dimension))
        gbees_hdf5_dataset(file, "pdf/x", H5T_NATIVE_FLOAT, 2, (hsize_t[]){total, n}, (hsize_t[]){BLOCK, n}, NULL);
    if (open_block(&cells, total < BLOCK ? total : BLOCK, n))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    put_parts(file, record->modes ? record->modes : &whole, total, &cells);
    close_block(&cells);
}
