/* study.c - see study.h. */
#include "study.h"
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- opening ---------------------------------------------------------------------------------------------- */

static int scenario_open(gbees_study *study, const gbees_study_options *options, const gbees_model *model,
                         gbees_error *error)
{
    gbees_scenario *defaults = NULL;
    char *path = NULL;
    int status;

    if (!options->scenario && asprintf(&path, "%s/scenario.yaml", study->folder) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    status = gbees_scenario_read(options->scenario ? options->scenario : path, &study->scenario, error);
    free(path);
    if (!status && model->scenario_count > 0) {
        status = gbees_scenario_create(model->scenarios[0].text, model->name, &defaults, error);
        if (!status)
            status = gbees_scenario_merge(study->scenario, defaults, error);
        gbees_scenario_destroy(defaults);
    }
    return status;
}

int gbees_study_open(const char *folder, const gbees_study_options *options, gbees_study *study, gbees_error *error)
{
    const gbees_model *model;
    gbees_snapshot *first = NULL;
    int status;

    *study = (gbees_study){.folder = folder};
    status = gbees_results_open(folder, &study->results, error);
    if (!status && gbees_results_count(study->results) == 0)
        status = gbees_error_set(error, GBEES_EINPUT, "%s: no records", folder);
    if (!status)
        status = gbees_results_read(study->results, 0, &first, error);
    if (!status)
        status = gbees_registry_create(options->plugin_path, &study->registry, error);
    if (!status)
        status =
            gbees_registry_model(study->registry, options->plugin ? options->plugin : first->model, &model, error);
    gbees_snapshot_destroy(first);
    if (!status)
        status = scenario_open(study, options, model, error);
    if (!status)
        status = gbees_problem_create(model, study->scenario, &study->problem, error);
    return status;
}

void gbees_study_close(gbees_study *study)
{
    gbees_problem_destroy(study->problem);
    gbees_scenario_destroy(study->scenario);
    gbees_registry_destroy(study->registry);
    gbees_results_destroy(study->results);
}

/* ---- what the run reports --------------------------------------------------------------------------------- */

/* Row `record` of a dataset of `size` numbers a row. */
static int row_read(hid_t file, const char *name, size_t record, size_t size, double *row)
{
    const hsize_t start[3] = {record, 0, 0};
    hsize_t shape[3] = {0, 1, 1}, count[3], total = 1;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space, memory;
    int rank, status = -1;

    if (set < 0)
        return -1;
    space = H5Dget_space(set);
    rank = H5Sget_simple_extent_ndims(space);
    if (rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, shape, NULL) == rank && record < shape[0]) {
        count[0] = 1;
        for (int k = 1; k < rank; k++)
            total *= count[k] = shape[k];
        memory = H5Screate_simple(1, &total, NULL);
        if (total == size && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
            H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, row) >= 0)
            status = 0;
        H5Sclose(memory);
    }
    H5Sclose(space);
    H5Dclose(set);
    return status;
}

int gbees_study_reported(const gbees_study *study, size_t record, gbees_reported *reported, gbees_error *error)
{
    const size_t n = (size_t)study->problem->dimension;
    gbees_reported result = {.mass = 0};
    const struct {
        const char *name;
        size_t size;
        double *to;
    } rows[] = {{"mean", n, result.moments.mean},
                {"covariance", n * n, result.moments.covariance},
                {"mass", 1, &result.mass},
                {"mass_clipped", 1, &result.clipped},
                {"mass_outflow", 1, &result.outflow},
                {"mass_pruned", 1, &result.pruned}};
    const char *missing = NULL;
    char *path = NULL;
    hid_t file;

    if (asprintf(&path, "%s/run.h5", study->folder) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (size_t k = 0; file >= 0 && !missing && k < sizeof rows / sizeof rows[0]; k++)
        missing = row_read(file, rows[k].name, record, rows[k].size, rows[k].to) ? rows[k].name : NULL;
    if (file >= 0)
        H5Fclose(file);
    free(path);
    if (file < 0 || missing)
        return gbees_error_set(error, GBEES_EIO, "%s/run.h5: can't read %s%s of record %zu", study->folder,
                               missing ? "/" : "", missing ? missing : "it for the moments", record);
    for (size_t j = 0; j < n; j++)
        result.moments.std[j] = sqrt(result.moments.covariance[j * n + j]);
    *reported = result;
    return GBEES_OK;
}

int gbees_study_work(const gbees_study *study, gbees_work *work, gbees_error *error)
{
    char *path = NULL;
    json_error_t reason;
    json_t *root;
    int status;

    if (asprintf(&path, "%s/run.json", study->folder) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    root = json_load_file(path, 0, &reason);
    status = !root || json_unpack_ex(root, &reason, 0, "{s:{s:F,s:F,s:F,s:F,s:i}}", "summary", "steps", &work->steps,
                                     "cell_updates", &work->cell_updates, "max_cells", &work->max_cells,
                                     "propagate_s", &work->propagate_s, "threads", &work->threads);
    json_decref(root);
    if (status)
        gbees_error_set(error, GBEES_EIO, "%s: %s; did the run end?", path, reason.text);
    free(path);
    return status ? GBEES_EIO : GBEES_OK;
}

/* ---- its truth -------------------------------------------------------------------------------------------- */

int gbees_study_advance(const gbees_study *study, gbees_run_position *position, gbees_montecarlo *montecarlo,
                        const gbees_snapshot *snapshot, gbees_error *error)
{
    const gbees_problem *problem = study->problem;
    int status = GBEES_OK;

    for (; position->leg < snapshot->leg && !status; position->leg++) {
        int *next = &position->next;
        const double time = *next < problem->measurement_count ? problem->measurements[*next].time : NAN;

        if (isnan(time))
            return gbees_error_set(error, GBEES_EINPUT,
                                   "leg %d has no measurement in the scenario: is it the run's own?", snapshot->leg);
        status = gbees_montecarlo_advance(montecarlo, time, error);
        while (!status && *next < problem->measurement_count && problem->measurements[*next].time == time)
            status = gbees_montecarlo_update(montecarlo, &problem->measurements[(*next)++], error);
    }
    return status ? status : gbees_montecarlo_advance(montecarlo, snapshot->time, error);
}
