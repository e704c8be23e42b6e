/* compared_write.c - writes compare.h5: doc/results.md, "compare.h5". */
#include "compared.h"
#include "hdf5_scale.h"
#include <gbees/gbees.h>
#include <stdio.h>

enum { CHUNK = 4096, CHUNK_BINNED = 16 };

const char *const gbees_compared_error_names[GBEES_COMPARED_ERRORS] = {"e_m", "e_s", "kolmogorov", "bc"};

/* Writes a dataset whose first axis is `scale`, and the others states or bins. */
static void put(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *size, const void *data,
                const char *scale)
{
    const int is_binned = rank == 3 && size[2] == GBEES_COMPARED_BINS && scale[0] == 'b';
    const char *axes[] = {scale, "state", is_binned ? "bin" : "other_state"};
    const hsize_t chunk[] = {is_binned ? CHUNK_BINNED : CHUNK, GBEES_MAX_DIM, GBEES_COMPARED_BINS};

    gbees_hdf5_dataset(file, name, type, rank, size, chunk, data);
    gbees_hdf5_scale_attach(file, name, rank, axes);
}

static void put_records(gbees_hdf5 *file, const gbees_compared *c)
{
    const hsize_t size = c->count;

    gbees_hdf5_dataset(file, "time", H5T_NATIVE_DOUBLE, 1, &size, (hsize_t[]){CHUNK}, c->time);
    gbees_hdf5_scale_set(file, "time");
    put(file, "leg", H5T_NATIVE_INT64, 1, &size, c->leg, "time");
    put(file, "record", H5T_NATIVE_INT64, 1, &size, c->record, "time");
    if (c->binned > 0) {
        gbees_hdf5_dimension(file, "bin", GBEES_COMPARED_BINS);
        gbees_hdf5_dimension(file, "binned", c->binned);
    }
}

/* Writes names, failures and numbers of all filters. */
static void put_filters(gbees_hdf5 *file, const gbees_compared *c)
{
    static const char *const name[] = {"samples", "wall_s", "log_evidence", "log_evidence_error"};
    const hsize_t size = (hsize_t)c->filters;
    const char *names[GBEES_COMPARED_FILTERS], *failures[GBEES_COMPARED_FILTERS];
    double number[4][GBEES_COMPARED_FILTERS];

    for (int k = 0; k < c->filters; k++) {
        const gbees_compared_filter *f = &c->filter[k];

        names[k] = f->name;
        failures[k] = f->failure;
        number[0][k] = f->samples;
        number[1][k] = f->seconds;
        number[2][k] = f->log_evidence;
        number[3][k] = f->log_evidence_error;
    }
    gbees_hdf5_dimension(file, "filter", size);
    gbees_hdf5_characters(file, "filter_name", size, names, "filter", "filter_name_letter");
    gbees_hdf5_characters(file, "filter_failure", size, failures, "filter", "filter_failure_letter");
    for (int k = 0; k < 4; k++)
        put(file, name[k], H5T_NATIVE_DOUBLE, 1, &size, number[k], "filter");
    put(file, "ratio", H5T_NATIVE_DOUBLE, 1, &size, c->ratio, "filter");
    gbees_hdf5_attribute_text(file, "wall_s", "units", "s");
}

/* Writes a filter's group. */
static void put_filter(gbees_hdf5 *file, const gbees_compared *c, const gbees_compared_filter *f)
{
    const hsize_t n = (hsize_t)c->dimension, size[] = {c->count, n, n};
    const hsize_t binned[] = {c->binned, n, GBEES_COMPARED_BINS};
    char name[3 * GBEES_COMPARED_NAME];

    gbees_hdf5_group(file, f->name);
    (void)snprintf(name, sizeof name, "%s/mean", f->name);
    put(file, name, H5T_NATIVE_DOUBLE, 2, size, f->mean, "time");
    gbees_hdf5_attribute_text(file, name, "coordinates", "state_name state_unit");
    (void)snprintf(name, sizeof name, "%s/covariance", f->name);
    put(file, name, H5T_NATIVE_DOUBLE, 3, size, f->covariance, "time");
    gbees_hdf5_attribute_text(file, name, "coordinates", "state_name state_unit");
    for (int k = 0; k < GBEES_COMPARED_ERRORS; k++) {
        (void)snprintf(name, sizeof name, "%s/%s", f->name, gbees_compared_error_names[k]);
        put(file, name, H5T_NATIVE_DOUBLE, 1, size, f->error[k], "time");
    }
    if (!f->p)
        return;
    (void)snprintf(name, sizeof name, "%s/effective", f->name);
    put(file, name, H5T_NATIVE_DOUBLE, 1, size, f->effective, "time");
    (void)snprintf(name, sizeof name, "%s/bin_first", f->name);
    put(file, name, H5T_NATIVE_DOUBLE, 2, binned, f->first, "binned");
    (void)snprintf(name, sizeof name, "%s/bin_width", f->name);
    put(file, name, H5T_NATIVE_DOUBLE, 2, binned, f->width, "binned");
    (void)snprintf(name, sizeof name, "%s/marginal", f->name);
    put(file, name, H5T_NATIVE_FLOAT, 3, binned, f->p, "binned");
}

int gbees_compared_write(const gbees_compared *compared, const gbees_problem *problem, const gbees_store *store,
                         gbees_error *error)
{
    gbees_hdf5 file;
    const int every = (int)compared->every;
    const int status = gbees_hdf5_create(store, GBEES_COMPARED_FILE, &file, error);

    if (status)
        return status;
    gbees_hdf5_attribute_text(&file, "/", "format", "gbees-comparison");
    gbees_hdf5_attribute(&file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &(int){1});
    gbees_hdf5_attribute_text(&file, "/", "gbees_version", gbees_version());
    gbees_hdf5_attribute(&file, "/", "binned_every", H5T_NATIVE_INT, 0, NULL, &every);
    gbees_hdf5_attribute_text(&file, "/", "answer", compared->answer);
    gbees_hdf5_states(&file, problem->model->states, (size_t)compared->dimension);
    gbees_hdf5_dimension(&file, "other_state", (hsize_t)compared->dimension);
    put_records(&file, compared);
    put_filters(&file, compared);
    for (int k = 0; k < compared->filters; k++)
        put_filter(&file, compared, &compared->filter[k]);
    return gbees_hdf5_commit(&file, error);
}
