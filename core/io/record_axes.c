/* record_axes.c - attaches dimension scales to the datasets of a record, gives some a second name at the root, and
 * stores the states' names and units as attributes. */
#include "record_axes.h"
#include "hdf5_scale.h"
#include "hdf5_util.h"
#include "record_cells.h"
#include "xdmf.h"

/* A dataset's axes, and the name of a link to it in the group; NULL: it is there already. */
typedef struct named {
    const char *name, *link;
    int rank;
    const char *axes[2];
} named;

static void put_named(gbees_hdf5 *file, const named *set)
{
    gbees_hdf5_scale_attach(file, set->name, set->rank, set->axes);
    if (set->link)
        gbees_hdf5_alias(file, set->name, set->link);
}

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
    static const named cells[] = {{"pdf/p", "p", 1, {"cell"}}, {"pdf/index", "index", 2, {"axis", "cell"}}};
    static const named centres = {"pdf/x", "x", 2, {"cell", "state"}};
    static const named grid[] = {
        {"grid/h", "h", 1, {"axis"}}, {"grid/origin", "origin", 1, {"state"}}, {"grid/R", "R", 2, {"state", "axis"}}};
    static const named samples = {"samples", NULL, 2, {"state", "sample"}};
    const int n = record->problem->dimension;

    put_states(file, record->problem);
    gbees_hdf5_dimension(file, "state", (hsize_t)n);
    gbees_hdf5_dimension(file, "axis", (hsize_t)n);
    gbees_hdf5_dimension(file, "cell", gbees_cells_count(record->cells));
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
        put_named(file, &cells[k]);
    if (gbees_xdmf_applies(n))
        put_named(file, &centres);
    for (size_t k = 0; k < sizeof grid / sizeof *grid; k++)
        put_named(file, &grid[k]);
    if (record->samples) {
        gbees_hdf5_dimension(file, "sample", record->samples->count);
        put_named(file, &samples);
    }
}
