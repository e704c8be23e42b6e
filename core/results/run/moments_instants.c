/* moments_instants.c - the group `instants` of moments.h5: the jumps of a run's state. */
#include "moments.h"
#include "results/hdf5/hdf5_scale.h"
#include <math.h>
#include <stdlib.h>

enum { CHUNK = 4096 };

/* The jumps as columns. */
typedef struct columns {
    size_t count, size; /* jumps; components of the longest value */
    double *time, *value;
    const char **name;
} columns;

static void free_columns(columns *c)
{
    free(c->time);
    free(c->value);
    free(c->name);
}

/* Returns 0 if there is no memory. */
static int make_columns(const gbees_problem *problem, columns *c)
{
    c->count = (size_t)problem->instant_count;
    for (size_t i = 0; i < c->count; i++)
        if (c->size < (size_t)problem->instants[i].size)
            c->size = (size_t)problem->instants[i].size;
    c->time = malloc((c->count + 1) * sizeof *c->time);
    c->value = malloc((c->count * c->size + 1) * sizeof *c->value);
    c->name = malloc((c->count + 1) * sizeof *c->name);
    if (!c->time || !c->value || !c->name)
        return 0;
    for (size_t i = 0; i < c->count; i++) {
        const gbees_instant *instant = &problem->instants[i];

        c->time[i] = instant->time;
        c->name[i] = gbees_instant_name(problem, instant);
        for (size_t k = 0; k < c->size; k++)
            c->value[i * c->size + k] = k < (size_t)instant->size ? instant->value[k] : NAN;
    }
    return 1;
}

void gbees_moments_put_instants(gbees_hdf5 *file, const gbees_problem *problem)
{
    static const char *const axes[] = {"instants/time", "instants/component"};
    columns c = {0};

    if (problem->instant_count == 0 || file->status)
        return;
    if (!make_columns(problem, &c)) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    } else {
        const hsize_t size[] = {c.count, c.size}, chunk[] = {CHUNK, GBEES_MAX_DIM};

        gbees_hdf5_group(file, "instants");
        gbees_hdf5_dataset(file, "instants/time", H5T_NATIVE_DOUBLE, 1, size, chunk, c.time);
        gbees_hdf5_scale_set(file, "instants/time");
        if (c.size > 0) {
            gbees_hdf5_dataset(file, "instants/value", H5T_NATIVE_DOUBLE, 2, size, chunk, c.value);
            gbees_hdf5_dimension(file, "instants/component", c.size);
            gbees_hdf5_scale_attach(file, "instants/value", 2, axes);
        }
        gbees_hdf5_characters(file, "instants/jump", c.count, c.name, "instants/time", "instants/jump_letter");
    }
    free_columns(&c);
}
