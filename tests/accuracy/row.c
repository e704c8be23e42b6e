/* row.c - see row.h. */
#include "row.h"
#include "base/seconds.h"
#include "compare.h"
#include "truth.h"
#include <math.h>

/* Binning lowers the coefficient by about cells / (8 samples): where that is more than this it says nothing. */
static const double largest_bias = 0.02;

typedef struct figures {
    double mean, spread;
    double binned;     /* NAN where there are too few samples */
    double kolmogorov; /* the largest of all axes; NAN where there are no samples */
} figures;

double gbees_row_width(const gbees_problem *problem)
{
    return 2 * problem->width[0] / sqrt(problem->covariance[0]);
}

int gbees_row_binned(const gbees_study *study, const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo,
                     double effective, double *coefficient, gbees_error *error)
{
    const int factor = (int)fmax(1, round(1 / gbees_row_width(study->problem)));
    gbees_snapshot *coarse = NULL;
    int status = gbees_compare_coarsen(snapshot, factor, &coarse, error);

    *coefficient = NAN;
    if (!status && (double)coarse->count <= 8 * largest_bias * effective)
        status = gbees_compare_binned(coarse, montecarlo, coefficient, NULL, error);
    gbees_snapshot_destroy(coarse);
    return status;
}

static int compare_marginals(const gbees_snapshot *last, const gbees_montecarlo *montecarlo, double *largest,
                             gbees_error *error)
{
    double distance[GBEES_MAX_DIM];
    int status = gbees_compare_marginals(last, montecarlo, distance, error);

    if (status)
        return status;
    *largest = 0;
    for (int j = 0; j < last->dimension; j++)
        *largest = fmax(*largest, distance[j]);
    return GBEES_OK;
}

/* What a row is compared with: samples, or NULL with a table, and their moments. */
static int truth_create(const gbees_study *study, const gbees_row_options *options, double time,
                        gbees_montecarlo **samples, gbees_sample_moments *truth, gbees_error *error)
{
    int status;

    *samples = NULL;
    if (options->table)
        return gbees_truth_table(study->problem, options->table, time, truth, error);
    status = gbees_truth_samples(study->problem, &options->montecarlo, time, options->samples, samples, error);
    return status ? status : gbees_montecarlo_measure(*samples, 0, truth, error);
}

static int compare(const gbees_study *study, const gbees_snapshot *last, const gbees_sample_moments *grid,
                   const gbees_row_options *options, figures *result, gbees_error *error)
{
    gbees_montecarlo *montecarlo;
    gbees_sample_moments truth;
    int status = truth_create(study, options, last->time, &montecarlo, &truth, error);

    result->binned = result->kolmogorov = NAN;
    if (!status && montecarlo)
        status = gbees_row_binned(study, last, montecarlo, (double)montecarlo->count, &result->binned, error);
    if (!status && montecarlo)
        status = compare_marginals(last, montecarlo, &result->kolmogorov, error);
    gbees_montecarlo_destroy(montecarlo);
    if (status)
        return status;
    result->mean = gbees_compare_mean(last->dimension, grid, &truth);
    result->spread = gbees_compare_spread(last->dimension, grid, &truth);
    return GBEES_OK;
}

/* ---- samples as a method -------------------------------------------------------------------------------------- */

/* As an audit integrates them: from the whole density, by steps that leave 5e-5 standard deviations. */
static int sample(const gbees_study *study, const gbees_row_options *options, gbees_work *work, double time,
                  gbees_montecarlo **samples, gbees_sample_moments *moments, gbees_error *error)
{
    const gbees_montecarlo_options own = {.count = options->sampling,
                                          .step = time - study->problem->start,
                                          .seed = options->montecarlo.seed + 1,
                                          .threads = work->threads,
                                          .cut = options->montecarlo.cut};
    const double begun = gbees_seconds_now();
    int status = gbees_montecarlo_create(study->problem, &own, samples, error);

    if (!status)
        status = gbees_montecarlo_follow(*samples, time, 5e-5, error);
    if (!status)
        status = gbees_montecarlo_measure(*samples, 0, moments, error);
    if (!status) {
        work->propagate_s = gbees_seconds_now() - begun;
        work->steps = (double)(*samples)->steps;
        work->max_cells = (double)(*samples)->count;
        work->cell_updates = work->steps * work->max_cells;
    }
    return status;
}

/* The samples' density on the cells on which that of the run is compared. */
static int compare_samples(const gbees_study *study, const gbees_snapshot *last, const gbees_montecarlo *samples,
                           const gbees_sample_moments *moments, const gbees_row_options *options, figures *result,
                           gbees_error *error)
{
    gbees_snapshot *binned = NULL;
    int status = gbees_compare_bin(last, samples, &binned, error);

    if (!status)
        status = compare(study, binned, moments, options, result, error);
    gbees_snapshot_destroy(binned);
    return status;
}

static int row_print_samples(FILE *file, const gbees_study *study, const gbees_snapshot *last, gbees_work work,
                             const gbees_row_options *options, gbees_error *error)
{
    gbees_montecarlo *samples = NULL;
    gbees_sample_moments moments;
    figures result;
    char binned[32] = "-";
    int status = sample(study, options, &work, last->time, &samples, &moments, error);

    if (!status)
        status = compare_samples(study, last, samples, &moments, options, &result, error);
    gbees_montecarlo_destroy(samples);
    if (status)
        return status;
    if (!isnan(result.binned))
        snprintf(binned, sizeof binned, "%.4f", result.binned);
    fprintf(file, "%s\t%s\t%.6g\t-\t-\t%.0f\t%.4g\t%.0f\t%.4g\t%d\t%.5f\t%.5f\t%s\t-\t-\t-\t-\t-\n", options->label,
            study->problem->model->name, last->time, work.steps, work.cell_updates, work.max_cells, work.propagate_s,
            work.threads, result.mean, result.spread, binned);
    return GBEES_OK;
}

void gbees_row_print_head(FILE *file)
{
    fprintf(file, "scheme\tmodel\tt\teta\tthreshold\tsteps\tcell updates\tmax cells\tpropagate s\tthreads\te_m\te_s\t"
                  "BC\tmass\tclipped\toutflow\tpruned\tKolmogorov\n");
}

int gbees_row_print(FILE *file, const gbees_study *study, const gbees_row_options *options, gbees_error *error)
{
    const size_t last_number = gbees_results_count(study->results) - 1;
    const gbees_problem *problem = study->problem;
    gbees_snapshot *last = NULL;
    gbees_reported reported;
    gbees_work work;
    figures result;
    char binned[32] = "-", kolmogorov[32] = "-";
    int status = gbees_results_read(study->results, last_number, &last, error);

    if (!status && last->leg > 0)
        status = gbees_error_set(error, GBEES_EUSAGE, "%s: its last record follows a measurement: leave it out",
                                 study->folder);
    if (!status)
        status = gbees_study_reported(study, last_number, &reported, error);
    if (!status)
        status = gbees_study_work(study, &work, error);
    if (!status && options->sampling) {
        status = row_print_samples(file, study, last, work, options, error);
        gbees_snapshot_destroy(last);
        return status;
    }
    if (!status)
        status = compare(study, last, &reported.moments, options, &result, error);
    if (!status) {
        if (!isnan(result.binned))
            snprintf(binned, sizeof binned, "%.4f", result.binned);
        if (!isnan(result.kolmogorov))
            snprintf(kolmogorov, sizeof kolmogorov, "%.4f", result.kolmogorov);
        fprintf(file,
                "%s\t%s\t%.6g\t%.3g\t%.3g\t%.0f\t%.4g\t%.0f\t%.4g\t%d\t%.5f\t%.5f\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%s\n",
                options->label, problem->model->name, last->time, gbees_row_width(problem), problem->threshold,
                work.steps, work.cell_updates, work.max_cells, work.propagate_s, work.threads, result.mean,
                result.spread, binned, reported.mass, reported.clipped, reported.outflow, reported.pruned,
                kolmogorov);
    }
    gbees_snapshot_destroy(last);
    return status;
}
