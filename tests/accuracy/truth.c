/* truth.c - see truth.h. */
#include "truth.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- samples ---------------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits. */
static uint64_t digest(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Of what not every problem has: a mixture, a record, a bound. (A turned grid's frame is among the parameters.) */
static uint64_t digest_rest(uint64_t hash, const gbees_problem *problem, int cut)
{
    const size_t n = (size_t)problem->dimension;
    const double range[] = {problem->bound_low, problem->bound_high};
    const gbees_initial_cells *cells = problem->cells;

    for (int g = 0; g < problem->gaussian_count; g++) {
        const gbees_gaussian *gaussian = &problem->gaussians[g];

        hash = digest(hash, &gaussian->weight, sizeof gaussian->weight);
        hash = digest(hash, gaussian->mean, n * sizeof gaussian->mean[0]);
        hash = digest(hash, gaussian->covariance, n * n * sizeof gaussian->covariance[0]);
        hash = digest(hash, gaussian->lo, cut ? n * sizeof gaussian->lo[0] : 0);
        hash = digest(hash, gaussian->hi, cut ? n * sizeof gaussian->hi[0] : 0);
        hash = digest(hash, problem->width, cut ? n * sizeof problem->width[0] : 0);
    }
    for (size_t j = 0; cells && j < n; j++)
        hash = digest(hash, cells->index[j], cells->count * sizeof *cells->index[j]);
    if (cells) {
        hash = digest(hash, cells->p, cells->count * sizeof *cells->p);
        hash = digest(hash, problem->width, n * sizeof problem->width[0]);
        hash = digest(hash, &problem->numerics.cell_values, sizeof problem->numerics.cell_values);
    }
    return problem->bounded && (cut || cells) ? digest(hash, range, sizeof range) : hash;
}

static uint64_t key_of(const gbees_problem *problem, const gbees_montecarlo_options *options, double time)
{
    const size_t n = (size_t)problem->dimension;
    const uint64_t integers[] = {n, options->count, options->seed, (uint64_t)options->cut};
    const double times[] = {problem->start, time, options->step};
    double box[GBEES_MAX_DIM] = {0};
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t j = 0; j < n && options->cut; j++)
        box[j] = (problem->extent[j] + 0.5) * problem->width[j];
    hash = digest(hash, problem->model->source, (size_t)(problem->model->source_end - problem->model->source));
    hash = digest(hash, integers, sizeof integers);
    hash = digest(hash, times, sizeof times);
    hash = digest(hash, box, sizeof box);
    hash = digest(hash, problem->parameters, sizeof problem->parameters);
    hash = digest(hash, problem->mean, n * sizeof problem->mean[0]);
    hash = digest(hash, problem->covariance, n * n * sizeof problem->covariance[0]);
    return digest_rest(hash, problem, options->cut);
}

/* A file is the samples' states, one column after the other, and nothing else: its length must be right. */
static int samples_read(const char *path, gbees_montecarlo *montecarlo)
{
    const size_t n = (size_t)montecarlo->problem->dimension;
    FILE *file = fopen(path, "rb");
    int complete = file != NULL;

    for (size_t j = 0; complete && j < n; j++)
        complete = fread(montecarlo->x[j], sizeof(double), montecarlo->count, file) == montecarlo->count;
    complete = complete && fgetc(file) == EOF;
    if (file)
        (void)fclose(file);
    return complete;
}

static void samples_write(const char *path, const gbees_montecarlo *montecarlo)
{
    char *temporary = NULL;
    FILE *file;
    int complete;

    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return;
    file = fopen(temporary, "wb");
    complete = file != NULL;
    for (int j = 0; complete && j < montecarlo->problem->dimension; j++)
        complete = fwrite(montecarlo->x[j], sizeof(double), montecarlo->count, file) == montecarlo->count;
    if (file && fclose(file))
        complete = 0;
    if (file && (!complete || rename(temporary, path)))
        (void)remove(temporary);
    free(temporary);
}

int gbees_truth_samples(const gbees_problem *problem, const gbees_montecarlo_options *options, double time,
                        const char *folder, gbees_montecarlo **montecarlo, gbees_error *error)
{
    gbees_montecarlo *new = NULL;
    char *path = NULL;
    int status, found = 0;

    if (folder && asprintf(&path, "%s/%s-%016llx.samples", folder, problem->model->name,
                           (unsigned long long)key_of(problem, options, time)) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    /* They are drawn even if they are then read: that is quick, and sets all the rest. */
    status = gbees_montecarlo_create(problem, options, &new, error);
    if (!status && path && access(path, R_OK) == 0) {
        found = samples_read(path, new);
        if (found)
            new->time = time;
        else
            status = gbees_error_set(error, GBEES_EIO, "%s: not what it should be: remove it", path);
    }
    if (!status && !found) {
        status = gbees_montecarlo_advance(new, time, error);
        if (!status && path) {
            (void)mkdir(folder, 0777);
            samples_write(path, new);
        }
    }
    free(path);
    if (status)
        gbees_montecarlo_destroy(new);
    else
        *montecarlo = new;
    return status;
}

/* ---- a table ---------------------------------------------------------------------------------------------- */

int gbees_truth_table(const gbees_problem *problem, const char *path, double time, gbees_sample_moments *moments,
                      gbees_error *error)
{
    char line[512], model[64], start[16], phase[16];
    FILE *file = fopen(path, "r");
    gbees_sample_moments result = {.effective = 0};
    int axis, found = 0;

    if (!file)
        return gbees_error_set(error, GBEES_EIO, "can't read %s", path);
    while (fgets(line, sizeof line, file)) {
        double at, samples, effective, mean, mean_error, std, std_error;

        if (sscanf(line, "%63s %15s %15s %lf %lf %lf %d %lf %lf %lf %lf", model, start, phase, &at, &samples,
                   &effective, &axis, &mean, &mean_error, &std, &std_error) != 11 ||
            strcmp(model, problem->model->name) != 0 || strcmp(start, "full") != 0 || strcmp(phase, "prior") != 0 ||
            fabs(at - time) > 1e-9 * (1 + fabs(time)) || axis < 0 || axis >= problem->dimension)
            continue;
        result.mean[axis] = mean;
        result.mean_error[axis] = mean_error;
        result.std[axis] = std;
        result.std_error[axis] = std_error;
        result.effective = effective;
        found |= 1 << axis;
    }
    (void)fclose(file);
    if (found != (1 << problem->dimension) - 1)
        return gbees_error_set(error, GBEES_EINPUT, "%s: it does not have all %d axes of %s at t = %g", path,
                               problem->dimension, problem->model->name, time);
    *moments = result;
    return GBEES_OK;
}
