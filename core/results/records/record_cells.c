/* record_cells.c - unpacks a record's cells block by block, on threads, and writes indices, centres and P; the
 * grid's origin and edges are small datasets beside them. */
#include "record_cells.h"
#include "base/workers.h"
#include "results/hdf5/hdf5_scale.h"
#include "run_file.h"
#include "xdmf.h"
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 65536, /* cells of a chunk of the file */
    BLOCKS = 48,   /* chunks that are unpacked and written at a time, at most: some for each of 16 threads */
    CELL_NS = 10   /* to unpack a cell takes about as long */
};

/* Origin [n], widths [n] and axes [n][n] of a grid. Returns how many numbers they are. */
static size_t list_numbers(const gbees_problem *problem, double *numbers)
{
    const size_t n = (size_t)problem->dimension;
    double *rotation = numbers + 2 * n;

    memcpy(numbers, problem->rotated ? problem->centre : problem->mean, n * sizeof *numbers);
    memcpy(numbers + n, problem->width, n * sizeof *numbers);
    for (size_t j = 0; j < n * n; j++)
        rotation[j] = problem->rotated ? problem->rotation[j] : (double)(j % (n + 1) == 0);
    return 2 * n + n * n;
}

static void write_grid(gbees_hdf5 *file, const gbees_problem *problem, const double *numbers)
{
    const hsize_t n = (hsize_t)problem->dimension, square[] = {n, n};
    const char *names[GBEES_MAX_DIM], *units[GBEES_MAX_DIM];

    for (hsize_t j = 0; j < n; j++) {
        names[j] = problem->model->states[j].name;
        units[j] = problem->model->states[j].unit;
    }
    gbees_hdf5_group(file, "grid");
    gbees_hdf5_dataset(file, "grid/origin", H5T_NATIVE_DOUBLE, 1, &n, NULL, numbers);
    gbees_hdf5_scale_attach(file, "grid/origin", 1, (const char *[]){"state"});
    gbees_hdf5_dataset(file, "grid/h", H5T_NATIVE_DOUBLE, 1, &n, NULL, numbers + n);
    gbees_hdf5_scale_attach(file, "grid/h", 1, (const char *[]){"axis"});
    gbees_hdf5_dataset(file, "grid/R", H5T_NATIVE_DOUBLE, 2, square, NULL, numbers + 2 * n);
    gbees_hdf5_scale_attach(file, "grid/R", 2, (const char *[]){"state", "axis"});
    gbees_hdf5_texts(file, "grid/names", n, names);
    gbees_hdf5_texts(file, "grid/units", n, units);
}

/* Records of run.h5 share the group if they have the same grid. */
static void put_grid(gbees_hdf5 *file, const gbees_problem *problem)
{
    double numbers[GBEES_RUN_NUMBERS];
    const size_t count = list_numbers(problem, numbers);

    if (!file->run || !gbees_run_file_share_grid(file->run, file->id, numbers, count)) {
        write_grid(file, problem, numbers);
        if (file->run && !file->status)
            gbees_run_file_keep_grid(file->run, file->id, numbers, count);
    }
    gbees_hdf5_alias(file, "grid/origin", "origin");
    gbees_hdf5_alias(file, "grid/h", "h");
    gbees_hdf5_alias(file, "grid/R", "R");
}

/* A block of cells, unpacked: index [n][count], p, and what of it goes to the file. */
typedef struct block {
    size_t count;
    int32_t *index;
    double *p;
    float *reals; /* p in single precision */
    float *x;     /* centres [count][n] */
} block;

/* Cells first ... first + count - 1 of a record, and their place in a block. */
typedef struct segment {
    size_t first, count, at;
} segment;

typedef struct filling {
    const gbees_record *record;
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
    const gbees_problem *problem = f->record->problem;
    const segment *s = &f->list[item];
    const block *to = f->to;
    int32_t *columns[GBEES_MAX_DIM];

    for (size_t j = 0; j < (size_t)problem->dimension; j++)
        columns[j] = to->index + j * to->count + s->at;
    gbees_cells_copy(f->record->cells, s->first, s->count, columns, to->p + s->at);
    for (size_t i = s->at; i < s->at + s->count; i++)
        to->reals[i] = (float)to->p[i];
    if (gbees_xdmf_applies(problem->dimension))
        place_centres(problem, to, s);
}

/* The three datasets of cells: their types and shapes in the file, and in memory. */
typedef struct cell_sets {
    hid_t index, p;
    size_t total;
} cell_sets;

/* Names a dataset's axes, and gives it another name, in the record's group: as a table of cells xarray opens that. */
static void name_axes(gbees_hdf5 *file, const char *name, const char *other, int rank, const char *const *axes)
{
    gbees_hdf5_scale_attach(file, name, rank, axes);
    gbees_hdf5_alias(file, name, other);
}

/* Makes the datasets; `cells` are all there are, or NULL: put_block() writes them. */
static void make_sets(gbees_hdf5 *file, const gbees_problem *problem, const cell_sets *sets, const block *cells)
{
    const hsize_t n = (hsize_t)problem->dimension, total = sets->total;
    const int is_double = sets->p == H5T_NATIVE_DOUBLE;
    const void *p = !cells ? NULL : is_double ? (const void *)cells->p : cells->reals;

    gbees_hdf5_dataset_as(file, "pdf/index", sets->index, H5T_NATIVE_INT32, 2, (hsize_t[]){n, total},
                          (hsize_t[]){n, CHUNK}, cells ? cells->index : NULL);
    name_axes(file, "pdf/index", "index", 2, (const char *[]){"axis", "cell"});
    gbees_hdf5_dataset(file, "pdf/p", sets->p, 1, &total, (hsize_t[]){CHUNK}, p);
    name_axes(file, "pdf/p", "p", 1, (const char *[]){"cell"});
    if (!gbees_xdmf_applies(problem->dimension))
        return;
    gbees_hdf5_dataset(file, "pdf/x", H5T_NATIVE_FLOAT, 2, (hsize_t[]){total, n}, (hsize_t[]){CHUNK, n},
                       cells ? cells->x : NULL);
    name_axes(file, "pdf/x", "x", 2, (const char *[]){"cell", "state"});
}

static void put_block(gbees_hdf5 *file, const gbees_problem *problem, const cell_sets *sets, const block *cells,
                      hsize_t first)
{
    const hsize_t n = (hsize_t)problem->dimension, count = cells->count;
    const int is_double = sets->p == H5T_NATIVE_DOUBLE;

    gbees_hdf5_write(file, "pdf/index", H5T_NATIVE_INT32, 2, (hsize_t[]){0, first}, (hsize_t[]){n, count},
                     cells->index);
    gbees_hdf5_write(file, "pdf/p", sets->p, 1, &first, &count, is_double ? (const void *)cells->p : cells->reals);
    if (gbees_xdmf_applies(problem->dimension))
        gbees_hdf5_write(file, "pdf/x", H5T_NATIVE_FLOAT, 2, (hsize_t[]){first, 0}, (hsize_t[]){count, n}, cells->x);
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

/* Unpacks the next cells to places next->at ... of a block, up to the block's end, or that of the cells that are in
 * memory. `next` is the first of them; it is set to what follows the last. */
static void fill_some(gbees_hdf5 *file, const gbees_record *record, const block *cells, segment *next)
{
    filling f = {.record = record, .to = cells};
    const size_t space = cells->count - next->at;
    size_t end;
    gbees_error error;

    if (gbees_cells_hold(record->cells, next->first, &end, &error)) {
        gbees_hdf5_reject(file, error.status, error.text);
        return;
    }
    end = end - next->first < space ? end : next->first + space;
    for (; next->first < end; next->first += next->count) {
        next->count = end - next->first < CHUNK ? end - next->first : CHUNK;
        f.list[f.count++] = *next;
        next->at += next->count;
    }
    gbees_workers_run(gbees_workers_worth(file->threads, (double)space * CELL_NS), f.count, fill_segment, &f);
}

/* Unpacks the next cells->count cells. */
static void fill_block(gbees_hdf5 *file, const gbees_record *record, const block *cells, segment *next)
{
    next->at = 0;
    while (next->at < cells->count && !file->status)
        fill_some(file, record, cells, next);
}

/* The type of indices: of 2 bytes, if they all fit into them. */
static hid_t index_type(const gbees_record *record)
{
    int is_narrow = 1;

    for (int j = 0; j < record->problem->dimension && gbees_cells_count(record->cells) > 0; j++) {
        int32_t lowest, highest;

        gbees_cells_range(record->cells, j, &lowest, &highest);
        is_narrow = is_narrow && lowest >= INT16_MIN && highest <= INT16_MAX;
    }
    return is_narrow ? H5T_NATIVE_INT16 : H5T_NATIVE_INT32;
}

/* Cells that are unpacked at a time: some chunks for each thread, which the processor's caches hold better. */
static size_t block_of(int threads)
{
    const int chunks = 2 * (threads > 1 ? threads : 1);

    return (size_t)(chunks < BLOCKS ? chunks : BLOCKS) * CHUNK;
}

/* Unpacks and writes cells block by block: the first makes the datasets, and is all of a small record. */
static void put_cells(gbees_hdf5 *file, const gbees_record *record, const cell_sets *sets, block *cells, size_t most)
{
    const gbees_problem *problem = record->problem;
    const int at_once = sets->total <= most;
    segment next = {0};

    if (!at_once)
        make_sets(file, problem, sets, NULL);
    for (size_t first = 0; first < sets->total && !file->status; first += most) {
        cells->count = sets->total - first < most ? sets->total - first : most;
        fill_block(file, record, cells, &next);
        if (!file->status && !at_once)
            put_block(file, problem, sets, cells, first);
    }
    if (at_once && !file->status)
        make_sets(file, problem, sets, cells);
}

void gbees_record_cells_put(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    const cell_sets sets = {.index = index_type(record),
                            .p = problem->numerics.precision == GBEES_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT,
                            .total = gbees_cells_count(record->cells)};
    const size_t most = block_of(file->threads);
    block cells;

    put_grid(file, record->problem);
    gbees_hdf5_group(file, "pdf");
    if (open_block(&cells, sets.total < most ? sets.total : most, (size_t)problem->dimension))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    else
        put_cells(file, record, &sets, &cells, most);
    close_block(&cells);
}
