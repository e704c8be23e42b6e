/* initial.c - the scenario's key `initial`: a mixture of Gaussians, or a record of an earlier run. */
#include "builder.h"
#include "results/folder/folder.h"
#include "results/folder/record_name.h"
#include "results/records/record_file.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a mixture -------------------------------------------------------------------------------------------- */

static int set_gaussian(const builder *b, const gbees_node *map, size_t number, gbees_gaussian *gaussian)
{
    const gbees_node *weight = gbees_node_find(map, "weight");
    char part[64];
    int n = b->problem->dimension;

    gaussian->weight = weight ? gbees_node_number(weight) : 1;
    (void)snprintf(part, sizeof part, "initial %zu: mean", number);
    int status = gbees_node_numbers(gbees_node_find(map, "mean"), part, n, b->size, gaussian->mean, b->error);
    (void)snprintf(part, sizeof part, "initial %zu: covariance", number);
    if (!status)
        status =
            builder_covariance(gbees_node_find(map, "covariance"), part, n, b->size, gaussian->covariance, b->error);
    return status;
}

/* Sets the mixture's mean and covariance; scales the weights to a sum of 1. */
static void add_up(gbees_problem *problem, gbees_gaussian *gaussians, double total)
{
    int n = problem->dimension, count = problem->gaussian_count;

    for (int g = 0; g < count; g++) {
        gaussians[g].weight /= total;
        for (int j = 0; j < n; j++)
            problem->mean[j] += gaussians[g].weight * gaussians[g].mean[j];
    }
    for (int g = 0; g < count; g++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                problem->covariance[j * n + k] +=
                    gaussians[g].weight *
                    (gaussians[g].covariance[j * n + k] +
                     (gaussians[g].mean[j] - problem->mean[j]) * (gaussians[g].mean[k] - problem->mean[k]));
}

static int set_mixture(builder *b, const gbees_node *list)
{
    gbees_gaussian *gaussians = calloc(list->count, sizeof *gaussians);
    double total = 0;
    int status = gaussians ? GBEES_OK : builder_no_memory(b);

    b->problem->gaussians = gaussians;
    for (size_t i = 0; !status && i < list->count; i++) {
        status = set_gaussian(b, list->items[i], i + 1, &gaussians[i]);
        total += gaussians[i].weight;
    }
    if (!status && !isfinite(total))
        status = gbees_node_error(list, b->error, "initial: the weights add up to %g: give smaller ones", total);
    if (status)
        return status;
    b->problem->gaussian_count = (int)list->count;
    add_up(b->problem, gaussians, total);
    return GBEES_OK;
}

/* A cell's index as an int that is far from overflowing. */
static int whole(double index)
{
    return (int)fmin(fmax(round(index), -INT_MAX / 4), INT_MAX / 4);
}

/* Sets the box of a Gaussian, cut to the ranges of the axes; returns its number of cells. */
static double set_box(const gbees_problem *problem, const double *extent, gbees_gaussian *gaussian)
{
    double cells = 1;

    for (int j = 0; j < problem->dimension; j++) {
        const gbees_axis_range *range = &problem->range[j];
        const double middle = gaussian->mean[j] - problem->mean[j];
        const double half = extent[j] * sqrt(gaussian->covariance[j * problem->dimension + j]);
        int lo = whole((middle - half) / problem->width[j]), hi = whole((middle + half) / problem->width[j]);

        if (range->end[0] != GBEES_END_OPEN && lo < range->first)
            lo = range->first;
        if (range->end[1] != GBEES_END_OPEN && hi > range->last)
            hi = range->last;
        gaussian->lo[j] = lo;
        gaussian->hi[j] = hi;
        cells *= fmax((double)hi - lo + 1, 0);
    }
    return cells;
}

double builder_set_boxes(builder *b, const double *extent)
{
    gbees_problem *problem = b->problem;
    gbees_gaussian *gaussians = (gbees_gaussian *)problem->gaussians;
    const int count = problem->gaussian_count;
    double all = 0;

    memset(problem->extent, 0, sizeof problem->extent);
    problem->gaussian_count = 0;
    for (int g = 0; g < count; g++) {
        const double cells = set_box(problem, extent, &gaussians[g]);

        for (int j = 0; j < problem->dimension && cells > 0; j++) {
            const int lo = abs(gaussians[g].lo[j]), hi = abs(gaussians[g].hi[j]), far = lo > hi ? lo : hi;

            problem->extent[j] = far > problem->extent[j] ? far : problem->extent[j];
        }
        all += cells;
        if (cells > 0) /* else an image, of which nothing is in the range */
            gaussians[problem->gaussian_count++] = gaussians[g];
    }
    return all;
}

/* ---- a record --------------------------------------------------------------------------------------------- */

static int is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int has(const char *folder, const char *name)
{
    char *path = gbees_folder_join(folder, name);
    const int found = path && access(path, F_OK) == 0;

    free(path);
    return found;
}

/* Reads a record of this name, leg1_record0, from a file of its own or from the run's one file. */
static int read_named(const char *folder, const char *record, gbees_snapshot **snapshot, gbees_error *error)
{
    gbees_record_name name;
    char text[GBEES_RECORD_NAME];

    (void)snprintf(text, sizeof text, "%.50s.h5", record);
    if (!has(folder, text) && has(folder, GBEES_RUN_FILE) && gbees_record_name_read(text, &name) == 0) {
        name.grouped = 1;
        gbees_record_name_write(&name, text);
    }
    char *path = gbees_folder_join(folder, text);
    const int status = path ? gbees_record_file_read(path, snapshot, error)
                            : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", text);
    free(path);
    return status;
}

/* Reads a record of a folder: "last", its number among all, or its name, leg1_record0. */
static int read_from_folder(const char *path, const char *record, gbees_snapshot **snapshot, gbees_error *error)
{
    gbees_results *results = NULL;
    double number;

    if (strncmp(record, "leg", 3) == 0)
        return read_named(path, record, snapshot, error);
    int status = gbees_results_open(path, &results, error);
    if (status)
        return status;
    size_t count = gbees_results_count(results), wanted = count - 1;
    if (strcmp(record, "last") != 0) {
        if (!gbees_number_read(record, &number) || number != floor(number) || number < 0)
            status = gbees_error_set(error, GBEES_EINPUT,
                                     "expected 'last', a number from 0 or a name as 'leg1_record0', found '%.40s'",
                                     record);
        else if (number >= (double)count)
            status = gbees_error_set(error, GBEES_EINPUT, "there is no record %s in %s: it has 0 to %zu", record,
                                     path, count - 1);
        else
            wanted = (size_t)number;
    } else if (gbees_results_lost(results))
        status =
            gbees_error_set(error, GBEES_EINPUT, "%s: so its last record is not known: name one, as leg1_record0",
                            gbees_results_lost(results));
    if (!status)
        status = gbees_results_read(results, wanted, snapshot, error);
    gbees_results_destroy(results);
    return status;
}

static int read_record(const builder *b, const gbees_node *map, gbees_snapshot **snapshot)
{
    const gbees_node *file = gbees_node_find(map, "file"), *record = gbees_node_find(map, "record");
    gbees_error cause = {0};
    int folder = is_folder(file->text), status;

    if (record && !folder)
        return gbees_node_error(record, b->error, "initial: record: %s is no folder with several: leave it out",
                                file->text);
    status = folder ? read_from_folder(file->text, record ? record->text : "last", snapshot, &cause)
                    : gbees_record_file_read(file->text, snapshot, &cause);
    return status ? gbees_node_error(record ? record : file, b->error, "initial: %s: %s", record ? "record" : "file",
                                     cause.text)
                  : GBEES_OK;
}

static int check_model(const builder *b, const gbees_node *file, const gbees_snapshot *snapshot)
{
    const gbees_model *model = b->model;

    if (strcmp(snapshot->model, model->name) != 0)
        return gbees_node_error(file, b->error, "initial: file: %s is of the model '%s', this is '%s'", file->text,
                                snapshot->model, model->name);
    if (snapshot->dimension != b->problem->dimension)
        return gbees_node_error(file, b->error, "initial: file: %s has %d states, not %d", file->text,
                                snapshot->dimension, b->problem->dimension);
    for (int j = 0; j < snapshot->dimension; j++)
        if (strcmp(snapshot->name[j], model->states[j].name) != 0)
            return gbees_node_error(file, b->error, "initial: file: state %d of %s is '%s', that of the model '%s'",
                                    j + 1, file->text, snapshot->name[j], model->states[j].name);
    return GBEES_OK;
}

/* Returns -1, 0 or 1 if cell i - 1 comes before cell i, is the same, or comes after it. */
static int order_of(const gbees_snapshot *snapshot, size_t i)
{
    for (int j = 0; j < snapshot->dimension; j++)
        if (snapshot->index[j][i - 1] != snapshot->index[j][i])
            return snapshot->index[j][i - 1] < snapshot->index[j][i] ? -1 : 1;
    return 0;
}

static int is_sound(const gbees_snapshot *snapshot)
{
    double sum = 0;
    int sound = snapshot->count > 0;

    for (size_t i = 0; i < snapshot->count && sound; i++) {
        sound = snapshot->p[i] > 0 && isfinite(snapshot->p[i]) && (i == 0 || order_of(snapshot, i) < 0);
        for (int j = 0; j < snapshot->dimension; j++)
            sound = sound && snapshot->index[j][i] > -INT_MAX / 4 && snapshot->index[j][i] < INT_MAX / 4;
        sum += snapshot->p[i];
    }
    for (int j = 0; j < snapshot->dimension; j++)
        sound = sound && isfinite(snapshot->origin[j]) && isnormal(snapshot->width[j]) && snapshot->width[j] > 0;
    return sound && sum < 1.001 && isfinite(snapshot->time);
}

/* Sets the grid, and mean and covariance of the cells, which are for reports. */
static void set_grid(gbees_problem *problem, const gbees_snapshot *snapshot)
{
    int n = problem->dimension;
    double sum = 0, mean[GBEES_MAX_DIM] = {0};

    for (size_t i = 0; i < snapshot->count; i++) {
        sum += snapshot->p[i];
        for (int j = 0; j < n; j++) {
            int index = snapshot->index[j][i];

            mean[j] += snapshot->p[i] * index;
            problem->extent[j] = abs(index) > problem->extent[j] ? abs(index) : problem->extent[j];
        }
    }
    for (size_t i = 0; i < snapshot->count; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                problem->covariance[j * n + k] += snapshot->p[i] / sum * snapshot->width[j] * snapshot->width[k] *
                                                  (snapshot->index[j][i] - mean[j] / sum) *
                                                  (snapshot->index[k][i] - mean[k] / sum);
    for (int j = 0; j < n; j++) {
        problem->mean[j] = snapshot->origin[j];
        problem->width[j] = snapshot->width[j];
    }
}

/* Moves the snapshot's cells to the problem. */
static int take_cells(const builder *b, gbees_snapshot *snapshot)
{
    gbees_initial_cells *cells = calloc(1, sizeof *cells);

    if (!cells)
        return builder_no_memory(b);
    cells->count = snapshot->count;
    cells->mass = 1;
    cells->time = snapshot->time;
    cells->steps = snapshot->step;
    if (snapshot->certified)
        cells->error = fmax(
            0, gbees_certificate_error(&snapshot->certificate, snapshot->dimension, GBEES_ACCURACY_MOMENTS).bound);
    memcpy(cells->index, snapshot->index, sizeof cells->index);
    cells->p = snapshot->p;
    memset(snapshot->index, 0, sizeof snapshot->index);
    snapshot->p = NULL;
    b->problem->cells = cells;
    return GBEES_OK;
}

static int set_record(builder *b, const gbees_node *map)
{
    static const char *const grid_keys[] = {"factor", "width", "extent"};
    const gbees_node *file = gbees_node_find(map, "file"), *updated = gbees_node_find(map, "updated");
    gbees_snapshot *snapshot = NULL;

    for (size_t k = 0; k < sizeof grid_keys / sizeof *grid_keys; k++)
        if (builder_find(b, grid_keys[k]) &&
            !(k == 0 && builder_is_set(b, "frame", "moving"))) /* cells a deviation */
            return gbees_node_error(builder_find(b, grid_keys[k]), b->error,
                                    "%s: the grid is that of the initial record: leave it out", grid_keys[k]);
    int status = read_record(b, map, &snapshot);
    if (!status)
        status = check_model(b, file, snapshot);
    if (!status && !is_sound(snapshot))
        status = gbees_node_error(file, b->error,
                                  "initial: file: the cells of %s are not those of a density: it is "
                                  "damaged",
                                  file->text);
    if (!status) {
        set_grid(b->problem, snapshot);
        b->problem->steps_before = snapshot->step;
        b->start = snapshot->time;
        b->resumed = 1;
        b->updated = updated ? strcmp(updated->text, "yes") == 0 : snapshot->leg > 0 && snapshot->number == 0;
        status = take_cells(b, snapshot);
    }
    if (!status && snapshot->rotated) {
        memcpy(b->problem->rotation, snapshot->rotation, sizeof b->problem->rotation);
        status = builder_take_frame(b, file);
    }
    gbees_snapshot_destroy(snapshot);
    return status;
}

int builder_set_initial(builder *b)
{
    const gbees_node *initial = builder_find(b, "initial");

    return initial->kind == GBEES_NODE_MAP ? set_record(b, initial) : set_mixture(b, initial);
}
