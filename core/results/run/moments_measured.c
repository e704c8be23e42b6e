/* moments_measured.c - the group `measured` of moments.h5: what was measured in a run, to be drawn beside its
 * density. */
#include "moments.h"
#include "results/hdf5/hdf5_scale.h"
#include <math.h>
#include <stdlib.h>

enum { CHUNK = 4096 };

/* The measurements as columns. */
typedef struct columns {
    size_t count, size; /* measurements that are reached; components of the largest function */
    double *time, *value, *std;
    int64_t *function;
} columns;

static void free_columns(columns *c)
{
    free(c->time);
    free(c->value);
    free(c->std);
    free(c->function);
}

static void fill(const gbees_problem *problem, columns *c)
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

static int make_columns(const gbees_problem *problem, columns *c)
{
    while (c->count < (size_t)problem->measurement_count && problem->measurements[c->count].time <= problem->end)
        c->count++;
    for (size_t i = 0; i < c->count; i++)
        if (c->size < (size_t)problem->measurements[i].size)
            c->size = (size_t)problem->measurements[i].size;
    c->time = malloc((c->count + 1) * sizeof *c->time);
    c->function = malloc((c->count + 1) * sizeof *c->function);
    c->value = malloc((c->count * c->size + 1) * sizeof *c->value);
    c->std = malloc((c->count * c->size + 1) * sizeof *c->std);
    if (!c->time || !c->function || !c->value || !c->std)
        return 0;
    fill(problem, c);
    return 1;
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
    static const char *const axes[] = {"measured/time", "measured/component"};
    columns c = {0};

    if (!make_columns(problem, &c))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    if (c.count > 0 && !file->status) {
        const hsize_t size[] = {c.count, c.size}, chunk[] = {CHUNK, GBEES_MAX_DIM};

        gbees_hdf5_group(file, "measured");
        gbees_hdf5_dataset(file, "measured/time", H5T_NATIVE_DOUBLE, 1, size, chunk, c.time);
        gbees_hdf5_dataset(file, "measured/function", H5T_NATIVE_INT64, 1, size, chunk, c.function);
        gbees_hdf5_dataset(file, "measured/value", H5T_NATIVE_DOUBLE, 2, size, chunk, c.value);
        gbees_hdf5_dataset(file, "measured/std", H5T_NATIVE_DOUBLE, 2, size, chunk, c.std);
        gbees_hdf5_dimension(file, "measured/component", c.size);
        gbees_hdf5_scale_set(file, "measured/time");
        gbees_hdf5_scale_attach(file, "measured/function", 1, axes);
        gbees_hdf5_scale_attach(file, "measured/value", 2, axes);
        gbees_hdf5_scale_attach(file, "measured/std", 2, axes);
        put_names(file, problem->model, c.size);
    }
    free_columns(&c);
}
