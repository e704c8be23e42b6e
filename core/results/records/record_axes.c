/* record_axes.c - makes the dimension scales of a record's datasets, and stores the states' names and units as
 * attributes. */
#include "record_axes.h"
#include "results/hdf5/hdf5_scale.h"

/* Names and units of the states, as attributes: no list of strings is a dataset that both netCDF and Octave read. */
static void put_states(gbees_hdf5 *file, const gbees_problem *problem)
{
    const size_t n = (size_t)problem->dimension;
    const char *names[GBEES_MAX_DIM], *units[GBEES_MAX_DIM];

    for (size_t j = 0; j < n; j++) {
        names[j] = problem->model->states[j].name;
        units[j] = problem->model->states[j].unit;
    }
    gbees_hdf5_attribute_texts(file, "/", "state_names", n, names);
    gbees_hdf5_attribute_texts(file, "/", "state_units", n, units);
}

void gbees_record_axes_put(gbees_hdf5 *file, const gbees_record *record)
{
    const hsize_t n = (hsize_t)record->problem->dimension;

    put_states(file, record->problem);
    gbees_hdf5_shared_dimension(file, "state", n);
    gbees_hdf5_shared_dimension(file, "axis", n);
    gbees_hdf5_dimension(file, "cell", gbees_cells_count(record->cells));
    if (record->samples)
        gbees_hdf5_shared_dimension(file, "sample", record->samples->count);
}
