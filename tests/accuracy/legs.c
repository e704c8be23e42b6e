/* legs.c - see legs.h. */
#include "legs.h"
#include "compare.h"
#include "truth.h"
#include <math.h>

/* One record beside the truth. */
typedef struct line {
    gbees_sample_moments truth;
    double kolmogorov[GBEES_MAX_DIM]; /* NAN where there are no samples */
    double binned;                    /* NAN where there are too few */
} line;

/* ---- which records ---------------------------------------------------------------------------------------- */

/* The first record of each leg but the first, and the last of each. */
static int wanted(const gbees_study *study, size_t number, const gbees_snapshot *snapshot, gbees_error *error,
                  int *is_wanted)
{
    gbees_snapshot *next = NULL;
    int status = GBEES_OK;

    *is_wanted = snapshot->number == 0 ? snapshot->leg > 0 : 1;
    if (snapshot->number == 0 || number + 1 == gbees_results_count(study->results))
        return GBEES_OK;
    status = gbees_results_read(study->results, number + 1, &next, error);
    if (!status)
        *is_wanted = next->leg > snapshot->leg;
    gbees_snapshot_destroy(next);
    return status;
}

/* ---- comparing -------------------------------------------------------------------------------------------- */

static int compare_samples(const gbees_study *study, const gbees_snapshot *snapshot,
                           const gbees_montecarlo *montecarlo, line *result, gbees_error *error)
{
    int status = gbees_montecarlo_measure(montecarlo, 0, &result->truth, error);

    if (!status)
        status = gbees_compare_marginals(snapshot, montecarlo, result->kolmogorov, error);
    if (!status)
        status = gbees_row_binned(study, snapshot, montecarlo, result->truth.effective, &result->binned, error);
    return status;
}

/* ---- printing --------------------------------------------------------------------------------------------- */

void gbees_legs_print_head(FILE *file)
{
    fprintf(file, "label\tmodel\tn\tt\twhen\teta\tthreshold\tsteps\tmax cells\tcells\te_m\te_s\tstates\tmean errors\t"
                  "std ratios\tKolmogorov\tBC\teffective samples\tmass\n");
}

static void print_axes(FILE *file, int n, const double *value, int precision)
{
    for (int j = 0; j < n; j++) {
        if (isnan(value[j]))
            fprintf(file, "%s-", j ? "," : "");
        else
            fprintf(file, "%s%.*f", j ? "," : "", precision, value[j]);
    }
    fputc('\t', file);
}

static void print_line(FILE *file, const gbees_study *study, const char *label, const gbees_snapshot *snapshot,
                       const gbees_reported *reported, const gbees_work *work, const line *result)
{
    const gbees_problem *problem = study->problem;
    const gbees_sample_moments *grid = &reported->moments, *truth = &result->truth;
    const int n = snapshot->dimension;
    double mean[GBEES_MAX_DIM], ratio[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        mean[j] = (grid->mean[j] - truth->mean[j]) / truth->std[j];
        ratio[j] = grid->std[j] / truth->std[j];
    }
    fprintf(file, "%s\t%s\t%d\t%.6g\t%s\t%.3g\t%.3g\t%.0f\t%.0f\t%zu\t%.5f\t%.5f\t", label, problem->model->name, n,
            snapshot->time, snapshot->number == 0 ? "posterior" : "prior", gbees_row_width(problem),
            problem->threshold, work->steps, work->max_cells, snapshot->count, gbees_compare_mean(n, grid, truth),
            gbees_compare_spread(n, grid, truth));
    for (int j = 0; j < n; j++)
        fprintf(file, "%s%s", j ? "," : "", snapshot->name[j]);
    fputc('\t', file);
    print_axes(file, n, mean, 5);
    print_axes(file, n, ratio, 5);
    print_axes(file, n, result->kolmogorov, 5);
    print_axes(file, 1, &result->binned, 5);
    fprintf(file, "%.0f\t%.6f\n", truth->effective, reported->mass);
}

/* ---- all of a run ----------------------------------------------------------------------------------------- */

static int print_record(FILE *file, const gbees_study *study, const gbees_row_options *options, size_t number,
                        const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, gbees_error *error)
{
    gbees_reported reported;
    gbees_work work;
    line result = {.binned = NAN};
    int status = gbees_study_reported(study, number, &reported, error);

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        result.kolmogorov[j] = NAN;
    if (!status)
        status = gbees_study_work(study, &work, error);
    if (!status)
        status = options->table
                     ? gbees_truth_table(study->problem, options->table, snapshot->time, &result.truth, error)
                     : compare_samples(study, snapshot, montecarlo, &result, error);
    if (!status)
        print_line(file, study, options->label, snapshot, &reported, &work, &result);
    return status;
}

int gbees_legs_print(FILE *file, const gbees_study *study, const gbees_row_options *options, gbees_error *error)
{
    gbees_montecarlo *montecarlo = NULL;
    gbees_run_position position = {0};
    int status = GBEES_OK;

    if (!options->table)
        status = gbees_montecarlo_create(study->problem, &options->montecarlo, &montecarlo, error);
    for (size_t k = 0; k < gbees_results_count(study->results) && !status; k++) {
        gbees_snapshot *snapshot = NULL;
        int print = 0;

        status = gbees_results_read(study->results, k, &snapshot, error);
        if (!status)
            status = wanted(study, k, snapshot, error, &print);
        if (!status && print && montecarlo)
            status = gbees_study_advance(study, &position, montecarlo, snapshot, error);
        if (!status && print)
            status = print_record(file, study, options, k, snapshot, montecarlo, error);
        gbees_snapshot_destroy(snapshot);
    }
    gbees_montecarlo_destroy(montecarlo);
    return status;
}
