/* moments_measured.c - the groups `measured` and `instants` of moments.h5: what was measured in a run, to be drawn
 * beside its density, and the jumps of its state. */
#include "moments.h"
#include "results/hdf5/hdf5_scale.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 4096 };

/* Measurements that are reached, or jumps, as columns. */
typedef struct columns {
    size_t count, size; /* rows; components of the longest value */
    double *time, *value, *std;
    int64_t *function;
    const char **name;
} columns;

static void free_columns(columns *c)
{
    free(c->time);
    free(c->value);
    free(c->std);
    free(c->function);
    free(c->name);
}

/* Allocates c->count rows. A failure is noted in the file; returns whether there is memory. */
static int make_columns(gbees_hdf5 *file, columns *c)
{
    c->time = malloc((c->count + 1) * sizeof *c->time);
    c->function = malloc((c->count + 1) * sizeof *c->function);
    c->name = malloc((c->count + 1) * sizeof *c->name);
    c->value = malloc((c->count * c->size + 1) * sizeof *c->value);
    c->std = malloc((c->count * c->size + 1) * sizeof *c->std);
    if (c->time && c->function && c->name && c->value && c->std)
        return 1;
    gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    return 0;
}

/* Writes a column of a group, along its times, and its values along components, too. */
static void put_column(gbees_hdf5 *file, const char *group, const char *column, hid_t type, const columns *c,
                       const void *data)
{
    const hsize_t size[] = {c->count, c->size}, chunk[] = {CHUNK, GBEES_MAX_DIM};
    const int rank = data == c->value || data == c->std ? 2 : 1;
    char name[64], time[64], component[64];

    (void)snprintf(name, sizeof name, "%s/%s", group, column);
    (void)snprintf(time, sizeof time, "%s/time", group);
    (void)snprintf(component, sizeof component, "%s/component", group);
    gbees_hdf5_dataset(file, name, type, rank, size, chunk, data);
    if (data == c->time)
        gbees_hdf5_scale_set(file, name);
    else
        gbees_hdf5_scale_attach(file, name, rank, (const char *[]){time, component});
}

/* ---- measurements ---------------------------------------------------------------------------------------------- */

static void fill_measured(const gbees_problem *problem, columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const gbees_measurement *m = &problem->measurements[i];
        const size_t size = (size_t)m->size;

        c->time[i] = m->time;
        c->function[i] = m->function;
        for (size_t k = 0; k < c->size; k++) {
            const int is_there = k < size && !(m->missing >> k & 1);
            const int has_noise = is_there && m->likelihood != GBEES_LIKELIHOOD_MODEL;

            c->value[i * c->size + k] = is_there ? m->value[k] : NAN;
            c->std[i * c->size + k] = has_noise ? sqrt(m->covariance[k * size + k]) : NAN;
        }
    }
}

/* The names of all functions' components, `size` for each function; "" for those that it does not have. */
static void put_names(gbees_hdf5 *file, const gbees_model *model, size_t size)
{
    const size_t count = (size_t)model->measurement_count * size;
    const char **names = calloc(count + 1, sizeof *names);

    if (!names) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const gbees_measurement_function *function = &model->measurements[i / size];
        const size_t k = i % size;

        if (k < (size_t)function->size && function->components)
            names[i] = function->components[k].name;
        else if (k == 0 && function->size == 1)
            names[i] = function->name;
    }
    gbees_hdf5_dimension(file, "measured/name", count);
    gbees_hdf5_characters(file, "measured/component_name", count, names, "measured/name", "measured/name_letter");
    free(names);
}

void gbees_moments_put_measured(gbees_hdf5 *file, const gbees_problem *problem)
{
    columns c = {0};

    while (c.count < (size_t)problem->measurement_count && problem->measurements[c.count].time <= problem->end)
        if (c.size < (size_t)problem->measurements[c.count++].size)
            c.size = (size_t)problem->measurements[c.count - 1].size;
    if (c.count > 0 && !file->status && make_columns(file, &c)) {
        fill_measured(problem, &c);
        gbees_hdf5_group(file, "measured");
        put_column(file, "measured", "time", H5T_NATIVE_DOUBLE, &c, c.time);
        put_column(file, "measured", "function", H5T_NATIVE_INT64, &c, c.function);
        gbees_hdf5_dimension(file, "measured/component", c.size);
        put_column(file, "measured", "value", H5T_NATIVE_DOUBLE, &c, c.value);
        put_column(file, "measured", "std", H5T_NATIVE_DOUBLE, &c, c.std);
        put_names(file, problem->model, c.size);
    }
    free_columns(&c);
}

/* ---- jumps ----------------------------------------------------------------------------------------------------- */

static void fill_instants(const gbees_problem *problem, columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const gbees_instant *instant = &problem->instants[i];

        c->time[i] = instant->time;
        c->name[i] = gbees_instant_name(problem, instant);
        for (size_t k = 0; k < c->size; k++)
            c->value[i * c->size + k] = k < (size_t)instant->size ? instant->value[k] : NAN;
    }
}

void gbees_moments_put_instants(gbees_hdf5 *file, const gbees_problem *problem)
{
    columns c = {.count = (size_t)problem->instant_count};

    for (size_t i = 0; i < c.count; i++)
        if (c.size < (size_t)problem->instants[i].size)
            c.size = (size_t)problem->instants[i].size;
    if (c.count > 0 && !file->status && make_columns(file, &c)) {
        fill_instants(problem, &c);
        gbees_hdf5_group(file, "instants");
        put_column(file, "instants", "time", H5T_NATIVE_DOUBLE, &c, c.time);
        if (c.size > 0) {
            gbees_hdf5_dimension(file, "instants/component", c.size);
            put_column(file, "instants", "value", H5T_NATIVE_DOUBLE, &c, c.value);
        }
        gbees_hdf5_characters(file, "instants/jump", c.count, c.name, "instants/time", "instants/jump_letter");
    }
    free_columns(&c);
}
